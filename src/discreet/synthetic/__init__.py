"""A made-up population that is known in full, for the demonstration."""
