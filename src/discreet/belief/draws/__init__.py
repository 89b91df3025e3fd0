"""Distributions of a hidden table by weighted or simulated draws, each with its error."""
