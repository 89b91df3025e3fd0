"""l-diversity and (α, k)-anonymity: what the file tells of someone whose cell is known.

An intruder who knows in which cell a person is need not find the record: if all records of the cell
have the same sensitive value, or nearly all, the value is out. Each measure here looks at the
values within one cell; `discreet.survey.attributes.closeness` compares them with the whole file.

Machanavajjhala, Gehrke, Kifer and Venkitasubramaniam (2006, 2007): distinct, entropy and recursive
(c, l)-diversity. Wong, Li, Fu and Wang (2006): (α, k)-anonymity.

A cell none of whose records has a sensitive value has no measure: it is masked, never 0, and every
total says how many such cells and records there are.
"""

import math
import operator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InputError, must_be
from discreet.figures import Unavailable
from discreet.numerics.arrays import BoolArray, IntArray, read_only

SLACK = 1e-12  # rounding may not decide: a measure this near to its threshold counts as equal to it
MOST_RECORDS = 2**53  # below this a quotient of two counts is the nearest double
Masked = np.ma.MaskedArray[Any, np.dtype[Any]]


def whole_numbers(name: str, given: ArrayLike, least: int) -> IntArray:
    """The numbers as a read-only row of 64-bit integers.

    Checked: whole, and none below `least`.
    """
    array = np.asarray(given)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(
            must_be(name, "a row of whole numbers", f"{array.dtype} in {array.ndim} dimensions")
        )
    numbers: IntArray = read_only(array.astype(np.int64, copy=False).view())
    if (numbers < least).any():
        row = int(np.argmax(numbers < least))
        raise InputError(must_be(name, f"at least {least}", numbers[row], where=f"row {row}"))
    return numbers


def counts_in_all(name: str, numbers: IntArray) -> int:
    """Their sum. Checked: below 2^53, so that shares are exact to the last bit."""
    if numbers.sum(dtype=np.float64) >= MOST_RECORDS:
        raise InputError(must_be(name, "fewer than 2^53 in all", f"{numbers.sum(dtype=float):.3g}"))
    return int(numbers.sum())


def figures_of_records(of_cell: Masked, cell: ArrayLike) -> Masked:
    """The figure of each record from those of the cells, given the cell of each record."""
    cells = whole_numbers("cell", cell, 0)
    _below("cell", cells, len(of_cell))
    return np.ma.MaskedArray(of_cell[cells])


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitiveCounts:
    """How often each sensitive value occurs in each cell, one row an occupied pair.

    Rows ascend by `cell` (0 … n_cells − 1), then `value` (0 … n_values − 1); `records` is at
    least 1. `order` has a number for each value, for distances between ordered values. Records
    whose value is missing are either coded as a value of their own, which then counts as one more
    value, or left out; if left out, `sample_count` (all records of each cell) tells how many.
    `file_records` has the records of each value in the whole file, where cells overlap so that
    their sum says more.

    From these: `starts`, the first row of each cell that has a value, and `known_records`, the
    records with a value in each of those cells.

    Checked: all of this, and that some record has a value. Trusted: the codes mean what they say.
    """

    cell: IntArray
    value: IntArray
    records: IntArray
    n_cells: int
    n_values: int
    order: NDArray[Any] | None = None
    sample_count: IntArray | None = None
    file_records: IntArray | None = None
    starts: IntArray = field(init=False, repr=False)
    known_records: IntArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name, least in (("cell", 0), ("value", 0), ("records", 1)):
            object.__setattr__(self, name, whole_numbers(name, getattr(self, name), least))
        self._check_rows()
        starts = read_only(np.flatnonzero(np.diff(self.cell, prepend=-1)))
        object.__setattr__(self, "starts", starts)
        known_records = read_only(np.add.reduceat(self.records, starts))
        object.__setattr__(self, "known_records", known_records)
        if self.order is not None:
            object.__setattr__(self, "order", _numbers(self.order, self.n_values))
        if self.sample_count is not None:
            self._check_sample_count(self.sample_count)
        if self.file_records is not None and len(self.file_records) != self.n_values:
            rule = f"one for each of {self.n_values} values"
            raise InputError(must_be("file_records", rule, len(self.file_records)))

    @classmethod
    def of_records(
        cls,
        cell: ArrayLike,
        value: ArrayLike,
        *,
        n_cells: int,
        n_values: int,
        order: NDArray[Any] | None = None,
    ) -> "SensitiveCounts":
        """Counted from the cell and the value of every record; value −1 is missing and left out."""
        cells, values = whole_numbers("cell", cell, 0), whole_numbers("value", value, -1)
        _alike("value", values, cells)
        _below("cell", cells, n_cells)
        _below("value", values, n_values)
        if n_cells * n_values >= 2**63:
            raise InputError(must_be("cells times values", "below 2^63", n_cells * n_values))
        known = values >= 0
        pairs, records = _tally(cells[known] * n_values + values[known], n_cells * n_values)
        return cls(
            cell=pairs // max(n_values, 1),
            value=pairs % max(n_values, 1),
            records=records,
            n_cells=n_cells,
            n_values=n_values,
            order=order,
            sample_count=np.bincount(cells, minlength=n_cells),
        )

    def _check_rows(self) -> None:
        _alike("value", self.value, self.cell)
        _alike("records", self.records, self.cell)
        if not len(self.cell):
            raise InputError(must_be("sensitive variable", "known for some record", "none"))
        _below("cell", self.cell, self.n_cells)
        _below("value", self.value, self.n_values)
        counts_in_all("records", self.records)
        step, climb = np.diff(self.cell), np.diff(self.value)
        unsorted = (step < 0) | ((step == 0) & (climb <= 0))
        if unsorted.any():
            row = int(np.argmax(unsorted)) + 1
            rule = "each pair of cell and value once, ascending"
            raise InputError(must_be("rows", rule, "another order", where=f"row {row}"))

    def _check_sample_count(self, given: IntArray) -> None:
        sample_count = whole_numbers("sample_count", given, 1)
        object.__setattr__(self, "sample_count", sample_count)
        if len(sample_count) != self.n_cells:
            raise InputError(
                must_be("sample_count", f"one for each of {self.n_cells} cells", len(sample_count))
            )
        counts_in_all("sample_count", sample_count)
        short = sample_count[self.known] < self.known_records
        if short.any():
            where = f"cell {self.known[np.argmax(short)]}"
            rule = "at least the records of the cell that have a value"
            raise InputError(must_be("sample_count", rule, "fewer", where=where))

    @property
    def known(self) -> IntArray:
        """The cells in which some record has a value, ascending."""
        return self.cell[self.starts]

    @property
    def n_records(self) -> int:
        """Records with a value."""
        return int(self.records.sum())

    @property
    def file_totals(self) -> IntArray:
        """Records of each value in the whole file, exact as all sums are below 2^53."""
        if self.file_records is not None:
            return self.file_records
        totals = np.bincount(self.value, weights=self.records, minlength=self.n_values)
        return totals.astype(np.int64)

    @property
    def cell_records(self) -> IntArray:
        """All records of each cell; those with a value, where no `sample_count` was given."""
        if self.sample_count is not None:
            return self.sample_count
        counted = np.zeros(self.n_cells, dtype=np.int64)
        counted[self.known] = self.known_records
        return counted

    def spread(self, values: NDArray[Any]) -> Masked:
        """A read-only figure for every cell from one for each `known` cell; the others masked."""
        mask = np.ones(self.n_cells, dtype=np.bool_)
        mask[self.known] = False
        whole = np.full(self.n_cells, -1, dtype=values.dtype)
        whole[self.known] = values
        return np.ma.MaskedArray(read_only(whole), mask=read_only(mask), hard_mask=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failing:
    """The cells that break a rule, the records in them, and what could not be judged. Exact.

    `cell` flags every cell. The records of a cell are all that fall in it, with or without a
    sensitive value of their own, where the sample counts were given.
    """

    rule: str
    cell: BoolArray
    cells: int
    records: int
    judged_cells: int
    judged_records: int
    absent_cells: int
    absent_records: int | Unavailable

    @property
    def cell_share(self) -> float:
        """Share of the judged cells that break the rule."""
        return self.cells / self.judged_cells

    @property
    def record_share(self) -> float:
        """Share of the records in judged cells that are in a cell that breaks the rule."""
        return self.records / self.judged_records

    @property
    def meaning(self) -> str:
        """The count in one sentence."""
        absent = ""
        if self.absent_cells:
            absent = f"; {self.absent_cells:,} more have no sensitive value and cannot be judged"
        return (
            f"{self.cells:,} of {self.judged_cells:,} cells, with {self.records:,} of "
            f"{self.judged_records:,} records, break the rule: {self.rule}{absent}"
        )


def count_failing(
    counts: SensitiveCounts, rule: str, fails: BoolArray, judged: BoolArray
) -> Failing:
    """Totals of the cells that fail among those that could be judged."""
    records = counts.cell_records
    absent = int((~judged).sum())
    missing: int | Unavailable = int(records[~judged].sum())
    if absent and counts.sample_count is None:
        missing = Unavailable(
            "the records without a sensitive value were left out and their number is not known"
        )
    return Failing(
        rule=rule,
        cell=read_only(fails),
        cells=int(fails.sum()),
        records=int(records[fails].sum()),
        judged_cells=counts.n_cells - absent,
        judged_records=int(records[judged].sum()),
        absent_cells=absent,
        absent_records=missing,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CellMeasure:
    """One figure for each cell, read-only, masked where no record of the cell has a value."""

    counts: SensitiveCounts
    value: Masked
    worst_is_high: ClassVar[bool] = False
    meaning: ClassVar[str]

    @property
    def worst_cell(self) -> int:
        """The cell with the worst figure, the first of several that differ by rounding only."""
        extreme = self.value.max() if self.worst_is_high else self.value.min()
        near = np.ma.abs(self.value - extreme) <= SLACK * max(1.0, abs(float(extreme)))
        return int(np.argmax(near.filled(False)))

    @property
    def worst(self) -> float | Unavailable:
        """The worst figure of any cell: the one the whole file is said to have."""
        return float(self.value.max() if self.worst_is_high else self.value.min())

    def per_record(self, cell: ArrayLike) -> Masked:
        """The figure of each record, given the cell of each."""
        return figures_of_records(self.value, cell)

    def judge(self, rule: str, fails: NDArray[Any]) -> Failing:
        """Totals of the cells that have a figure and for which `fails` holds."""
        present = ~np.ma.getmaskarray(self.value)
        return count_failing(self.counts, rule, np.ma.getdata(fails) & present, present)


class DistinctDiversity(CellMeasure):
    """How many different sensitive values each cell holds (distinct l-diversity). Exact."""

    __slots__ = ()
    meaning: ClassVar[str] = (
        "how many different sensitive values the records of a cell have; at 1, whoever knows the "
        "cell of a person knows the value"
    )

    def failing(self, ell: int) -> Failing:
        """Cells with fewer than l different values."""
        least = at_least("l", ell, 1)
        return self.judge(f"at least {least:,} different sensitive values", self.value < least)


def distinct_diversity(counts: SensitiveCounts) -> DistinctDiversity:
    """Number of different sensitive values in each cell. Exact."""
    return DistinctDiversity(counts=counts, value=counts.spread(_sizes(counts)))


class EntropyDiversity(CellMeasure):
    """exp(H) of each cell, H = −Σ p log p over its sensitive values (entropy l-diversity)."""

    __slots__ = ()
    meaning: ClassVar[str] = (
        "how many equally frequent sensitive values would be as hard to guess as those of the "
        "cell; it is low when one value dominates, though others occur"
    )

    def failing(self, ell: float) -> Failing:
        """Cells with exp(H) below l, by more than rounding (a relative 1e-12)."""
        if not 1 <= ell < math.inf:
            raise InputError(must_be("l", "a number of at least 1", ell))
        rule = f"entropy of the sensitive values at least log {ell:g}"
        return self.judge(rule, self.value < ell * (1 - SLACK))


def entropy_diversity(counts: SensitiveCounts) -> EntropyDiversity:
    """exp(H) of each cell, from 1 to its number of values; exactly that number for equal counts."""
    starts, sizes = counts.starts, _sizes(counts)
    share = counts.records / np.repeat(counts.known_records, sizes)
    entropy = -np.add.reduceat(share * np.log(share), starts)
    largest, least = _extremes(counts)
    effective = np.where(largest == least, sizes, np.clip(np.exp(entropy), 1, sizes))
    return EntropyDiversity(counts=counts, value=counts.spread(effective))


@dataclass(frozen=True, slots=True, kw_only=True)
class RecursiveDiversity(CellMeasure):
    """r₁ / (r_l + … + r_m) of each cell, r the counts of its m values, largest first.

    (c, l)-diversity holds for every c above this ratio and for no other. Cells with fewer than l
    values satisfy it for no c: they are masked too, and flagged by `too_few`.
    """

    ell: int
    too_few: BoolArray
    worst_is_high: ClassVar[bool] = True
    meaning: ClassVar[str] = (
        "how many times as frequent the most frequent sensitive value of a cell is as all but the "
        "l − 1 most frequent ones together; a large ratio leaves an intruder little doubt"
    )

    @property
    def worst_cell(self) -> int:
        """A cell with too few values where there is one, else that with the largest ratio."""
        return int(np.argmax(self.too_few) if self.too_few.any() else np.ma.argmax(self.value))

    @property
    def worst(self) -> float | Unavailable:
        """The largest ratio: what c must exceed for every cell to be (c, l)-diverse."""
        if self.too_few.any():
            short = f"fewer than {self.ell} sensitive values in {self.too_few.sum():,} of the cells"
            return Unavailable(f"no c is large enough: {short}")
        return float(self.value.max())

    def failing(self, c: float) -> Failing:
        """Cells where r₁ < c (r_l + … + r_m) does not hold."""
        _check_c(c)
        has_ratio = ~np.ma.getmaskarray(self.value)
        fails = self.too_few | (has_ratio & (np.ma.getdata(self.value) >= c))
        rule = f"recursive ({c:g}, {self.ell})-diversity"
        return count_failing(self.counts, rule, fails, has_ratio | self.too_few)


def recursive_diversity(counts: SensitiveCounts, ell: int) -> RecursiveDiversity:
    """The ratio r₁ / (r_l + … + r_m) of each cell, r its counts from the largest down."""
    least, starts, sizes = at_least("l", ell, 1), counts.starts, _sizes(counts)
    too_few = sizes < least
    left = _left_over(counts)[starts[~too_few] + min(least - 1, len(counts.cell))]
    ratio = np.full(len(sizes), -1.0)
    ratio[~too_few] = _extremes(counts)[0][~too_few] / left
    flags = np.zeros(counts.n_cells, dtype=np.bool_)
    flags[counts.known] = too_few
    value = counts.spread(ratio)
    shown = np.ma.MaskedArray(value.data, mask=read_only(value.mask | flags), hard_mask=True)
    return RecursiveDiversity(counts=counts, value=shown, ell=least, too_few=read_only(flags))


class Concentration(CellMeasure):
    """Share of the most frequent sensitive value among the records of each cell that have one."""

    __slots__ = ()
    worst_is_high: ClassVar[bool] = True
    meaning: ClassVar[str] = (
        "how often an intruder who knows the cell and guesses its most frequent sensitive value is "
        "right"
    )

    def failing(self, alpha: float, k: int) -> Failing:
        """Cells that are not (α, k)-anonymous: a share above α, or fewer than k records.

        A cell without any sensitive value is judged by k alone, and only where it fails.
        """
        if not 0 < alpha <= 1:
            raise InputError(must_be("alpha", "above 0 and at most 1", alpha))
        records = self.counts.cell_records
        present = ~np.ma.getmaskarray(self.value)
        small = (records < at_least("k", k, 1)) & (records > 0)
        fails = small | (present & (np.ma.getdata(self.value) > alpha))
        rule = f"no sensitive value above a share of {alpha:g} and at least {k:,} records"
        return count_failing(self.counts, rule, fails, present | fails)


def concentration(counts: SensitiveCounts) -> Concentration:
    """The largest share of one sensitive value in each cell, for (α, k)-anonymity."""
    return Concentration(
        counts=counts, value=counts.spread(_extremes(counts)[0] / counts.known_records)
    )


def at_least(name: str, given: int, least: int) -> int:
    """The whole number given. Checked: it is one, and at least `least`."""
    try:
        number = operator.index(given)
    except TypeError:
        number = least - 1
    if number < least:
        raise InputError(must_be(name, f"a whole number of at least {least}", given))
    return number


def rows_by(counts: SensitiveCounts, key: IntArray) -> IntArray:
    """Rows ordered by cell and, within a cell, by a key of at least 0."""
    span = int(key.max()) + 1
    if counts.n_cells * span < 2**63:
        return np.argsort(counts.cell * span + key, kind="stable")
    return np.lexsort((key, counts.cell))


def _tally(codes: IntArray, n_codes: int) -> tuple[IntArray, IntArray]:
    """The codes that occur, ascending, and how often; without sorting where there are few."""
    if n_codes > 4 * len(codes):
        return np.unique(codes, return_counts=True)
    often = np.bincount(codes, minlength=n_codes)
    occurring = np.flatnonzero(often)
    return occurring, often[occurring]


def _sizes(counts: SensitiveCounts) -> IntArray:
    """Rows, that is different values, of each known cell."""
    return np.diff(counts.starts, append=len(counts.cell))


def _extremes(counts: SensitiveCounts) -> tuple[IntArray, IntArray]:
    """The largest and the smallest count in each known cell."""
    starts = counts.starts
    return (
        np.maximum.reduceat(counts.records, starts),
        np.minimum.reduceat(counts.records, starts),
    )


def _left_over(counts: SensitiveCounts) -> IntArray:
    """r_j + … + r_m for the j-th row of each cell, its counts from the largest down."""
    records = counts.records[rows_by(counts, counts.records.max() - counts.records)]
    before = np.cumsum(records) - records
    ends = before[counts.starts] + counts.known_records
    left: IntArray = np.repeat(ends, _sizes(counts)) - before
    return left


def _check_c(c: float) -> None:
    if not 0 < c < math.inf:
        raise InputError(must_be("c", "a number above 0", c))


def _alike(name: str, array: NDArray[Any], other: NDArray[Any]) -> None:
    if len(array) != len(other):
        raise InputError(must_be(name, f"as long as cell ({len(other):,})", f"{len(array):,}"))


def _below(name: str, codes: IntArray, limit: int) -> None:
    if (codes >= limit).any():
        row = int(np.argmax(codes >= limit))
        raise InputError(must_be(name, f"below {limit:,}", codes[row], where=f"row {row}"))


def _numbers(order: ArrayLike, n_values: int) -> NDArray[Any]:
    numbers = np.asarray(order)
    if numbers.dtype.kind not in "biuf":
        rule = "numbers, for a distance between ordered values"
        remedy = "give each value a number, or use the equal distance"
        raise InputError(must_be("order", rule, f"type {numbers.dtype}", remedy=remedy))
    if numbers.shape != (n_values,):
        raise InputError(
            must_be("order", f"one number for each of {n_values:,} values", numbers.shape)
        )
    return read_only(numbers.view())
