"""k-anonymity of a pandas frame in memory: ours, pandas, DuckDB, and pycanon."""

from collections.abc import Sequence
from functools import partial

from benchmarks.assess import make_file
from benchmarks.comparing import Comparison, Contestant
from benchmarks.contestants import in_process
from benchmarks.data import census_path

ROWS = 1_000_000
PYCANON_ROWS = 1_000_000


def comparisons(sizes: Sequence[int]) -> list[Comparison]:
    """The frame as pandas reads it, and as integer codes, with which pandas is quickest."""
    rows = max((size for size in sizes if size <= 10_000_000), default=ROWS)
    return [_comparison(rows, kind) for kind in ("text", "codes")]


def _comparison(rows: int, kind: str) -> Comparison:
    path = str(census_path(rows, "parquet"))
    contestants: list[Contestant] = [
        in_process("discreet, cells and size indices", "discreet_cells", path, kind),
        in_process("pandas group-by", "pandas_group_by", path, kind, rival=True),
        in_process("DuckDB group-by on the frame", "duckdb_on_frame", path, kind, rival=True),
        in_process(
            "discreet.assess(frame, keys)",
            "discreet_assess_frame",
            path,
            kind,
            note="all of the default assessment with the recommended estimate",
        ),
    ]
    if kind == "codes" and rows <= PYCANON_ROWS:
        contestants.append(
            in_process(
                "pycanon k_anonymity",
                "pycanon_k",
                path,
                kind,
                rivals=True,
                rival=True,
                note="answers k, the smallest cell, and nothing else",
            )
        )
    held = "text as read" if kind == "text" else "integer codes"
    return Comparison(
        title=f"k-anonymity of a frame, {rows:,} × 10, {held}",
        contestants=contestants,
        prepare=partial(make_file, rows, "parquet"),
    )
