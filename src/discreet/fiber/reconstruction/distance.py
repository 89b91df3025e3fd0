"""How far two tables that fit what is out can differ: solution variability.

The distance of two tables is the number of persons to be changed, added or left out to make one of
the other, max(Σ (x − y)⁺, Σ (y − x)⁺): half of Σ |x − y| where the number of persons is fixed. Its
greatest value over all pairs of consistent tables is zero where the tables give every record away,
and over the number of persons it is the solution variability of Abowd and others (2023, arXiv
2312.11283): L1 over 2n.

Pairs can be swapped part by part, so the greatest distance is the sum of that of parts that vary
freely. A part with few points is listed. Of any other the linear program over pairs gives a bound,
proved by its dual in whole numbers, and mostly a pair; a search closes what is left. Every value
comes with two tables, checked against every row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.clock import work
from discreet.errors import InputError, must_be
from discreet.fiber.bounds.duals import rounded_dual
from discreet.fiber.reconstruction.pairs import Pair, PairSystem, pair_system, surplus
from discreet.fiber.reconstruction.parts import Part, Parts, parts_of
from discreet.fiber.sums.small_blocks import small_points
from discreet.fiber.system.consistency import contradiction
from discreet.fiber.system.linear_system import System, with_sum
from discreet.fiber.system.programs import Deadline, Ending, LinearProgram, Search
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.arrays import BoolArray, IntArray, read_only
from discreet.progress import Progress, interruption_ends_all, silent

STEP = "seeking the two tables furthest apart"
FOREVER = 1e9
LISTED_STEPS = 2000  # values tried to list a part, some 10 ms: a search takes no longer
LISTED_POINTS = 500  # of which all pairs are compared
ENTRY_SECONDS = 3e-9  # of a cell of a pair of points compared
LP_SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Distance:
    """The most persons in which two consistent tables can differ, from `value` to `upper`.

    `pair` are two tables that differ by `value`, None where not even one was found in time.
    `persons` are limits on the number of persons. `note` says why a gap is left, if one is.
    """

    value: int
    upper: int
    persons: tuple[int, int]
    pair: Pair | None
    note: str = ""

    def __post_init__(self) -> None:
        for table in self.pair or ():
            read_only(table)

    @property
    def how(self) -> How:
        """Exact where two tables attain the bound."""
        return How.EXACT if self.value == self.upper else How.BOUND

    @property
    def figure(self) -> Figure:
        """The distance [persons]."""
        return _limits(self.value, self.upper, self.note)

    @property
    def share(self) -> Outcome:
        """The distance over the number of persons, from 0 (all records certain) to 1."""
        least, most = self.persons
        if most == 0:
            return Unavailable("no person is counted")
        low = self.value / most
        high = min(1.0, self.upper / least) if least else 1.0 if self.upper else 0.0
        return _limits(low, high, self.note)

    def to_json(self) -> dict[str, Any]:
        """Both figures."""
        return {"persons": self.figure.to_json(), "share": self.share.to_json()}


def _limits(low: float, high: float, note: str) -> Figure:
    if low == high:
        return Figure(value=low, how=How.EXACT)
    return Figure(value=None, how=How.BOUND, low=low, high=high, note=note)


@dataclass(slots=True)
class _Apart:
    """What is known of one part: the best pair, and what no pair exceeds."""

    value: int
    upper: int
    pair: Pair | None

    @property
    def is_proved(self) -> bool:
        return self.pair is not None and self.value == self.upper

    def saw(self, part: System, pair: Pair, counted: BoolArray) -> None:
        """Takes note of a pair, either way round, if both are points."""
        if not all(part.holds(point) for point in pair):
            return
        for first, second in (pair, pair[::-1]):
            value = surplus(first[counted], second[counted])
            if self.pair is None or value > self.value:
                self.value, self.pair = value, (first, second)


def largest_distance(
    system: System,
    *,
    cells: IntArray | None = None,
    tables: Sequence[IntArray] = (),
    time_limit: float | None = None,
    progress: Progress = silent,
) -> Distance:
    """The greatest distance of two consistent tables, or limits on it where time was short.

    `cells` are those whose persons count (all named cells if left out), such as the cells of one
    area of several that are tied by shared sums. `tables` are consistent tables already known; they
    spare search and change no answer that is exact. After `time_limit` seconds of work the rest is
    bounded. An interruption (KeyboardInterrupt) does the same, unless the whole work is to end.
    Raises InputError, naming statements that disagree, where it finds that no table is consistent.
    """
    counted = counted_columns(system, cells)
    deadline = Deadline(time_limit)
    return distance_of_parts(system, parts_of(system), counted, tables, deadline, progress)


def counted_columns(system: System, cells: IntArray | None) -> BoolArray:
    """Which columns are cells whose persons count."""
    counted = np.zeros(system.n_columns, dtype=np.bool_)
    wanted = np.arange(system.n_named) if cells is None else np.asarray(cells, dtype=np.int64)
    if wanted.ndim != 1 or np.any((wanted < 0) | (wanted >= system.n_named)):
        raise InputError(must_be("cells", f"numbers 0 to {system.n_named - 1}", "others"))
    counted[wanted] = True
    return counted


def distance_of_parts(
    system: System,
    whole: Parts,
    counted: BoolArray,
    tables: Sequence[IntArray],
    deadline: Deadline,
    progress: Progress = silent,
) -> Distance:
    """The distance as the sum over parts."""
    known = [point_of(system, table) for table in tables]
    first, second = whole.lower.copy(), whole.lower.copy()
    upper, has_pair, done = 0, True, 0
    for part in whole.parts:
        apart = _part_apart(system, part, counted[part.columns], known, deadline)
        upper += apart.upper
        has_pair &= apart.pair is not None
        if apart.pair is not None:
            first[part.columns], second[part.columns] = apart.pair
        done += len(part.columns)
        progress(STEP, done / max(1, sum(len(each.columns) for each in whole.parts)))
    pair = (first, second) if has_pair else None
    if pair is not None and not (system.holds(first) and system.holds(second)):
        raise contradiction(system)  # of forced cells: every part has points
    value = surplus(first[counted], second[counted]) if pair is not None else 0
    return Distance(
        value=value,
        upper=upper,
        persons=persons_of(system, whole, counted, pair, deadline),
        pair=None if pair is None else (first[: system.n_named], second[: system.n_named]),
        note="" if value == upper else f"{_why(deadline)}: the true distance lies between",
    )


def _why(deadline: Deadline) -> str:
    return deadline.why if deadline.passed else "counts too large for the search"


def point_of(system: System, table: IntArray) -> IntArray:
    """The point of a table given as consistent, which is checked."""
    cells = np.asarray(table, dtype=np.int64).ravel()
    if len(cells) != system.n_named:
        raise InputError(must_be("tables", f"of {system.n_named} cells", len(cells)))
    point = system.completed(cells)
    if not system.holds(point):
        raise InputError(must_be("tables", "consistent with every statement", "one that is not"))
    return point


def _part_apart(
    system: System,
    part: Part,
    counted: BoolArray,
    known: Sequence[IntArray],
    deadline: Deadline,
) -> _Apart:
    """The distance within one part, as well as the time allows."""
    apart = _Apart(0, _simple_limit(part.system, counted), None)
    for first, second in zip(known, [*known[1:], *known[:1]], strict=True):
        apart.saw(part.system, (first[part.columns], second[part.columns]), counted)
    try:
        for step in (_by_listing, _by_linear_program, _by_search):
            if not apart.is_proved:
                step(part.system, counted, apart, deadline)
    except _NoPointError:
        raise contradiction(system) from None
    except KeyboardInterrupt:
        if interruption_ends_all():
            raise
        deadline.interrupt()
    return apart


class _NoPointError(Exception):
    """A part has no whole-number point."""


def _simple_limit(part: System, counted: BoolArray) -> int:
    """Σ (u − l), or half of it where a row fixes the number of persons."""
    room = int((part.upper - part.lower)[counted].sum())
    return room // 2 if fixes_sum(part, counted) else room


def fixes_sum(system: System, counted: BoolArray) -> bool:
    """Whether some row by itself fixes the sum of the counted columns."""
    lengths = np.diff(system.matrix.indptr)
    n = int(counted.sum())
    for row in np.flatnonzero(lengths == n).tolist():
        inside = slice(system.matrix.indptr[row], system.matrix.indptr[row + 1])
        same = np.all(counted[system.matrix.indices[inside]])
        if same and len(set(system.matrix.data[inside].tolist())) == 1:
            return True
    return n == 0


def _by_listing(part: System, counted: BoolArray, apart: _Apart, deadline: Deadline) -> None:
    """Compares all pairs of points where there are few."""
    if deadline.passed:
        return
    right = part.right - part.matrix @ part.lower
    points = small_points(part.matrix, right, part.upper - part.lower, most_steps=LISTED_STEPS)
    if points is None or len(points) > LISTED_POINTS:
        return
    if not len(points):
        raise _NoPointError
    work(ENTRY_SECONDS * len(points) * points.size)
    own = points[:, counted]
    furthest = [np.maximum(point - own, 0).sum(axis=1) for point in own]
    first, second = np.unravel_index(int(np.argmax(furthest)), (len(points),) * 2)
    pair = (points[first] + part.lower, points[second] + part.lower)
    apart.saw(part, pair, counted)
    apart.upper = min(apart.upper, apart.value)


def _by_linear_program(part: System, counted: BoolArray, apart: _Apart, deadline: Deadline) -> None:
    """A bound by the linear program over pairs, proved in whole numbers, and perhaps its pair."""
    if deadline.passed:
        return
    pairs = pair_system(part, counted)
    summed = with_sum(pairs.system, pairs.surplus)
    last = summed.n_columns - 1
    vertex = LinearProgram(summed).maximise([last], 1, deadline.left(LP_SECONDS))
    if vertex is None:
        return
    bound, _ = rounded_dual(summed, last, 1, vertex.weights)
    apart.upper = min(apart.upper, bound)
    apart.saw(part, pairs.read(np.rint(vertex.point).astype(np.int64)), counted)


def _by_search(part: System, counted: BoolArray, apart: _Apart, deadline: Deadline) -> None:
    """The best pair by search, or what it has found in time."""
    if deadline.passed and apart.pair is not None:
        return
    pairs: PairSystem = pair_system(part, counted)
    search = Search(pairs.system, linear=True)
    if apart.pair is not None:
        search.hint(pairs.point(apart.pair))
    found = search.maximise(pairs.surplus.tolist(), 1, deadline.left(FOREVER))
    if found.ending is Ending.INFEASIBLE:
        raise _NoPointError
    if found.point is not None:
        apart.saw(part, pairs.read(found.point), counted)
    if found.bound is not None:
        apart.upper = min(apart.upper, found.bound)


def persons_of(
    system: System, whole: Parts, counted: BoolArray, pair: Pair | None, deadline: Deadline
) -> tuple[int, int]:
    """Limits on the number of persons in the counted cells, each proved."""
    if fixes_sum(system, counted) and pair is not None:
        total = int(pair[0][counted].sum())
        return total, total
    least = most = int(whole.lower[counted].sum())
    for part in whole.parts:
        low, high = _persons_within(part.system, counted[part.columns], deadline)
        base = int(part.system.lower[counted[part.columns]].sum())
        least, most = least + low - base, most + high - base
    return least, most


def _persons_within(part: System, counted: BoolArray, deadline: Deadline) -> tuple[int, int]:
    """Least and greatest sum over the counted columns of a part, by the linear program's duals."""
    inside = np.flatnonzero(counted)
    low, high = int(part.lower[inside].sum()), int(part.upper[inside].sum())
    if not len(inside) or deadline.passed:
        return low, high
    summed = with_sum(part, inside)
    last = summed.n_columns - 1
    program = LinearProgram(summed)
    found = []
    for sign in (-1, 1):
        vertex = program.maximise([last], sign, deadline.left(LP_SECONDS))
        limit = high if sign > 0 else -low
        weights = None if vertex is None else vertex.weights
        found.append(limit if weights is None else rounded_dual(summed, last, sign, weights)[0])
    return -found[0], found[1]
