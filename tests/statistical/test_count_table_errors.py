"""Errors and limits of what statistics of counts tell: fits, Bayesian limits, hidden tables."""

import numpy as np
import pytest
from scipy.stats import binom

from discreet.belief.count_belief import CellDistribution, mixed_distribution, mixture
from discreet.belief.draws.count_draws import estimated_distribution
from discreet.count_tables.com_poisson.comparison_estimates import weighted_least_squares
from discreet.count_tables.com_poisson.conjugate import bayes_from_statistics
from discreet.count_tables.com_poisson.distribution import ComPoisson
from discreet.count_tables.com_poisson.estimation import maximum_likelihood
from discreet.count_tables.com_poisson.goodness import goodness_of_fit
from discreet.count_tables.com_poisson.regression import regress
from discreet.count_tables.com_poisson.regression_design import Category
from discreet.count_tables.decimals import reconstruct_truncated
from discreet.count_tables.measures import _printed_global, bounded_risk
from discreet.count_tables.rebuilding import Effort, hidden_counts
from discreet.count_tables.statistics import CountStatistics, decimal_log
from discreet.figures import Figure, How

REPEATS = 60
LOG_RATE, DISPERSION = 1.0, 1.4
TRUTH = ComPoisson.of_log_rate(LOG_RATE, DISPERSION)


def covered_as_stated(inside, confidence):
    """Neither too seldom nor too often: binomial limits that a right interval fails but once in a
    thousand times. At a confidence of one half, limits half or twice as wide cover 26 % or 82 %."""
    low, high = binom(len(inside), confidence).ppf([0.0005, 0.9995])
    assert low <= np.sum(inside) <= high


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(1)
    return [CountStatistics.of_sequence(TRUTH.draw(300, rng=rng).tolist()) for _ in range(REPEATS)]


def test_errors_of_the_fit(samples, errors_are_right):
    fits = [maximum_likelihood(one) for one in samples]
    errors_are_right([(fit.log_rate - LOG_RATE) / fit.log_rate_standard_error for fit in fits])
    errors_are_right([(f.dispersion - DISPERSION) / f.dispersion_standard_error for f in fits])
    errors_are_right([(f.rate - TRUTH.rate) / f.rate_standard_error for f in fits], at_most=1.1)


def test_limits_of_the_fit(samples):
    limits = np.array([maximum_likelihood(one).dispersion_interval(0.5) for one in samples])
    covered_as_stated((limits[:, 0] < DISPERSION) & (limits[:, 1] > DISPERSION), 0.5)


def test_bayesian_limits_and_deviations_of_one_large_sample():
    """At 3,000 observations the posterior is about normal, with the errors of the fit."""
    drawn = TRUTH.draw(3000, rng=np.random.default_rng(7))
    statistics = CountStatistics.of_sequence(drawn.tolist())
    fit = maximum_likelihood(statistics)
    told = bayes_from_statistics(statistics, probabilities=(0.025, 0.975))
    for deviation, quantiles, error in (
        (told.dispersion_deviation, told.dispersion_quantiles, fit.dispersion_standard_error),
        (told.rate_deviation, told.rate_quantiles, fit.rate_standard_error),
    ):
        assert deviation.value == pytest.approx(error, rel=0.05)
        assert np.diff(quantiles)[0] / (2 * 1.96) == pytest.approx(error, rel=0.05)


@pytest.mark.soak
def test_bayesian_limits_and_deviations(samples, errors_are_right):
    """The flat prior hardly matters at 300 observations, so that quantiles cover as often too."""
    told = [bayes_from_statistics(one, probabilities=(0.25, 0.75)) for one in samples]
    scores = [(t.dispersion_mean.value - DISPERSION) / t.dispersion_deviation.value for t in told]
    errors_are_right(scores)
    rates = [(t.rate_mean.value - TRUTH.rate) / t.rate_deviation.value for t in told]
    errors_are_right(rates, at_most=1.1)
    for name, true in (("dispersion_quantiles", DISPERSION), ("rate_quantiles", TRUTH.rate)):
        limits = np.array([getattr(t, name) for t in told])
        covered_as_stated((limits[:, 0] < true) & (true < limits[:, 1]), 0.5)


def test_errors_of_least_squares(errors_are_right):
    rng, scores = np.random.default_rng(2), []
    for _ in range(REPEATS):
        values, number = np.unique(TRUTH.draw(3000, rng=rng), return_counts=True)
        common = {int(v): int(c) for v, c in zip(values, number, strict=True) if c >= 20}
        found = weighted_least_squares(common)
        scores.append(
            (
                (found.log_rate - LOG_RATE) / found.log_rate_standard_error,
                (found.dispersion - DISPERSION) / found.dispersion_standard_error,
            )
        )
    for own in np.transpose(scores):
        errors_are_right(own)


def test_errors_of_a_regression(errors_are_right):
    rates = {"a": LOG_RATE, "b": LOG_RATE + 0.3, "c": LOG_RATE - 0.2}
    rng, scores = np.random.default_rng(3), []
    for _ in range(REPEATS):
        categories = [
            Category.of(
                {"group": name},
                CountStatistics.of_sequence(
                    ComPoisson.of_log_rate(rate, DISPERSION).draw(150, rng=rng).tolist()
                ),
            )
            for name, rate in rates.items()
        ]
        found = regress(categories, [["group"]])
        right = [LOG_RATE, 0.3, -0.2, DISPERSION]
        told = [*found.coefficients, *found.dispersions]
        scores.append([(c.estimate - r) / c.standard_error for c, r in zip(told, right)])
    for own in np.transpose(scores):
        errors_are_right(own)


def test_the_error_of_a_simulated_p_value(errors_are_right):
    rng = np.random.default_rng(4)
    table = {0: 60, 1: 80, 2: 70, 3: 20, 4: 18}
    found = [goodness_of_fit(table, draws=40, rng=rng) for _ in range(REPEATS)]
    values = np.array([one.p_value for one in found])
    assert 0.05 < values.mean() < 0.95
    errors = [one.p_value_standard_error for one in found]
    errors_are_right((values - values.mean()) / errors, at_most=1.1)


COUNTS = {0: 15, 1: 20, 2: 9, 3: 5, 4: 2, 5: 1, 6: 1}


@pytest.mark.parametrize(("prior", "n_draws"), [("multinomial", 300), ("uniform", 1200)])
def test_a_hidden_count_table_by_draws(prior, n_draws, errors_are_right):
    """A cell's mean, the probability of its true count, the entropy, the true table."""
    [part] = hidden_counts(CountStatistics.of_counts(COUNTS)).parts
    truth = np.zeros(part.system.n_named, dtype=np.int64)
    truth[list(COUNTS)] = list(COUNTS.values())
    exact = mixed_distribution(mixture([part], prior), truth=truth)
    rng, scores, held = np.random.default_rng(5), [], []
    for _ in range(50):
        found = estimated_distribution(part.system, prior, n_draws=n_draws, rng=rng, truth=truth)
        mine, right = found.cells[3], exact.cells[3]
        p, true = mine.probability(5), right.probability(5)
        held.append(mine.probability_upper(5) >= true)
        scores.append(
            (
                (mine.mean - right.mean) / mine.standard_error,
                (p - true) / mine.probability_error(5),
                score(found.entropy, exact.entropy),
                score(found.truth_surprisal, exact.truth_surprisal),
                score(found.effective_tables, exact.effective_tables),
                score(found.reciprocal_entropy, exact.reciprocal_entropy),
                score(bounded_risk(found.entropy), bounded_risk(exact.entropy)),
            )
        )
    for own in np.transpose(scores):
        errors_are_right(own)
    assert np.mean(held) >= 0.9  # a limit of 97.5 %; two-sided below


def score(found: Figure, exact: Figure) -> float:
    return (found.value - exact.value) / found.standard_error


def test_the_error_of_the_printed_risk_is_that_of_the_number_of_tables():
    """1 / log₂ m by the delta method: as far as a standard error more tables move it."""
    found = _printed_global(Figure(value=1000.0, how=How.ESTIMATE, standard_error=1.0))
    moved = _printed_global(Figure(value=1001.0, how=How.ESTIMATE, standard_error=1.0))
    assert found.standard_error == pytest.approx(found.value - moved.value, rel=0.01)


@pytest.mark.parametrize(("n", "p"), [(200, 0.02), (200, 0.3), (1000, 0.9), (1000, 0.004)])
def test_the_upper_limit_of_a_share_of_draws(n, p):
    """Of 97.5 %: over all numbers of hits, it holds the share with 96 % to 99.6 %, exactly; as
    Wilson's limit does, which is not exact for whole numbers."""
    held = 0.0
    for hits, chance in enumerate(binom(n, p).pmf(np.arange(n + 1))):
        share = hits / n
        cell = CellDistribution(
            cell=0,
            support=np.array([0, 1]),
            probabilities=np.array([1 - share, share]),
            mean=share,
            errors=np.full(2, np.sqrt(share * (1 - share) / n)),
            effective_draws=float(n),
        )
        held += chance * (cell.probability_upper(1) >= p)
    assert 0.96 < held < 0.997


def test_a_rounded_statistic_by_draws(monkeypatch, errors_are_right):
    """Kept tables are independent draws, and the share that is kept tells their number."""
    counts = dict(enumerate([15, 20, 9, 5, 2]))
    released = decimal_log(CountStatistics.of_counts(counts), 0, truncate=False)
    exact = reconstruct_truncated(51, 61, released, truth=counts, dispersion=1.0)
    monkeypatch.setattr("discreet.count_tables.decimals.MOST_FACTORISATIONS", 0)
    monkeypatch.setattr("discreet.count_tables.decimal_draws.BATCH", 1000)
    monkeypatch.setattr("discreet.count_tables.decimal_draws.MOST_DRAWS", 6000)
    scores = []
    for seed in range(50):
        effort = Effort(rng=np.random.default_rng(seed))
        drawn = reconstruct_truncated(51, 61, released, truth=counts, dispersion=1.0, effort=effort)
        assert drawn.how is How.ESTIMATE
        mine, right = drawn.distributions["proper"], exact.distributions["proper"]
        scores.append(
            (
                score(mine.entropy, right.entropy),
                score(mine.truth_surprisal, right.truth_surprisal),
                (mine.cells[1].probability(20) - right.cells[1].probability(20))
                / mine.cells[1].probability_error(20),
                (drawn.number.value - exact.count) / drawn.number.standard_error,
            )
        )
    for own in np.transpose(scores):
        errors_are_right(own)
