"""Disclosure risk as the agency's expected loss (dobra sections 3 and 4).

An *attack* is what an intruder is after: a target, an estimate of it that is best under his loss
and his belief, and his uncertainty, the loss he then expects. He acts if it does not exceed his
threshold, which the agency knows only as a distribution. *Harm* is what the agency loses by it.
Disclosure risk (1) averages harm over whether he acts and over what he may be after; that is all
the machinery there is, and the measures of the field are instances of it (`table_attacks`)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from discreet.belief.belief import Belief
from discreet.errors import InputError, must_be
from discreet.numerics.arrays import IntArray
from discreet.numerics.rounding import above

AGREES = 1e-9
UNIT = 1.0  # uncertainties are sums of probabilities: 1 − 1 may come out as 1e-16


@dataclass(frozen=True, slots=True)
class Guess:
    """The best estimate of a target under a belief, and the loss that is expected of it."""

    estimate: Any
    uncertainty: float


class Attack(Protocol):
    """One thing that an intruder may be after."""

    def guess(self, belief: Belief) -> Guess:
        """The estimate with the least expected loss, and that loss."""

    def harm(self, guess: Guess | None, truth: IntArray) -> float:
        """What the agency loses if he acts on the guess, or gives up (None), `truth` being so."""


class Threshold(Protocol):
    """The agency's distribution for the uncertainty up to which an intruder acts."""

    def acts(self, uncertainty: float) -> float:
        """The probability that his threshold is at least this high."""


@dataclass(frozen=True, slots=True)
class Always:
    """He acts whatever his uncertainty: the worst case."""

    def acts(self, uncertainty: float) -> float:
        """One."""
        return 1.0


@dataclass(frozen=True, slots=True)
class Fixed:
    """He acts if his uncertainty is at most `limit`, or below it where `strictly`."""

    limit: float
    strictly: bool = False

    def acts(self, uncertainty: float) -> float:
        """One or zero."""
        if self.strictly:
            return float(above(self.limit, uncertainty))  # a certainty is below every limit
        return float(not above(uncertainty, self.limit, scale=UNIT))


@dataclass(frozen=True, slots=True)
class Discrete:
    """His threshold is one of several, with probabilities that sum to one."""

    limits: tuple[float, ...]
    probabilities: tuple[float, ...]

    def __post_init__(self) -> None:
        proper = len(self.limits) == len(self.probabilities) and min(self.probabilities) >= 0
        if not proper or abs(sum(self.probabilities) - 1) > AGREES:
            rule = "as many probabilities as limits, with sum 1"
            raise InputError(must_be("threshold", rule, self.probabilities))

    def acts(self, uncertainty: float) -> float:
        """The probability of all limits that are at least the uncertainty."""
        pairs = zip(self.limits, self.probabilities, strict=True)
        return sum(p for limit, p in pairs if not above(uncertainty, limit, scale=UNIT))


@dataclass(frozen=True, slots=True)
class Continuous:
    """His threshold has a distribution given by its survival function, u ↦ Pr(T ≥ u)."""

    survival: Callable[[float], float]

    def acts(self, uncertainty: float) -> float:
        """The survival function, which must give a probability."""
        found = self.survival(uncertainty)
        if not 0 <= found <= 1:
            raise InputError(must_be("threshold", "a probability between 0 and 1", found))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """What an intruder may be after, each with the agency's probability that it is his target."""

    attacks: Sequence[tuple[float, Attack]]
    threshold: Threshold = Always()

    def __post_init__(self) -> None:
        total = sum(weight for weight, _ in self.attacks)
        if not self.attacks or min(w for w, _ in self.attacks) < 0 or abs(total - 1) > AGREES:
            rule = "at least one, with probabilities that sum to 1"
            raise InputError(must_be("attacks", rule, total))


def disclosure_risk(scenario: Scenario, belief: Belief, truth: IntArray) -> float:
    """DR (dobra eq. 1): harm averaged over whether the intruder acts and over his targets.

    The agency knows the true table, so its own distribution for the state of the world is
    degenerate there."""
    risk = 0.0
    for weight, attack in scenario.attacks:
        guess = attack.guess(belief)
        acts = scenario.threshold.acts(guess.uncertainty)
        if acts > 0:
            risk += weight * acts * attack.harm(guess, truth)
        if acts < 1:
            risk += weight * (1 - acts) * attack.harm(None, truth)
    return risk


def worst_risk(scenarios: Sequence[Scenario], belief: Belief, truth: IntArray) -> float:
    """The greatest risk over several intruders, on one scale of harm (dobra, reply)."""
    if not scenarios:
        raise InputError(must_be("scenarios", "at least one", "none"))
    return max(disclosure_risk(scenario, belief, truth) for scenario in scenarios)
