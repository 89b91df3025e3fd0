"""The check warns where the individual risk is far too low, and only there.

Each population is known, so the true ratio of correct matches among sample uniques to the model's
figure is known too. Fixed seeds; the counts of alarms are those of many draws, with room to spare.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pytest

from discreet.data.summary import SizeIndices, Summary
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.survey.models.benedetti_franconi import individual_risk
from discreet.survey.models.underestimation import RiskWarning, underestimation_check

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


class Truth(NamedTuple):
    """Correct matches among sample uniques and population uniques, over the model's figures."""

    ratio: float
    uniques_ratio: float


def sample_once(
    population: IntArray, p: float, rng: np.random.Generator
) -> tuple[RiskWarning | None, Truth]:
    """The check's answer for one sample, and the true ratios."""
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
    share = size / population.sum()
    risk = float(individual_risk(np.ones(1), np.array([share]))[0])
    n = max(1, len(unique))
    truth = Truth((1 / unique).sum() / n / risk, np.count_nonzero(unique == 1) / n / share)
    return underestimation_check(summary), truth


def outcomes(draw: Draw, p: float) -> list[tuple[RiskWarning | None, Truth]]:
    """Checks and true ratios of many samples from one population."""
    rng = np.random.default_rng(611)
    population = draw(rng)
    return [sample_once(population, p, rng) for _ in range(DRAWS)]


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_populations_raise_the_alarm(name):
    found = outcomes(*SPARSE[name])
    assert np.mean([truth.ratio for _, truth in found]) > 2
    assert sum(warning is not None for warning, _ in found) >= 0.8 * DRAWS


@pytest.mark.parametrize("name", SPARSE)
def test_certain_ratio_is_no_exaggeration(name):
    """`at_least` exceeds the truth in no more draws than its confidence allows."""
    ratios = [(w.at_least, truth.ratio) for w, truth in outcomes(*SPARSE[name]) if w is not None]
    assert sum(least > truth for least, truth in ratios) <= 2


def relative_ratios(name: str) -> tuple[float, float]:
    """Both extrapolated ratios over the true ones, median of the draws that warned."""
    found = [(w, truth) for w, truth in outcomes(*SPARSE[name]) if w is not None]
    return (
        float(np.median([w.ratio / truth.ratio for w, truth in found])),
        float(np.median([w.uniques_ratio / truth.uniques_ratio for w, truth in found])),
    )


def test_ratios_of_a_sample_with_hundreds_of_pairs_are_of_the_right_size():
    ratio, uniques_ratio = relative_ratios("six skewed keys, a tenth")
    assert 2 / 3 < ratio < 3 / 2
    assert 2 / 3 < uniques_ratio < 3 / 2


def test_ratios_of_a_sample_with_few_pairs_stay_on_the_low_side():
    """They are taken at the confidence limit of the pair rate, which few pairs leave far up."""
    ratio, uniques_ratio = relative_ratios("six skewed keys")
    assert 1 / 4 < ratio < 1
    assert uniques_ratio < 1


@pytest.mark.parametrize("name", DENSE)
def test_dense_populations_raise_none(name):
    found = outcomes(*DENSE[name])
    assert np.mean([truth.ratio for _, truth in found]) < 1.5
    assert sum(warning is not None for warning, _ in found) <= 0.05 * DRAWS
