"""Released margins to risk: what an intruder knows of the hidden table, and how bad that is."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from discreet.belief.models.generators import variables_named
from discreet.belief.models.model_search import ModelSearch
from discreet.clock import Clock, work
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.fiber.sums.counting import Count
from discreet.figures import Outcome, Unavailable
from discreet.notebooks import Result
from discreet.numerics.graphs import junction_tree
from discreet.policy.findings import Findings
from discreet.policy.policy import judge
from discreet.policy.rule import Subject
from discreet.policy.verdict import Verdict
from discreet.progress import Progress, silent
from discreet.tables.audit_cells import CellAudit, LookedAt, looked_at
from discreet.tables.audit_count import number_of_tables
from discreet.tables.audit_extras import believed, population, refusal, share_beside
from discreet.tables.audit_findings import Measuring
from discreet.tables.audit_options import AuditOptions
from discreet.tables.cross_risks import CrossRisk
from discreet.tables.groups import Learned
from discreet.tables.measured import Measured, main_view_of, measured
from discreet.tables.measures import TableMeasures, one_over_tables
from discreet.tables.policy_needs import figure_of, needs_of
from discreet.tables.population_cells import PopulationCell
from discreet.tables.posteriors import AVERAGE, RELEASED, Seen, View, ViewOptions
from discreet.tables.printed import Printed
from discreet.tables.refused_margin import RefusalView
from discreet.tables.release import Release, released
from discreet.tables.ruled_out import told_of
from discreet.tables.shown_groups import ShownGroups, shown_by_release
from discreet.tables.smaller_releases import first_allowed
from discreet.tables.table_findings import FoundGroups

NOT_COUNTED = Count(value=None, how=None, note="not counted")
INSTEAD_SHARE, INSTEAD_SECONDS = 0.2, 5.0  # of the time, for a smaller release that may go out
TRY_SECONDS = 1e-3  # to look at a smaller release, for each of its tables
LEAST_SECONDS = 0.1

__all__ = ["Audit", "AuditOptions", "CellAudit", "audited", "main_view"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Audit(Result):
    """What a set of released margins reveals of a table.

    `small_cells` are those to protect, in the order of the distributions in `views`, out of
    `n_small`; the share of them that is identified is about `n_measured`, all unless the table is
    very large.
    `tightness` is measure (3), `one_over_tables` 1/M(T), `measures` the others under each view.
    `printed` are small counts that stand in what is released. `shown` is what the margins prove of
    groups of persons, `learned` that beyond what everybody knows, `believed` what is only probable;
    `refusal`
    what the small cells look like once some margins were refused; `population` the small cells of a
    sample as cells of its population, under each view; `findings` what rules may be about, and
    `verdict` what those of the policies say of the release, where there are any; `crosses` the risk
    of smaller tables that it is judged by, and `instead` a smaller release that the rules allow,
    where one was found.
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
    printed: tuple[Printed, ...]
    shown: ShownGroups
    believed: tuple[Learned, ...] | Unavailable
    refusal: RefusalView | Unavailable | None
    population: Mapping[str, tuple[PopulationCell, ...] | Unavailable]
    search: ModelSearch | None
    verdict: Verdict | None
    notes: tuple[str, ...]
    crosses: tuple[CrossRisk, ...] = ()
    findings: Findings = field(default_factory=lambda: Findings({}))
    instead: tuple[tuple[str, ...], ...] = ()

    @property
    def learned(self) -> tuple[Learned, ...]:
        """What the margins prove of groups of persons beyond what everybody knows."""
        return self.shown.learned


def audited(
    table: Table,
    release: Iterable[Sequence[str]],
    options: AuditOptions,
    progress: Progress = silent,
    *,
    involved: Iterable[str] = (),
) -> Audit:
    """What the released margins reveal of the table, and what the rules say of that.

    The table is looked at by the variables that the release and the options name, and by those
    `involved` besides.
    """
    clock = Clock(options.seconds)
    out = _out(table, release, options, involved)
    found = _revealed(out, options, clock, progress)
    if found.verdict is None or found.verdict.allows:
        return found
    return replace(found, instead=_instead(found, clock))


def _out(
    table: Table,
    release: Iterable[Sequence[str]],
    options: AuditOptions,
    involved: Iterable[str] = (),
) -> Release:
    return released(
        table,
        release,
        options.knows,
        involved={*involved, *involved_in(table, options)},
        targets=options.targets or (),
        nesting=options.nesting,
        nested=options.nested,
    )


def involved_in(table: Table, options: AuditOptions) -> set[str]:
    """The variables that the options name: in refused margins and in models."""
    refused = {name for names in options.refused for name in names}
    models = (axis for text in options.models for axis in variables_named(text, table.names))
    return refused | {table.names[axis] for axis in models}


def _revealed(
    out: Release,
    options: AuditOptions,
    clock: Clock,
    progress: Progress,
    *,
    counted: bool = True,
) -> Audit:
    cells = looked_at(out, options.most_small, clock, progress)
    number = number_of_tables(out, options.seed, clock, progress) if counted else NOT_COUNTED
    own = measured(out, cells, options.confidence, _view_options(options, clock), progress)
    cells, seen, watched = own.cells, own.seen, own.watched
    shown = _shown(out, cells, options, clock)
    found = Audit(
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
        measures=own.measures,
        printed=out.printed(options.most_small),
        shown=shown,
        believed=believed(out, options, shown.learned, clock),
        refusal=refusal(out, options, watched, clock, progress),
        population=population(out, options, seen.views),
        search=seen.search,
        verdict=None,
        notes=(*cells.notes, *_notes(seen)),
    )
    return _judged(found, own, clock)


def _shown(out: Release, cells: LookedAt, options: AuditOptions, clock: Clock) -> ShownGroups:
    """What the release proves of groups of persons."""
    upper = None
    if out.is_shown:
        most = np.array([cell.upper for cell in cells.cells], dtype=np.int64)
        upper = most.reshape(out.table.sizes)
    return shown_by_release(out, upper, out.targets(options.targets), clock)


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


def judged_release(
    table: Table, release: Iterable[Sequence[str]], options: AuditOptions
) -> tuple[Verdict, Findings]:
    """What the rules say of a release and what they are about, without what an audit tells beyond.

    Checked: the options give a limit or a policy.
    """
    out, clock = _out(table, release, options), Clock(options.seconds)
    found = _revealed(out, options, clock, silent, counted=False)
    if found.verdict is None:
        raise InputError(must_be("max_risk", "given, or a policy", "neither"))
    return found.verdict, found.findings


def _instead(audit: Audit, clock: Clock) -> tuple[tuple[str, ...], ...]:
    """A smaller release that the rules allow, where exact methods show one at once."""
    if clock.is_over:
        return ()
    table = audit.release.table
    own = Clock(clock.share(INSTEAD_SHARE, INSTEAD_SECONDS) or INSTEAD_SECONDS)

    def allows(sets: tuple[tuple[int, ...], ...]) -> bool:
        quick = replace(
            audit.options, models=(RELEASED,), model_priors=None, population=None,
            nested=told_of(audit.options.nested, table),
            seconds=max(own.left() or 0.0, LEAST_SECONDS),
        )  # fmt: skip
        if own.is_over:
            return False
        work(TRY_SECONDS * len(sets))
        out = _out(table, [table.names_of(axes) for axes in sets], quick)
        if out.printed(quick.most_small) or junction_tree(out.sets) is None:
            return False
        found = _revealed(out, quick, own, silent, counted=False)
        return found.verdict is not None and found.verdict.allows

    return first_allowed(table, audit.release.asked, allows)


def main_view(audit: Audit) -> str:
    """The view that headlines and the verdict are about: the average, or the first there is."""
    return main_view_of(audit.views)


def _judged(audit: Audit, own: Measured, clock: Clock) -> Audit:
    """The audit with what rules are about, and what those of the policies say."""
    options, policies = audit.options, audit.options.policies
    measuring = Measuring(
        out=audit.release,
        options=options,
        view_options=_view_options(options, clock),
        own=own,
        groups=found_groups(audit),
        clock=clock,
    )
    findings = measuring.findings(needs_of(policies))
    first = (figure_of(rule) for policy in policies for rule in policy.rules)
    shown = next((one for one in first if one is not None), None)
    return replace(
        audit,
        findings=findings,
        crosses=() if shown is None else measuring.crosses[shown],
        verdict=judge(policies, Subject.TABLES, findings),
    )


def found_groups(audit: Audit) -> FoundGroups:
    """What was found of groups of persons, proved or probable."""
    believed = audit.believed if isinstance(audit.believed, tuple) else ()
    unknown = audit.believed if isinstance(audit.believed, Unavailable) else None
    return FoundGroups(
        table=audit.release.table,
        learned=(*audit.learned, *believed),
        shown=audit.shown,
        nested=audit.release.nested,
        not_sought=None if audit.options.targets is None else unknown,
    )


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
