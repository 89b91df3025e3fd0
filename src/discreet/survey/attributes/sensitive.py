"""Sensitive variables: what the group of a record tells about them, under each missing policy.

The *group* of a record is its cell where missing values match nothing but each other. Under
`wildcard` it is every record that it matches, each counted in full, whatever a match weighs. Under
`conservative` it is, for a complete record, its cell; for an incomplete one the complete records
that match it, and if there is none the records of its own cell. So all records of a cell have one
group. Records without a sensitive value add nothing to it; a group in which nobody has a value has
no measure. The k of (α, k) is that of k-anonymity: it looks at the sample count.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from discreet.engines.contract import SensitiveValues
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
from discreet.survey.attributes.hierarchy import Hierarchy
from discreet.survey.projection import AllCells

Judged = tuple[CellMeasure, Failing]
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

    `levels` are the values that occur; `per_cell` has each measure, NaN where there is none.
    """

    name: str
    levels: tuple[str, ...]
    n_without_value: int
    figures: tuple[SensitiveFigure, ...]
    per_cell: Mapping[str, FloatArray]

    @property
    def n_values(self) -> int:
        """Different values that occur."""
        return len(self.levels)

    def columns(self) -> dict[str, FloatArray]:
        """What goes into the file of records; NaN where no record of the group has a value."""
        return {f"{self.name}_{measure}": values for measure, values in self.per_cell.items()}


def sensitive_figures(
    cells: AllCells,
    sensitive: SensitiveValues,
    thresholds: Thresholds,
    hierarchy: Hierarchy | None = None,
) -> SensitiveFigures:
    """Diversity, closeness and concentration of one sensitive variable."""
    if not len(sensitive.cell):
        raise _unknown(sensitive)
    values = _Values.of(sensitive)
    small = cells.sample_count < thresholds.anonymity
    judges = [
        _Judge(len(cells.records), name, column, measure)
        for name, column, measure in _measures(thresholds, values, hierarchy)
    ]
    alpha = _Judge(len(cells.records), "(α, k)-anonymity", "alpha", _concentration(thresholds))
    alpha.failing |= small
    alpha.rule = f"a sample count of at least {thresholds.anonymity:,}"
    for group in _groups(cells, values):
        counts = values.counts(group)
        if counts is not None:
            for judge in (*judges, alpha):
                judge.add(group.cells, counts)
    known = int(sensitive.records.sum())
    return SensitiveFigures(
        name=sensitive.name,
        levels=values.labels,
        n_without_value=int(cells.records.sum()) - known,
        figures=tuple(judge.figure(cells.records) for judge in (*judges, alpha)),
        per_cell={judge.column: judge.value for judge in (*judges, alpha)},
    )


def _unknown(sensitive: SensitiveValues) -> MissingError:
    """Why there is no value: none in the file, or only in records that the policy leaves out."""
    name = f"sensitive variable {sensitive.name!r}"
    if not sensitive.labels:
        return MissingError(must_be(name, "known in some record", "none"))
    rule, got = "known in some record that has every key", "it only in records that are left out"
    remedy = "choose category for missing values (missing)"
    return MissingError(must_be(name, rule, got, remedy=remedy))


def _measures(
    t: Thresholds, values: "_Values", hierarchy: Hierarchy | None
) -> Iterator[tuple[str, str, Callable[[SensitiveCounts], Judged]]]:
    """Name, column and working of each measure that can be taken of these values."""

    def distinct(counts: SensitiveCounts) -> Judged:
        measure = distinct_diversity(counts)
        return measure, measure.failing(t.diversity)

    def entropy(counts: SensitiveCounts) -> Judged:
        measure = entropy_diversity(counts)
        return measure, measure.failing(t.diversity)

    def recursive(counts: SensitiveCounts) -> Judged:
        measure = recursive_diversity(counts, t.diversity)
        return measure, measure.failing(t.recursive_c)

    def equal(counts: SensitiveCounts) -> Judged:
        measure = equal_closeness(counts)
        return measure, measure.failing(t.closeness)

    def ordered(counts: SensitiveCounts) -> Judged:
        measure = ordered_closeness(counts)
        return measure, measure.failing(t.closeness)

    yield "distinct l-diversity", "distinct_l", distinct
    yield "entropy l-diversity", "entropy_l", entropy
    yield "recursive (c, l)-diversity", "recursive_c", recursive
    yield "t-closeness, equal distance", "t_equal", equal
    if values.order is not None:
        yield "t-closeness, ordered", "t_ordered", ordered
    if hierarchy is not None:
        tree = hierarchy

        def hierarchical(counts: SensitiveCounts) -> Judged:
            measure = hierarchical_closeness(counts, tree, values.labels)
            return measure, measure.failing(t.closeness)

        yield "t-closeness, hierarchical", "t_tree", hierarchical


def _concentration(t: Thresholds) -> Callable[[SensitiveCounts], Judged]:
    """The α of (α, k); the k is that of k-anonymity, judged apart."""

    def most(counts: SensitiveCounts) -> Judged:
        measure = concentration(counts)
        rule = (
            f"no sensitive value above a share of {t.concentration:g}, and a sample count of at "
            f"least {t.anonymity:,}"
        )
        fails = measure.value > t.concentration
        return measure, measure.judge(rule, fails)

    return most


class _Judge:
    """One measure over all cells, put together from parts."""

    def __init__(
        self, n_cells: int, name: str, column: str, measure: Callable[[SensitiveCounts], Judged]
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

    def figure(self, records: IntArray) -> SensitiveFigure:
        """The measure of the whole file."""
        return SensitiveFigure(
            name=self.name,
            rule=self.rule,
            meaning=self.meaning,
            worst=self._worst(),
            records=int(records[self.failing].sum()),
            cells=int(self.failing.sum()),
        )

    def _worst(self) -> float | Unavailable:
        if self.too_few:
            short = f"fewer than {self.ell} sensitive values in {self.too_few:,} of the cells"
            return Unavailable(f"no c is large enough: {short}")
        if np.isnan(self.value).all():
            return NO_VALUE
        return float(np.nanmax(self.value) if self.worst_is_high else np.nanmin(self.value))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Values:
    """The values that occur, numbered 0, 1, …, and which records of which cell have them."""

    labels: tuple[str, ...]
    order: FloatArray | None
    file_records: IntArray
    cell: IntArray
    value: IntArray
    records: IntArray

    @classmethod
    def of(cls, sensitive: SensitiveValues) -> "_Values":
        """Number the values that occur."""
        values, place = np.unique(sensitive.value, return_inverse=True)
        labels = tuple(sensitive.labels[value] for value in values)
        return cls(
            labels=labels,
            order=_order(labels),
            file_records=np.bincount(place, weights=sensitive.records).astype(np.int64),
            cell=sensitive.cell,
            value=place.astype(np.int64),
            records=sensitive.records,
        )

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
            file_records=self.file_records,
        )


def _groups(cells: AllCells, values: _Values) -> Iterator[GroupValues]:
    """The values in the group of each cell, some cells at a time where groups overlap."""
    policy = cells.policy.matching
    if policy is not None and cells.overlap:
        levels = cells.coding.decode(cells.words)
        rows = values.cell, values.value, values.records
        yield from matched_values(levels, cells.missing_levels, *rows, policy=policy)
        return
    yield GroupValues(
        cells=np.arange(len(cells.records)),
        cell=values.cell,
        value=values.value,
        records=values.records,
    )


def _order(labels: tuple[str, ...]) -> FloatArray | None:
    """The values as numbers, where all of them are."""
    try:
        numbers = np.array([float(label) for label in labels])
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None
