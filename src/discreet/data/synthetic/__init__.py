"""A made-up population that is known in full: persons in households, with census-like keys."""
