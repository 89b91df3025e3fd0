"""What may be asked of an audit of released margins, by the same names in Python and on the command
line."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.belief.draws.augmentation import LEAST_KEPT, ChainEffort
from discreet.belief.models.model_averaging import WeightKind
from discreet.errors import InputError, must_be, one_of
from discreet.option_types import check_types
from discreet.policy.policy import Policy, check_about
from discreet.policy.reading import policies_of
from discreet.policy.rule import Subject
from discreet.policy.table_rules import SMALL
from discreet.tables.policy_needs import largest_small, plain_policy
from discreet.tables.posteriors import RELEASED
from discreet.tables.refused_margin import RefusalRule, RiskMeasure, measure_named
from discreet.tables.ruled_out import check_nesting

MOST_PERSONS = 2**53  # that floats count one by one


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """The options of an audit. On the command line they have the same names, with dashes; one that
    holds several values is given several times, in the singular (`--model-prior`).

    What an intruder has:

    - `knows`: what he knows besides the release, as 'A=1,B=2:0..3': from 0 to 3 persons have these
      levels.
    - `refused`: margins that were refused because they exceed `max_risk`, which he knows too.
    - `population`: the table is a sample of so many persons.
    - `nesting`: he knows what one variable determines of another, such as the region of a district,
      as far as the table shows it; False against that.
    - `nested`: pairs of which everybody knows that one determines the other, as 'district:region';
      what a group shares by that is no news. Names of levels may show it too (N1 in N, 23 in
      20-24).

    What he believes:

    - `models`: `released` (the model of the released margins), `saturated`,
      `no-highest-interaction`, generators such as `[a b][b c]`, or `average` over all hierarchical
      models that contain the released margins.
    - `model_priors`: probability of each model before anything is released; by default all alike.
    - `model_weights`: what weighs a model: marginal_likelihood or posterior_predictive.
    - `alpha`: count that a Dirichlet prior puts into each cell.

    What is a risk:

    - `policy`: what must hold, as the name of a policy, a file or a Policy, or several of them;
      `discreet policies` lists those that come with Discreet.
    - `small`: counts from 1 to it are small; 2, or what the policies call small.
    - `confidence`: an intruder who is surer than this of a count takes it as known.
    - `targets`: variables whose level a group of persons must not share, and `sure`: the
      probability from which such a group is listed.
    - `measure` and `max_risk`: the greatest risk allowed, by `cells` (share of the small cells
      found), `table` (probability of the true table) or `bounds` (minus the width of the narrowest
      bounds, so 0 or below).

    How long it may take:

    - `seconds`: the work ends with what is known by then, and the notes say so; None for no limit.
    - `draws`: draws that are kept of each chain.
    - `seed`: of all draws.
    """

    knows: Sequence[str] = ()
    refused: Sequence[Sequence[str]] = ()
    population: int | None = None
    nesting: bool = True
    nested: Sequence[str] = ()
    models: Sequence[str] = (RELEASED,)
    model_priors: Mapping[str, float] | None = None
    model_weights: str = WeightKind.MARGINAL_LIKELIHOOD
    alpha: float = 0.5
    policy: Any = None
    small: int | None = None
    confidence: float = 0.5
    targets: Sequence[str] | None = None
    sure: float = 0.9
    measure: RiskMeasure = RiskMeasure.CELLS
    max_risk: float | None = None
    seconds: float | None = 60.0
    draws: int = 2000
    seed: int = 1

    def __post_init__(self) -> None:
        check_types(self)
        for name in ("knows", "models", "nested"):
            if isinstance(getattr(self, name), str):
                object.__setattr__(self, name, (getattr(self, name),))
        object.__setattr__(self, "measure", measure_named(self.measure))
        object.__setattr__(self, "policy", policies_of(self.policy))
        check_about(self.policy, Subject.TABLES)
        one_of("model_weights", WeightKind, self.model_weights)
        check_nesting(self.nesting, self.nested)
        if self.draws < LEAST_KEPT:
            raise InputError(must_be("draws", f"at least {LEAST_KEPT}", self.draws))
        if self.small is not None and self.small < 1:
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
        if self.refused and self.policy:
            rule = "left out where a margin was refused, since no rule counts what that tells"
            raise InputError(must_be("policy", rule, repr(self.policy[0].name)))
        if not self.models:
            raise InputError(must_be("models", "at least one", "none"))
        if self.max_risk is not None:
            check_max_risk(self.max_risk, self.measure)

    @property
    def weight_kind(self) -> WeightKind:
        """What weighs a model."""
        return WeightKind(self.model_weights)

    @property
    def effort(self) -> ChainEffort:
        """How long the chains run."""
        return ChainEffort(n_draws=self.draws)

    @property
    def most_small(self) -> int:
        """The greatest count that is small: as given, or as the policies have it."""
        return self.small or largest_small(self.policy) or SMALL

    @property
    def policies(self) -> tuple[Policy, ...]:
        """All that a release is judged by: the plain limit, unless it is one on refusals, and the
        policies that were named."""
        if self.max_risk is None or self.refused:
            return tuple(self.policy)
        given = self.measure, self.max_risk, self.most_small, self.confidence
        return (plain_policy(*given), *self.policy)

    @property
    def rule(self) -> RefusalRule | None:
        """The measure with its limit; None where none was given."""
        if self.max_risk is None:
            return None
        return RefusalRule(
            measure=self.measure,
            max_risk=self.max_risk,
            small=self.most_small,
            confidence=self.confidence,
        )


def check_max_risk(max_risk: float, measure: RiskMeasure) -> None:
    """Raises InputError for a limit that the measure cannot have."""
    if measure is RiskMeasure.BOUNDS:
        if not -math.inf < max_risk <= 0:
            rule = "0 or below for the measure bounds, minus the least width allowed"
            raise InputError(must_be("max_risk", rule, max_risk))
    elif not 0 <= max_risk <= 1:
        raise InputError(must_be("max_risk", f"from 0 to 1 for the measure {measure}", max_risk))
