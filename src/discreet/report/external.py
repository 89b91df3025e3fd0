"""What may leave the agency: shares of the whole, and no way to put anything else in.

`PublicFigures` has no field for a level, a combination or a small count, and the external template
and plots see nothing else. A share that stands for fewer than SMALLEST records is not told from 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from discreet.report import words
from discreet.risk.assessment import Assessment, ModelResult
from discreet.risk.distribution import EDGES, RiskDistribution

SMALLEST = 10


@dataclass(frozen=True, slots=True)
class PublicFigure:
    """A share in words with what it is a share of."""

    value: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicFigures:
    """All that the external report may show."""

    scope: str
    keys: tuple[str, ...]
    missing: str
    tiles: tuple[PublicFigure, ...]
    anonymity_ks: tuple[int, ...]
    anonymity_shares: tuple[float, ...]
    contribution_keys: tuple[str, ...]
    contribution_shares: tuple[float, ...]
    risk_labels: tuple[str, ...]
    risk_shares: tuple[float, ...]
    risk_meaning: str
    smallest: int
    version: str


def public_figures(assessment: Assessment) -> PublicFigures:
    """The part of an assessment that a reader outside may have."""
    total = assessment.summary.sample_size
    single = assessment.contributions.single
    uniques = assessment.sample_uniques
    records = risk_classes(first_distribution(assessment))
    return PublicFigures(
        scope=f"{rounded(total)} with {words.plural(len(assessment.keys), 'key')}.",
        keys=assessment.settings.keys,
        missing=assessment.settings.missing.meaning,
        tiles=tuple(
            PublicFigure(_in_words(row.records, total), f"of the records break {row.k}-anonymity")
            for row in assessment.anonymity
        ),
        anonymity_ks=tuple(row.k for row in assessment.anonymity_curve),
        anonymity_shares=tuple(_share(a.records, total) for a in assessment.anonymity_curve),
        contribution_keys=tuple(" and ".join(c.keys) for c in single),
        contribution_shares=tuple(_share(c.uniques_removed, uniques) for c in single),
        risk_labels=tuple(label for label, _ in records),
        risk_shares=tuple(_share(n, total) for _, n in records),
        risk_meaning=_risk_meaning(assessment),
        smallest=SMALLEST,
        version=assessment.settings.versions["discreet"],
    )


def first_distribution(assessment: Assessment) -> RiskDistribution:
    """How risk is spread over the records under the first model that says so."""
    results = [r for r in assessment.models.values() if isinstance(r, ModelResult)]
    found = (r.distribution for r in results if r.distribution is not None)
    return next(found, RiskDistribution.empty())


def risk_classes(distribution: RiskDistribution) -> list[tuple[str, int]]:
    """Classes of risk with their records, without the empty classes below the first filled one."""
    names = [f"{_edge(a)}–{_edge(b)}" for a, b in pairwise(EDGES)]
    pairs = list(zip(names, (int(n) for n in distribution.records), strict=True))
    first = next((i for i, (_, n) in enumerate(pairs) if n), len(pairs) - 1)
    return pairs[min(first, len(pairs) - 4) :]


def _edge(value: float) -> str:
    return f"{value:g}"


def rounded(records: int) -> str:
    """The size of the file to two digits: enough for a reader, useless for differencing."""
    if records < SMALLEST:
        return f"Fewer than {SMALLEST} records"
    step = 10 ** max(len(str(records)) - 2, 0)
    return f"About {round(records / step) * step:,} records"


def _share(part: int, whole: int) -> float:
    """A share in whole percent, and 0 for fewer than SMALLEST."""
    return 0.0 if part < SMALLEST or whole == 0 else round(part / whole, 2)


def _in_words(part: int, whole: int) -> str:
    if part < SMALLEST:
        return f"under {SMALLEST} records" if whole >= SMALLEST else "not shown"
    return f"{_share(part, whole):.0%}".replace("%", " %")


def _risk_meaning(assessment: Assessment) -> str:
    named: Sequence[ModelResult] = [
        r for r in assessment.models.values() if isinstance(r, ModelResult) and r.distribution
    ]
    return named[0].assumption if named else "No model gave a risk for each record."
