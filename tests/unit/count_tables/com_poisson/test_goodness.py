"""The test of fit: its figures by hand, its size on true samples, its power on others."""

import numpy as np
import pytest
from scipy import stats

from discreet.count_tables.com_poisson import goodness as module
from discreet.count_tables.com_poisson.distribution import ComPoisson
from discreet.count_tables.com_poisson.estimation import Fit, maximum_likelihood
from discreet.count_tables.com_poisson.goodness import Goodness, goodness_of_fit, pool
from discreet.count_tables.statistics import CountStatistics
from discreet.errors import InputError
from discreet.figures import Unavailable

TABLE = {0: 60, 1: 80, 2: 45, 3: 20, 4: 6, 6: 2}


def goodness(table, draws=99, seed=1) -> Goodness:
    outcome = goodness_of_fit(table, rng=np.random.default_rng(seed), draws=draws)
    assert isinstance(outcome, Goodness)
    return outcome


def test_statistic_by_hand():
    got = goodness(TABLE)
    fit = maximum_likelihood(CountStatistics.of_counts(TABLE))
    assert isinstance(fit, Fit)
    expected = 213 * fit.distribution.mass(np.arange(4))
    wanted = [*expected, 213 - expected.sum()]
    assert [group.observed for group in got.groups] == [60, 80, 45, 20, 8]
    assert [group.expected for group in got.groups] == pytest.approx(wanted, rel=1e-9)
    assert (got.groups[-1].low, got.groups[-1].high) == (4, None)
    theirs = stats.chisquare([60, 80, 45, 20, 8], wanted, ddof=2)
    assert got.statistic == pytest.approx(theirs.statistic, rel=1e-9)
    assert got.chi_square_p_value == pytest.approx(theirs.pvalue, rel=1e-9)
    assert got.degrees_of_freedom == 2


def test_pooling():
    assert pool(np.array([1.0, 3.0, 2.0, 9.0, 4.0, 2.0, 0.1])).tolist() == [0, 3, 4]
    assert pool(np.array([1.0, 3.0, 2.0, 9.0, 4.0, 0.1])).tolist() == [0, 3]
    assert pool(np.array([1.0, 1.0])).tolist() == [0]


def test_bad_fit_is_told():
    got = goodness({0: 50, 5: 50})
    assert got.fits_badly
    assert got.p_value == pytest.approx(0.01)
    assert "fits these counts badly" in got.sentence
    assert "do not hold all that a user needs" in got.sentence


def test_good_fit_is_told():
    got = goodness(TABLE)
    assert not got.fits_badly
    assert "is not contradicted" in got.sentence
    assert got.p_value_standard_error == pytest.approx(
        np.sqrt(got.p_value * (1 - got.p_value) / 100)
    )


def test_size():
    """Seeded: of 40 samples from a COM-Poisson few are rejected at 5 %."""
    rng, truth = np.random.default_rng(8), ComPoisson(2.5, 1.2)
    rejected = 0
    for seed in range(40):
        counts = np.bincount(truth.draw(200, rng=rng))
        rejected += goodness(dict(enumerate(counts.tolist())), draws=39, seed=seed).fits_badly
    assert rejected <= 6


def test_a_value_far_above_all_expected():
    got = goodness({0: 60, 1: 30, 2: 10, 40: 1}, draws=19)
    assert sum(group.observed for group in got.groups) == 101


@pytest.mark.parametrize(
    ("table", "reason"),
    [({0: 5}, "all observations are zero"), ({2: 5, 3: 6}, "all observations are 2 or 3")],
)
def test_unavailable(table, reason):
    outcome = goodness_of_fit(table, rng=np.random.default_rng(1))
    assert isinstance(outcome, Unavailable)
    assert reason in outcome.reason


def test_too_many_values():
    outcome = goodness_of_fit({10: 3, 500_000: 4, 900_000: 3}, rng=np.random.default_rng(1))
    assert isinstance(outcome, Unavailable)
    assert "too many to test" in outcome.reason


def test_refuses():
    with pytest.raises(InputError, match="draws must be zero or more"):
        goodness_of_fit(TABLE, rng=np.random.default_rng(1), draws=-1)


@pytest.mark.parametrize("bits", [-3, -1, 0, 1, 3])
def test_groups_that_expect_just_enough(bits):
    """Half of ten observations of a geometric distribution are zeros."""
    expected = 10 * 0.5 ** np.arange(1, 48) * (1 + bits * 2**-52)
    assert pool(expected).tolist() == [0, 1]


@pytest.mark.parametrize("noise", [-1e-12, 0.0, 1e-12])
def test_a_drawn_table_that_fits_as_badly_counts_as_such(monkeypatch, noise):
    """The observed table drawn again: its statistic is the same but for rounding."""
    observed = goodness(TABLE, draws=1).statistic
    monkeypatch.setattr(module, "_replicate", lambda *_: observed * (1 + noise))
    assert goodness(TABLE, draws=9).p_value == 1


def test_the_formula_rejects_as_often_as_it_says():
    rng = np.random.default_rng(5)
    true = ComPoisson(2.0, 0.8)
    mass = true.mass(np.arange(40))
    values = []
    for _ in range(400):
        counts = rng.multinomial(300, mass / mass.sum())
        found = goodness(dict(enumerate(counts.tolist())), draws=0)
        assert found.p_value_standard_error is None
        values.append(found.p_value)
    shares = np.mean(np.array(values)[:, None] < [0.05, 0.25, 0.5, 0.75], axis=0)
    errors = np.sqrt([0.05 * 0.95, 0.25 * 0.75, 0.5 * 0.5, 0.75 * 0.25]) / 20
    assert np.all(np.abs(shares - [0.05, 0.25, 0.5, 0.75]) < 3.5 * errors)


def test_the_formula_and_draws_agree():
    formula, drawn = goodness(TABLE, draws=0), goodness(TABLE, draws=499)
    assert formula.statistic == drawn.statistic
    assert "approximation" in formula.how
    assert "499 tables drawn" in drawn.how
    bad = {0: 400, 1: 5, 2: 5, 3: 80, 4: 90, 5: 60}
    assert goodness(bad, draws=0).fits_badly
    assert goodness(bad, draws=39).fits_badly


def test_one_group_is_not_tested_by_a_formula():
    found = goodness_of_fit({0: 2, 1: 2, 3: 1}, rng=np.random.default_rng(1))
    assert isinstance(found, Unavailable)
    assert "simulated tables" in found.reason
