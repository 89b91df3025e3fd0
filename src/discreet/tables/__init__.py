"""What an intruder believes of a hidden table: log-linear models, posteriors, model averaging."""
