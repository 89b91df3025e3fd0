"""Samples of a known population: every model's estimates beside the truth."""
