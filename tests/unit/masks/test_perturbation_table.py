"""The perturbation table: greatest entropy, what it must hold, and what becomes of small counts."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize

from discreet.errors import InputError
from discreet.masks.perturbation_table import (
    ONE,
    NoiseRule,
    greatest_entropy,
    perturbation_table,
)

RULES = [
    NoiseRule(variance=variance, largest=largest, small=small, keep=keep)
    for largest, variance, small, keep in product((3, 5), (0.8, 2.0, 6.0), (0, 2), (None, 0.25))
    if keep is None or (1 - keep) < variance
]


def entropy(p):
    p = p[p > 0]
    return float(-(p * np.log(p)).sum())


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_every_row_holds_what_is_asked(rule):
    table = perturbation_table(rule)
    deviations = table.deviations
    assert np.allclose(table.means, 0, atol=1e-12 * rule.largest)
    for count, row in enumerate(table.shares):
        assert sum(row) == ONE
        figures = count + deviations[np.array(row) > 0]
        assert figures.tolist() == (count + rule.allowed(count)).tolist()
        assert figures.min() >= 0
        assert not np.any((figures > 0) & (figures <= rule.small))
        variance = table.variances[count]
        if count not in table.relaxed and count:
            assert variance == pytest.approx(rule.variance, rel=1e-12)
        if rule.keep is not None and count > rule.small:
            assert table.probabilities[count, rule.largest] == pytest.approx(rule.keep, rel=1e-12)
    assert table.shares[0][rule.largest] == ONE
    assert rule.last not in table.relaxed
    last = table.probabilities[-1]
    np.testing.assert_allclose(last, last[::-1], atol=1e-12)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_the_last_row_is_the_first_that_no_limit_below_cuts_off(rule):
    full = np.arange(-rule.largest, rule.largest + 1).tolist()
    assert rule.allowed(rule.last).tolist() == full
    assert rule.allowed(rule.last + 7).tolist() == full
    assert rule.last == 1 or rule.allowed(rule.last - 1).tolist() != full


@pytest.mark.parametrize(
    ("values", "variance"),
    [
        (range(-1, 5), 2.0),
        (range(-2, 5), 0.3),
        (range(-4, 5), 2.0),
        (range(-3, 4), 5.5),
        ((-2, 1, 2, 3, 4), 3.1),
        ((-3, -1, 1, 2), 2.2),
    ],
)
def test_no_distribution_with_this_mean_and_variance_has_more_entropy(values, variance):
    """Against sequential quadratic programming on the entropy itself."""
    v = np.array(values)
    own, holds = greatest_entropy(v, variance)
    assert holds
    conditions = [
        {"type": "eq", "fun": lambda p: p.sum() - 1},
        {"type": "eq", "fun": lambda p: p @ v},
        {"type": "eq", "fun": lambda p: p @ v**2 - variance},
    ]
    found = minimize(
        lambda p: float((p * np.log(np.maximum(p, 1e-300))).sum()),
        np.full(len(v), 1 / len(v)),
        bounds=[(1e-12, 1)] * len(v),
        constraints=conditions,
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert found.success
    assert entropy(own) == pytest.approx(-found.fun, abs=1e-8)
    np.testing.assert_allclose(own, found.x, atol=1e-4)


@pytest.mark.parametrize("variance", [0.1, 0.5, 2 / 3, 0.9])
def test_three_deviations_are_settled_by_mean_and_variance(variance):
    own, holds = greatest_entropy(np.array([-1, 0, 1]), variance)
    assert holds
    np.testing.assert_allclose(own, [variance / 2, 1 - variance, variance / 2], atol=1e-13)


def test_a_count_of_1_that_may_rise_by_2_is_settled_too():
    """p(−1) = 2 p(2) + p(1) and V = p(−1) + p(1) + 4 p(2), with p(1) = 0 as figures up to 2 do not
    appear: V = 2 whatever is asked, p = (2/3, 1/3)."""
    table = perturbation_table(NoiseRule(variance=0.5, largest=3, small=2))
    assert table.relaxed == (1, 2)
    np.testing.assert_allclose(table.probabilities[1], [0, 0, 2 / 3, 0, 0, 1 / 3, 0], atol=1e-15)
    assert table.variances[1] == pytest.approx(2)


def test_a_variance_that_small_counts_cannot_have_is_left_free_and_comes_out_below():
    table = perturbation_table(NoiseRule(variance=6.0, largest=5))
    assert table.relaxed == (1,)
    assert 0 < table.variances[1] < 6
    assert table.variances[2] == pytest.approx(6)
    r = table.probabilities[1, 4:]
    np.testing.assert_allclose(r[1:] / r[:-1], r[1] / r[0], rtol=1e-12)  # exp(a v) and no b


def test_tables_of_a_known_form_are_geometric_and_normal():
    """Between any three neighbours log p has one second difference, that of a v + b v²."""
    row = np.log(perturbation_table(NoiseRule(variance=3.0, largest=5)).probabilities[-1])
    np.testing.assert_allclose(np.diff(row, 3), 0, atol=1e-10)


@pytest.mark.parametrize("rule", RULES[::3], ids=str)
def test_keys_lead_to_each_deviation_as_often_as_its_probability_says(rule):
    """At the first and the last key of each deviation, which is every step of the function."""
    table = perturbation_table(rule)
    for count, row in enumerate(table.shares):
        first = 0
        for place, share in enumerate(row):
            if share:
                ends = np.array([first, first + share - 1], dtype=np.uint64)
                own = table.deviation(np.array([count, count]), ends)
                assert own.tolist() == [place - rule.largest] * 2
                first += share
        assert first == ONE


@pytest.mark.parametrize("rule", RULES[::4], ids=str)
def test_the_range_of_a_figure_is_exactly_the_counts_that_lead_to_it(rule):
    table = perturbation_table(rule)
    for published in [0, *range(rule.small + 1, 25)]:
        low, logs = table.log_probability(published)
        for count in range(40):
            v = published - count
            row = table.shares[min(count, rule.last)]
            share = row[v + rule.largest] if abs(v) <= rule.largest else 0
            if not 0 <= count - low < len(logs):
                assert share == 0
            else:
                assert np.exp(logs[count - low]) == pytest.approx(float(Fraction(share, ONE)))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"variance": 0}, "variance must be a number above 0, got 0"),
        ({"variance": float("inf")}, "variance must be a number above 0"),
        ({"variance": True}, "variance must be a number above 0"),
        ({"variance": 25}, "variance must be below 25 with max=5, got 25; raise max"),
        ({"variance": 1, "largest": 0}, "max must be a whole number from 1 to 100, got 0"),
        ({"variance": 1, "largest": 101}, "max must be a whole number from 1 to 100, got 101"),
        ({"variance": 1, "small": 5}, "small must be a whole number from 0, below max=5, got 5"),
        ({"variance": 1, "small": -1}, "small must be a whole number from 0, below max=5"),
        ({"variance": 1, "keep": 0}, "keep must be above 0 and below 1, got 0"),
        ({"variance": 1, "keep": 1.0}, "keep must be above 0 and below 1, got 1"),
        (
            {"variance": 0.5, "keep": 0.4},
            "variance must be above 0.6 with keep=0.4, since what changes does so by 1, got 0.5",
        ),
        (
            {"variance": 15, "keep": 0.5},
            "variance must be below 12.5 with max=5 and keep=0.5, got 15; raise max, or lower keep",
        ),
    ],
)
def test_rules_that_no_table_can_have_are_refused(given, words):
    with pytest.raises(InputError, match=words.replace("?", r"\?")):
        NoiseRule(**given)


def test_values_on_one_side_have_no_distribution_of_mean_0():
    with pytest.raises(InputError, match="values must be on both sides of 0"):
        greatest_entropy(np.array([0, 1, 2]), 1.0)
