"""Who has a stake in a release: intruders and scientists (dobra section 3).

An intruder estimates what should stay hidden, a scientist what the data were collected for. Each
acts on what is published if the loss he then expects does not exceed his threshold, which the
agency knows only as a distribution. Disclosure risk (1) and data utility (2) are what the agency
expects to lose and to gain by that.

Equation (2) as printed has a slip: both terms of its sum over j hold the action a_1S. It should be
a_jS in both places, as in (1), and so it is here; else the loss of a scientist who acts would count
twice and that of one who gives up not at all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from discreet.belief.belief import Belief
from discreet.errors import InputError, must_be
from discreet.fiber.system.priors import Prior
from discreet.masks.contract import PublishedTable
from discreet.numerics.arrays import FloatArray, IntArray, read_only
from discreet.tables.disclosure import Always, Guess, Scenario, Threshold

AGREES = 1e-9
NEGLIGIBLE = 1e-7  # a loss that is but rounding, in units of any user
ALWAYS = Always()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a scientist has before him: a table taken at its word, and his belief, if he has one.

    `estimate` is what the publication puts into each cell of the full table, `blank` what he would
    put there without it; both have the shape of the table.
    """

    estimate: FloatArray
    blank: FloatArray
    published: tuple[PublishedTable, ...] = ()
    belief: Belief | None = None

    def __post_init__(self) -> None:
        read_only(self.estimate)
        read_only(self.blank)

    @property
    def without(self) -> "Reading":
        """What is left to him who gives up: the estimate he would make without the publication."""
        return replace(self, estimate=self.blank, published=(), belief=None)


class Study(Protocol):
    """One thing that a scientist may be after: his target and his loss."""

    def answer(self, reading: Reading) -> Guess:
        """The estimate with the least loss as far as he can tell, and the loss he expects."""

    def loss(self, guess: Guess, truth: IntArray) -> float:
        """What is lost by the estimate if `truth` is so; 0 where it is right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scientist:
    """A user of the data: what he may be after, each with the agency's probability that he is.

    `weight` is what he counts beside other users.
    """

    name: str
    studies: Sequence[tuple[float, Study]]
    threshold: Threshold = ALWAYS
    weight: float = 1.0

    def __post_init__(self) -> None:
        total = sum(p for p, _ in self.studies)
        if not self.studies or min(p for p, _ in self.studies) < 0 or abs(total - 1) > AGREES:
            rule = "at least one, with probabilities that sum to 1"
            raise InputError(must_be(f"studies of {self.name}", rule, total))
        if not 0 < self.weight < float("inf"):
            raise InputError(must_be(f"weight of {self.name}", "above 0", self.weight))


@dataclass(frozen=True, slots=True, kw_only=True)
class Intruder:
    """What an intruder holds of tables before the release, and what he is after.

    `prior` is a product of weights over cells; a `Scenario` holds targets, losses and threshold.
    """

    name: str
    prior: Prior
    scenario: Scenario


def data_utility(scientist: Scientist, reading: Reading, truth: IntArray) -> float:
    """DU (dobra eq. 2, with a_jS in the sum): minus the loss expected of a scientist.

    He acts with the probability that his threshold is at least the loss he expects, and then loses
    what his estimate costs; else he is left with the estimate he would make without the
    publication. The agency knows the truth, so its distribution for the state of the world is
    degenerate."""
    expected = 0.0
    for probability, study in scientist.studies:
        guess = study.answer(reading)
        acts = scientist.threshold.acts(guess.uncertainty)
        if acts > 0:
            expected += probability * acts * study.loss(guess, truth)
        if acts < 1:
            idle = study.answer(reading.without)
            expected += probability * (1 - acts) * study.loss(idle, truth)
    return 0.0 - expected


def worth(utility: float, of_nothing: float) -> float:
    """A utility on a scale that users share: 1 is no loss at all, 0 as much as without a release.

    Losses of different users cannot simply be added (dobra, Meek), but the share of each one's
    avoidable loss that a release spares him can. Below 0 the release misleads him. `of_nothing` is
    the utility of releasing nothing; where he loses nothing by that, any loss is counted as −1.
    A loss of less than 10⁻⁷ is rounding, and counts as none.
    """
    if loses_nothing(of_nothing):
        return 1.0 if loses_nothing(utility) else -1.0
    return 1.0 - utility / of_nothing


def loses_nothing(utility: float) -> bool:
    """Whether a utility, which is minus a loss, is nothing but rounding."""
    return utility > -NEGLIGIBLE


def combined(worths: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """The mean of users' worths by their weights."""
    total = sum(weights[name] for name in worths)
    return sum(weights[name] * value for name, value in worths.items()) / total
