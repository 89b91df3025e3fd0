"""Sensitive variables: what the group of a record tells about them, under each missing policy.

The *group* of a record is its cell where missing values match nothing but each other. Under
`wildcard` it is every record that it matches, each counted in full, whatever a match weighs. Under
`conservative` it is, for a complete record, its cell; for an incomplete one the complete records
that match it, and if there is none the records of its own cell. So all records of a cell have one
group. Records without a sensitive value add nothing to it; a group in which nobody has a value has
no measure. The k of (α, k) is that of k-anonymity: it looks at the sample count.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from discreet.data.cells import CellBatch
from discreet.data.hierarchy import Hierarchy
from discreet.engines.contract import CellStore, SensitiveValues
from discreet.engines.key_space import KeySpace
from discreet.engines.matched_values import GroupValues, matched_values
from discreet.errors import InputError, MissingError, must_be
from discreet.figures import Unavailable
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray
from discreet.survey.attributes.closeness import (
    equal_closeness,
    hierarchical_closeness,
    ordered_closeness,
)
from discreet.survey.attributes.diversity import (
    CellMeasure,
    Failing,
    RecursiveDiversity,
    SensitiveCounts,
    at_least,
    concentration,
    distinct_diversity,
    entropy_diversity,
    recursive_diversity,
)

Measured = tuple[CellMeasure, Failing]
NO_VALUE = Unavailable("no group has a record with a value of it, so there is nothing to measure")


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """What a cell must reach: l values, recursive (c, l), at most t from the file, and for
    (α, k)-anonymity at most a share α of one value and k records.

    Checked: l and k are whole and at least 1, c is above 0, t is from 0 to 1, α in (0, 1].
    """

    diversity: int = 2
    recursive_c: float = 3.0
    closeness: float = 0.3
    concentration: float = 0.8
    anonymity: int = 2

    def __post_init__(self) -> None:
        at_least("l", self.diversity, 1)
        at_least("alpha_k", self.anonymity, 1)
        if not 0 < self.recursive_c < float("inf"):
            raise InputError(must_be("c", "a number above 0", self.recursive_c))
        if not 0 <= self.closeness <= 1:
            raise InputError(must_be("t", "from 0 to 1", self.closeness))
        if not 0 < self.concentration <= 1:
            raise InputError(must_be("alpha", "above 0 and at most 1", self.concentration))


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitiveFigure:
    """One measure: its worst value over the cells, and what breaks the rule."""

    name: str
    rule: str
    meaning: str
    worst: float | Unavailable
    records: int
    cells: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitiveFigures:
    """All measures of one sensitive variable. Exact, given the policy for missing values.

    `levels` are the values that occur; `measures` names the figures in short, and the columns
    beside the cells after the variable; there it is NaN where no record of the group has a value.
    """

    name: str
    levels: tuple[str, ...]
    n_without_value: int
    figures: tuple[SensitiveFigure, ...]
    measures: tuple[str, ...]

    @property
    def n_values(self) -> int:
        """Different values that occur."""
        return len(self.levels)

    @property
    def columns(self) -> tuple[str, ...]:
        """What lies beside the cells."""
        return tuple(f"{self.name}_{measure}" for measure in self.measures)


def sensitive_figures(
    store: CellStore, name: str, thresholds: Thresholds, hierarchy: Hierarchy | None = None
) -> SensitiveFigures:
    """Diversity, closeness and concentration of one sensitive variable of the request."""
    labels, counts = store.sensitive_totals(name)
    step = measuring(name, labels, counts, store.cells.space, thresholds, hierarchy)
    return step.figures(store.measure_values(name, step), store.n_records)


def measuring(
    name: str,
    labels: tuple[str, ...],
    counts: IntArray,
    space: KeySpace,
    thresholds: Thresholds,
    hierarchy: Hierarchy | None,
) -> "MeasuringValues":
    """What measures a variable with these values, which so many records have."""
    if not counts.any():
        raise _unknown(name, labels)
    return MeasuringValues(
        name=name, labels=labels, counts=counts, space=space, thresholds=thresholds, tree=hierarchy
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuringValues:
    """The measures of a variable in every cell. `counts` are the records of each of its values in
    the whole file."""

    name: str
    labels: tuple[str, ...]
    counts: IntArray
    space: KeySpace
    thresholds: Thresholds
    tree: Hierarchy | None

    @property
    def gives(self) -> tuple[str, ...]:
        """The columns, named after the variable."""
        return tuple(f"{self.name}_{column}" for column in self._columns())

    def _columns(self) -> list[str]:
        named = _measures(self.thresholds, self._file().order, self._file().labels, self.tree)
        return [*(column for _, column, _ in named), "alpha"]

    def _file(self) -> "_File":
        return _File.of(self.labels, self.counts)

    def of(
        self, batch: CellBatch, values: SensitiveValues
    ) -> tuple[dict[str, FloatArray], tuple["Judged", ...]]:
        """Of some cells, with all that match them."""
        file, n, t = self._file(), len(batch), self.thresholds
        judges = [
            _Judge(n, name, column, measure)
            for name, column, measure in _measures(t, file.order, file.labels, self.tree)
        ]
        alpha = _Judge(n, "(α, k)-anonymity", "alpha", _concentration(t))
        alpha.failing |= batch.sample_count < t.anonymity
        alpha.rule = f"a sample count of at least {t.anonymity:,}"
        for group in _groups(batch, self.space, file.place[values.value], values):
            counts = file.counts(group)
            if counts is not None:
                for judge in (*judges, alpha):
                    judge.add(group.cells, counts)
        every = (*judges, alpha)
        columns = {f"{self.name}_{judge.column}": judge.value for judge in every}
        return columns, tuple(judge.judged(batch.n_records) for judge in every)

    def joined(
        self, one: tuple["Judged", ...], other: tuple["Judged", ...]
    ) -> tuple["Judged", ...]:
        """Of the cells of both."""
        return tuple(a.joined(b) for a, b in zip(one, other, strict=True))

    def figures(self, found: tuple["Judged", ...], n_records: int) -> SensitiveFigures:
        """The measures of the whole file."""
        return SensitiveFigures(
            name=self.name,
            levels=self._file().labels,
            n_without_value=n_records - int(self.counts.sum()),
            figures=tuple(one.figure() for one in found),
            measures=tuple(self._columns()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One measure of some cells: its least and greatest value, and what breaks the rule."""

    name: str
    rule: str
    meaning: str
    worst_is_high: bool
    least: float
    greatest: float
    too_few: int
    ell: int
    records: int
    cells: int

    def joined(self, other: "Judged") -> "Judged":
        """Of the cells of both; words come from those of which something was measured."""
        told = self if self.meaning else other
        return replace(
            told,
            least=min(self.least, other.least),
            greatest=max(self.greatest, other.greatest),
            too_few=self.too_few + other.too_few,
            records=self.records + other.records,
            cells=self.cells + other.cells,
        )

    def figure(self) -> SensitiveFigure:
        """The measure of the whole file."""
        return SensitiveFigure(
            name=self.name,
            rule=self.rule,
            meaning=self.meaning,
            worst=self._worst(),
            records=self.records,
            cells=self.cells,
        )

    def _worst(self) -> float | Unavailable:
        if self.too_few:
            short = f"fewer than {self.ell} sensitive values in {self.too_few:,} of the cells"
            return Unavailable(f"no c is large enough: {short}")
        if self.least > self.greatest:
            return NO_VALUE
        return self.greatest if self.worst_is_high else self.least


def _unknown(variable: str, labels: tuple[str, ...]) -> MissingError:
    """Why there is no value: none in the file, or only in records that the policy leaves out."""
    name = f"sensitive variable {variable!r}"
    if not labels:
        return MissingError(must_be(name, "known in some record", "none"))
    rule, got = "known in some record that has every key", "it only in records that are left out"
    remedy = "choose category for missing values (missing)"
    return MissingError(must_be(name, rule, got, remedy=remedy))


def _measures(
    t: Thresholds, order: FloatArray | None, labels: tuple[str, ...], hierarchy: Hierarchy | None
) -> Iterator[tuple[str, str, Callable[[SensitiveCounts], Measured]]]:
    """Name, column and working of each measure that can be taken of these values."""

    def distinct(counts: SensitiveCounts) -> Measured:
        measure = distinct_diversity(counts)
        return measure, measure.failing(t.diversity)

    def entropy(counts: SensitiveCounts) -> Measured:
        measure = entropy_diversity(counts)
        return measure, measure.failing(t.diversity)

    def recursive(counts: SensitiveCounts) -> Measured:
        measure = recursive_diversity(counts, t.diversity)
        return measure, measure.failing(t.recursive_c)

    def equal(counts: SensitiveCounts) -> Measured:
        measure = equal_closeness(counts)
        return measure, measure.failing(t.closeness)

    def ordered(counts: SensitiveCounts) -> Measured:
        measure = ordered_closeness(counts)
        return measure, measure.failing(t.closeness)

    yield "distinct l-diversity", "distinct_l", distinct
    yield "entropy l-diversity", "entropy_l", entropy
    yield "recursive (c, l)-diversity", "recursive_c", recursive
    yield "t-closeness, equal distance", "t_equal", equal
    if order is not None:
        yield "t-closeness, ordered", "t_ordered", ordered
    if hierarchy is not None:
        tree = hierarchy

        def hierarchical(counts: SensitiveCounts) -> Measured:
            measure = hierarchical_closeness(counts, tree, labels)
            return measure, measure.failing(t.closeness)

        yield "t-closeness, hierarchical", "t_tree", hierarchical


def _concentration(t: Thresholds) -> Callable[[SensitiveCounts], Measured]:
    """The α of (α, k); the k is that of k-anonymity, judged apart."""

    def most(counts: SensitiveCounts) -> Measured:
        measure = concentration(counts)
        rule = (
            f"no sensitive value above a share of {t.concentration:g}, and a sample count of at "
            f"least {t.anonymity:,}"
        )
        fails = measure.value > t.concentration
        return measure, measure.judge(rule, fails)

    return most


class _Judge:
    """One measure over some cells, put together from parts."""

    def __init__(
        self, n_cells: int, name: str, column: str, measure: Callable[[SensitiveCounts], Measured]
    ) -> None:
        self.name, self.column, self.measure = name, column, measure
        self.value = np.full(n_cells, np.nan)
        self.failing: BoolArray = np.zeros(n_cells, dtype=np.bool_)
        self.rule, self.meaning = "not judged", ""
        self.worst_is_high = False
        self.too_few = self.ell = 0

    def add(self, cells: IntArray, counts: SensitiveCounts) -> None:
        """Measure some cells."""
        measure, failing = self.measure(counts)
        self.value[cells] = np.ma.filled(measure.value.astype(np.float64), np.nan)
        self.failing[cells] |= failing.cell
        self.rule, self.meaning = failing.rule, measure.meaning
        self.worst_is_high = measure.worst_is_high
        if isinstance(measure, RecursiveDiversity):
            self.too_few, self.ell = self.too_few + int(measure.too_few.sum()), measure.ell

    def judged(self, records: IntArray) -> Judged:
        """What was found of these cells, which have so many records."""
        told = self.value[~np.isnan(self.value)]
        return Judged(
            name=self.name,
            rule=self.rule,
            meaning=self.meaning,
            worst_is_high=self.worst_is_high,
            least=float(told.min(initial=np.inf)),
            greatest=float(told.max(initial=-np.inf)),
            too_few=self.too_few,
            ell=self.ell,
            records=int(records[self.failing].sum()),
            cells=int(self.failing.sum()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """The values that occur in the file, numbered 0, 1, …: how many records have each, and the
    number of each value that may occur."""

    labels: tuple[str, ...]
    order: FloatArray | None
    records: IntArray
    place: IntArray

    @classmethod
    def of(cls, labels: tuple[str, ...], counts: IntArray) -> "_File":
        """Number the values that occur."""
        values = np.flatnonzero(counts)
        place = np.full(len(counts), -1)
        place[values] = np.arange(len(values))
        named = tuple(labels[value] for value in values)
        return cls(labels=named, order=_order(named), records=counts[values], place=place)

    def counts(self, group: GroupValues) -> SensitiveCounts | None:
        """The values of some groups; None where none of them has any."""
        if not len(group.cell):
            return None
        return SensitiveCounts(
            cell=group.cell,
            value=group.value,
            records=group.records,
            n_cells=len(group.cells),
            n_values=len(self.labels),
            order=self.order,
            file_records=self.records,
        )


def _groups(
    batch: CellBatch, space: KeySpace, value: IntArray, values: SensitiveValues
) -> Iterator[GroupValues]:
    """The values in the group of each cell, some cells at a time where groups overlap."""
    policy = space.policy.matching
    if policy is not None and space.overlap:
        rows = values.cell, value, values.records
        yield from matched_values(batch.levels(), space.missing_levels, *rows, policy=policy)
        return
    yield GroupValues(
        cells=np.arange(len(batch)), cell=values.cell, value=value, records=values.records
    )


def _order(labels: tuple[str, ...]) -> FloatArray | None:
    """The values as numbers, where all of them are."""
    try:
        numbers = np.array([float(label) for label in labels])
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None
