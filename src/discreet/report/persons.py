"""Persons that would be found, by each risk that there is of a record."""

from discreet.figures import Figure
from discreet.survey.assessment import Assessment
from discreet.survey.scoring import ModelResult


def expected_persons(assessment: Assessment) -> dict[str, float]:
    """Expected correct matches by the name of the risk: a model, `scenario_…`, `worst_scenario`,
    or `true` for the file of the population."""
    found: dict[str, float] = {}
    for name, result in assessment.models.items():
        if isinstance(result, ModelResult):
            matches = result.expected_correct_matches
            if isinstance(matches, Figure) and matches.value is not None:
                found[name] = matches.value
    if assessment.scenarios is not None:
        found |= {f"scenario_{s.name}": s.correct_matches for s in assessment.scenarios.each}
        found["worst_scenario"] = assessment.scenarios.worst_correct_matches
    if assessment.population is not None:
        found["true"] = assessment.population.correct_matches
    return found
