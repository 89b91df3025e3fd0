"""The intruder: draws, estimates, limits of effort, and questions that cannot be answered."""

import math

import numpy as np
import pytest

from discreet.belief.count_belief import CellDistribution
from discreet.belief.draws.count_draws import (
    balanced_multipliers,
    estimated_distribution,
    greatest_log_weight,
)
from discreet.count_tables.equations import ReleasedSums
from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.rebuilding import Effort, HiddenCounts, hidden_counts, reconstruct
from discreet.count_tables.statistics import CountStatistics
from discreet.errors import InputError
from discreet.figures import How, Unavailable

DISASTERS = dict(enumerate([15, 20, 9, 5, 2]))
INJURIES = dict(enumerate([5363, 3091, 1008, 348, 105, 46, 19, 9, 7, 2, 1, 1]))
MIDDLING = dict(enumerate([60, 50, 30, 16, 9, 5, 3, 2, 1]))


def problem_of(table, knowledge=None):
    return hidden_counts(CountStatistics.of_counts(table), knowledge)


@pytest.mark.parametrize("prior", ["multinomial", "uniform"])
def test_draws_have_the_exact_probabilities(prior):
    problem = problem_of(DISASTERS)
    drawn = problem.draws(4000, rng=np.random.default_rng(5), prior=prior)
    distribution = problem.distribution(prior)
    for cell in distribution.cells:
        for count, p in zip(cell.support, cell.probabilities, strict=True):
            share = np.mean(drawn[:, cell.cell] == count)
            assert abs(share - p) < 4.5 * np.sqrt(p * (1 - p) / 4000) + 1e-9


def test_draws_of_several_cases():
    problem = problem_of(DISASTERS, Knowledge(shape="unimodal"))
    drawn = problem.draws(200, rng=np.random.default_rng(5))
    assert {tuple(f) for f in drawn} <= {tuple(f) for f in problem.tables()}


def test_tables_are_found_as_they_are_asked_for():
    assert len(list(problem_of(INJURIES).tables(limit=5))) == 5
    assert len(list(problem_of(DISASTERS, Knowledge(shape="unimodal")).tables(limit=3))) == 3


@pytest.mark.parametrize("prior", ["multinomial", "uniform"])
def test_estimated_distribution_against_the_exact_one(prior):
    problem = problem_of(MIDDLING)
    exact = problem.distribution(prior, truth=MIDDLING)
    system, truth = problem.parts[0].system, problem.cells_of(MIDDLING)
    rng = np.random.default_rng(11)
    got = estimated_distribution(system, prior, n_draws=4000, rng=rng, truth=truth)
    assert got.how is How.ESTIMATE
    for name in ("entropy", "truth_surprisal", "truth_probability", "effective_tables"):
        figure, expected = getattr(got, name), getattr(exact, name)
        assert abs(figure.value - expected.value) < 4.5 * figure.standard_error
    for one, other in zip(got.cells, exact.cells, strict=True):
        assert abs(one.mean - other.mean) <= 4.5 * one.standard_error + 1e-9


def test_beyond_the_effort_an_estimate_or_the_reason():
    problem = problem_of(MIDDLING)
    exact = problem.count().value
    small = Effort(states=2, steps=10)
    refused = problem.count(small)
    assert refused.value is None
    assert "no draws asked for" in refused.note
    assert isinstance(problem.distribution(effort=small), Unavailable)
    drawn = Effort(states=2, steps=10, n_draws=3000, rng=np.random.default_rng(2))
    count = problem.count(drawn)
    assert count.how is How.ESTIMATE
    assert abs(count.value - exact) < 4.5 * count.standard_error
    distribution = problem.distribution(effort=drawn)
    assert distribution.how is How.ESTIMATE
    assert distribution.best_guess is None


def test_too_few_effective_draws_are_no_answer():
    problem = problem_of(MIDDLING)
    got = estimated_distribution(
        problem.parts[0].system, "multinomial", n_draws=20, rng=np.random.default_rng(1)
    )
    assert "effective draws of 20" in got.reason


@pytest.mark.parametrize(("prior", "bits"), [("uniform", 26.3055), ("multinomial", 13.7360)])
def test_estimated_entropy_of_a_large_table(prior, bits):
    """Against exact sums over all 82,938,779 tables."""
    system = problem_of(INJURIES).parts[0].system
    distribution = estimated_distribution(system, prior, n_draws=2000, rng=np.random.default_rng(3))
    assert abs(distribution.entropy.value - bits) < 4.5 * distribution.entropy.standard_error
    assert distribution.entropy.standard_error < 0.1


def test_multipliers_balance_the_statistics():
    matrix = np.array([[1.0, 1, 1], [0, 1, 2]])
    cells = np.exp(matrix.T @ balanced_multipliers(matrix, np.array([100.0, 70.0])))
    assert matrix @ cells == pytest.approx([100, 70])


def test_wide_range_of_n():
    held = ReleasedSums.of(CountStatistics.of_counts(DISASTERS), withhold_n=True)
    problem = hidden_counts(held, Knowledge(n=(45, 10_000)))
    assert problem.count().value > 7
    assert "narrower range" in problem.distribution().reason


def test_a_known_number_of_zeros_needs_n():
    held = ReleasedSums.of(CountStatistics.of_counts(DISASTERS), withhold_n=True)
    with pytest.raises(InputError, match="without n zeros are not identified"):
        hidden_counts(held, Knowledge(cells={0: (3, 3)}))


def test_truth_with_other_statistics():
    with pytest.raises(InputError, match="one with the released statistics"):
        problem_of(DISASTERS).distribution(truth={0: 3, 1: 4})
    with pytest.raises(InputError, match="one that contradicts this"):
        reconstruct(CountStatistics.of_counts(DISASTERS), Knowledge(largest=3), truth=DISASTERS)


def test_truth_that_knowledge_excludes_has_no_probability():
    distribution = problem_of(DISASTERS, Knowledge(cells={4: (0, 1)})).distribution(truth=DISASTERS)
    assert "does not agree" in distribution.truth_probability.reason


def test_bad_questions():
    with pytest.raises(InputError, match="prior must be multinomial or uniform"):
        problem_of(DISASTERS).distribution("bayes")
    with pytest.raises(InputError, match="n_draws must be at least 1"):
        problem_of(DISASTERS).draws(0, rng=np.random.default_rng(1))


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({}, "at least one observation"),
        ({0: 5}, "total must be above zero"),
        ({1: -2}, "counts must be zero or more"),
        ({-1: 2}, "values must be zero or more"),
    ],
)
def test_tables_that_are_none(table, words):
    with pytest.raises(InputError, match=words):
        problem_of(table)


def test_effort_with_a_clock():
    assert problem_of(DISASTERS).count(Effort(seconds=60)).value == 7


def test_no_table_is_more_probable_than_the_limit():
    """The dual bound against the most probable table, and close to it."""
    for table in (DISASTERS, MIDDLING, dict(enumerate([3, 4, 2, 1, 1]))):
        problem = problem_of(table)
        best = problem.distribution("multinomial").best_guess
        greatest = -sum(math.lgamma(c + 1) for c in best)
        bound = greatest_log_weight(problem.parts[0].system)
        assert greatest - 1e-9 <= bound < greatest + 4


def test_upper_limits_of_estimated_counts():
    system = problem_of(MIDDLING).parts[0].system
    distribution = estimated_distribution(
        system, "multinomial", n_draws=3000, rng=np.random.default_rng(2)
    )
    exact = problem_of(MIDDLING).distribution("multinomial")
    misses = total = 0
    for drawn, true in zip(distribution.cells, exact.cells, strict=True):
        for count, p in zip(true.support.tolist(), true.probabilities.tolist(), strict=True):
            total += 1
            misses += drawn.probability_upper(count) < p
            assert true.probability_upper(count) == pytest.approx(p, abs=1e-12)
            assert true.probability_error(count) is None
    assert misses <= 0.1 * total
    never = CellDistribution(
        cell=0,
        support=np.array([4]),
        probabilities=np.array([1.0]),
        mean=4.0,
        errors=np.array([0.0]),
        effective_draws=100.0,
    )
    assert never.probability_upper(5) == pytest.approx(0.037, abs=1e-3)


def test_a_failed_exact_answer_is_not_tried_again(monkeypatch):
    tried = []
    whole = HiddenCounts.mixture

    def counted(self, *arguments):
        tried.append(arguments)
        return whole(self, *arguments)

    monkeypatch.setattr(HiddenCounts, "mixture", counted)
    effort = Effort(states=2, steps=10, rng=np.random.default_rng(1), n_draws=2000)
    found = reconstruct(CountStatistics.of_counts(MIDDLING), effort=effort)
    assert tried == []
    assert found.distributions["multinomial"].how is How.ESTIMATE
    assert found.count.how is How.ESTIMATE
    true = problem_of(MIDDLING).count().value
    assert abs(found.count.value - true) < 4 * found.count.standard_error


@pytest.mark.parametrize("k", [1, 10, 100, 10**12])
def test_a_line_as_long_as_a_million_million_counts_is_not_walked(k):
    counts = {j: 2 ** (5 - j) * k for j in range(6)}
    problem = hidden_counts(CountStatistics.of_counts(counts))
    found = problem.count(Effort(seconds=2))
    assert found.value == (11 * k**2 + 13 * k) // 2 + 1  # a polynomial through the lists of small k
    if k <= 10:
        assert found.value == len(list(problem.tables()))
