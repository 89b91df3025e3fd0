"""May the margins go out together? The risk of a release against the greatest one allowed."""

from dataclasses import dataclass
from enum import StrEnum

from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.rounding import above
from discreet.tables.refused_margin import Policy, RefusalRule

ERRORS = 2.0  # standard errors that an estimate must keep from the limit


class AuditDecision(StrEnum):
    """What the policy says."""

    RELEASE = "release"
    DO_NOT = "do not release"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditVerdict:
    """What the policy says of a release; `view` is the model under which its risk was found."""

    decision: AuditDecision
    rule: RefusalRule
    risk: Outcome
    view: str
    why: str

    @property
    def allows(self) -> bool:
        """Whether the release was shown to keep the limit."""
        return self.decision is AuditDecision.RELEASE


def verdict(
    rule: RefusalRule, risk: Outcome, view: str, *, n_small: int, n_looked_at: int
) -> AuditVerdict:
    """The policy's word on a release: yes only where the risk is shown to be within the limit.

    An estimate is taken two standard errors higher, and a risk known by limits at the upper one; a
    share over some of the small cells alone can break the limit but not show that it is kept.
    Without a small cell there is nothing to protect, except the table as a whole.
    """
    decision, why = _decided(rule, risk, n_small, n_looked_at)
    return AuditVerdict(decision=decision, rule=rule, risk=risk, view=view, why=why)


def _decided(
    rule: RefusalRule, risk: Outcome, n_small: int, n_looked_at: int
) -> tuple[AuditDecision, str]:
    if n_small == 0 and rule.policy is not Policy.TABLE:
        return AuditDecision.RELEASE, "no cell is small, so there is none to protect"
    if isinstance(risk, Unavailable):
        return AuditDecision.UNDECIDED, f"the risk is not known: {risk.reason}"
    low, high = _limits(risk, n_small, n_looked_at, rule.policy)
    if above(low, rule.max_risk):
        return AuditDecision.DO_NOT, "the risk is above what is allowed"
    if not above(high, rule.max_risk):
        return AuditDecision.RELEASE, "the risk is not above what is allowed"
    return AuditDecision.UNDECIDED, _doubt(risk, n_small, n_looked_at, rule.policy)


def _limits(risk: Figure, n_small: int, n_looked_at: int, policy: Policy) -> tuple[float, float]:
    """The least and the greatest that the risk may be, as far as is known."""
    value, spread = risk.value, ERRORS * (risk.standard_error or 0.0)
    low = risk.low if risk.low is not None else (value or 0.0) - spread
    high = risk.high if risk.high is not None else (value or 0.0) + spread
    if policy is Policy.CELLS and n_looked_at < n_small:
        left = n_small - n_looked_at
        return low * n_looked_at / n_small, (high * n_looked_at + left) / n_small
    return low, high


def _doubt(risk: Figure, n_small: int, n_looked_at: int, policy: Policy) -> str:
    if policy is Policy.CELLS and n_looked_at < n_small:
        return f"only {n_looked_at:,} of {n_small:,} small cells were looked at"
    if risk.how is How.ESTIMATE:
        return "the risk is an estimate that lies too near the limit"
    return "the risk is known within limits only"
