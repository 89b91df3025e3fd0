"""Scenarios: sets of keys that different intruders may know, and the worst of them per record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.data.summary import SizeIndices
from discreet.numerics.arrays import FloatArray, read_only
from discreet.survey.anonymity import Anonymity, anonymity_curve
from discreet.survey.headline.recommendation import Recommended
from discreet.survey.leading import Known, estimated
from discreet.survey.projection import AllCells


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """What stands out for an intruder who knows these keys.

    `correct_matches` is Σ 1/f over the records: persons found by trying every record once, by
    someone who knows that they are in the file. Exact. `recommended` is the estimate of the
    population uniques and the correct matches among everybody.
    """

    name: str
    keys: tuple[str, ...]
    size_indices: SizeIndices
    anonymity: tuple[Anonymity, ...]
    correct_matches: float
    recommended: Recommended


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenarios:
    """All scenarios, and for each cell of all keys the match probability 1/f and the recommended
    risk, where there is one, in each of them.

    `worst` is the greatest of them: the risk of a record whatever the intruder turns out to know.
    """

    each: tuple[Scenario, ...]
    match_probability: Mapping[str, FloatArray]
    risk: Mapping[str, FloatArray]
    worst_correct_matches: float

    @property
    def worst(self) -> FloatArray:
        """The greatest match probability over the scenarios, for each cell."""
        worst: FloatArray = np.max(np.stack(list(self.match_probability.values())), axis=0)
        return worst

    def columns(self) -> dict[str, FloatArray]:
        """What goes into the file of records."""
        risks = {f"scenario_{n}_risk": r for n, r in self.risk.items()}
        named = {f"scenario_{n}_match_probability": r for n, r in self.match_probability.items()}
        return risks | named | {"worst_scenario_match_probability": self.worst}


def assess_scenarios(
    cells: AllCells,
    scenarios: Mapping[str, Sequence[str]],
    levels: Sequence[int],
    known: Known,
) -> Scenarios:
    """The figures of each scenario. Trusted: its keys are among those of the cells, each once."""
    each: list[Scenario] = []
    risks: dict[str, FloatArray] = {}
    recommended: dict[str, FloatArray] = {}
    for name, keys in scenarios.items():
        projection = cells.project([cells.names.index(key) for key in keys])
        sizes, risk = projection.size_indices(), projection.match_probability()
        place = projection.place
        found = estimated(projection.cells, known.seen_through(place, len(projection.records)))
        if found.risks is not None:
            recommended[name] = read_only(found.risks.risk[place])
        each.append(
            Scenario(
                name=name,
                keys=tuple(keys),
                size_indices=sizes,
                anonymity=anonymity_curve(sizes, levels),
                correct_matches=float(cells.records @ risk),
                recommended=found.recommended,
            )
        )
        risks[name] = read_only(risk)
    worst = np.max(np.stack(list(risks.values())), axis=0)
    return Scenarios(
        each=tuple(each),
        match_probability=risks,
        risk=recommended,
        worst_correct_matches=float(cells.records @ worst),
    )
