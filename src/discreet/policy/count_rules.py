"""Rules on the statistics of a table of counts: what an intruder can rebuild from them."""

from dataclasses import dataclass
from typing import ClassVar

from discreet.figures import Outcome, Unavailable
from discreet.policy.findings import Findings
from discreet.policy.rule import Rule, Side, Subject
from discreet.policy.verdict import Judged, Ruling

MOST_BITS = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfTable(Rule):
    """A measure of the whole table that is rebuilt."""

    subject: ClassVar[Subject] = Subject.COUNTS
    told: ClassVar[str]  # with a place for the figure

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        found = findings.the(self.name)
        ruling = self.ruling(found.value)
        words = f"{(found.found or self.told).format(text_of(found.value))}"
        return (self.judged(found.value, ruling, f"{words}{against(self, ruling)}."),)


@dataclass(frozen=True, slots=True, kw_only=True)
class BestGuess(_OfTable):
    """The probability that an intruder's best guess of the table is right."""

    name: ClassVar[str] = "best_guess"
    about: ClassVar[str] = "how sure an intruder may be of his best guess of the table"
    told: ClassVar[str] = "an intruder's best guess of the table is right with probability {}"

    def said(self) -> str:
        return (
            "An intruder's best guess of the table is right with a probability of at most "
            f"{self.limit:g}."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth(_OfTable):
    """The probability that an intruder gives to the true table."""

    name: ClassVar[str] = "truth"
    about: ClassVar[str] = "how sure an intruder may be of the true table"
    told: ClassVar[str] = "an intruder gives the true table the probability {}"

    def said(self) -> str:
        return f"An intruder gives the true table a probability of at most {self.limit:g}."


@dataclass(frozen=True, slots=True, kw_only=True)
class ReciprocalEntropy(_OfTable):
    """One over the entropy of the table in bits, as kadane (15) has it."""

    name: ClassVar[str] = "reciprocal_entropy"
    about: ClassVar[str] = "how sure an intruder may be of the table"
    told: ClassVar[str] = "one over the entropy of the table is {}"
    highest: ClassVar[float] = MOST_BITS

    def said(self) -> str:
        return f"One over the entropy of the table, in bits, is at most {self.limit:g}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Entropy(_OfTable):
    """The entropy of the table in bits: what an intruder does not know of it."""

    name: ClassVar[str] = "entropy"
    about: ClassVar[str] = "how little an intruder may still not know of the table"
    side: ClassVar[Side] = "least"
    told: ClassVar[str] = "what an intruder does not know of the table is {} bits"
    highest: ClassVar[float] = MOST_BITS

    def said(self) -> str:
        return f"What an intruder does not know of the table is at least {self.limit:g} bits."


@dataclass(frozen=True, slots=True, kw_only=True)
class CountRisk(Rule):
    """The probability of the true count of any value that occurs; with `small`, of values that at
    most so many have."""

    small: int | None = None

    name: ClassVar[str] = "count_risk"
    subject: ClassVar[Subject] = Subject.COUNTS
    about: ClassVar[str] = "how sure an intruder may be of a single count"

    def said(self) -> str:
        those = "each value that occurs"
        if self.small is not None:
            those = f"each value that at most {self.small:,} have"
        return f"The true count of {those} has a probability of at most {self.limit:g}."

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        name = "count_risk" if self.small is None else f"count_risk:{self.small}"
        found = findings.the(name)
        if found.nothing:
            return (self.judged(found.value, Ruling.KEPT, f"{found.found}."),)
        ruling = self.ruling(found.value)
        which = found.found or "a value"
        words = f"the true count of {which} has probability {text_of(found.value)}"
        words += against(self, ruling)
        exposed = found.concerns
        if len(exposed) > 1:
            words += f"; {len(exposed)} {found.doubt or 'values'} are exposed in all"
        return (self.judged(found.value, ruling, f"{words}.", concerns=exposed),)


def text_of(risk: Outcome) -> str:
    """A figure in a sentence."""
    if isinstance(risk, Unavailable):
        return f"not known ({risk.reason})"
    if risk.value is None:
        return f"from {risk.low or 0.0:.3g} to {risk.high or 0.0:.3g}"
    error = "" if risk.standard_error is None else f" ± {risk.standard_error:.2g}"
    return f"{risk.value:.3g}{error}"


def against(rule: Rule, ruling: Ruling) -> str:
    """What the figure is, beside the limit."""
    beyond, limit = "above" if rule.side == "most" else "below", f"the limit of {rule.limit:g}"
    if ruling is Ruling.UNDECIDED:
        return f", which does not settle whether it is {beyond} {limit}"
    return f", {beyond if ruling is Ruling.BROKEN else f'not {beyond}'} {limit}"


RULES: tuple[type[Rule], ...] = (BestGuess, Truth, ReciprocalEntropy, Entropy, CountRisk)
