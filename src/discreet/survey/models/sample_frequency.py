"""The simplest model: risk 1/f, for an intruder who knows that the person is in the file."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from discreet.data.cells import CellBatch
from discreet.data.summary import Summary
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.survey.models.contract import MATCH, CellScores, Need, Tally


@dataclass(frozen=True, slots=True)
class SampleFrequency:
    """Match probability 1/f_k; nothing is inferred about the population."""

    name: str = "sample_frequency"
    assumption: str = (
        "The intruder knows that the person is in the file and picks among the records of the same "
        "key combination at random."
    )
    needs: frozenset[Need] = frozenset()

    def fit(self, summary: Summary) -> "FittedSampleFrequency":
        """Keeps what bounds the number of population uniques."""
        whole = summary.population_size_known and summary.population_size == summary.sample_size
        return FittedSampleFrequency(
            sample_uniques=summary.size_indices.sample_uniques,
            is_population=whole,
            is_partition=summary.size_indices.is_partition,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedSampleFrequency:
    """Scores 1/f_k, and the certain limits on the number of population uniques."""

    sample_uniques: int
    is_population: bool
    is_partition: bool = True

    gives: ClassVar[tuple[str, ...]] = (MATCH,)

    @property
    def parameters(self) -> Mapping[str, float | int | str]:
        """None are fitted."""
        return {}

    def score(self, batch: CellBatch) -> CellScores:
        """1/f for every record of the cell; no unique probability without a population."""
        return CellScores(unique_probability=None, match_probability=1.0 / batch.sample_count)

    def expected_population_uniques(self, tally: Tally) -> Outcome:
        """Between none and all of the sample uniques; all, if the file is the population."""
        if not self.is_partition:
            return Unavailable(
                "a match that needs a missing value does not prove that there is another person; "
                "choose category or drop for missing values"
            )
        uniques = self.sample_uniques
        if self.is_population or uniques == 0:
            return Figure(value=uniques, low=uniques, high=uniques, how=How.EXACT)
        note = "no more can be said without a model of the population"
        return Figure(value=None, low=0, high=uniques, how=How.BOUND, note=note)

    def expected_correct_matches(self, tally: Tally) -> Outcome:
        """Σ 1/f over the records: the number of occupied cells, where cells are a partition."""
        matches = round(tally.matches) if self.is_partition else tally.matches
        return Figure(value=matches, low=matches, high=matches, how=How.EXACT)

    def caution(self, tally: Tally) -> str | None:
        """It claims nothing about the population that could mislead."""
        return None
