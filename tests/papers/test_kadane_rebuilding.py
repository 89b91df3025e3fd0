"""Solutions, bounds and risks of kadane-krishnan-shmueli, with their place in the paper."""

import numpy as np
import pytest

from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.measures import count_risk, interval_risk
from discreet.count_tables.rebuilding import hidden_counts, reconstruct
from discreet.count_tables.statistics import CountStatistics

DISASTERS = dict(enumerate([15, 20, 9, 5, 2]))  # Table 3
POEM = dict(enumerate([0, 7, 33, 49, 22, 6]))  # Table 5
INJURIES = dict(enumerate([5363, 3091, 1008, 348, 105, 46, 19, 9, 7, 2, 1, 1]))  # Table 7

TABLE_4 = ([11, 14, 1, 1, 0], [17, 32, 13, 7, 6], [0.39, 0.24, 0.28, 0.39, 0.39])
TABLE_6 = (
    [0, 0, 33, 49, 16, 0, 0],
    [2, 7, 45, 51, 22, 6, 6],
    [1, 0.36, 0.28, 1, 0.39, 0.39, 0.39],
)
TABLE_8 = (
    [4994, 2686, 230, *[0] * 10],
    [5510, 4213, 1241, 477, 477, 66, 66, 19, 19, 19, 19, 1, 1],
    [0.11, 0.09, 0.10, 0.11, 0.11, 0.17, 0.17, 0.24, 0.24, 0.24, 0.24, None, None],
)


def problem_of(table):
    return hidden_counts(CountStatistics.of_counts(table))


def test_equations_16_to_19():
    assert problem_of(DISASTERS).equations() == (
        "61 = f1 + 2 f2 + 3 f3 + 4 f4",
        "20 = f2 + f3 + 3 f4",
        "7 = f3 + f4",
        "51 = f0 + f1 + f2 + f3 + f4",
    )


@pytest.mark.parametrize(
    ("table", "solutions", "largest", "printed"),
    [(DISASTERS, 7, 4, 0.356), (POEM, 14, 6, 0.263), (INJURIES, 82_938_779, 12, 0.04)],
)
def test_number_of_solutions(table, solutions, largest, printed):
    problem = problem_of(table)
    assert problem.largest == largest
    assert problem.count().value == solutions
    assert 1 / np.log2(solutions) == pytest.approx(printed, abs=0.002)


@pytest.mark.parametrize(
    ("table", "expected"), [(DISASTERS, TABLE_4), (POEM, TABLE_6), (INJURIES, TABLE_8)]
)
def test_bounds_and_risks_of_tables_4_6_8(table, expected):
    lower, upper, risks = expected
    got = problem_of(table).bounds()
    assert got.lower.tolist() == lower
    assert got.upper.tolist() == upper
    assert got.complete
    for low, high, risk in zip(lower, upper, risks, strict=True):
        printed = interval_risk(low, high).printed
        if risk is None:  # '—'
            assert "divides by log2" in printed.reason
        else:
            assert printed.value == pytest.approx(risk, abs=0.006)


def test_probabilities_of_the_disasters_are_not_equal():
    """Theorem 1 gives each of the seven tables 1/7; weighed by their orders they are not alike."""
    found = reconstruct(CountStatistics.of_counts(DISASTERS), truth=DISASTERS)
    distribution = found.distributions["multinomial"]
    assert distribution.best_guess == (16, 17, 11, 6, 1)
    assert distribution.best_guess_probability.value == pytest.approx(0.470, abs=5e-4)
    assert distribution.truth_probability.value == pytest.approx(0.363, abs=5e-4)
    assert sorted(distribution.cells[4].probabilities, reverse=True)[:5] == pytest.approx(
        [0.4700, 0.3628, 0.1033, 0.0615, 0.0023], abs=5e-5
    )
    assert distribution.entropy.value == pytest.approx(1.649, abs=5e-4)
    assert distribution.reciprocal_entropy.value == pytest.approx(0.606, abs=5e-4)
    printed = count_risk(found, distribution="uniform")
    assert printed.printed.value == pytest.approx(0.356, abs=5e-4)
    assert printed.reciprocal_entropy.value == pytest.approx(0.356, abs=5e-4)


def test_the_poem_is_all_but_found():
    distribution = problem_of(POEM).distribution(truth=POEM)
    assert distribution.best_guess == (0, 7, 33, 49, 22, 6, 0)
    assert distribution.truth_probability.value == pytest.approx(0.479, abs=5e-4)
    assert distribution.reciprocal_entropy.value == pytest.approx(0.593, abs=5e-4)


def test_knowledge_of_sections_4_1_and_4_2():
    known = reconstruct(CountStatistics.of_counts(DISASTERS), Knowledge(largest=3))
    assert known.count.value == 1
    assert known.distributions["multinomial"].best_guess == (17, 14, 13, 7)
    assert (
        hidden_counts(CountStatistics.of_counts(POEM), Knowledge(no_zeros=True)).count().value == 7
    )


@pytest.mark.soak
def test_entropy_over_all_tables_of_the_injuries():
    """82,938,779 tables, but as much doubt as 13,644 equally probable ones would leave."""
    distribution = problem_of(INJURIES).distribution(truth=INJURIES)
    assert distribution.entropy.value == pytest.approx(13.73598, abs=1e-4)
    assert distribution.effective_tables.value == pytest.approx(13644.0, abs=0.5)
    weights = np.array(distribution.cells[11].probabilities)
    assert weights.sum() == pytest.approx(1.0)
    assert distribution.truth_surprisal.value > np.log2(82_938_779)  # where COM-Poisson fits badly
