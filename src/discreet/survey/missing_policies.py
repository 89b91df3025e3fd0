"""A file under every policy for missing values, side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.data.missing import POLICIES
from discreet.errors import MissingError
from discreet.figures import Unavailable
from discreet.survey.assessment import Assessment, assess
from discreet.survey.suda.matching import MatchingTooLongError
from discreet.survey.validation import checked_match_weight

MODEL_INPUTS = ("weight", "population_size", "n_table_cells", "structural_zeros", "shrinkage")


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyComparison:
    """What each policy, by name, makes of the file, or why it makes nothing of it.

    `with_models` says whether models of the population were asked for.
    """

    source: str
    n_incomplete: int
    with_models: bool
    policies: Mapping[str, Assessment | Unavailable]


def compare_policies(
    source: Any,
    keys: Sequence[str] | None = None,
    *,
    models: str | Sequence[str] | None = None,
    missing_weight: float = 1.0,
    **options: Any,
) -> PolicyComparison:
    """Assess the file once under each policy; `options` are those of `assess`.

    Models are run if they are named, or if something is given that only they have a use for:
    a weight, the size of the population, possible or impossible cells, a shrinkage.
    """
    checked_match_weight(missing_weight, "wildcard")
    with_models = models is not None or any(options.get(name) is not None for name in MODEL_INPUTS)
    chosen = (models or "auto") if with_models else ["sample_frequency"]
    found: dict[str, Assessment | Unavailable] = {}
    for policy in POLICIES.values():
        weight = missing_weight if policy.matching == "wildcard" else 1.0
        given = options | {"missing": policy.name, "missing_weight": weight, "models": chosen}
        try:
            found[policy.name] = assess(source, keys, **given)
        except MissingError as reason:
            too_much = isinstance(reason, MatchingTooLongError)
            if policy.is_a_level and not too_much:  # it accepts any missing key: look elsewhere
                raise
            found[policy.name] = Unavailable(str(reason))
    first = next(a for a in found.values() if isinstance(a, Assessment))
    return PolicyComparison(
        source=first.settings.source,
        n_incomplete=first.n_incomplete,
        with_models=with_models,
        policies=found,
    )
