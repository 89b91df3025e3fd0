"""Scenarios: sets of keys that different intruders may know, and the worst of them per record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.data.summary import SizeIndices
from discreet.numerics.arrays import FloatArray, read_only
from discreet.survey.anonymity import Anonymity, anonymity_curve
from discreet.survey.projection import AllCells


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """What stands out for an intruder who knows these keys. Exact.

    `correct_matches` is Σ 1/f over the records: persons found by trying every record once.
    """

    name: str
    keys: tuple[str, ...]
    size_indices: SizeIndices
    anonymity: tuple[Anonymity, ...]
    correct_matches: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenarios:
    """All scenarios, and for each cell of all keys the match probability 1/f in each of them.

    `worst` is the greatest of them: the risk of a record whatever the intruder turns out to know.
    """

    each: tuple[Scenario, ...]
    match_probability: Mapping[str, FloatArray]
    worst_correct_matches: float

    @property
    def worst(self) -> FloatArray:
        """The greatest match probability over the scenarios, for each cell."""
        worst: FloatArray = np.max(np.stack(list(self.match_probability.values())), axis=0)
        return worst

    def columns(self) -> dict[str, FloatArray]:
        """What goes into the file of records."""
        named = {f"scenario_{n}_match_probability": r for n, r in self.match_probability.items()}
        return named | {"worst_scenario_match_probability": self.worst}


def assess_scenarios(
    cells: AllCells, scenarios: Mapping[str, Sequence[str]], levels: Sequence[int]
) -> Scenarios:
    """The figures of each scenario. Trusted: its keys are among those of the cells, each once."""
    each: list[Scenario] = []
    risks: dict[str, FloatArray] = {}
    for name, keys in scenarios.items():
        projection = cells.project([cells.names.index(key) for key in keys])
        sizes, risk = projection.size_indices(), projection.match_probability()
        each.append(
            Scenario(
                name=name,
                keys=tuple(keys),
                size_indices=sizes,
                anonymity=anonymity_curve(sizes, levels),
                correct_matches=float(cells.records @ risk),
            )
        )
        risks[name] = read_only(risk)
    worst = np.max(np.stack(list(risks.values())), axis=0)
    return Scenarios(
        each=tuple(each),
        match_probability=risks,
        worst_correct_matches=float(cells.records @ worst),
    )
