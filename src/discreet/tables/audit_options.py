"""How an audit of released margins is made, and what it is held against."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from discreet.belief.draws.augmentation import Effort
from discreet.belief.models.model_averaging import WeightKind
from discreet.errors import InputError, must_be
from discreet.tables.posteriors import RELEASED
from discreet.tables.refused_margin import Policy, RefusalRule

MOST_PERSONS = 2**53  # that floats count one by one


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """How an audit is made; see `audit`.

    `max_risk` is the greatest risk allowed by `policy`: of the release itself, or where margins
    were `refused` the one they would have exceeded. By `bounds` it is minus a width, 0 or below.
    """

    knows: Sequence[str] = ()
    models: Sequence[str] = (RELEASED,)
    model_priors: Mapping[str, float] | None = None
    weight_kind: WeightKind = WeightKind.MARGINAL_LIKELIHOOD
    small: int = 2
    confidence: float = 0.5
    alpha: float = 0.5
    targets: Sequence[str] | None = None
    sure: float = 0.9
    refused: Sequence[Sequence[str]] = ()
    policy: Policy = Policy.CELLS
    max_risk: float | None = None
    population: int | None = None
    seconds: float | None = None
    effort: Effort = field(default_factory=Effort)
    seed: int = 1

    def __post_init__(self) -> None:
        if self.small < 1:
            raise InputError(must_be("small", "at least 1", self.small))
        if not 0 <= self.confidence < 1:
            raise InputError(must_be("confidence", "from 0 to below 1", self.confidence))
        if not 0 < self.alpha < 1e6:
            raise InputError(must_be("alpha", "above 0", self.alpha))
        if self.seconds is not None and not 0 < self.seconds < math.inf:
            raise InputError(must_be("seconds", "a finite number above 0", self.seconds))
        if self.population is not None and not 0 < self.population < MOST_PERSONS:
            rule = f"from 1 to below {MOST_PERSONS:,}"
            raise InputError(must_be("population", rule, self.population))
        if not 0 < self.sure <= 1:
            raise InputError(must_be("sure", "above 0, up to 1", self.sure))
        if self.refused and self.max_risk is None:
            raise InputError(must_be("max_risk", "given where a margin was refused", "none"))
        if not self.models:
            raise InputError(must_be("models", "at least one", "none"))
        if self.max_risk is not None:
            _check_max_risk(self.max_risk, self.policy)

    @property
    def rule(self) -> RefusalRule | None:
        """The policy with its limit; None where none was given."""
        if self.max_risk is None:
            return None
        return RefusalRule(
            policy=self.policy,
            max_risk=self.max_risk,
            small=self.small,
            confidence=self.confidence,
        )


def _check_max_risk(max_risk: float, policy: Policy) -> None:
    if policy is Policy.BOUNDS:
        if not -math.inf < max_risk <= 0:
            rule = "0 or below for the policy bounds, minus the least width allowed"
            raise InputError(must_be("max_risk", rule, max_risk))
    elif not 0 <= max_risk <= 1:
        raise InputError(must_be("max_risk", f"from 0 to 1 for the policy {policy}", max_risk))
