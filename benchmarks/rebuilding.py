"""What an intruder's answers cost: counts, bounds, exact distributions, rounded S2, and draws
beyond them."""

from collections.abc import Callable
from functools import partial
from time import perf_counter

import numpy as np

from benchmarks.medians import median_cpu
from discreet.count_tables.decimals import TruncatedReconstruction, reconstruct_truncated
from discreet.count_tables.equations import ReleasedSums
from discreet.count_tables.knowledge import Knowledge, Shape
from discreet.count_tables.rebuilding import Effort, hidden_counts
from discreet.count_tables.statistics import CountStatistics, decimal_log
from discreet.figures import Unavailable

TABLES = {
    "disasters": [15, 20, 9, 5, 2],
    "poem": [0, 7, 33, 49, 22, 6],
    "injuries": [5363, 3091, 1008, 348, 105, 46, 19, 9, 7, 2, 1, 1],
}


def run(scale: float) -> None:
    """Prints milliseconds of each answer, and seconds for the largest table."""
    for name, counts in TABLES.items():
        _exact_rows(name, dict(enumerate(counts)))
    for decimals in (4, 2, 1, 0):
        _rounded_row(decimals)
    _drawn_row()
    _large(round(4000 * scale))


def _exact_rows(name: str, table: dict[int, int]) -> None:
    problem = hidden_counts(CountStatistics.of_counts(table))
    print(f"{name}: {problem.count().value:,} tables, milliseconds")
    # A problem keeps its answers, so each run asks one made anew.
    sums = problem.sums
    print(f"  count           {_milliseconds(lambda: hidden_counts(sums).count()):10.2f}")
    print(f"  bounds          {_milliseconds(lambda: hidden_counts(sums).bounds()):10.2f}")
    for prior in ("multinomial", "uniform"):
        took = _milliseconds(partial(_distribution, sums, prior))
        print(f"  distribution {prior:11s} {took:10.2f}")
    shape = Knowledge(shape=Shape.UNIMODAL)
    took = _milliseconds(lambda: hidden_counts(sums, shape).distribution())
    print(f"  distribution if unimodal {took:10.2f}")


def _distribution(sums: ReleasedSums, prior: str) -> object:
    return hidden_counts(sums).distribution(prior)


def _rounded_row(decimals: int) -> None:
    statistics = CountStatistics.of_counts(dict(enumerate(TABLES["disasters"])))
    released = decimal_log(statistics, decimals, truncate=False)
    start = perf_counter()
    found = reconstruct_truncated(statistics.n, statistics.total, released)
    assert isinstance(found, TruncatedReconstruction)
    sets = f"{len(found.sets)} factorisations, {found.count} tables"
    print(f"disasters, S2 to {decimals} decimals: {sets}, {perf_counter() - start:.2f} s")


def _drawn_row() -> None:
    """The poem without decimals, whose factorisations are too many to go through in ten seconds."""
    statistics = CountStatistics.of_counts(dict(enumerate(TABLES["poem"])))
    released = decimal_log(statistics, 0, truncate=False)
    effort = Effort(seconds=10, rng=np.random.default_rng(1))
    start = perf_counter()
    found = reconstruct_truncated(statistics.n, statistics.total, released, effort=effort)
    told = found.reason if isinstance(found, Unavailable) else f"{found.number}"
    print(f"poem, S2 to 0 decimals: {told}, {perf_counter() - start:.2f} s")


def _large(n_draws: int) -> None:
    counts = np.round(1e6 * 0.45 * 0.55 ** np.arange(21)).astype(int)
    counts[0] += 10**6 - counts.sum()
    table = dict(enumerate(counts.tolist()))
    problem = hidden_counts(CountStatistics.of_counts(table))
    effort = Effort(seconds=60, n_draws=n_draws, rng=np.random.default_rng(1))
    start = perf_counter()
    count = problem.count(effort)
    print(f"n = 1,000,000, J = 20: {count.value or 0:.3g} tables, {perf_counter() - start:.1f} s")
    print(f"  {count.note}, standard error {count.standard_error or 0:.2g}")
    start = perf_counter()
    distribution = problem.distribution(truth=table, effort=effort)
    if isinstance(distribution, Unavailable):
        print(f"  {distribution.reason}")
    else:
        print(f"  entropy {distribution.entropy}, {perf_counter() - start:.1f} s")


def _milliseconds(work: Callable[[], object]) -> float:
    """CPU milliseconds, the median of some runs."""
    return 1000 * median_cpu(work)[0]


if __name__ == "__main__":
    run(1.0)
