"""What "safe" means: rules, and verdicts over figures."""
