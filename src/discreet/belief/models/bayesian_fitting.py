"""Bayesian iterative proportional fitting: cell probabilities drawn under a log-linear model.

The constrained Dirichlet distribution with parameters a has density ∏ θ(i)^a(i) on the free
canonical parameters of the model (Diaconis and Ylvisaker's conjugate distribution): Dirichlet(a)
for the saturated model, hyper-Dirichlet with the margins of a for a decomposable one. Given all
else, the margin of a generator is a vector of independent Gamma variables whose shapes are the
margin of a; a cycle draws each generator's margin in turn and scales the table to it (gelman et al.
1995; schafer 1997). It is a Gibbs step: one cycle leaves the distribution as it is; for a
decomposable model in its junction tree's order one cycle is an independent draw."""

from collections.abc import Sequence

import numpy as np

from discreet.clock import work
from discreet.numerics.arrays import FloatArray

CYCLE_SECONDS, CELL_SECONDS = 8e-5, 3e-8  # fitting one margin, for each cell of the table


def fitting_cycle(
    log_theta: FloatArray,
    parameters: FloatArray,
    generators: Sequence[tuple[int, ...]],
    *,
    rng: np.random.Generator,
) -> FloatArray:
    """The logarithms of the cell probabilities after one cycle.

    `log_theta` and `parameters` have one axis a variable, after any number of leading axes for
    chains that run side by side. Probabilities that are too small for a float stay apart from zero,
    since all is done in logarithms. Cost: cells × generators.

    Trusted: parameters above zero, every variable in a generator, log_theta in the model.
    """
    n_variables = 1 + max(max(group) for group in generators)
    chains = parameters.ndim - n_variables
    table = log_theta
    work(len(generators) * (CYCLE_SECONDS + CELL_SECONDS * parameters.size))
    for group in generators:
        others = tuple(chains + i for i in range(n_variables) if i not in group)
        shapes = parameters.sum(axis=others, keepdims=True)
        table = table + log_gamma_draws(shapes, rng=rng) - log_sum(table, others)
    return table - log_sum(table, tuple(range(chains, table.ndim)))


def log_gamma_draws(shapes: FloatArray, *, rng: np.random.Generator) -> FloatArray:
    """log G with G ~ Gamma(shape), right also where G itself would underflow.

    For every shape a, G(a) has the distribution of G(a + 1) · U^(1/a).
    """
    uniform = 1.0 - rng.random(shapes.shape)  # above zero
    draws: FloatArray = np.log(rng.standard_gamma(shapes + 1.0)) + np.log(uniform) / shapes
    return draws


def log_sum(table: FloatArray, axes: tuple[int, ...]) -> FloatArray:
    """log Σ exp over the axes, which stay with length 1."""
    if not axes:
        return table
    top = table.max(axis=axes, keepdims=True)
    total: FloatArray = np.log(np.exp(table - top).sum(axis=axes, keepdims=True)) + top
    return total
