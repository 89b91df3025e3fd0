"""How many tables are consistent with what was released: exact, or an estimate that says so."""

from dataclasses import dataclass
from importlib import import_module
from math import ceil, prod
from typing import Any

import numpy as np

from discreet.fiber.sums.dynamic_programming import (
    SAFE_BITS,
    STATE_SECONDS,
    Budget,
    Total,
    counted,
    sweep,
)
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded, plan_for
from discreet.fiber.sums.small_blocks import listed_points
from discreet.fiber.sums.two_way import as_two_way, count_two_way
from discreet.fiber.system.blocks import Block, split
from discreet.fiber.system.linear_system import System
from discreet.figures import How, Unavailable
from discreet.notebooks import ShownInNotebooks
from discreet.numerics.remainders import PRIMES, joined
from discreet.progress import Progress, silent

LATTE_SECONDS = 60.0
WORTH_TRYING = 500  # corners that the time of the states would have to pay for
MOST_CORNERS = 5000  # that are gone through before states are


@dataclass(frozen=True, slots=True, kw_only=True)
class Count(ShownInNotebooks):
    """How many tables are consistent, how that was found, and what else is to be said.

    `value` is None where no method gave an answer; `note` then says what was tried. An exact value
    has no standard error. `at_least` tables are certain to exist.
    """

    value: int | None
    how: How | None
    standard_error: float | None = None
    note: str = ""
    at_least: int = 0


def count_tables(
    system: System,
    *,
    budget: Budget | None = None,
    n_draws: int = 0,
    rng: np.random.Generator | None = None,
    algebra: bool = True,
    progress: Progress = silent,
) -> Count:
    """The number of points of the system: exact methods first, then LattE, then an estimate.

    Blocks are counted apart and their numbers multiplied: a two-way table by its own method, any
    other block by dynamic programming, or by the corners of its few dimensions where that is less
    work, with exact integers. Beyond the budget LattE is asked where
    it is installed (`algebra`), and last, given `rng` and `n_draws`, draws estimate the number.
    """
    try:
        exact = count_exactly(system, budget=budget or Budget(), progress=progress)
        return Count(value=exact, how=How.EXACT, at_least=exact)
    except BudgetExceeded as ended:
        tried, at_least = [f"exact: {ended}"], ended.at_least
    if algebra:
        answer = _by_latte(system, budget or Budget())
        if isinstance(answer, int):
            return Count(value=answer, how=How.EXACT, note="by LattE", at_least=answer)
        tried.append(f"LattE: {answer.reason}")
    if rng is None or n_draws <= 0:
        tried.append("no estimate: none asked for")
        return Count(value=None, how=None, note="; ".join(tried), at_least=at_least)
    return _estimated(system, n_draws, rng, tried, at_least)


def _by_latte(system: System, budget: Budget) -> int | Unavailable:
    try:
        algebra: Any = import_module("discreet.fiber.sums.latte")
    except ImportError as missing:
        return Unavailable(str(missing))
    left = budget.seconds_left
    if left is not None and left <= 0:
        return Unavailable("no time left")
    answer = algebra.count_by_latte(system, time_limit=LATTE_SECONDS if left is None else left)
    return answer if isinstance(answer, Unavailable) else int(answer)


def _estimated(
    system: System, n_draws: int, rng: np.random.Generator, tried: list[str], at_least: int
) -> Count:
    sequential: Any = import_module("discreet.fiber.draws.sequential")
    drawn = sequential.estimate_count(system, n_draws=n_draws, rng=rng)
    if isinstance(drawn, Unavailable):
        note = "; ".join([*tried, f"estimate: {drawn.reason}"])
        return Count(value=None, how=None, note=note, at_least=at_least)
    return Count(
        value=round(drawn.value),
        how=How.ESTIMATE,
        standard_error=drawn.standard_error,
        note="; ".join(part for part in [*tried, getattr(drawn, "note", "")] if part),
        at_least=at_least,
    )


def count_exactly(
    system: System, *, budget: Budget | None = None, progress: Progress = silent
) -> int:
    """The number of points of the system, exact; raises BudgetExceeded."""
    budget = budget or Budget()
    parts = split(system)
    if parts.is_empty:
        return 0
    product = 1
    blocks = sorted(parts.blocks, key=lambda block: len(block.columns))
    for block in blocks:
        try:
            product *= count_block(block, budget, progress)
        except BudgetExceeded as ended:
            last = block is blocks[-1]
            raise BudgetExceeded(str(ended), product * ended.at_least if last else 0) from ended
        if product == 0:
            return 0
    return product


def count_block(block: Block, budget: Budget, progress: Progress = silent) -> int:
    """The number of points of one block."""
    if block.matrix.shape[0] == 0:
        return prod(int(u) + 1 for u in block.upper)
    points = listed_points(block, budget)
    if points is not None:
        return len(points)
    margins = as_two_way(block)
    if margins is not None:
        exact = count_two_way(*margins, budget=budget)
        if exact is not None:
            return exact
    return _count_by_dynamic_programming(block, budget, progress)


def _count_by_cones(block: Block, cost: float, budget: Budget) -> int | None:
    """The number by the corners of few dimensions, where that takes less than the states that a
    plan expects; None where it does not."""
    from discreet.fiber.sums.cones import CORNER_SECONDS, count_by_cones

    corners = STATE_SECONDS * 2.0 ** min(cost, 60.0) / CORNER_SECONDS
    if corners < WORTH_TRYING:
        return None
    try:
        return count_by_cones(block, budget, most_corners=int(min(corners, MOST_CORNERS)))
    except BudgetExceeded:
        return None


def _count_by_dynamic_programming(block: Block, budget: Budget, progress: Progress) -> int:
    """The count modulo 2⁶⁴, and modulo as many primes as its size asks for."""
    plan = plan_for(block, seconds=budget.seconds_left)
    budget.check_time("choosing an order of the cells")
    by_cones = _count_by_cones(block, plan.cost, budget)
    if by_cones is not None:
        return by_cones

    def residue(modulus: int) -> Total:
        found = sweep(plan, budget, modulus=modulus, progress=progress)
        return counted(found, budget, modulus=modulus, progress=progress)

    first = residue(0)
    if first.bits < SAFE_BITS:
        return first.residue
    needed = ceil((first.bits - SAFE_BITS) / 30.9)
    moduli = list(PRIMES[:needed])
    if needed > len(PRIMES):
        raise BudgetExceeded(f"the number of tables has more than {first.bits:.0f} bits")
    return joined([first.residue, *(residue(p).residue for p in moduli)], [2**64, *moduli])
