"""How many records of a hidden table are rebuilt with certainty.

A cell that holds at least l persons in every consistent table gives l records away: they stand in
every table an intruder could think of. So the records that are certain number Σ l over cells, with
l the exact lower bound of each. All of them are certain where only one table is consistent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.fiber.bounds.block_state import LOWER, UPPER, Closing
from discreet.fiber.bounds.by_programming import close
from discreet.fiber.reconstruction.distance import (
    Distance,
    counted_columns,
    distance_of_parts,
    point_of,
)
from discreet.fiber.reconstruction.parts import Part, parts_of
from discreet.fiber.sums.counting import count_exactly
from discreet.fiber.sums.dynamic_programming import Budget
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.system.linear_system import System
from discreet.fiber.system.programs import Deadline
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.arrays import BoolArray, IntArray, read_only
from discreet.progress import Progress, silent

STEP = "seeking the records that are certain"
FOR_DISTANCE = 0.5  # of the time limit, at most
COUNTING_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """Records that stand in every consistent table: at least `certain`, at most `certain_most`.

    `lower` are limits on the named cells that sum to `certain` over those that count; `persons` are
    limits on the number of persons. `is_whole` says whether every record is certain, None where
    time did not allow to tell. `note` says why a gap is left, if one is.
    """

    certain: int
    certain_most: int
    persons: tuple[int, int]
    lower: IntArray
    is_whole: bool | None
    note: str = ""

    def __post_init__(self) -> None:
        read_only(self.lower)

    @property
    def figure(self) -> Figure:
        """Records that are certain."""
        return _figure(self.certain, self.certain_most, self.note)

    @property
    def share(self) -> Outcome:
        """Of all records those that are certain; of the fewest and most persons where their number
        is not fixed."""
        least, most = self.persons
        if most == 0:
            return Unavailable("no person is counted")
        high = min(1.0, self.certain_most / least) if least else 1.0 if self.certain_most else 0.0
        return _figure(self.certain / most, high, self.note)

    def to_json(self) -> dict[str, Any]:
        """The number and share of certain records, and whether that is all."""
        found: dict[str, Any] = {"persons": self.figure.to_json(), "share": self.share.to_json()}
        return found if self.is_whole is None else found | {"whole": self.is_whole}


def _figure(low: float, high: float, note: str) -> Figure:
    if low == high:
        return Figure(value=low, how=How.EXACT)
    return Figure(value=None, how=How.BOUND, low=low, high=high, note=note)


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuiltTable:
    """What can be rebuilt from what is out: certain records, the greatest distance of two tables
    that fit, and the number of tables."""

    rebuilt: Rebuilt
    distance: Distance
    n_tables: Outcome

    @property
    def persons(self) -> Figure:
        """Persons in the cells that count."""
        return _figure(*self.distance.persons, "the number of persons is not fixed")

    def to_json(self) -> dict[str, Any]:
        """The three of them, and the number of persons."""
        return {
            "persons": self.persons.to_json(),
            "certain": self.rebuilt.to_json(),
            "distance": self.distance.to_json(),
            "n_tables": self.n_tables.to_json(),
        }


def rebuilt(
    system: System,
    *,
    cells: IntArray | None = None,
    tables: Sequence[IntArray] = (),
    time_limit: float | None = None,
    progress: Progress = silent,
) -> Rebuilt:
    """The records that are certain, of all named cells or of the `cells` given.

    `tables` are consistent tables already known. Limits hold however short the time. Raises
    InputError, naming statements that disagree, where it finds that no table is consistent.
    """
    asked = rebuilt_table(
        system, cells=cells, tables=tables, time_limit=time_limit, count=False, progress=progress
    )
    return asked.rebuilt


def rebuilt_table(
    system: System,
    *,
    cells: IntArray | None = None,
    tables: Sequence[IntArray] = (),
    time_limit: float | None = None,
    count: bool = True,
    progress: Progress = silent,
) -> RebuiltTable:
    """Certain records and the greatest distance, with the two tables it finds as a start.

    Half of `time_limit` seconds of work at most go to the distance. With `count` the number of
    tables is found too where two seconds more allow; of all cells, whichever count.
    """
    counted = counted_columns(system, cells)
    whole = parts_of(system)
    clock = Deadline(time_limit)
    half = Deadline(None if time_limit is None else FOR_DISTANCE * time_limit)
    distance = distance_of_parts(system, whole, counted, tables, half, progress)
    known = [*tables, *(distance.pair or ())]
    lower, most = whole.lower.copy(), whole.upper.copy()
    for part in whole.parts:
        points = [point_of(system, table)[part.columns] for table in known]
        at = part.columns
        lower[at], most[at] = _certain(system, part, counted[at], points, clock)
        progress(STEP, None)
    found = _rebuilt(system, counted, lower, most, distance, clock)
    return RebuiltTable(
        rebuilt=found,
        distance=distance,
        n_tables=_number(system, found, counted) if count else Unavailable("not asked for"),
    )


def _certain(
    system: System, part: Part, counted: BoolArray, points: list[IntArray], deadline: Deadline
) -> tuple[IntArray, IntArray]:
    """Of each column a proved lower bound, and the least value that some table has there."""
    # Only the lower side of a cell is asked: the upper one passes for closed.
    work = Closing(part.system, counted)
    work.attained[UPPER][:] = work.limit[UPPER]
    for point in points:
        work.saw(point, point)
    if work.n_open or not work.has_table:
        close(system, work, deadline, lambda n_open: None)
    seen = np.minimum(-np.maximum(work.attained[LOWER], -part.system.upper), part.system.upper)
    return -work.limit[LOWER], seen


def _rebuilt(
    system: System,
    counted: BoolArray,
    lower: IntArray,
    most: IntArray,
    distance: Distance,
    deadline: Deadline,
) -> Rebuilt:
    is_whole: bool | None = None
    if distance.value > 0:
        is_whole = False
    elif distance.upper == 0 and distance.pair is not None:
        is_whole, lower = True, np.where(counted, most, lower)
    certain, certain_most = int(lower[counted].sum()), int(most[counted].sum())
    why = deadline.why if deadline.passed else "counts too large for the search"
    return Rebuilt(
        certain=certain,
        certain_most=certain_most,
        persons=distance.persons,
        lower=lower[: system.n_named],
        is_whole=is_whole,
        note="" if certain == certain_most else f"{why}: not every bound is attained",
    )


def _number(system: System, found: Rebuilt, counted: BoolArray) -> Outcome:
    """The number of tables, where it can be had in little time."""
    if found.is_whole and counted[: system.n_named].all():
        return Figure(value=1, how=How.EXACT)
    try:
        number = count_exactly(system, budget=Budget(seconds=COUNTING_SECONDS))
    except BudgetExceeded as ended:
        return Unavailable(f"exact count: {ended}")
    try:
        return Figure(value=number, how=How.EXACT)
    except OverflowError:
        return Unavailable("too large for a number")
