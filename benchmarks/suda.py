"""The search for special uniques, from a file to the scores, beside the package suda of PyPI.

By name also what it costs by the shape of the file, and beside plain counting.
"""

import math
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np

from benchmarks.comparing import Comparison
from benchmarks.contestants import as_process, our_command
from benchmarks.medians import median_cpu
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.survey.suda.scores import special_uniques

SIZES = (2, 2, 3, 5, 6, 7, 8, 10, 20, 90)
MORE_SIZES = (2, 2, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 10, 12, 20, 90)
ROWS, MAX_SIZE = 5_000, 3
FOLDER = Path("bench-data")


def comparisons(_: Sequence[int]) -> list[Comparison]:
    """The scores of one file, and our whole command on it."""
    path, names = str(FOLDER / f"suda-{ROWS}.csv"), [f"key{key}" for key in range(len(SIZES))]
    return [
        Comparison(
            title=f"SUDA, {ROWS:,} records × {len(SIZES)} keys, MSUs of at most {MAX_SIZE}",
            contestants=[
                as_process("discreet, the scores", "discreet_suda", path, str(MAX_SIZE)),
                as_process(
                    "suda of PyPI", "suda_of_pypi", path, str(MAX_SIZE), rivals=True, rival=True
                ),
                our_command(
                    "discreet assess --suda",
                    *("assess", path, "--keys", ",".join(names), "--suda", str(MAX_SIZE)),
                    *("--population", str(50 * ROWS), "--json"),
                    note="all of an assessment",
                ),
            ],
            prepare=partial(_write, path, names),
        )
    ]


def _write(path: str, names: list[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    rows = survey(ROWS, SIZES)
    np.savetxt(path, rows, fmt="%d", delimiter=",", header=",".join(names), comments="")


def run(scale: float) -> None:
    """Prints seconds for files of several shapes, then how many times longer others take."""
    special_uniques(survey(100, SIZES))
    for rows, sizes, max_size in (
        (100_000, SIZES, 10),
        (1_000_000, SIZES, 10),
        (100_000, MORE_SIZES, 3),
        (100_000, MORE_SIZES, 4),
    ):
        levels = survey(max(1, round(rows * scale)), sizes)
        seconds, found = median_cpu(partial(special_uniques, levels, max_size=max_size))
        print(
            f"{len(levels):,} rows × {len(sizes)} keys, MSUs of at most {max_size}: {seconds:.2f} s"
            f", {len(found.rows):,} sample uniques, {int(found.n_msus.sum()):,} MSUs",
            flush=True,
        )
    compare(survey(max(1, round(5_000 * scale)), SIZES), 3)


def compare(levels: IntArray, max_size: int) -> None:
    """Others on the same small file, and whether their scores are the same."""
    seconds, found = median_cpu(partial(special_uniques, levels, max_size=max_size))
    scores = found.scores()
    print(f"{len(levels):,} rows × {levels.shape[1]} keys, MSUs of at most {max_size}")
    took, plain = median_cpu(lambda: brute_force_scores(levels, max_size))
    report("plain counting in Python", took, seconds, plain, scores)


def report(name: str, theirs: float, ours: float, got: FloatArray, scores: FloatArray) -> None:
    """One line: how many times our time, and how many records have another score."""
    off = int(np.count_nonzero(~np.isclose(got, scores)))
    print(f"  {name}: {theirs / ours:.0f} × our time, {off:,} records with another score")


def brute_force_scores(levels: IntArray, max_size: int) -> FloatArray:
    """Count every set of keys with a dictionary; keep what holds no smaller unique set."""
    records = [tuple(row) for row in levels.tolist()]
    n_keys = levels.shape[1]
    found: list[list[frozenset[int]]] = [[] for _ in records]
    scores = np.zeros(len(records))
    for size in range(1, max_size + 1):
        weight = math.prod(n_keys - i for i in range(size, min(max_size, n_keys - 1) + 1))
        for keys in combinations(range(n_keys), size):
            values = [tuple(record[key] for key in keys) for record in records]
            counts = Counter(values)
            for row, value in enumerate(values):
                if counts[value] == 1 and not any(msu <= set(keys) for msu in found[row]):
                    found[row].append(frozenset(keys))
                    scores[row] += weight
    return scores


def survey(rows: int, sizes: tuple[int, ...]) -> IntArray:
    """Records whose keys lean on a hidden class, so that they go together as in a real file."""
    rng = np.random.default_rng(7)
    hidden = rng.integers(0, 12, rows)
    columns = []
    for size in sizes:
        weights = 1 / np.arange(1, size + 1)
        own = rng.choice(size, size=rows, p=weights / weights.sum())
        typical = rng.integers(0, size, 12)[hidden]
        columns.append(np.where(rng.random(rows) < 0.4, typical, own))
    return np.stack(columns, axis=1).astype(np.int64)


if __name__ == "__main__":
    run(1.0)
