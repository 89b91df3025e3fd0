"""Scenarios: sets of keys that different intruders may know, and the worst of them per record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.data.cells import CellBatch
from discreet.data.summary import SizeIndices
from discreet.engines.contract import Cells
from discreet.engines.steps import NothingKept
from discreet.numerics.arrays import FloatArray
from discreet.numerics.exact_sums import as_float, exact_sum
from discreet.survey.anonymity import Anonymity, anonymity_curve
from discreet.survey.headline.recommendation import Recommended
from discreet.survey.headline.record_risk import RISK
from discreet.survey.leading import Known, estimated

WORST = "worst_scenario_match_probability"


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
    """All scenarios. Beside the cells of all keys lie the `columns`: the recommended risk, where
    there is one, and the match probability 1/f in each of them, and the greatest of the latter, the
    risk of a record whatever the intruder turns out to know.
    """

    each: tuple[Scenario, ...]
    columns: tuple[str, ...]
    worst_correct_matches: float


def assess_scenarios(
    cells: Cells,
    scenarios: Mapping[str, Sequence[str]],
    levels: Sequence[int],
    known: Known,
    *,
    nesting: bool = True,
) -> Scenarios:
    """The figures of each scenario. Trusted: its keys are among those of the cells, each once."""
    each: list[Scenario] = []
    matches: list[str] = []
    risks: list[str] = []
    for name, keys in scenarios.items():
        view = cells.space.itself().of_keys([cells.space.names.index(key) for key in keys])
        coarser = cells.seen_through(view)
        found = estimated(coarser, known.seen_through(view), nesting=nesting)
        coarser.add(MatchProbability())
        taken = {MatchProbability.gives[0]: f"scenario_{name}_match_probability"}
        if found.risks is not None:
            coarser.add(found.risks)
            taken[RISK] = f"scenario_{name}_risk"
            risks.append(taken[RISK])
        cells.take(coarser, view, taken)
        matches.append(taken[MatchProbability.gives[0]])
        sizes = coarser.size_indices()
        each.append(
            Scenario(
                name=name,
                keys=tuple(keys),
                size_indices=sizes,
                anonymity=anonymity_curve(sizes, levels),
                correct_matches=as_float(cells.fold(ExpectedMatches(matches[-1]))),
                recommended=found.recommended,
            )
        )
    cells.add(Worst(tuple(matches)))
    return Scenarios(
        each=tuple(each),
        columns=(*risks, *matches, WORST),
        worst_correct_matches=as_float(cells.fold(ExpectedMatches(WORST))),
    )


@dataclass(frozen=True)
class MatchProbability(NothingKept):
    """1/f of each cell."""

    gives = ("match_probability",)

    def of(self, batch: CellBatch) -> tuple[Mapping[str, FloatArray], None]:
        """Of some cells."""
        return {self.gives[0]: 1.0 / batch.sample_count}, None


@dataclass(frozen=True)
class Worst(NothingKept):
    """The greatest of some columns."""

    reads: tuple[str, ...]
    gives = (WORST,)

    def of(self, batch: CellBatch) -> tuple[Mapping[str, FloatArray], None]:
        """Of some cells."""
        return {WORST: np.max(np.stack([batch.extra[name] for name in self.reads]), axis=0)}, None


@dataclass(frozen=True)
class ExpectedMatches:
    """The exact sum of a probability over the records."""

    column: str

    @property
    def reads(self) -> tuple[str, ...]:
        """The probability."""
        return (self.column,)

    def of(self, batch: CellBatch) -> int:
        """Of some cells."""
        return exact_sum(batch.n_records * batch.extra[self.column])

    def joined(self, one: int, other: int) -> int:
        """Of the cells of both."""
        return one + other
