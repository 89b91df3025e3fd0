"""A protection as JSON, with stable names."""

from typing import Any

from discreet.protection.protected import FrontierPoint, Protected
from discreet.report.assess.json import assessment_json
from discreet.report.render_json import known, of_kind


@of_kind("protect")
def protect_json(found: Protected) -> dict[str, Any]:
    """All of it; it names risky combinations and holds the recipe with its seed, so it is as
    confidential as the data."""
    return {
        **known(verdict=None if found.verdict is None else found.verdict.to_json()),
        "reached": found.reached,
        "records": found.n_records,
        "guarantee": found.options.guarantee,
        "loss": found.loss.to_json() | known(least_suppressed_values=_least(found)),
        "recipe": found.recipe.to_data(),
        "changes": [
            {"does": step.in_words, "still_possible": step.still_possible}
            for step in found.recipe.steps
        ],
        "frontier": [_point(one) for one in found.frontier],
        **known(search=_search(found)),
        "by_chance": [
            {"method": one.method, "looks_alone": one.looks_alone, "right": one.right.to_json()}
            for one in found.by_chance
        ],
        "analyses": {name: one.to_json() for name, one in found.analyses.items()},
        **({"notes": list(found.notes)} if found.notes else {}),
        **({"what_would_give": list(found.closest)} if found.closest else {}),
        **known(written=None if found.output is None else str(found.output)),
        "assessment": assessment_json(found.assessment),
        "before": assessment_json(found.before),
    }


def _least(found: Protected) -> dict[str, Any] | None:
    if found.least_values is None or found.options.importance:
        return None
    return {"lower": found.least_values, "how": "certified bound"}


def _point(one: FrontierPoint) -> dict[str, Any]:
    return {
        "k": one.k,
        "changes": list(one.changes),
        "suppressed_values": one.suppressed,
        "loss": one.loss,
        "largest_risk": one.largest_risk.to_json(),
        "expected_population_uniques": one.population_uniques.to_json(),
        **known(verdict=None if one.ruling is None else one.ruling.value),
        "chosen": one.chosen,
    }


def _search(found: Protected) -> dict[str, Any] | None:
    one = found.searched
    if one is None:
        return None
    return {
        "recodings": one.n_nodes,
        "counted": one.n_looked_at,
        "loss": one.loss,
        "proved": one.proved,
        "gap": one.gap,
    }
