"""Impossible combinations: read in any form, counted exactly, and held against the data."""

import datetime as dt
import itertools
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest

from discreet.data.records import open_records
from discreet.errors import ColumnError, InputError
from discreet.flows.assess import assess
from discreet.survey.impossible import read_impossible

NOON = dt.datetime(2020, 1, 1, 12, 0, 0, 500_000)
DATA = pd.DataFrame(
    {
        "a": [0, 1, 2, 0],
        "b": ["x", "y", "x", "y"],
        "yes": [True, False, True, True],
        "f": [1.5, 2.0, 1.5, 2.0],
        "day": [dt.date(2020, 1, 1)] * 3 + [dt.date(2020, 1, 2)],
        "at": [NOON] * 3 + [dt.datetime(2020, 1, 1)],
        "m": ["u", None, "u", "v"],
    }
)


@pytest.fixture
def possible(count):
    """Cells that are possible by these keys, given the list, and its rows without effect."""

    def run(keys, source, data=DATA, **options):
        found = read_impossible(open_records(source), count(data, keys, **options))
        return found.zeros.n_possible(), found.n_idle

    return run


@pytest.mark.parametrize(
    ("keys", "box", "cells"),
    [
        (["a", "b"], {"a": [1], "b": ["x"]}, 5),
        (["a", "b"], {"a": ["1"], "b": ["x"]}, 5),
        (["a", "b"], {"a": [1.0], "b": ["x"]}, 5),
        (["a", "b"], {"b": ["x"], "a": [1]}, 5),
        (["a", "yes"], {"a": [2], "yes": [False]}, 5),
        (["a", "f"], {"a": [1], "f": [1.5]}, 5),
        (["a", "f"], {"a": [2], "f": [2]}, 5),
        (["a", "day"], {"a": [1], "day": [dt.date(2020, 1, 2)]}, 5),
        (["a", "at"], {"a": [1], "at": [dt.datetime(2020, 1, 1)]}, 5),
        (["b", "at", "a"], {"b": ["y"], "at": [NOON], "a": [0]}, 11),
        (["a", "m"], {"a": [0], "m": ["(missing)"]}, 8),
        (["a", "b", "yes"], {"a": [1], "b": ["x"], "yes": [None]}, 10),
        (["a", "b"], {"a": [], "b": []}, 6),
        (["a", "b"], {"a": [None], "b": [None]}, 6),
    ],
)
def test_a_box_takes_its_cells_away(possible, keys, box, cells):
    assert possible(keys, pd.DataFrame(box)) == (cells, 0)


def test_the_same_from_every_kind_of_file(possible, tmp_path):
    table = pa.table({"a": [1, 2], "b": ["x", "y"]})
    (tmp_path / "z.csv").write_text("b,a\nx,1\ny,2\n\n")
    (tmp_path / "s.csv").write_text("b;a\r\nx;1\r\ny;2\r\n")
    pq.write_table(table, tmp_path / "z.parquet")
    for source in (table, *(tmp_path / name for name in ("z.csv", "s.csv", "z.parquet"))):
        assert possible(["a", "b"], source) == (4, 0)


def test_lists_agree_with_going_through_all_cells(possible):
    rng = np.random.default_rng(3)
    levels = pd.DataFrame(list(itertools.product(range(3), range(4), range(2))), columns=[*"abc"])
    for _ in range(8):
        chosen = rng.random(len(levels)) < 0.5
        rows = pd.DataFrame(
            rng.integers(0, (4, 5, 3), (4, 3)), columns=[*"abc"], dtype="Int64"
        )  # the last level of each stands for any
        boxes = rows.mask(rows == np.array([3, 4, 2]))
        covered = np.zeros(len(levels), dtype=bool)
        for box in boxes.itertuples(index=False):
            named = {k: v for k, v in zip("abc", box, strict=True) if v is not pd.NA}
            here = np.ones(len(levels), dtype=bool)
            for key, level in named.items():
                here &= (levels[key] == level).to_numpy()
            covered |= here & bool(named)
        data = levels[~covered & chosen]
        occurring = [set(data[key]) for key in "abc"]
        if [len(found) for found in occurring] != [3, 4, 2]:
            continue
        assert possible([*"abc"], boxes, data)[0] == len(levels) - covered.sum()


def test_a_level_that_never_occurs_has_no_effect_and_is_told(possible):
    assert possible(["a", "b"], pd.DataFrame({"a": [1, 9], "b": ["X", None]})) == (6, 2)


@pytest.mark.parametrize("rows", [{"a": [0], "b": ["x"]}, {"a": [0, 1, 2]}, {"b": ["x"]}])
def test_records_in_an_impossible_cell_are_a_contradiction(possible, rows):
    with pytest.raises(InputError, match="impossible must be combinations that no record has"):
        possible(["a", "b"], pd.DataFrame(rows))


def test_the_contradiction_says_how_many_and_no_level(possible):
    data = pd.DataFrame({"a": ["secret"] * 3 + ["x"], "b": [1, 1, 1, 2]})
    with pytest.raises(InputError) as caught:
        possible(["a", "b"], pd.DataFrame({"a": ["secret"], "b": [1]}), data)
    assert "3" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "where"),
    [
        ([1, 2], "at row 2 of the data frame"),
        ([2, None, 2, 9], "at rows 1, 3 of the data frame"),
        ([2] * 9, "at rows 1, 2, 3, 4, 5 and 4 more of the data frame"),
    ],
)
def test_the_contradiction_says_which_rows_of_the_list(possible, rows, where):
    with pytest.raises(InputError) as caught:
        possible(["a"], pd.DataFrame({"a": rows}), pd.DataFrame({"a": [0, 2]}))
    assert where in str(caught.value)


@pytest.mark.parametrize(
    ("policy", "cells"), [("wildcard", 5), ("conservative", 5), ("category", 10), ("drop", 5)]
)
def test_missing_levels_are_possible_cells_only_where_they_are_levels(policy, cells):
    data = pd.DataFrame({"a": [0, 1, 2, None, 0], "b": ["x", "y", "x", "x", None]})
    box = pd.DataFrame({"a": [1, 2], "b": ["x", "(missing)"]})
    found = assess(data, ["a", "b"], impossible=box, missing=policy, models="sample_frequency")
    assert found.summary.n_table_cells == cells


def test_dropped_records_contradict_nothing(possible):
    data = pd.DataFrame({"a": [0, 1, 1], "b": ["x", "y", None]})
    zeros = pd.DataFrame({"a": [1], "b": ["x"]})
    assert possible(["a", "b"], zeros, data, missing="drop") == (3, 0)


def test_columns_must_be_keys(possible):
    with pytest.raises(
        ColumnError, match="impossible must be a list whose columns are keys, got 'm'"
    ):
        possible(["a", "b"], pd.DataFrame({"a": [0], "m": ["v"]}))
    with pytest.raises(ColumnError, match="got 'age'; did you mean 'ages'?"):
        possible(["ages"], pd.DataFrame({"age": [0]}), pd.DataFrame({"ages": [1, 2]}))


def test_labels_name_every_value_that_has_them(possible, tmp_path):
    data = pd.DataFrame({"s": [1, 2, 3, 3], "t": [1, 2, 3, 1]})
    labels: Any = {"s": {1: "Other", 2: "Other", 3: "Own"}}
    pyreadstat.write_sav(data, tmp_path / "s.sav", variable_value_labels=labels)
    assert possible(["s", "t"], pd.DataFrame({"s": ["Other"], "t": [3]}), tmp_path / "s.sav") == (
        7,
        0,
    )
    assert possible(["s", "t"], pd.DataFrame({"s": ["2"], "t": [3]}), tmp_path / "s.sav") == (8, 0)
    with pytest.raises(InputError, match="no record has"):
        possible(["s", "t"], pd.DataFrame({"s": ["Other"], "t": [1]}), tmp_path / "s.sav")
