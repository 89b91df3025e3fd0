"""Exact numbers of tables, and exact sums over all of them."""
