"""The two models, the Bayes test, the distribution of uniques at scale, and planning."""

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.data.summary import SizeIndices, Summary
from discreet.errors import InputError
from discreet.figures import Figure, How
from discreet.survey.models.cohen_sackrowitz import (
    ESTIMATED_SIZE,
    CohenSackrowitzMultinomial,
    CohenSackrowitzUniform,
    UniquenessTest,
)
from discreet.survey.models.contract import Model, ModelUnavailable, Tally
from discreet.survey.models.exchangeable_prior import (
    ExchangeablePosterior,
    PopulationPrior,
    check_mean,
)
from discreet.survey.models.sample_size import plan_sample_size, sample_uniques_moments
from discreet.survey.models.subset_prior import (
    CELL_LIMIT,
    POPULATION_LIMIT,
    EmptyCells,
    LargestCell,
    PopulationUniques,
    subset_posterior,
)

CONTRACT: tuple[Model, Model] = (CohenSackrowitzUniform(), CohenSackrowitzMultinomial())
MODELS: list[Any] = [*CONTRACT]
COUNTS = np.array([1, 1, 1, 2, 2, 5])


def batch(counts) -> CellBatch:
    array = np.array(counts, dtype=np.int64)
    coding = Coding.of_sizes((1000,))
    words = np.arange(len(array), dtype=np.int64)[:, None]
    return CellBatch(coding=coding, words=words, sample_count=array, weight_total=None)


def summary(counts=COUNTS, population_size=60.0, n_table_cells=20, known=True) -> Summary:
    array = np.array(counts, dtype=np.int64)
    return Summary(
        sample_size=int(array.sum()),
        n_table_cells=n_table_cells,
        level_counts=(n_table_cells,),
        size_indices=SizeIndices.of_counts(array),
        weight_total=None if known else population_size,
        population_size=population_size,
        population_size_known=known,
    )


def figures(model, **changes) -> tuple[Figure, Figure]:
    counts = changes.get("counts", COUNTS)
    fit = model.fit(summary(**changes))
    tally = Tally().add(batch(counts), fit.score(batch(counts)))
    uniques, matches = fit.expected_population_uniques(tally), fit.expected_correct_matches(tally)
    assert isinstance(uniques, Figure)
    assert isinstance(matches, Figure)
    return uniques, matches


def limits(figure: Figure) -> tuple[float, float]:
    assert figure.low is not None
    assert figure.high is not None
    return figure.low, figure.high


def posterior(prior: PopulationPrior, n: int, N: int, K: int) -> ExchangeablePosterior:
    return ExchangeablePosterior(prior=prior, sample_size=n, population_size=N, n_table_cells=K)


@pytest.mark.parametrize("model", MODELS)
def test_scores_treat_all_sample_uniques_alike(model):
    fit = model.fit(summary())
    scores = fit.score(batch(COUNTS))
    q = fit.posterior.unique_probability
    np.testing.assert_array_equal(scores.unique_probability, [q, q, q, 0, 0, 0])
    np.testing.assert_allclose(scores.match_probability, fit.posterior.match_probability(COUNTS))
    assert "treated alike" in model.assumption
    assert model.needs == frozenset()
    assert model.name in {"cohen_sackrowitz_uniform", "cohen_sackrowitz_multinomial"}


@pytest.mark.parametrize("model", MODELS)
def test_scores_of_no_cell(model):
    scores = model.fit(summary()).score(batch([]))
    assert len(scores.unique_probability) == len(scores.match_probability) == 0


@pytest.mark.parametrize("model", MODELS)
def test_totals_carry_their_uncertainty(model):
    uniques, matches = figures(model)
    fit = model.fit(summary())
    assert uniques.value == pytest.approx(3 * fit.posterior.unique_probability)
    assert (uniques.low, uniques.high) == fit.posterior.uniques(3).interval(0.95)
    assert uniques.standard_error == pytest.approx(math.sqrt(fit.posterior.variance_of(3)))
    assert uniques.how is matches.how is How.ESTIMATE
    assert uniques.confidence == matches.confidence == 0.95
    assert matches.value == pytest.approx(np.dot(COUNTS, fit.posterior.match_probability(COUNTS)))
    low, high = limits(matches)
    assert 0 <= low < np.dot(COUNTS, fit.posterior.match_probability(COUNTS)) < high <= len(COUNTS)


def test_expected_matches_under_the_uniform_prior_depend_on_occupied_cells_only():
    """f·E(1/F) = (n + K − 1)/(N + K − 1) whatever f is."""
    _, matches = figures(MODELS[0])
    assert matches.value == pytest.approx(len(COUNTS) * (12 + 19) / (60 + 19))


@pytest.mark.parametrize("model", MODELS)
def test_no_sample_uniques_are_certainly_no_population_uniques(model):
    for known in (True, False):
        uniques, _ = figures(model, counts=(2, 3), known=known)
        assert uniques == Figure(value=0.0, low=0.0, high=0.0, how=How.EXACT)


@pytest.mark.parametrize("model", MODELS)
def test_a_sample_that_is_the_population(model):
    uniques, matches = figures(model, population_size=12.0)
    assert uniques == Figure(value=3.0, low=3.0, high=3.0, how=How.EXACT)
    assert matches == Figure(value=6.0, low=6.0, high=6.0, how=How.EXACT)


@pytest.mark.parametrize("model", MODELS)
def test_weights_that_add_to_the_sample_size_are_no_certainty(model):
    uniques, matches = figures(model, population_size=12.0, known=False)
    assert (uniques.value, uniques.low, uniques.high, uniques.how) == (3, 3, 3, How.ESTIMATE)
    assert (matches.value, matches.how) == (6, How.ESTIMATE)
    assert ESTIMATED_SIZE in uniques.note
    assert ESTIMATED_SIZE in matches.note


@pytest.mark.parametrize("model", MODELS)
def test_a_population_size_that_is_not_whole_is_rounded_and_said(model):
    fit = model.fit(summary(population_size=59.6, known=False))
    assert fit.posterior.population_size == 60
    assert fit.parameters["population_size"] == 60
    assert fit.parameters["population_size_given"] == 59.6
    assert "population_size_given" not in model.fit(summary()).parameters
    assert model.fit(summary(population_size=11.9999999)).posterior.population_size == 12


@pytest.mark.parametrize("model", MODELS)
def test_overlapping_cells_are_no_table(model):
    overlapping = SizeIndices.of_counts(np.array([1.0, 2.5]), np.array([1, 2]))
    with pytest.raises(ModelUnavailable, match="cells overlap and there is no table of them"):
        model.fit(replace(summary((1, 2)), size_indices=overlapping))
    with pytest.raises(InputError, match="size_indices must be those of cells that do not overlap"):
        subset_posterior(overlapping, **SUBSET)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"population_size": None}, "the population size is not known"),
        ({"population_size": 11.0}, "population_size must be at least the sample size 12, got 11"),
        ({"population_size": math.nan}, "population_size must be at least the sample size 12"),
        ({"n_table_cells": 5}, "n_table_cells must be at least the 6 occupied cells, got 5"),
        ({"counts": ()}, "the sample holds no record"),
    ],
)
def test_unavailable_with_the_reason(model, changes, reason):
    with pytest.raises(ModelUnavailable, match=reason):
        model.fit(summary(**changes))


def test_confidence_is_a_choice_and_checked():
    wide = figures(CohenSackrowitzUniform(confidence=0.999), population_size=30.0)[0]
    narrow = figures(CohenSackrowitzUniform(confidence=0.5), population_size=30.0)[0]
    assert np.diff(limits(wide)) > np.diff(limits(narrow))
    with pytest.raises(InputError, match="confidence must be between 0 and 1, got 1"):
        CohenSackrowitzUniform(confidence=1).fit(summary())


def test_a_unique_probability_below_the_smallest_float_is_a_risk_of_zero_and_not_a_failure():
    uniques, _ = figures(MODELS[1], population_size=1e6)
    assert (uniques.value, uniques.low, uniques.high) == (0, 0, 0)
    assert uniques.how is How.ESTIMATE


@pytest.mark.parametrize("prior", PopulationPrior)
@pytest.mark.parametrize(
    ("n", "N", "K"),
    [(8399, 46228, 1108), (10**6, 10**10, 10**15), (10**6, 10**10, 10**40), (2, 10**10, 2)],
)
def test_unique_probability_to_all_digits(prior, n, N, K):
    with mp.workdps(80):
        if prior is PopulationPrior.UNIFORM:
            exact = mp.mpf((n + K - 1) * (n + K - 2)) / ((N + K - 1) * (N + K - 2))
        else:
            exact = mp.power(mp.mpf(K - 1) / K, N - n)
        shared = float(1 - exact)
    assert posterior(prior, n, N, K).unique_probability == pytest.approx(float(exact), rel=1e-12)
    assert posterior(prior, n, N, K).shared_probability == pytest.approx(shared, rel=1e-12)


@pytest.mark.parametrize("K", [1, 2, 3, 1108, 10**15])
@pytest.mark.parametrize("M", [1, 20, 1000])
def test_multinomial_match_probability_is_the_binomial_mean(K, M):
    counts = np.array([1, 2, 7, 5000])
    computed = posterior(PopulationPrior.MULTINOMIAL, 10, 10 + M, K).match_probability(counts)
    with mp.workdps(30):
        p = mp.mpf(1) / K
        distribution = [mp.binomial(M, j) * p**j * (1 - p) ** (M - j) for j in range(M + 1)]
        exact = [mp.fsum(w / (int(f) + j) for j, w in enumerate(distribution)) for f in counts]
    np.testing.assert_allclose(computed, [float(e) for e in exact], rtol=1e-13)


def test_multinomial_match_probability_of_a_unique_has_a_closed_form():
    """E(1/(1 + B)) = (1 − (1 − p)^(M + 1)) / ((M + 1) p), here with ten thousand million people."""
    for K in (2, 1000, 10**9, 10**15, 10**300):
        exact = -math.expm1((10**10 + 1) * math.log1p(-1 / K)) / (10**10 + 1) * K
        computed = posterior(PopulationPrior.MULTINOMIAL, 10, 10**10 + 10, K).match_probability(
            np.array([1])
        )[0]
        assert computed == pytest.approx(exact if exact > 0 else 1.0, rel=1e-13)


@pytest.mark.parametrize("K", [3, 500, 3000])
def test_variance_of_matches_of_sample_uniques_is_exact_under_the_uniform_prior(K):
    """P(F) = F C(N − F + K − 2, n + K − 3) / C(N + K − 1, n + K − 1), two cells together Q."""
    n, N, cells = 400, 900, 3
    whole = math.comb(N + K - 1, n + K - 1)
    distribution = [
        Fraction(F * math.comb(N - F + K - 2, n + K - 3), whole) for F in range(1, N - n + 2)
    ]
    assert sum(distribution) == 1
    first = sum(p / F for F, p in enumerate(distribution, 1))
    second = sum(p / F**2 for F, p in enumerate(distribution, 1))
    pair = Fraction((n + K - 1) * (n + K - 2), (N + K - 1) * (N + K - 2))
    exact = float(cells * second + cells * (cells - 1) * pair - (cells * first) ** 2)
    computed = posterior(PopulationPrior.UNIFORM, n, N, K).matches_variance(
        np.array([1]), np.array([cells])
    )
    assert computed == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("prior", PopulationPrior)
@pytest.mark.parametrize(
    ("n", "N", "K", "s"),
    [
        (10**5, 10**6, 3 * 10**5, 20_000),
        (10**6, 10**10, 10**15, 900_000),
        (10**5, 10**5 + 50, 10**5, 20_000),
        (10**8, 10**9, 10**9, 8 * 10**7),
        (10**3, 10**10, 10**9, 900),
        (2, 10**15, 3, 2),
        (10**5, 2 * 10**5, 10**20, 90_000),
        (10**5, 2 * 10**5, 10**300, 90_000),
    ],
)
def test_distributions_at_scale_have_the_moments_of_closed_form(prior, n, N, K, s):
    """Factorial moments s(s − 1)…·P(all of j given sample uniques are unique), for j up to 3."""
    uniques = posterior(prior, n, N, K).uniques(s)
    x = uniques.first + np.arange(len(uniques.probability))
    with mp.workdps(60):

        def both(j: int) -> mp.mpf:
            if prior is PopulationPrior.MULTINOMIAL:
                return mp.power(max(0, mp.mpf(K - j) / K), N - n)
            drawn = mp.fprod(mp.mpf(max(0, n + K - 1 - i)) for i in range(2 * j))
            return drawn / mp.fprod(mp.mpf(N + K - 1 - i) for i in range(2 * j))

        factorial = [mp.fprod(s - i for i in range(j)) * both(j) for j in (1, 2, 3)]
        mean, variance = factorial[0], factorial[1] + factorial[0] - factorial[0] ** 2
        third = factorial[2] + 3 * factorial[1] + factorial[0]
        third = third - 3 * mean * (variance + mean**2) + 2 * mean**3
        mean, variance, third = float(mean), float(variance), float(third)
    scale = max(math.sqrt(variance), 1e-300)
    p = uniques.probability
    centred = (x - uniques.first) - (mean - uniques.first)
    assert float(p.sum()) == pytest.approx(1, abs=1e-13)
    assert uniques.mean == pytest.approx(mean, rel=1e-13)
    assert uniques.variance == pytest.approx(variance, rel=1e-9, abs=1e-16 * s)
    assert float(centred @ p) == pytest.approx(0, abs=1e-7 * scale + 1e-15 * mean)
    assert float(centred**2 @ p) == pytest.approx(variance, rel=1e-7, abs=1e-14)
    assert float(centred**3 @ p) == pytest.approx(third, rel=1e-5, abs=1e-6 * scale**3 + 1e-14)


@settings(max_examples=60)
@given(
    st.sampled_from(PopulationPrior),
    st.integers(0, 400),
    st.integers(0, 400),
    st.integers(1, 10**6),
    st.integers(0, 10**6),
    st.floats(0.01, 0.99),
)
def test_intervals_hold_what_they_claim(prior, s, more, spare, unseen, confidence):
    n = s + 2 * more
    if n == 0:
        return
    uniques = posterior(prior, n, n + unseen, s + spare).uniques(s)
    low, high = uniques.interval(confidence)
    assert max(0, s - unseen) <= low <= high <= s
    inside = uniques.probability[low - uniques.first : high - uniques.first + 1]
    assert float(inside.sum()) >= confidence - 1e-12
    assert np.all(uniques.probability >= 0)
    assert 0 <= uniques.variance <= s / 4 + 1e-9


def test_interval_has_at_most_half_of_the_rest_on_each_side():
    uniques = posterior(PopulationPrior.UNIFORM, 300, 900, 200).uniques(60)
    low, high = uniques.interval(0.9)
    assert 1 - uniques.at_least(low) <= 0.05 < 1 - uniques.at_least(low + 1)
    assert uniques.at_least(high + 1) <= 0.05 < uniques.at_least(high)
    with pytest.raises(InputError, match="confidence must be between 0 and 1, got 0"):
        uniques.interval(0)
    with pytest.raises(ValueError, match="read-only"):
        uniques.probability[0] = 1


def test_a_distribution_with_another_mean_is_refused():
    with pytest.raises(ArithmeticError, match=r"mean of the probabilities must be 1.0, got 0.5"):
        check_mean(0, np.array([0.5, 0.5]), 1.0, 0.25)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sample_size": 0}, "sample_size must be a whole number of at least 1, got 0"),
        ({"sample_size": True}, "sample_size must be a whole number of at least 1, got True"),
        ({"n_table_cells": 0}, "n_table_cells must be a whole number of at least 1, got 0"),
        ({"population_size": 9}, "population_size must be a whole number of at least 10, got 9"),
        ({"population_size": 20.0}, "population_size must be a whole number of at least 10"),
    ],
)
def test_posterior_refuses_sizes_of_no_sample(changes, message):
    sizes = {"sample_size": 10, "population_size": 20, "n_table_cells": 5} | changes
    with pytest.raises(InputError, match=message):
        ExchangeablePosterior(prior=PopulationPrior.UNIFORM, **sizes)


@pytest.mark.parametrize(("n", "K", "s"), [(5, 9, 6), (9, 5, 6), (9, 5, 5), (5, 9, -1)])
def test_sample_uniques_that_no_sample_holds(n, K, s):
    with pytest.raises(InputError, match="sample_uniques must be the sample uniques of"):
        posterior(PopulationPrior.UNIFORM, n, 20, K).uniques(s)


def test_bayes_test_flips_at_its_ratio():
    test = UniquenessTest(unique_probability=0.25, shared_probability=0.75)
    assert test.flip_ratio == 3
    assert test.over([1, 2.999, 3, 3.001, 100]) == [
        (1, False),
        (2.999, False),
        (3, True),
        (3.001, True),
        (100, True),
    ]
    assert test.calls_unique(missed_loss=6, false_alarm_loss=2)
    assert not test.calls_unique(missed_loss=6, false_alarm_loss=2.1)


def test_bayes_test_at_the_ends():
    never = UniquenessTest(unique_probability=0.0, shared_probability=1.0)
    always = UniquenessTest(unique_probability=1.0, shared_probability=0.0)
    assert never.flip_ratio is None
    assert always.flip_ratio == 0
    assert not never.calls_unique(missed_loss=1e300, false_alarm_loss=1e-300)
    assert always.calls_unique(missed_loss=1e-300, false_alarm_loss=1e300)
    nearly = UniquenessTest.of(posterior(PopulationPrior.UNIFORM, 10, 11, 10**30))
    assert nearly.flip_ratio == pytest.approx(2e-30)


def test_bayes_test_refuses_what_is_no_loss_and_no_probability():
    with pytest.raises(InputError, match="must be two probabilities that add to 1"):
        UniquenessTest(unique_probability=0.5, shared_probability=0.6)
    test = UniquenessTest(unique_probability=0.5, shared_probability=0.5)
    with pytest.raises(InputError, match="missed_loss must be a positive number, got 0"):
        test.calls_unique(missed_loss=0, false_alarm_loss=1)
    with pytest.raises(InputError, match="false_alarm_loss must be a positive number, got inf"):
        test.calls_unique(missed_loss=1, false_alarm_loss=math.inf)


def exact_unique_probability(prior: PopulationPrior, n: int, N: int, K: int) -> Fraction:
    if n == N:
        return Fraction(1)
    if prior is PopulationPrior.UNIFORM:
        return Fraction((n + K - 1) * (n + K - 2), (N + K - 1) * (N + K - 2))
    return Fraction((K - 1) ** (N - n), K ** (N - n))


@settings(max_examples=150)
@given(
    st.sampled_from(PopulationPrior),
    st.integers(2, 40),
    st.integers(1, 60),
    st.integers(1, 50),
    st.integers(1, 50),
)
def test_plan_is_the_largest_size_within_the_target(prior, K, N, a, b):
    target = Fraction(min(a, b), max(a, b))
    plan = plan_sample_size(K, N, target, prior)
    within = [m for m in range(1, N + 1) if exact_unique_probability(prior, m, N, K) <= target]
    assert plan.sample_size == max(within, default=0) == len(within)
    if plan.sample_size:
        assert math.floor(plan.formula + 1e-9) == plan.sample_size
        assert plan.unique_probability == pytest.approx(
            float(exact_unique_probability(prior, plan.sample_size, N, K))
        )
    else:
        assert plan.formula < 1
        assert plan.unique_probability is None


@pytest.mark.parametrize("K", [2, 3, 10, 1108, 10**6])
@pytest.mark.parametrize("m", [1, 2, 5])
def test_plan_at_a_target_that_is_met_exactly(K, m):
    """((K − 1)/K)^m is allowed, anything below it is not."""
    target = Fraction(K - 1, K) ** m
    assert plan_sample_size(K, 100, target, PopulationPrior.MULTINOMIAL).sample_size == 100 - m
    less = target - Fraction(1, 10**90)
    assert plan_sample_size(K, 100, less, PopulationPrior.MULTINOMIAL).sample_size == 100 - m - 1
    uniform = exact_unique_probability(PopulationPrior.UNIFORM, 100 - m, 100, K)
    assert plan_sample_size(K, 100, uniform).sample_size == 100 - m
    assert plan_sample_size(K, 100, uniform - Fraction(1, 10**90)).sample_size == 100 - m - 1


@pytest.mark.parametrize("prior", PopulationPrior)
def test_plan_for_enormous_tables(prior):
    K, N = 10**15, 10**17
    plan = plan_sample_size(K, N, "0.05", prior)
    assert 0 < plan.sample_size < N
    below, above = (posterior(prior, plan.sample_size + i, N, K) for i in (0, 10**7))
    assert below.unique_probability <= 0.05 * (1 + 1e-12)
    assert above.unique_probability > 0.05
    assert plan_sample_size(10**300, 10**10, 0.5, prior).sample_size == 0


def test_a_float_target_means_the_decimal_it_prints_as():
    """0.3 as a float is a little less than 3/10, which is the probability at n = 8."""
    K, N = 2, 15
    assert exact_unique_probability(PopulationPrior.UNIFORM, 8, N, K) == Fraction(3, 10)
    sizes = {plan_sample_size(K, N, t).sample_size for t in (0.3, "0.3", Decimal("0.3"), "3/10")}
    assert sizes == {8}


def test_plan_says_when_nothing_or_everything_may_be_taken():
    none = plan_sample_size(10**6, 1000, 0.05)
    assert none.sample_size == 0
    assert none.sample_fraction == 0
    assert none.expected_sample_uniques is None
    assert none.expected_population_uniques is None
    assert none.verdict == "no sample size keeps the unique probability at or under the target"
    whole = plan_sample_size(50, 1000, 1)
    assert whole.sample_size == 1000
    assert whole.unique_probability == 1
    assert "whole population" in whole.verdict
    some = plan_sample_size(50, 1000, 0.05)
    assert some.verdict == f"at most {some.sample_size} of 1000 records may be taken"
    assert some.sample_fraction == some.sample_size / 1000


@pytest.mark.parametrize("prior", PopulationPrior)
def test_curve_rises_to_one_through_the_plan(prior):
    plan = plan_sample_size(50, 1000, 0.05, prior)
    curve = plan.curve(11)
    assert (curve[0][0], curve[-1]) == (1, (1000, 1.0))
    assert (plan.sample_size, plan.unique_probability) in curve
    assert len(curve) == 12
    assert all(a[0] < b[0] and a[1] <= b[1] for a, b in pairwise(curve))
    assert plan_sample_size(50, 1, 1, prior).curve() == [(1, 1.0)]


@pytest.mark.parametrize("prior", PopulationPrior)
def test_expected_uniques_of_a_plan(prior):
    """Before the sample is drawn, every record is a population unique with the same probability.

    Hence n/N of the expected population uniques are expected in the sample.
    """
    plan = plan_sample_size(200, 900, 0.2, prior)
    in_population, _ = sample_uniques_moments(prior, 900, 200)
    assert plan.expected_population_uniques == pytest.approx(plan.sample_fraction * in_population)


@pytest.mark.parametrize("prior", PopulationPrior)
@pytest.mark.parametrize(("n", "K"), [(1, 4), (2, 1), (2, 2), (2, 5), (3, 1), (3, 2), (6, 4)])
def test_moments_of_the_number_of_sample_uniques(prior, n, K):
    """Over all samples, weighted by the prior with n for N."""
    distribution: dict[int, Fraction] = {}
    for cuts in combinations_with_replacement(range(n + 1), K - 1):
        counts = [b - a for a, b in pairwise((0, *cuts, n))]
        ways = math.prod(map(math.factorial, counts)) if prior is PopulationPrior.MULTINOMIAL else 1
        distribution[counts.count(1)] = distribution.get(counts.count(1), Fraction(0)) + Fraction(
            1, ways
        )
    total = sum(distribution.values())
    mean = sum(x * w for x, w in distribution.items()) / total
    variance = sum(x * x * w for x, w in distribution.items()) / total - mean**2
    assert sample_uniques_moments(prior, n, K) == pytest.approx(
        (float(mean), float(variance)), abs=1e-14
    )


def test_variance_of_the_number_of_sample_uniques_does_not_cancel():
    """A million records in 10¹⁵ cells: about n²/(2K) pairs of multinomial records share a cell."""
    mean, variance = sample_uniques_moments(PopulationPrior.MULTINOMIAL, 10**6, 10**15)
    assert 10**6 - mean == pytest.approx(1e-3, rel=1e-3)
    assert variance == pytest.approx(2e-3, rel=1e-3)


def test_caution_where_the_sample_belies_the_prior():
    """The sizes of the paper's example: 108 sample uniques, where 114 or 4.28 are expected."""
    counts = [1] * 108 + [8] * 636 + [13] * 231 + [50] * 4
    assert sum(counts) == 8399
    table = summary(counts, population_size=46228.0, n_table_cells=1108)
    uniform, multinomial = (model.fit(table).caution(Tally()) for model in MODELS)
    assert uniform is None
    assert multinomial == (
        "the prior expects 4.28 sample uniques in such a sample and gives the 108 there are a "
        "chance below 1%: the data contradict it, and its figures may be far off either way"
    )


def test_caution_where_records_crowd_into_few_of_many_cells():
    """Of 10⁹ possible cells 200 hold two records each: no prior that treats cells alike does so."""
    crowded = {"counts": [2] * 200 + [1] * 50, "population_size": 1e5, "n_table_cells": 10**9}
    for model in MODELS:
        caution = model.fit(summary(**crowded)).caution(Tally())
        assert caution is not None
        assert "expects 450 sample uniques" in caution
        assert "gives the 50 there are a chance below 1%" in caution
        whole = model.fit(summary(**(crowded | {"population_size": 450.0})))
        assert whole.caution(Tally()) is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 10, 0.5), "n_table_cells must be a whole number of at least 2, got 1"),
        ((5, 0, 0.5), "population_size must be a whole number of at least 1, got 0"),
        ((5, 10, 0), "target risk must be above 0 and at most 1, got 0"),
        ((5, 10, 1.5), "target risk must be above 0 and at most 1, got 1.5"),
        ((5, 10, math.nan), "target risk must be above 0 and at most 1, got nan"),
        ((5, 10, "1/0"), "target risk must be above 0 and at most 1, got 1/0"),
        ((5, 10, 0.5, "flat"), "prior must be uniform or multinomial, got 'flat'"),
    ],
)
def test_plan_refuses_what_it_cannot_use(arguments, message):
    with pytest.raises(InputError, match=message):
        plan_sample_size(*arguments)


def test_curve_needs_two_points():
    with pytest.raises(InputError, match="points must be a whole number of at least 2, got 1"):
        plan_sample_size(5, 10, 0.5).curve(1)


SUBSET: dict[str, Any] = {
    "prior": PopulationPrior.UNIFORM,
    "population_size": 60,
    "n_table_cells": 20,
    "subset": EmptyCells(3),
    "weight": 0.5,
}


@pytest.mark.parametrize(
    ("counts", "changes", "message"),
    [
        ((2, 3), {}, "sample_uniques must be at least 1, got 0"),
        (COUNTS, {"population_size": 11}, "population_size must be a whole number of at least 12"),
        (COUNTS, {"n_table_cells": 5}, "n_table_cells must be from 6 to"),
        (COUNTS, {"n_table_cells": CELL_LIMIT + 1}, "n_table_cells must be from 6 to"),
        (COUNTS, {"population_size": POPULATION_LIMIT + 1}, "population_size must be at most"),
        (COUNTS, {"weight": 1.5}, "weight must be a probability, got 1.5"),
        (COUNTS, {"subset": LargestCell(0)}, "most must be a whole number of at least 1, got 0"),
        (COUNTS, {"subset": PopulationUniques(-1)}, "number must be a whole number of at least 0"),
        (COUNTS, {"subset": LargestCell(2)}, "weight must be 0 on a set that holds no table"),
        (COUNTS, {"subset": EmptyCells(21)}, "weight must be 0 on a set that holds no table"),
        (COUNTS, {"subset": LargestCell(60)}, "weight must be 0 on a set that holds no table"),
        (COUNTS, {"subset": LargestCell(4), "weight": 1}, "positive on tables that fit the sample"),
    ],
)
def test_weighted_subsets_refuse_what_they_cannot_use(counts, changes, message):
    sizes = SizeIndices.of_counts(np.array(counts))
    with pytest.raises(InputError, match=message):
        subset_posterior(sizes, **(SUBSET | changes))


def test_a_subset_that_no_table_of_the_sample_belongs_to():
    """The sample has a cell of 5, so the populations without one of more than 4 are ruled out."""
    sizes = SizeIndices.of_counts(np.array(COUNTS))
    result = subset_posterior(sizes, **(SUBSET | {"subset": LargestCell(4)}))
    assert result.subset_probability == 0
    assert result.inside is None
    assert result.unique_probability == result.outside
    assert 0 < result.subset_share < 1


def test_a_subset_with_more_empty_cells_makes_uniques_less_likely():
    """The fewer cells there are to fill, the more records each of them gets."""
    sizes = SizeIndices.of_counts(np.array(COUNTS))
    inside = [
        subset_posterior(sizes, **(SUBSET | {"subset": EmptyCells(number)})).inside
        for number in range(15)
    ]
    assert None not in inside
    assert np.all(np.diff(np.array(inside, dtype=float)) < 0)


@pytest.mark.parametrize("bits", range(-3, 4))
@pytest.mark.parametrize("ratio", [1, 2, 5, 9, 10, 49, 99])
def test_a_tie_is_called_unique_whatever_the_last_bits(ratio, bits):
    q = 1 / (1 + ratio) * (1 + bits * 2.0**-52)
    test = UniquenessTest(unique_probability=q, shared_probability=ratio / (1 + ratio))
    assert test.calls_unique(missed_loss=ratio, false_alarm_loss=1.0)
    assert not test.calls_unique(missed_loss=0.999 * ratio, false_alarm_loss=1.0)


@pytest.mark.parametrize("bits", [-3, 0, 3])
def test_a_tail_of_just_the_size_allowed_is_left_out(bits):
    """One sample unique, unique in the population with probability 19·18 / (20·19) = 0.9."""
    posterior = ExchangeablePosterior(
        prior=PopulationPrior.UNIFORM, sample_size=10, population_size=11, n_table_cells=10
    )
    exact = posterior.uniques(1)
    noise = 1 + np.array([bits, -bits]) * 2.0**-52
    noisy = replace(exact, probability=np.array([0.1, 0.9]) * noise)
    assert exact.interval(0.8) == noisy.interval(0.8) == (1, 1)
    assert exact.interval(0.81) == (0, 1)


@pytest.mark.parametrize("bits", [-3, 0, 3])
def test_a_population_that_is_whole_but_for_rounding_is_told_once(bits):
    sizes = SizeIndices.of_counts(np.array([1, 1, 2]))
    summary = Summary(
        sample_size=4,
        n_table_cells=10,
        level_counts=(10,),
        size_indices=sizes,
        weight_total=None,
        population_size=1000 * (1 + bits * 2.0**-52),
        population_size_known=False,
    )
    assert "population_size_given" not in CohenSackrowitzUniform().fit(summary).parameters
