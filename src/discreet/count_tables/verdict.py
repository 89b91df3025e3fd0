"""What a verdict on the statistics of counts holds against a limit, where no policy is named.

Two figures may not be above the greatest risk allowed: the chosen measure of the whole table, and
the probability of the true count of any value that occurs (a value that nobody has is no one's
secret). Both are under the distribution that is right for independent counts.
"""

from collections.abc import Mapping
from enum import StrEnum

from discreet.errors import InputError, must_be
from discreet.policy.count_rules import BestGuess, CountRisk, ReciprocalEntropy, Truth
from discreet.policy.policy import Policy
from discreet.policy.rule import Rule


class CountMeasure(StrEnum):
    """What a verdict holds against the greatest risk allowed."""

    BEST_GUESS = "best_guess"
    TRUTH = "truth"
    RECIPROCAL_ENTROPY = "reciprocal_entropy"


MEASURES = {
    CountMeasure.BEST_GUESS: "the probability that an intruder's best guess of the table is right",
    CountMeasure.TRUTH: "the probability that an intruder gives to the true table",
    CountMeasure.RECIPROCAL_ENTROPY: "one over the entropy of the table",
}
RULE_OF: Mapping[CountMeasure, type[Rule]] = {
    CountMeasure.BEST_GUESS: BestGuess,
    CountMeasure.TRUTH: Truth,
    CountMeasure.RECIPROCAL_ENTROPY: ReciprocalEntropy,
}


def check_max_risk(max_risk: float) -> None:
    """Raises InputError unless it lies between 0 and 1."""
    if not 0 < max_risk < 1:
        raise InputError(must_be("max_risk", "between 0 and 1", max_risk))


def plain_policy(
    max_risk: float | None,
    measure: CountMeasure = CountMeasure.BEST_GUESS,
    small: int | None = None,
) -> tuple[Policy, ...]:
    """The policy without a name that limits given as options are; none where none is given."""
    if max_risk is None:
        return ()
    check_max_risk(max_risk)
    table, count = RULE_OF[measure](limit=max_risk), CountRisk(limit=max_risk, small=small)
    return (Policy(name="", rules=(table, count)),)
