"""SQL text is quoted so that no name or value can end it."""

import duckdb
import pytest

from discreet.data.coding import Coding
from discreet.engines import sql

NAMES = ["a", 'a"b', "c'd", "x; DROP TABLE t; --", "f\ng", "%s", "日本", "\\", "a.b", "SELECT"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_and_a_value_come_back_as_they_were(name):
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE t ({sql.quoted(name)} VARCHAR)")
        con.execute(f"INSERT INTO t VALUES ({sql.text_literal(name)})")
        found = con.execute(f"SELECT {sql.quoted(name)} FROM t")
        assert [column[0] for column in found.description or ()] == [name]
        assert found.fetchall() == [(name,)]


@pytest.mark.parametrize("limit", [12, 10**6])
def test_levels_come_back_from_the_words(limit):
    coding = Coding.of_sizes([3, 4, 5], limit)
    codes = ["2", "3", "1"]
    words = sql.word_expressions(coding, codes)
    assert len(words) == coding.n_words
    named = ", ".join(f"{word} AS w{i}" for i, word in enumerate(words))
    levels = ", ".join(sql.level_expressions(coding, "w"))
    with duckdb.connect() as con:
        assert con.execute(f"SELECT {levels} FROM (SELECT {named})").fetchall() == [(2, 3, 1)]


@pytest.mark.parametrize(
    ("described", "can"),
    [
        ("INTEGER", True),
        ("HUGEINT", True),
        ("DECIMAL(38,0)", True),
        ("FLOAT", True),
        ("VARCHAR", True),
        ("ENUM('a', 'b')", True),
        ("BOOLEAN", True),
        ("DATE", True),
        ("TIMESTAMP WITH TIME ZONE", True),
        ("UUID", True),
        ('"NULL"', True),
        ("BLOB", False),
        ("INTEGER[]", False),
        ("STRUCT(a INTEGER)", False),
        ("MAP(INTEGER, INTEGER)", False),
        ("INTERVAL", False),
    ],
)
def test_which_types_can_be_keys(described, can):
    assert sql.can_be_key(sql.base_type(described)) is can
