"""The figures printed in the five papers, computed again by the functions that everyone calls."""
