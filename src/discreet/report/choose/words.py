"""A choice of what to release, in words."""

import math
from collections.abc import Iterator, Sequence

from discreet.choice.best_set.result import BestMargins
from discreet.choice.choice import Candidate, Decision, Standing
from discreet.choice.exposure import MOST_CELLS
from discreet.choice.measures import INTRUDERS
from discreet.choice.risk_utility import QUICKEST, RiskUtility
from discreet.errors import one_line
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.rounding import order_of
from discreet.policy.verdict import Ruling
from discreet.report import words
from discreet.report.audit.answer import nested_words
from discreet.report.audit.words import CONSISTENT, sure_words, tiny
from discreet.report.verdict import as_option, remedies
from discreet.tables.refused_margin import RiskMeasure
from discreet.tables.ruled_out import ruled_out

CHOSEN, FRONT = "▶", "•"
HEADLINE, LISTED = 140, 60  # characters of a title
LEGEND = f"{CHOSEN} the choice   {FRONT} on the frontier: nothing as safe is more useful"
WORTH = (
    "Worth: the share of the error that users would make without a release and are spared by this "
    "one. 1: all of it, as by the full table; 0: none; below 0: it misleads them."
)
AMONG_OTHERS = (
    "That this release was chosen among others can tell something of the table too, which no risk "
    "here counts."
)
HINT = (
    "This intruder takes all cells to be alike before seeing the release, and so makes too little "
    "of figures of very different size, above all of rounded ones. Try --intruders "
    "dirichlet,multinomial: then the worse of the two counts."
)
SHORT = {
    Standing.WITHIN: "within",
    Standing.ABOVE: "above",
    Standing.DOUBTFUL: "too near",
    Standing.UNKNOWN: "not known",
}
NOT_MADE = "not made"
GREATEST = (0, 1)  # that a risk can be, by bounds and else
RISKS = {
    RiskMeasure.BOUNDS: (
        "minus the width of the narrowest range that {consistent} leave to a small cell; 0 means "
        "that one is known for certain"
    ),
    RiskMeasure.TABLE: "the probability that an intruder gives to the whole true table",
    RiskMeasure.CELLS: (
        "the share of small cells whose count an intruder would guess right, and be more than "
        "{confidence} sure of"
    ),
}


def scope(found: RiskUtility) -> Iterator[str]:
    """What was asked, in a few lines."""
    table, small = found.table, found.options.measure.small
    counts = "a count of 1" if small == 1 else f"a count from 1 to {small}"
    yield (
        f"{words.plural(table.total, 'person')}, {words.plural(len(table.names), 'variable')}, "
        f"{words.plural(table.n_cells, 'cell')}, "
        f"{words.plural(len(table.small_cells(small)), 'small cell')} ({counts})"
    )
    yield cap_words(found)
    if found.options.tables:
        yield "one set of tables: " + "".join(f"[{one}]" for one in found.options.tables)
    if found.options.out:
        named = (o if isinstance(o, str) else " ".join(o) for o in found.options.out)
        listed = "".join(f"[{one}]" for one in named)
        yield f"out already: {listed}"


def cap_words(found: RiskUtility) -> str:
    """The limit in the units of the measure, and the policies."""
    limit = _limit_words(found) if found.options.has_limit else ""
    policies = f"the rules of {policies_named(found)}" if found.options.policy else ""
    return f"{limit}, and {policies}" if limit and policies else limit or f"limit: {policies}"


def policies_named(found: RiskUtility) -> str:
    """The policies that must hold, by their names."""
    return words.listed([policy.name for policy in found.options.policy])


def _limit_words(found: RiskUtility) -> str:
    cap = found.options.max_risk
    if found.options.measure.kind is RiskMeasure.BOUNDS:
        if cap == 0:
            return "limit: none, bounds of small cells may have any width"
        return (
            f"limit: bounds of every small cell at least {-cap:g} wide "
            f"(a risk of at most {minus(f'{cap:g}')})"
        )
    named = {
        RiskMeasure.TABLE: "probability of the true table",
        RiskMeasure.CELLS: "share of small cells",
    }
    found_by = " found" if found.options.measure.kind is RiskMeasure.CELLS else ""
    return f"limit: {named[found.options.measure.kind]}{found_by} at most {number(cap)}"


def risk_meaning(found: RiskUtility) -> str:
    """What the figures of risk say."""
    measure = found.options.measure
    sure = sure_words(measure.confidence)
    said = RISKS[measure.kind].format(consistent=CONSISTENT, confidence=sure)
    return f"Risk: {said}."


def intruder_words(found: RiskUtility) -> list[str]:
    """Who is guarded against: one line for each intruder."""
    if found.options.measure.kind is RiskMeasure.BOUNDS:
        return ["any intruder: bounds are the same whatever is believed beforehand"]
    alpha = found.options.measure.alpha
    return [f"{name}: {INTRUDERS[name].format(alpha=alpha)}" for name in found.options.intruders]


def intruder_hint(found: RiskUtility) -> str:
    """The weakness of guarding against the usual intruder alone, and what to do; else nothing."""
    by_bounds = found.options.measure.kind is RiskMeasure.BOUNDS
    is_usual = tuple(found.options.intruders) == (QUICKEST,)
    large = found.search is not None and found.table.n_cells > MOST_CELLS
    return HINT if is_usual and not by_bounds and not large else ""


def headline(found: RiskUtility) -> str:
    """The decision in one line."""
    choice, chosen = found.choice, found.chosen
    if choice.decision is Decision.EXCEEDED:
        return "Release nothing. The limit is exceeded even so."
    if chosen is None or choice.decision is Decision.NOTHING:
        beyond = " beyond what is out" if found.options.out else ""
        return f"Release nothing{beyond}."
    return f"Release: {short(chosen.title, HEADLINE)}."


def reasons(found: RiskUtility) -> Iterator[str]:
    """Why, in the first place."""
    chosen = found.chosen
    yield why_words(found)
    if chosen is not None and not chosen.is_nothing:
        yield f"Risk {risk_words(chosen.risk)}{_place_of(chosen)}, worth {worth_words(chosen)}."
    better = _more_useful(found)
    if better is not None:
        named, why = short(better.title, LISTED), _why_above(better)
        yield f"More useful, but above the limit: {named}, which {why}."
    open_one = _open(found)
    if open_one is not None and found.verdict.ruling is Ruling.KEPT:
        named, [doubt, *_] = short(open_one.title, LISTED), open_one.doubts
        worth = f", worth {open_one.worth:.3f}" if open_one.worth is not None else ""
        yield f"More useful, but open: {named}{worth}. {words.full(doubt.words)}"
    yield from (words.full(note) for note in found.table.notes)
    options = found.options
    nested = ruled_out(
        found.table, nesting=options.nesting, secret=_secret(found), nested=options.nested
    )
    yield from nested_words(found.table, nested)


def _secret(found: RiskUtility) -> tuple[int, ...]:
    targets = found.options.targets
    return () if targets is None else found.table.axes(targets)


def _more_useful(found: RiskUtility) -> Candidate | None:
    """The most useful candidate that gives something away for certain, if it beats the choice."""
    least = -math.inf if found.chosen is None else found.chosen.worth or 0.0
    above = [
        one
        for one, standing in zip(found.candidates, found.choice.standings, strict=True)
        if standing is Standing.ABOVE and _why_above(one) and (one.worth or 0.0) > least
    ]
    return max(above, key=lambda one: one.worth or 0.0, default=None)


def _why_above(candidate: Candidate) -> str:
    """What a candidate gives away for certain, or the rule of a policy that it breaks."""
    if candidate.method.startswith(("prints ", "shows ")):
        return candidate.method
    return next((one for one in candidate.breaks if one.startswith("breaks ")), "")


def _open(found: RiskUtility) -> Candidate | None:
    """The most useful candidate that was not chosen because of a doubt."""
    missed = [one for i in found.choice.missed if (one := found.candidates[i]).doubts]
    return max(missed, key=lambda one: one.worth or 0.0, default=None)


def next_steps(found: RiskUtility, command: str, *, written: bool) -> Iterator[str]:
    """What to do now: write what may go out, or what would help.

    What draws decide is chosen again only with their seed, which stays inside.
    """
    if found.verdict.ruling is Ruling.KEPT and found.choice.decision is Decision.RELEASE:
        open_one = _open(found)
        if open_one is not None:
            named = short(open_one.title, LISTED)
            yield f"First, for {named}: {as_option(open_one.doubts[0].remedy)}, and choose again"
        drawn = "--seed" not in command and any(_is_drawn(one) for one in found.candidates)
        seed = f" --seed {found.options.seed}" if drawn else ""
        if written:
            yield "Publish the tables that were written; the record beside them stays inside"
        elif command:
            otherwise = "; draws with another seed may lead to another release" if seed else ""
            yield f"`{command}{seed} --write FOLDER` writes its tables{otherwise}"
        else:
            yield "`discreet.write_report` draws its tables, the command `choose` writes them"
        return
    yield from remedies(found.verdict)
    if found.options.masks is not None:
        prescribed = [policy for policy in found.options.policy if policy.mask]
        yield from (f"{one.name} prescribes a treatment: --masks {one.mask}" for one in prescribed)
    if found.verdict.ruling is Ruling.BROKEN:
        yield "Merge levels with few persons, or leave out a variable, and choose again"
    better = _more_useful(found)
    if better is not None and any(one.startswith("shows ") for one in better.breaks):
        yield "If what a group shares is no secret, name the variables that are (--targets)"


def _is_drawn(candidate: Candidate) -> bool:
    """Whether its figures or its risk depend on the seed."""
    estimated = isinstance(candidate.risk, Figure) and candidate.risk.how is How.ESTIMATE
    return estimated or (candidate.masked is not None and candidate.masked.seed is not None)


def more_reasons(found: RiskUtility) -> Iterator[str]:
    """What else must be known of the decision."""
    choice, chosen = found.choice, found.chosen
    if chosen is not None:
        yield from _effects(chosen)
    nothing = next((one for one in found.candidates if one.is_nothing), None)
    if nothing is not None and nothing is not chosen:
        known = isinstance(nothing.risk, Figure)
        own = f"has a risk of {risk_words(nothing.risk)}" if known else "has a risk not known here"
        yield f"Releasing nothing {own}: what an intruder can do without a release."
    late = tuple(i for i in choice.missed if not found.candidates[i].doubts)
    if late:
        listed = titles(found, late)
        yield (
            f"Perhaps better, but not shown to be within the limit in the time given: {listed}. "
            "More --seconds may decide."
        )


def why_words(found: RiskUtility) -> str:
    """Why this was chosen; where nothing may go out, which release comes closest."""
    if found.choice.decision is not Decision.NOTHING or found.something_is_safe:
        return words.full(found.choice.why)
    shown = "was shown to be" if found.choice.missed else "is"
    if not found.options.has_limit:
        return f"No release {shown} within the rules of {policies_named(found)}."
    cap = minus(number(found.options.max_risk))
    said = f"No release {shown} within the limit of {cap}."
    risks = [
        (one.risk.value, one)
        for one in found.candidates
        if not one.is_nothing and isinstance(one.risk, Figure) and one.risk.value is not None
    ]
    if not risks:
        return said
    _, nearest = min(risks, key=lambda pair: pair[0])
    at = f"{risk_words(nearest.risk)}{_place_of(nearest)}"
    return f"{said} The closest is {short(nearest.title, LISTED)} at {at}."


def _place_of(candidate: Candidate) -> str:
    """The smaller table in which the risk is found, where it is found in no table of all variables:
    its small cells are others than those of the whole."""
    worst = [name for name, risk in candidate.risks.items() if risk == candidate.risk]
    return f" {worst[0]}" if worst and all(name.startswith("in ") for name in worst) else ""


def _effects(chosen: Candidate) -> Iterator[str]:
    """What the choice does to the data, and what it may tell beyond its risk."""
    if len(chosen.title) > HEADLINE:
        yield f"In full: {chosen.title}."
    if chosen.masked is None or chosen.is_nothing:
        return
    if chosen.masked.margins is None or len(chosen.title) <= HEADLINE:
        yield chosen.masked.effect
    if chosen.masked.beyond:
        yield chosen.masked.beyond
    if chosen.counted is not None:
        yield choice_words(chosen)
    yield AMONG_OTHERS


def choice_words(chosen: Candidate) -> str:
    """Which intruder the risk holds for: one who repeats the choice of the pattern, or not."""
    if chosen.counted:
        return "The risk counts what an intruder learns who repeats this choice on other tables."
    return (
        "The risk is that of an intruder who does not repeat this choice on other tables; for one "
        f"who does it is not known: {chosen.uncounted}."
    )


def short(title: str, most: int) -> str:
    """A title that fits; of a long list of tables the first, and how many there are."""
    plain = one_line(title)
    if len(plain) <= most:
        return plain
    tables = plain.count("[")
    tail = f"… ({tables} tables)" if tables > 2 else "…"
    return plain[: most - len(tail)] + tail


def conflict_words(found: RiskUtility) -> str:
    """Whether users' wishes go together."""
    if len(found.scientists) < 2 or not found.compromises:
        return ""
    if not found.in_conflict:
        return "Users agree: one release within the limit is best for every user."
    listed = titles(found, found.compromises)
    return (
        "Users disagree: of these releases within the limit, each is better for some and none is "
        f"better for all: {listed}."
    )


def best_words(best: BestMargins) -> Iterator[str]:
    """How good the best set of margins is, and how much better any could be."""
    met = f"{best.utility:g} of {best.total_weight:g}"
    if best.optimal:
        yield f"The best set meets requests of weight {met}; no safe set meets more (proved)."
    else:
        yield (
            f"The best set found meets requests of weight {met}; among {best.family.value} no safe "
            f"one meets more than {best.upper_bound:g}."
        )
    if not best.complete and not best.notes:
        yield "The search stopped when its time was up; more --seconds may find more."
    yield from (words.full(note) for note in best.notes)


def unknown_words(found: RiskUtility, most: int = 5) -> Iterator[str]:
    """What was not made and which risks are not known, each reason once."""
    reasons_of: dict[tuple[str, str], list[int]] = {}
    for i, one in enumerate(found.candidates):
        if isinstance(one.risk, Unavailable):
            said = "Risk not known of" if one.is_possible else "Cannot be made:"
            reasons_of.setdefault((said, one.risk.reason), []).append(i)
    for (said, reason), places in list(reasons_of.items())[:most]:
        yield f"{said} {titles(found, places, 3)}: {words.sentence(reason)}."
    if len(reasons_of) > most:
        yield f"And for {words.plural(len(reasons_of) - most, 'further reason')}."


def titles(found: RiskUtility, places: Sequence[int], most: int = 5) -> str:
    """Candidates by name, the first few."""
    named = [short(found.candidates[i].title, LISTED) for i in places[:most]]
    more = len(places) - len(named)
    return ", ".join(named) + (f" and {more} more" if more > 0 else "")


def ordered(found: RiskUtility) -> list[int]:
    """Positions for a table: the choice, then by worth from the top, unknown ones last."""
    worths = [-math.inf if one.worth is None else one.worth for one in found.candidates]
    best_first = order_of(worths, scale=1.0).tolist()  # worths are shares
    return sorted(best_first, key=lambda i: i != found.choice.chosen)


def mark(found: RiskUtility, place: int) -> str:
    """The sign of the choice or of the frontier."""
    if place == found.choice.chosen:
        return CHOSEN
    return FRONT if place in found.choice.front else ""


def standing_words(found: RiskUtility, place: int) -> str:
    """How a candidate stands to the limit, in a word or two."""
    possible = found.candidates[place].is_possible
    return SHORT[found.choice.standings[place]] if possible else NOT_MADE


def risk_words(risk: Outcome) -> str:
    """A risk, with what is open about it."""
    if isinstance(risk, Unavailable):
        return "not known"
    if risk.value is None:
        return _range_words(risk)
    value = minus(number(risk.value))
    if risk.how is How.EXACT:
        return value
    if risk.standard_error:
        return f"{value} ± {number(risk.standard_error)}"
    if risk.low is not None and risk.high is not None and risk.high > risk.low:
        return f"{value} ({minus(number(risk.low))} to {minus(number(risk.high))})"
    return f"about {value}"


def _range_words(risk: Figure) -> str:
    """A risk of which only limits are known."""
    low, high = minus(number(risk.low or 0)), minus(number(risk.high or 0))
    is_open = risk.high in (None, *GREATEST)
    return f"at least {low}" if is_open else f"{low} to {high}"


def how_words(outcome: Outcome) -> str:
    """How a figure was got, or why there is none."""
    if isinstance(outcome, Unavailable):
        return words.sentence(outcome.reason)
    return outcome.how.value + (f"; {words.sentence(outcome.note)}" if outcome.note else "")


def worth_words(candidate: Candidate) -> str:
    """The combined worth of a candidate."""
    return "not known" if candidate.worth is None else worth_number(candidate.worth)


def worth_number(value: float) -> str:
    """A worth with three decimals and no minus zero."""
    shown = f"{value:.3f}"
    return minus("0.000" if shown == "-0.000" else shown)


def number(value: float) -> str:
    """A share, a probability or a width: whole where it is, one in so many where it is tiny."""
    if value == 0 or (abs(value) > 0.5 and abs(value - round(value)) < 1e-9):
        return f"{round(value):,}"
    if 0 < value < 1e-4:
        return tiny(value) if value > 1e-12 else "< 1 in 10^12"
    if 0.9999 < value < 1:
        return "> 0.9999"
    return f"{value:,.4f}".rstrip("0").removesuffix(".")


def minus(text: str) -> str:
    """With a minus sign for a hyphen, so that it is read as one."""
    return text.replace("-", "−")
