"""Local suppression and optimal recoding: growth with records, keys and unique records, and rivals.

The raw limit is a group-by of all keys, by DuckDB and by pandas, from the same frame: whoever takes
values out has to count at least once. Files of others lie in the folder that DISCREET_DATA names,
or in ../shared/data; comparisons that need them are left out where they are not there. Figures of R
sdcMicro 5.8.1 (kAnon, equal importance) and ARX are cited: both were measured on two shared cores
and are no part of this run.
"""

import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.assess import make_file
from benchmarks.comparing import Comparison, Contestant, NotRun, compare
from benchmarks.contestants import JOBS, in_process
from benchmarks.data import FOLDER, census_path
from benchmarks.league import data_folder
from benchmarks.measuring import ROOT

K = 3
KEYS = (4, 6, 8, 10, 12)
LEVELS = (2, 3, 4, 6, 10)  # of each of six keys: from hardly any to nearly all records unique
ROWS, FEWER = 100_000, 20_000  # of files that grow in uniques, and in keys
LARGEST = 1_000_000
SDCMICRO = {"eusilc": 83, "adult6": 72, "adult9": 169}  # CPU seconds at k = 3
ARX = {  # k, most records suppressed: the loss of the best recoding, and seconds once warm
    (2, 0.0): (0.5296955, 0.335),
    (2, 0.02): (0.2093710, 2.327),
    (2, 1.0): (0.1617598, 4.373),
    (5, 0.0): (0.5731510, 0.075),
    (5, 0.02): (0.3137130, 1.581),
    (5, 1.0): (0.2204119, 5.647),
}
CITED = (
    "measured with R sdcMicro 5.8.1 on two shared cores; it lets a suppressed value match anything"
)
CITED_ARX = "measured with ARX on two shared cores, once warm"


def comparisons(sizes: Sequence[int]) -> list[Comparison]:
    """Growth with records, keys and uniques; then the files on which others were measured."""
    rows = [1_000, *(size for size in sizes if size <= LARGEST)]
    return [
        *(_by_records(size) for size in rows),
        *(_by_keys(n) for n in KEYS),
        *(_by_uniques(levels) for levels in LEVELS),
        *_shared(),
    ]


def _by_records(rows: int) -> Comparison:
    path = str(census_path(rows, "parquet"))
    return Comparison(
        title=f"values suppressed, k = {K}, {rows:,} × 10",
        contestants=[*_ways(path, 10), *([_whole(path)] if rows < LARGEST else [])],
        prepare=partial(make_file, rows, "parquet"),
    )


def run(scale: float) -> None:
    """All of a protection of the largest file, which takes a minute."""
    rows = int(LARGEST * scale)
    path = str(census_path(rows, "parquet"))
    compare(
        Comparison(
            title=f"values suppressed, k = {K}, {rows:,} × 10",
            contestants=[_whole(path)],
            prepare=partial(make_file, rows, "parquet"),
        )
    )


def _by_keys(keys: int) -> Comparison:
    return Comparison(
        title=f"values suppressed, k = {K}, {FEWER:,} × {keys}, 8 levels each",
        contestants=_ways(str(_path(FEWER, 8)), keys),
        prepare=partial(_make, FEWER, 8),
    )


def _by_uniques(levels: int) -> Comparison:
    return Comparison(
        title=f"values suppressed, k = {K}, {ROWS:,} × 6, {levels} levels each",
        contestants=_ways(str(_path(ROWS, levels)), 6),
        prepare=partial(_make, ROWS, levels),
    )


def _ways(path: str, keys: int) -> list[Contestant]:
    """Our two guarantees, cells counted and values chosen, and the group-by that is the limit."""
    asked = (path, str(keys))
    return [
        in_process("strict: cells and values", "suppress_values", *asked, "strict"),
        in_process("candidates: cells and values", "suppress_values", *asked, "candidates"),
        in_process("DuckDB group-by of all keys", "duckdb_keys", *asked, rival=True),
        in_process("pandas group-by of all keys", "pandas_keys", *asked, rival=True),
    ]


def _whole(path: str) -> Contestant:
    return in_process(
        "all of discreet.protect, no recoding",
        *("protect_frame", path, "10"),
        note="assessed before and after, its loss measured, the frame given back",
    )


def _path(rows: int, levels: int) -> Path:
    return FOLDER / f"zipf-{rows}-{levels}.parquet"


def _make(rows: int, levels: int) -> None:
    command = [sys.executable, *JOBS, "make_zipf_file", str(rows), str(levels)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)


def make_zipf(rows: int, levels: int) -> None:
    """A file of twelve keys with shares as 1/rank, that lean on a group each record is in."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = _path(rows, levels)
    if path.exists():
        return
    FOLDER.mkdir(exist_ok=True)
    rng = np.random.default_rng(23)
    shares = 1 / np.arange(1, levels + 1)
    group = rng.integers(0, 3, rows)
    columns = {
        f"key{j}": (rng.choice(levels, rows, p=shares / shares.sum()) + group * (j % 2)) % levels
        for j in range(12)
    }
    part = path.with_suffix(".part")
    pq.write_table(pa.table(columns), part)
    part.rename(path)


def _shared() -> list[Comparison]:
    """The files on which R sdcMicro and ARX were measured."""
    folder = data_folder()
    if folder is None or not (folder / "arx_adult_trees").exists():
        print("sdcMicro and ARX are left out: no files in DISCREET_DATA or ../shared/data")
        return []
    found = [_beside_sdcmicro(name, str(folder)) for name in SDCMICRO]
    return found + [_beside_arx(k, most, str(folder)) for k, most in ARX]


def _beside_sdcmicro(name: str, folder: str) -> Comparison:
    return Comparison(
        title=f"values suppressed, k = {K}, {name}",
        contestants=[
            in_process(f"discreet.protect, {one}", "protect_shared", folder, name, one)
            for one in ("strict", "candidates")
        ],
        not_run=[NotRun(name="sdcMicro kAnon", why=CITED, seconds=SDCMICRO[name])],
    )


def _beside_arx(k: int, most: float, folder: str) -> Comparison:
    loss, seconds = ARX[k, most]
    return Comparison(
        title=f"the best recoding of Adult, k = {k}, {100 * most:g} % of records suppressed",
        contestants=[
            in_process(
                "discreet.protect, whole records",
                *("recode_adult", folder, str(k), str(most)),
                note="assessed before and after; ARX searches alone",
            )
        ],
        not_run=[
            NotRun(name=f"ARX, loss {loss:.7f}", why=CITED_ARX, seconds=seconds),
        ],
    )
