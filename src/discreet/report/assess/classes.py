"""Classes of risk, for the pictures."""

from dataclasses import dataclass
from itertools import pairwise

from discreet.numerics.rounding import above
from discreet.report.assess.words import has_register, is_everybody
from discreet.survey.assessment import Assessment
from discreet.survey.leading import RiskOverview
from discreet.survey.models.sample_frequency import SampleFrequency
from discreet.survey.risk_histogram import EDGES, RiskDistribution

FEWEST_SHOWN = 4
RECOMMENDED = (
    "The recommended risk: the intruder does not know who is in the file, and picks among all in "
    "the population who share the key combination at random."
)
OF_EVERYBODY = (
    "The file is everybody. The intruder picks at random among the records that share the key "
    "combination: the risk is one over their number."
)
OF_REGISTER = (
    "The intruder does not know who is in the file, and picks at random among all in the file of "
    "the population who share the key combination: the risk is one over their number."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskSpread:
    """How risk is spread over the records, what for an intruder that assumes, and what to say."""

    assumption: str
    distribution: RiskDistribution
    said: str


def first_result(assessment: Assessment) -> RiskSpread:
    """The recommended risk; without one 1/f, which no risk of a record exceeds."""
    risk = assessment.risk
    if isinstance(risk, RiskOverview):
        led = assessment.recommended
        meant = _meant(assessment)
        said = f"Under the model {led.model}, which was chosen." if led.is_chosen else meant
        return RiskSpread(assumption=meant, distribution=risk.distribution, said=said)
    sizes = assessment.size_indices
    distribution = RiskDistribution.empty().add(1.0 / sizes.sizes, sizes.records)
    assumption = SampleFrequency().assumption
    if sizes.is_partition:
        said = f"The most that the risk can be. {assumption}"
        return RiskSpread(assumption=assumption, distribution=distribution, said=said)
    settings = assessment.settings
    meaning = settings.missing.in_words(settings.missing_weight)
    assumption += f" Records share a combination here if they match: {meaning}."
    return RiskSpread(assumption=assumption, distribution=distribution, said=assumption)


def _meant(assessment: Assessment) -> str:
    if is_everybody(assessment):
        return OF_EVERYBODY
    return OF_REGISTER if has_register(assessment) else RECOMMENDED


def risk_classes(distribution: RiskDistribution) -> list[tuple[str, int]]:
    """All classes of risk, by their limits, with their records."""
    names = [f"{low:g}–{high:g}" for low, high in pairwise(EDGES)]
    return list(zip(names, (int(n) for n in distribution.records), strict=True))


def filled_classes(distribution: RiskDistribution) -> list[tuple[str, int]]:
    """The classes from the first that holds a record on, at least FEWEST_SHOWN of them."""
    classes = risk_classes(distribution)
    first = next((i for i, (_, n) in enumerate(classes) if n), len(classes))
    return classes[min(first, len(classes) - FEWEST_SHOWN) :]


def n_classes_above(assessment: Assessment) -> int:
    """How many classes lie above the limit of a high risk as a whole, at least one."""
    risk = assessment.risk
    if not isinstance(risk, RiskOverview):
        return 1
    return max(1, sum(not above(risk.limits.high, float(low)) for low in EDGES[:-1]))
