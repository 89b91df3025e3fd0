"""May something go out of the table? The choice as a verdict."""

from collections.abc import Sequence

from discreet.choice.best_set.best_margins import BestMargins
from discreet.choice.choice import Candidate, Choice, Standing, place
from discreet.data.table import Table
from discreet.figures import Figure, Outcome, Unavailable
from discreet.policy.findings import Findings
from discreet.policy.policy import doubts_of
from discreet.policy.verdict import Judged, Ruling, Verdict
from discreet.tables.table_findings import RULES, doubts_findings
from discreet.tables.refused_margin import RiskMeasure

MOST_NAMED = 5  # reasons why something may not go out
NOT_ALL = "not every set of margins was looked at"


def choice_verdict(
    table: Table,
    candidates: Sequence[Candidate],
    choice: Choice,
    measure: RiskMeasure,
    search: BestMargins | None,
) -> Verdict:
    """Kept where some release was shown to be within the limit; broken where all are above it;
    else undecided: what was not looked at to the end may be within."""
    risk, ruling, words = _ruled(candidates, choice, search)
    one = Judged(
        rule=RULES[measure],
        ruling=ruling,
        value=risk,
        limit=choice.max_risk,
        words=words,
        concerns=()
        if ruling is Ruling.KEPT
        else tuple(reason for one in candidates for reason in one.breaks)[:MOST_NAMED],
        remedy="" if ruling is Ruling.KEPT else _remedy(candidates, choice),
    )
    return Verdict(rules=(one, *doubts_of(Findings(doubts_findings(table)))))


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
