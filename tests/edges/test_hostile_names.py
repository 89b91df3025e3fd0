"""Names and values made to break SQL, HTML, globbing or a terminal are names and values."""

import csv
import json
from functools import partial

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pyreadstat
import pytest

from discreet.flows import assess as module

assess = partial(module.assess, models="sample_frequency")
HOSTILE = [
    'double " quote', "single ' quote", "semi;colon", "'; DROP TABLE cells; --", "per%cent %s %(x)s",
    "new\nline", "tab\tulator", "star*", "what?", "[brackets]", "{braces}", "back\\slash", "a.b",
    "SELECT", "日本語", "😀", "e\u0301", "é", "$dollar$", "<b>bold</b>", "a,b", " space ", "0", "c0",
    "k0", "w0", "r0", "row", "sample_count", "weight", "staged", "cells", "rowid", "NULL", "x" * 300,
]  # fmt: skip


@pytest.fixture(params=["arrow", "pandas", "parquet", "csv", "feather"])
def source(request, tmp_path):
    """A table whose columns and values are all hostile: each name once, each value twice or once."""
    columns = {name: [*HOSTILE, *HOSTILE[:5]] for name in HOSTILE}
    table = pa.table(columns)
    match request.param:
        case "arrow":
            return table
        case "pandas":
            return pd.DataFrame(columns)
        case "parquet":
            pq.write_table(table, tmp_path / "it's [1]; x.parquet")
            return tmp_path / "it's [1]; x.parquet"
        case "feather":
            pa.feather.write_feather(table, tmp_path / "日本.feather")
            return tmp_path / "日本.feather"
        case _:
            path = tmp_path / "it's *; x.csv"
            with path.open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(columns)
                writer.writerows(zip(*columns.values(), strict=True))
            return path


def test_columns_and_values_are_counted_as_they_are(source, tmp_path):
    risks = tmp_path / "r'is\"ks; [2].parquet"
    found = assess(source, HOSTILE, risks=risks, nesting=False)
    n = len(HOSTILE)
    assert found.settings.keys == tuple(HOSTILE)
    assert found.size_indices.to_json() == {"1": n - 5, "2": 5}
    assert found.summary.n_table_cells == n**n
    for key in found.keys:
        assert set(key.labels) == set(HOSTILE)
    counts = pq.read_table(risks).column("sample_count").to_pylist()
    assert counts == [2] * 5 + [1] * (n - 5) + [2] * 5


def test_as_weight_on_the_command_line(discreet, tmp_path):
    for place, name in enumerate(HOSTILE):
        if name.strip() != name:
            continue
        table = pa.table({name: [1.5, 2.5], "key": [1, 2]})
        pq.write_table(table, tmp_path / f"{place}.parquet")
    name = "'; DROP TABLE cells; --"
    path = tmp_path / f"{HOSTILE.index(name)}.parquet"
    run = discreet(
        "assess", path, "--keys", "key", "--weight", name, "--models", "sample_frequency", "--json"
    )
    assert json.loads(run.out)["weight_total"] == 4.0


def test_in_the_labels_of_a_statistical_package(tmp_path):
    labels: dict[int | float, str] = {
        i: name[:100].replace("\n", " ") for i, name in enumerate(HOSTILE)
    }
    frame = pd.DataFrame({"a": list(range(len(HOSTILE))) * 2})
    pyreadstat.write_sav(frame, tmp_path / "s.sav", variable_value_labels={"a": labels})
    found = assess(tmp_path / "s.sav", ["a"])
    assert [label.strip() for label in found.keys[0].labels] == [
        label.strip() for label in labels.values()
    ]


def test_names_that_differ_only_in_case(tmp_path):
    columns = {"a": [1, 2, 2], "A": [1, 1, 2]}
    pd.DataFrame(columns).to_csv(tmp_path / "s.csv", index=False)
    for given in (pa.table(columns), pd.DataFrame(columns), tmp_path / "s.csv"):
        found = assess(given, ["A", "a"])
        assert found.size_indices.to_json() == {"1": 3}
        assert assess(given, ["a"]).size_indices.to_json() == {"1": 1, "2": 1}


def test_more_keys_than_there_are_bits(tmp_path):
    n = 70
    frame = pd.DataFrame([[i % 2 if j < i else 0 for j in range(n)] for i in range(8)])
    frame.columns = [f"k{j}" for j in range(n)]
    frame.to_csv(tmp_path / "s.csv", index=False)
    rows = [tuple(row) for row in frame.itertuples(index=False)]
    found = assess(tmp_path / "s.csv", [f"k{j}" for j in range(n)])
    alone = sum(rows.count(row) == 1 for row in rows)
    assert found.sample_uniques == alone
    levels = [len(set(column)) for column in zip(*rows, strict=True)]
    product = 1
    for level in levels:
        product *= level
    assert found.summary.n_table_cells == product
