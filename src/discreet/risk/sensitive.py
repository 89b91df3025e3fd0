"""Sensitive variables: what the cell of a person tells about them, under each missing policy.

The group of a record is all records that match it. Without matching of missing values that is its
cell. Under `wildcard` it is every record it could be, each counted in full; under `conservative`
the complete records that match, and for a record that none matches the records of its own cell.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discreet.data.arrays import BoolArray, FloatArray, IntArray
from discreet.engines.contract import SensitiveValues
from discreet.engines.matching import matched_cells
from discreet.errors import InputError, must_be
from discreet.figures import Unavailable
from discreet.risk.closeness import equal_closeness, hierarchical_closeness, ordered_closeness
from discreet.risk.diversity import (
    CellMeasure,
    Failing,
    SensitiveCounts,
    concentration,
    distinct_diversity,
    entropy_diversity,
    recursive_diversity,
)
from discreet.risk.hierarchy import Hierarchy
from discreet.risk.projection import AllCells


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """What a cell must reach: l values, recursive (c, l), at most t from the file, at most α."""

    diversity: int = 2
    recursive_c: float = 3.0
    closeness: float = 0.3
    concentration: float = 0.8
    anonymity: int = 2


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
    """All measures of one sensitive variable. Exact, given the policy for missing values."""

    name: str
    n_values: int
    n_without_value: int
    figures: tuple[SensitiveFigure, ...]
    per_cell: Mapping[str, FloatArray]

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
        name = f"sensitive variable {sensitive.name!r}"
        raise InputError(must_be(name, "known in some record", "none"))
    group = _groups(cells, sensitive)
    judge = _Judge(cells.records)
    t = thresholds
    distinct = distinct_diversity(group)
    judge.add(
        "distinct l-diversity",
        "distinct_l",
        distinct,
        distinct.failing(t.diversity),
        distinct.worst,
    )
    entropy = entropy_diversity(group)
    judge.add(
        "entropy l-diversity", "entropy_l", entropy, entropy.failing(t.diversity), entropy.worst
    )
    recursive = recursive_diversity(group, t.diversity)
    failing = recursive.failing(t.recursive_c)
    judge.add("recursive (c, l)-diversity", "recursive_c", recursive, failing, recursive.worst)
    equal = equal_closeness(group)
    judge.add(
        "t-closeness, equal distance", "t_equal", equal, equal.failing(t.closeness), equal.worst
    )
    if group.order is not None:
        ordered = ordered_closeness(group)
        judge.add(
            "t-closeness, ordered",
            "t_ordered",
            ordered,
            ordered.failing(t.closeness),
            ordered.worst,
        )
    if hierarchy is not None:
        occurring = [sensitive.labels[value] for value in np.unique(sensitive.value)]
        tree = hierarchical_closeness(group, hierarchy, occurring)
        judge.add(
            "t-closeness, hierarchical", "t_tree", tree, tree.failing(t.closeness), tree.worst
        )
    most = concentration(group)
    failing = most.failing(t.concentration, t.anonymity)
    judge.add("(α, k)-anonymity", "alpha", most, failing, most.worst)
    known = int(sensitive.records.sum())
    return SensitiveFigures(
        name=sensitive.name,
        n_values=len(np.unique(sensitive.value)),
        n_without_value=int(cells.records.sum()) - known,
        figures=tuple(judge.figures),
        per_cell=judge.per_cell,
    )


class _Judge:
    """Collects figures, counting the records of the cells that fail."""

    def __init__(self, records: IntArray) -> None:
        self.records = records
        self.figures: list[SensitiveFigure] = []
        self.per_cell: dict[str, FloatArray] = {}

    def add(
        self,
        name: str,
        column: str,
        measure: CellMeasure,
        failing: Failing,
        worst: float | Unavailable,
    ) -> None:
        """Put one measure down."""
        flags: BoolArray = failing.cell
        self.figures.append(
            SensitiveFigure(
                name=name,
                rule=failing.rule,
                meaning=measure.meaning,
                worst=worst,
                records=int(self.records[flags].sum()),
                cells=int(flags.sum()),
            )
        )
        self.per_cell[column] = np.ma.filled(measure.value.astype(np.float64), np.nan)


def _groups(cells: AllCells, sensitive: SensitiveValues) -> SensitiveCounts:
    """The values that occur, in the group of each cell."""
    values, place = np.unique(sensitive.value, return_inverse=True)
    cell, value, records = sensitive.cell, place.astype(np.int64), sensitive.records
    if cells.policy.matching is not None:
        cell, value, records = _matched(cells, cell, value, records, len(values))
    return SensitiveCounts(
        cell=cell,
        value=value,
        records=records,
        n_cells=len(cells.records),
        n_values=len(values),
        order=_order([sensitive.labels[v] for v in values]),
        file_records=np.bincount(place, weights=sensitive.records).astype(np.int64),
    )


def _order(labels: list[str]) -> FloatArray | None:
    """The values as numbers, where all of them are."""
    try:
        numbers = np.array([float(label) for label in labels])
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def _matched(
    cells: AllCells, cell: IntArray, value: IntArray, records: IntArray, n_values: int
) -> tuple[IntArray, IntArray, IntArray]:
    """The same rows for groups: for each value, the records of the group that have it."""
    levels = cells.coding.decode(cells.words)
    missing = cells.missing_levels
    incomplete = (levels == missing).any(axis=1)
    if not incomplete.any():
        return cell, value, records
    counts = np.zeros((len(cells.records), n_values), dtype=np.int64)
    counts[cell, value] = records
    if cells.policy.matching == "conservative":
        own = counts.copy()
        counts[incomplete] = 0
        group = _sums(levels, missing, counts)
        alone = incomplete & (group.sum(axis=1) == 0)
        group[~incomplete] = own[~incomplete]
        group[alone] = own[alone]
    else:
        group = _sums(levels, missing, counts)
    found_cell, found_value = np.nonzero(group)
    return found_cell, found_value, group[found_cell, found_value]


def _sums(levels: IntArray, missing: IntArray, counts: IntArray) -> IntArray:
    """For each cell and value, the records with that value in all cells that match."""
    sums = np.empty_like(counts)
    for value in range(counts.shape[1]):
        ones = np.ones(len(counts), dtype=np.int64)
        weights = counts[:, value] + 1.0
        matched = matched_cells(levels, missing, ones, weights, policy="wildcard")
        assert matched.weight_total is not None
        sums[:, value] = np.rint(matched.weight_total - matched.sample_count).astype(np.int64)
    return sums
