"""A made-up population, a survey drawn from it, and the truth about the survey's risk.

Real populations are never known in full, so how good an estimate of risk is can only be seen on a
population like this one: persons in households whose ten keys have the sizes of takemura section 3,
with skewed frequencies and many combinations that cannot occur.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.data.coding import Coding
from discreet.errors import InputError, must_be
from discreet.numerics.arrays import FloatArray, IntArray, read_only
from discreet.synthetic.families import (
    household_types,
    own_child_ages,
    related_children,
    spouse_statuses,
)
from discreet.synthetic.households import draw_households
from discreet.synthetic.levels import KEY_LABELS, HouseholdType
from discreet.synthetic.persons import (
    Roster,
    draw_ages,
    draw_birthplaces,
    draw_marital_statuses,
    draw_sexes,
    enrol,
    with_spouse,
)

if TYPE_CHECKING:
    import pyarrow as pa

SmallInts = NDArray[np.int8]
LARGEST_SIZE = 2**31 - 1  # household numbers are 32-bit
PLAIN_KEYS = frozenset({"age"})  # numbers in their own right, not coded labels
WEIGHT_DECIMALS = 4

# How much likelier a person is to be asked than one of no group below; the factors multiply.
OLD_AGE, OLD_AGE_RATE = 75, 2.0
TYPE_RATES: Mapping[HouseholdType, float] = {
    HouseholdType.LONE_FATHER: 1.8,
    HouseholdType.LONE_MOTHER: 1.5,
    HouseholdType.SEVERAL_GENERATIONS: 1.5,
    HouseholdType.GROUP_QUARTERS: 0.6,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """Persons in households: `codes[key][i]` is the level of person i, named by `labels[key]`.

    Persons of a household stand together; `household` ascends from 0.
    """

    codes: Mapping[str, SmallInts]
    labels: Mapping[str, tuple[str, ...]]
    household: NDArray[np.int32]

    def __post_init__(self) -> None:
        for codes in self.codes.values():
            read_only(codes)
        read_only(self.household)

    def __len__(self) -> int:
        return len(self.household)

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the key variables."""
        return tuple(self.codes)

    @property
    def coding(self) -> Coding:
        """The code of a combination of all keys."""
        return Coding.of_sizes([len(self.labels[key]) for key in self.keys])

    def cell_codes(self) -> IntArray:
        """One number for each person that tells in which cell of the ten-way table he or she is."""
        levels = np.array([self.codes[key] for key in self.keys], dtype=np.int64).T
        words = self.coding.encode(levels)
        return words[:, 0]

    def to_arrow(self, positions: IntArray | None = None) -> "pa.Table":
        """These persons (all of them unless positions are given): the keys, then `household`.

        Keys are dictionary-encoded labels, age is a number of years.
        """
        import pyarrow as pa

        rows = slice(None) if positions is None else positions
        columns = {key: self._arrow_key(key, self.codes[key][rows]) for key in self.keys}
        return pa.table(columns | {"household": pa.array(self.household[rows])})

    def _arrow_key(self, key: str, codes: SmallInts) -> "pa.Array":
        import pyarrow as pa

        if key in PLAIN_KEYS:
            return pa.array(codes)
        return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(self.labels[key]))


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


def census_population(size: int = 2_000_000, *, rng: np.random.Generator) -> Population:
    """A census-like population of exactly `size` persons in households, all of it made up.

    The ten keys have 14, 2, 91, 5, 14, 7, 2, 5, 2 and 10 levels (takemura section 3); in a small
    population some of them do not occur. Checked: size is from 1 to 2³¹ − 1.
    """
    if not 1 <= size <= LARGEST_SIZE:
        raise InputError(must_be("size", f"from 1 to {LARGEST_SIZE}", size))
    roster = enrol(draw_households(size, rng=rng))
    codes = draw_keys(roster, rng=rng)
    return Population(codes=codes, labels=dict(KEY_LABELS), household=roster.household)


def draw_keys(roster: Roster, *, rng: np.random.Generator) -> dict[str, SmallInts]:
    """The ten keys of everyone on the roster, in the order of their labels."""
    sex = draw_sexes(roster, rng=rng)
    age = draw_ages(roster, sex, rng=rng)
    married = with_spouse(roster)
    marital_status = draw_marital_statuses(roster, sex, age, married, rng=rng)
    own_child_age = own_child_ages(roster, age)
    return {
        "relationship": roster.relationship,
        "sex": sex,
        "age": age,
        "marital_status": marital_status,
        "birthplace": draw_birthplaces(roster, rng=rng),
        "spouse_status": spouse_statuses(age, marital_status, married),
        "own_child": (own_child_age > 0).astype(np.int8),
        "own_child_age": own_child_age,
        "related_child": related_children(roster, age).astype(np.int8),
        "household_type": household_types(roster, sex, age),
    }


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
    by_type = np.array([TYPE_RATES.get(kind, 1.0) for kind in HouseholdType])
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
