"""Regression against single fits, a general optimiser, Poisson closed forms and known truths."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import gammaln

from discreet.count_tables.com_poisson.distribution import ComPoisson
from discreet.count_tables.com_poisson.estimation import Fit, SampleSums, maximum_likelihood
from discreet.count_tables.com_poisson.regression import (
    RatioTest,
    Regression,
    dispersion_test,
    effect_test,
    likelihood_ratio,
    regress,
    regress_sets,
)
from discreet.count_tables.com_poisson.regression_design import Category
from discreet.count_tables.statistics import CountStatistics
from discreet.errors import InputError
from discreet.figures import Unavailable

SATURATED = [["state"], ["sex"], ["state", "sex"]]


def sampled(log_rates, dispersions, n, seed) -> list[Category]:
    rng = np.random.default_rng(seed)
    made = []
    for (state, sex), log_rate, dispersion in zip(
        [(s, x) for s in "ab" for x in "fm"], log_rates, dispersions
    ):
        drawn = ComPoisson.of_log_rate(log_rate, dispersion).draw(n, rng=rng)
        levels = {"state": state, "sex": sex}
        made.append(Category.of(levels, CountStatistics.of_sequence(drawn.tolist())))
    return made


@pytest.fixture(scope="module")
def categories():
    return sampled((0.4, 0.9, 1.0, 1.5), (1.3,) * 4, 500, 6)


def fitted(outcome) -> Regression:
    assert isinstance(outcome, Regression)
    return outcome


def test_saturated_and_separate_is_each_category_by_itself(categories):
    got = fitted(regress(categories, SATURATED, separate_dispersion=True))
    alone = [maximum_likelihood_of(one.sums) for one in categories]
    assert got.log_likelihood == pytest.approx(sum(fit.log_likelihood for fit in alone), rel=1e-12)
    assert got.log_rates == pytest.approx([fit.log_rate for fit in alone], abs=1e-7)
    for ours, theirs in zip(got.dispersions, alone):
        assert ours.estimate == pytest.approx(theirs.dispersion, rel=1e-7)
        assert ours.standard_error == pytest.approx(theirs.dispersion_standard_error, rel=1e-6)
    assert got.coefficients[0].standard_error == pytest.approx(
        alone[0].log_rate_standard_error, rel=1e-6
    )


def maximum_likelihood_of(sums: SampleSums) -> Fit:
    from discreet.count_tables.com_poisson.estimation import fit_sums

    return fit_sums(sums)


def test_one_category_is_the_plain_fit():
    statistics = CountStatistics.of_counts({0: 15, 1: 20, 2: 9, 3: 5, 4: 2})
    plain = maximum_likelihood(statistics)
    assert isinstance(plain, Fit)
    got = fitted(regress([Category.of({}, statistics)]))
    assert got.coefficients[0].estimate == pytest.approx(plain.log_rate, rel=1e-8)
    assert got.dispersions[0].estimate == pytest.approx(plain.dispersion, rel=1e-8)
    assert got.log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-12)


def test_main_effects_against_a_general_optimiser(categories):
    got = fitted(regress(categories))
    x = np.array([[1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]])
    values = np.arange(150)

    def loss(at):
        thetas = x @ at[:3]
        log_z = np.logaddexp.reduce(thetas[:, None] * values - at[3] * gammaln(values + 1), axis=1)
        parts = zip(categories, thetas, log_z)
        return -sum(
            one.sums.total * t - one.sums.log_factorial_total * at[3] - one.sums.n * z
            for one, t, z in parts
        )

    found = minimize(loss, [0.5, 0.5, 0.5, 1.0], method="BFGS", options={"gtol": 1e-5})
    estimates = [c.estimate for c in (*got.coefficients, *got.dispersions)]
    assert estimates == pytest.approx(found.x.tolist(), abs=1e-4)
    assert got.log_likelihood >= -found.fun - 1e-9
    errors = [c.standard_error for c in (*got.coefficients, *got.dispersions)]
    assert errors == pytest.approx(
        np.sqrt(np.diag(numerical_inverse(loss, estimates))).tolist(), rel=1e-3
    )


def numerical_inverse(loss, at):
    h, size = 1e-4, len(at)
    unit = np.eye(size) * h
    at = np.array(at)
    hessian = [
        [
            (loss(at + a + b) - loss(at + a - b) - loss(at - a + b) + loss(at - a - b))
            / (4 * h * h)
            for a in unit
        ]
        for b in unit
    ]
    return np.linalg.inv(np.array(hessian))


def test_true_effects_are_within_their_errors(categories):
    got = fitted(regress(categories))
    for coefficient, truth in zip(got.coefficients, (0.4, 0.6, 0.5)):
        assert abs(coefficient.estimate - truth) < 3.5 * coefficient.standard_error
    assert abs(got.dispersions[0].estimate - 1.3) < 3.5 * got.dispersions[0].standard_error


def test_tests_see_what_is_there(categories):
    effect, dispersion = effect_test(categories), dispersion_test(categories)
    assert isinstance(effect, RatioTest)
    assert isinstance(dispersion, RatioTest)
    assert effect.p_value < 1e-6
    assert effect.degrees_of_freedom == 2
    assert dispersion.p_value > 0.01
    assert dispersion.degrees_of_freedom == 3
    other = dispersion_test(sampled((0.4, 0.9, 1.0, 3.0), (0.6, 1.3, 1.3, 2.5), 500, 9))
    assert isinstance(other, RatioTest)
    assert other.p_value < 1e-6
    same = effect_test(sampled((0.7,) * 4, (1.0,) * 4, 300, 12))
    assert isinstance(same, RatioTest)
    assert same.p_value > 0.01


def test_size_of_the_test_of_no_effect():
    """Seeded: of 60 samples without effect about 5 % are rejected at 5 %."""
    rejected = 0
    for seed in range(60):
        test = effect_test(sampled((0.7,) * 4, (1.4,) * 4, 80, seed))
        assert isinstance(test, RatioTest)
        rejected += test.p_value < 0.05
    assert rejected <= 9


def test_boundary():
    tables = {"a": {0: 50, 1: 10, 20: 4}, "b": {0: 50, 1: 10, 30: 4}}
    over = [Category.of({"g": g}, CountStatistics.of_counts(t)) for g, t in tables.items()]
    got = fitted(regress(over))
    assert got.at_boundary
    assert got.dispersions[0].estimate == 0
    assert got.dispersions[0].standard_error is None
    means = [90 / 64, 130 / 64]
    assert got.log_rates == pytest.approx([math.log(m / (1 + m)) for m in means], abs=1e-6)
    test = effect_test(over)
    assert isinstance(test, RatioTest)
    assert test.caution is not None


@pytest.mark.parametrize(
    ("tables", "separate", "reason"),
    [
        ({"a": {0: 5, 1: 3}, "b": {0: 2, 1: 1}}, False, "every category holds one value or two"),
        ({"a": {0: 5, 1: 3}, "b": {0: 2, 1: 1, 4: 2}}, True, "category 1 holds one value or two"),
    ],
)
def test_no_maximum(tables, separate, reason):
    made = [Category.of({"g": g}, CountStatistics.of_counts(t)) for g, t in tables.items()]
    outcome = regress(made, separate_dispersion=separate)
    assert isinstance(outcome, Unavailable)
    assert reason in outcome.reason
    test = dispersion_test(made)
    assert isinstance(test, Unavailable)


def test_a_category_of_zeros_has_no_maximum():
    made = [
        Category({"g": "a"}, SampleSums(20, 0, 0.0)),
        Category.of({"g": "b"}, CountStatistics.of_counts({0: 9, 1: 7, 3: 4})),
    ]
    outcome = regress(made)
    assert isinstance(outcome, Unavailable)
    assert "grows without end" in outcome.reason


def test_likelihood_ratio_needs_a_larger_model(categories):
    fit = fitted(regress(categories))
    with pytest.raises(InputError, match="the larger model must be one with more parameters"):
        likelihood_ratio(fit, fit)


def test_one_call_from_released_sets():
    tables = {"n": [15, 20, 9, 5, 2], "s": [8, 9, 6, 3, 1], "w": [3, 9, 8, 6, 5, 2]}
    sets = [
        ({"place": name}, CountStatistics.of_counts(dict(enumerate(table))))
        for name, table in tables.items()
    ]
    found = regress_sets(sets)
    categories = [Category.of(levels, one) for levels, one in sets]
    alone, separate = regress(categories), regress(categories, separate_dispersion=True)
    assert found.common.log_likelihood == alone.log_likelihood
    assert found.separate.log_likelihood == separate.log_likelihood
    assert found.effect_test == effect_test(categories)
    assert found.dispersion_test == dispersion_test(categories)
    assert found.names == ("place=n", "place=s", "place=w")
    assert found.fitted_means == pytest.approx(found.observed_means, rel=1e-6)
    rounded = [
        (levels, SampleSums(one.n, one.total, round(one.log_factorial_total, 2)))
        for levels, one in sets
    ]
    near = regress_sets(rounded)
    assert near.common.log_likelihood == pytest.approx(alone.log_likelihood, abs=0.05)


def test_one_call_says_what_cannot_be_had():
    only = regress_sets([({"place": "n"}, CountStatistics.of_counts({0: 3, 1: 5, 2: 2, 4: 1}))])
    assert "no effect to test" in only.effect_test.reason
    assert "no effect to test" in only.dispersion_test.reason
    flat = regress_sets(
        [({"p": str(i)}, CountStatistics.of_counts({0: 3, 1: i})) for i in range(1, 4)]
    )
    assert isinstance(flat.common, Unavailable)
    assert isinstance(flat.fitted_means, Unavailable)
