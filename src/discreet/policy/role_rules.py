"""Rules on columns of a kind, households, weights, identifiers, and the order of the records."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from discreet.figures import Figure, Unavailable
from discreet.policy.findings import Finding, Findings
from discreet.policy.rule import (
    Rule,
    Side,
    Subject,
    asked,
)
from discreet.policy.rule_words import (
    MOST_PERSONS,
    has,
    interval,
    number_of,
    records,
)
from discreet.policy.verdict import Judged, Ruling


@dataclass(frozen=True, slots=True, kw_only=True)
class TopClass(Rule):
    """All values of a column of a kind from the limit on are in one class: ages from 90."""

    role: str = "age"

    name: ClassVar[str] = "top_class"
    subject: ClassVar[Subject] = Subject.RECORDS
    about: ClassVar[str] = "from where on the highest values must be in one class"
    limit_words: ClassVar[Mapping[str, bool] | None] = {"from": False}
    highest: ClassVar[float] = MOST_PERSONS

    def said(self) -> str:
        return f"All values of {self.role} from {self.limit:g} on are in one class."

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        found = findings.the(f"top_class:{self.role}:{self.limit:g}")
        open_role = role_is_open(self, found)
        if open_role is not None:
            return (open_role,)
        if found.nothing:
            return (self.judged(found.value, Ruling.KEPT, f"{found.found}."),)
        value = found.value
        if isinstance(value, Unavailable):
            words = f"whether {self.role} from {self.limit:g} on is one class: {value.reason}."
            return (self.judged(value, Ruling.UNDECIDED, words, concerns=found.concerns),)
        apart = int(value.value or 0)
        if apart == 0:
            column = found.concerns[0]
            words = f"no value of {self.role} ({column}) tells more than from {self.limit:g}."
            return (self.judged(value, Ruling.KEPT, words, concerns=found.concerns),)
        tells = "value tells" if apart == 1 else "values tell"
        words = f"{apart:,} {tells} {self.role} ({found.concerns[0]}) from {self.limit:g} on apart."
        remedy = f"put {found.concerns[0]} from {self.limit:g} on into one class"
        concerns = found.concerns
        return (self.judged(value, Ruling.BROKEN, words, remedy=remedy, concerns=concerns),)


@dataclass(frozen=True, slots=True, kw_only=True)
class HouseholdPattern(Rule):
    """So many households of several members in the file have each pattern of members' keys."""

    name: ClassVar[str] = "household_pattern"
    limit_words: ClassVar[Mapping[str, bool] | None] = {"least": False}
    subject: ClassVar[Subject] = Subject.RECORDS
    about: ClassVar[str] = "how few households may have a pattern of members"
    side: ClassVar[Side] = "least"
    whole: ClassVar[bool] = True
    lowest: ClassVar[float] = 2
    highest: ClassVar[float] = MOST_PERSONS

    def said(self) -> str:
        return (
            f"At least {number_of(self.limit)} households with several members in the file share "
            "each pattern of members."
        )

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        found = findings.the("household_pattern")
        open_role = role_is_open(self, found, "household")
        if open_role is not None:
            return (open_role,)
        if found.nothing:
            return (self.judged(found.value, Ruling.KEPT, f"{found.found}."),)
        ruling, below = self.ruling(found.value), found.beyond.get(self.limit)
        words = f"the rarest pattern of members is that of {interval(found.value)} of them"
        if below and ruling is Ruling.BROKEN:
            one = "household shares its" if below == 1 else "households share their"
            words = (
                f"{below:,} {one} pattern of members with fewer than "
                f"{number_of(self.limit - 1)} others"
            )
        remedy = "make keys coarser, or release one member of each household"
        broken = ruling is Ruling.BROKEN
        return (self.judged(found.value, ruling, f"{words}.", remedy=remedy if broken else ""),)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoIdentifiers(Rule):
    """No column of the file identifies a person directly: a name, a number, an address."""

    limit: float = 0.0

    name: ClassVar[str] = "no_identifiers"
    subject: ClassVar[Subject] = Subject.RECORDS
    about: ClassVar[str] = "columns that identify a person directly"
    limit_words: ClassVar[Mapping[str, bool] | None] = {}

    def said(self) -> str:
        return "No column identifies a person directly (a name, a number, an address)."

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        found = findings.the("no_identifiers")
        value, named = found.value, ", ".join(found.concerns)
        if isinstance(value, Figure) and value.value:
            words = f"the file has what identifies a person directly: {named}."
            remedy = f"remove {named}"
            return (
                self.judged(value, Ruling.BROKEN, words, concerns=found.concerns, remedy=remedy),
            )
        if isinstance(value, Unavailable):
            words = f"whether a column identifies a person directly is open: {value.reason}."
            return (self.judged(value, Ruling.UNDECIDED, words, remedy=found.remedy),)
        return (self.judged(value, Ruling.KEPT, "no column identifies a person directly."),)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedWeights(Rule):
    """So many records share each value of the survey weight that is in the file: exact weights tell
    of strata and of response, and so of small groups."""

    name: ClassVar[str] = "shared_weights"
    limit_words: ClassVar[Mapping[str, bool] | None] = {"least": False}
    subject: ClassVar[Subject] = Subject.RECORDS
    about: ClassVar[str] = "how few records may share a survey weight"
    side: ClassVar[Side] = "least"
    whole: ClassVar[bool] = True
    lowest: ClassVar[float] = 2
    highest: ClassVar[float] = MOST_PERSONS

    def said(self) -> str:
        return f"At least {number_of(self.limit)} records share each survey weight in the file."

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        found = findings.the("shared_weights")
        open_role = role_is_open(self, found, "weight")
        if open_role is not None:
            return (open_role,)
        if found.nothing:
            return (self.judged(found.value, Ruling.KEPT, f"{found.found}."),)
        ruling, below = self.ruling(found.value), found.beyond.get(self.limit)
        words = f"the rarest survey weight is that of {interval(found.value)} records."
        if below and ruling is Ruling.BROKEN:
            words = f"{records(below)} {has(below)} a survey weight that fewer than "
            words += f"{number_of(self.limit)} share."
        remedy = f"round {found.concerns[0]}, or leave it out" if found.concerns else ""
        broken = ruling is Ruling.BROKEN
        return (self.judged(found.value, ruling, words, remedy=remedy if broken else ""),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shuffled(Rule):
    """The order of the records tells nothing: neighbours are no more alike than chance makes them,
    within 5 standard errors, in any column."""

    limit: float = 5.0

    name: ClassVar[str] = "shuffled"
    subject: ClassVar[Subject] = Subject.RECORDS
    about: ClassVar[str] = "what the order of the records may tell"
    limit_words: ClassVar[Mapping[str, bool] | None] = {}
    highest: ClassVar[float] = 5.0

    def said(self) -> str:
        return "The records are in random order."

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        found = findings.the("shuffled")
        ruling = self.ruling(found.value)
        if isinstance(found.value, Unavailable):
            words = f"whether the order of the records tells something: {found.value.reason}."
        elif ruling is Ruling.BROKEN:
            words = f"the records are not in random order: neighbours are alike in {found.found}."
        else:
            words = "the order of the records tells nothing: neighbours are no more alike than any."
        remedy = "put the records in random order" if ruling is Ruling.BROKEN else found.remedy
        return (self.judged(found.value, ruling, words, concerns=found.concerns, remedy=remedy),)


def role_is_open(rule: Rule, found: Finding, role: str | None = None) -> Judged | None:
    """The rule as undecided where nobody said which column it is about; None where that is known.

    A finding that waits for a column has the question as its doubt."""
    if not found.doubt:
        return None
    named = role or getattr(rule, "role", "")
    words = f"{asked(rule)}: {found.doubt}."
    remedy = f"name the column (role {named}=COLUMN), or say that there is none (role {named}=)"
    return rule.judged(found.value, Ruling.UNDECIDED, words, remedy=found.remedy or remedy)
