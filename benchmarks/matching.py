"""What matching records with missing values costs, beside comparing all pairs and beside sorting.

The naive matcher compares every cell with every other, vectorised, key by key: about as quick as
comparing pairs gets in NumPy. Sorting the codes of the cells is the least that counting them takes.
"""

from dataclasses import dataclass

import numpy as np

from benchmarks.medians import median_cpu
from discreet.data.coding import Coding
from discreet.engines.matching import matched_cells
from discreet.numerics.arrays import FloatArray, IntArray

FIVE = (14, 91, 5, 14, 10)
TEN = (2, 2, 3, 5, 6, 7, 8, 10, 20, 90)
NAIVE_ROWS = 20_000
ROWS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """The cells of a survey, with the code of the missing level of each key."""

    levels: IntArray
    missing: IntArray
    records: IntArray
    weights: FloatArray

    @property
    def n_patterns(self) -> int:
        """How many different sets of keys are missing."""
        return len(np.unique(self.levels == self.missing, axis=0))


def run(scale: float) -> None:
    """Prints the ratio to the naive matcher, then growth with rows, missing values and keys."""
    compare(survey(max(10, round(NAIVE_ROWS * scale)), FIVE, 0.03), "5 keys, 3 % missing")
    compare(survey(max(10, round(NAIVE_ROWS * scale)), TEN, 0.03), "10 keys, 3 % missing")
    rows = max(10, round(ROWS * scale))
    print("growth with rows, 3 % missing in each key")
    for sizes in (FIVE, TEN):
        for part in (0.1, 0.3, 1.0):
            report(max(10, round(rows * part)), sizes, 0.03)
    print("growth with the share of missing values")
    for share in (0.003, 0.01, 0.03, 0.1, 0.3):
        report(rows, FIVE, share)
    print("growth with keys, 3 % missing in each key")
    for n_keys in (4, 6, 8, 10):
        report(rows, TEN[-n_keys:], 0.03)


def compare(cells: Cells, name: str) -> None:
    """One line: both times, their ratio, and whether the counts are the same."""
    ours, found = seconds(cells)
    naive, expected = median_cpu(lambda: naive_counts(cells))
    verdict = "same" if np.array_equal(found, expected) else "OTHER"
    print(
        f"{name}, {len(cells.levels):,} cells: {ours:.3f} s, all pairs {naive / ours:.0f} × that, "
        f"{verdict} counts",
        flush=True,
    )


def report(rows: int, sizes: tuple[int, ...], share: float) -> None:
    """One line for a file of one shape."""
    cells = survey(rows, sizes, share)
    n = len(cells.levels)
    ours, _ = seconds(cells)
    sorting = sort_seconds(cells)
    print(
        f"  {rows:>9,} rows × {len(sizes):>2} keys, {share:>5.1%} missing: {n:>7,} cells, "
        f"{cells.n_patterns:>4} patterns: {ours:6.2f} s, {ours / n * 1e9:6.0f} ns a cell, "
        f"{ours / sorting:5.1f} × sorting the cells",
        flush=True,
    )


def seconds(cells: Cells) -> tuple[float, FloatArray]:
    """CPU seconds of ours with weights, and the counts."""
    taken, found = median_cpu(
        lambda: matched_cells(
            cells.levels, cells.missing, cells.records, cells.weights, policy="wildcard"
        )
    )
    return taken, found.sample_count


def naive_counts(cells: Cells) -> FloatArray:
    """Records that match each cell, every cell compared with all others."""
    absent = cells.levels == cells.missing
    columns = list(zip(cells.levels.T.astype(np.int16), absent.T.copy(), strict=True))
    counts = np.empty(len(cells.levels))
    for row in range(len(counts)):
        matched = np.ones(len(counts), dtype=np.bool_)
        for level, gone in columns:
            if not gone[row]:
                matched &= (level == level[row]) | gone
        counts[row] = cells.records[matched].sum()
    return counts


def sort_seconds(cells: Cells) -> float:
    """CPU seconds that NumPy takes to sort the codes of the cells, given in random order."""
    coding = Coding.of_sizes((cells.missing + 1).tolist())
    codes = coding.encode(np.random.default_rng(2).permutation(cells.levels))[:, 0]
    return median_cpu(lambda: np.unique(codes, return_inverse=True))[0]


def survey(rows: int, sizes: tuple[int, ...], share: float) -> Cells:
    """Skewed keys that lean on a hidden class, each value missing with the same probability."""
    rng = np.random.default_rng(7)
    hidden = rng.integers(0, 12, rows)
    columns = []
    for size in sizes:
        chances = 1 / np.arange(1, size + 1)
        own = rng.choice(size, size=rows, p=chances / chances.sum())
        typical = rng.integers(0, size, 12)[hidden]
        known = np.where(rng.random(rows) < 0.4, typical, own)
        columns.append(np.where(rng.random(rows) < share, size, known))
    levels = np.stack(columns, axis=1).astype(np.int64)
    codes = Coding.of_sizes([size + 1 for size in sizes]).encode(levels)[:, 0]
    _, first, ids, records = np.unique(
        codes, return_index=True, return_inverse=True, return_counts=True
    )
    return Cells(
        levels=levels[first],
        missing=np.array(sizes, dtype=np.int64),
        records=records.astype(np.int64),
        weights=np.bincount(ids, weights=1 + rng.gamma(4, 50, rows)).astype(np.float64),
    )


if __name__ == "__main__":
    run(1.0)
