"""How many tables are consistent with a release, within an audit's time: exact, or an estimate."""

from dataclasses import replace

import numpy as np

from discreet.clock import Clock
from discreet.fiber.draws.sequential import estimate_count
from discreet.fiber.sums.counting import Count, count_tables
from discreet.fiber.sums.dynamic_programming import Budget
from discreet.fiber.system import structure
from discreet.fiber.system.linear_system import System
from discreet.fiber.system.margins import Margins
from discreet.figures import How, Unavailable
from discreet.numerics.rounding import above
from discreet.progress import Progress
from discreet.tables.release import MOST_SHOWN, Release

COUNT_SECONDS = 10.0  # for each way of counting, unless less time is left
COUNT_SHARE = 0.15  # of the time that is left
STEPS_A_SECOND = 50_000_000
DRAWS = 2000  # for an estimate, where no exact method fits
MOST_COUNTED = 1024  # cells that depend on each other, beyond which planning alone takes too long
LEAST_EFFECTIVE = 20.0  # draws' worth below which an estimate is no figure


def number_of_tables(release: Release, seed: int, clock: Clock, progress: Progress) -> Count:
    """M(T): exact where that can be had, else estimated by draws.

    Not counted beyond 4,096 cells, or where more than 1,024 of them depend on each other.
    """
    if not release.is_shown:
        note = f"not counted: the table has more than {MOST_SHOWN:,} cells"
        return Count(value=None, how=None, note=note)
    margins = None if release.informative else release.margins
    return counted_within(
        release.system(), margins=margins, seed=seed, clock=clock, progress=progress
    )


def counted_within(
    system: System, *, margins: Margins | None = None, seed: int, clock: Clock, progress: Progress
) -> Count:
    """The number of tables of a system, exact or estimated within a share of the time.

    `margins` say all that the system does, where that is so. Not counted where more than 1,024
    cells depend on each other.
    """
    progress("counting the tables", None)
    together = _cells_together(system)
    if together > MOST_COUNTED:
        note = f"not counted: {together:,} cells depend on each other, more than {MOST_COUNTED:,}"
        return Count(value=None, how=None, note=note)
    seconds = clock.share(COUNT_SHARE, COUNT_SECONDS) or COUNT_SECONDS
    budget = Budget(states=1_000_000, steps=int(STEPS_A_SECOND * seconds), seconds=seconds)
    exact = count_tables(system, budget=budget, progress=progress)
    if exact.value is not None:
        return exact
    return _estimated(system, margins, exact, seed, clock, progress)


def _cells_together(system: System) -> int:
    """The most cells that are not fixed and tied to each other by the margins."""
    blocks = structure.presolve(system, drop_redundant=False).blocks
    return max((block.system.n_columns for block in blocks), default=0)


def _estimated(
    system: System,
    margins: Margins | None,
    exact: Count,
    seed: int,
    clock: Clock,
    progress: Progress,
) -> Count:
    found = estimate_count(
        system,
        n_draws=DRAWS,
        rng=np.random.default_rng([seed, 1]),
        margins=margins,
        time_limit=clock.share(COUNT_SHARE, COUNT_SECONDS),
        progress=progress,
    )
    if isinstance(found, Unavailable):
        return replace(exact, note=f"{exact.note}; {found.reason}")
    if above(LEAST_EFFECTIVE, found.effective_draws):
        note = f"about 10^{found.log_value / np.log(10):.0f}, by draws too uneven for a figure"
        return replace(exact, note=note)
    if not np.isfinite(found.value):
        note = f"about 10^{found.log_value / np.log(10):.0f}, an estimate beyond what a float holds"
        return replace(exact, note=note)
    return Count(
        value=round(found.value),
        how=How.ESTIMATE,
        standard_error=float(found.standard_error),
        note=found.note,
        at_least=exact.at_least,
    )
