"""Who could be in the population: one file per model, one contract."""
