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
    assert read_table(source, count="n", totals="sex=Total:keep").total == 15
    assert read_table(source, count="n", totals=["sex=Total:leave-out"]).total == 7


@pytest.mark.parametrize(
    ("totals", "message"),
    [
        ("drop", "totals must be find, keep, or of a level 'NAME=LEVEL:leave-out'"),
        ("sex=f:drop", "totals must be find, keep, or of a level"),
        ("sex=q:keep", "totals must be of a level of the table, got 'sex=q'"),
        ("age=f:keep", "totals must be of a level of the table, got 'age=f'"),
        (["keep", "sex=f:keep"], "totals must be keep, or what is said of levels, got both"),
        (3, "totals must be find, keep or what is said of levels"),
    ],
)
def test_what_is_said_of_totals_must_be_understood(totals, message):
    source = pa.table({"sex": ["f", "m"], "n": [3, 4]})
    with pytest.raises(InputError, match=message):
        read_table(source, count="n", totals=totals)


def test_names_with_signs_are_told_apart():
    source = pa.table({"a=b": ["x:y", "=", "Total"], "n": [3, 4, 8]})
    assert read_table(source, count="n", totals=["a=b=Total:keep"]).total == 15
    assert read_table(source, count="n", totals=["a=b=x:y:keep", "a=b=Total:leave-out"]).total == 7


def one_way(**counts):
    return pa.table({"v": [None if x == "none" else x for x in counts], "n": [*counts.values()]})


@pytest.mark.parametrize(
    ("counts", "total"),
    [
        ({"Male": 30, "Female": 40, "Persons": 70}, 70),  # the name and the sum
        ({"Male": 50, "Female": 50}, 100),  # two levels of equal counts are common
        ({"Female": 50, "Total": 50}, 50),
        ({"a": 3, "b": 4, "c": 7}, 14),  # so small sums match by accident
        ({"dose": 10, "placebo": 10, "none": 5}, 25),
        ({"low": 1000, "high": 1000, "control": 2000}, 4000),  # a design: in lowest terms 1, 1, 2
        ({"mother": 30, "father": 9, "both": 61}, 100),
        ({"C": 30, "P": 31, "T": 29}, 90),
        ({"DE": 7, "DE1": 3, "DE2": 4}, 14),
    ],
)
def test_one_way_tables_are_read(counts, total):
    assert read_table(one_way(**counts), count="n").total == total


@pytest.mark.parametrize(
    ("counts", "level"),
    [
        ({"C": 50, "T": 50}, "T"),  # treatment and control, or one level and its total
        ({"Male": 1, "Female": 2, "Persons": 3}, "Persons"),
        ({"Male": 30, "Female": 40, "Persons": 71}, "Persons"),  # rounded?
        ({"mother": 3, "father": 4, "both": 7}, "both"),
        ({"a": 3, "b": 4, "none": 7}, "(missing)"),
        ({"a": 5, "none": 5}, "(missing)"),
        ({"N": 51_234, "S": 49_881, "W": 33_333, "Land": 134_448}, "Land"),
        ({"N1": 3, "N2": 14, "North": 17, "S1": 5, "Total": 22}, "North"),
    ],
)
def test_what_may_be_a_total_is_refused_until_it_is_said(counts, level):
    source = one_way(**counts)
    said = f"rows 'v = {level}' must be clearly totals .* say 'v={level}:leave-out' if they are"
    with pytest.raises(InputError, match=said.replace("(", r"\(").replace(")", r"\)")):
        read_table(source, count="n")
    rest = sum(n for name, n in counts.items() if name not in ("Total", level, "none"))
    assert read_table(source, count="n", totals=f"v={level}:leave-out").total == rest
    if "Total" not in counts:
        kept = read_table(source, count="n", totals=f"v={level}:keep")
        assert kept.total == sum(counts.values())


def test_trial_arms_of_equal_size_everywhere_are_asked_about_and_never_dropped():
    rows = [(arm, site, n) for site, n in zip("abcdefgh", range(20, 36, 2), strict=True)
            for arm in "CT"]  # fmt: skip
    source = pa.table(
        dict(zip(("arm", "site", "n"), map(list, zip(*rows, strict=True)), strict=True))
    )
    with pytest.raises(InputError, match="rows 'arm = T' must be clearly"):
        read_table(source, count="n")


def test_a_design_of_round_numbers_is_no_total():
    rows = [(arm, f"site{s}", n * (s + 1)) for s in range(9)
            for arm, n in (("low", 10), ("high", 10), ("control", 20))]  # fmt: skip
    source = pa.table(
        dict(zip(("arm", "site", "n"), map(list, zip(*rows, strict=True)), strict=True))
    )
    assert read_table(source, count="n").total == 40 * 45


def test_codes_that_grow_longer_are_subtotals():
    rng = np.random.default_rng(3)
    leaves = [f"{a}{b}" for a in "ABCD" for b in range(5)]
    counts = rng.integers(5, 90, (len(leaves), 4))
    rows = [(leaf, f"y{j}", int(counts[i, j])) for i, leaf in enumerate(leaves) for j in range(4)]
    for a in "ABCD":
        own = [i for i, leaf in enumerate(leaves) if leaf[0] == a]
        rows += [(a, f"y{j}", int(counts[own, j].sum())) for j in range(4)]
    rows += [("whatever", f"y{j}", int(counts[:, j].sum())) for j in range(4)]
    source = pa.table(
        dict(zip(("code", "year", "n"), map(list, zip(*rows, strict=True)), strict=True))
    )
    found = read_table(source, count="n")
    assert found.total == counts.sum()
    assert found.levels[0] == tuple(leaves)
    assert "code = A, code = B, code = C, code = D, code = whatever" in found.notes[0]


def test_a_column_that_is_no_variable_may_have_a_total_without_a_name():
    rows = [(r, s, n) for r, counts in (("N", (31, 52)), ("S", (46, 75)), ("W", (64, 27)))
            for s, n in zip(("f", "m", None), (*counts, sum(counts)), strict=True)]  # fmt: skip
    source = pa.table(
        dict(zip(("region", "sex", "n"), map(list, zip(*rows, strict=True)), strict=True))
    )
    found = read_table(source, ["region"], count="n")
    assert found.margin((0,)).tolist() == [83, 121, 91]


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
