"""Log-linear Poisson models of the cells: fits, sums over all cells, and the choice of a model."""
