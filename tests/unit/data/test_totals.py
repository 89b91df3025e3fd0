"""Rows of totals are found, named and left out; what is none is not."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from discreet.engines.table_reading import read_table
from discreet.errors import InputError


def long_form(counts, levels, *, total="Total", names=("sex", "region")):
    """Rows of a two-way table with its totals, in long form."""
    rows = {name: [] for name in (*names, "n")}
    sums = np.pad(counts, ((0, 1), (0, 1)))
    sums[-1, :-1], sums[:-1, -1], sums[-1, -1] = counts.sum(0), counts.sum(1), counts.sum()
    for i, first in enumerate([*levels[0], total]):
        for j, second in enumerate([*levels[1], total]):
            for name, value in zip(rows, (first, second, int(sums[i, j])), strict=True):
                rows[name].append(value)
    return pa.table(rows)


LEVELS = (["f", "m"], ["N", "S", "W"])
COUNTS = np.array([[3, 4, 2], [5, 1, 5]])  # 20 persons, 80 with their totals


@pytest.mark.parametrize("total", ["Total", "ALL", " _T ", "insgesamt", "Ensemble", None])
def test_twenty_persons_with_totals_are_twenty_persons(total):
    found = read_table(long_form(COUNTS, LEVELS, total=total), count="n")
    assert found.total == 20
    assert found.dense().tolist() == COUNTS.tolist()
    assert found.levels == (("f", "m"), ("N", "S", "W"))
    label = "(missing)" if total is None else total
    [note] = found.notes
    assert f"sex = {label}, region = {label}" in note


def test_totals_of_any_name_are_found_where_they_match_too_well_for_an_accident():
    counts = np.array([[30, 41, 22], [15, 16, 57]])
    found = read_table(long_form(counts, LEVELS, total="somme"), count="n")
    assert found.total == counts.sum()
    [note] = found.notes
    assert "region = somme" in note


def test_an_accident_is_not_taken_for_a_total():
    source = pa.table({"a": ["x", "y", "z"], "n": [3, 4, 7]})
    assert read_table(source, count="n").total == 14


def test_only_the_total_of_all_may_be_there():
    source = pa.table({"a": ["x", "y", "Total"], "b": ["u", "u", "Total"], "n": [3, 4, 7]})
    assert read_table(source, count="n").total == 7


def test_a_named_total_that_does_not_match_is_refused_by_name():
    source = pa.table({"sex": ["f", "m", "Total"], "n": [3, 4, 8]})
    with pytest.raises(InputError, match=r"rows of totals 'sex = Total' must be .* \(totals\)"):
        read_table(source, count="n")
    assert read_table(source, count="n", totals="keep").total == 15
    with pytest.raises(InputError, match="totals must be one of find, keep"):
        read_table(source, count="n", totals="drop")


def test_missing_values_that_are_no_totals_stay():
    source = pa.table({"a": ["x", "y", None], "n": [30, 40, 5]})
    found = read_table(source, count="n")
    assert found.total == 75
    assert found.notes == ()


def test_records_have_no_totals():
    source = pa.table({"a": ["x", "all", "all"]})
    assert read_table(source, ["a"]).total == 3


@given(hnp.arrays(np.int64, (2, 3), elements=st.integers(0, 40)).filter(lambda t: t.sum() > 0))
def test_any_table_comes_out_of_its_rows_with_totals(counts):
    found = read_table(long_form(counts, LEVELS), count="n", totals="find")
    assert found.dense().tolist() == counts.tolist()
