"""The choice for a table too large to be looked at cell by cell: margins by search alone."""

from collections.abc import Iterator
from dataclasses import replace

from discreet.choice.best_set.best_margins import BestMargins
from discreet.choice.candidates import NOTHING
from discreet.choice.choice import Candidate, Doubt, Standing, choose, standing
from discreet.choice.options import ChooseOptions
from discreet.choice.release_findings import reason
from discreet.choice.risk_utility import GROUPS, NOTHING_OUT, QUICKEST, TIME_OVER, RiskUtility
from discreet.choice.users import REQUESTS, scientists
from discreet.clock import Clock
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.rounding import first_largest
from discreet.policy.verdict import Judged, Ruling
from discreet.progress import Progress, silent
from discreet.tables.audit import judged_release
from discreet.tables.audit_options import AuditOptions
from discreet.tables.policy_needs import CERTAIN, finding_name
from discreet.tables.refused_margin import RiskFigure, RiskMeasure
from discreet.tables.table_findings import as_width

BOUNDS_SECONDS = 30.0

Names = tuple[tuple[str, ...], ...]


def check_large(options: ChooseOptions) -> None:
    """Raises InputError where somebody is named whom a table so large cannot be held against."""
    if set(options.users or {REQUESTS: 1.0}) != {REQUESTS}:
        rule = f"{REQUESTS!r} alone for a table so large"
        raise InputError(must_be("user", rule, ", ".join(options.users or ())))
    guarded = options.measure.kind is RiskMeasure.CELLS and options.intruders != (QUICKEST,)
    if guarded:
        rule = f"{QUICKEST!r} alone for a table so large"
        remedy = "a least width of bounds (min_width) holds for every intruder"
        raise InputError(must_be("intruders", rule, ", ".join(options.intruders), remedy=remedy))


def large_choice(
    table: Table,
    best: BestMargins,
    options: ChooseOptions,
    clock: Clock | None = None,
    progress: Progress = silent,
) -> RiskUtility:
    """Releasing nothing, the best set of margins that the search found, and others it met.

    Worth is the share of requests that is met, by weight. The search goes by the cells of the whole
    table; each set is audited by the cells of its own variables.
    """
    check_large(options)
    clock = clock or Clock(options.seconds)
    found = list(_candidates(table, best, options))
    candidates = []
    for i, one in enumerate(found):
        progress(f"looking at {one.title}", i / len(found))
        own = Clock(clock.share(1 / (len(found) - i)))
        candidates.append(one if one.is_nothing else _audited(one, table, options, own))
    choice = choose(candidates, options.max_risk)
    within = [i for i, s in enumerate(choice.standings) if s is Standing.WITHIN]
    worths = [candidates[i].worth or 0.0 for i in within]
    top = within[first_largest(worths, scale=1.0)] if within else None
    requests = [(table.axes(names), weight) for names, weight in options.requests]
    return RiskUtility(
        table=table,
        options=options,
        scientists=scientists(options.users, requests),
        candidates=tuple(candidates),
        choice=choice,
        best_for={} if top is None else {REQUESTS: top},
        compromises=() if top is None else (top,),
        notes=(),
        search=best,
    )


def _out(options: ChooseOptions) -> list[tuple[str, ...]]:
    """The margins that are out; that they are written as sets of variables is checked before."""
    return [one for one in options.out if not isinstance(one, str)]


def _audited(one: Candidate, table: Table, options: ChooseOptions, clock: Clock) -> Candidate:
    """The candidate with its risk by an audit of its margins with what is out."""
    measure = options.measure
    asked = AuditOptions(
        policy=options.policy,
        measure=measure.kind,
        max_risk=options.max_risk if options.has_limit else None,
        small=measure.small,
        confidence=measure.confidence,
        targets=options.targets,
        sure=options.sure,
        nesting=options.nesting,
        nested=options.nested,
        seconds=clock.left(),
    )
    verdict, found = judged_release(table, [*_out(options), *one.margins], asked)
    own = tuple(judged for judged in verdict.rules if judged.policy)
    plain = [judged for judged in verdict.rules if not judged.policy]
    others = plain[1:] if options.has_limit else []
    against = [judged.words for judged in others if judged.ruling is Ruling.BROKEN]
    broken = tuple(reason(judged) for judged in own if judged.ruling is Ruling.BROKEN)
    doubts = tuple(
        Doubt(judged.words.removesuffix("."), judged.remedy)
        for judged in (*others, *own)
        if judged.ruling is Ruling.UNDECIDED and (judged.policy or judged.rule == GROUPS)
    )
    one = replace(one, doubts=doubts, judged=own, breaks=(*against, *broken))
    if against:
        certain = Figure(value=CERTAIN[measure.kind], how=How.EXACT, note=against[0])
        return replace(one, risk=certain, risks={"any": certain}, method=" ".join(against))
    if not options.has_limit:
        name = RiskFigure(measure=measure.kind, small=measure.small, confidence=measure.confidence)
        shown = found.the(finding_name(name))
        risk = as_width(shown.value) if measure.kind is RiskMeasure.BOUNDS else shown.value
        return replace(one, risk=risk, risks={"any": risk}, method=shown.found)
    risk = _risk(plain[0], table, options)
    return replace(one, risk=risk, risks={"any": risk}, method=plain[0].words)


def _risk(judged: Judged, table: Table, options: ChooseOptions) -> Outcome:
    """The figure that a rule was judged by, which says no more than the ruling does."""
    value = judged.value
    if options.measure.kind is RiskMeasure.BOUNDS:
        value = as_width(value)
    if judged.ruling is Ruling.KEPT and isinstance(value, Unavailable):
        return Figure(value=_least(table, options), how=How.EXACT, note=value.reason)
    if judged.ruling is Ruling.UNDECIDED and standing(value, options.max_risk) is Standing.WITHIN:
        return Unavailable(judged.words)
    return value


def _candidates(table: Table, best: BestMargins, options: ChooseOptions) -> Iterator[Candidate]:
    share = best.utility / max(best.total_weight, 1e-300)
    yield _nothing(table, options)
    later = Unavailable(TIME_OVER)
    if best.to_publish:
        yield _candidate(_title(best.to_publish), best.to_publish, later, share)
    for sets, utility in best.others:
        fresh = tuple(names for names in sets if names not in best.already)
        if fresh and fresh != best.to_publish:
            worth = utility / max(best.total_weight, 1e-300)
            yield _candidate(_title(fresh), fresh, later, worth)


def _candidate(
    title: str,
    sets: Names,
    risk: Outcome,
    worth: float,
    *,
    is_nothing: bool = False,
) -> Candidate:
    return Candidate(
        title=title,
        risk=risk,
        risks={"any": risk},
        utility=Figure(value=worth, how=How.EXACT),
        losses={REQUESTS: 1.0 - worth},
        worths={REQUESTS: worth},
        margins=sets,
        is_nothing=is_nothing,
    )


def _title(sets: Names) -> str:
    return "".join(f"[{' '.join(names)}]" for names in sets)


def _least(table: Table, options: ChooseOptions) -> float:
    """The least that a risk can be."""
    return -float(table.total) if options.measure.kind is RiskMeasure.BOUNDS else 0.0


def _nothing(table: Table, options: ChooseOptions) -> Candidate:
    """What an intruder can do with what is out already; nothing where nothing is."""
    least = Figure(value=_least(table, options), how=How.EXACT, note=NOTHING_OUT)
    bare = _candidate(NOTHING, (), least, 0.0, is_nothing=True)
    return _audited(bare, table, options, Clock(BOUNDS_SECONDS)) if options.out else bare
