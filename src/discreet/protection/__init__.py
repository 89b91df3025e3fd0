"""The least change of a file that keeps the rules."""
