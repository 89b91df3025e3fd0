"""Exact counts, marginals and draws of fibers, beside LattE's `count` where it is installed."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from discreet.fiber.draws.exact_draws import draw_decomposable, sampler
from discreet.fiber.sums.counting import count_exactly
from discreet.fiber.sums.dynamic_programming import Budget
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.sums.latte import count_by_latte
from discreet.fiber.sums.marginals import posterior
from discreet.fiber.system.linear_system import Statement, System, system_of
from discreet.fiber.system.margins import all_margins, margins_of
from discreet.fiber.system.priors import Multinomial
from discreet.figures import Unavailable
from discreet.numerics.arrays import IntArray

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23)
INJURIES = np.array([5363, 3091, 1008, 348, 105, 46, 19, 9, 7, 2, 1, 1])  # kadane, Table 7
EYE_HAIR = np.array(  # Snee (1974), eye × hair colour of 592 students
    [[68, 119, 26, 7], [20, 84, 17, 94], [15, 54, 14, 10], [5, 29, 14, 16]]
)


def run(scale: float) -> None:
    """Prints times, how many times longer LattE takes, and how times grow."""
    three_way = np.random.default_rng(1).integers(6, 21, (3, 3, 3))
    against_latte("injuries (kadane 4.3)", counts_system(INJURIES))
    against_latte("eye × hair", margins_system(EYE_HAIR, 1))
    against_latte("3×3×3, entries 6 to 20, two-way margins", margins_system(three_way, 2))
    marginals(scale)
    draws(scale)
    growth(scale)


def against_latte(name: str, system: System) -> None:
    """The quickest of three counts in this process, and LattE's time as a process."""
    seconds, ours = quickest(lambda: count_exactly(system))
    start = perf_counter()
    theirs = count_by_latte(system, time_limit=120.0)
    latte = perf_counter() - start
    print(f"{name}: {ours:,} tables in {1000 * seconds:.2f} ms", flush=True)
    if isinstance(theirs, Unavailable):
        print(f"  LattE: {theirs.reason}")
        return
    verdict = "the same number" if theirs == ours else f"another number, {theirs:,}"
    print(f"  LattE: {1000 * latte:.0f} ms, {latte / seconds:.1f} × our time, {verdict}")


def marginals(scale: float) -> None:
    """Exact marginals and entropy of the injuries under the multinomial prior."""
    table = INJURIES if scale >= 1 else INJURIES[:9]
    system = counts_system(table)
    seconds, found = quickest(lambda: posterior(system, Multinomial()), times=2)
    bits = f"{found.entropy:.6f} bits, relative error below {found.relative_error:.0e}"
    print(f"marginals of {len(table)} counts: {seconds:.2f} s, {bits}", flush=True)


def draws(scale: float) -> None:
    """Draws by record along a junction tree, and through dynamic programming."""
    axes = 16 if scale >= 1 else 10
    table = np.random.default_rng(2).poisson(1.5, (2,) * axes)
    margins = margins_of(table, [(i, i + 1, i + 2) for i in range(axes - 2)])
    rng = np.random.default_rng(3)
    seconds, _ = quickest(lambda: next(draw_decomposable(margins, 1, rng=rng)))
    print(f"a draw of 2^{axes} cells, {margins.total:,} records: {1000 * seconds:.0f} ms")
    system = margins_system(np.full((3, 3, 3), 4), 2)
    start = perf_counter()
    drawer = sampler(system, Multinomial())
    ready = perf_counter()
    drawer.draw(1000, rng=rng)
    each = perf_counter() - ready
    print(f"3×3×3 of fours: sampler in {ready - start:.2f} s, {1e6 * each / 1000:.0f} µs a draw")


def growth(scale: float) -> None:
    """How the time of a count grows with records, with cells and with the number of values."""
    for records in (10_000, 100_000, 1_000_000):
        shares = 0.5 ** np.arange(1, 21)
        table = np.maximum(1, np.round(records * shares)).astype(np.int64)
        timed(f"counts 0 to 19, n = {table.sum():,}", counts_system(table))
    for entries in (5, 10, 20):
        table = np.full((3, 3, 3), round(entries * min(1.0, scale)))
        timed(f"3×3×3 of {entries}, two-way margins", margins_system(table, 2))
    for side in (3, 4, 5):
        timed(f"{side}×{side} of 20, both margins", margins_system(np.full((side, side), 20), 1))


def timed(name: str, system: System) -> None:
    """One count within a budget, or what it says."""
    start = perf_counter()
    try:
        answer = f"{count_exactly(system, budget=Budget(seconds=20.0)):,} tables"
    except BudgetExceeded as ended:
        answer = str(ended)
    print(f"  {name}: {perf_counter() - start:.3f} s, {answer}", flush=True)


def quickest(work: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
    """Seconds of the quickest run after a first one, and the answer."""
    work()
    seconds, answer = float("inf"), None
    for _ in range(times):
        start = perf_counter()
        answer = work()
        seconds = min(seconds, perf_counter() - start)
    return seconds, answer


def margins_system(table: IntArray, order: int) -> System:
    """All margins of a given order of a table."""
    released = margins_of(table, all_margins(table.ndim, order))
    return system_of(table.size, released.statements())


def counts_system(counts: IntArray) -> System:
    """What n, S1 and the factorised exp(S2) of a count table say (kadane (12), (13))."""
    missing = next(p for p in PRIMES if p >= len(counts))
    values, held = np.arange(missing), np.zeros(missing, np.int64)
    held[: len(counts)] = counts
    rows = {"n": np.ones(missing, np.int64), "S1": values}
    rows |= {f"exponent of {p}": exponents(missing, p) for p in PRIMES if p < missing}
    return system_of(missing, [statement(name, row, held) for name, row in rows.items()])


def exponents(n: int, prime: int) -> IntArray:
    """How often the prime divides 0!, 1!, …, (n − 1)!."""
    powers = [prime**k for k in range(1, 12)]
    return np.array([sum(j // power for power in powers) for j in range(n)], dtype=np.int64)


def statement(name: str, row: IntArray, held: IntArray) -> Statement:
    """What the row adds up to in the true table."""
    inside, value = np.flatnonzero(row), int(row @ held)
    return Statement(cells=inside, coefficients=row[inside], low=value, high=value, name=name)


if __name__ == "__main__":
    run(1.0)
