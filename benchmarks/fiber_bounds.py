"""What bounds of all cells cost, beside one cold integer program for each cell and side (naive).

The naive way is timed on a sample of cells and multiplied up, which the output says. Times are of
this process, CPU seconds beside wall seconds: on a busy machine compare the former.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import perf_counter, process_time
from typing import TypeVar

import numpy as np
from scipy.optimize import Bounds as Limits
from scipy.optimize import LinearConstraint, milp

from discreet.fiber.bounds.cell_bounds import Proof, bounds
from discreet.fiber.system.decomposable import ClosedForm
from discreet.fiber.system.linear_system import System, system_of
from discreet.fiber.system.margins import Margins, all_margins, margins_of
from discreet.fiber.system.programs import Search
from discreet.numerics.arrays import IntArray

T = TypeVar("T")
Solve = Callable[[System, int], tuple[int, int] | None]

SAMPLE = 12
NAIVE_SECONDS = 30.0  # given to one cold program


@dataclass(frozen=True, slots=True)
class Time:
    """Seconds of some work."""

    wall: float
    cpu: float


def run(scale: float) -> None:
    """Prints the comparison on two tables, how cost grows, and the closed form."""
    warm_up()
    compare("10 × 10 × 10, 2-way margins", dense((10, 10, 10), 5.0))
    compare("2¹⁰, 3-way margins, n = 200", survey(200, 0.4))
    compare("2¹⁰, 3-way margins, n = 1,000", survey(1_000, 0.25))
    stopped("2¹⁰, 3-way margins, n = 200, no structure", scattered(200), 20 * scale)
    grow()
    closed_form(max(1, round(1_000_000 * scale)))


def warm_up() -> None:
    """Compiles the kernels and loads the solvers."""
    bounds(dense((3, 3, 3), 2.0))


def dense(sizes: tuple[int, ...], mean: float) -> Margins:
    """All 2-way margins of a table whose cells are all likely."""
    rng = np.random.default_rng(1)
    table = rng.poisson(mean * rng.gamma(1, 1, sizes)).astype(np.int64)
    return margins_of(table, all_margins(len(sizes), 2))


def survey(n: int, spread: float, order: int = 3) -> Margins:
    """Margins of n records with ten yes-or-no answers that lean on three hidden classes."""
    rng = np.random.default_rng(3)
    hidden = rng.integers(0, 3, n)
    answers = (rng.random((n, 10)) < rng.beta(spread, spread, (3, 10))[hidden]).astype(np.int64)
    table = np.zeros((2,) * 10, dtype=np.int64)
    np.add.at(table, tuple(answers.T), 1)
    return margins_of(table, all_margins(10, order))


def scattered(n: int) -> IntArray:
    """n records spread over 2¹⁰ cells without any pattern."""
    rng = np.random.default_rng(1)
    chances = rng.gamma(0.3, 1, 2**10)
    return rng.multinomial(n, chances / chances.sum()).reshape((2,) * 10).astype(np.int64)


def compare(title: str, margins: Margins) -> None:
    """Ours on all cells, the naive way on a sample with the same answers asserted."""
    ours, found = timed(lambda: bounds(margins))
    assert found.complete, found.note
    print(f"{title}: ours {said(ours)}, all {2 * margins.n_cells:,} bounds exact")
    system = system_of(margins.n_cells, margins.statements())
    cells = np.linspace(0, margins.n_cells - 1, SAMPLE).astype(np.int64)
    for name, solve in (("CP-SAT", by_search), ("SciPy milp (HiGHS)", by_milp)):
        naive, answers = timed(partial(sample, solve, system, cells))
        late = sum(answer is None for answer in answers)
        for cell, answer in zip(cells, answers, strict=True):
            assert answer in {None, (found.lower[cell], found.upper[cell])}
        times = margins.n_cells / SAMPLE
        print(
            f"  one cold {name} for each, from {SAMPLE} cells multiplied up:"
            f" {said(Time(naive.wall * times, naive.cpu * times))},"
            f" {naive.wall * times / ours.wall:.0f} × our wall,"
            f" {naive.cpu * times / ours.cpu:.0f} × our CPU"
            + (f"; {late} cells not done in {NAIVE_SECONDS:.0f} s a side" if late else ""),
            flush=True,
        )


def sample(solve: Solve, system: System, cells: IntArray) -> list[tuple[int, int] | None]:
    """The bounds of some cells, one after the other."""
    return [solve(system, int(cell)) for cell in cells]


def by_search(system: System, cell: int) -> tuple[int, int] | None:
    """Both bounds of a cell, each by a search built anew; None where time ran out."""
    found = [Search(system).maximise([cell], sign, NAIVE_SECONDS) for sign in (-1, 1)]
    if any(f.point is None or f.ending.name != "OPTIMAL" for f in found):
        return None
    low, high = (int(f.point[cell]) for f in found if f.point is not None)
    return low, high


def by_milp(system: System, cell: int) -> tuple[int, int] | None:
    """Both bounds of a cell, each by SciPy's integer program; None where time ran out."""
    answers = []
    for sign in (1, -1):
        form = np.zeros(system.n_columns)
        form[cell] = sign
        solved = milp(
            form,
            constraints=LinearConstraint(system.matrix, system.right, system.right),
            bounds=Limits(system.lower, system.upper),
            integrality=np.ones(system.n_columns, dtype=np.int64),
            options={"time_limit": NAIVE_SECONDS},
        )
        if solved.status != 0:
            return None
        answers.append(round(sign * solved.fun))
    return answers[0], answers[1]


def stopped(title: str, table: IntArray, seconds: float) -> None:
    """What is known when time runs out, to one who knows the true table and to one who does not."""
    margins = margins_of(table, all_margins(table.ndim, 3))
    for who, tables in (("true table known", [table]), ("no table known", [])):
        time, found = timed(partial(bounds, margins, tables=tables, time_limit=seconds))
        lower = float(np.mean(found.lower_proof != Proof.OUTER))
        upper = float(np.mean(found.upper_proof != Proof.OUTER))
        print(f"{title}, {who}: {said(time)}, exact {lower:.0%} of lower, {upper:.0%} of upper")


def grow() -> None:
    """How cost grows with cells, with the total, and with the order of the margins."""
    for size in (4, 6, 8, 10, 12):
        report(f"{size}³ cells, 2-way margins, mean 5", dense((size,) * 3, 5.0))
    for mean in (1.0, 100.0, 10_000.0):
        report(f"8³ cells, 2-way margins, mean {mean:,.0f}", dense((8, 8, 8), mean))
    for order in (1, 2, 3, 4):
        report(f"2¹⁰ cells, {order}-way margins, n = 200", survey(200, 0.4, order), 20.0)


def report(title: str, margins: Margins, limit: float | None = None) -> None:
    """One line for one table."""
    time, found = timed(lambda: bounds(margins, time_limit=limit))
    exact = int(found.exact.sum())
    print(f"  {title}: {said(time)}, {exact:,} of {margins.n_cells:,} cells exact", flush=True)


def closed_form(n_cells: int) -> None:
    """Named cells of a table of 53 variables under a chain of 3-way margins."""
    rng = np.random.default_rng(53)
    sizes = tuple(rng.integers(2, 9, 53).tolist())
    records = np.stack([rng.integers(0, size, 100_000) for size in sizes], axis=1)
    chain: list[tuple[int, ...]] = [(i, i + 1, i + 2) for i in range(51)]
    tables = {axes: counted(records, sizes, axes) for axes in chain}
    names = tuple(f"v{i}" for i in range(53))
    ready, form = timed(lambda: ClosedForm(Margins(sizes=sizes, names=names, tables=tables)))
    cells = records[rng.integers(0, len(records), n_cells)]
    form.bounds(cells[:1])
    one, _ = timed(lambda: [form.bounds(cell) for cell in cells[:1000]])
    many, _ = timed(lambda: form.bounds(cells))
    print(
        f"53 variables, {float(np.prod(np.array(sizes, float))):.1e} cells: ready in {said(ready)};"
        f" {one.cpu * 1e6 / min(1000, n_cells):.1f} µs for one named cell,"
        f" {many.cpu * 1e6 / n_cells:.2f} µs each for {n_cells:,}"
    )


def counted(records: IntArray, sizes: tuple[int, ...], axes: tuple[int, ...]) -> IntArray:
    """A margin of records."""
    table = np.zeros([sizes[axis] for axis in axes], dtype=np.int64)
    np.add.at(table, tuple(records[:, axis] for axis in axes), 1)
    return table


def timed(work: Callable[[], T]) -> tuple[Time, T]:
    """What the work took, and its result."""
    wall, cpu = perf_counter(), process_time()
    done = work()
    return Time(perf_counter() - wall, process_time() - cpu), done


def said(time: Time) -> str:
    """Wall and CPU seconds in words."""
    return f"{time.wall:.2f} s ({time.cpu:.2f} s CPU)"


if __name__ == "__main__":
    run(1.0)
