"""The individual risk, the posterior of F, and the model made of them."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.data.summary import SizeIndices, Summary
from discreet.errors import InputError, WeightError
from discreet.figures import Figure, How, Outcome
from discreet.numerics.arrays import FloatArray
from discreet.survey.models.benedetti_franconi import (
    BenedettiFranconi,
    FittedBenedettiFranconi,
    gamma_limits,
    household_risk,
    individual_risk,
    match_variance,
    mean_inclusion_probability,
    poisson_limits,
    unique_probability,
)
from discreet.survey.models.contract import ModelUnavailable, Tally
from discreet.survey.warnings import Undersized

CODING = Coding.of_sizes([1000])


def batch_of(sizes: Sequence[int], weight_total: Sequence[float] | None = None) -> CellBatch:
    counts = np.array(sizes, dtype=np.int64)
    words = np.arange(len(counts), dtype=np.int64)[:, None]
    weights = None if weight_total is None else np.array(weight_total, dtype=np.float64)
    return CellBatch(coding=CODING, words=words, sample_count=counts, weight_total=weights)


def summary_of(
    sizes: Sequence[int], weight_total: float | None = None, population_size: float | None = None
) -> Summary:
    counts = np.array(sizes, dtype=np.int64)
    return Summary(
        sample_size=int(counts.sum()),
        n_table_cells=1000,
        level_counts=(1000,),
        size_indices=SizeIndices.of_counts(counts),
        weight_total=weight_total,
        population_size=population_size,
        population_size_known=population_size is not None,
    )


def assess(
    counts: Sequence[int],
    weight_total: Sequence[float] | None = None,
    population_size: float | None = None,
) -> tuple[FittedBenedettiFranconi, Tally]:
    """The fitted model and the tally of a file that fits in one batch."""
    total = None if weight_total is None else float(np.sum(weight_total))
    fitted = BenedettiFranconi().fit(summary_of(counts, total, population_size))
    batch = batch_of(counts, weight_total)
    return fitted, Tally().add(batch, fitted.score(batch))


def scores_of(fitted: FittedBenedettiFranconi, batch: CellBatch) -> tuple[FloatArray, FloatArray]:
    """The unique and match probabilities of a batch."""
    scores = fitted.score(batch)
    assert scores.unique_probability is not None
    assert scores.match_probability is not None
    return scores.unique_probability, scores.match_probability


def limits(outcome: Outcome) -> tuple[float, float, float]:
    """Value, low and high of a figure that has them all."""
    assert isinstance(outcome, Figure)
    assert outcome.how is How.ESTIMATE
    assert outcome.confidence == 0.95
    assert outcome.value is not None
    assert outcome.low is not None
    assert outcome.high is not None
    return outcome.value, outcome.low, outcome.high


def test_risks_of_a_known_file():
    """The eight records of francdat (R sdcMicro), with the risks known for them."""
    counts = [2, 2, 2, 1, 1, 1, 1, 2]
    weights = [110, 84.5, 84.5, 17, 541, 8, 5, 110]
    risks = [0.0171442616, 0.0220423262, 0.0220423262, 0.1770758340]
    risks += [0.0116544801, 0.2970630774, 0.4023594781, 0.0171442616]
    fitted, _ = assess(counts, weights)
    _, matched = scores_of(fitted, batch_of(counts, weights))
    np.testing.assert_allclose(matched, risks, atol=5e-11)


def test_risk_takes_whole_and_fractional_counts():
    whole = individual_risk(np.array([1, 2]), np.array([0.5, 0.5]))
    np.testing.assert_allclose(whole, [np.log(2), 2 * (0.5 - 0.5 * np.log(2))], rtol=1e-15)
    assert whole[1] < individual_risk(np.array([1.5]), np.array([0.5]))[0] < whole[0]


@pytest.mark.parametrize("bad", [0.999, 0, -1, np.nan, np.inf, 2e15])
def test_risk_refuses_a_count(bad):
    with pytest.raises(InputError, match=r"^sample_count must be from 1 to 1e\+15, got .* at posi"):
        individual_risk(np.array([1, bad]), np.array([0.5, 0.5]))


@pytest.mark.parametrize("bad", [0, -0.1, 1.0001, np.nan, np.inf])
def test_risk_refuses_a_probability(bad):
    message = r"^inclusion_probability must be above 0 and at most 1, got .* at position 1$"
    with pytest.raises(InputError, match=message):
        individual_risk(np.array([1, 1]), np.array([0.5, bad]))


def test_risk_refuses_unequal_shapes():
    message = (
        r"^inclusion_probability must be of the shape of sample_count \(2,\), got shape \(1,\)"
    )
    with pytest.raises(InputError, match=message):
        individual_risk(np.array([1, 1]), np.array([0.5]))


def test_match_variance_by_brute_force():
    f, p = 3, 0.2
    h = np.arange(f, 600)
    mass = stats.nbinom.pmf(h - f, f, p)
    expected = mass @ (1 / h**2) - (mass @ (1 / h)) ** 2
    assert match_variance(np.array([f]), np.array([p]))[0] == pytest.approx(expected, rel=1e-10)


def test_match_variance_is_zero_at_certain_inclusion():
    np.testing.assert_array_equal(match_variance(np.array([1, 7, 30]), np.ones(3)), 0)


def test_match_variance_refuses_a_fraction():
    with pytest.raises(InputError, match=r"^sample_count must be whole numbers, got 1.5 at posit"):
        match_variance(np.array([1.5]), np.array([0.5]))


def test_unique_probability_is_p_for_a_sample_unique():
    found = unique_probability(np.array([1, 2, 1]), np.array([0.3, 0.3, 1.0]))
    np.testing.assert_array_equal(found, [0.3, 0, 1])


def test_household_risk_of_each_record():
    risk = np.array([0.5, 0.5, 0.1, 1.0, 0.2, 0.0])
    household = np.array(["b", "b", "a", "c", "c", "d"])
    found = household_risk(risk, household)
    np.testing.assert_allclose(found, [0.75, 0.75, 0.1, 1, 1, 0], rtol=1e-15)


def test_household_risk_keeps_tiny_risks():
    found = household_risk(np.full(4, 1e-18), np.array([9, 9, 9, 10**17]))
    np.testing.assert_allclose(found, [3e-18, 3e-18, 3e-18, 1e-18], rtol=1e-14)


def test_household_risk_of_nobody():
    assert household_risk(np.empty(0), np.empty(0, dtype=np.int64)).shape == (0,)


def test_household_risk_refuses():
    with pytest.raises(
        InputError, match=r"^household must be of the shape of risk \(2,\), got sha"
    ):
        household_risk(np.array([0.1, 0.2]), np.array([1]))
    with pytest.raises(InputError, match=r"^risk must be from 0 to 1, got nan at position 0$"):
        household_risk(np.array([np.nan]), np.array([1]))


def test_weights_give_each_cell_its_own_probability():
    fitted, _ = assess([1, 2], [4, 20])
    unique, matched = scores_of(fitted, batch_of([1, 2], [4, 20]))
    np.testing.assert_allclose(unique, [0.25, 0])
    np.testing.assert_allclose(matched, individual_risk(np.array([1, 2]), np.array([0.25, 0.1])))
    assert fitted.parameters["inclusion_probability"] == 3 / 24
    assert fitted.parameters["source"] == "sample_count / weight_total"


def test_population_size_gives_all_cells_one_probability():
    fitted, _ = assess([1, 3], population_size=40.0)
    unique, _ = scores_of(fitted, batch_of([1, 3]))
    np.testing.assert_allclose(unique, [0.1, 0])
    assert fitted.parameters["source"] == "sample_size / population_size"


def test_model_without_weights_or_population_is_unavailable():
    with pytest.raises(
        ModelUnavailable, match=r"needs the share .*; name the column of survey wei"
    ):
        BenedettiFranconi().fit(summary_of([1, 2]))


def test_model_with_too_small_a_population_is_unavailable():
    message = r"^population_size must be at least the sample size 3, got 2$"
    with pytest.raises(ModelUnavailable, match=message):
        BenedettiFranconi().fit(summary_of([1, 2], population_size=2.0))


def test_undersized_cells_are_counted_and_scored_with_caution():
    batch = batch_of([1, 2, 3], [0.5, 2, 3 - 1e-12])
    assert Undersized().of(batch) == 1
    assert Undersized().of(batch_of([1])) == 0
    assert Undersized().joined(2, 3) == 5
    fitted, _ = assess([1, 2, 3], [0.5, 2, 3 - 1e-12])
    _, matched = scores_of(fitted, batch)
    np.testing.assert_array_equal(matched, [1, 1 / 2, 1 / 3])
    assert mean_inclusion_probability(summary_of([4], 3.0)) == 1


@pytest.mark.parametrize("bad", [0, -3, np.nan, np.inf])
def test_a_weight_no_design_gives_is_refused_without_telling_it(bad):
    fitted, _ = assess([1, 2], [4, 20])
    message = (
        r"^weight_total must be positive and finite, got another value at cell 1 of the batch$"
    )
    with pytest.raises(WeightError, match=message):
        fitted.score(batch_of([1, 2], [4, bad]))


def test_weights_missing_after_the_fit_are_refused():
    fitted, _ = assess([1, 2], [4, 20])
    with pytest.raises(WeightError, match=r"^weight_total must be given for each cell, got none$"):
        fitted.score(batch_of([1, 2]))


def test_totals_of_a_file():
    fitted, tally = assess([1] * 400 + [2] * 100, population_size=6000.0)
    value, low, high = limits(fitted.expected_population_uniques(tally))
    exact = stats.binom(400, 0.1)
    assert value == pytest.approx(40)
    assert (low, high) == pytest.approx(tuple(exact.ppf([0.025, 0.975])), abs=1)
    value, low, high = limits(fitted.expected_correct_matches(tally))
    risk = individual_risk(np.array([1, 2]), np.array([0.1, 0.1]))
    assert value == pytest.approx(400 * risk[0] + 200 * risk[1])
    assert low < value < high


def test_limits_on_matches_are_no_narrower_than_the_posterior():
    rng = np.random.default_rng(8)
    counts = rng.integers(1, 6, 300)
    weights = counts * rng.uniform(1, 50, 300)
    fitted, tally = assess(counts.tolist(), weights.tolist())
    variance = math.fsum(counts**2 * match_variance(counts, counts / weights))  # rounded once
    matches = fitted.expected_correct_matches(tally)
    assert isinstance(matches, Figure)
    assert matches.standard_error is not None
    assert np.sqrt(variance) <= matches.standard_error <= 3 * np.sqrt(variance)


def test_totals_of_a_census_are_certain():
    fitted, tally = assess([1, 1, 5], [1, 1, 5])
    assert limits(fitted.expected_population_uniques(tally)) == (2, 2, 2)
    assert limits(fitted.expected_correct_matches(tally)) == pytest.approx((3, 3, 3))


def test_totals_of_an_empty_file():
    fitted, tally = assess([], population_size=100.0)
    assert limits(fitted.expected_population_uniques(tally)) == (0, 0, 0)
    assert limits(fitted.expected_correct_matches(tally)) == (0, 0, 0)


def test_limits_hold_the_value_and_stay_below_the_sample_uniques():
    fitted, tally = assess([1, 1, 4], [300, 400, 10_000])
    value, low, high = limits(fitted.expected_population_uniques(tally))
    assert 0 == low < value < high == 1
    fitted, tally = assess([1], [1.2])
    assert limits(fitted.expected_population_uniques(tally))[1:] == (0, 1)


@pytest.mark.parametrize("mean", [0, 0.01, 3.7, 50, 1e5])
def test_poisson_limits(mean):
    exact = stats.poisson(mean).ppf([0.025, 0.975])
    assert poisson_limits(mean, 0.95) == tuple(exact)


def test_gamma_limits():
    exact = stats.gamma(4, scale=0.5).ppf([0.05, 0.95])
    assert gamma_limits(2, 1, 0.9) == pytest.approx(tuple(exact))
    assert gamma_limits(2, 0, 0.9) == (2, 2)
    assert gamma_limits(0, 0, 0.9) == (0, 0)


@pytest.mark.parametrize("bits", range(-4, 5))
def test_limits_do_not_hang_on_the_last_bits_of_the_sums(bits):
    """A hundred sample uniques of weight 10: mean 10, and mean − variance is 1 but for rounding."""
    fitted, exact = assess([1] * 100, [10.0] * 100)
    noise = 1 + bits * 2.0**-52
    noisy = replace(exact, uniques=10 * noise, uniques_variance=9.0)
    one, other = (fitted.expected_population_uniques(tally) for tally in (exact, noisy))
    assert isinstance(one, Figure)
    assert isinstance(other, Figure)
    assert (one.low, one.high) == (other.low, other.high) == (5, 16)
    sure = fitted.expected_population_uniques(Tally(uniques=3 * noise))
    assert isinstance(sure, Figure)
    assert (sure.low, sure.high) == (3, 3)


@pytest.mark.parametrize("counts", [[1, 1, 1, 2], [1, 1, 3, 3, 7, 49], list(range(1, 60))])
def test_the_variance_of_a_census_is_none_whatever_rounding_leaves_of_it(counts):
    fitted, tally = assess(counts, [float(f) for f in counts])
    figure = fitted.expected_correct_matches(tally)
    assert isinstance(figure, Figure)
    assert figure.note.endswith("they are wider than the posterior's")
    assert figure.standard_error == pytest.approx(0, abs=1e-6)
