"""What can be rebuilt of each of many areas, such as the blocks of a census.

Where no published figure spans areas, each is a system of its own. Areas that a figure spans and
others do not imply are tied: each of them is then judged with the statements of all that it is tied
to. Every area has a limit of work of its own, so the result does not depend on how many processes
share the areas, and an area that cannot be done says why and costs no other.
"""

import os
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count as count_from
from typing import Any

import numpy as np

from discreet.clock import guarded, stopped_by_watch
from discreet.errors import DiscreetError, InputError, Interrupted, must_be
from discreet.fiber.reconstruction.processes import heeding_the_parent, in_processes
from discreet.fiber.reconstruction.rebuilt import RebuiltTable, rebuilt_table
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.figures import Figure, Outcome, Unavailable
from discreet.numerics.arrays import IntArray
from discreet.numerics.components import linked
from discreet.progress import Progress, listening, silent

STEP = "rebuilding areas"
SECONDS = 10.0  # of work on an area
FEW_AREAS = 16  # for which starting processes would take longer than the work
LOST = "its process was ended by the system, perhaps for want of memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """What is published of an area: statements about `n_cells` cells, of which `cells` are its own
    (all if left out; others belong to areas it is tied to)."""

    name: str
    n_cells: int
    statements: Sequence[Statement]
    cells: IntArray | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AreaRebuilt:
    """What can be rebuilt of an area: its persons, the records that are certain, the greatest
    distance of two consistent tables [persons] and its share, and the number of tables.

    `is_whole` says whether all records are certain, None where that is not known. `problem` says
    why there are no figures, if so.
    """

    name: str
    persons: Outcome
    certain: Outcome
    distance: Outcome
    variability: Outcome
    n_tables: Outcome
    is_whole: bool | None
    problem: str = ""

    @classmethod
    def of(cls, name: str, found: RebuiltTable) -> "AreaRebuilt":
        """The figures of an area."""
        return cls(
            name=name,
            persons=found.persons,
            certain=found.rebuilt.figure,
            distance=found.distance.figure,
            variability=found.distance.share,
            n_tables=found.n_tables,
            is_whole=found.rebuilt.is_whole,
        )

    @classmethod
    def without(cls, name: str, problem: str) -> "AreaRebuilt":
        """An area of which nothing was found, and why."""
        none = Unavailable(problem)
        return cls(
            name=name,
            persons=none,
            certain=none,
            distance=none,
            variability=none,
            n_tables=none,
            is_whole=None,
            problem=problem,
        )

    def to_json(self) -> dict[str, Any]:
        """The figures by name."""
        found: dict[str, Any] = {"area": self.name}
        for name in ("persons", "certain", "distance", "variability", "n_tables"):
            found[name] = getattr(self, name).to_json()
        return found if self.is_whole is None else found | {"whole": self.is_whole}


@dataclass(frozen=True, slots=True)
class _Task:
    area: Area
    seconds: float
    count: bool


def rebuild_areas(
    areas: Iterable[Area],
    *,
    seconds: float = SECONDS,
    count: bool = False,
    workers: int | None = None,
    progress: Progress = silent,
) -> Iterator[AreaRebuilt]:
    """What can be rebuilt of each area, in their order, as it is found.

    Each area gets `seconds` of work; where that is not enough, its figures are limits. `workers`
    processes share the areas: as many as processors if left out, none beside this one for few
    areas or where it is 1. Areas may come from a generator; few are held at a time. Checked:
    seconds above zero, workers at least 1. A program that calls this with several workers has to
    be importable, as always where processes are started afresh.
    """
    if not seconds > 0:
        raise InputError(must_be("seconds", "above 0", seconds))
    if workers is not None and workers < 1:
        raise InputError(must_be("workers", "at least 1", workers))
    total = len(areas) if isinstance(areas, Sequence) else None
    if workers is None:
        workers = 1 if total is not None and total < FEW_AREAS else os.cpu_count() or 1
    tasks = (_Task(area, seconds, count) for area in areas)
    return _told(_done(tasks, workers), total, progress)


def _done(tasks: Iterable[_Task], workers: int) -> Generator[AreaRebuilt, None, None]:
    if workers == 1:
        return (_area(task) for task in tasks)
    return in_processes(_in_process, tasks, workers, _lost)


def _told(
    found: Generator[AreaRebuilt, None, None], total: int | None, progress: Progress
) -> Iterator[AreaRebuilt]:
    """The same areas, with progress told before each; whatever ends it ends the processes too."""
    try:
        for done in count_from(0):
            with listening(progress) as told:  # not while the caller has an area in hand
                told(STEP, done / total if total else None)
                area = next(found, None)
            if area is None:
                return
            yield area
    finally:
        found.close()


def _in_process(task: _Task) -> AreaRebuilt:
    with heeding_the_parent():
        return _area(task)


def _lost(task: _Task) -> AreaRebuilt:
    return AreaRebuilt.without(task.area.name, LOST)


def _area(task: _Task) -> AreaRebuilt:
    """The figures of one area, or why there are none."""
    area = task.area
    with guarded(task.seconds):
        try:
            system = system_of(area.n_cells, area.statements)
            found = rebuilt_table(
                system, cells=area.cells, time_limit=task.seconds, count=task.count
            )
        except Interrupted:
            raise
        except (DiscreetError, MemoryError) as fault:
            return AreaRebuilt.without(area.name, str(fault) or "not enough memory")
        told = stopped_by_watch()
        result = AreaRebuilt.of(area.name, found)
        return _noted(result, told) if told else result


def _noted(found: AreaRebuilt, note: str) -> AreaRebuilt:
    """The area with limits that say why they are no closer."""
    return replace(
        found,
        certain=_with_note(found.certain, note),
        distance=_with_note(found.distance, note),
        variability=_with_note(found.variability, note),
    )


def _with_note(one: Outcome, note: str) -> Outcome:
    return replace(one, note=note) if isinstance(one, Figure) and one.value is None else one


def areas_of(
    n_cells: int, statements: Sequence[Statement], labels: Sequence[str]
) -> tuple[Area, ...]:
    """The areas of a table whose cells are labelled by area, each with the statements on it.

    A statement within one area is that area's. One about a sum of what is stated of each area, as
    a total over all of them mostly is, is implied and left out. Any other that spans areas ties
    them, and each of them gets the statements and cells of all that are tied.
    """
    if len(labels) != n_cells:
        raise InputError(must_be("labels", f"one for each of {n_cells} cells", len(labels)))
    names = list(dict.fromkeys(labels))
    number = {name: i for i, name in enumerate(names)}
    area = np.array([number[label] for label in labels], dtype=np.int64)
    needed = _without_implied(statements, area)
    spans = [np.unique(area[one.cells]) for one in needed]
    none = np.empty(0, dtype=np.int64)
    first = np.concatenate([none, *(np.full(len(each) - 1, each[0]) for each in spans)])
    other = np.concatenate([none, *(each[1:] for each in spans)])
    group = linked(first, other, len(names))
    by_group: dict[int, list[Statement]] = {}
    for span, one in zip(spans, needed, strict=True):
        by_group.setdefault(int(group[span[0]]), []).append(one)
    return tuple(
        _area_of(name, i, area, group, by_group.get(int(group[i]), []))
        for i, name in enumerate(names)
    )


def _area_of(
    name: str, i: int, area: IntArray, group: IntArray, statements: Sequence[Statement]
) -> Area:
    """One area with the cells of all it is tied to, numbered afresh."""
    held = np.flatnonzero(group[area] == group[i])
    place = np.full(len(area), -1, dtype=np.int64)
    place[held] = np.arange(len(held))
    return Area(
        name=name,
        n_cells=len(held),
        statements=tuple(replace(one, cells=place[one.cells]) for one in statements),
        cells=place[area == i],
    )


def _without_implied(statements: Sequence[Statement], area: IntArray) -> list[Statement]:
    """The statements but for sums over areas of what is stated of each of them."""
    known: dict[bytes, int] = {}
    for one in statements:
        if one.is_equation and one.coefficients is None and len(np.unique(area[one.cells])) == 1:
            known[_key(one.cells)] = one.low
    return [one for one in statements if not _is_implied(one, area, known)]


def _is_implied(one: Statement, area: IntArray, known: Mapping[bytes, int]) -> bool:
    own = area[one.cells]
    parts = np.unique(own)
    if len(parts) < 2 or one.coefficients is not None:
        return False
    values = [known.get(_key(one.cells[own == part])) for part in parts]
    if any(value is None for value in values):
        return False
    total = sum(value for value in values if value is not None)
    return one.low <= total and (one.high is None or total <= one.high)


def _key(cells: IntArray) -> bytes:
    return np.sort(np.asarray(cells, dtype=np.int64)).tobytes()
