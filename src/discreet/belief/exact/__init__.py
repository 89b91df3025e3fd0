"""Distributions of a hidden table that are listed, summed or known in closed form."""
