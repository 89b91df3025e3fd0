"""Models of how many cells have each size in the population, fitted on those of the sample."""
