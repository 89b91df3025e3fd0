"""Where the assumptions hold, the model's limits cover as often as they say.

The prior 1/λ on the expected count of a cell is improper; over a range of λ far wider than what the
sample can tell apart it is as good as proper, and so are the populations drawn here.
"""

from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.data.summary import SizeIndices, Summary
from discreet.figures import Figure, Outcome
from discreet.numerics.arrays import IntArray
from discreet.survey.models.benedetti_franconi import BenedettiFranconi
from discreet.survey.models.contract import Tally

REPEATS = 100
P = 0.1


def draw(rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Population and sample counts of the occupied cells of a sample."""
    expected = np.exp(rng.uniform(np.log(1e-4), np.log(1e4), 6000))
    population = rng.poisson(expected)
    sample = rng.binomial(population, P)
    return population[sample > 0], sample[sample > 0]


class Total(NamedTuple):
    value: float
    low: float
    high: float
    standard_error: float


def total(outcome: Outcome) -> Total:
    assert isinstance(outcome, Figure)
    assert outcome.value is not None
    assert outcome.low is not None
    assert outcome.high is not None
    assert outcome.standard_error is not None
    return Total(outcome.value, outcome.low, outcome.high, outcome.standard_error)


def assess(sample: IntArray) -> tuple[Total, Total]:
    """Both totals of a sample drawn with probability P."""
    summary = Summary(
        sample_size=int(sample.sum()),
        n_table_cells=10**6,
        level_counts=(10**6,),
        size_indices=SizeIndices.of_counts(sample),
        weight_total=float(sample.sum() / P),
        population_size=None,
        population_size_known=False,
    )
    batch = CellBatch(
        coding=Coding.of_sizes([10**6]),
        words=np.arange(len(sample))[:, None],
        sample_count=sample,
        weight_total=sample / P,
    )
    fitted = BenedettiFranconi().fit(summary)
    tally = Tally().add(batch, fitted.score(batch))
    return (
        total(fitted.expected_population_uniques(tally)),
        total(fitted.expected_correct_matches(tally)),
    )


@pytest.fixture(scope="module")
def draws():
    rng = np.random.default_rng(20240611)
    return [draw(rng) for _ in range(REPEATS)]


def test_limits_on_population_uniques_cover(draws):
    misses, scores = 0, []
    for population, sample in draws:
        uniques, _ = assess(sample)
        truth = np.count_nonzero((population == 1) & (sample == 1))
        misses += not uniques.low <= truth <= uniques.high
        scores.append((truth - uniques.value) / uniques.standard_error)
    assert misses <= stats.binom(REPEATS, 0.05).ppf(0.999)
    assert abs(np.mean(scores)) < 4 / np.sqrt(REPEATS)
    assert 0.75 < np.std(scores) < 1.25


def test_limits_on_correct_matches_cover(draws):
    misses, scores = 0, []
    for population, sample in draws:
        _, matches = assess(sample)
        truth = (sample / population).sum()
        misses += not matches.low <= truth <= matches.high
        scores.append((truth - matches.value) / matches.standard_error)
    assert misses <= stats.binom(REPEATS, 0.05).ppf(0.999)
    assert abs(np.mean(scores)) < 4 / np.sqrt(REPEATS)
    assert 0.75 < np.std(scores) < 1.25
