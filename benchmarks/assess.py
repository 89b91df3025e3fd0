"""`discreet assess` against the raw group-by and join in DuckDB, from Parquet and CSV, by size."""

import math
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from benchmarks.comparing import Comparison, Result
from benchmarks.contestants import JOBS, as_process, of_json, our_command
from benchmarks.data import KEYS, census_path
from benchmarks.measuring import ROOT, Cost

SIZES = (10_000, 100_000, 1_000_000)
MEMORY = "4GB"
UNIQUES = of_json("sample_uniques")
LARGEST_CSV = 10_000_000
MOST_WEIGHTED = 20_000_000  # records whose weights are no more than there are people


def comparisons(sizes: Sequence[int]) -> list[Comparison]:
    """Parquet and CSV at each size."""
    return [
        _comparison(rows, kind)
        for rows in sizes
        for kind in ("parquet", "csv")
        if kind == "parquet" or rows <= LARGEST_CSV
    ]


def make_file(rows: int, kind: str) -> None:
    """The file of this size, made by a process of its own."""
    command = [sys.executable, *JOBS, "make_census_file", str(rows), kind]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)


def _comparison(rows: int, kind: str) -> Comparison:
    path = str(census_path(rows, kind))
    weighted = rows <= MOST_WEIGHTED
    known = ("--weight", "weight") if weighted else ("--population", str(20 * rows))
    asked: tuple[str, ...] = ("assess", path, "--keys", ",".join(KEYS), *known, "--json")
    asked += ("--memory", MEMORY)
    risks = str(census_path(rows, kind).with_suffix(".risks.parquet"))
    limit = 600.0 if rows <= 1_000_000 else 7200.0
    how = {"answer": UNIQUES, "limit": limit}
    written = (*asked, "--headline", "sample_frequency", "--risks", risks)
    ours = [
        our_command(
            "discreet assess, 1/f written",
            *written,
            *("--max-risk", "1"),
            note="also k and what each key and pair of keys adds",
            **how,
        ),
        our_command("discreet assess, the same and what to change", *written, **how),
        as_process(
            "DuckDB, ten-column group-by and join written",
            *("duckdb_raw", path, MEMORY, "weighted" if weighted else "counted"),
            rival=True,
            limit=limit,
        ),
    ]
    if kind == "parquet":
        ours += [
            our_command("discreet assess, with the recommended estimate", *asked, **how),
            our_command("discreet assess --all-models", *asked, "--all-models", **how),
        ]
    return Comparison(
        title=f"assess, {rows:,} records × 10 keys in {kind}",
        contestants=ours,
        runs=3 if rows <= 1_000_000 else 1,
        prepare=partial(make_file, rows, kind),
    )


def afterwards(results: Sequence[Result], sizes: Sequence[int]) -> None:
    """How CPU time grows from one size to the next: log ratio of seconds over that of records."""
    held = {result.comparison.title: result for result in results}
    print("\nGrowth of CPU time with records (1: in proportion)")
    for kind in ("parquet", "csv"):
        for less, more in pairwise(sizes):
            pair = [held.get(_comparison(rows, kind).title) for rows in (less, more)]
            if pair[0] is not None and pair[1] is not None:
                _print_growth(pair[0], pair[1], f"{kind}, {less:,} to {more:,}", more / less)


def _print_growth(first: Result, second: Result, step: str, factor: float) -> None:
    for name, before in first.outcomes.items():
        after = second.outcomes.get(name)
        if isinstance(before, Cost) and isinstance(after, Cost):
            exponent = math.log(after.cpu / before.cpu) / math.log(factor)
            print(f"  {step:<36}{name:<50}{exponent:>6.2f}", flush=True)
