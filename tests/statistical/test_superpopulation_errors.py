"""Errors and limits of the superpopulation models, on populations drawn from each of them."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import pytest
from tests.oracles.partitions import draw_sizes, fitted

from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.data.summary import SizeIndices
from discreet.figures import Figure
from discreet.survey.models.contract import Tally
from discreet.survey.models.superpopulation.partition_urn import PartitionUrn

REPEATS = 50
SKEW = 1.15  # realised numbers are skewed, which makes extreme scores more frequent


@dataclass(frozen=True)
class Case:
    """A model and how sample counts f and population counts F of the cells seen are drawn."""

    draw: Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray, int]]
    n_table_cells: int = 10**6


def partition(alpha: float, theta: float, n: int, N: int, cells: int = 10**6) -> Case:
    """A partition of n records that grows into one of N."""

    def draw(rng):
        sizes = draw_sizes(PartitionUrn(alpha, theta, n, N), rng)
        f = np.repeat(sizes.sizes, sizes.cells).astype(np.int64)
        shares = rng.standard_gamma(np.append(f - alpha, theta + alpha * len(f)))
        return f, f + rng.multinomial(N - n, shares / shares.sum())[:-1], N

    return Case(draw, cells)


def sampled(population: Callable[[np.random.Generator], np.ndarray]) -> Case:
    """Independent cells, a tenth of whose people are in the sample."""

    def draw(rng):
        F = population(rng)
        f = rng.binomial(F, 0.1)
        return f[f > 0], F[f > 0], int(F.sum())

    return Case(draw)


CASES = {
    "ewens": partition(0.0, 500.0, 400, 4000),
    "pitman": partition(0.6, 100.0, 400, 4000),
    "poisson_gamma": partition(-0.2, 300.0, 600, 3000, cells=1500),
    "negative_binomial": sampled(lambda rng: 1 + rng.poisson(rng.gamma(0.3, 10.0, 1000))),
    "poisson_inverse_gaussian": sampled(lambda rng: rng.poisson(rng.wald(3.0, 1.5, 1500))),
}


def figures(name: str, f: np.ndarray, N: int, n_table_cells: int) -> tuple[Figure, Figure]:
    """Population uniques and correct matches with their errors."""
    fit = fitted(name, SizeIndices.of_counts(f), N, n_table_cells)
    words, coding = np.arange(len(f))[:, None], Coding.of_sizes([10**7])
    batch = CellBatch(coding=coding, words=words, sample_count=f, weight_total=None)
    tally = Tally().add(batch, fit.score(batch))
    return fit.expected_population_uniques(tally), fit.expected_correct_matches(tally)


def score(figure: Figure, truth: float) -> float:
    return (truth - figure.value) / figure.standard_error


def width(figure: Figure) -> float:
    """Of the limits, over that of normal ones with the same standard error."""
    reach = NormalDist().inv_cdf((1 + figure.confidence) / 2)
    return (figure.high - figure.low) / (2 * reach * figure.standard_error)


@pytest.mark.parametrize("name", CASES)
def test_errors_of_uniques_and_of_matches(name, errors_are_right):
    """The error of the fit is most of them (0.55 to 0.95 of the standard error of the matches)."""
    rng, case = np.random.default_rng(3), CASES[name]
    found = []
    for _ in range(REPEATS):
        f, F, N = case.draw(rng)
        uniques, matches = figures(name, f, N, case.n_table_cells)
        true_uniques = np.count_nonzero((f == 1) & (F == 1))
        found.append((score(uniques, true_uniques), score(matches, (f / F).sum())))
        assert 0.85 < width(uniques) < 1.4  # whole limits, rounded outward
        assert 0.95 < width(matches) < 1.05
    of_uniques, of_matches = zip(*found, strict=True)
    errors_are_right(of_uniques, at_most=SKEW)
    errors_are_right(of_matches, at_most=SKEW)


def test_errors_of_zayatz_about_its_own_bias():
    """It takes the sizes of sample cells for those of the population, which makes it too high.

    About their means the scores spread by 0.56 (uniques) and 0.34 (matches): the errors are upper
    limits, that of the matches being in proportion to that of the uniques. The limits here leave
    room for 30 % either way, the chi-square limits at 50 repeats.
    """
    rng, case = np.random.default_rng(3), partition(0.5, 100.0, 400, 4000)
    scores = []
    for _ in range(REPEATS):
        f, F, N = case.draw(rng)
        uniques, matches = figures("zayatz", f, N, case.n_table_cells)
        scores.append((score(uniques, np.sum((f == 1) & (F == 1))), score(matches, (f / F).sum())))
        assert 0.85 < width(uniques) < 1.4
        assert 0.95 < width(matches) < 1.05
    of_uniques, of_matches = np.std(scores, axis=0)
    assert 0.39 < of_uniques < 0.75
    assert 0.24 < of_matches < 0.46
