"""With a file of the whole population: the true counts, and the risks that need no model."""

from dataclasses import dataclass

import numpy as np

from discreet.engines.contract import PopulationCounts
from discreet.errors import InputError, must_be
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.survey.presence import (
    AttackRisk,
    Presence,
    delta_presence,
    journalist_risk,
    marketer_risk,
    prosecutor_risk,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPopulation:
    """What is true of the sample, since the population is known. Exact.

    `population_uniques` are sample uniques that are alone in the population, `correct_matches` the
    sum of f/F: what models estimate. `n_left_out` records of the file lack a key and are not among
    the `population_size`, as the missing policy says.
    """

    population_size: int
    population_count: IntArray
    population_uniques: int
    correct_matches: float
    prosecutor: AttackRisk
    journalist: AttackRisk
    marketer: float
    presence: Presence
    n_left_out: int = 0

    def columns(self) -> dict[str, FloatArray]:
        """What goes into the file of records."""
        counts = self.population_count.astype(np.float64)
        return {"population_count": counts, "true_match_probability": 1.0 / counts}


def known_population(
    sample_count: IntArray, population: PopulationCounts, *, threshold: float = 0.2
) -> KnownPopulation:
    """The true figures; `threshold` is the risk above which a record is at risk.

    Checked: every cell of the sample has at least as many records in the population.
    """
    short = population.counts < sample_count
    if short.any():
        rule = "a file that holds the whole population, the sample in it"
        got = f"{int(short.sum()):,} cells with fewer records than the sample"
        remedy = "check that keys and codes are the same in both files"
        raise InputError(must_be("population file", rule, got, remedy=remedy))
    outside = population.total - int(population.counts.sum())
    f, F = sample_count, population.counts
    everywhere = (np.append(f, 0), np.append(F, outside)) if outside else (f, F)
    return KnownPopulation(
        population_size=population.total,
        population_count=F,
        population_uniques=int((F == 1).sum()),
        correct_matches=float((f / F).sum()),
        prosecutor=prosecutor_risk(f, threshold=threshold),
        journalist=journalist_risk(f, F, threshold=threshold),
        marketer=marketer_risk(f, F),
        presence=delta_presence(*everywhere),
        n_left_out=population.n_left_out,
    )
