"""Classes of risk, for the pictures."""

from itertools import pairwise

from discreet.survey.assessment import Assessment
from discreet.survey.risk_histogram import EDGES, RiskDistribution
from discreet.survey.scoring import ModelResult

FEWEST_SHOWN = 4


def first_result(assessment: Assessment) -> ModelResult | None:
    """The first model that says how risk is spread over the records."""
    results = (r for r in assessment.models.values() if isinstance(r, ModelResult))
    return next((r for r in results if r.distribution is not None), None)


def risk_classes(distribution: RiskDistribution) -> list[tuple[str, int]]:
    """All classes of risk, by their limits, with their records."""
    names = [f"{low:g}–{high:g}" for low, high in pairwise(EDGES)]
    return list(zip(names, (int(n) for n in distribution.records), strict=True))


def filled_classes(distribution: RiskDistribution) -> list[tuple[str, int]]:
    """The classes from the first that holds a record on, at least FEWEST_SHOWN of them."""
    classes = risk_classes(distribution)
    first = next((i for i, (_, n) in enumerate(classes) if n), len(classes))
    return classes[min(first, len(classes) - FEWEST_SHOWN) :]
