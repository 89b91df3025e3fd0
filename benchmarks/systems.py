"""Systems whose tables are counted, by name, and what LattE reads of them."""

from pathlib import Path

import numpy as np

from discreet.fiber.sums.latte import _latte_text, executable
from discreet.fiber.system.linear_system import Statement, System, system_of
from discreet.fiber.system.margins import all_margins, margins_of
from discreet.fiber.system.nonnegative_form import shifted
from discreet.fiber.system.structure import presolve
from discreet.numerics.arrays import IntArray
from discreet.papers import kadane_data

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23)
EYE_HAIR = np.array(  # Snee (1974), eye × hair colour of 592 students
    [[68, 119, 26, 7], [20, 84, 17, 94], [15, 54, 14, 10], [5, 29, 14, 16]]
)
FOLDER = Path("bench-data") / "latte"


def system_named(name: str) -> System:
    """One of the systems that are counted: `injuries`, `disasters`, `eye_hair`, `three_way_20`."""
    if name == "eye_hair":
        return margins_system(EYE_HAIR, 1)
    if name.startswith("three_way_"):
        return margins_system(three_way(int(name.removeprefix("three_way_"))), 2)
    examples = {each.name: each for each in (kadane_data.DISASTERS, kadane_data.INJURIES)}
    return counts_system(np.array(examples[name].counts))


def three_way(mean: int) -> IntArray:
    """A 3×3×3 table with entries about `mean`."""
    return np.random.default_rng(1).poisson(mean, (3, 3, 3)).astype(np.int64)


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


def latte_path(name: str) -> Path:
    """The file that LattE reads of a system."""
    return FOLDER / name / "system"


def write_for_latte(name: str) -> None:
    """What LattE reads: the one block that is left once forced cells are out, which helps it."""
    (block,) = presolve(system_named(name)).blocks
    latte_path(name).parent.mkdir(parents=True, exist_ok=True)
    latte_path(name).write_text(_latte_text(shifted(block.system)), encoding="ascii")


def latte_program() -> Path | None:
    """LattE's `count`, where the extra `algebra` or the search path has it."""
    return executable("count")
