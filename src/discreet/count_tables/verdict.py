"""May the statistics of counts go out? The rules of the count policy, applied to one release.

Two figures may not be above the greatest risk allowed: the chosen measure of the whole table, and
the probability of the true count of any value that occurs (a value that nobody has is no one's
secret). Both are under the distribution that is right for independent counts.
"""

from collections.abc import Sequence
from enum import StrEnum

from discreet.errors import InputError, must_be
from discreet.figures import Outcome, Unavailable
from discreet.policy.verdict import Judged, Ruling, at_most

TABLE_RISK, COUNT_RISK = "table_risk", "count_risk"


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

SAID = {  # the same with a figure
    CountMeasure.BEST_GUESS: "an intruder's best guess of the table is right with probability {}",
    CountMeasure.TRUTH: "an intruder gives the true table the probability {}",
    CountMeasure.RECIPROCAL_ENTROPY: "one over the entropy of the table is {}",
}


def check_max_risk(max_risk: float) -> None:
    """Raises InputError unless it lies between 0 and 1."""
    if not 0 < max_risk < 1:
        raise InputError(must_be("max_risk", "between 0 and 1", max_risk))


def table_rule(said: str, risk: Outcome, limit: float, *, is_bound: bool = False) -> Judged:
    """The rule on a table, or on all of several, `said` with a place for the figure; a risk that
    only bounds the true one from above can show that the limit is kept, not that it is broken."""
    ruling = at_most(risk, limit)
    if is_bound and ruling is Ruling.BROKEN:
        ruling = Ruling.UNDECIDED
    value = f"at most {text_of(risk)}" if is_bound else text_of(risk)
    words = f"{said.format(value)}{against(ruling, limit)}."
    return Judged(rule=TABLE_RISK, ruling=ruling, value=risk, limit=limit, words=words)


def count_rule(
    found: str, risk: Outcome, limit: float, *, exposed: Sequence[str] = (), several: str = "values"
) -> Judged:
    """The rule on single counts; `found` names the one found most surely, `exposed` all those whose
    risk is, or may be, above the limit."""
    ruling = at_most(risk, limit)
    words = f"the true count of {found} has probability {text_of(risk)}{against(ruling, limit)}"
    if len(exposed) > 1:
        words += f"; {len(exposed)} {several} are exposed in all"
    words += "."
    return Judged(
        rule=COUNT_RISK, ruling=ruling, value=risk, limit=limit, words=words,
        concerns=tuple(exposed),
    )  # fmt: skip


def text_of(risk: Outcome) -> str:
    """A risk in a sentence."""
    if isinstance(risk, Unavailable):
        return f"not known ({risk.reason})"
    if risk.value is None:
        return f"from {risk.low or 0.0:.3g} to {risk.high or 0.0:.3g}"
    error = "" if risk.standard_error is None else f" ± {risk.standard_error:.2g}"
    return f"{risk.value:.3g}{error}"


def against(ruling: Ruling, limit: float) -> str:
    """What the figure is, beside the limit."""
    if ruling is Ruling.UNDECIDED:
        return f", which does not settle whether it is above the limit of {limit:g}"
    return f", {'above' if ruling is Ruling.BROKEN else 'not above'} the limit of {limit:g}"
