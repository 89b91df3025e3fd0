"""Populations known in full, made up by documented recipes or read from files, and samples of them
by the designs that surveys use."""
