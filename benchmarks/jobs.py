"""The contestants' jobs: `python -m benchmarks.jobs JOB ARGUMENT …`.

A job either prints its answer (it is timed as a process) or tells as JSON what it took in its
process, by `timed`. Imports stand within the jobs: some run where other packages are installed.
"""

import importlib
import json
import sys
import tempfile
import time
from collections.abc import Callable
from statistics import median_low
from typing import Any

KEYS = [
    "relationship",
    "sex",
    "age",
    "marital_status",
    "birthplace",
    "household_type",
    "district",
    "education",
    "occupation",
    "industry",
]
RUNS = 3
LONG = 20.0  # seconds beyond which a first run counts, and is the only one


def timed(work: Callable[[], Any], *, warm_up: Callable[[], Any] | None = None) -> None:
    """Print the median of three runs after one that does not count, or the one that took long.

    With a `warm_up` of its own, that is what does not count.
    """
    took = []
    if warm_up is not None:
        warm_up()
    for run in range(RUNS + (warm_up is None)):
        wall, cpu = time.perf_counter(), time.process_time()
        answer = work()
        one = (time.process_time() - cpu, time.perf_counter() - wall, answer)
        if run or one[1] > LONG or warm_up is not None:
            took.append(one)
        if one[1] > LONG:
            break
    cpu, wall, answer = median_low(took)
    print(json.dumps({"wall": wall, "cpu": cpu, "answer": answer, "runs": len(took)}))


def make_census_file(rows: str, kind: str) -> None:
    """The file the others work on, made in a process of its own to keep the parent small."""
    from benchmarks.data import census_file

    print(census_file(int(rows), kind))


def duckdb_raw(path: str, memory: str, kind: str = "weighted") -> None:
    """The limit: a ten-column group-by, and its join back to every record into Parquet; of weights
    too, where it is `weighted`."""
    import duckdb

    source = f"read_csv('{path}')" if path.endswith(".csv") else f"read_parquet('{path}')"
    columns = ", ".join(KEYS)
    with tempfile.TemporaryDirectory() as folder:
        settings: Any = {"memory_limit": memory, "temp_directory": f"{folder}/spill"}
        with duckdb.connect(config=settings) as con:
            total, shown = "", ""
            if kind == "weighted":
                total, shown = ", sum(weight) AS weight_total", ", weight_total"
            con.execute(
                f"CREATE TABLE cells AS SELECT {columns}, count(*) AS sample_count{total} "
                f"FROM {source} GROUP BY ALL"
            )
            con.execute(
                f"COPY (SELECT sample_count{shown}, 1.0 / sample_count AS risk "
                f"FROM (SELECT {columns} FROM {source}) JOIN cells USING ({columns})) "
                f"TO '{folder}/risks.parquet'"
            )
            found = con.execute("SELECT count(*) FROM cells WHERE sample_count = 1").fetchone()
    assert found is not None
    print(found[0])


def _frame(path: str, kind: str) -> Any:
    """The keys as pandas reads them (`text`), or as integer codes, as pandas is quickest with."""
    import pandas as pd

    frame = pd.read_parquet(path, columns=KEYS)
    if kind == "codes":
        for name in KEYS:
            if name != "age":
                frame[name] = pd.factorize(frame[name])[0]
    return frame


def pandas_group_by(path: str, kind: str) -> None:
    """pandas' group-by of a frame: the counts of the cells."""
    frame = _frame(path, kind)
    timed(lambda: int((frame.groupby(KEYS, sort=False, dropna=False).size() == 1).sum()))


def duckdb_on_frame(path: str, kind: str) -> None:
    """DuckDB's group-by of the same frame."""
    import duckdb

    frame = _frame(path, kind)
    con = duckdb.connect()
    con.register("frame", frame)
    query = (
        "SELECT count(*) FROM (SELECT count(*) AS n FROM frame "
        f"GROUP BY {', '.join(KEYS)}) WHERE n = 1"
    )
    timed(lambda: con.execute(query).fetchall()[0][0])


def spark_raw(path: str, master: str) -> None:
    """The same as SQL of Spark."""
    import os

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    columns = ", ".join(KEYS)
    session = (
        SparkSession.builder.master(master)
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    with tempfile.TemporaryDirectory() as folder:
        session.read.parquet(path).createOrReplaceTempView("records")
        cells = session.sql(
            f"SELECT {columns}, count(*) AS sample_count, sum(weight) AS weight_total "
            f"FROM records GROUP BY {columns}"
        )
        cells.write.parquet(f"{folder}/cells")
        session.read.parquet(f"{folder}/cells").createOrReplaceTempView("cells")
        on = " AND ".join(f"r.{key} <=> c.{key}" for key in KEYS)
        session.sql(
            "SELECT /*+ MERGE(c) */ sample_count, weight_total, 1.0 / sample_count AS risk "
            f"FROM records r JOIN cells c ON {on}"
        ).write.parquet(f"{folder}/risks")
        found = session.sql("SELECT count(*) FROM cells WHERE sample_count = 1").collect()[0][0]
    print(found)


def discreet_cells(path: str, kind: str) -> None:
    """Only what a group-by gives: the cells and their size indices, from the same frame."""
    from discreet.data.missing import missing_policy
    from discreet.data.records import open_records
    from discreet.engines.contract import Request
    from discreet.engines.duckdb import DuckDBEngine

    frame = _frame(path, kind)

    def work() -> int:
        request = Request(
            records=open_records(frame), keys=tuple(KEYS), missing=missing_policy("category")
        )
        with DuckDBEngine().count(request) as cells:
            return cells.cells.size_indices().sample_uniques

    timed(work)


def discreet_assess_frame(path: str, kind: str) -> None:
    """All of `discreet.assess` on the same frame, as it is by default."""
    import discreet

    frame = _frame(path, kind)
    timed(lambda: discreet.assess(frame, KEYS, population=50e6).sample_uniques)


def pycanon_k(path: str, kind: str) -> None:
    """pycanon's k-anonymity: the smallest cell."""
    from pycanon import anonymity

    frame = _frame(path, kind)
    timed(lambda: int(anonymity.k_anonymity(frame, KEYS)), warm_up=lambda: None)


def pycanon_sensitive(path: str, value: str) -> None:
    """What `discreet assess --sensitive` tells of the worst cell, each figure by pycanon."""
    import pandas as pd
    from pycanon import anonymity

    frame = pd.read_csv(path)
    keys = [name for name in frame.columns if name != value]
    asked = (frame, keys, [value])
    found = {
        "k": int(anonymity.k_anonymity(frame, keys)),
        "l": int(anonymity.l_diversity(*asked)),
        "entropy l": float(anonymity.entropy_l_diversity(*asked)),
        "(c, l)": [float(number) for number in anonymity.recursive_c_l_diversity(*asked)],
        "(alpha, k)": [float(number) for number in anonymity.alpha_k_anonymity(*asked)],
        "t": float(anonymity.t_closeness(*asked)),
    }
    print(json.dumps(found))


def suda_of_pypi(path: str, max_size: str) -> None:
    """The package suda on a file of level codes; how many records have a score."""
    import pandas as pd
    from suda import suda

    frame = pd.read_csv(path)
    found = suda(frame, max_msu=int(max_size))
    print(int((found["suda"] > 0).sum()))


def discreet_suda(path: str, max_size: str) -> None:
    """The same scores by the library: the file read, the search, records counted."""
    import pandas as pd

    from discreet.survey.suda.scores import special_uniques

    found = special_uniques(pd.read_csv(path).to_numpy(), max_size=int(max_size))
    print(int((found.scores() > 0).sum()))


def count_system(name: str) -> None:
    """The number of tables of a system, printed: imports and all, timed as a process."""
    from benchmarks.systems import system_named
    from discreet.fiber.sums.counting import count_exactly

    print(count_exactly(system_named(name)))


def count_count_tables(name: str) -> None:
    """The number of count tables with the same n, S1 and S2, by the way that `counts` takes."""
    from benchmarks.counts import EXAMPLES
    from discreet.count_tables.rebuilding import hidden_counts
    from discreet.count_tables.statistics import CountStatistics

    print(hidden_counts(CountStatistics.of_counts(EXAMPLES[name].table)).count().value)


def count_system_warm(name: str) -> None:
    """The same within a process."""
    from benchmarks.systems import system_named
    from discreet.fiber.sums.counting import count_exactly

    system = system_named(name)
    timed(lambda: str(count_exactly(system)))


def _sparse_counts(shape: str) -> Any:
    from benchmarks.suppression import sparse_counts

    return sparse_counts(tuple(int(n) for n in shape.split("x")))


def suppress_table(shape: str, guarantee: str, seconds: str = "60") -> None:
    """Our pattern of a sparse table; how many figures it hides and what they add up to."""
    from discreet.data.table import Table
    from discreet.masks.suppression import suppress

    counts = _sparse_counts(shape)

    def work() -> str:
        table = Table.of_dense(counts)
        masked: Any = suppress(table, guarantee=guarantee, seconds=float(seconds))
        hidden = sum(int((~part.shown).sum()) for part in masked.published)
        return f"hides {hidden:,}"

    timed(work, warm_up=lambda: suppress(Table.of_dense(counts[:4, :4]), guarantee=guarantee))


def gauss_table(shape: str) -> None:
    """The pattern of the same table by Gauss elimination in fractions."""
    oracle: Any = importlib.import_module("tests.oracles.gauss_suppression")
    counts = _sparse_counts(shape)
    timed(lambda: f"hides {int(oracle.gauss_pattern(counts, 2).sum()):,}", warm_up=lambda: None)


def loglinear_two_way() -> None:
    """All two-way terms of 10,000 records × 6 keys, fitted by iteration."""
    from benchmarks.loglinear import counted, made_up
    from discreet.survey.models.loglinear.fitting import all_of_order, fit_by_iteration

    cells, _, _ = counted(*made_up(1.0), 6)
    timed(lambda: f"{fit_by_iteration(cells, all_of_order(6, 2)).sweeps} rounds")


def make_zipf_file(rows: str, levels: str) -> None:
    """The file of `benchmarks.protect`, made in a process of its own."""
    from benchmarks.protect import make_zipf

    make_zipf(int(rows), int(levels))


def _first_keys(path: str, keys: str) -> Any:
    """The first so many keys of a file, those of text as integer codes."""
    import pandas as pd
    import pyarrow.parquet as pq

    names = [name for name in pq.read_schema(path).names if name != "weight"][: int(keys)]
    frame = pd.read_parquet(path, columns=names)
    for name in names:
        if frame[name].dtype.kind not in "iu":
            frame[name] = pd.factorize(frame[name])[0]
    return frame


def suppress_values(path: str, keys: str, guarantee: str) -> None:
    """The cells of a frame, and which values to take out; none is written."""
    from benchmarks.protect import K
    from discreet.data.missing import missing_policy
    from discreet.data.records import open_records
    from discreet.engines.contract import Request
    from discreet.engines.duckdb import DuckDBEngine
    from discreet.masks.records.suppress import Suppress
    from discreet.protection.applying import Source
    from discreet.protection.counted import suppressed

    frame = _first_keys(path, keys)

    def work() -> str:
        request = Request(
            records=open_records(frame),
            keys=tuple(frame.columns),
            missing=missing_policy("category"),
        )
        with DuckDBEngine().count(request) as store:
            counted = Source.of_store(store).counted
            found = suppressed(counted, Suppress(k=K, guarantee=guarantee)).found
        values, alone = found.values(len(frame.columns)).sum(), (counted.n == 1).sum() / len(frame)
        return f"{values:,} values; {alone:.1%} of records unique"

    timed(work)


def duckdb_keys(path: str, keys: str) -> None:
    """The limit: DuckDB's group-by of all keys of the frame."""
    import duckdb

    frame = _first_keys(path, keys)
    con = duckdb.connect()
    con.register("frame", frame)
    query = f"SELECT count(*) FROM (SELECT count(*) FROM frame GROUP BY {', '.join(frame)})"
    timed(lambda: con.execute(query).fetchall()[0][0])


def pandas_keys(path: str, keys: str) -> None:
    """The same by pandas."""
    frame = _first_keys(path, keys)
    timed(lambda: len(frame.groupby(list(frame.columns), sort=False).size()))


def protect_frame(path: str, keys: str) -> None:
    """All of a protection that recodes nothing."""
    import discreet
    from benchmarks.protect import K

    frame = _first_keys(path, keys)
    asked: Any = {"min_k": K, "search": False, "frontier": False}
    timed(lambda: _taken_out(discreet.protect(frame, list(frame.columns), **asked)))


def protect_shared(folder: str, name: str, guarantee: str) -> None:
    """The same of a file on which R sdcMicro was measured."""
    import numpy as np
    import pandas as pd

    import discreet
    from benchmarks.protect import K

    if name == "eusilc":
        frame = pd.read_csv(f"{folder}/eusilc_sample_keys.csv")
        keys = ["db040", "hsize", "rb090", "age", "pb220a", "pl030"]
    else:
        whole = pd.read_csv(f"{folder}/arx_adult.csv", sep=";")
        rows = sorted(np.random.default_rng(1).choice(30_162, 10_000, replace=False))
        frame = whole.iloc[rows].reset_index(drop=True)
        six = "age native-country education occupation workclass marital-status"
        keys = six.split() if name == "adult6" else list(frame.columns)
    asked: Any = {"min_k": K, "guarantee": guarantee, "search": False, "frontier": False}
    timed(lambda: _taken_out(discreet.protect(frame, keys, **asked)))


def _taken_out(found: Any) -> str:
    return f"{found.loss.suppressed_values.overall.value:,} values"


def recode_adult(folder: str, k: str, most: str) -> None:
    """The best recoding of Adult by its trees, whole records suppressed up to a share."""
    from pathlib import Path

    import pandas as pd

    import discreet
    from discreet.data.tree_file import read_hierarchy

    frame = pd.read_csv(f"{folder}/arx_adult.csv", sep=";")
    parted = discreet.CsvOptions(delimiter=";")
    trees = {
        name: read_hierarchy(Path(folder) / "arx_adult_trees" / f"{name}.csv", parted)
        for name in frame.columns
    }
    asked: Any = {"min_k": int(k), "trees": trees, "suppress": "records"}
    asked |= {"most_records": float(most), "frontier": False, "closest": True}

    def work() -> str:
        found = discreet.protect(frame, list(frame.columns), **asked)
        searched = found.searched
        assert searched is not None
        known = "proved" if searched.proved else f"gap {searched.gap:.4f}"
        return f"loss {searched.loss:.7f}, {known}, {searched.n_looked_at:,} counted"

    timed(work)


def main() -> None:
    """Run the job named first on the command line with the rest as its arguments."""
    job: Callable[..., None] = globals()[sys.argv[1]]
    job(*sys.argv[2:])


if __name__ == "__main__":
    main()
