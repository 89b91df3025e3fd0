"""Rows are handed to steps in tables of some size, or a whole partition at a time."""

import pyarrow as pa

from discreet.engines.spark import folding


def test_all_rows_come_once_in_tables_of_some_size(monkeypatch):
    monkeypatch.setattr(folding, "ROWS_AT_HAND", 4)
    batches = pa.table({"a": range(10)}).to_batches(max_chunksize=3)
    tables = list(folding.in_hand(batches))
    assert [len(table) for table in tables] == [6, 4]
    assert [a for table in tables for a in table["a"].to_pylist()] == list(range(10))
    assert list(folding.in_hand([])) == []


def test_a_whole_partition_is_one_table_or_none():
    batches = pa.table({"a": range(10)}).to_batches(max_chunksize=3)
    [table] = folding.whole_partition(batches)
    assert table["a"].to_pylist() == list(range(10))
    assert list(folding.whole_partition([])) == []
    assert list(folding.whole_partition(pa.table({"a": range(0)}).to_batches())) == []
