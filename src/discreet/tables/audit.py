"""Released margins to risk: what an intruder knows of the hidden table, and how bad that is."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.belief.models.model_search import ModelSearch
from discreet.clock import Clock
from discreet.data.table import Table
from discreet.fiber.sums.counting import Count
from discreet.figures import Outcome, Unavailable
from discreet.notebooks import Result
from discreet.numerics.graphs import junction_tree
from discreet.progress import Progress, silent
from discreet.tables.audit_cells import CellAudit, LookedAt, looked_at
from discreet.tables.audit_count import number_of_tables
from discreet.tables.audit_extras import believed, population, refusal, share_beside
from discreet.tables.audit_options import AuditOptions
from discreet.tables.audit_verdict import AuditVerdict, verdict
from discreet.tables.groups import Learned, learned_from_bounds, learned_from_margins
from discreet.tables.measures import TableMeasures, one_over_tables, table_measures
from discreet.tables.population_cells import PopulationCell
from discreet.tables.posteriors import AVERAGE, Seen, View, ViewOptions, views
from discreet.tables.refused_margin import Policy, RefusalView
from discreet.tables.release import Release, released

__all__ = ["Audit", "AuditOptions", "CellAudit", "audited", "main_view"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Audit(Result):
    """What a set of released margins reveals of a table.

    `small_cells` are those to protect, in the order of the distributions in `views`, out of
    `n_small`; the share of them that is identified is about `n_measured`, all unless the table is
    very large.
    `tightness` is measure (3), `one_over_tables` 1/M(T), `measures` the others under each view.
    `learned` is what the margins prove of groups of persons, `believed` what is only probable;
    `refusal` what the small cells look like once some margins were refused; `population` the small
    cells of a sample as cells of its population, under each view; `verdict` what the policy says of
    the release, where one was given.
    """

    release: Release
    options: AuditOptions
    decomposable: bool
    n_tables: Count
    cells: tuple[CellAudit, ...]
    small_cells: tuple[CellAudit, ...]
    n_small: int
    n_measured: int
    views: Mapping[str, View | Unavailable]
    tightness: Outcome
    one_over_tables: Outcome
    measures: Mapping[str, TableMeasures]
    learned: tuple[Learned, ...]
    believed: tuple[Learned, ...] | Unavailable
    refusal: RefusalView | Unavailable | None
    population: Mapping[str, tuple[PopulationCell, ...] | Unavailable]
    search: ModelSearch | None
    verdict: AuditVerdict | None
    notes: tuple[str, ...]


def audited(
    table: Table,
    release: Iterable[Sequence[str]],
    options: AuditOptions,
    progress: Progress = silent,
) -> Audit:
    """What the released margins reveal of the table, and what the policy says of that."""
    return _judged(_revealed(table, release, options, progress))


def _revealed(
    table: Table, release: Iterable[Sequence[str]], options: AuditOptions, progress: Progress
) -> Audit:
    clock = Clock(options.seconds)
    out = released(table, release, options.knows)
    cells = looked_at(out, options.small, clock, progress)
    number = number_of_tables(out, options.seed, clock, progress)
    watched = cells.small_levels(len(table.names))
    seen = views(out, watched, _view_options(options, clock), progress)
    cells = cells.first(_fewest_distributions(seen, len(watched)))
    watched = watched[: len(cells.small)]
    targets = None if options.targets is None else table.axes(options.targets)
    learned = _learned(out, cells, targets)
    return Audit(
        release=out,
        options=options,
        decomposable=junction_tree(out.sets) is not None,
        n_tables=number,
        cells=cells.cells,
        small_cells=cells.small,
        n_small=cells.n_small,
        n_measured=cells.n_measured(options.confidence),
        views=seen.views,
        tightness=cells.tightness,
        one_over_tables=one_over_tables(number),
        measures=_measures(seen.views, cells, options.confidence),
        learned=learned,
        believed=believed(out, options, learned, clock),
        refusal=refusal(out, options, watched, clock, progress),
        population=population(out, options, seen.views),
        search=seen.search,
        verdict=None,
        notes=(*cells.notes, *_notes(seen)),
    )


def _learned(out: Release, cells: LookedAt, targets: Sequence[int] | None) -> tuple[Learned, ...]:
    """What single margins prove of groups of persons, then what all that is known does."""
    alone = learned_from_margins(out.margins, targets)
    if not out.is_shown:
        return alone
    most = np.array([cell.upper for cell in cells.cells], dtype=np.int64).reshape(out.table.sizes)
    return (*alone, *learned_from_bounds(most, out.table.dense(), targets, proved=alone))


def _fewest_distributions(seen: Seen, most: int) -> int:
    """How many small cells every view has a distribution of."""
    return min(
        (len(v.distributions) for v in seen.views.values() if isinstance(v, View)), default=most
    )


def _view_options(options: AuditOptions, clock: Clock) -> ViewOptions:
    return ViewOptions(
        models=options.models,
        model_priors=options.model_priors,
        weight_kind=options.weight_kind,
        alpha=options.alpha,
        effort=options.effort,
        seconds=clock.share(1 - share_beside(options)),
        seed=options.seed,
    )


def _measures(
    seen: Mapping[str, View | Unavailable], cells: LookedAt, confidence: float
) -> dict[str, TableMeasures]:
    truths = [cell.truth for cell in cells.small]
    not_found = cells.n_measured(confidence) - len(cells.small)
    return {
        name: table_measures(
            view.distributions,
            view.errors,
            truths,
            confidence=confidence,
            true_table=view.true_table,
            not_found=not_found,
        )
        for name, view in seen.items()
        if isinstance(view, View)
    }


def main_view(audit: Audit) -> str:
    """The view that headlines and the verdict are about: the average, or the first there is."""
    if isinstance(audit.views.get(AVERAGE), View):
        return AVERAGE
    there = [name for name, view in audit.views.items() if isinstance(view, View)]
    return there[0] if there else next(iter(audit.views))


def _judged(audit: Audit) -> Audit:
    """The audit with what the policy says of the release, unless it speaks of refused margins."""
    rule, name = audit.options.rule, main_view(audit)
    if rule is None or audit.options.refused:
        return audit
    risk = _risk(audit, rule.policy, name)
    found = verdict(rule, risk, name, n_small=audit.n_small, n_looked_at=audit.n_measured)
    return replace(audit, verdict=found)


def _risk(audit: Audit, policy: Policy, name: str) -> Outcome:
    if policy is Policy.BOUNDS:
        return audit.tightness
    view = audit.views[name]
    if isinstance(view, Unavailable):
        return view
    own = audit.measures[name]
    return own.true_table if policy is Policy.TABLE else own.small_cells_identified


def _notes(seen: Seen) -> Iterable[str]:
    average = seen.views.get(AVERAGE)
    if isinstance(average, View):
        yield from (f"{AVERAGE}: {said}" for said in (average.method, *view_warnings(average)))
    if seen.search is not None:
        yield from _search_notes(seen.search)
        return
    for name, view in seen.views.items():
        if name != AVERAGE and isinstance(view, View):
            yield from (f"{name}: {warning}" for warning in view_warnings(view))


def view_warnings(view: View) -> Iterable[str]:
    """Why not to trust the probabilities under one view."""
    if not view.complete:
        yield "time ran out before all draws were made"
    if view.warning:
        yield view.warning


def _models(number: int) -> str:
    return f"{number} decomposable model" + ("" if number == 1 else "s")


def _search_notes(search: ModelSearch) -> Iterable[str]:
    yield (
        f"average over {_models(len(search.models))} found by search: from the fewest "
        f"edges it found {search.from_below:.0%} of their weight, from all edges "
        f"{search.from_above:.0%}"
    )
    if search.n_unweighed:
        yield f"{_models(search.n_unweighed)} could not be weighed, so the average leaves them out"
    if not search.agrees:
        yield "the two searches do not agree; allow more seconds, or name the models"
