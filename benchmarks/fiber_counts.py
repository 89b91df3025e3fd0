"""Exact counts of fibers beside LattE's `count`; by name also marginals, draws and growth."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.comparing import Comparison, Contestant, NotRun
from benchmarks.contestants import as_process, in_process
from benchmarks.measuring import ROOT, Failed, Start
from benchmarks.medians import median_cpu
from benchmarks.systems import (
    counts_system,
    latte_path,
    latte_program,
    margins_system,
    system_named,
    write_for_latte,
)
from discreet.fiber.draws.exact_draws import draw_decomposable, sampler
from discreet.fiber.sums.counting import count_exactly
from discreet.fiber.sums.dynamic_programming import Budget
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.sums.latte import ANSWER
from discreet.fiber.sums.marginals import posterior
from discreet.fiber.system.linear_system import System
from discreet.fiber.system.margins import margins_of
from discreet.fiber.system.priors import Multinomial

SYSTEMS = {
    "eye_hair": "4×4 (eye × hair) given both margins",
    "three_way_4": "3×3×3 given two-way margins, entries about 4",
    "three_way_20": "3×3×3 given two-way margins, entries about 20",
    "three_way_100": "3×3×3 given two-way margins, entries about 100",
}
LIMIT = 120.0
NO_BINDING = "LattE is a program without a binding to Python"


def comparisons(_: Sequence[int]) -> list[Comparison]:
    """Each system as a process, and ours within one."""
    return [each for name, title in SYSTEMS.items() for each in _pair(name, title)]


def _pair(name: str, title: str) -> list[Comparison]:
    return [
        Comparison(
            title=f"number of tables, {title}",
            contestants=[
                as_process(
                    "discreet, Python and imports included", "count_system", name, limit=LIMIT
                ),
                *latte(name),
            ],
            not_run=no_latte(),
            prepare=partial(write_for_latte, name),
        ),
        Comparison(
            title=f"number of tables, {title}",
            contestants=[in_process("discreet", "count_system_warm", name, limit=LIMIT)],
            not_run=[NotRun(name="LattE", why=NO_BINDING)],
        ),
    ]


def latte(name: str) -> list[Contestant]:
    """LattE's `count` of a system, where it is installed."""
    program = latte_program()
    if program is None:
        return []
    # Its programs call one another by name, and it prints its answer where errors go.
    run = 'PATH="$1:$PATH"; cd "$2" && exec count system 2>&1'
    folder = str(ROOT / latte_path(name).parent)
    return [
        Contestant(
            name="LattE count",
            start=Start.PROCESS,
            command=("sh", "-c", run, "sh", str(Path(program).parent), folder),
            rival=True,
            answer=_told,
            limit=LIMIT,
        )
    ]


def no_latte() -> list[NotRun]:
    """Why there is no LattE, or nothing."""
    if latte_program() is not None:
        return []
    return [NotRun(name="LattE count", why="the extra algebra is not installed")]


def _told(printed: str) -> str:
    found = ANSWER.search(printed)
    if found is None:
        raise Failed("LattE ended without an answer")
    return found.group(1)


def run(scale: float) -> None:
    """Prints marginals, draws and how times grow, ours alone."""
    marginals(scale)
    draws(scale)
    growth(scale)


def marginals(scale: float) -> None:
    """Exact marginals and entropy of the injuries under the multinomial prior."""
    system = system_named("injuries" if scale >= 1 else "disasters")
    seconds, found = median_cpu(lambda: posterior(system, Multinomial()))
    bits = f"{found.entropy:.6f} bits, relative error below {found.relative_error:.0e}"
    print(f"marginals of {system.n_columns} counts: {seconds:.2f} s, {bits}", flush=True)


def draws(scale: float) -> None:
    """Draws by record along a junction tree, and through dynamic programming."""
    axes = 16 if scale >= 1 else 10
    table = np.random.default_rng(2).poisson(1.5, (2,) * axes)
    margins = margins_of(table, [(i, i + 1, i + 2) for i in range(axes - 2)])
    rng = np.random.default_rng(3)
    seconds, _ = median_cpu(lambda: next(draw_decomposable(margins, 1, rng=rng)))
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


if __name__ == "__main__":
    run(1.0)
