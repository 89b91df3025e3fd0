"""t-closeness: how far the sensitive values of a cell are from those of the whole file.

A cell can be diverse and still tell much, when its values are common there and rare elsewhere. The
measure is the Earth Mover's distance between the distribution p in the cell and q in the file: the
least work, as share of the records times distance moved, that turns one into the other. Li, Li and
Venkatasubramanian (2007), section 4, with three distances between values:

- equal: 1 between any two values. The distance of distributions is the total variation,
  Σ max(p − q, 0).
- ordered: ranks apart, over m − 1 for the m values that occur in the file.
- hierarchical: height of the lowest common group over the height H of the tree. This is the way
  through the tree from one leaf to the other if each step up or down costs 1/(2H), and what has to
  go through the link above a group is |p − q| of the group. So the Earth Mover's distance is the
  mean, over heights h = 0 … H − 1, of the total variations of p and q added up in the groups of
  height h. The paper's sum over inner nodes N, of height(N)/H times the lesser of what its children
  have too much and too little, is the same number.

All three are in [0, 1], and 0 only for a cell distributed as the file is.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.data.hierarchy import Hierarchy
from discreet.errors import InputError, must_be
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.survey.attributes.diversity import (
    SLACK,
    CellMeasure,
    Failing,
    SensitiveCounts,
    rows_by,
)


class Closeness(CellMeasure):
    """Earth Mover's distance of each cell from the whole file, in [0, 1]."""

    __slots__ = ()
    worst_is_high: ClassVar[bool] = True
    meaning: ClassVar[str] = (
        "how much the sensitive values of a cell differ from those of the whole file, from 0 (the "
        "cell tells nothing new) to 1; the larger, the more an intruder learns by knowing the cell"
    )

    def failing(self, t: float) -> Failing:
        """Cells whose distance is above t, by more than rounding (1e-12)."""
        if not 0 <= t <= 1:
            raise InputError(must_be("t", "from 0 to 1", t))
        rule = f"sensitive values within a distance of {t:g} of the whole file"
        return self.judge(rule, self.value > t + SLACK)


def equal_closeness(counts: SensitiveCounts) -> Closeness:
    """Distance of each cell where any two values are equally far apart: the total variation."""
    each = np.arange(counts.n_values)
    return _closeness(counts, _variation(counts, each, counts.value, counts.records))


def ordered_closeness(counts: SensitiveCounts) -> Closeness:
    """Distance of each cell where values are as far apart as their ranks in the file.

    Σ |P(i) − Q(i)| / (m − 1) over the ranks i, with P and Q cumulative. Values with the same number
    share a rank. Time grows as rows · log m, not as cells · m.

    Checked: `order` was given, and is finite for every value that occurs.
    """
    totals = counts.file_totals
    rank, of_rank = _ranks(counts, totals)
    if len(of_rank) == 1:
        return _closeness(counts, np.zeros(len(counts.starts)))
    ranks, records = rank[counts.value], counts.records
    if (np.diff(rank[totals > 0]) < 0).any():
        rows = rows_by(counts, ranks)
        ranks, records = ranks[rows], records[rows]
    return _closeness(counts, _rank_distance(counts, ranks, records, of_rank))


def hierarchical_closeness(
    counts: SensitiveCounts, hierarchy: Hierarchy, levels: Sequence[str]
) -> Closeness:
    """Distance of each cell where values are as far apart as their lowest common group is high.

    `levels` names each value. Checked: every one of them is a leaf of the hierarchy.
    """
    if len(levels) != counts.n_values:
        rule = f"a name for each of {counts.n_values:,} values"
        raise InputError(must_be("levels", rule, f"{len(levels):,}"))
    groups = hierarchy.groups_of(levels)
    place = np.empty(counts.n_values, dtype=np.int64)
    place[np.lexsort(groups)] = np.arange(counts.n_values)  # each group side by side, at any height
    rows = rows_by(counts, place[counts.value])
    value, records = counts.value[rows], counts.records[rows]
    distances = (_variation(counts, group, value, records) for group in groups)
    return _closeness(counts, sum(distances, np.zeros(len(counts.starts))) / hierarchy.height)


def _closeness(counts: SensitiveCounts, distance: FloatArray) -> Closeness:
    return Closeness(counts=counts, value=counts.spread(np.clip(distance, 0, 1)))


def _grouped(group_of: IntArray, totals: IntArray) -> IntArray:
    """Records of each group, exact as all sums are below 2^53."""
    return np.bincount(group_of, weights=totals).astype(np.int64)


def _variation(
    counts: SensitiveCounts, group_of: IntArray, values: IntArray, records: IntArray
) -> FloatArray:
    """Σ max(p − q, 0) over groups of values, for each known cell, from a value and a count a row.

    `group_of` has the group of each value. Trusted: the rows are those of `counts`, in an order
    that leaves each cell where it is and has the rows of a group in a cell side by side.
    """
    groups = group_of[values]
    new_cell = np.diff(counts.cell, prepend=-1) != 0
    first = np.flatnonzero(new_cell | (np.diff(groups, prepend=-1) != 0))
    cells = np.cumsum(new_cell[first]) - 1
    in_cell = np.add.reduceat(records, first) / counts.known_records[cells]
    totals = counts.file_totals
    in_file = _grouped(group_of, totals) / totals.sum()
    excess = np.maximum(in_cell - in_file[groups[first]], 0)
    return np.bincount(cells, weights=excess).astype(np.float64, copy=False)


def _ranks(counts: SensitiveCounts, totals: IntArray) -> tuple[IntArray, IntArray]:
    """Rank of each value that occurs (−1 for others), and the records of each rank."""
    if counts.order is None:
        remedy = "give each value a number, or use the equal distance"
        raise InputError(must_be("order", "given for the ordered distance", "none", remedy=remedy))
    occurs = np.flatnonzero(totals)
    numbers: NDArray[Any] = counts.order[occurs]
    if not np.isfinite(numbers).all():
        where = f"value {occurs[np.argmin(np.isfinite(numbers))]}"
        rule, remedy = "a number for every value that occurs", "leave out records without a number"
        raise InputError(must_be("order", rule, "none", where=where, remedy=remedy))
    rank = np.full(counts.n_values, -1)
    rank[occurs] = np.unique(numbers, return_inverse=True)[1]
    return rank, _grouped(rank[occurs], totals[occurs])


def _rank_distance(
    counts: SensitiveCounts, ranks: IntArray, records: IntArray, of_rank: IntArray
) -> FloatArray:
    """Σ |P(i) − Q(i)| / (m − 1) for each known cell; rows by cell, then rank.

    P is constant from one row of a cell to its next, and Q only rises, so it crosses P once at
    most: the sum over that stretch needs only where, and sums of Q up to there.
    """
    starts, m, n = counts.starts, len(of_rank), int(of_rank.sum())
    sizes = np.diff(starts, append=len(ranks))
    cumulative = np.cumsum(of_rank)
    Q = cumulative / n
    exact = np.int64 if m * n < 2**63 else np.float64
    summed = np.concatenate([[0], np.cumsum(cumulative, dtype=exact)])  # of Q · n below each rank

    below = np.cumsum(records) - records
    done = below + records - np.repeat(below[starts], sizes)
    P = done / np.repeat(counts.known_records, sizes)
    until = np.append(ranks[1:], m)
    until[starts[1:] - 1] = m
    cross = np.clip(np.searchsorted(Q, P), ranks, until)

    behind = P * (cross - ranks) - (summed[cross] - summed[ranks]) / n
    ahead = (summed[until] - summed[cross]) / n - P * (until - cross)
    before_first = summed[ranks[starts]] / n
    return (np.add.reduceat(behind + ahead, starts) + before_first) / (m - 1)
