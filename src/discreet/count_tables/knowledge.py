"""What an intruder knows of a table beside the statistics: limits, sums and orders of its cells."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

import numpy as np
from scipy.sparse import csr_array

from discreet.errors import InputError, must_be
from discreet.fiber.system.linear_system import Statement, System
from discreet.numerics.arrays import IntArray


class Shape(StrEnum):
    """How the counts f_0, f_1, …, f_J go, up to the largest value J that occurs."""

    DECREASING = "decreasing"
    INCREASING = "increasing"
    UNIMODAL = "unimodal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """What is known for sure: nothing, unless said.

    - `largest`: the largest value J, as a number or a range (low, high) that holds it. Value J
      occurs and nothing above it does.
    - `cells`: {j: (low, high)} for f_j; high None means no limit; (c, c) is a known cell.
    - `no_zeros`: nobody has value 0.
    - `shape`: counts never rise, never fall up to J, or rise and then fall. `peak` is where a
      unimodal table has its largest count (one of them, where several cells have it).
    - `n`: a range (low, high) for n where the release withholds it.

    Checked: nothing in it contradicts something else in it.
    """

    largest: int | tuple[int, int] | None = None
    cells: Mapping[int, tuple[int, int | None]] = field(default_factory=dict)
    no_zeros: bool = False
    shape: Shape | None = None
    peak: int | None = None
    n: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", MappingProxyType(dict(sorted(self.cells.items()))))
        if self.shape is not None:
            object.__setattr__(self, "shape", Shape(self.shape))
        _check(self)

    def __bool__(self) -> bool:
        return bool(self.described())

    def first_ordered(self, n_is_known: bool) -> int:
        """The least value whose count takes part in a shape: 0, but 1 where f_0 tells nothing.

        f_0 tells nothing where nobody has value 0, and where n is withheld and no range of it is
        known. The intruder's cases and the check of the holder's table both go by this.
        """
        return 1 if self.no_zeros or not (n_is_known or self.n is not None) else 0

    def is_shape_of(self, table: Mapping[int, int], n_is_known: bool) -> bool:
        """Do the counts f_first, …, f_J of a table go as is known? True where no shape is."""
        if self.shape is None:
            return True
        first = self.first_ordered(n_is_known)
        counts = [table.get(j, 0) for j in range(first, max(table) + 1)]
        rises, falls = sorted(counts), sorted(counts, reverse=True)
        if self.shape is not Shape.UNIMODAL:
            return counts == (rises if self.shape is Shape.INCREASING else falls)
        peak = counts.index(max(counts)) if self.peak is None else self.peak - first
        if not 0 <= peak < len(counts) or counts[peak] != max(counts):
            return False
        up, down = counts[: peak + 1], counts[peak:]
        return up == sorted(up) and down == sorted(down, reverse=True)

    @property
    def largest_range(self) -> tuple[int, int] | None:
        """The range that holds J, or None where nothing is known of it."""
        if isinstance(self.largest, int):
            return self.largest, self.largest
        return self.largest

    def described(self) -> tuple[str, ...]:
        """Each thing that is known, in words."""
        found = []
        if self.largest_range is not None:
            low, high = self.largest_range
            found.append(f"the largest value is {low if low == high else f'{low} to {high}'}")
        found += [_cell_words(j, *limits) for j, limits in self.cells.items()]
        if self.no_zeros:
            found.append("nobody has value 0")
        if self.shape is not None:
            at = "" if self.peak is None else f" with its peak at {self.peak}"
            found.append(f"the counts are {self.shape}{at}")
        if self.n is not None:
            found.append(f"n is {self.n[0]} to {self.n[1]}")
        return tuple(found)

    def statements(self, largest: int) -> list[Statement]:
        """Limits and sums for cells f_0 … f_largest. Raises InputError for cells beyond them."""
        found = [_limits(j, *self.cells[j]) for j in self.cells if self._is_about(j, largest)]
        if self.no_zeros:
            found.append(_limits(0, 0, 0))
        if self.largest_range is not None:
            low = self.largest_range[0]
            if low > largest:
                rule = f"at most {largest}, since S1 and S2 allow no larger value"
                raise InputError(must_be("the known largest value", rule, low))
            cells = np.arange(low, largest + 1)
            found.append(Statement(cells=cells, low=1, high=None, name=f"J of at least {low}"))
        return found

    def _is_about(self, j: int, largest: int) -> bool:
        low = self.cells[j][0]
        if j > largest and low > 0:
            rule = f"0 where {j}! does not divide e^S2 or {j} exceeds S1 or the known largest value"
            raise InputError(must_be(f"the known count of {j}", rule, f"at least {low}"))
        return j <= largest


@dataclass(frozen=True, slots=True)
class Order:
    """Cells in order: smaller[i] + gap[i] ≤ larger[i] for every i."""

    smaller: tuple[int, ...] = ()
    larger: tuple[int, ...] = ()
    gap: tuple[int, ...] = ()

    def __add__(self, other: "Order") -> "Order":
        parts = (self.smaller + other.smaller, self.larger + other.larger, self.gap + other.gap)
        return Order(*parts)


@dataclass(frozen=True, slots=True)
class ShapeCase:
    """One of several cases that exclude one another: an order of cells, and J where it is fixed."""

    order: Order = Order()
    largest: int | None = None


def shape_cases(knowledge: Knowledge, first: int, largest: int) -> Iterator[ShapeCase]:
    """Cases, no two of which hold of the same table, and one of which holds of each of the shape.

    The shape is that of f_first, …, f_largest. Counts that rise need one case for each J, since
    above it they are zero. A unimodal table is told by the first of its largest counts, which is
    strictly above the one before; where the peak is given, other cells may be as large.
    """
    if knowledge.shape is None:
        yield ShapeCase()
    elif knowledge.shape is Shape.DECREASING:
        yield ShapeCase(_falling(first, largest))
    elif knowledge.shape is Shape.INCREASING:
        low = knowledge.largest_range[0] if knowledge.largest_range else 1
        yield from (ShapeCase(_rising(first, j), j) for j in range(max(low, first), largest + 1))
    elif knowledge.peak is not None:
        peak = _checked_peak(knowledge.peak, first, largest)
        yield ShapeCase(_rising(first, peak) + _falling(max(first, peak), largest))
    else:
        for peak in range(first, largest + 1):
            strictly = Order((peak - 1,), (peak,), (1,)) if peak > first else Order()
            yield ShapeCase(_rising(first, peak - 1) + strictly + _falling(peak, largest))


def with_order(system: System, order: Order) -> System:
    """The system with a row for each pair of cells: smaller − larger + column = 0, column ≥ gap."""
    k, n = len(order.smaller), system.n_columns
    if k == 0:
        return system
    extra = _difference_rows(order, n)
    old = csr_array(system.matrix).tocoo()
    i, j = np.concatenate([old.row, extra[0] + system.n_rows]), np.concatenate([old.col, extra[1]])
    values = np.concatenate([old.data, extra[2]])
    larger = np.array(order.larger)
    return System(
        matrix=csr_array((values, (i, j)), shape=(system.n_rows + k, n + k)),
        right=np.concatenate([system.right, np.zeros(k, np.int64)]),
        lower=np.concatenate([system.lower, np.array(order.gap, np.int64)]),
        upper=np.concatenate([system.upper, system.upper[larger]]),
        n_named=system.n_named,
        row_names=(*system.row_names, *_order_names(order)),
    )


def _difference_rows(order: Order, first: int) -> tuple[IntArray, IntArray, IntArray]:
    k = len(order.smaller)
    rows = np.tile(np.arange(k), 3)
    columns = np.concatenate([order.smaller, order.larger, first + np.arange(k)]).astype(np.int64)
    values = np.repeat(np.array([1, -1, 1], np.int64), k)
    return rows, columns, values


def _order_names(order: Order) -> list[str]:
    triples = zip(order.smaller, order.larger, order.gap, strict=True)
    return [f"f{a} {'<' if gap else '≤'} f{b}" for a, b, gap in triples]


def _rising(first: int, last: int) -> Order:
    below = tuple(range(first, last))
    return Order(below, tuple(j + 1 for j in below), (0,) * len(below))


def _falling(first: int, last: int) -> Order:
    above = tuple(range(first, last))
    return Order(tuple(j + 1 for j in above), above, (0,) * len(above))


def _checked_peak(peak: int, first: int, largest: int) -> int:
    if peak < first:
        rule = f"at least {first}, where the shape begins: zeros are none or not known"
        raise InputError(must_be("the known peak", rule, peak))
    if peak > largest:
        rule = f"at most {largest}, since S1 and S2 allow no larger value"
        raise InputError(must_be("the known peak", rule, peak))
    return peak


def _limits(j: int, low: int, high: int | None) -> Statement:
    return Statement(cells=np.array([j]), low=low, high=high, name=f"f{j}")


def _cell_words(j: int, low: int, high: int | None) -> str:
    if high is None:
        return f"f{j} is at least {low}"
    return f"f{j} is {low}" if low == high else f"f{j} is {low} to {high}"


def _check(knowledge: Knowledge) -> None:
    _check_range("the known largest value", knowledge.largest_range)
    _check_range("the known n", knowledge.n)
    for j, (low, high) in knowledge.cells.items():
        if j < 0:
            raise InputError(must_be("values of known cells", "zero or more", j))
        _check_range(f"the known count of {j}", (low, low if high is None else high))
    if knowledge.peak is not None and knowledge.shape is not Shape.UNIMODAL:
        raise InputError(must_be("a known peak", "that of unimodal counts", knowledge.shape))
    if knowledge.peak is not None and knowledge.peak < 0:
        raise InputError(must_be("the known peak", "zero or more", knowledge.peak))
    zeros = knowledge.cells.get(0, (0, None))[0]
    if knowledge.no_zeros and zeros > 0:
        rule = "0, since nobody is known to have value 0"
        raise InputError(must_be("the known count of 0", rule, f"at least {zeros}"))
    _check_largest(knowledge)


def _check_largest(knowledge: Knowledge) -> None:
    if knowledge.largest_range is None:
        return
    least, most = knowledge.largest_range
    for j, (low, _) in knowledge.cells.items():
        if j > most and low > 0:
            rule = f"0, since the largest value is known to be at most {most}"
            raise InputError(must_be(f"the known count of {j}", rule, f"at least {low}"))
    if least == most and knowledge.cells.get(least, (0, None))[1] == 0:
        rule = f"above 0, since {least} is known to be the largest value"
        raise InputError(must_be(f"the known count of {least}", rule, 0))


def _check_range(name: str, limits: tuple[int, int] | None) -> None:
    if limits is None:
        return
    low, high = limits
    if low < 0:
        raise InputError(must_be(name, "zero or more", low))
    if high < low:
        raise InputError(must_be(name, "a range from low to high", f"{low} to {high}"))
