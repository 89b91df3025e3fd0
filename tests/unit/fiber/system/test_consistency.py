"""Contradictions are found and named, without any of their values."""

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.fiber.bounds.cell_bounds import bounds
from discreet.fiber.system.consistency import check, check_margins, disagreement
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.fiber.system.margins import Margins, margins_of
from discreet.fiber.system.structure import presolve


def said(cells, low, high=None, name="it", coefficients=None):
    high = low if high is None else high
    weights = None if coefficients is None else np.array(coefficients)
    return Statement(cells=np.array(cells), low=low, high=high, name=name, coefficients=weights)


def margins(**tables):
    axes = {"ab": (0, 1), "bc": (1, 2), "ac": (0, 2), "a": (0,)}
    found = {axes[name]: np.array(table) for name, table in tables.items()}
    return Margins(sizes=(2, 2, 2), names=("a", "b", "c"), tables=found)


def test_a_witness_is_a_point_of_the_system():
    system = system_of(3, [said([0, 1, 2], 4, 6), said([1, 2], 2)])
    assert system.holds(check(system))


def test_a_system_without_rows_has_its_lower_limits_as_witness():
    system = system_of(2, [said([0], 1, 3), said([1], 0, 2)])
    assert check(system).tolist() == [1, 0]


def test_two_sums_that_disagree_are_named_and_the_third_is_not():
    known = [said([0, 1], 5, name="rows"), said([0, 1, 2], 4, name="total"), said([1, 2], 2)]
    with pytest.raises(InputError) as complaint:
        check(system_of(3, known))
    assert str(complaint.value) == (
        "statements must be true of at least one table, got no table at all; "
        "smallest set that disagrees: rows, total"
    )


def test_no_whole_number_table_is_told_apart():
    known = [said([0, 1], 1, name="p"), said([1, 2], 1, name="q"), said([0, 2], 1, name="r")]
    found = disagreement(system_of(3, known))
    assert found.kind == "no whole-number table"
    assert found.statements == ("p", "q", "r")
    assert found.irreducible


def test_a_known_cell_against_a_sum_names_both():
    known = [said([0, 1], 1, name="sum"), said([0], 4, name="known")]
    assert disagreement(system_of(2, known)).statements == ("known", "sum")


def test_limits_of_one_cell_that_cross_are_named_alone():
    known = [said([0], 1, 3, "few"), said([0], 4, 5, "many"), said([0, 1], 9, name="sum")]
    assert disagreement(system_of(2, known)).statements == ("few", "many")


def test_limits_of_cells_stand_among_the_statements():
    known = [said([c], 0, most, name) for c, most, name in ((0, 2, "a"), (1, 2, "b"), (2, 9, "c"))]
    found = disagreement(system_of(3, [*known, said([0, 1], 5, name="sum")]))
    assert set(found.statements) == {"sum", "a", "b"}


def test_a_range_that_its_cells_cannot_reach():
    known = [said([0], 0, 2), said([1], 0, 2)]
    least = Statement(cells=np.array([0, 1]), low=7, high=None, name="at least")
    assert "at least" in disagreement(system_of(2, [*known, least])).statements


def test_a_long_list_is_cut_in_the_message_only():
    ring = [said([i, (i + 1) % 15], 1, name=f"pair {i}") for i in range(15)]
    found = disagreement(system_of(15, ring))
    assert len(found.statements) == 15
    assert str(found.error()).endswith("pair 11 and 3 more")


def test_negative_coefficients_keep_their_limits():
    from scipy.sparse import csr_array

    from discreet.fiber.system.linear_system import System

    system = System(
        matrix=csr_array(np.array([[1, -1], [1, 1]])),
        right=np.array([1, 4]),
        lower=np.zeros(2, np.int64),
        upper=np.full(2, 9),
        n_named=2,
        row_names=("difference", "sum"),
    )
    found = disagreement(system)
    assert found.kind == "no whole-number table"
    assert set(found.statements) == {"difference", "sum"}


@pytest.mark.parametrize("use", [presolve, bounds])
def test_whoever_meets_a_contradiction_names_it(use):
    known = [said([0, 1], 5, name="rows"), said([0, 1, 2], 4, name="total")]
    with pytest.raises(InputError, match="smallest set that disagrees: rows, total"):
        use(system_of(3, known))


def test_out_of_time_is_not_a_verdict():
    table = np.random.default_rng(1).poisson(1, (2,) * 9)
    system = system_of(
        512, margins_of(table, [(0, 1, 2), (2, 3, 4), (4, 5, 6), (6, 7, 8)]).statements()
    )
    assert check(system, time_limit=0.0) is None or system.holds(check(system))


def test_margins_that_disagree_name_both_and_the_entry():
    check_margins(margins(ab=[[1, 2], [3, 4]], bc=[[4, 0], [5, 1]]))
    with pytest.raises(InputError) as complaint:
        check_margins(margins(ab=[[1, 2], [3, 4]], bc=[[3, 0], [5, 2]]))
    assert str(complaint.value) == (
        "margin [a, b] and margin [b, c] must be equal in the variables they share, "
        "got different counts at margin [b 0]"
    )


def test_margins_without_shared_variables_share_the_total():
    tables = {(0,): np.array([1, 2]), (1,): np.array([2, 2])}
    with pytest.raises(InputError, match="different counts at total"):
        check_margins(Margins(sizes=(2, 2), names=("a", "b"), tables=tables))


def test_margins_of_the_wrong_shape_or_sign():
    with pytest.raises(InputError, match=r"margin \[a\] must be of shape \(2,\), got \(3,\)"):
        check_margins(margins(a=[1, 2, 3]))
    with pytest.raises(InputError, match=r"margin \[a 1\] must be zero or more, got a negative"):
        check_margins(margins(a=[1, -2]))
    with pytest.raises(
        InputError, match="margins must be at least one, if only the total, got none"
    ):
        check_margins(margins())


def test_margins_that_agree_in_pairs_but_fit_no_table():
    """a = b, b = c, but a ≠ c: every pair of margins agrees, no table exists."""
    same, other = [[2, 0], [0, 2]], [[0, 2], [2, 0]]
    impossible = margins(ab=same, bc=same, ac=other)
    check_margins(impossible)
    with pytest.raises(
        InputError, match="got no table at all; smallest set that disagrees: margin"
    ):
        bounds(impossible)
