"""A survey drawn from a population, and the truth about its risk that only a census can tell."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InputError, must_be
from discreet.numerics.arrays import FloatArray, IntArray, read_only
from discreet.synthetic import levels as of
from discreet.synthetic.population import Population

if TYPE_CHECKING:
    import pyarrow as pa

WEIGHT_DECIMALS = 4
# How much likelier a person is to be asked than one of no group below; the factors multiply.
OLD_AGE, OLD_AGE_RATE = 75, 2.0
TYPE_RATES = {of.LONE_FATHER: 1.8, of.LONE_MOTHER: 1.5}
TYPE_RATES |= {of.SEVERAL_GENERATIONS: 1.5, of.GROUP_QUARTERS: 0.6}


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """Persons sampled from a population.

    `positions` are their rows there, ascending; `inclusion_probability` is what the design gave
    each of them, `weight` its inverse after calibration to the population size, at least 1.
    """

    positions: IntArray
    inclusion_probability: FloatArray
    weight: FloatArray

    def __post_init__(self) -> None:
        for column in (self.positions, self.inclusion_probability, self.weight):
            read_only(column)

    def __len__(self) -> int:
        return len(self.positions)

    def to_arrow(self, population: Population) -> "pa.Table":
        """The survey file: the keys, `household` and `weight` of each sampled person.

        Trusted: this is the population that the survey was drawn from.
        """
        import pyarrow as pa

        return population.to_arrow(self.positions).append_column("weight", pa.array(self.weight))


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What only the maker of the population knows of each sampled record's cell.

    `sample_count` is f_k and `population_count` F_k of the cell the record is in.
    """

    sample_count: IntArray
    population_count: IntArray

    def __post_init__(self) -> None:
        for column in (self.sample_count, self.population_count):
            read_only(column)

    @property
    def sample_uniques(self) -> int:
        """Records alone in their cell in the survey."""
        return int((self.sample_count == 1).sum())

    @property
    def population_uniques(self) -> int:
        """Sample uniques whose cell holds nobody else in the population either (τ₁)."""
        return int((self.population_count == 1).sum())

    @property
    def expected_correct_matches(self) -> float:
        """Σ 1 / F over the sampled records: matches right on average by picking at random (τ₂)."""
        return float((1.0 / self.population_count).sum())


def draw_survey(
    population: Population, expected_size: int = 10_000, *, rng: np.random.Generator
) -> Survey:
    """A Poisson sample of persons with unequal known inclusion probabilities.

    Everyone is asked or not independently of the others; old people, lone parents and families of
    several generations are over-sampled, group quarters under-sampled. Weights are the inverse
    probabilities, scaled to add up to the population size, at least 1, to four decimals.
    Checked: expected_size is from 1 to the population size.
    """
    if not 1 <= expected_size <= len(population):
        rule = f"from 1 to the population size {len(population)}"
        raise InputError(must_be("expected_size", rule, expected_size))
    probability = inclusion_probabilities(sampling_rates(population), expected_size)
    positions = np.flatnonzero(rng.random(len(population)) < probability)
    chosen = probability[positions]
    weight = calibrated(1.0 / chosen, len(population))
    return Survey(positions=positions, inclusion_probability=chosen, weight=weight)


def sampling_rates(population: Population) -> FloatArray:
    """How much likelier than others each person is to be sampled."""
    by_type = np.array([TYPE_RATES.get(kind, 1.0) for kind in range(10)])
    rates = by_type[population.codes["household_type"]]
    return rates * np.where(population.codes["age"] >= OLD_AGE, OLD_AGE_RATE, 1.0)


def inclusion_probabilities(rates: FloatArray, expected_size: int) -> FloatArray:
    """Probabilities proportional to the rates where below 1, adding up to `expected_size`.

    Persons whose share would exceed 1 are certain, and the rest of the expected size is shared out
    again among the others, until no share exceeds 1. Trusted: rates are positive, at least as
    many as `expected_size`.
    """
    probability = np.ones_like(rates)
    open_ = np.ones(len(rates), dtype=bool)
    while open_.any():
        left = expected_size - int((~open_).sum())
        probability[open_] = rates[open_] * (left / rates[open_].sum())
        above = probability > 1.0
        probability[above] = 1.0
        if not above.any():
            break
        open_ &= ~above
    return probability


def calibrated(weight: FloatArray, population_size: int) -> FloatArray:
    """Weights scaled to the population size, none below 1, to four decimals; empty stays empty."""
    factor = population_size / weight.sum() if len(weight) else 1.0
    scaled: FloatArray = np.maximum(np.round(weight * factor, WEIGHT_DECIMALS), 1.0)
    return scaled


def true_risks(population: Population, survey: Survey) -> Truth:
    """The population count of each sampled record's cell, by counting everyone.

    Trusted: the survey was drawn from this population.
    """
    everyone = population.cell_codes()
    sampled = everyone[survey.positions]
    return Truth(
        sample_count=count_equal(sampled, sampled),
        population_count=count_equal(everyone, sampled),
    )


def count_equal(among: IntArray, values: IntArray) -> IntArray:
    """How many entries of `among` equal each of `values`, all of which occur there."""
    distinct, counts = np.unique(among, return_counts=True)
    found: IntArray = counts[np.searchsorted(distinct, values)].astype(np.int64)
    return found
