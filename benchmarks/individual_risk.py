"""Frequencies and the individual risk of every record, from CSV to a file, beside sdcMicro.

By name also what the risk of a cell costs, beside SciPy's own function and beside counting it, all
of them in this process.
"""

from collections.abc import Callable, Sequence
from functools import partial

import duckdb
import numpy as np
from scipy.special import hyp2f1

from benchmarks.assess import LARGEST_CSV, UNIQUES, make_file
from benchmarks.comparing import Comparison, NotRun
from benchmarks.contestants import our_command
from benchmarks.data import KEYS, census_path
from benchmarks.medians import median_cpu
from discreet.numerics.arrays import FloatArray
from discreet.survey.models.benedetti_franconi import individual_risk, match_variance

CELLS = 2_000_000
ROWS = 1_000_000
SDC_MICRO = NotRun(
    name="sdcMicro freqCalc and indivRisk (R), 1 M × 10",
    why="needs R; CPU seconds of another machine and file",
    seconds=7.0,
)


def comparisons(sizes: Sequence[int]) -> list[Comparison]:
    """The largest of the sizes, from CSV."""
    rows = max((size for size in sizes if size <= LARGEST_CSV), default=ROWS)
    path = census_path(rows, "csv")
    return [
        Comparison(
            title=f"individual risk written, {rows:,} records × 10 keys in csv",
            contestants=[
                our_command(
                    "discreet assess --headline benedetti_franconi --risks",
                    *("assess", str(path), "--keys", ",".join(KEYS), "--weight", "weight"),
                    *("--headline", "benedetti_franconi", "--json"),
                    *("--risks", str(path.with_suffix(".risks.csv"))),
                    answer=UNIQUES,
                    limit=600.0,
                    note="also k, what each key and pair of keys adds, suggestions",
                )
            ],
            not_run=[SDC_MICRO],
            prepare=partial(make_file, rows, "csv"),
        )
    ]


def run(scale: float) -> None:
    """Prints nanoseconds a cell for several kinds of file, with ratios to SciPy and a group-by."""
    n = max(1, round(CELLS * scale))
    rng = np.random.default_rng(1)
    p = 10 ** rng.uniform(-4, 0, n)
    files = {
        "all sample uniques": np.ones(n),
        "mostly sample uniques": np.minimum(rng.geometric(0.7, n), 50).astype(float),
        "counts of 1 to 50": rng.integers(1, 51, n).astype(float),
        "fractional counts": rng.uniform(1, 51, n),
    }
    counting = group_by_seconds(n)
    print(f"individual risk of {n:,} cells, p from 1e-4 to 1, one core")
    for name, f in files.items():
        ours = middle_seconds(individual_risk, f, p)
        print(f"  {name}: {ours / n * 1e9:.0f} ns a cell, {ours / counting:.2f} × the group-by")
    compare_with_scipy(files["mostly sample uniques"], p)
    variance = middle_seconds(match_variance, files["mostly sample uniques"], p)
    print(f"  variance of 1/F, mostly sample uniques: {variance / n * 1e9:.0f} ns a cell")


def compare_with_scipy(f: FloatArray, p: FloatArray) -> None:
    """Time and agreement of (p^f / f) ₂F₁(f, f; f+1; q) and (p / f) ₂F₁(1, 1; f+1; q) by SciPy."""
    f, p = f[:200_000], p[:200_000]
    exact = individual_risk(f, p)
    ours = middle_seconds(individual_risk, f, p)
    forms: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
        "as printed": lambda f, p: p**f / f * hyp2f1(f, f, f + 1, 1 - p),
        "contiguous": lambda f, p: p / f * hyp2f1(1, 1, f + 1, 1 - p),
    }
    for name, form in forms.items():
        theirs = middle_seconds(form, f, p)
        off = np.mean(~(np.abs(form(f, p) / exact - 1) < 1e-9))
        print(
            f"  SciPy hyp2f1, {name}: {theirs / ours:.1f} × our time, {off:.2%} of cells off by "
            "more than 1e-9"
        )


def middle_seconds(function: Callable[..., object], *arguments: object) -> float:
    """CPU seconds of a function."""
    return median_cpu(lambda: function(*arguments))[0]


def group_by_seconds(n: int) -> float:
    """How long one thread of DuckDB takes to count n records into about n/2 cells by one key."""
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(
            f"create table records as select hash(range) % {max(1, n // 2)} as cell from range({n})"
        )
        query = "create or replace table cells as select cell, count(*) from records group by cell"
        return middle_seconds(connection.execute, query)


if __name__ == "__main__":
    run(1.0)
