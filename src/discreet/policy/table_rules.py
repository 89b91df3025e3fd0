"""Rules on tables of counts that go out together: what is printed, what can be worked out, and what
an intruder would guess."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from discreet.errors import InputError, must_be
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.policy.findings import Finding, Findings
from discreet.policy.rule import Rule, Side, Subject, one_word
from discreet.policy.verdict import Judged, Ruling, worst

MOST_PERSONS = 1e15
Zeros = Literal["allowed", "refused"]
Figures = Literal["exact", "all"]
COARSER = "merge levels, or leave out a variable"
LONGER = "allow more time (seconds), or release less"
REMEDIES = {Ruling.KEPT: "", Ruling.BROKEN: COARSER, Ruling.UNDECIDED: LONGER}
SMALL = 2  # counts from 1 to it are small where nobody says more
PRINTED_WHOLE = "the table is printed whole, so that its own small counts decide"
CONFIDENCE = 0.5  # from which on an intruder takes a count as known


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfCounts(Rule):
    """Counts below the limit may not be told; zeros as the rule says."""

    zeros: Zeros = "allowed"

    subject: ClassVar[Subject] = Subject.TABLES
    side: ClassVar[Side] = "least"
    whole: ClassVar[bool] = True
    lowest: ClassVar[float] = 1
    highest: ClassVar[float] = MOST_PERSONS

    def __post_init__(self) -> None:
        one_word("zeros", self.zeros, ("allowed", "refused"))
        Rule.__post_init__(self)
        if self.small == 0 and self.zeros == "allowed":
            rule = "at least 2 where zeros are allowed"
            raise InputError(must_be(self.written_limit(), rule, "1", where=self.name))

    @property
    def identity(self) -> tuple[Any, ...]:
        return (self.name,)  # one least count, whatever is said of zeros

    @property
    def small(self) -> int:
        """The greatest count that is too small."""
        return int(self.limit) if self.strict else int(self.limit) - 1

    @property
    def stem(self) -> str:
        """How the names of its findings begin."""
        raise NotImplementedError  # every rule has its own

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        """By the number of counts that are too small, and where zeros count, by theirs too."""
        parts = [findings.the(f"{self.stem}:{self.small}")] if self.small else []
        if self.zeros == "refused":
            parts.append(findings.the(f"{self.stem}:0"))
        rulings = [_none(one.value) for one in parts]
        ruling = worst(rulings)
        told = [one for one, own in zip(parts, rulings, strict=True) if own is ruling]
        words = "; ".join(dict.fromkeys(one.found or _reason(one) for one in told))
        concerns = tuple(name for one in told for name in one.concerns)
        value = told[0].value if told else Figure(value=0, how=How.EXACT)
        remedy = next((one.remedy for one in told if one.remedy), REMEDIES[ruling])
        remedy = "" if ruling is Ruling.KEPT else remedy
        return (self.judged(value, ruling, f"{words}.", concerns=concerns, remedy=remedy),)


def _none(number: Outcome) -> Ruling:
    """Kept where a number is shown to be nought."""
    if isinstance(number, Unavailable):
        return Ruling.UNDECIDED
    low = number.value if number.low is None else number.low
    high = number.value if number.high is None else number.high
    if low:
        return Ruling.BROKEN
    return Ruling.UNDECIDED if high else Ruling.KEPT


def _reason(found: Finding) -> str:
    return found.value.reason if isinstance(found.value, Unavailable) else found.doubt


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedCounts(_OfCounts):
    """The least count that may stand on the page, in a table or in a sum of its cells.

    A rounded or perturbed figure is no count, so that it is passed over; with `figures` all, it
    counts by what it shows and by the count that it stands for.
    """

    figures: Figures = "exact"

    name: ClassVar[str] = "printed_counts"
    about: ClassVar[str] = "how small a count may be printed"

    def __post_init__(self) -> None:
        one_word("figures", self.figures, ("exact", "all"))
        _OfCounts.__post_init__(self)

    @property
    def stem(self) -> str:
        return "printed" if self.figures == "exact" else "shown"

    def said(self) -> str:
        return f"No {'count' if self.figures == 'exact' else 'figure'} {_below(self)} is printed."


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedCounts(_OfCounts):
    """The least count that may be worked out from all that is out, by the exact bounds of every
    hidden cell: one whose least and greatest possible count agree is known."""

    name: ClassVar[str] = "derived_counts"
    about: ClassVar[str] = "how small a count may be that can be worked out"

    @property
    def stem(self) -> str:
        return "derived"

    def said(self) -> str:
        return f"No hidden count {_below(self)} can be worked out from what is out."


def _below(rule: _OfCounts) -> str:
    first = 0 if rule.zeros == "refused" else 1
    if rule.small < first or rule.small == 0:
        return "of 0"
    return f"of {first}" if rule.small == first else f"from {first} to {rule.small:,}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounded(Rule):
    """Every figure on the page is a multiple of a base.

    With `random` figures that a mask rounded must have been rounded at random; with `small` and
    `shown` counts from 1 to `small` stand there as `shown`, and a count of 0 as 0. An exact table
    whose figures are all multiples keeps it: it is judged as what it is.
    """

    random: bool = False
    small: int | None = None
    shown: int | None = None

    name: ClassVar[str] = "rounded"
    subject: ClassVar[Subject] = Subject.TABLES
    about: ClassVar[str] = "what printed figures are rounded to"
    limit_words: ClassVar[Mapping[str, bool] | None] = {"base": False}
    whole: ClassVar[bool] = True
    lowest: ClassVar[float] = 2
    highest: ClassVar[float] = 10_000

    def __post_init__(self) -> None:
        Rule.__post_init__(self)
        if (self.small is None) != (self.shown is None):
            one = "small" if self.shown is None else "shown"
            raise InputError(must_be("small and shown", "given together", f"{one} alone"))

    @property
    def figure(self) -> str:
        """The name of its finding."""
        small = "" if self.small is None else f":{self.small}:{self.shown}"
        return f"rounded:{self.limit:g}{':random' if self.random else ''}{small}"

    def said(self) -> str:
        how = ", rounded at random" if self.random else ""
        small = "" if self.small is None else f"; counts from 1 to {self.small} are {self.shown}"
        return f"Every printed figure is a multiple of {self.limit:g}{how}{small}."

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        found = findings.the(self.figure)
        ruling = _none(found.value)
        words = f"{found.found or _reason(found)}."
        remedy = found.remedy if ruling is not Ruling.KEPT else ""
        return (self.judged(found.value, ruling, words, concerns=found.concerns, remedy=remedy),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups(Rule):
    """No group of persons is shown to share a level: a whole row in one cell tells that of
    everybody in the row, however many they are."""

    limit: float = 0.0

    name: ClassVar[str] = "groups"
    subject: ClassVar[Subject] = Subject.TABLES
    about: ClassVar[str] = "groups of persons who are shown to share a level"
    limit_words: ClassVar[Mapping[str, bool] | None] = {}

    def said(self) -> str:
        return "No group of persons is shown to share a level (a whole row in one cell)."

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        found = findings.the("groups")
        ruling = _none(found.value)
        words = f"{found.found or _reason(found)}."
        remedy = found.remedy if ruling is not Ruling.KEPT else ""
        return (self.judged(found.value, ruling, words, concerns=found.concerns, remedy=remedy),)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured(Rule):
    """A measure of what an intruder learns of hidden cells."""

    subject: ClassVar[Subject] = Subject.TABLES

    @property
    def figure(self) -> str:
        """The name of its finding."""
        return self.name

    def limit_clause(self) -> str:
        """The limit as a clause."""
        return f"the limit is {100 * self.limit:g} %"

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        found = findings.the(self.figure)
        if found.nothing:
            return (self.judged(found.value, Ruling.KEPT, f"{found.found}."),)
        ruling = self.ruling(found.value)
        why = self.limit_clause()
        if ruling is Ruling.UNDECIDED:
            why = found.doubt or _unsettled(found.value, why)
        words = f"{found.found}; {why}." if found.found else f"{self.said()[:-1]}: {why}."
        remedy = REMEDIES[ruling]
        return (self.judged(found.value, ruling, words, concerns=found.concerns, remedy=remedy),)


def _unsettled(value: Outcome, limit: str) -> str:
    """Why a figure does not settle a rule."""
    if isinstance(value, Unavailable):
        return f"it is not known: {value.reason}"
    if value.how is How.ESTIMATE:
        return f"the estimate is too near to tell, {limit}"
    return f"it is known within limits only, {limit}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds(_Measured):
    """How wide the bounds of every small cell are: the greatest count that it may have minus the
    least, given all that is out."""

    small: int = SMALL

    name: ClassVar[str] = "bounds"
    limit_words: ClassVar[Mapping[str, bool] | None] = {"least": False}
    about: ClassVar[str] = "how narrow the bounds of a small count may be"
    side: ClassVar[Side] = "least"
    highest: ClassVar[float] = MOST_PERSONS

    @property
    def figure(self) -> str:
        return f"{self.name}:{self.small}"

    def said(self) -> str:
        return f"The bounds of every count from 1 to {self.small} are at least {self.limit:g} wide."

    def limit_clause(self) -> str:
        return f"they must be at least {self.limit:g} wide"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrueTable(_Measured):
    """The probability that an intruder gives to the true table; with `printed` allowed, of one that
    is not printed whole."""

    printed: Literal["allowed", "refused"] = "refused"

    name: ClassVar[str] = "true_table"
    limit_words: ClassVar[Mapping[str, bool] | None] = {"most": False}
    about: ClassVar[str] = "how sure an intruder may be of the whole table"

    def __post_init__(self) -> None:
        one_word("printed", self.printed, ("allowed", "refused"))
        Rule.__post_init__(self)

    def said(self) -> str:
        whole = " unless it is printed whole" if self.printed == "allowed" else ""
        return f"The true table has a probability of at most {self.limit:g}{whole}."

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        found = findings.the(self.figure)
        if not found.nothing or self.printed == "allowed" or found.found != PRINTED_WHOLE:
            return _Measured.judge(self, findings)
        known = Figure(value=1.0, how=How.EXACT)
        words = f"the table is printed whole, which makes its probability 1; {self.limit_clause()}."
        ruling = self.ruling(known)
        return (self.judged(known, ruling, words, remedy=REMEDIES[ruling]),)

    def limit_clause(self) -> str:
        return f"the limit is {chance(self.limit)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrueCount(_Measured):
    """The probability that an intruder gives to the true count of a small cell, the largest."""

    small: int = SMALL

    name: ClassVar[str] = "true_count"
    limit_words: ClassVar[Mapping[str, bool] | None] = {"most": False}
    about: ClassVar[str] = "how sure an intruder may be of a small count"

    @property
    def figure(self) -> str:
        return f"{self.name}:{self.small}"

    def said(self) -> str:
        return (
            f"The true count of every cell from 1 to {self.small} has a probability of at most "
            f"{self.limit:g}."
        )

    def limit_clause(self) -> str:
        return f"the limit is {chance(self.limit)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallCellsIdentified(_Measured):
    """The share of the small cells whose count an intruder would guess right, and be surer of than
    `confidence`."""

    small: int = SMALL
    confidence: float = CONFIDENCE

    name: ClassVar[str] = "small_cells_identified"
    limit_words: ClassVar[Mapping[str, bool] | None] = {"most": False}
    about: ClassVar[str] = "what share of the small counts an intruder may find"

    @property
    def figure(self) -> str:
        return f"{self.name}:{self.small}:{float(self.confidence)!r}"

    def said(self) -> str:
        return (
            f"An intruder finds at most {100 * self.limit:g} % of the counts from 1 to "
            f"{self.small}, being more than {100 * self.confidence:g} % sure of each."
        )


TINY = 1e-3  # a probability that is told as one in so many
TINIEST = 1e-15  # one whose number is told by its size alone


def chance(value: float) -> str:
    """A probability; a tiny one as one in so many."""
    if 0 < value < TINIEST:
        return f"1 in 10^{round(-math.log10(value))}"
    return f"1 in {round(1 / value):,}" if 0 < value < TINY else f"{value:.3g}"


RULES: tuple[type[Rule], ...] = (
    PrintedCounts, DerivedCounts, Rounded, Groups, Bounds, TrueTable, TrueCount,
    SmallCellsIdentified,
)  # fmt: skip
