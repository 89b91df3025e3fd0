"""A frame comes out as the kind of frame that it was, its untouched columns as they were."""

import datetime

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.data.frame_output import frame_output
from discreet.data.output_columns import OutputColumn
from discreet.data.records import open_records

FRAME = pd.DataFrame(
    {
        "id": np.array([2**62, 2, 3]),
        "small": np.array([1, 2, 3], dtype="uint8"),
        "ok": [True, False, True],
        "f": [0.5, np.nan, 2.5],
        "text": ["", "a\nb", None],
        "thing": pd.Series([1, "x", None], dtype=object),
        "day": pd.to_datetime(["2020-01-01", None, "2020-01-03"]).tz_localize("Europe/Rome"),
        "kind": pd.Categorical(["lo", "hi", "lo"], ["lo", "hi", "never"], ordered=True),
        "whole": pd.array([1, None, 3], "Int16"),
        "arrow": pd.array(["p", None, "q"], "string[pyarrow]"),
        "none": [None, None, None],
        7: [1, 2, 3],
    },
    index=pd.Index(["p", "q", "q"], name="person"),
)


def made(frame, rows, *, names=None, changed=None, recoded=None, numbers=(), batch=2):
    """A copy of the frame, written as a command does."""
    records = open_records(frame)
    changed, recoded = changed or {}, recoded or {}
    columns = [
        OutputColumn(name=name, recoded=recoded.get(name), numbers=name in numbers)
        for name in names or records.column_names
    ]
    output = frame_output(frame, records, columns, changed)
    assert output.carries == ()
    for start in range(0, len(rows), batch):
        stop = start + batch
        table = pa.table({name: values[start:stop] for name, values in changed.items()})
        output.write(np.array(rows[start:stop], dtype=np.int64), table)
    return output.frame()


class TestPandas:
    frame = FRAME.drop(columns="thing")

    def test_an_unchanged_frame_is_the_same(self):
        pd.testing.assert_frame_equal(made(self.frame, [0, 1, 2]), self.frame)

    def test_a_column_of_things_that_arrow_does_not_know_passes_through(self):
        pd.testing.assert_frame_equal(made(FRAME, [2, 0]), FRAME.iloc[[2, 0]])

    def test_rows_and_columns_by_position(self):
        found = made(self.frame, [2, 0], names=["7", "text", "id"])
        pd.testing.assert_frame_equal(found, self.frame.iloc[[2, 0]][[7, "text", "id"]])

    def test_what_was_suppressed_is_missing_in_a_type_that_has_room_for_it(self):
        changed = {
            "id": [None, 2, 3],
            "small": [1, None, 3],
            "ok": [True, None, True],
            "f": [None, None, 2.5],
            "text": [None, "a\nb", None],
            "day": pa.array([None, None, datetime.datetime(2020, 1, 3)]),
            "kind": ["lo", None, "lo"],
            "whole": [None, None, 3],
            "arrow": ["p", None, None],
        }
        found = made(self.frame, [0, 1, 2], changed=changed, batch=5)
        assert {name: str(kind) for name, kind in found.dtypes.items()} == {
            **{name: str(kind) for name, kind in self.frame.dtypes.items()},
            "id": "Int64",
            "small": "UInt8",
            "ok": "boolean",
        }
        assert found["id"].tolist()[1:] == [2, 3]
        gone = {name: found[name].isna().tolist() for name in changed}
        assert gone == {
            name: [v is None for v in pa.array(c).to_pylist()] for name, c in changed.items()
        }
        assert list(found["kind"].cat.categories) == ["lo", "hi", "never"]

    def test_nothing_suppressed_leaves_the_type(self):
        found = made(
            self.frame, [0, 1, 2], changed={"id": [2**62, 2, 3], "ok": [True, False, True]}
        )
        pd.testing.assert_frame_equal(found, self.frame)

    def test_large_whole_numbers_keep_their_digits(self):
        found = made(self.frame, [0, 1], changed={"id": [2**62, None]})
        assert found["id"].iloc[0] == 2**62

    def test_recoded_keys(self):
        changed = {
            "kind": ["lo/hi", None, "lo/hi"],
            "small": ["1-2", "1-2", "3"],
            "text": [None, "t", None],
        }
        recoded = {"kind": ("lo/hi", "never"), "small": ("1-2", "3"), "text": ("t",)}
        found = made(self.frame, [0, 1, 2], changed=changed, recoded=recoded)
        assert list(found["kind"].cat.categories) == ["lo/hi", "never"]
        assert found["kind"].cat.ordered
        assert found["kind"].isna().tolist() == [False, True, False]
        assert found["small"].tolist() == ["1-2", "1-2", "3"]
        assert found["small"].dtype == pd.Series(["x"]).dtype
        assert found["text"].dtype == self.frame["text"].dtype
        assert found.index.equals(self.frame.index)

    def test_a_key_of_which_all_is_gone_is_one_of_text(self):
        empty = pa.array([None, None, None], pa.string())
        found = made(self.frame, [0, 1, 2], changed={"small": empty}, recoded={"small": ("x",)})
        assert found["small"].isna().all()
        assert found["small"].dtype == pd.Series(["x"]).dtype

    def test_numbers_computed_anew(self):
        found = made(self.frame, [0, 2], changed={"f": [1.5, 2.5]}, numbers=("f",))
        assert found["f"].tolist() == [1.5, 2.5]

    @pytest.mark.parametrize("changed", [{}, {"id": [], "f": []}])
    def test_no_rows(self, changed):
        found = made(self.frame, [], changed=changed, numbers=("f",) if changed else ())
        pd.testing.assert_frame_equal(found, self.frame.iloc[:0])

    def test_the_source_is_left_as_it_was(self):
        before = self.frame.copy(deep=True)
        found = made(self.frame, [0, 1, 2], changed={"f": [None, None, None]})
        found.iloc[0, 0] = 5
        pd.testing.assert_frame_equal(self.frame, before)


POLARS = pl.DataFrame(
    {
        "id": [2**62, 2, 3],
        "kind": pl.Series(["lo", "hi", None], dtype=pl.Enum(["lo", "hi", "never"])),
        "cat": pl.Series(["a", "b", "a"], dtype=pl.Categorical),
        "ok": [True, None, False],
        "text": ["", "a\nb", None],
        "day": [datetime.date(2020, 1, 1), None, None],
        "none": [None, None, None],
    }
)


class TestPolars:
    def test_an_unchanged_frame_is_the_same(self):
        assert made(POLARS, [0, 1, 2]).equals(POLARS)
        assert made(POLARS, [0, 1, 2]).schema == POLARS.schema

    def test_rows_and_columns(self):
        found = made(POLARS, [2, 0], names=["text", "id"])
        assert found.rows() == [(None, 3), ("", 2**62)]

    def test_what_was_suppressed_is_missing_in_the_same_type(self):
        changed = {"id": [2**62, None, 3], "kind": [None, "hi", None], "cat": ["a", None, "a"]}
        found = made(POLARS, [0, 1, 2], changed=changed)
        assert found.schema == POLARS.schema
        assert {name: found[name].to_list() for name in changed} == changed

    def test_recoded_keys_and_numbers(self):
        changed = {
            "kind": ["lo/hi", None, None],
            "cat": ["a/b", "a/b", None],
            "id": ["few", None, "few"],
            "ok": [1.5, 2.5, 3.5],
        }
        recoded = {"kind": ("lo/hi", "never"), "cat": ("a/b",), "id": ("few",)}
        found = made(POLARS, [0, 1, 2], changed=changed, recoded=recoded, numbers=("ok",))
        assert {name: found[name].to_list() for name in changed} == changed
        assert found.schema["kind"] == pl.Enum(["lo/hi", "never"])
        assert isinstance(found.schema["cat"], pl.Categorical)
        assert (found.schema["id"], found.schema["ok"]) == (pl.String(), pl.Float64())

    def test_no_rows(self):
        assert made(POLARS, []).schema == POLARS.schema
        assert made(POLARS, []).height == 0


class TestArrow:
    table = pa.table(
        {
            "id": pa.array([2**62, 2, 3]),
            "kind": pa.DictionaryArray.from_arrays(pa.array([0, 1, None], pa.int8()), ["lo", "hi"]),
            "text": pa.array(["", "a", None], pa.large_string()),
        }
    ).replace_schema_metadata({"office": "x"})

    def test_an_unchanged_table_is_the_same(self):
        assert made(self.table, [0, 1, 2]).equals(self.table, check_metadata=True)

    def test_changed_columns(self):
        changed = {"id": [None, 3], "kind": ["lo/hi", None], "text": [None, "t"]}
        recoded = {"kind": ("lo/hi",), "text": ("t",)}
        found = made(self.table, [0, 2], changed=changed, recoded=recoded)
        assert found.to_pydict() == changed
        assert found.schema.types == [
            pa.int64(),
            pa.dictionary(pa.int32(), pa.string()),
            pa.large_string(),
        ]
        assert found.schema.metadata == {b"office": b"x"}

    def test_a_suppressed_key_of_codes(self):
        found = made(self.table, [0, 1, 2], changed={"kind": [None, "hi", None]})
        assert found.schema == self.table.schema
        assert found.column("kind").to_pylist() == [None, "hi", None]

    def test_no_rows(self):
        assert made(self.table, []).equals(self.table.slice(0, 0))
        found = made(self.table, [], changed={"kind": []}, recoded={"kind": ("x",)})
        assert found.num_rows == 0

    def test_a_relation_of_duckdb_becomes_a_table(self):
        relation = duckdb.sql("SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t(n, s)")
        found = made(relation, [1, 0], names=["s", "n"], changed={"n": [None, 1]})
        assert found.to_pydict() == {"s": ["b", "a"], "n": [None, 1]}
