"""What every rule is: a figure that may not be above, or below, a limit.

A rule is a few words of data. It says what it asks (`said`), finds its figure among what was found
of a release (`judge`), and holds it against its limit: kept only where the figure is shown to keep
it, undecided where the figure is not known or its limits lie on both sides.
"""

import math
from collections.abc import Mapping
from dataclasses import Field, dataclass, fields, replace
from enum import StrEnum
from typing import Any, ClassVar, Literal

from discreet.errors import InputError, must_be
from discreet.figures import Figure, Outcome
from discreet.policy.findings import Findings
from discreet.policy.verdict import Judged, Ruling, at_least, at_most

Side = Literal["most", "least"]
JudgedBy = Literal["limits", "value"]
LIMIT_WORDS: Mapping[Side, Mapping[str, bool]] = {  # how a limit is written, and whether strictly
    "most": {"most": False, "below": True},
    "least": {"least": False, "above": True},
}
SECRET = "its number is not public"


class Subject(StrEnum):
    """What a rule is about."""

    RECORDS = "records"
    TABLES = "tables"
    COUNTS = "counts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One thing that must hold of a release.

    `limit` is the number that the figure may not be beyond; `strict` says that the limit itself is
    beyond. `secret` numbers never reach what leaves the agency.
    """

    limit: float
    strict: bool = False
    secret: bool = False

    name: ClassVar[str]
    subject: ClassVar[Subject]
    about: ClassVar[str]  # what it limits, for readers who may not see its number
    side: ClassVar[Side] = "most"
    limit_words: ClassVar[Mapping[str, bool] | None] = None  # None: those of its side
    whole: ClassVar[bool] = False  # whether the limit is a number of persons or of things
    lowest: ClassVar[float] = 0.0
    highest: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        written = self.written_limit()
        where = self.name
        if self.strict and True not in self.limits_written().values():
            rule = f"limited by {' or '.join(self.limits_written()) or 'nothing'}"
            raise InputError(must_be(self.name, rule, "a strict limit"))
        if not math.isfinite(self.limit):
            raise InputError(must_be(written, "a finite number", f"{self.limit}", where=where))
        if self.whole and self.limit != int(self.limit):
            raise InputError(must_be(written, "a whole number", f"{self.limit:g}", where=where))
        if not self.lowest <= self.limit <= self.highest:
            rule = f"from {self.lowest:g} to {self.highest:,g}"
            raise InputError(must_be(written, rule, f"{self.limit:g}", where=where))

    @classmethod
    def limits_written(cls) -> Mapping[str, bool]:
        """The words for its limit, each with whether the limit itself is then beyond; empty for a
        rule that has no number."""
        return LIMIT_WORDS[cls.side] if cls.limit_words is None else cls.limit_words

    def written_limit(self) -> str:
        """The word for its limit in a file."""
        words = self.limits_written()
        return next((word for word, strict in words.items() if strict is self.strict), self.name)

    @classmethod
    def own_fields(cls) -> tuple[Field[Any], ...]:
        """What it is told beside its limit."""
        return tuple(one for one in fields(cls) if one.name not in ("limit", "strict", "secret"))

    @property
    def identity(self) -> tuple[Any, ...]:
        """What it limits: two rules that agree in it limit the same figure."""
        return (self.name, *(getattr(self, one.name) for one in self.own_fields()))

    def said(self) -> str:
        """What it asks, as a sentence."""
        raise NotImplementedError  # every rule has its own

    def public(self) -> str:
        """What it asks, for a reader outside: without its number where that is secret."""
        return f"There is a limit on {self.about}; {SECRET}." if self.secret else self.said()

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        """What becomes of it."""
        raise NotImplementedError  # every rule has its own

    def ruling(self, value: Outcome) -> Ruling:
        """Whether a figure keeps the limit."""
        hold = at_most if self.side == "most" else at_least
        return hold(value, self.limit, strict=self.strict)

    def judged(self, value: Outcome, ruling: Ruling, words: str, **more: Any) -> Judged:
        """The rule with what was found."""
        return Judged(
            rule=self.name,
            ruling=ruling,
            value=value,
            limit=self.limit,
            words=words,
            secret=self.secret,
            **more,
        )

    def to_data(self) -> dict[str, Any]:
        """The rule as a file has it: what is as usual is left out."""
        found: dict[str, Any] = {"rule": self.name}
        if self.limits_written():
            number = int(self.limit) if self.limit == int(self.limit) else self.limit
            found[self.written_limit()] = number
        for one in self.own_fields():
            value = getattr(self, one.name)
            if value is not None and value != one.default:
                found[one.name] = list(value) if isinstance(value, tuple) else value
        return found | ({"secret": True} if self.secret else {})


def asked(rule: Rule) -> str:
    """What a rule asks, as a clause within a sentence."""
    said = rule.said()
    return f"{said[:1].lower()}{said[1:-1]}"


def at_its_value(value: Outcome) -> Outcome:
    """A figure without its limits, for a rule that is judged by the estimate alone."""
    if not isinstance(value, Figure) or value.value is None:
        return value
    return replace(value, low=None, high=None, standard_error=None)


def one_word(name: str, given: str, words: tuple[str, ...]) -> None:
    """Raises InputError unless it is one of the words."""
    if given not in words:
        raise InputError(must_be(name, f"one of {', '.join(words)}", repr(given)))
