"""Tables with rows of totals and without: each is read as it was made, or refused."""

import numpy as np
import pytest
from tests.oracles.tables_with_totals import made

from discreet.engines.table_reading import read_table
from discreet.errors import InputError

LAYOUTS = ("cube", "rollup", "corner", "first")
N = 12  # tables of each kind


def outcome(one):
    try:
        found = read_table(one.source, count="n")
    except InputError as error:
        assert "must be clearly totals" in str(error)
        return "refused"
    labels = [[None if x == "(missing)" else x for x in own] for own in found.levels]
    cells = zip(found.cells.tolist(), found.counts.tolist(), strict=True)
    got = {tuple(labels[v][i] for v, i in enumerate(cell)): n for cell, n in cells}
    return "right" if got == dict(one.truth) else "wrong"


def outcomes(seed, **options):
    rng = np.random.default_rng(seed)
    return [outcome(made(rng, **options)) for _ in range(N)]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("zeros", [True, False])
def test_totals_that_are_named_so_are_left_out_of_any_table(layout, zeros):
    for n_variables, typical in ((1, 3), (2, 3), (3, 20)):
        found = outcomes(
            1, n_variables=n_variables, typical=typical, layout=layout, total="Total", zeros=zeros
        )
        assert set(found) == {"right"}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("total", ["Persons", "T", None])
def test_totals_with_a_telling_name_are_never_counted(layout, total):
    for n_variables, typical in ((1, 20), (2, 20), (3, 3)):
        found = outcomes(2, n_variables=n_variables, typical=typical, layout=layout, total=total)
        assert "wrong" not in found


@pytest.mark.parametrize("layout", LAYOUTS)
def test_totals_of_any_name_are_never_counted_where_counts_are_many(layout):
    assert "wrong" not in outcomes(3, n_variables=2, typical=300, layout=layout, total="somme")
    assert set(outcomes(3, n_variables=3, typical=300, layout=layout, total="somme")) == {"right"}


@pytest.mark.parametrize("layout", ["none", "cube"])
def test_subtotals_are_left_out_or_asked_about(layout):
    assert "wrong" not in outcomes(4, n_variables=3, typical=20, layout=layout, subtotals=True)
    found = outcomes(4, n_variables=3, typical=300, layout=layout, subtotals=True)
    assert set(found) == {"right"}


@pytest.mark.parametrize("own", [(), (None,), ("T", "C"), ("both",), ("Persons",)])
def test_tables_without_totals_lose_no_level_and_are_seldom_asked_about(own):
    found = [
        one
        for n_variables, typical in ((1, 20), (2, 3), (3, 20))
        for one in outcomes(
            5, n_variables=n_variables, typical=typical, layout="none", own=own, zeros=False
        )
    ]
    assert "wrong" not in found
    assert found.count("refused") <= 0.1 * len(found)
