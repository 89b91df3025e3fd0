"""Numbers: rounding, sums, special functions, diagnostics of chains, graphs."""
