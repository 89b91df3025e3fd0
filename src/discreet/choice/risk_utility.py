"""The risk–utility map: every candidate with its risk and its worth, and the choice among them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from discreet.belief.closed_belief import has_closed_form
from discreet.belief.models.proportional_fitting import fit_margins
from discreet.choice.actors import Reading, Scientist, combined, data_utility, loses_nothing, worth
from discreet.choice.best_set.best_margins import BestMargins
from discreet.choice.candidates import NOTHING, Proposal, nothing, release_nothing
from discreet.choice.choice import (
    Candidate,
    Choice,
    Standing,
    choose,
    compromises,
    standing_of,
)
from discreet.choice.choice_verdict import choice_verdict
from discreet.choice.exposure import Choices, belief_exposure, bounds_exposure
from discreet.choice.judging import ByMargins, Judging
from discreet.choice.linked_tables import ByLayouts, LinkedSet
from discreet.choice.measures import Exposure, Measure
from discreet.choice.options import ChooseOptions
from discreet.choice.published_variables import Judged
from discreet.choice.release_findings import (
    NOT_YET,
    groups_found,
    learned_findings,
    measure_of,
    rules_applied,
)
from discreet.choice.users import scientists
from discreet.clock import Clock, work
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.system.margins import maximal
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.masks.after_publication import intruders_bounds
from discreet.masks.contract import Axes, Masked
from discreet.masks.margins import NAME as MARGINS
from discreet.masks.margins import margins_out
from discreet.notebooks import Result
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.graphs import junction_tree
from discreet.numerics.rounding import first_largest
from discreet.policy.findings import Finding
from discreet.policy.verdict import Ruling, Verdict
from discreet.progress import Progress, silent
from discreet.tables.cross_risks import Remembered
from discreet.tables.policy_needs import CERTAIN, Needs, needs_of
from discreet.tables.refused_margin import RiskFigure, RiskMeasure
from discreet.tables.worst_figure import worst_figure

TIME_OVER = "not looked at: time ran out"
NOT_TRIED = "not tried"  # how the reason of a mask begins that was held in reserve
MORE_TIME = "allow more"  # in the reason of a mask whose search did not end
PRINTED, GROUPS = "printed", "groups"  # what may be given away for certain
CERTAIN_SHARE = 0.2  # of the time, for finding that
MAP_SHARE = 0.4  # of the time of a candidate, for its risk on the map, where policies come after
NOTHING_OUT = "nothing is out"
NOTHING_HIDDEN = "the table of its variables is printed whole and has no small count"
CANDIDATE_SECONDS = 3e-3  # to make a candidate, or to look at one, beside what is counted there
SEARCHING = 0.1  # of the time left, for each candidate until one is within the limit
QUICKEST = "multinomial"  # the intruder whose belief is most often known in closed form
FIT_ROUNDS = 500
SLOW_FIT = 0.01  # of the persons, that a fit may be short of where it tends to


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RiskUtility(Result):
    """Candidates on the map, in the order they were looked at, and the choice.

    `best_for` is the most useful candidate within the limit for each user by himself; `compromises`
    are those within the limit that no other beats for all users at once. If they are several of
    different worth, users' wishes are in conflict. `search` is that for the best set of margins,
    where the table has too many variables to look at all sets.
    """

    table: Table
    options: ChooseOptions
    scientists: tuple[Scientist, ...]
    candidates: tuple[Candidate, ...]
    choice: Choice
    best_for: Mapping[str, int]
    compromises: tuple[int, ...]
    notes: tuple[str, ...]
    search: BestMargins | None = None

    @property
    def chosen(self) -> Candidate | None:
        """The candidate to release, if there is one."""
        return None if self.choice.chosen is None else self.candidates[self.choice.chosen]

    @property
    def something_is_safe(self) -> bool:
        """Whether some release other than nothing is within the limit."""
        return _something_is_safe(self.candidates, self.choice.max_risk)

    @property
    def verdict(self) -> Verdict:
        """Whether something may go out."""
        return choice_verdict(self.table, self.candidates, self.choice, self.options, self.search)

    @property
    def in_conflict(self) -> bool:
        """Whether no one release within the limit is best for every user."""
        found = [self.candidates[i].worths for i in self.compromises]
        return any(abs(one[u] - found[0][u]) > 1e-9 for one in found[1:] for u in one)


def risk_utility(
    table: Table,
    proposals: Sequence[Proposal],
    options: ChooseOptions,
    *,
    linked: LinkedSet | None = None,
    clock: Clock | None = None,
    progress: Progress = silent,
) -> RiskUtility:
    """Risk and worth of releasing nothing and of each proposal, and the choice among them.

    What each is worth is found first, then their risks, from the most useful one down. Within
    `seconds` each gets its share of what is left; those that were not finished are among the
    candidates with the reason, and are never chosen. Where nothing is within the limit, those that
    were held in reserve are tried, and those whose search did not end once more, with the time that
    is left.

    Checked: names are those of the table and of presets. Raises InputError for a table too large to
    be held in full.
    """
    clock = clock or Clock(options.seconds)
    asked = _Asked.of(table, options, linked)
    none = nothing(table, asked.out) if linked is None else linked.withheld()
    every = [none, *(one for one in proposals if not one.is_nothing)]
    candidates = [
        _not_looked_at(one, f"{NOT_TRIED}: {one.reserve}")
        if one.reserve
        else _made(one, asked, clock, progress)
        for one in every
    ]
    _look(candidates, asked, clock, progress)
    _try_again(every, candidates, asked, clock, progress)
    choice = choose(candidates, options.max_risk)
    within = [
        i
        for i, one in enumerate(candidates)
        if choice.standings[i] is Standing.WITHIN and one.worths
    ]
    return RiskUtility(
        table=table,
        options=options,
        scientists=asked.scientists,
        candidates=tuple(candidates),
        choice=choice,
        best_for=_best_for(candidates, within, asked.scientists),
        compromises=tuple(within[i] for i in compromises([candidates[j].worths for j in within])),
        notes=(*_notes(candidates, table, options), *_content(asked)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What every candidate is held against."""

    table: Table
    options: ChooseOptions
    out: tuple[Axes, ...]
    scientists: tuple[Scientist, ...]
    blank: FloatArray
    truth: IntArray
    needs: Needs
    by: Judging
    remembered: dict[RiskFigure, Remembered] = field(default_factory=dict)  # crosses known already
    choices: dict[int, tuple[Judged, Choices]] = field(default_factory=dict)  # of each release

    @classmethod
    def of(cls, table: Table, options: ChooseOptions, linked: LinkedSet | None = None) -> "_Asked":
        """The names of the options looked up in the table; of `linked` tables, which are on the
        table, with what is out."""
        out = maximal(out_axes(table, options)) if linked is None else ()
        if linked is None:
            check_requests(table, options)
        requests = [(table.axes(names), weight) for names, weight in options.requests]
        for name in options.intruders:
            options.measure.intruder(name, table.n_cells)
        truth = table.dense()
        return cls(
            table=table,
            options=options,
            out=out,
            scientists=scientists(options.users, requests, n_variables=len(table.names)),
            blank=_blank(_nothing_new(table, out, linked), out),
            truth=truth,
            by=ByMargins(out, options) if linked is None else ByLayouts(linked, options),
            needs=needs_of(options.policy),
        )

    @property
    def figure(self) -> RiskFigure:
        """The measure of the map."""
        own = self.options.measure
        return RiskFigure(measure=own.kind, small=own.small, confidence=own.confidence)

    def is_told_by(self, masked: Masked) -> bool:
        """Whether a publication holds all margins that are out already."""
        own = [] if masked.margins is None else list(masked.margins.tables)
        return all(any(set(axes) <= set(one) for one in own) for axes in self.out)

    def is_quick(self, candidate: Candidate) -> bool:
        """Whether its risk is known at once: nothing, or margins with a closed form."""
        masked = candidate.masked
        if candidate.is_nothing or masked is None or masked.margins is None:
            return candidate.is_nothing
        if masked.likelihood is not None or not self.is_told_by(masked):
            return False
        if self.options.measure.kind is RiskMeasure.BOUNDS:
            return junction_tree(masked.margins.tables) is not None
        n, measure = self.table.n_cells, self.options.measure
        priors = [measure.intruder(name, n).prior for name in self.options.intruders]
        return all(has_closed_form(masked.margins, prior) for prior in priors)


def _nothing_new(table: Table, out: Sequence[Axes], linked: LinkedSet | None) -> Masked:
    if linked is None:
        return release_nothing(table, out)
    made = linked.withheld().make()
    assert isinstance(made, Masked)
    return made


def out_axes(table: Table, options: ChooseOptions) -> list[Axes]:
    """The variables of the margins that are out.

    Checked: they are plain margins, where no tables are named that are to go out.
    """
    written = [one for one in options.out if isinstance(one, str)]
    if written:
        remedy = "name the tables that are to go out in the same way (tables)"
        rule = "sets of variables where no tables are named"
        raise InputError(must_be("out", rule, repr(written[0]), remedy=remedy))
    return [table.axes(names) for names in options.out]


def _blank(nothing_new: Masked, out: Sequence[Axes]) -> FloatArray:
    """What users put into each cell without a release: the fit of what is out.

    Where what is out leaves one table only, that table: proportional fitting may come near it
    slowly, and what is left to go is no loss of anybody's.
    """
    truth = nothing_new.source.dense()
    off = float(np.abs(nothing_new.estimate - truth).sum())
    if not out or off > SLOW_FIT * truth.sum():
        return nothing_new.estimate
    found = intruders_bounds(nothing_new, time_limit=1.0)
    return truth.astype(np.float64) if (found.lower == found.upper).all() else nothing_new.estimate


def check_requests(table: Table, options: ChooseOptions) -> None:
    """Raises InputError where a requested margin is out already, or no variable has its name."""
    out = [set(axes) for axes in out_axes(table, options)]
    for names, _ in options.requests:
        if any(set(table.axes(names)) <= own for own in out):
            rule = "margins that are not out already"
            raise InputError(must_be("request", rule, ",".join(names)))


def _made(proposal: Proposal, asked: _Asked, clock: Clock, progress: Progress) -> Candidate:
    """A proposal as a candidate: what it is worth, its risk still to be looked at.

    One that does not fit the table, or came after time ran out, says so.
    """
    progress(f"making {proposal.title}", None)
    if clock.is_over and not proposal.is_nothing:
        return _not_looked_at(proposal, TIME_OVER)
    work(CANDIDATE_SECONDS)
    try:
        masked = proposal.make()
    except InputError as error:
        if proposal.is_nothing or proposal.is_asked:
            raise
        return _not_looked_at(proposal, f"does not fit: {error}")
    if isinstance(masked, Unavailable):
        return _not_looked_at(proposal, masked.reason)
    losses, worths = _worths(masked, asked)
    weights = {one.name: one.weight for one in asked.scientists}
    return Candidate(
        title=proposal.title if _is_plain(masked) else masked.title,
        risk=Unavailable(TIME_OVER),
        utility=Figure(value=combined(worths, weights), how=How.EXACT),
        losses=losses,
        worths=worths,
        masked=masked,
        is_nothing=proposal.is_nothing,
    )


def _look(candidates: list[Candidate], asked: _Asked, clock: Clock, progress: Progress) -> None:
    """Finds the risks: what is given away for certain, then what is known at once, then from the
    most useful one down, then the rest.

    What is less useful than one within the limit cannot be the choice any more, nor can what harms
    for certain; both only complete the map.
    """
    made = [i for i, one in enumerate(candidates) if one.masked is not None]
    judged: dict[int, Judged | None] = {}
    for i in made:
        own = Clock(clock.share(CERTAIN_SHARE / len(made)))
        candidates[i], judged[i] = _first_look(candidates[i], asked, own, i)
    harmful = {i for i in made if isinstance(candidates[i].risk, Figure)}
    made.sort(
        key=lambda i: (
            i in harmful, not asked.is_quick(candidates[i]), -(candidates[i].worth or 0.0), i
        )
    )  # fmt: skip
    for done, i in enumerate(made):
        progress(f"looking at {candidates[i].title}", done / len(made))
        if clock.is_over and not candidates[i].is_nothing:
            continue
        work(CANDIDATE_SECONDS)
        part = 1 / (len(made) - done)
        part = max(part, SEARCHING) if _may_be_best(candidates, i, asked) else part
        own = Clock(clock.share(part))
        seed = [asked.options.seed, i]
        candidates[i] = _looked_at(candidates[i], judged[i], asked, own, seed)


def _first_look(
    candidate: Candidate, asked: _Asked, clock: Clock, place: int
) -> tuple[Candidate, Judged | None]:
    """The candidate with what it gives away for certain, and how it is to be judged beyond."""
    assert candidate.masked is not None
    options, masked = asked.options, candidate.masked
    seed = [options.seed, place, 1]
    candidate = _read_off(candidate, asked)
    if not options.has_limit:
        return candidate, asked.by.judged(masked)
    harm = asked.by.harm(masked, clock, seed)
    candidate = replace(candidate, doubts=(*candidate.doubts, *harm.doubts))
    if not harm.printed and not harm.shared:
        return candidate, harm.judged
    note = harm.printed or harm.shared
    known = Figure(value=CERTAIN[options.measure.kind], how=How.EXACT, note=note)
    return replace(
        candidate,
        risk=known,
        risks={PRINTED if harm.printed else GROUPS: known},
        method=known.note,
        breaks=(*candidate.breaks, *((harm.shared,) if harm.shared else ())),
    ), harm.judged


def _read_off(candidate: Candidate, asked: _Asked) -> Candidate:
    """The candidate with what stands on its page and breaks a policy; else all is open yet."""
    if not asked.options.policy or candidate.masked is None:
        return candidate
    found = asked.by.page(candidate.masked, asked.needs)
    rules, breaks, _ = rules_applied(asked.options, found)
    judged = tuple(one for one in rules if one.ruling is Ruling.BROKEN)
    return replace(candidate, judged=judged, breaks=breaks, doubts=() if breaks else (NOT_YET,))


def _try_again(
    proposals: Sequence[Proposal],
    candidates: list[Candidate],
    asked: _Asked,
    clock: Clock,
    progress: Progress,
) -> None:
    """Where nothing is within the limit, makes and looks at what waited or was not finished."""
    for i, proposal in enumerate(proposals):
        waited = candidates[i].masked is None and candidates[i].is_possible
        if not waited or _something_is_safe(candidates, asked.options.max_risk):
            continue
        if clock.is_over:
            if proposal.reserve and _reason(candidates[i]).startswith(NOT_TRIED):
                candidates[i] = _not_looked_at(proposal, TIME_OVER)
            continue
        candidates[i] = _made(proposal, asked, clock, progress)
        if candidates[i].masked is not None:
            progress(f"looking at {candidates[i].title}", None)
            first = Clock(clock.share(CERTAIN_SHARE))
            candidates[i], judged = _first_look(candidates[i], asked, first, i)
            own, seed = Clock(clock.left()), [asked.options.seed, i]
            candidates[i] = _looked_at(candidates[i], judged, asked, own, seed)


def _something_is_safe(candidates: Sequence[Candidate], max_risk: float) -> bool:
    """Whether something other than nothing is within the limit."""
    return any(
        standing_of(one, max_risk) is Standing.WITHIN and not one.is_nothing for one in candidates
    )


def _may_be_best(candidates: Sequence[Candidate], place: int, asked: _Asked) -> bool:
    """Whether a candidate is more useful than all that are known to be within the limit."""
    cap, own = asked.options.max_risk, candidates[place].worth or 0.0
    safe = (one.worth or 0.0 for one in candidates if standing_of(one, cap) is Standing.WITHIN)
    return own > max(safe, default=-float("inf"))


def _looked_at(
    candidate: Candidate,
    judged: Judged | None,
    asked: _Asked,
    clock: Clock,
    seed: Sequence[int],
) -> Candidate:
    """The candidate with what an intruder finds of the hidden cells; of that and what is given away
    for certain the worst is its risk."""
    kind, figure = asked.options.measure.kind, asked.figure
    if judged is None or (kind is RiskMeasure.TABLE and not _hides(judged.masked)):
        why = NOTHING_OUT if judged is None else NOTHING_HIDDEN
        least = -float(asked.table.total) if kind is RiskMeasure.BOUNDS else 0.0
        found = {"any": Exposure(Figure(value=least, how=How.EXACT, note=why), why)}
    else:
        part = Clock(clock.share(MAP_SHARE)) if asked.options.policy else clock
        judged = _without_replay(judged) if candidate.risks else judged
        found = _exposures(judged, asked, asked.options.measure, part, np.random.default_rng(seed))
    candidate = _with_choice(candidate, list(found.values()))
    risks = {**candidate.risks, **{name: one.risk for name, one in found.items()}}
    if candidate.risks:
        return _by_policies(replace(candidate, risks=risks), judged, asked, clock, seed, {})
    if judged is not None:
        risks |= _crosses(candidate, judged, asked, figure, clock)
    method = "; ".join(dict.fromkeys(one.method for one in found.values()))
    risk = worst_figure(risks, CERTAIN[kind])
    whole = replace(candidate, risk=risk, risks=risks, method=method)
    return _by_policies(whole, judged, asked, clock, seed, {figure: risk})


def _without_replay(judged: Judged) -> Judged:
    """A release that gives something away for certain, whatever its choice tells beside."""
    return replace(judged, masked=replace(judged.masked, replay=None))


def _with_choice(candidate: Candidate, found: Sequence[Exposure]) -> Candidate:
    """The candidate with whether its risk counts what the choice of the publication tells."""
    told = [one.counted for one in found if one.counted is not None]
    why = next((one.uncounted for one in found if one.uncounted), "")
    return replace(candidate, counted=all(told) if told else None, uncounted=why)


def _crosses(
    candidate: Candidate, judged: Judged, asked: _Asked, figure: RiskFigure, clock: Clock
) -> dict[str, Outcome]:
    """The worst of the smaller crosses by one measure."""
    assert candidate.masked is not None
    remembered = asked.remembered.setdefault(figure, {})
    return asked.by.crosses(candidate.masked, judged, figure, clock, remembered)


def _by_policies(
    candidate: Candidate,
    judged: Judged | None,
    asked: _Asked,
    clock: Clock,
    seed: Sequence[int],
    known: Mapping[RiskFigure, Outcome],
) -> Candidate:
    """The candidate with what every rule of the policies says of it; `known` are measures found
    already. One that breaks a rule on its page is not looked at further."""
    options = asked.options
    if not options.policy or candidate.masked is None or NOT_YET not in candidate.doubts:
        return candidate
    rng = np.random.default_rng([*seed, 2])

    def measuring(figure: RiskFigure) -> Outcome:
        if figure in known or judged is None:
            return known.get(figure, Unavailable(NOTHING_OUT))
        own = _exposures(judged, asked, measure_of(figure, options), clock, rng)
        risks = {name: one.risk for name, one in own.items()}
        risks |= _crosses(candidate, judged, asked, figure, clock)
        return worst_figure(risks, CERTAIN[figure.measure])

    hides = judged is not None and _hides(judged.masked)
    found: dict[str, Finding] = {
        **asked.by.page(candidate.masked, asked.needs),
        **asked.by.worked_out(candidate.masked, judged, asked.needs, clock),
    }
    if asked.needs.groups:
        harm = asked.by.harm(candidate.masked, clock, [*seed, 1])
        found["groups"] = groups_found(harm)
    found |= learned_findings(judged, asked.needs, hides, measuring)
    rules, breaks, doubts = rules_applied(options, found)
    left = tuple(one for one in candidate.doubts if one is not NOT_YET)
    return replace(
        candidate,
        judged=rules,
        breaks=(*candidate.breaks, *breaks),
        doubts=(*left, *doubts),
    )


def _hides(masked: Masked) -> bool:
    """Whether some table of its variables is not printed whole."""
    if masked.margins is None or masked.likelihood is not None:
        return True
    return all(len(axes) < len(masked.source.names) for axes in masked.margins.tables)


def _is_plain(masked: Masked) -> bool:
    """Whether it is a set of margins, whose title leaves out what is out already."""
    return masked.mask in (NOTHING, MARGINS)


def _not_looked_at(proposal: Proposal, reason: str) -> Candidate:
    unknown = Unavailable(reason)
    late = reason == TIME_OVER or MORE_TIME in reason or reason.startswith(NOT_TRIED)
    return Candidate(title=proposal.title, risk=unknown, utility=unknown, is_possible=late)


def _exposures(
    judged: Judged, asked: _Asked, measure: Measure, clock: Clock, rng: np.random.Generator
) -> dict[str, Exposure]:
    names, masked = asked.options.intruders, judged.masked
    if measure.kind is RiskMeasure.BOUNDS:
        return {"any": bounds_exposure(masked, measure.small, also=judged.also, clock=clock)}
    _, choices = asked.choices.setdefault(id(judged), (judged, {}))
    found = {}
    for i, name in enumerate(sorted(names, key=lambda name: name != QUICKEST)):
        own = Clock(clock.share(1 / (len(names) - i)))
        intruder = measure.intruder(name, masked.source.n_cells)
        try:
            found[name] = belief_exposure(
                masked, intruder, measure, also=judged.also, clock=own, rng=rng, choices=choices
            )
        except BudgetExceeded as beyond:
            found[name] = Exposure(Unavailable(str(beyond)), str(beyond))
    return found


def _worths(masked: Masked, asked: _Asked) -> tuple[dict[str, float], dict[str, float]]:
    """The loss of every user, and the share of his avoidable loss that he is spared."""
    estimate = masked.estimate
    if not asked.is_told_by(masked):
        estimate = _fitted(estimate, asked)
    reading = Reading(estimate=estimate, blank=asked.blank, published=masked.published)
    losses, worths = {}, {}
    for user in asked.scientists:
        utility = data_utility(user, reading, asked.truth)
        losses[user.name] = 0.0 - utility
        worths[user.name] = worth(utility, data_utility(user, reading.without, asked.truth))
    return losses, worths


def _fitted(estimate: FloatArray, asked: _Asked) -> FloatArray:
    """An estimate scaled to the margins that are out, where empty cells leave that possible."""
    margins = margins_out(asked.table, asked.truth, asked.out).tables
    wanted = {axes: counts.astype(np.float64) for axes, counts in margins.items()}
    start = np.maximum(estimate, 0.0)
    found = fit_margins(wanted, asked.table.sizes, start=start, most_rounds=FIT_ROUNDS)
    return np.array(found.fitted) if found.converged else estimate


def _best_for(
    candidates: Sequence[Candidate], within: Sequence[int], users: Sequence[Scientist]
) -> dict[str, int]:
    if not within:
        return {}
    best = {}
    for user in users:
        worths = [candidates[i].worths[user.name] for i in within]
        best[user.name] = within[first_largest(worths, scale=1.0)]  # a worth of 1 is all there is
    return best


def _notes(candidates: Sequence[Candidate], table: Table, options: ChooseOptions) -> list[str]:
    """What must be said of the map as a whole."""
    notes = []
    late = sum(_reason(one) == TIME_OVER for one in candidates)
    if late:
        seconds = f"{options.seconds:g} second{'' if options.seconds == 1 else 's'}"
        notes.append(f"{late} of {len(candidates)} candidates were not looked at in {seconds}")
    waiting: dict[str, list[str]] = {}
    for one in candidates:
        if _reason(one).startswith(NOT_TRIED):
            waiting.setdefault(_reason(one), []).append(one.title)
    notes += [f"{', '.join(titles)}: {reason}" for reason, titles in waiting.items()]
    if not len(table.small_cells(options.measure.small)):
        notes.append(f"no cell has a count from 1 to {options.measure.small}, so none is at risk")
    return notes


def _content(asked: _Asked) -> list[str]:
    """Users who lose nothing without a release, so that none can be worth anything to them."""
    reading = Reading(estimate=asked.blank, blank=asked.blank)
    return [
        f"{user.name}: this user loses nothing even without a release, so each is worth 1 to "
        "him, or −1 if it misleads"
        for user in asked.scientists
        if loses_nothing(data_utility(user, reading, asked.truth))
    ]


def _reason(candidate: Candidate) -> str:
    return candidate.risk.reason if isinstance(candidate.risk, Unavailable) else ""
