"""Listing the tables of each block, if that can be done within some seconds."""

from itertools import islice

import numpy as np

from discreet.belief.exact.listed_fiber import ListedFiber, listed_fiber
from discreet.clock import working_seconds
from discreet.fiber.draws.sequential import estimate_count
from discreet.fiber.sums import enumeration
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.system import structure
from discreet.fiber.system.linear_system import System
from discreet.figures import Unavailable
from discreet.progress import Progress, heed

GUESS_DRAWS = 100
GUESS_SECONDS = 2.0  # for one block
LEAST_SECONDS = 0.25  # below which a search is begun without a guess
BEYOND_DOUBT = 8.0  # natural logarithms by which a guess must exceed what may be listed


def listed_within(
    system: System, *, most: int, seconds: float | None, rng: np.random.Generator
) -> ListedFiber | None:
    """The listed fiber, or None where it has more than `most` tables or takes too long.

    A search can be lost in dead ends, so a few weighted draws guess first how many tables a block
    has, and a first search within half of the time finds out whether a second one, which keeps the
    tables, will end. The guess never changes a result, only which way it is got.
    """
    blocks = structure.presolve(system, drop_redundant=False).blocks
    end = None if seconds is None else working_seconds() + seconds / 2
    left = most
    for block in blocks:
        few = enumeration.few_tables(block.system)
        if few is not None:
            left -= len(few)
            continue
        if _surely_more(block.system, left, rng, end):
            return None
        try:
            found = islice(enumeration.tables(block.system, progress=_until(end)), left + 1)
            left -= sum(1 for _ in found)
        except BudgetExceeded:
            return None
        if left < 0:
            return None
    return listed_fiber(system, most=most) if left >= 0 else None


def _surely_more(system: System, most: int, rng: np.random.Generator, end: float | None) -> bool:
    limit = (
        GUESS_SECONDS if end is None else min(GUESS_SECONDS, max(end - working_seconds(), 0.0) / 2)
    )
    if limit < LEAST_SECONDS:
        return False
    guess = estimate_count(system, n_draws=GUESS_DRAWS, rng=rng, time_limit=limit)
    if isinstance(guess, Unavailable):
        return False
    return guess.log_value > float(np.log(max(most, 1))) + BEYOND_DOUBT


def _until(end: float | None) -> Progress:
    def check(step: str, fraction: float | None) -> None:
        heed()
        if end is not None and working_seconds() > end:
            raise BudgetExceeded("the time for listing tables is over")

    return check
