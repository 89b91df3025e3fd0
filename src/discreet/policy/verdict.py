"""One verdict for every command: each rule kept, broken or undecided, with the figure behind it.

A rule is kept only where its figure is shown to keep the limit; what is not known, or known only
within limits that the limit lies between, is undecided, and undecided is never kept.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from typing import Any

from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.notebooks import ShownInNotebooks
from discreet.numerics.rounding import above

ERRORS = 2.0  # standard errors that an estimate must keep from the limit


class Ruling(StrEnum):
    """What becomes of a rule, and of all of them together."""

    KEPT = "kept"
    BROKEN = "broken"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One rule applied to one figure.

    `rule` is its name, `words` say in one sentence what was found, without a confidential count
    only where the result as a whole holds none; `concerns` name the tables, values or records it is
    about, `remedy` says what would help. `policy` names the policy that has the rule; `secret` says
    that its limit must not leave the agency.
    """

    rule: str
    ruling: Ruling
    value: Outcome
    limit: float
    words: str
    concerns: tuple[str, ...] = ()
    remedy: str = ""
    policy: str = ""
    secret: bool = False

    def to_json(self) -> dict[str, Any]:
        """The rule as JSON; what there is not is left out."""
        found = {
            "rule": self.rule,
            "verdict": self.ruling.value,
            "value": self.value.to_json(),
            "limit": self.limit,
            "words": self.words,
        }
        more = {
            "concerns": list(self.concerns),
            "remedy": self.remedy,
            "policy": self.policy,
            "secret": self.secret,
        }
        return found | {name: value for name, value in more.items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyId:
    """Which policy it was: its name, its version, and a hash of all that it says."""

    name: str
    version: str
    hash: str

    def to_json(self) -> dict[str, str]:
        """The three by their names."""
        return {"name": self.name, "version": self.version, "hash": self.hash}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Verdict(ShownInNotebooks):
    """All rules together: broken if one is, else undecided if one is, else kept.

    `policies` are those that were named; limits given as options are of none. `notes` say what no
    rule was about.
    """

    rules: tuple[Judged, ...]
    policies: tuple[PolicyId, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def ruling(self) -> Ruling:
        """The worst of the rules; a verdict without a rule keeps nothing and breaks nothing."""
        return worst(judged.ruling for judged in self.rules)

    @property
    def allows(self) -> bool:
        """Whether every rule was shown to be kept."""
        return self.ruling is Ruling.KEPT

    def __bool__(self) -> bool:
        """Whether it allows: `if result.verdict:` must never let through what is broken."""
        return self.allows

    def __repr__(self) -> str:
        """What it is, and each rule in a line."""
        lines = [f"Verdict: {self.ruling.value}"]
        for one in self.rules:
            of = f" ({one.policy})" if one.policy else ""
            lines.append(f"  {one.ruling.value}{of}: {one.words}")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])

    def those(self, ruling: Ruling) -> tuple[Judged, ...]:
        """The rules of that ruling."""
        return tuple(judged for judged in self.rules if judged.ruling is ruling)

    def to_json(self) -> dict[str, Any]:
        """The verdict as JSON: the same object from every command."""
        found = {
            "verdict": self.ruling.value,
            "policies": [one.to_json() for one in self.policies],
            "rules": [judged.to_json() for judged in self.rules],
        }
        return found | ({"notes": list(self.notes)} if self.notes else {})


def ends(figure: Figure) -> tuple[float, float]:
    """The least and the greatest that a figure may be: its limits, else two standard errors; of a
    bound on one side, without end on the other."""
    value = figure.value
    spread = 0.0 if figure.how is How.EXACT else ERRORS * (figure.standard_error or 0.0)
    least, greatest = (-inf, inf) if value is None else (value - spread, value + spread)
    low = figure.low if figure.low is not None else least
    high = figure.high if figure.high is not None else greatest
    return low, high


def at_most(value: Outcome, limit: float, *, strict: bool = False) -> Ruling:
    """Whether a figure is shown to be at most the limit, or shown to be above it; with `strict` the
    limit itself is too much."""
    if isinstance(value, Unavailable):
        return Ruling.UNDECIDED
    low, high = ends(value)
    if _beyond(low, limit, strict):
        return Ruling.BROKEN
    return Ruling.UNDECIDED if _beyond(high, limit, strict) else Ruling.KEPT


def at_least(value: Outcome, limit: float, *, strict: bool = False) -> Ruling:
    """Whether a figure is shown to be at least the limit, or shown to be below it; with `strict`
    the limit itself is too little."""
    if isinstance(value, Unavailable):
        return Ruling.UNDECIDED
    low, high = ends(value)
    if _beyond(limit, high, strict):
        return Ruling.BROKEN
    return Ruling.UNDECIDED if _beyond(limit, low, strict) else Ruling.KEPT


def _beyond(one: float, other: float, strict: bool) -> bool:
    """Whether one number is above the other, or with `strict` as large, but for rounding."""
    return not above(other, one) if strict else above(one, other)


def worst(rulings: Iterable[Ruling]) -> Ruling:
    """Broken if one is, else undecided if one is, else kept."""
    found = set(rulings)
    return next((one for one in (Ruling.BROKEN, Ruling.UNDECIDED) if one in found), Ruling.KEPT)
