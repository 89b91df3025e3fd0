"""Released margins to risk: what an intruder knows of the hidden table, and how bad that is."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from discreet.data.arrays import IntArray
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.fiber.bounds import bounds
from discreet.fiber.bounds_contract import Bounds
from discreet.fiber.counting import Count, count_tables
from discreet.fiber.decomposable import junction_tree
from discreet.fiber.dynamic_programming import Budget
from discreet.fiber.sequential import estimate_count
from discreet.figures import How, Outcome, Unavailable
from discreet.progress import Progress, silent
from discreet.risk.attribute import Learned, learned_from_margins
from discreet.risk.population_cells import PopulationCell, population_cells
from discreet.risk.probable_groups import probable_groups
from discreet.risk.table_measures import (
    TableMeasures,
    one_over_tables,
    table_measures,
    tightness,
)
from discreet.risk.table_refusal import Policy, RefusalRule, RefusalView, refusal_view
from discreet.risk.table_views import AVERAGE, RELEASED, Seen, View, ViewOptions, views
from discreet.tables.augmentation import Effort
from discreet.tables.averaging import WeightKind
from discreet.tables.exact_law import exact_law
from discreet.tables.generators import HierarchicalModel, parse_model
from discreet.tables.listed_law import listed_law
from discreet.tables.model_search import ModelSearch
from discreet.tables.release import MOST_NAMED, MOST_SHOWN, Release, released
from discreet.tables.time_shares import Clock

COUNT_SECONDS = 10.0  # for the number of tables, unless less time is left
COUNT_STEPS_A_SECOND = 50_000_000
COUNT_DRAWS = 2000  # for an estimate of it, where no exact method fits
MOST_ESTIMATED = 1024  # cells of a table whose consistent ones are estimated in number
LEAST_EFFECTIVE = 20.0  # draws' worth below which an estimate of it is no figure


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
    sure: float = 0.9
    refused: Sequence[Sequence[str]] = ()
    policy: Policy = Policy.CELLS
    max_risk: float | None = None
    population: int | None = None
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
        if not 0 < self.sure <= 1:
            raise InputError(must_be("sure", "above 0, up to 1", self.sure))
        if self.refused and self.max_risk is None:
            raise InputError(must_be("max_risk", "given where a margin was refused", "none"))
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
    (3), `one_over_tables` 1/M(T), `measures` the others under each view. `learned` is what the
    margins prove of groups of persons, `believed` what is only probable; `refusal` what the small
    cells look like once some margins were refused; `population` the small cells of a sample as
    cells of its population, under each view.
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
    believed: tuple[Learned, ...] | Unavailable
    refusal: RefusalView | Unavailable | None
    population: Mapping[str, tuple[PopulationCell, ...] | Unavailable]
    search: ModelSearch | None
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
    clock = Clock(options.seconds)
    out = released(table, release, options.knows)
    levels = out.levels(options.small)
    truths = _truths(table, levels)
    small = np.flatnonzero((truths > 0) & (truths <= options.small))
    limits = _bounds(out, levels, clock, progress)
    number = _count(out, options.seed, clock, progress)
    extras = _extras_share(options)
    asked = ViewOptions(
        models=options.models,
        model_priors=options.model_priors,
        weight_kind=options.weight_kind,
        alpha=options.alpha,
        effort=options.effort,
        seconds=clock.share(1 - extras),
        seed=options.seed,
    )
    seen = views(out, levels[small], asked, progress)
    cells = tuple(_cell(levels[i], truths[i], limits, i) for i in range(len(levels)))
    protected = tuple(cells[i] for i in small)
    widths = [cell.upper - cell.lower for cell in protected]
    targets = None if options.targets is None else table.axes(options.targets)
    learned = learned_from_margins(out.margins, targets)
    return Audit(
        release=out,
        options=options,
        decomposable=junction_tree(out.sets) is not None,
        n_tables=number,
        cells=cells,
        small_cells=protected,
        views=seen.views,
        tightness=tightness(widths, bool(limits.exact[small].all())),
        one_over_tables=one_over_tables(number),
        measures=_measures(seen.views, protected, options.confidence),
        learned=learned,
        believed=_believed(out, options, learned, clock),
        refusal=_refusal(out, options, levels[small], clock, progress),
        population=_population(out, options, seen.views),
        search=seen.search,
        notes=tuple(_notes(out, limits, seen, options.small)),
    )


def _extras_share(options: AuditOptions) -> float:
    """The part of the time kept for what is asked beside the posterior."""
    return 0.3 * bool(options.refused) + 0.1 * (options.targets is not None)


def _model(out: Release, text: str) -> HierarchicalModel:
    n = len(out.table.names)
    if text in (RELEASED, AVERAGE):
        return HierarchicalModel.of(n, out.sets)
    return parse_model(text, out.table.names)


def _believed(
    out: Release, options: AuditOptions, learned: Sequence[Learned], clock: Clock
) -> tuple[Learned, ...] | Unavailable:
    """Groups that share a level with high probability, under the first model, where it is listed;
    those that are proved anyway are left out."""
    if options.targets is None:
        return Unavailable("no target was named")
    if not out.is_shown:
        return Unavailable("the table is too large to list the tables consistent with the release")
    alpha = np.full(out.table.sizes, options.alpha)
    known = [item.statement(out.table.sizes) for item in out.known]
    law = exact_law(out.margins, _model(out, options.models[0]), alpha, known=known)
    if law is None:
        return Unavailable("the first model's law of the table is not known in closed form")
    rng = np.random.default_rng([options.seed, 2])
    belief = listed_law(law, out.system(), seconds=clock.share(0.5), rng=rng)
    if belief is None:
        return Unavailable("there are too many consistent tables to list them")
    return probable_groups(
        belief,
        out.table.sizes,
        out.table.axes(options.targets),
        threshold=options.sure,
        proved=learned,
    )


def _refusal(
    out: Release, options: AuditOptions, watched: IntArray, clock: Clock, progress: Progress
) -> RefusalView | Unavailable | None:
    if not options.refused or options.max_risk is None:
        return None
    requests = [out.table.axes(names) for names in options.refused]
    for request in requests:
        if any(set(request) <= set(own) for own in out.sets):
            rule = "a margin that is not out already"
            raise InputError(must_be("refused", rule, _listed_names(out, request)))
    if not out.is_shown:
        return Unavailable(f"the table has more than {MOST_SHOWN:,} cells")
    rule_of = RefusalRule(
        policy=options.policy,
        max_risk=options.max_risk,
        small=options.small,
        confidence=options.confidence,
    )
    cells = np.ravel_multi_index(tuple(watched.T), out.table.sizes) if len(watched) else []
    return refusal_view(
        out,
        _model(out, options.models[0]),
        np.full(out.table.sizes, options.alpha),
        requests,
        rule_of,
        np.asarray(cells, dtype=np.int64),
        clock=Clock(clock.left()),
        rng=np.random.default_rng([options.seed, 3]),
        progress=progress,
    )


def _listed_names(out: Release, axes: Sequence[int]) -> str:
    return "[" + " ".join(out.table.names[axis] for axis in axes) + "]"


def _population(
    out: Release, options: AuditOptions, seen: Mapping[str, View | Unavailable]
) -> dict[str, tuple[PopulationCell, ...] | Unavailable]:
    if options.population is None:
        return {}
    if not out.is_shown:
        why = f"needs a table of at most {MOST_SHOWN:,} cells, since its prior counts all of them"
        return {name: Unavailable(why) for name in seen}
    return {
        name: view
        if isinstance(view, Unavailable)
        else population_cells(
            view.laws,
            alpha=options.alpha,
            alpha_total=options.alpha * out.table.n_cells,
            sample_size=out.table.total,
            population_size=options.population,
            small=options.small,
        )
        for name, view in seen.items()
    }


def _bounds(out: Release, levels: IntArray, clock: Clock, progress: Progress) -> Bounds:
    progress("bounding the cells", None)
    if out.known:
        return bounds(out.system(), time_limit=clock.share(0.3), progress=progress)
    tables = [out.table.dense()] if out.is_shown else []
    return bounds(
        out.margins, cells=levels, tables=tables, time_limit=clock.share(0.3), progress=progress
    )


def _truths(table: Table, levels: IntArray) -> IntArray:
    """The true counts of the cells looked at."""
    pairs = zip(table.cells.tolist(), table.counts.tolist(), strict=True)
    known = {tuple(cell): count for cell, count in pairs}
    return np.array([known.get(tuple(cell), 0) for cell in levels.tolist()], dtype=np.int64)


def _count(out: Release, seed: int, clock: Clock, progress: Progress) -> Count:
    if not out.is_shown:
        note = f"not counted: the table has more than {MOST_SHOWN:,} cells"
        return Count(value=None, how=None, note=note)
    progress("counting the tables", None)
    seconds = clock.share(0.15, COUNT_SECONDS) or COUNT_SECONDS
    steps = int(COUNT_STEPS_A_SECOND * seconds)
    budget = Budget(states=1_000_000, steps=steps, seconds=seconds)
    exact = count_tables(out.system(), budget=budget, progress=progress)
    if exact.value is not None or out.table.n_cells > MOST_ESTIMATED:
        return exact
    estimate = estimate_count(
        out.system(),
        n_draws=COUNT_DRAWS,
        rng=np.random.default_rng([seed, 1]),
        margins=None if out.known else out.margins,
        time_limit=clock.share(0.15, COUNT_SECONDS),
        progress=progress,
    )
    if isinstance(estimate, Unavailable):
        return replace(exact, note=f"{exact.note}; {estimate.reason}")
    if estimate.effective_draws < LEAST_EFFECTIVE:
        note = f"about 10^{estimate.log_value / np.log(10):.0f}, by draws too uneven for a figure"
        return replace(exact, note=note)
    return Count(
        value=round(estimate.value),
        how=How.ESTIMATE,
        standard_error=float(estimate.standard_error),
        note=estimate.note,
        at_least=exact.at_least,
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


def _notes(out: Release, limits: Bounds, seen: Seen, small: int) -> Iterable[str]:
    if limits.note:
        yield f"bounds: {limits.note}"
    n_small = len(out.table.small_cells(small))
    if not out.is_shown and n_small > MOST_NAMED:
        yield f"only the first {MOST_NAMED:,} of {n_small:,} small cells are looked at"
    if seen.search is not None:
        yield from _search_notes(seen.search)
    asked = [] if seen.search is not None else list(seen.views)
    for name in asked:
        view = seen.views[name]
        if name == AVERAGE:
            continue
        if isinstance(view, View) and not view.complete:
            yield f"{name}: the time was over before all draws were made"
        if isinstance(view, View) and view.warning:
            yield f"{name}: {view.warning}"


def _search_notes(search: ModelSearch) -> Iterable[str]:
    yield (
        f"average over {len(search.models)} decomposable models found by search: from the fewest "
        f"edges it found {search.from_below:.0%} of their weight, from all edges "
        f"{search.from_above:.0%}"
    )
    if search.n_unweighed:
        yield f"{search.n_unweighed} models could not be weighed and are left out of the average"
    if not search.agrees:
        yield "the two searches do not agree; allow more seconds, or name the models"


def audit_sequence(
    table: Table,
    releases: Sequence[Sequence[str]],
    options: AuditOptions | None = None,
    *,
    first: int = 1,
    progress: Progress = silent,
) -> tuple[Audit, ...]:
    """The audit after the first release, after the first two, and so on: what each one added.

    `first` is the number of releases of the first audit. Each step has an equal part of the time.
    Refused margins count from the last step on; a step that holds an earlier one whole is the same.
    """
    if not releases:
        raise InputError(must_be("release", "at least one margin", "none"))
    options = options or AuditOptions()
    clock, found = Clock(options.seconds), []
    for step in range(first, len(releases) + 1):
        seconds = clock.share(1 / (len(releases) + 1 - step))
        own = replace(options, seconds=seconds)
        if step < len(releases):
            own = replace(own, refused=())
        found.append(audit(table, releases[:step], own, progress=progress))
    return tuple(found)
