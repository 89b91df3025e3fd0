"""What the individual risk of a cell costs, beside SciPy's own function and beside counting it."""

from collections.abc import Callable
from time import perf_counter

import duckdb
import numpy as np
from scipy.special import hyp2f1

from discreet.numerics.arrays import FloatArray
from discreet.survey.models.benedetti_franconi import individual_risk, match_variance

CELLS = 2_000_000


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
        ours = best_seconds(individual_risk, f, p)
        print(f"  {name}: {ours / n * 1e9:.0f} ns a cell, {ours / counting:.2f} × the group-by")
    compare_with_scipy(files["mostly sample uniques"], p)
    variance = best_seconds(match_variance, files["mostly sample uniques"], p)
    print(f"  variance of 1/F, mostly sample uniques: {variance / n * 1e9:.0f} ns a cell")


def compare_with_scipy(f: FloatArray, p: FloatArray) -> None:
    """Time and agreement of (p^f / f) ₂F₁(f, f; f+1; q) and (p / f) ₂F₁(1, 1; f+1; q) by SciPy."""
    f, p = f[:200_000], p[:200_000]
    exact = individual_risk(f, p)
    ours = best_seconds(individual_risk, f, p)
    forms: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
        "as printed": lambda f, p: p**f / f * hyp2f1(f, f, f + 1, 1 - p),
        "contiguous": lambda f, p: p / f * hyp2f1(1, 1, f + 1, 1 - p),
    }
    for name, form in forms.items():
        theirs = best_seconds(form, f, p)
        off = np.mean(~(np.abs(form(f, p) / exact - 1) < 1e-9))
        print(
            f"  SciPy hyp2f1, {name}: {theirs / ours:.1f} × our time, {off:.2%} of cells off by "
            "more than 1e-9"
        )


def best_seconds(function: Callable[..., object], *arguments: object) -> float:
    """The shortest of three runs."""
    return min(_seconds(function, *arguments) for _ in range(3))


def _seconds(function: Callable[..., object], *arguments: object) -> float:
    start = perf_counter()
    function(*arguments)
    return perf_counter() - start


def group_by_seconds(n: int) -> float:
    """How long one thread of DuckDB takes to count n records into about n/2 cells by one key."""
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(
            f"create table records as select hash(range) % {max(1, n // 2)} as cell from range({n})"
        )
        query = "create or replace table cells as select cell, count(*) from records group by cell"
        return best_seconds(connection.execute, query)


if __name__ == "__main__":
    run(1.0)
