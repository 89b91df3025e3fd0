"""Released margins to risk: what an intruder knows of the hidden table, and how bad that is."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic

import numpy as np

from discreet.data.arrays import IntArray
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.fiber.bounds import bounds
from discreet.fiber.bounds_contract import Bounds
from discreet.fiber.counting import Count, count_tables
from discreet.fiber.decomposable import junction_tree
from discreet.fiber.dynamic_programming import Budget
from discreet.figures import Outcome, Unavailable
from discreet.progress import Progress, silent
from discreet.risk.attribute import Learned, learned_from_margins
from discreet.risk.table_measures import (
    TableMeasures,
    one_over_tables,
    table_measures,
    tightness,
)
from discreet.risk.table_views import RELEASED, View, ViewOptions, views
from discreet.tables.augmentation import Effort
from discreet.tables.averaging import WeightKind
from discreet.tables.release import MOST_NAMED, MOST_SHOWN, Release, released

COUNT_SECONDS = 10.0  # for the number of tables, unless less time is left
COUNT_DRAWS = 2000  # for an estimate of it, where no exact method fits


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """How an audit is made; see `audit`."""

    knows: Sequence[str] = ()
    models: Sequence[str] = (RELEASED,)
    model_priors: Mapping[str, float] | None = None
    weight_kind: WeightKind = WeightKind.MARGINAL_LIKELIHOOD
    small: int = 2
    confidence: float = 0.5
    alpha: float = 0.5
    targets: Sequence[str] | None = None
    seconds: float | None = None
    effort: Effort = field(default_factory=Effort)
    seed: int = 1

    def __post_init__(self) -> None:
        if self.small < 1:
            raise InputError(must_be("small", "at least 1", self.small))
        if not 0 <= self.confidence < 1:
            raise InputError(must_be("confidence", "from 0 to below 1", self.confidence))
        if not 0 < self.alpha < 1e6:
            raise InputError(must_be("alpha", "above 0", self.alpha))
        if self.seconds is not None and not self.seconds > 0:
            raise InputError(must_be("seconds", "above 0", self.seconds))
        if not self.models:
            raise InputError(must_be("models", "at least one", "none"))


@dataclass(frozen=True, slots=True, kw_only=True)
class CellAudit:
    """One cell: its levels, its true count, its bounds and how they are known."""

    levels: tuple[int, ...]
    truth: int
    lower: int
    upper: int
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What a set of released margins reveals of a table.

    `small_cells` are those to protect, in the order of the laws in `views`; `tightness` is measure
    (3), `one_over_tables` 1/M(T), `measures` the others under each view.
    """

    release: Release
    options: AuditOptions
    decomposable: bool
    n_tables: Count
    cells: tuple[CellAudit, ...]
    small_cells: tuple[CellAudit, ...]
    views: Mapping[str, View | Unavailable]
    tightness: Outcome
    one_over_tables: Outcome
    measures: Mapping[str, TableMeasures]
    learned: tuple[Learned, ...]
    notes: tuple[str, ...]


def audit(
    table: Table,
    release: Iterable[Sequence[str]],
    options: AuditOptions | None = None,
    *,
    progress: Progress = silent,
) -> Audit:
    """What the released margins (names of variables) reveal of the table's small cells.

    Bounds of every cell of a table of up to 4,096 cells, of up to 1,000 small cells beyond; the
    number of consistent tables; the posterior of the small cells under each model: `released` (the
    model of the released margins), `saturated`, `no-highest-interaction`, generators such as
    `[a b][b c]`, or `average` over all hierarchical models that contain the released margins. Cell
    probabilities have a Dirichlet law with `alpha` in every cell before anything is released.

    Within `seconds` the work ends with what is known by then, and the notes say so.
    """
    options = options or AuditOptions()
    clock = _Clock(options.seconds)
    out = released(table, release, options.knows)
    levels = out.levels(options.small)
    limits = _bounds(out, levels, clock, progress)
    truths = _truths(table, levels)
    number = _count(out, options.seed, clock, progress)
    small = np.flatnonzero((truths > 0) & (truths <= options.small))
    asked = ViewOptions(
        models=options.models,
        model_priors=options.model_priors,
        weight_kind=options.weight_kind,
        alpha=options.alpha,
        effort=options.effort,
        seconds=clock.left(),
        seed=options.seed,
    )
    seen = views(out, levels[small], asked, progress)
    cells = tuple(_cell(levels[i], truths[i], limits, i) for i in range(len(levels)))
    protected = tuple(cells[i] for i in small)
    widths = [cell.upper - cell.lower for cell in protected]
    targets = None if options.targets is None else table.axes(options.targets)
    return Audit(
        release=out,
        options=options,
        decomposable=junction_tree(out.sets) is not None,
        n_tables=number,
        cells=cells,
        small_cells=protected,
        views=seen,
        tightness=tightness(widths, bool(limits.exact[small].all())),
        one_over_tables=one_over_tables(number),
        measures=_measures(seen, protected, options.confidence),
        learned=learned_from_margins(out.margins, targets),
        notes=tuple(_notes(out, limits, seen, options.small)),
    )


@dataclass(frozen=True, slots=True)
class _Clock:
    """What is left of the time that was given, never quite nothing."""

    seconds: float | None
    began: float = field(default_factory=monotonic)

    def left(self) -> float | None:
        """Seconds, or None where there is no limit."""
        if self.seconds is None:
            return None
        return max(self.seconds - (monotonic() - self.began), 0.2)


def _bounds(out: Release, levels: IntArray, clock: _Clock, progress: Progress) -> Bounds:
    progress("bounding the cells", None)
    if out.known:
        return bounds(out.system(), time_limit=clock.left(), progress=progress)
    tables = [out.table.dense()] if out.is_shown else []
    return bounds(
        out.margins, cells=levels, tables=tables, time_limit=clock.left(), progress=progress
    )


def _truths(table: Table, levels: IntArray) -> IntArray:
    """The true counts of the cells looked at."""
    pairs = zip(table.cells.tolist(), table.counts.tolist(), strict=True)
    known = {tuple(cell): count for cell, count in pairs}
    return np.array([known.get(tuple(cell), 0) for cell in levels.tolist()], dtype=np.int64)


def _count(out: Release, seed: int, clock: _Clock, progress: Progress) -> Count:
    if not out.is_shown:
        note = f"not counted: the table has more than {MOST_SHOWN:,} cells"
        return Count(value=None, how=None, note=note)
    progress("counting the tables", None)
    seconds = COUNT_SECONDS if clock.seconds is None else min(COUNT_SECONDS, clock.left() or 0.2)
    budget = Budget(states=1_000_000, steps=500_000_000, seconds=seconds)
    rng = np.random.default_rng([seed, 1])
    return count_tables(
        out.system(), budget=budget, n_draws=COUNT_DRAWS, rng=rng, progress=progress
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


def _measures(
    seen: Mapping[str, View | Unavailable], protected: Sequence[CellAudit], confidence: float
) -> dict[str, TableMeasures]:
    return {
        name: table_measures(
            view.laws,
            view.errors,
            [cell.truth for cell in protected],
            confidence=confidence,
            true_table=view.true_table,
        )
        for name, view in seen.items()
        if isinstance(view, View)
    }


def _notes(
    out: Release, limits: Bounds, seen: Mapping[str, View | Unavailable], small: int
) -> Iterable[str]:
    if limits.note:
        yield f"bounds: {limits.note}"
    n_small = len(out.table.small_cells(small))
    if not out.is_shown and n_small > MOST_NAMED:
        yield f"only the first {MOST_NAMED:,} of {n_small:,} small cells are looked at"
    for name, view in seen.items():
        if isinstance(view, View) and not view.complete:
            yield f"{name}: the time was over before all draws were made"
        if isinstance(view, View) and view.warning:
            yield f"{name}: {view.warning}"


def audit_sequence(
    table: Table,
    releases: Sequence[Sequence[str]],
    options: AuditOptions | None = None,
    *,
    progress: Progress = silent,
) -> tuple[Audit, ...]:
    """The audit after the first release, after the first two, and so on: what each one added."""
    if not releases:
        raise InputError(must_be("release", "at least one margin", "none"))
    return tuple(
        audit(table, releases[: step + 1], options, progress=progress)
        for step in range(len(releases))
    )
