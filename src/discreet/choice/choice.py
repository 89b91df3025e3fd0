"""Which release to make: the most useful one whose risk is within the limit (dobra 3 and reply).

The general rule of the reply: of the masks within the limit take those of the greatest utility, of
these the one of least risk; if there are none, release nothing. Releasing nothing is a candidate
like any other: its risk is what an intruder can do with what he holds already.

A risk that is only estimated counts as within the limit if two standard errors more still are; one
that is not known never is.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from discreet.errors import InputError, must_be
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.masks.contract import Masked
from discreet.numerics.rounding import order_of
from discreet.policy.verdict import Judged

AGREES = 1e-9
ERRORS = 2.0  # standard errors by which an estimate must clear the limit


class Standing(StrEnum):
    """How a risk stands to the limit."""

    WITHIN = "within the limit"
    ABOVE = "above the limit"
    DOUBTFUL = "too near the limit to tell"
    UNKNOWN = "not known"


class Decision(StrEnum):
    """What is decided."""

    RELEASE = "release"
    NOTHING = "release nothing"
    EXCEEDED = "release nothing; the limit is exceeded even so"


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why it is open whether a candidate keeps a rule, and what settles it."""

    words: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One thing that could be released, with its risk and what it is worth.

    `risk` is the worst over intruders, `risks` that by each; `losses` are those of each user in
    units of his own (data utility (2) is minus that), `worths` the share of his avoidable loss that
    he is spared, `utility` their weighted mean, or why it is not known. `masked` is what would go
    out; of a table too large to hold in full only the names of its `margins` are. `is_possible` is
    false for a mask that cannot be made of the table, however long one tries. `breaks` are rules
    that it breaks whatever its risk, in words, and `doubts` those of which that is open; `judged`
    are the rules of policies, as far as they were applied to it. `counted` says of a release whose
    choice tells an intruder something who repeats it whether that is in the risk, `uncounted` why
    it is not.
    """

    title: str
    risk: Outcome
    utility: Outcome
    risks: Mapping[str, Outcome] = field(default_factory=dict)
    losses: Mapping[str, float] = field(default_factory=dict)
    worths: Mapping[str, float] = field(default_factory=dict)
    masked: Masked | None = None
    margins: tuple[tuple[str, ...], ...] = ()
    is_nothing: bool = False
    is_possible: bool = True
    method: str = ""
    breaks: tuple[str, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    judged: tuple[Judged, ...] = ()
    counted: bool | None = None
    uncounted: str = ""

    @property
    def worth(self) -> float | None:
        """The combined utility, or None where it is not known."""
        return self.utility.value if isinstance(self.utility, Figure) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What to release of some candidates, by their positions, and why.

    `chosen` is None only where even releasing nothing is not within the limit, or is not among the
    candidates. `ties` are as useful as the chosen one and of no less risk; `missed` may be more
    useful, but were not shown to be within the limit. `front` are those that no other beats in both
    risk and utility.
    """

    decision: Decision
    chosen: int | None
    max_risk: float
    standings: tuple[Standing, ...]
    ties: tuple[int, ...]
    missed: tuple[int, ...]
    front: tuple[int, ...]
    why: str


def standing(risk: Outcome, max_risk: float) -> Standing:
    """How a risk stands to the limit, as far as it is known."""
    if isinstance(risk, Unavailable):
        return Standing.UNKNOWN
    low, high = limits(risk)
    most = max_risk + AGREES * abs(max_risk)  # of its own size: caps on a probability may be tiny
    if high <= most:
        return Standing.WITHIN
    return Standing.DOUBTFUL if low <= most else Standing.ABOVE


def standing_of(candidate: Candidate, max_risk: float) -> Standing:
    """How a candidate stands to the limit: above it where it breaks a rule for certain, and not
    known to be within it where that is open. Without a limit on the risk, rules alone count."""
    if candidate.breaks:
        return Standing.ABOVE
    found = standing(candidate.risk, max_risk)
    if max_risk == math.inf:
        found = Standing.UNKNOWN if candidate.worth is None else Standing.WITHIN
    return Standing.UNKNOWN if candidate.doubts and found is Standing.WITHIN else found


def limits(figure: Figure) -> tuple[float, float]:
    """The least and the greatest that a figure may be: certain ones, else two standard errors."""
    if figure.low is not None and figure.high is not None:
        return figure.low, figure.high
    if figure.value is None:
        raise InputError(must_be("figure", "a number or a range", "neither"))
    room = 0.0 if figure.how is How.EXACT else ERRORS * (figure.standard_error or 0.0)
    return figure.value - room, figure.value + room


def choose(candidates: Sequence[Candidate], max_risk: float) -> Choice:
    """The candidate of greatest utility within the limit; of several, the one of least risk.

    Checked: at most one candidate is to release nothing.
    """
    if sum(one.is_nothing for one in candidates) > 1:
        raise InputError(must_be("candidates", "with one way to release nothing", "several"))
    standings = tuple(standing_of(one, max_risk) for one in candidates)
    within = [
        i
        for i, one in enumerate(candidates)
        if standings[i] is Standing.WITHIN and one.worth is not None
    ]
    chosen, ties = _best(candidates, within)
    return Choice(
        decision=_decision(candidates, standings, chosen),
        chosen=chosen,
        max_risk=max_risk,
        standings=standings,
        ties=ties,
        missed=_missed(candidates, standings, chosen),
        front=pareto_front(candidates),
        why=_why(candidates, standings, within, chosen, ties),
    )


def pareto_front(candidates: Sequence[Candidate]) -> tuple[int, ...]:
    """Those that no other beats: less risk at no less utility, or more utility at no more risk.

    By increasing risk. Candidates of equal risk and utility stand or fall together, in the order
    given.
    """
    points = {i: point for i, one in enumerate(candidates) if (point := place(one)) is not None}
    front = [i for i, own in points.items() if not any(_beats(p, own) for p in points.values())]
    return tuple(front[i] for i in order_of([-points[j][0] for j in front]))


def place(candidate: Candidate) -> tuple[float, float] | None:
    """Risk (its upper limit) and utility, where both are known."""
    if isinstance(candidate.risk, Unavailable) or candidate.worth is None:
        return None
    return limits(candidate.risk)[1], candidate.worth


def compromises(worths: Sequence[Mapping[str, float]]) -> tuple[int, ...]:
    """Of several releases, those that no other one beats for some user while as good for all.

    More than one of different worth means that users' wishes are in conflict.
    """
    return tuple(
        i for i, own in enumerate(worths) if not any(_serves_better(other, own) for other in worths)
    )


def _beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether one is better in risk or worth and no worse in the other, but for rounding."""
    room = AGREES * max(abs(one[0]), abs(other[0]))
    if one[0] > other[0] + room or one[1] < other[1] - AGREES:
        return False
    return one[0] < other[0] - room or one[1] > other[1] + AGREES


def _serves_better(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    no_worse = all(one[user] >= other[user] - AGREES for user in other)
    return no_worse and any(one[user] > other[user] + AGREES for user in other)


def _best(
    candidates: Sequence[Candidate], within: Sequence[int]
) -> tuple[int | None, tuple[int, ...]]:
    """The position of the choice, and of those that are as useful."""
    if not within:
        return None, ()
    most = max(candidates[i].worth or 0.0 for i in within)
    best = [i for i in within if (candidates[i].worth or 0.0) >= most - AGREES]
    best.sort(key=lambda i: (not candidates[i].is_nothing, i))
    best = [best[i] for i in order_of([-_least_risk(candidates[j]) for j in best])]
    return best[0], tuple(best[1:])


def _least_risk(candidate: Candidate) -> float:
    """The upper limit of a risk."""
    point = place(candidate)
    return float("inf") if point is None else point[0]


def _decision(
    candidates: Sequence[Candidate], standings: Sequence[Standing], chosen: int | None
) -> Decision:
    if chosen is not None:
        return Decision.NOTHING if candidates[chosen].is_nothing else Decision.RELEASE
    nothing = [s for s, one in zip(standings, candidates, strict=True) if one.is_nothing]
    return Decision.EXCEEDED if nothing == [Standing.ABOVE] else Decision.NOTHING


def _is_open(candidate: Candidate, standing: Standing) -> bool:
    """Whether a release may be within the limit or not, by what is known."""
    told = standing not in (Standing.DOUBTFUL, Standing.UNKNOWN)
    return not told and candidate.is_possible and not candidate.is_nothing


def _missed(
    candidates: Sequence[Candidate], standings: Sequence[Standing], chosen: int | None
) -> tuple[int, ...]:
    """Those of which it is open whether they are within the limit, and which may be more useful."""
    least = -float("inf") if chosen is None else candidates[chosen].worth or 0.0
    return tuple(
        i
        for i, one in enumerate(candidates)
        if _is_open(one, standings[i]) and (one.worth is None or one.worth > least + AGREES)
    )


def _why(
    candidates: Sequence[Candidate],
    standings: Sequence[Standing],
    within: Sequence[int],
    chosen: int | None,
    ties: Sequence[int],
) -> str:
    """The reason in one sentence."""
    others = [i for i in within if not candidates[i].is_nothing]
    if chosen is None:
        return _why_none(candidates, standings)
    open_ones = _missed(candidates, standings, chosen)
    if not others:
        shown = "was shown to be" if open_ones else "is"
        return f"no release {shown} within the limit; nothing goes out"
    if candidates[chosen].is_nothing:
        return "what is within the limit is worth no more than releasing nothing"
    tied = f"; of {len(ties) + 1} that are as useful, the one of least risk" if ties else ""
    unsure = any(_is_open(one, s) for one, s in zip(candidates, standings, strict=True))
    are = "shown to be within the limit" if unsure else "within the limit"
    n = len(open_ones)
    rest = f"; it is open for {n} more, which may be more useful" if n else ""
    if len(others) == 1:
        return f"the only candidate {are}{rest}"
    return f"the most useful of the {len(others)} candidates {are}{tied}{rest}"


def _why_none(candidates: Sequence[Candidate], standings: Sequence[Standing]) -> str:
    nothing = [s for s, one in zip(standings, candidates, strict=True) if one.is_nothing]
    if nothing == [Standing.ABOVE]:
        return (
            "no release is within the limit, and what is already known exceeds it: releasing "
            "nothing adds no risk, but it does not meet the limit either"
        )
    if nothing in ([Standing.UNKNOWN], [Standing.DOUBTFUL]):
        return "no release was shown to be within the limit, nor was releasing nothing"
    return "no release is within the limit"
