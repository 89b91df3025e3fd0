"""Where the prior holds, the limits cover as often as they say."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.data.summary import SizeIndices, Summary
from discreet.figures import Figure
from discreet.numerics.arrays import IntArray
from discreet.survey.models.cohen_sackrowitz import (
    CohenSackrowitzMultinomial,
    CohenSackrowitzUniform,
)
from discreet.survey.models.contract import Tally
from discreet.survey.models.exchangeable_prior import ExchangeablePosterior

REPEATS = 100
N, N_SAMPLE, K = 3000, 1200, 900


def uniform_population(rng: np.random.Generator) -> IntArray:
    """A table drawn from all tables alike: gaps between K − 1 bars among N + K − 1 positions."""
    bars = np.sort(rng.choice(N + K - 1, K - 1, replace=False))
    edges = np.concatenate(([-1], bars, [N + K - 1]))
    return np.diff(edges) - 1


def multinomial_population(rng: np.random.Generator) -> IntArray:
    return rng.multinomial(N, np.full(K, 1 / K)).astype(np.int64)


CASES = [
    (CohenSackrowitzUniform, uniform_population),
    (CohenSackrowitzMultinomial, multinomial_population),
]


class Repeat(NamedTuple):
    """A sample's true numbers, and what the model says of them."""

    true_uniques: int
    true_matches: float
    uniques: Figure
    matches: Figure
    posterior: ExchangeablePosterior
    sample_uniques: int


def repeat(model, draw, rng: np.random.Generator) -> Repeat:
    population = draw(rng)
    sample = rng.multivariate_hypergeometric(population, N_SAMPLE)
    f, F = sample[sample > 0], population[sample > 0]
    summary = Summary(
        sample_size=N_SAMPLE,
        n_table_cells=K,
        level_counts=(K,),
        size_indices=SizeIndices.of_counts(f),
        weight_total=None,
        population_size=float(N),
        population_size_known=True,
    )
    batch = CellBatch(
        coding=Coding.of_sizes((K,)),
        words=np.flatnonzero(sample)[:, None],
        sample_count=f,
        weight_total=None,
    )
    fit = model.fit(summary)
    tally = Tally().add(batch, fit.score(batch))
    uniques, matches = fit.expected_population_uniques(tally), fit.expected_correct_matches(tally)
    lone = int(np.sum(f == 1))
    true_uniques = int(np.sum((f == 1) & (F == 1)))
    return Repeat(true_uniques, float(np.sum(f / F)), uniques, matches, fit.posterior, lone)


def repeats(model, draw, seed: int) -> list[Repeat]:
    rng = np.random.default_rng(seed)
    return [repeat(model, draw, rng) for _ in range(REPEATS)]


def centre_and_error(figure: Figure) -> tuple[float, float]:
    assert figure.value is not None
    assert figure.standard_error is not None
    return figure.value, figure.standard_error


def covers(figure: Figure, truth: float) -> bool:
    assert figure.low is not None
    assert figure.high is not None
    return figure.low <= truth <= figure.high


@pytest.mark.parametrize(("model", "draw"), CASES)
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_limits_of_population_uniques_cover_as_often_as_they_hold(model, draw, confidence):
    """Each interval holds a known probability, at least the confidence: the sum is the target."""
    outcomes = repeats(model(confidence=confidence), draw, seed=20)
    covered = sum(covers(r.uniques, r.true_uniques) for r in outcomes)
    held = []
    for r in outcomes:
        uniques = r.posterior.uniques(r.sample_uniques)
        low, high = uniques.interval(confidence)
        held.append(uniques.at_least(low) - uniques.at_least(high + 1))
    assert min(held) >= confidence - 1e-12
    deviation = math.sqrt(sum(p * (1 - p) for p in held))
    assert abs(covered - sum(held)) <= 3.3 * deviation
    assert covered >= stats.binom.ppf(0.001, REPEATS, confidence)


@pytest.mark.parametrize(("model", "draw"), CASES)
def test_population_uniques_have_the_mean_and_spread_that_the_model_says(model, draw):
    outcomes = repeats(model(), draw, seed=21)
    centres, errors = np.array([centre_and_error(r.uniques) for r in outcomes]).T
    scores = (np.array([r.true_uniques for r in outcomes]) - centres) / errors
    assert abs(np.mean(scores)) <= 3.3 / math.sqrt(REPEATS)
    squares = float(np.sum(scores**2))
    assert stats.chi2.ppf(0.0005, REPEATS) <= squares <= stats.chi2.ppf(0.9995, REPEATS)


@pytest.mark.parametrize(("model", "draw"), CASES)
def test_limits_of_correct_matches_cover_at_least_as_often_as_they_say(model, draw):
    """Their standard error is an upper limit; it is no more than twice what is seen."""
    outcomes = repeats(model(confidence=0.95), draw, seed=22)
    covered = sum(covers(r.matches, r.true_matches) for r in outcomes)
    assert covered >= stats.binom.ppf(0.001, REPEATS, 0.95)
    centres, stated_errors = np.array([centre_and_error(r.matches) for r in outcomes]).T
    errors, stated = np.array([r.true_matches for r in outcomes]) - centres, stated_errors.mean()
    assert abs(np.mean(errors)) <= 3.3 * stated / math.sqrt(REPEATS)
    assert np.std(errors) <= 1.3 * stated
    assert stated <= 2 * np.std(errors)
