"""Samples by the designs that surveys use, with what is true of each.

A design says who is drawn, and what an analyst would be told: a weight, a household, an area, a
stratum. Each sample has a generator of its own, seeded by its name, so that whoever draws it again
draws the same.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from hashlib import sha256
from math import sqrt
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.populations.population import Population, codes_of
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray
from discreet.survey.backtest.sampling_trial import equal_allocation
from discreet.survey.options import AssessOptions

FRACTIONS = (0.005, 0.01, 0.03, 0.1, 0.3)
FEWEST_RECORDS = 150
FEWEST_CLUSTERS = 2
HIGHEST_RATE = 0.9
RATES_APART = 0.8  # standard deviation of the logs of the rates of a key's levels


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """Who is in a sample (rows of the population, ascending), with a weight if it says more than
    the fraction, and the options that tell an assessment of the design."""

    rows: IntArray
    weight: FloatArray | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Records as an analyst has them, the options to assess them with, and the truth: how many
    persons of the population (F) and records of the sample (f) are of each record's cell."""

    population: str
    design: str
    fraction: float
    repeat: int
    population_size: int
    records: Any
    options: Mapping[str, Any]
    in_population: IntArray
    in_sample: IntArray

    def __len__(self) -> int:
        return len(self.in_population)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys."""
        return tuple(self.options["keys"])

    @cached_property
    def unique(self) -> BoolArray:
        """Which records are sample uniques."""
        alone: BoolArray = self.in_sample == 1
        return alone

    @property
    def population_uniques(self) -> int:
        """Sample uniques that are population uniques."""
        return int((self.in_population == 1).sum())

    @property
    def correct_matches(self) -> float:
        """What an intruder gets right who matches each record with somebody of its cell."""
        return float((1 / self.in_population).sum())


Design = Callable[[Population, float, np.random.Generator], Drawn]


def simple(population: Population, fraction: float, rng: np.random.Generator) -> Drawn:
    """Simple random sampling without replacement."""
    return Drawn(rows=_some(len(population), fraction * len(population), rng))


def poisson(population: Population, fraction: float, rng: np.random.Generator) -> Drawn:
    """Each person by itself, at a rate that goes by the level of a key; the weight is its inverse.

    The rates of the levels are lognormal and are the same for all samples of a fraction.
    """
    level = codes_of(population.table[population.rated])
    own = _generator(population.name, "rates")
    relative = np.exp(RATES_APART * own.standard_normal(int(level.max()) + 1))[level]
    rate = _scaled(relative, fraction)
    rows = np.flatnonzero(rng.random(len(population)) < rate)
    return Drawn(rows=rows, weight=1 / rate[rows], options={"weight": "weight"})


def stratified(population: Population, fraction: float, rng: np.random.Generator) -> Drawn:
    """As many persons from each stratum, as far as it has them; weighted by its size over its
    sample."""
    stratum = population.stratum
    held = np.bincount(stratum)
    shares = equal_allocation(held, round(fraction * len(population)))
    order = rng.permutation(len(population))
    by_stratum = order[np.argsort(stratum[order], kind="stable")]
    rank = np.arange(len(order)) - (np.cumsum(held) - held)[stratum[by_stratum]]
    rows = np.sort(by_stratum[rank < shares[stratum[by_stratum]]])
    return Drawn(
        rows=rows,
        weight=(held / shares)[stratum[rows]],
        options={"weight": "weight", "stratum": "stratum"},
    )


def clusters(population: Population, fraction: float, rng: np.random.Generator) -> Drawn:
    """Areas simply at random, and the same share of the persons of each.

    Of C areas about C·√fraction are drawn, and √fraction of their persons, so that areas and
    persons are about equally rare.
    """
    number = _areas(population)
    several = max(round(sqrt(fraction) * number), FEWEST_CLUSTERS)
    return _of_areas(population, several, min(fraction * number / several, 1.0), rng)


def whole_clusters(population: Population, fraction: float, rng: np.random.Generator) -> Drawn:
    """Areas simply at random, with all their persons; there are two areas at least."""
    return _of_areas(population, round(fraction * _areas(population)), 1.0, rng)


def whole_households(population: Population, fraction: float, rng: np.random.Generator) -> Drawn:
    """Households simply at random, with all their members."""
    assert population.household is not None
    number = int(population.household.max()) + 1
    chosen = _some(number, fraction * number, rng)
    rows = np.flatnonzero(np.isin(population.household, chosen))
    return Drawn(rows=rows, options={"household": "household"})


DESIGNS: dict[str, Design] = {
    "simple": simple,
    "poisson": poisson,
    "stratified": stratified,
    "clusters": clusters,
    "whole-clusters": whole_clusters,
    "households": whole_households,
}
NEEDS = {"clusters": "area", "whole-clusters": "area", "households": "household"}


def is_possible(population: Population, design: str, fraction: float) -> bool:
    """Whether the population has what the design draws, and the sample would not be too small."""
    if fraction * len(population) < FEWEST_RECORDS:
        return False
    if design in NEEDS and getattr(population, NEEDS[design]) is None:
        return False
    return design != "whole-clusters" or round(fraction * _areas(population)) >= FEWEST_CLUSTERS


def draw(population: Population, design: str, fraction: float, repeat: int) -> Sample:
    """The sample of this name."""
    rng = _generator(population.name, design, f"{fraction:g}", str(repeat))
    drawn = DESIGNS[design](population, fraction, rng)
    cell = population.cells[drawn.rows]
    options = {"keys": population.keys, "population": len(population), **drawn.options}
    return Sample(
        population=population.name,
        design=design,
        fraction=fraction,
        repeat=repeat,
        population_size=len(population),
        records=_told(population, drawn),
        options=understood(options),
        in_population=population.counts[cell],
        in_sample=np.bincount(cell)[cell],
    )


def understood(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that an assessment has, so that a version without some of them can be compared
    with one that has them all."""
    known = {each.name for each in fields(AssessOptions)}
    return {name: value for name, value in options.items() if name in known}


def _told(population: Population, drawn: Drawn) -> pa.Table:
    """The keys of those drawn, and the columns that the options speak of."""
    columns = dict(zip(population.keys, population.table.take(drawn.rows).columns, strict=True))
    own = {"area": population.area, "household": population.household}
    own["stratum"] = population.stratum
    for name, values in own.items():
        if values is not None and name in drawn.options.values():
            columns[name] = pa.array(values[drawn.rows])
    if drawn.weight is not None:
        columns["weight"] = pa.array(drawn.weight)
    return pa.table(columns)


def _areas(population: Population) -> int:
    """How many areas there are."""
    assert population.area is not None
    return int(population.area.max()) + 1


def _of_areas(
    population: Population, several: int, within: float, rng: np.random.Generator
) -> Drawn:
    """So many areas, and of each this share of its persons."""
    area, number = population.area, _areas(population)
    rows = [
        _some_of(np.flatnonzero(area == each), within, rng)
        for each in rng.choice(number, several, replace=False)
    ]
    options: dict[str, Any] = {"cluster": "area"}
    if within < 1:  # else they are taken whole, which is what the product takes for granted
        options["clusters"] = number
    return Drawn(rows=np.sort(np.concatenate(rows)), options=options)


def _some_of(rows: IntArray, share: float, rng: np.random.Generator) -> IntArray:
    """This share of the rows; the chance decides on a part of a row."""
    if share == 1:
        return rows
    return rows[_some(len(rows), int(share * len(rows) + rng.random()), rng)]


def _some(number: int, size: float, rng: np.random.Generator) -> IntArray:
    """Round(`size`) of so many, ascending."""
    return np.sort(rng.choice(number, round(size), replace=False)).astype(np.int64)


def _scaled(relative: FloatArray, fraction: float) -> FloatArray:
    """Rates in proportion to these, with this mean; none above 0.9."""
    factor = fraction / relative.mean()
    for _ in range(50):
        rate = np.minimum(factor * relative, HIGHEST_RATE)
        factor *= fraction / rate.mean()
    found: FloatArray = np.minimum(factor * relative, HIGHEST_RATE)
    return found


def _generator(*words: str) -> np.random.Generator:
    """A generator seeded by these words."""
    digest = sha256("/".join(words).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))
