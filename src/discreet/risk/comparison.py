"""The main figures under every policy for missing values, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discreet.data.missing import POLICIES, MissingPolicy
from discreet.errors import MissingError
from discreet.figures import Unavailable
from discreet.risk.anonymity import Anonymity
from discreet.risk.assessment import assess


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyFigures:
    """What one policy makes of the file."""

    policy: MissingPolicy
    n_records: int
    n_cells: int
    sample_uniques: int
    anonymity: tuple[Anonymity, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyComparison:
    """Every policy by name: its figures, or why it has none."""

    source: str
    n_incomplete: int
    policies: dict[str, PolicyFigures | Unavailable]


def compare_policies(
    source: Any, keys: Sequence[str], *, missing_weight: float = 1.0, **options: Any
) -> PolicyComparison:
    """Assess the file once under each policy; `options` are those of `assess`."""
    found: dict[str, PolicyFigures | Unavailable] = {}
    name, n_incomplete = "", 0
    for policy in POLICIES.values():
        try:
            assessment = assess(
                source,
                keys,
                missing=policy.name,
                missing_weight=missing_weight if policy.matching == "wildcard" else 1.0,
                models=["sample_frequency"],
                **options,
            )
        except MissingError as reason:
            found[policy.name] = Unavailable(str(reason))
            continue
        name, n_incomplete = assessment.settings.source, assessment.n_incomplete
        found[policy.name] = PolicyFigures(
            policy=policy,
            n_records=assessment.summary.sample_size,
            n_cells=assessment.size_indices.n_cells,
            sample_uniques=assessment.sample_uniques,
            anonymity=assessment.anonymity,
        )
    return PolicyComparison(source=name, n_incomplete=n_incomplete, policies=found)
