"""Rules on the statistics of a table of counts: what an intruder can rebuild from them.

What was found of one table is there under the names of the rules (`best_guess`, `truth`,
`reciprocal_entropy`, `entropy`); of several, that of all together, and of each by itself after a
colon (`best_guess:north`). Single counts are `count:N:LABEL`, where N is the true count, so that a
rule on small counts can be held against them later too. A category of zeros only, which S1 = 0
gives away, is `given_away:N:LABEL`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from discreet.errors import InputError, must_be
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.rounding import first_largest
from discreet.policy.findings import Finding, Findings
from discreet.policy.rule import Rule, Side, Subject
from discreet.policy.verdict import Judged, Ruling, ends, worst

MOST_BITS = 1e6
EXACTLY_ONE = Figure(value=1.0, how=How.EXACT)
# One over an entropy of 0 is above whatever a rule may allow.
BEYOND_EVERY_LIMIT = Figure(value=None, how=How.BOUND, low=2 * MOST_BITS)
GIVEN_AWAY, COUNT = "given_away", "count"
Named = tuple[str, Finding]


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfCounts(Rule):
    """A rule on the statistics of counts."""

    subject: ClassVar[Subject] = Subject.COUNTS

    def given_away(self, found: Sequence[Named], value: Outcome) -> tuple[Judged, ...]:
        """The rule on categories of zeros only, whose tables have the figure of a known one."""
        if not found:
            return ()
        labels = tuple(label for label, _ in found if label)
        whose = f"all counts of {', '.join(labels)}" if labels else "all of its counts"
        ruling = self.ruling(value)
        words = f"S1 = 0 gives away {whose}{against(self, ruling)}."
        return (self.judged(value, ruling, words, concerns=labels),)


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfTable(_OfCounts):
    """A measure of the whole table that is rebuilt; of several, of all together and of that by
    itself which keeps it least."""

    told: ClassVar[str]  # with a place for the figure
    if_known: ClassVar[Figure] = EXACTLY_ONE  # the figure of a table that is known

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        given = self.given_away(_counted(findings, GIVEN_AWAY), self.if_known)
        if given and self.name not in findings:
            return given
        own = [one for _, one in findings.of(self.name)]
        surest = [own[least_kept(self, [one.value for one in own])]] if own else []
        return (*given, *(self._of(one) for one in (findings.the(self.name), *surest)))

    def _of(self, found: Finding) -> Judged:
        if found.nothing:
            return self.judged(found.value, Ruling.KEPT, f"{found.found}.")
        ruling = self.ruling(found.value)
        words = filled(found.found or self.told, text_of(found.value))
        return self.judged(found.value, ruling, f"{words}{against(self, ruling)}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class BestGuess(_OfTable):
    """The probability that an intruder's best guess of the table is right."""

    name: ClassVar[str] = "best_guess"
    about: ClassVar[str] = "how sure an intruder may be of his best guess of the table"
    told: ClassVar[str] = "an intruder's best guess of the table is right with probability {}"

    def said(self) -> str:
        return (
            f"An intruder's best guess of the table is right with a probability {limit_said(self)}."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth(_OfTable):
    """The probability that an intruder gives to the true table."""

    name: ClassVar[str] = "truth"
    about: ClassVar[str] = "how sure an intruder may be of the true table"
    told: ClassVar[str] = "an intruder gives the true table the probability {}"

    def said(self) -> str:
        return f"An intruder gives the true table a probability {limit_said(self)}."


@dataclass(frozen=True, slots=True, kw_only=True)
class ReciprocalEntropy(_OfTable):
    """One over the entropy of the table in bits, as kadane (15) has it."""

    name: ClassVar[str] = "reciprocal_entropy"
    about: ClassVar[str] = "how sure an intruder may be of the table"
    told: ClassVar[str] = "one over the entropy of the table is {}"
    if_known: ClassVar[Figure] = BEYOND_EVERY_LIMIT
    highest: ClassVar[float] = MOST_BITS

    def said(self) -> str:
        return f"One over the entropy of the table in bits is {limit_said(self, of='')}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Entropy(_OfTable):
    """The entropy of the table in bits: what an intruder does not know of it."""

    name: ClassVar[str] = "entropy"
    about: ClassVar[str] = "how much of the table an intruder must be left not to know"
    side: ClassVar[Side] = "least"
    told: ClassVar[str] = "what an intruder does not know of the table is {} bits"
    if_known: ClassVar[Figure] = Figure(value=0.0, how=How.EXACT)
    highest: ClassVar[float] = MOST_BITS

    def said(self) -> str:
        return f"What an intruder does not know of the table is {limit_said(self, of='')} bits."


@dataclass(frozen=True, slots=True, kw_only=True)
class CountRisk(_OfCounts):
    """The probability of the true count of any value that occurs; with `small`, of values that at
    most so many have."""

    small: int | None = None

    name: ClassVar[str] = "count_risk"
    about: ClassVar[str] = "how sure an intruder may be of a single count"

    def __post_init__(self) -> None:
        if self.small is not None and self.small < 1:
            raise InputError(must_be("small", "at least 1", self.small, where=self.name))
        Rule.__post_init__(self)

    def said(self) -> str:
        those = "each value that occurs"
        if self.small is not None:
            those = f"each value that at most {self.small:,} have"
        return f"The true count of {those} has a probability {limit_said(self)}."

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        given = self.given_away(_counted(findings, GIVEN_AWAY, self.small), EXACTLY_ONE)
        whole, each = findings.the(self.name), _counted(findings, COUNT, self.small)
        if each:
            return (*given, self._of(each, whole.found or "values"))
        if findings.of(COUNT) or (self.name not in findings and findings.of(GIVEN_AWAY)):
            return given or (self._none_so_small(),)
        return (*given, self._of([("a value", whole)], ""))

    def _of(self, each: Sequence[Named], several: str) -> Judged:
        """By the count that keeps it least; all that do not keep it are named."""
        label, found = each[least_kept(self, [one.value for _, one in each])]
        ruling = self.ruling(found.value)
        words = f"the true count of {label} has probability {text_of(found.value)}"
        words += against(self, ruling)
        exposed = tuple(
            name for name, one in each if several and self.ruling(one.value) is not Ruling.KEPT
        )
        if len(exposed) > 1:
            words += f"; {len(exposed)} {several} are exposed in all"
        return self.judged(found.value, ruling, f"{words}.", concerns=exposed)

    def _none_so_small(self) -> Judged:
        words = f"no value that occurs is that of at most {self.small}"
        return self.judged(Unavailable(words), Ruling.KEPT, f"{words}.")


def _counted(findings: Findings, stem: str, small: int | None = None) -> list[Named]:
    """The findings `stem:N:LABEL` by label; with `small` those whose true count N is at most that,
    and those that do not say it."""
    parts = ((name.partition(":"), one) for name, one in findings.of(stem))
    return [
        (label, one)
        for (count, _, label), one in parts
        if small is None or not count.isdigit() or int(count) <= small
    ]


def least_kept(rule: Rule, values: Sequence[Outcome]) -> int:
    """The first place of the figure that keeps a rule least: broken before undecided before kept,
    then the one that is, or may be, furthest beyond the limit."""
    rulings = [rule.ruling(one) for one in values]
    places = [place for place, one in enumerate(rulings) if one is worst(rulings)]
    known = [(place, _reach(rule, values[place])) for place in places]
    reaches = [(place, reach) for place, reach in known if reach is not None]
    if not reaches:
        return places[0]
    return reaches[first_largest([reach for _, reach in reaches])][0]


def _reach(rule: Rule, value: Outcome) -> float | None:
    """How far a figure may be in the direction of the limit; None where there is none."""
    if isinstance(value, Unavailable):
        return None
    low, high = ends(value)
    return high if rule.side == "most" else -low


def text_of(risk: Outcome) -> str:
    """A figure in a sentence."""
    if isinstance(risk, Unavailable):
        return f"not known ({risk.reason})"
    if risk.value is None:
        return f"from {risk.low or 0.0:.3g} to {risk.high or 0.0:.3g}"
    error = "" if risk.standard_error is None else f" ± {risk.standard_error:.2g}"
    return f"{risk.value:.3g}{error}"


def filled(told: str, figure: str) -> str:
    """A clause with its figure in the last place for one; a name may hold braces too."""
    before, place, after = told.rpartition("{}")
    return f"{before}{figure}{after}" if place else told


def limit_said(rule: Rule, of: str = "of ") -> str:
    """The limit as a rule says it: of at most 0.2, or below 0.2 where that itself is too much."""
    if rule.strict:
        return f"{'below' if rule.side == 'most' else 'above'} {rule.limit:g}"
    return f"{of}at {rule.side} {rule.limit:g}"


def against(rule: Rule, ruling: Ruling) -> str:
    """What the figure is, beside the limit."""
    beyond = ("above", "not below")[rule.strict], ("not above", "below")[rule.strict]
    if rule.side == "least":
        beyond = ("below", "not above")[rule.strict], ("not below", "above")[rule.strict]
    limit = f"the limit of {rule.limit:g}"
    if ruling is Ruling.UNDECIDED:
        return f", which does not settle whether it is {beyond[rule.strict]} {limit}"
    return f", {beyond[ruling is Ruling.KEPT]} {limit}"


RULES: tuple[type[Rule], ...] = (BestGuess, Truth, ReciprocalEntropy, Entropy, CountRisk)
