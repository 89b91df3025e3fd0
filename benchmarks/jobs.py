"""The contestants: each does one job on one file and tells its time and answer as JSON."""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

KEYS = [
    "relationship",
    "sex",
    "age",
    "marital_status",
    "birthplace",
    "spouse_status",
    "own_child",
    "own_child_age",
    "related_child",
    "household_type",
]


def timed(work: Callable[[], Any]) -> None:
    """Do the work once and print what it took."""
    wall, cpu = time.perf_counter(), time.process_time()
    answer = work()
    took = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    print(json.dumps(took | {"answer": answer}))


def make_census_file(rows: str, kind: str) -> None:
    """The file the others work on, made in a process of its own to keep the parent small."""
    from benchmarks.data import census_file

    timed(lambda: str(census_file(int(rows), kind)))


def discreet_assess(path: str) -> None:
    """All of assess with the risk 1/f of every record written to Parquet, as the raw join does."""
    from discreet.engines.duckdb import DuckDBEngine
    from discreet.flows.assess import assess

    engine = DuckDBEngine()
    with tempfile.TemporaryDirectory() as folder:
        options: dict[str, Any] = {"weight": "weight", "risks": Path(folder) / "risks.parquet"}
        timed(
            lambda: (
                assess(
                    path, KEYS, models=["sample_frequency"], engine=engine, **options
                ).sample_uniques
            )
        )


def discreet_without_risks(path: str) -> None:
    """All of assess with every model, without the risk of each record."""
    from discreet.engines.duckdb import DuckDBEngine
    from discreet.flows.assess import assess

    engine = DuckDBEngine()
    timed(
        lambda: assess(path, KEYS, weight="weight", all_models=True, engine=engine).sample_uniques
    )


def duckdb_raw(path: str) -> None:
    """The limit: a ten-column group-by, and its join back to every record into Parquet."""
    import duckdb

    source = f"read_csv('{path}')" if path.endswith(".csv") else f"read_parquet('{path}')"
    columns = ", ".join(KEYS)
    with tempfile.TemporaryDirectory() as folder:

        def work() -> int:
            con = duckdb.connect()
            con.execute(
                f"CREATE TABLE cells AS SELECT {columns}, count(*) AS sample_count, "
                f"sum(weight) AS weight_total FROM {source} GROUP BY ALL"
            )
            con.execute(
                f"COPY (SELECT sample_count, weight_total, 1.0 / sample_count AS risk "
                f"FROM (SELECT {columns} FROM {source}) JOIN cells USING ({columns})) "
                f"TO '{folder}/risks.parquet'"
            )
            answer = con.execute("SELECT count(*) FROM cells WHERE sample_count = 1").fetchone()
            assert answer is not None
            return int(answer[0])

        timed(work)


def _codes(path: str) -> Any:
    """The keys as a pandas frame of integer codes, as pandas is quickest with."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(path, columns=KEYS, read_dictionary=KEYS)
    columns = {
        name: table[name].combine_chunks().indices
        if pa.types.is_dictionary(table[name].type)
        else table[name]
        for name in KEYS
    }
    return pa.table(columns).to_pandas()


def pandas_group_by(path: str) -> None:
    """pandas' group-by of integer codes in memory: the counts of the cells."""
    frame = _codes(path)
    timed(lambda: int((frame.groupby(KEYS, sort=False).size() == 1).sum()))


def discreet_from_pandas(path: str) -> None:
    """All of assess on the same frame in memory."""
    from discreet.engines.duckdb import DuckDBEngine
    from discreet.flows.assess import assess

    frame, engine = _codes(path), DuckDBEngine()
    timed(lambda: assess(frame, KEYS, engine=engine).sample_uniques)


def discreet_cells_from_pandas(path: str) -> None:
    """Only what pandas' group-by gives: the cells and their size indices, from the same frame."""
    from discreet.data.missing import missing_policy
    from discreet.data.records import open_records
    from discreet.engines.contract import Request
    from discreet.engines.duckdb import DuckDBEngine

    frame = _codes(path)

    def work() -> int:
        request = Request(
            records=open_records(frame), keys=tuple(KEYS), missing=missing_policy("category")
        )
        with DuckDBEngine().count(request) as cells:
            return cells.size_indices().sample_uniques

    timed(work)


def pycanon_k(path: str) -> None:
    """pycanon's k-anonymity: the smallest cell."""
    from pycanon import anonymity

    frame = _codes(path)
    timed(lambda: int(anonymity.k_anonymity(frame, KEYS)))


def main() -> None:
    """Run the job named first on the command line with the rest as its arguments."""
    job: Callable[..., None] = globals()[sys.argv[1]]
    job(*sys.argv[2:])


if __name__ == "__main__":
    main()
