"""Texts of a table in memory: the same levels and cells as the same texts in a file."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.oracles.cells_beside import whole

from discreet.data.missing import MissingCodes, missing_policy
from discreet.data.records import open_records
from discreet.engines.contract import Request
from discreet.engines.duckdb import DuckDBEngine
from discreet.errors import FileError

TEXTS = ["10", "9", "1e1", "b", "a", "", None, "ä", "日本", "09", " a", "A", "nan", "inf", "-1"]


def found(source, *, missing="category", codes=None):
    request = Request(
        records=open_records(source), keys=("x", "y"), missing=missing_policy(missing),
        codes=codes or MissingCodes(),
    )  # fmt: skip
    with DuckDBEngine(threads=1).count(request) as cells:
        held = whole(cells.cells)
        words, records = held.words.tolist(), held.n_records.tolist()
        return cells.keys, words, records, cells.n_dropped, cells.n_incomplete


def columns(n=400):
    rng = np.random.default_rng(5)
    return [[TEXTS[i] for i in rng.integers(0, len(TEXTS), n)] for _ in range(2)]


def in_file(folder, table):
    path = folder / "t.parquet"
    pq.write_table(table, path)
    return path


@pytest.mark.parametrize("missing", ["category", "drop"])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())])  # fmt: skip
def test_as_in_a_file(tmp_path, kind, missing):
    x, y = columns()
    plain = pa.table({"x": pa.array(x, pa.string()), "y": pa.array(y, pa.string())})
    held = pa.table({"x": pa.array(x, pa.string()).cast(kind), "y": pa.array(y).cast(kind)})
    parts = pa.concat_tables([held.slice(0, 150), held.slice(150)])
    expected = found(in_file(tmp_path, plain), missing=missing)
    assert found(held, missing=missing) == expected
    assert found(parts, missing=missing) == expected


def test_levels_that_no_record_has_are_none():
    coded = pa.DictionaryArray.from_arrays([2, 2, 0], ["a", "never", "b"])
    keys, *_ = found(pa.table({"x": coded, "y": ["u", "u", "v"]}))
    assert [key.values for key in keys] == [("a", "b"), ("u", "v")]


@pytest.mark.parametrize("listed", [["a", "b", "a"], ["a", "b", None]])
def test_a_list_of_texts_that_does_not_tell_them_apart(listed):
    coded = pa.DictionaryArray.from_arrays([0, 1, 2, 2], listed)
    keys, words, records, *_ = found(pa.table({"x": coded, "y": ["u"] * 4}))
    assert keys[0].values == (("a", "b") if listed[2] else ("a", "b", None))
    assert records == ([3, 1] if listed[2] else [1, 1, 2])
    assert len(words) == len(records)


def test_parts_with_lists_of_their_own():
    parts = [
        pa.DictionaryArray.from_arrays([0, 1], ["a", "b"]),
        pa.DictionaryArray.from_arrays([0, 1], ["b", "c"]),
    ]
    keys, _, records, *_ = found(pa.table({"x": pa.chunked_array(parts), "y": ["u"] * 4}))
    assert keys[0].values == ("a", "b", "c")
    assert records == [1, 2, 1]


def test_codes_for_missing_are_heeded():
    table = pa.table({"x": ["a", "?", "b"], "y": ["u", "u", "?"]})
    keys, *_ = found(table, codes=MissingCodes(missing={"x": ("?",)}))
    assert keys[0].values == ("a", "b", None)
    assert keys[1].values == ("?", "u")


@pytest.mark.parametrize("coded", [False, True])
def test_bytes_that_are_no_text_are_complained_of(coded):
    places = pa.py_buffer(np.arange(4, dtype=np.int32).tobytes())
    bad = pa.Array.from_buffers(pa.string(), 3, [None, places, pa.py_buffer(b"a\xff\xfe")])
    table = pa.table({"x": bad.dictionary_encode() if coded else bad, "y": ["u"] * 3})
    with pytest.raises(FileError, match="must be text in utf-8"):
        found(table)


@pytest.mark.parametrize("values", [[None, None], ["", None]])
def test_no_text_at_all(values):
    keys, _, records, *_ = found(pa.table({"x": pa.array(values, pa.string()), "y": ["u", "u"]}))
    assert keys[0].values == (None,)
    assert records == [2]
