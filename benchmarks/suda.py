"""What the search for special uniques costs, beside plain counting and the package suda of PyPI."""

import importlib
import math
from collections import Counter
from itertools import combinations
from time import perf_counter
from types import ModuleType

import numpy as np

from discreet.numerics.arrays import FloatArray, IntArray
from discreet.survey.suda.scores import SpecialUniques, special_uniques

SIZES = (2, 2, 3, 5, 6, 7, 8, 10, 20, 90)
MORE_SIZES = (2, 2, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 10, 12, 20, 90)


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
        seconds, found = timed(levels, max_size)
        print(
            f"{len(levels):,} rows × {len(sizes)} keys, MSUs of at most {max_size}: {seconds:.2f} s"
            f", {len(found.rows):,} sample uniques, {int(found.n_msus.sum()):,} MSUs",
            flush=True,
        )
    compare(survey(max(1, round(5_000 * scale)), SIZES), 3)


def compare(levels: IntArray, max_size: int) -> None:
    """Others on the same small file, and whether their scores are the same."""
    seconds, found = timed(levels, max_size)
    scores = found.scores()
    print(f"{len(levels):,} rows × {levels.shape[1]} keys, MSUs of at most {max_size}")
    start = perf_counter()
    plain = brute_force_scores(levels, max_size)
    report("plain counting in Python", perf_counter() - start, seconds, plain, scores)
    package = installed_suda()
    if package is None:
        print("  PyPI suda: not installed")
        return
    import pandas as pd

    frame = pd.DataFrame(levels, columns=[f"key{key}" for key in range(levels.shape[1])])
    start = perf_counter()
    theirs = package.suda(frame, max_msu=max_size)["suda"].to_numpy(dtype=np.float64)
    theirs /= math.factorial(max(levels.shape[1] - max_size - 1, 0))  # theirs are (K - k)!
    report("PyPI suda, on our scale", perf_counter() - start, seconds, theirs, scores)


def report(name: str, theirs: float, ours: float, got: FloatArray, scores: FloatArray) -> None:
    """One line: how many times our time, and how many records have another score."""
    off = int(np.count_nonzero(~np.isclose(got, scores)))
    print(f"  {name}: {theirs / ours:.0f} × our time, {off:,} records with another score")


def timed(levels: IntArray, max_size: int) -> tuple[float, SpecialUniques]:
    """The shorter of two runs, and what was found."""
    seconds = float("inf")
    for _ in range(2):
        start = perf_counter()
        found = special_uniques(levels, max_size=max_size)
        seconds = min(seconds, perf_counter() - start)
    return seconds, found


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


def installed_suda() -> ModuleType | None:
    """The package suda, if it is there."""
    try:
        return importlib.import_module("suda")
    except ImportError:
        return None


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
