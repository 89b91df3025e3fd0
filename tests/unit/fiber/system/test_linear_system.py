"""Statements to systems: limits, slacks, and words for what cannot be."""

import numpy as np
import pytest
from mpmath import loggamma, mp

from discreet.errors import InputError
from discreet.fiber.sums.counting import count_tables
from discreet.fiber.sums.marginals import posterior
from discreet.fiber.system.consistency import check, disagreement
from discreet.fiber.system.linear_system import Statement, system_of, with_sum
from discreet.fiber.system.margins import Margins, margins_of
from discreet.fiber.system.priors import DirichletMultinomial, ProductForm


def about(cells, low, high, name, coefficients=None):
    weights = None if coefficients is None else np.array(coefficients)
    return Statement(cells=np.array(cells), low=low, high=high, name=name, coefficients=weights)


@pytest.mark.parametrize("turn", [1, -1])
def test_a_negative_upper_limit_is_one(turn):
    statements = [about([0], -5, -1, "below zero"), about([0], 0, 5, "some")][::turn]
    system = system_of(1, statements)
    assert count_tables(system).value == 0
    with pytest.raises(InputError, match="below zero, some|some, below zero"):
        check(system)


def test_a_cell_that_nothing_limits():
    with pytest.raises(InputError, match="cells must be limited from above, got cell 1"):
        system_of(2, [about([0], 0, 3, "a"), about([0, 1], 2, None, "at least")])


def test_statements_about_one_cell_are_named():
    statements = [about([0], 5, 9, "Bob"), about([0], 0, 3, "rounded"), about([0, 1], 3, 3, "sum")]
    found = disagreement(system_of(2, statements))
    assert set(found.statements) == {"Bob", "rounded"}


def test_whole_numbers_may_need_fewer_statements():
    statements = [about([0, 1], 3, 3, "odd", [2, 2]), about([0, 1], 5, 5, "five")]
    found = disagreement(system_of(2, statements))
    assert found.statements == ("odd",)
    assert found.kind == "no whole-number table"


def test_a_sum_without_end_beyond_floats_is_refused():
    """Cutting it off at 2**53 would cut tables off as well."""
    statements = [about([0, 1], 0, 2**52, "large"), about([0, 1], 1, None, "open", [1000, 1000])]
    with pytest.raises(InputError, match="open must be a sum that stays below .*upper limit"):
        system_of(2, statements)
    below = [about([0, 1], 0, 2**40, "large"), about([0, 1], 1, None, "open", [1000, 1000])]
    assert system_of(2, below).right.max() == 1000 * 2**41


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (about([0, 1], 5, 5, "r", [1.5, 1.5]), "r must be a sum with whole coefficients"),
        (about([0, 1], 5, 5, "r", [1]), "r must be a sum with 2 coefficients, one for each cell"),
        (about([0, 1], 5, 5, "r", [1, 2**53]), "r must be a sum with coefficients below 2"),
        (about([0, 1], 5, 5, "r", [1, 0]), "r must be a sum with positive coefficients"),
        (about([0, 1], 2.5, 3, "r"), "r must be limited by whole numbers"),
        (about([0, 1], 2, 2.5, "r"), "r must be limited by whole numbers"),
        (about([0, 1], 2, float("nan"), "r"), "r must be limited by whole numbers"),
        (about([0.5, 1], 2, 2, "r"), "r must be about a list of whole cell numbers"),
        (about([[0, 1]], 2, 2, "r"), "r must be about a list of whole cell numbers"),
    ],
)
def test_what_is_not_a_sum_of_whole_numbers(statement, message):
    with pytest.raises(InputError, match=message):
        system_of(2, [statement])


def test_whole_numbers_stored_as_floats():
    system = system_of(2, [about([0, 1], 4.0, np.float64(4), "r", [2.0, 2.0])])
    assert count_tables(system).value == 3


def test_no_count_stands_in_a_message():
    with pytest.raises(InputError) as told:
        system_of(1, [about([0], 77, 33, "a")])
    assert "77" not in str(told.value)


@pytest.mark.parametrize("alpha", [1e-6, 1.0, 1e3, 1e9, 1e15, 1e18])
def test_large_parameters_keep_their_digits(alpha):
    table = np.full((2, 2), 3)
    system = system_of(4, margins_of(table, [(0,), (1,)]).statements())
    found = posterior(system, DirichletMultinomial(np.full(4, alpha)))
    with mp.workdps(60):
        a = mp.mpf(alpha)
        log_w = [
            2 * sum(loggamma(x + a) - loggamma(a) - loggamma(x + 1) for x in (q, 6 - q))
            for q in range(7)
        ]
        top = max(log_w)
        weights = [mp.exp(w - top) for w in log_w]
        right = [float(w / sum(weights)) for w in weights]
    assert [found.probability(0, q) for q in range(7)] == pytest.approx(right, rel=1e-10)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (
            lambda: ProductForm(np.ones(3)),
            "theta must be one number for each of the 4 cells, got 3",
        ),
        (lambda: DirichletMultinomial(np.ones(5)), "alpha must be one number for each"),
        (lambda: ProductForm(np.ones((2, 2))), "theta must be an array of one number a cell"),
        (lambda: DirichletMultinomial(0.5), "alpha must be an array of one number a cell"),
    ],
)
def test_priors_of_the_wrong_length(prior, message):
    system = system_of(4, margins_of(np.ones((2, 2), dtype=np.int64), [(0,)]).statements())
    with pytest.raises(InputError, match=message):
        posterior(system, prior())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tables": {(1, 0): np.ones((2, 2), np.int64)}}, "margins must be over ascending"),
        ({"tables": {(0, 3): np.ones((2, 2), np.int64)}}, "margins must be over ascending"),
        ({"names": ("a",)}, "names must be one for each of the 2 variables, got 1"),
    ],
)
def test_margins_that_are_none(given, message):
    with pytest.raises(InputError, match=message):
        Margins(**({"sizes": (2, 2), "names": ("a", "b"), "tables": {}} | given))


def test_fractional_margins_are_refused():
    from discreet.fiber.bounds.cell_bounds import bounds

    margins = Margins(sizes=(2,), names=("a",), tables={(0,): np.array([1.5, 2.5])})
    with pytest.raises(InputError, match="must be of whole numbers"):
        bounds(margins)


def test_no_margin_but_the_total():
    assert margins_of(np.ones((2, 2), dtype=np.int64), []).total == 4


def test_a_point_has_the_sums_of_its_cells():
    """Sums that are columns of their own have the coefficient −1 where other slacks have 1."""
    system = system_of(3, [about([0, 1], 2, 5, "some"), about([0, 1, 2], 7, 7, "all")])
    wider = with_sum(with_sum(system, np.array([0, 2])), np.array([1, 2]))
    point = wider.completed(np.array([1, 2, 4]))
    assert point.tolist() == [1, 2, 4, 2, 5, 6]
    assert wider.holds(point)
