"""Rules on sensitive variables: what a group of records that share their keys tells of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from discreet.figures import Figure, How, Outcome, Unavailable
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
    number_of,
    records,
)
from discreet.policy.verdict import Judged, Ruling, at_most


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfSensitive(Rule):
    """A rule on each sensitive variable: the worst group of records that share their keys."""

    subject: ClassVar[Subject] = Subject.RECORDS

    @property
    def stem(self) -> str:
        """The name of its findings before the variable's."""
        return self.name

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        each = findings.of(self.stem)
        if not each and findings.of(L.name):  # there are such variables
            value = Unavailable("it was measured with another number")
            remedy = "judge by this policy alone, without others on sensitive values"
            words = f"{asked(self)}: {value.reason}."
            return (self.judged(value, Ruling.UNDECIDED, words, remedy=remedy),)
        if not each:
            value = Unavailable("no sensitive variable was named")
            words = f"{asked(self)}: no sensitive variable was named."
            remedy = "name the variables that an intruder would like to learn (sensitive)"
            return (self.judged(value, Ruling.UNDECIDED, words, remedy=remedy),)
        return tuple(self._of(variable, found) for variable, found in each)

    def _of(self, variable: str, found: Finding) -> Judged:
        failing = found.beyond.get(self.limit)
        if failing is None:
            ruling, value = self._otherwise(found), found.value
            no = "" if ruling is Ruling.KEPT else "it does not hold that "
            words = f"{variable}: {no}{asked(self)}."
        else:
            ruling = Ruling.BROKEN if failing else Ruling.KEPT
            value = Figure(value=failing, how=How.EXACT)
            said = f"{records(failing)} {has(failing)} a group without it"
            words = f"{variable}: {found.found}: " + (
                f"{said}." if failing else "every group has it."
            )
        return self.judged(value, ruling, words, concerns=(variable,))

    def _otherwise(self, found: Finding) -> Ruling:
        """The ruling where groups were counted by another limit: by the worst of them."""
        return self.ruling(found.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class L(_OfSensitive):
    """Different values of each sensitive variable in every group (distinct l-diversity)."""

    name: ClassVar[str] = "l"
    limit_words: ClassVar[Mapping[str, bool] | None] = {"least": False}
    about: ClassVar[str] = "how few different sensitive values a group may have"
    side: ClassVar[Side] = "least"
    whole: ClassVar[bool] = True
    lowest: ClassVar[float] = 1
    highest: ClassVar[float] = MOST_PERSONS

    def said(self) -> str:
        return f"Every group has at least {number_of(self.limit)} different sensitive values."


@dataclass(frozen=True, slots=True, kw_only=True)
class C(_OfSensitive):
    """The commonest value less than c times as often as the l-th and rarer ones together."""

    l: int = 2  # noqa: E741 - the letter that everybody uses

    name: ClassVar[str] = "c"
    limit_words: ClassVar[Mapping[str, bool] | None] = {"most": False}
    about: ClassVar[str] = "how common one sensitive value may be in a group"
    highest: ClassVar[float] = MOST_PERSONS

    @property
    def stem(self) -> str:
        return f"c/{self.l}"

    def ruling(self, value: Outcome) -> Ruling:
        return at_most(value, self.limit, strict=True)  # less than c times, not as much

    def said(self) -> str:
        return (
            f"In every group the commonest sensitive value is less than {self.limit:g} times as "
            f"common as the {self.l}. and rarer ones together."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class T(_OfSensitive):
    """How far the sensitive values of a group may be from those of the file (t-closeness)."""

    name: ClassVar[str] = "t"
    limit_words: ClassVar[Mapping[str, bool] | None] = {"most": False}
    about: ClassVar[str] = "how far the sensitive values of a group may be from those of all"

    def said(self) -> str:
        return (
            f"The sensitive values of every group are within a distance of {self.limit:g} of "
            "those of the file."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Alpha(_OfSensitive):
    """The greatest share of one sensitive value in a group, which must have `k` records or more."""

    k: int = 2

    name: ClassVar[str] = "alpha"
    limit_words: ClassVar[Mapping[str, bool] | None] = {"most": False}
    about: ClassVar[str] = "how common one sensitive value may be in a group"

    @property
    def stem(self) -> str:
        return f"alpha/{self.k}"

    def _otherwise(self, found: Finding) -> Ruling:
        """A stricter limit that no group breaks shows that this is kept, a looser one that some
        group breaks that it is not; the largest share alone says nothing of small groups."""
        for limit, failing in found.beyond.items():
            if not failing and limit <= self.limit:
                return Ruling.KEPT
            if failing and limit >= self.limit:
                return Ruling.BROKEN
        return Ruling.UNDECIDED

    def said(self) -> str:
        return (
            f"Every group has at least {self.k} records, and no sensitive value has a share above "
            f"{self.limit:g} in it."
        )
