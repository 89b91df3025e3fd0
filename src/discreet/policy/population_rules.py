"""Rules on how many of the population stand behind values of keys and behind areas."""

from dataclasses import dataclass
from typing import ClassVar

from discreet.figures import Figure, How, Unavailable
from discreet.policy.findings import Finding, Findings
from discreet.policy.role_rules import role_is_open
from discreet.policy.rule import (
    Rule,
    Side,
    Subject,
    one_word,
)
from discreet.policy.rule_words import (
    MOST_PERSONS,
    are,
    has,
    number_of,
    persons,
)
from discreet.policy.verdict import Judged, Ruling

RARE = "merge rare values, or leave out a key"
SETS = {1: "value", 2: "pair of values", 3: "combination of three values"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationOfKeys(Rule):
    """How many persons of the population, by estimate, stand behind every value of a key (`keys` =
    1), every pair of values (2) or every combination of three (3) that is in the file."""

    keys: int

    name: ClassVar[str] = "population_of_keys"
    subject: ClassVar[Subject] = Subject.RECORDS
    about: ClassVar[str] = "how many of the population must stand behind the values of keys"
    side: ClassVar[Side] = "least"
    lowest: ClassVar[float] = 1
    highest: ClassVar[float] = MOST_PERSONS

    def __post_init__(self) -> None:
        if self.keys not in SETS:
            one_word("keys", str(self.keys), ("1", "2", "3"))
        Rule.__post_init__(self)

    def said(self) -> str:
        least = "more than" if self.strict else "at least"
        return (
            f"Every {SETS[self.keys]} of the keys stands for {least} {number_of(self.limit)} "
            "persons of the population."
        )

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        found = findings.the(f"population_of_keys:{self.keys}")
        return (_judged(self, found, SETS[self.keys]),)


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationOfColumn(Rule):
    """How many persons of the population live behind each value of a column of a kind: a region, a
    ZIP area. `digits` are the leading characters that a value may have; `but` are values that name
    no single area."""

    role: str
    digits: int | None = None
    but: tuple[str, ...] = ()

    name: ClassVar[str] = "population_of_column"
    subject: ClassVar[Subject] = Subject.RECORDS
    about: ClassVar[str] = "how many people an area in the file must have"
    side: ClassVar[Side] = "least"
    lowest: ClassVar[float] = 1
    highest: ClassVar[float] = MOST_PERSONS

    def said(self) -> str:
        least = "more than" if self.strict else "at least"
        short = "" if self.digits is None else f" has at most {self.digits} characters and"
        but = f", but for {', '.join(self.but)}" if self.but else ""
        return f"Every {self.role}{short} has {least} {number_of(self.limit)} people{but}."

    @property
    def figure(self) -> str:
        """The name of its finding."""
        digits = "" if self.digits is None else f":{self.digits}"
        return f"population_of_column:{self.role}{digits}" + "".join(f":{one}" for one in self.but)

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        found = findings.the(self.figure)
        open_role = role_is_open(self, found)
        if open_role is not None:
            return (open_role,)
        if found.nothing:
            return (self.judged(found.value, Ruling.KEPT, f"{found.found}."),)
        long = int(found.beyond.get(0.0, 0))
        if self.digits is not None and long:
            words = (
                f"{long:,} value{'' if long == 1 else 's'} of {self.role} ({found.concerns[0]}) "
                f"{has(long)} more than {self.digits} characters."
            )
            remedy = f"keep the first {self.digits} characters of {found.concerns[0]}"
            concerns = found.concerns
            value = Figure(value=long, how=How.EXACT)
            return (self.judged(value, Ruling.BROKEN, words, remedy=remedy, concerns=concerns),)
        return (_judged(self, found, self.role),)


def _judged(rule: Rule, found: Finding, noun: str) -> Judged:
    """A least population count, estimated or known, against its limit."""
    if found.nothing:
        return rule.judged(found.value, Ruling.KEPT, f"{found.found}.")
    ruling, below = rule.ruling(found.value), found.beyond.get(rule.limit)
    if isinstance(found.value, Unavailable):
        words = f"how many of the population stand behind each {noun} is not known: "
        words += f"{found.value.reason}."
        return rule.judged(found.value, ruling, words, remedy=found.remedy)
    named = [one for one in found.concerns if "=" in one][:1]
    which = f" ({named[0]})" if named else ""
    people = persons(found.value)
    words = f"the rarest {noun}{which} stands for {people} of the population"
    if below and ruling is not Ruling.KEPT:
        below_it = "not above" if rule.strict else "below"
        words += f"; {below:,} {are(below)} {below_it} {number_of(rule.limit)}"
    remedy = RARE if ruling is Ruling.BROKEN else found.remedy
    if ruling is Ruling.UNDECIDED:
        words += f", and its limits lie on both sides of {number_of(rule.limit)}"
    return rule.judged(found.value, ruling, f"{words}.", remedy=remedy, concerns=found.concerns)
