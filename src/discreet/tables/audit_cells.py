"""The cells that an audit looks at, with their bounds: all, or the small ones of a large table."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln, xlogy

from discreet.clock import Clock
from discreet.data.table import Table
from discreet.fiber.bounds.cell_bounds import bounds
from discreet.fiber.bounds.contract import Bounds
from discreet.fiber.system.decomposable import free_axes, separator_table
from discreet.figures import Outcome
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.graphs import junction_tree
from discreet.numerics.rounding import above, order_of
from discreet.progress import Progress, silent
from discreet.tables.measures import tightness
from discreet.tables.release import MOST_NAMED, Release

MOST_BOUNDED = 100_000  # small cells of a large table that are bounded
BOUNDS_SHARE = 0.3  # of the time


@dataclass(frozen=True, slots=True, kw_only=True)
class CellAudit:
    """One cell: its levels, its true count, its bounds and how they are known."""

    levels: tuple[int, ...]
    truth: int
    lower: int
    upper: int
    how: str

    @property
    def width(self) -> int:
        """How much the count may vary."""
        return self.upper - self.lower


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedAt:
    """The cells of an audit: all of a table that is shown, else its most exposed small ones.

    `small` are those to protect, out of `n_small`; `tightness` is measure (3) over all that were
    bounded, which for a large table are more than are named. `greatest_left` is the greatest count
    that the released model expects in a small cell that is not looked at, where that is known.
    """

    cells: tuple[CellAudit, ...]
    small: tuple[CellAudit, ...]
    n_small: int
    tightness: Outcome
    greatest_left: float | None
    notes: tuple[str, ...]

    def n_measured(self, confidence: float) -> int:
        """The small cells that a share found with such a confidence is about.

        Since Pr(F ≥ 1) ≤ E F, a count that is expected to be below the confidence cannot be found
        with it; then the cells that are not looked at count as well, as not found.
        """
        left = self.greatest_left
        rest_is_safe = left is not None and not above(left, confidence)
        return self.n_small if rest_is_safe else len(self.small)

    @property
    def rest(self) -> float:
        """The greatest probability that the true count of a small cell not looked at may have.

        Since Pr(F = f) ≤ Pr(F ≥ 1) ≤ E F for a count f from 1 on.
        """
        if len(self.small) == self.n_small:
            return 0.0
        return 1.0 if self.greatest_left is None else min(1.0, self.greatest_left)

    def first(self, n: int) -> "LookedAt":
        """The first so many of the small cells of a large table, as if no more were looked at."""
        if n >= len(self.small):
            return self
        note = (
            f"time ran out after {n:,} of {len(self.small):,} small cells; the rest are left out; "
            "allow more seconds"
        )
        small = self.small[:n]
        return replace(
            self, cells=small, small=small, greatest_left=None, notes=(*self.notes, note)
        )

    def small_levels(self, n_variables: int) -> IntArray:
        """The levels of the small cells, a row a cell."""
        rows = [cell.levels for cell in self.small]
        return np.array(rows, dtype=np.int64).reshape(-1, n_variables)


def looked_at(release: Release, small: int, clock: Clock, progress: Progress) -> LookedAt:
    """Every cell of a table that is shown, with its bounds; of a larger one the small cells.

    Of those 1,000 are kept, the most exposed: half by the narrowest bounds, half by the count that
    the released model expects.
    """
    progress("bounding the cells", None)
    levels = _levels(release, small)
    truths = _truths(release.table, levels)
    limits = bounds_of(release, levels, clock, progress)
    is_small = np.flatnonzero((truths > 0) & (truths <= small))
    widths, exact = (limits.upper - limits.lower)[is_small], bool(limits.exact[is_small].all())
    n_small, n_bounded = len(release.table.small_cells(small)), len(is_small)
    kept, greatest_left = np.arange(len(levels)), None
    if not release.is_shown:
        mean = _expected_counts(release, levels)
        chosen = _most_exposed(widths, truths, mean)
        if mean is not None and n_bounded == n_small:
            greatest_left = float(np.delete(mean, chosen).max(initial=0.0))
        kept = is_small = is_small[chosen]
    cells = {int(i): _cell(levels[i], truths[i], limits, int(i)) for i in kept}
    return LookedAt(
        cells=tuple(cells.values()),
        small=tuple(cells[int(i)] for i in is_small),
        n_small=n_small,
        tightness=tightness(widths.tolist(), exact),
        greatest_left=greatest_left,
        notes=tuple(_notes(limits, n_small, n_bounded, len(is_small))),
    )


def _most_exposed(widths: IntArray, truths: IntArray, mean: FloatArray | None) -> IntArray:
    """Places of up to 1,000 cells: those with the narrowest bounds, then those whose true count is
    the most probable for a Poisson variable with the mean that the released model gives."""
    narrow = np.argsort(widths, kind="stable")
    if mean is None:
        return narrow[:MOST_NAMED]
    likely = order_of(xlogy(truths, mean) - gammaln(truths + 1.0) - mean)
    chosen = dict.fromkeys([*narrow[: MOST_NAMED // 2].tolist(), *likely.tolist()])
    return np.array(list(chosen)[:MOST_NAMED], dtype=np.int64)


def _expected_counts(release: Release, levels: IntArray) -> FloatArray | None:
    """∏ clique entries / ∏ separator entries, the mean of each cell under decomposable margins of
    every variable; None for others."""
    tree = junction_tree(release.sets)
    if tree is None or free_axes(release.margins):
        return None
    tables = [(axes, release.margins.tables[axes], 1.0) for axes in tree.components]
    shared = tree.separators[1:]
    tables += [(axes, separator_table(release.margins, axes), -1.0) for axes in shared]
    logs: FloatArray = np.zeros(len(levels))
    for axes, table, sign in tables:
        logs += sign * np.log(table[tuple(levels[:, axis] for axis in axes)])
    return np.exp(logs)


def _levels(release: Release, small: int) -> IntArray:
    if release.is_shown:
        return release.levels(small)
    return release.table.small_cells(small)[:MOST_BOUNDED]


def _truths(table: Table, levels: IntArray) -> IntArray:
    """The true counts of the cells looked at."""
    pairs = zip(table.cells.tolist(), table.counts.tolist(), strict=True)
    known = {tuple(cell): count for cell, count in pairs}
    return np.array([known.get(tuple(cell), 0) for cell in levels.tolist()], dtype=np.int64)


def bounds_of(
    release: Release, levels: IntArray, clock: Clock, progress: Progress = silent
) -> Bounds:
    """The bounds of the cells with these levels, all of a table of which more than margins is
    known."""
    seconds = clock.share(BOUNDS_SHARE)
    if release.informative:
        return bounds(release.system(), time_limit=seconds, progress=progress)
    tables = [release.table.dense()] if release.is_shown else []
    return bounds(
        release.margins, cells=levels, tables=tables, time_limit=seconds, progress=progress
    )


def _cell(levels: IntArray, truth: int, limits: Bounds, i: int) -> CellAudit:
    lower, upper = limits.how(i)
    how = lower.text if lower == upper else f"lower {lower.text}; upper {upper.text}"
    return CellAudit(
        levels=tuple(int(level) for level in levels),
        truth=int(truth),
        lower=int(limits.lower[i]),
        upper=int(limits.upper[i]),
        how=how,
    )


def _notes(limits: Bounds, n_small: int, n_bounded: int, n_named: int) -> Sequence[str]:
    found = [f"bounds: {limits.note}"] if limits.note else []
    if n_bounded < n_small:
        found.append(f"only the first {n_bounded:,} of {n_small:,} small cells are bounded")
    if n_named < n_bounded:
        found.append(
            f"of {n_small:,} small cells the {n_named:,} most exposed are looked at, by narrow "
            "bounds and by the counts to be expected; all are bounded"
        )
    return found
