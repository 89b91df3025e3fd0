"""May something go out of the table? The choice as a verdict."""

from collections.abc import Sequence

from discreet.choice.best_set.best_margins import BestMargins
from discreet.choice.choice import Candidate, Choice, Standing, place
from discreet.choice.options import ChooseOptions
from discreet.data.table import Table
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.policy.findings import Findings
from discreet.policy.policy import doubts_of
from discreet.policy.verdict import Judged, Ruling, Verdict
from discreet.tables.table_findings import RULES, doubts_findings

MOST_NAMED = 5  # reasons why something may not go out
NOT_ALL = "not every set of margins was looked at"
RELEASE = "release"  # the rule that something can go out by the policies


def choice_verdict(
    table: Table,
    candidates: Sequence[Candidate],
    choice: Choice,
    options: ChooseOptions,
    search: BestMargins | None,
) -> Verdict:
    """Kept where some release was shown to be within the limit; broken where all are above it;
    else undecided: what was not looked at to the end may be within.

    Of policies the rules are told as they are kept by the choice; where nothing may go out, that
    this is so.
    """
    risk, ruling, words = _ruled(candidates, choice, search)
    kept = ruling is Ruling.KEPT and choice.chosen is not None
    rules = candidates[choice.chosen].judged if kept and choice.chosen is not None else ()
    if options.has_limit or not kept:
        rules = (_one(candidates, choice, options, risk, ruling, words), *rules)
    return Verdict(
        rules=(*rules, *doubts_of(Findings(doubts_findings(table)))),
        policies=tuple(policy.id for policy in options.policy if policy.name),
    )


def _one(
    candidates: Sequence[Candidate],
    choice: Choice,
    options: ChooseOptions,
    risk: Outcome,
    ruling: Ruling,
    words: str,
) -> Judged:
    """The limit as a rule; without one, that some release keeps the policies."""
    none = Figure(value=0, how=How.EXACT, note="releases shown to be within the limits")
    return Judged(
        rule=RULES[options.measure.kind] if options.has_limit else RELEASE,
        ruling=ruling,
        value=risk if options.has_limit else none,
        limit=choice.max_risk if options.has_limit else 1,
        words=words,
        concerns=()
        if ruling is Ruling.KEPT
        else tuple(reason for one in candidates for reason in one.breaks)[:MOST_NAMED],
        remedy="" if ruling is Ruling.KEPT else _remedy(candidates, choice),
    )


def _remedy(candidates: Sequence[Candidate], choice: Choice) -> str:
    """What would help: first what settles a doubt."""
    doubts = [doubt for i in choice.missed for doubt in candidates[i].doubts]
    return doubts[0].remedy if doubts else "merge levels, or allow more time (seconds)"


def _ruled(
    candidates: Sequence[Candidate], choice: Choice, search: BestMargins | None
) -> tuple[Outcome, Ruling, str]:
    others = [i for i, one in enumerate(candidates) if not one.is_nothing]
    within = [i for i in others if choice.standings[i] is Standing.WITHIN]
    if within and choice.chosen is not None:
        chosen = candidates[choice.chosen]
        return chosen.risk, Ruling.KEPT, f"{_whole(choice.why)} Its risk is within the limit."
    left = "; ".join(_unsettled(candidates, choice, search))
    if left:
        why = f"No release was shown to be within the limit, but {left}."
        return Unavailable(left), Ruling.UNDECIDED, why
    return _least(candidates, others), Ruling.BROKEN, "No release is within the limit."


def _unsettled(
    candidates: Sequence[Candidate], choice: Choice, search: BestMargins | None
) -> list[str]:
    found = []
    late = [i for i in choice.missed if not candidates[i].doubts]
    doubtful = [i for i in choice.missed if candidates[i].doubts]
    if doubtful:
        said = candidates[doubtful[0]].doubts[0].words
        found.append(f"it is open for {_number(doubtful)}: {said[:1].lower()}{said[1:]}")
    if late:
        was = "was" if len(late) == 1 else "were"
        found.append(f"{_number(late)} {was} not looked at to the end")
    return found if search is None else [*found, NOT_ALL]


def _number(places: Sequence[int]) -> str:
    return f"{len(places)} candidate{'' if len(places) == 1 else 's'}"


def _least(candidates: Sequence[Candidate], places: Sequence[int]) -> Outcome:
    """The least risk of a release."""
    known = [(point[0], i) for i in places if (point := place(candidates[i])) is not None]
    risk = candidates[min(known)[1]].risk if known else None
    return risk if isinstance(risk, Figure) else Unavailable("no risk is known")


def _whole(clause: str) -> str:
    return f"{clause[:1].upper()}{clause[1:]}."
