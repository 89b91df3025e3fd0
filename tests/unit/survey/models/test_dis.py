"""Data intrusion simulation against populations whose every cell is known."""

import itertools
import math

import numpy as np
import pytest

from discreet.data.summary import SizeIndices, Summary
from discreet.errors import InputError
from discreet.figures import Unavailable
from discreet.survey.models.contract import ModelUnavailable, Tally
from discreet.survey.models.dis import DataIntrusionSimulation, correct_match_probability


def summary_of(counts, population, *, known=True):
    indices = SizeIndices.of_counts(np.array(counts))
    return Summary(
        sample_size=indices.sample_size,
        n_table_cells=1000,
        level_counts=(1000,),
        size_indices=indices,
        weight_total=None,
        population_size=population,
        population_size_known=known,
    )


def chances(F, fraction):
    """P(f = 1), P(f = 2) and P(f = 3) of a cell of F people."""
    return [math.comb(F, j) * fraction**j * (1 - fraction) ** (F - j) for j in (1, 2, 3)]


@pytest.mark.parametrize("fraction", [0.05, 0.3, 0.9])
@pytest.mark.parametrize("F", [1, 2, 3, 7, 40])
def test_the_estimates_of_others_and_of_their_variance_have_no_bias(F, fraction):
    """Of one cell, exactly: E(2x n₂) = E((F−1) I(f=1)), and the mean square of the difference."""
    x = (1 - fraction) / fraction
    one, two, three = chances(F, fraction)
    assert 2 * x * two == pytest.approx((F - 1) * one, rel=1e-12, abs=1e-14)
    square = (F - 1) ** 2 * one + (2 * x) ** 2 * two
    estimate = 2 * x * two + 4 * x**2 * two + 6 * x**2 * three
    assert estimate == pytest.approx(square, rel=1e-12, abs=1e-14)


def test_the_formula_of_skinner_and_elliot():
    match = correct_match_probability(120, 40, 20, 0.1)
    assert match.probability == pytest.approx(0.1 * 120 / (0.1 * 120 + 2 * 0.9 * 40), rel=1e-14)
    assert match.low < match.probability < match.high
    others = 2 * 9 * 40
    variance = 2 * 9 * 40 + 4 * 81 * 40 + 6 * 81 * 20
    error = 120 / (120 + others) ** 2 * math.sqrt(variance)
    assert match.standard_error == pytest.approx(error, rel=1e-12)


def test_error_and_limits_on_a_known_population():
    rng = np.random.default_rng(11)
    F = np.concatenate([np.ones(4000), np.full(1500, 2), np.full(900, 5), np.full(200, 40)])
    F = F.astype(np.int64)
    scores, inside = [], 0
    for _ in range(300):
        f = rng.binomial(F, 0.2)
        truth = np.count_nonzero(f == 1) / F[f == 1].sum()
        found = correct_match_probability(*(int((f == j).sum()) for j in (1, 2, 3)), 0.2)
        scores.append((found.probability - truth) / found.standard_error)
        inside += found.low <= truth <= found.high
    assert np.mean(scores) == pytest.approx(0, abs=0.25)
    assert np.std(scores) == pytest.approx(1, abs=0.2)
    assert 0.91 <= inside / 300 <= 0.985


def test_a_census_matches_for_certain():
    assert correct_match_probability(5, 3, 2, 1.0).probability == 1
    fit = DataIntrusionSimulation().fit(summary_of([1, 1, 1, 2], 5.0))
    assert fit.parameters["correct_match_probability"] == 1


def test_the_model_speaks_of_unique_matches_and_gives_no_scores():
    fit = DataIntrusionSimulation().fit(summary_of([1] * 30 + [2] * 9 + [3] * 2, 500.0))
    told = fit.parameters
    assert told["low"] < told["correct_match_probability"] < told["high"] <= 1
    matches = fit.expected_correct_matches(Tally())
    assert f"{told['correct_match_probability']:.3f} are correct" in matches.reason
    assert isinstance(fit.expected_population_uniques(Tally()), Unavailable)
    assert fit.score(None).match_probability is None
    assert fit.caution(Tally()) is None


@pytest.mark.parametrize(
    ("counts", "reason"),
    [([2, 2, 3], "no sample unique"), ([1, 1, 3], "no cell holds two records")],
)
def test_what_it_cannot_do_without(counts, reason):
    with pytest.raises(ModelUnavailable, match=reason):
        DataIntrusionSimulation().fit(summary_of(counts, 100.0))


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ((0, 1, 1, 0.1), "uniques must be at least 1, got 0"),
        ((1, -1, 1, 0.1), "pairs must be at least 0, got -1"),
        ((1, 1, -2, 0.1), "triples must be at least 0, got -2"),
        ((1, 1, 1, 0.0), "sampling_fraction must be above 0 and at most 1, got 0.0"),
        ((1, 1, 1, 1.5), "sampling_fraction must be above 0"),
        ((1, 1, 1, math.nan), "sampling_fraction must be above 0"),
    ],
)
def test_bad_arguments(arguments, rule):
    with pytest.raises(InputError, match=rule):
        correct_match_probability(*arguments)


def test_every_sample_of_a_tiny_population():
    """All 2⁶ Bernoulli samples: the estimated people in cells of uniques are right on average."""
    cell_of, fraction = [0, 0, 0, 1, 1, 2], 0.35
    difference = 0.0
    for taken in itertools.product((0, 1), repeat=6):
        chance = math.prod(fraction if t else 1 - fraction for t in taken)
        f = np.bincount(cell_of, taken, 3)
        others = 2 * (1 - fraction) / fraction * np.count_nonzero(f == 2)
        difference += chance * (others - (np.array([3, 2, 1]) - 1)[f == 1].sum())
    assert difference == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize("fraction", [1 - 2.0**-53, 1 - 1e-9, 0.999999])
def test_next_to_nobody_unseen_may_be_any_number_of_people(fraction):
    match = correct_match_probability(5, 1, 0, fraction)
    assert match.probability == pytest.approx(1, abs=1e-5)
    assert (match.low, match.high) == (pytest.approx(0, abs=1e-100), 1)
