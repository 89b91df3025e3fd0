"""The check warns where the individual risk is far too low, and only there.

Each population is known, so the true ratio of correct matches among sample uniques to the model's
figure is known too. Fixed seeds; the counts of alarms are those of many draws, with room to spare.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from discreet.data.arrays import FloatArray, IntArray
from discreet.data.summary import SizeIndices, Summary
from discreet.models.benedetti_franconi import individual_risk
from discreet.models.underestimation import RiskWarning, underestimation_check

DRAWS = 20

Draw = Callable[[np.random.Generator], IntArray]


def poisson_cells(expected: Callable[[np.random.Generator], FloatArray]) -> Draw:
    """A population whose cells have these expected counts."""

    def draw(rng: np.random.Generator) -> IntArray:
        population = rng.poisson(expected(rng))
        occupied: IntArray = population[population > 0]
        return occupied

    return draw


def independent_keys(n_people: int, levels: Sequence[int]) -> Draw:
    """A population of Zipf-distributed independent keys: few large cells, very many small ones."""

    def draw(rng: np.random.Generator) -> IntArray:
        code = np.zeros(n_people, dtype=np.int64)
        for size in levels:
            share = 1 / np.arange(1, size + 1)
            code = code * size + rng.choice(size, n_people, p=share / share.sum())
        return np.unique(code, return_counts=True)[1]

    return draw


SPARSE: dict[str, tuple[Draw, float]] = {
    "six skewed keys": (independent_keys(100_000, (2, 90, 50, 5, 40, 8)), 0.01),
    "six skewed keys, a tenth": (independent_keys(100_000, (2, 90, 50, 5, 40, 8)), 0.1),
    "cells of five": (poisson_cells(lambda rng: np.full(20_000, 5.0)), 0.01),
    "unequal small cells": (poisson_cells(lambda rng: rng.gamma(1, 20, 30_000)), 0.001),
    "very unequal cells": (independent_keys(300_000, (2, 90, 50, 5)), 0.01),
}
DENSE: dict[str, tuple[Draw, float]] = {
    "two keys": (independent_keys(100_000, (20, 20)), 0.05),
    "cells of a thousand": (poisson_cells(lambda rng: np.full(2000, 1000.0)), 0.01),
    "cells of a hundred": (poisson_cells(lambda rng: np.full(5000, 100.0)), 0.01),
    "all sizes alike": (
        poisson_cells(lambda rng: np.exp(rng.uniform(np.log(1e-3), np.log(1e5), 3000))),
        0.01,
    ),
    "all sizes alike, few": (
        poisson_cells(lambda rng: np.exp(rng.uniform(np.log(1e-3), np.log(1e5), 300))),
        0.01,
    ),
}


def sample_once(
    population: IntArray, p: float, rng: np.random.Generator
) -> tuple[RiskWarning | None, float]:
    """The check's answer for one sample, and the true ratio."""
    sample = rng.binomial(population, p)
    size, occupied = int(sample.sum()), sample[sample > 0]
    summary = Summary(
        sample_size=size,
        n_table_cells=10**12,
        level_counts=(10**12,),
        size_indices=SizeIndices.of_counts(occupied),
        weight_total=None,
        population_size=float(population.sum()),
        population_size_known=True,
    )
    unique = population[sample == 1]
    risk = individual_risk(np.ones(1), np.array([size / population.sum()]))[0]
    truth = (1 / unique).mean() / risk if len(unique) else 0.0
    return underestimation_check(summary), truth


def outcomes(draw: Draw, p: float) -> list[tuple[RiskWarning | None, float]]:
    """Checks and true ratios of many samples from one population."""
    rng = np.random.default_rng(611)
    population = draw(rng)
    return [sample_once(population, p, rng) for _ in range(DRAWS)]


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_populations_raise_the_alarm(name):
    found = outcomes(*SPARSE[name])
    assert np.mean([truth for _, truth in found]) > 2
    assert sum(warning is not None for warning, _ in found) >= 0.8 * DRAWS


@pytest.mark.parametrize("name", SPARSE)
def test_certain_ratio_is_no_exaggeration(name):
    """`at_least` exceeds the truth in no more draws than its confidence allows."""
    ratios = [(w.at_least, truth) for w, truth in outcomes(*SPARSE[name]) if w is not None]
    assert sum(least > truth for least, truth in ratios) <= 2


@pytest.mark.parametrize("name", ["six skewed keys", "six skewed keys, a tenth"])
def test_ratio_is_of_the_right_size(name):
    ratios = [w.ratio / truth for w, truth in outcomes(*SPARSE[name]) if w is not None]
    assert 1 / 3 < np.median(ratios) < 3


@pytest.mark.parametrize("name", DENSE)
def test_dense_populations_raise_none(name):
    found = outcomes(*DENSE[name])
    assert np.mean([truth for _, truth in found]) < 1.5
    assert sum(warning is not None for warning, _ in found) <= 0.05 * DRAWS
