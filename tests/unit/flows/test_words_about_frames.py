"""What is wrong with a frame is told in words about frames: no file, no database, no option typed."""

import pandas as pd
import polars as pl
import pytest

import discreet
from discreet.errors import InputError

FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}
WRONG = {
    "negative": ({"a": ["x", "y"], "n": [3, -4]}, "count 'n' .* got a negative number at row 2"),
    "decimals": ({"a": ["x", "y"], "n": [3.5, 4]}, "got a number with decimals at row 1"),
    "missing": ({"a": ["x", "y"], "n": [3, None]}, "got a row without one at row 2"),
    "text": ({"a": ["x", "y"], "n": ["3", "four"]}, "got no number at row 2"),
    "no column": ({"a": ["x", "y"], "m": [3, 4]}, "count must be a column of the data frame"),
    "no rows": ({"a": [], "n": []}, "the data frame must be a frame with at least one record"),
    "lists": ({"a": [[1], [2]], "n": [3, 4]}, "column 'a' must be a column of single .* got lists"),
}


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("flow", ["audit", "choose"])
def test_tables(kind, wrong, flow):
    columns, says = WRONG[wrong]
    given = {"release": ["a"]} if flow == "audit" else {"max_risk": 0.1}
    with pytest.raises(InputError, match=says) as caught:
        getattr(discreet, flow)(FRAMES[kind](columns), count="n", **given)
    said = str(caught.value)
    assert not any(word in said for word in ("file", "database", "first line", "--", "bigint"))


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize(
    ("columns", "options", "says"),
    [
        ({"a": ["x"]}, {"keys": ["q"], "population": 9}, "keys must be columns of the data frame"),
        ({"a": ["x"], "w": ["b"]}, {"keys": ["a"], "weight": "w"}, "correct or remove"),
        ({"a": []}, {"keys": ["a"], "population": 9}, "a frame with at least one record"),
        ({"a": [[1]]}, {"keys": ["a"], "population": 9}, "got lists"),
    ],
)
def test_records(kind, columns, options, says):
    with pytest.raises(InputError, match=says) as caught:
        discreet.assess(FRAMES[kind](columns), **options)
    said = str(caught.value)
    assert not any(word in said for word in (" file", "database", "first line", "--", "decimal"))


def test_a_column_of_several_types_is_named():
    mixed = pd.DataFrame({"a": ["x", 1, 2.5], "n": [1, 2, 3]})
    with pytest.raises(InputError, match="of one type that Arrow knows, got column 'a'"):
        discreet.audit(mixed, ["a"], count="n")


def test_counts_of_a_dict_are_named_by_their_level():
    with pytest.raises(InputError, match="counts must be .*, got a negative number at y$"):
        discreet.audit({"x": 1, "y": -2}, ["a"], variables=["a"])


def test_options_of_files_are_refused_beside_a_frame():
    frame = pd.DataFrame({"a": ["x", "y"], "n": [3, 4]})
    with pytest.raises(InputError, match="csv must be given with a CSV file"):
        discreet.audit(frame, ["a"], count="n", csv=discreet.CsvOptions(delimiter=";"))
