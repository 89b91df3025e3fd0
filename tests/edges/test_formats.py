"""The same records in every form of file and frame give the same figures."""

import csv
import gzip
import io
import json
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pyreadstat
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from discreet.data.csv_dialect import CsvOptions
from discreet.flows import assess as module
from discreet.report.assess.json import assessment_json

assess = partial(module.assess, models="sample_frequency")
RNG = np.random.default_rng(11)
N = 200
FRAME = pd.DataFrame(
    {
        "REGION": RNG.choice(["north", "south", "ü-east"], N),
        "AGE": RNG.integers(0, 7, N),
        "STATUS": [(*"ab", None)[i] for i in RNG.integers(0, 3, N)],
        "W": RNG.integers(1, 40, N) / 4,
    }
)
KEYS = ["REGION", "AGE", "STATUS"]


def figures(source, **options):
    found = assessment_json(assess(source, KEYS, weight="W", **options))
    for cell in found["riskiest"]:
        del cell["rows"]  # files of a folder are read in the order of their names
    del found["findings"]["note:columns"]  # folders named by a column have it once more, or last
    return json.dumps({k: v for k, v in found.items() if k != "settings"}, sort_keys=True)


@pytest.fixture(scope="module")
def expected():
    return figures(pa.Table.from_pandas(FRAME))


def hive(folder):
    for region, part in FRAME.groupby("REGION", sort=False):
        (folder / f"REGION={region}").mkdir()
        rest = part.drop(columns="REGION")
        pq.write_table(pa.Table.from_pandas(rest), folder / f"REGION={region}" / "p.parquet")
    return folder


def parts(folder):
    for i in range(0, N, 60):
        pq.write_table(pa.Table.from_pandas(FRAME[i : i + 60]), folder / f"{i:03}.parquet")
    return folder


def text(folder, name, content, encoding="utf-8"):
    (folder / name).write_bytes(content.encode(encoding))
    return folder / name


def stat_file(folder, name, writer, **options):
    writer(FRAME.assign(STATUS=FRAME["STATUS"].fillna("")), folder / name, **options)
    return folder / name


def written(folder, name, write):
    write(folder / name)
    return folder / name


CSV = FRAME.to_csv(index=False)
SEMICOLON = FRAME.to_csv(index=False, sep=";", decimal=",")
TABLE = pa.Table.from_pandas(FRAME)
SOURCES = {
    "pandas": lambda d: FRAME,
    "pandas, other index": lambda d: FRAME.set_index(FRAME.index[::-1] + 0.5),
    "pandas, categories": lambda d: FRAME.astype({"REGION": "category", "AGE": "category"}),
    "polars": lambda d: pl.DataFrame(TABLE),
    "duckdb": lambda d: duckdb.from_arrow(TABLE),
    "csv": lambda d: text(d, "s.csv", CSV),
    "csv, windows": lambda d: text(d, "s.csv", CSV.replace("\n", "\r\n"), "utf-8-sig"),
    "csv, utf-16": lambda d: text(d, "s.csv", CSV, "utf-16"),
    "csv, quoted": lambda d: text(d, "s.csv", FRAME.to_csv(index=False, quoting=2)),
    "tab": lambda d: text(d, "s.tsv", FRAME.to_csv(index=False, sep="\t")),
    "csv, packed": lambda d: written(
        d, "s.csv.gz", lambda p: p.write_bytes(gzip.compress(CSV.encode()))
    ),
    "parquet": lambda d: written(d, "s.parquet", lambda p: pq.write_table(TABLE, p)),
    "parquet, row groups": lambda d: written(
        d, "s.parquet", lambda p: pq.write_table(TABLE, p, row_group_size=13)
    ),
    "folder": parts,
    "glob": lambda d: str(parts(d) / "*.parquet"),
    "hive": hive,
    "arrow": lambda d: written(d, "s.feather", lambda p: pa.feather.write_feather(TABLE, p)),
    "stata": lambda d: stat_file(d, "s.dta", pyreadstat.write_dta),
    "spss": lambda d: stat_file(d, "s.sav", pyreadstat.write_sav),
    "spss, packed": lambda d: stat_file(d, "s.zsav", pyreadstat.write_sav, compress=True),
    "sas": lambda d: stat_file(d, "s.xpt", pyreadstat.write_xport),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_the_same_figures(tmp_path, expected, kind):
    assert figures(SOURCES[kind](tmp_path)) == expected


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16-le"])
def test_other_encodings_and_decimal_commas(tmp_path, expected, encoding):
    path = text(tmp_path, "s.csv", SEMICOLON, encoding)
    options = CsvOptions(encoding=encoding, decimal=",")
    assert figures(path, csv=options) == expected


pieces = st.lists(st.sampled_from([*"ab01 \"',;\t|\\é日#", "\n", "\r\n", "NULL"]), max_size=3)
values = pieces.map("".join)


@settings(
    max_examples=25,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
@given(
    st.lists(values, min_size=1, max_size=3),
    st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=8),
    st.lists(values, min_size=4, max_size=4),
    st.sampled_from(",;\t|"),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_what_python_writes_as_csv_is_counted_right(
    ends, places, levels, delimiter, line_end, quoting, encoding
):
    names = [f"k{j}{end}" for j, end in enumerate(ends)]
    rows = [[levels[place] for place in row[: len(names)]] for row in places]
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter, lineterminator=line_end, quoting=quoting)
    writer.writerow(names)
    writer.writerows(rows)
    with tempfile.TemporaryDirectory() as folder:
        path = text(Path(folder), "s.csv", stream.getvalue(), encoding)
        found = assess(path, names, csv=CsvOptions(delimiter=delimiter))
    cells = Counter(tuple(value or None for value in row) for row in rows)
    sizes = Counter(cells.values())
    assert found.size_indices.to_json() == {str(size): n for size, n in sorted(sizes.items())}
    for j, key in enumerate(found.keys):
        assert set(key.values) == {cell[j] for cell in cells}
