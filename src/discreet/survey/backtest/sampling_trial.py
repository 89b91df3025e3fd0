"""A sample drawn from a population of cells: what a survey of it would hold, and what is true."""

from dataclasses import dataclass

import numpy as np

from discreet.data.coding import Coding
from discreet.engines.local.cells import LocalCells, cells_at_hand
from discreet.errors import InputError, must_be
from discreet.numerics.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationCells:
    """The occupied cells of a population: levels (cells × keys) and how many persons each holds."""

    coding: Coding
    levels: IntArray
    counts: IntArray

    @property
    def size(self) -> int:
        """Persons."""
        return int(self.counts.sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnSample:
    """A sample with the truth that its models estimate. Exact."""

    cells: LocalCells
    population_uniques: int
    correct_matches: float


def draw_sample(
    population: PopulationCells, size: int, *, stratum: int | None, rng: np.random.Generator
) -> DrawnSample:
    """A simple random sample without replacement, or one with as many persons from each stratum.

    With `stratum` (the position of a key) each of its levels gives the same number of persons, as
    far as it has them; the weight of a person then is the stratum's size over its sample.
    """
    if stratum is None:
        drawn = rng.multivariate_hypergeometric(population.counts, size, method="marginals")
        return _sample(population, drawn, None)
    drawn = np.zeros_like(population.counts)
    weights = np.zeros(len(drawn))
    _, place = np.unique(population.levels[:, stratum], return_inverse=True)
    held = np.bincount(place, weights=population.counts).astype(np.int64)
    for number, share in enumerate(equal_allocation(held, size)):
        here = place == number
        counts = population.counts[here]
        drawn[here] = rng.multivariate_hypergeometric(counts, share, method="marginals")
        weights[here] = held[number] / max(share, 1)
    return _sample(population, drawn, weights)


def equal_allocation(held: IntArray, size: int) -> IntArray:
    """`size` persons spread evenly over strata, none giving more than it holds.

    Every stratum gives one at least, so that weights stand for everybody. Checked: there are as
    many persons to spread as strata.
    """
    if size < len(held):
        rule = f"at least one for each of its {len(held)} levels"
        raise InputError(must_be("sample of the stratum", rule, size))
    given = np.zeros_like(held)
    for place, stratum in enumerate(np.argsort(held, kind="stable")):
        fair = (size - int(given.sum())) // (len(held) - place)
        given[stratum] = min(int(held[stratum]), fair)
    return given


def _sample(
    population: PopulationCells, drawn: IntArray, weights: FloatArray | None
) -> DrawnSample:
    here = drawn > 0
    f, F = drawn[here], population.counts[here]
    totals = None if weights is None else weights[here] * f
    return DrawnSample(
        cells=_coded_anew(population.levels[here], f, totals),
        population_uniques=int(((f == 1) & (F == 1)).sum()),
        correct_matches=float((f / F).sum()),
    )


def _coded_anew(levels: IntArray, counts: IntArray, weights: FloatArray | None) -> LocalCells:
    """The cells (levels: cells × keys) coded by the levels that occur among them."""
    places = [np.unique(column, return_inverse=True) for column in levels.T]
    coding = Coding.of_sizes([len(values) for values, _ in places])
    words = coding.encode(np.stack([place for _, place in places], axis=1))
    return cells_at_hand(words, counts, coding, weights)
