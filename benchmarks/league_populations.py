"""Populations of several kinds for the league, each with keys and a key to stratify by."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.numerics.arrays import FloatArray, IntArray
from discreet.synthetic.population import census_population

N = 50_000
SIZES = (4, 12, 7, 9, 30)  # 90,720 cells
CENSUS_KEYS = ("sex", "age", "marital_status", "birthplace", "spouse_status", "household_type")


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """A file of everybody: its keys, and the key whose levels get equal shares of a sample."""

    name: str
    records: Any
    keys: tuple[str, ...]
    stratum: str


def independent(rng: np.random.Generator) -> Population:
    """Keys that have nothing to do with each other, their levels uneven."""
    return _of_columns("independent", [rng.choice(s, N, p=_uneven(rng, s, 1.0)) for s in SIZES])


def two_way(rng: np.random.Generator) -> Population:
    """Log probabilities that are sums of normal main effects and all two-way terms."""
    logs = np.zeros(SIZES)
    for order, spread in ((1, 0.7), (2, 0.5)):
        for axes in itertools.combinations(range(len(SIZES)), order):
            logs = logs + spread * rng.standard_normal(_shape(axes))
    return _of_table("two-way", np.exp(logs), rng)


def latent_classes(rng: np.random.Generator) -> Population:
    """Twelve kinds of person; within each kind the keys are independent."""
    members = rng.choice(12, N, p=_uneven(rng, 12, 1.0))
    columns = []
    for size in SIZES:
        column = np.zeros(N, dtype=np.int64)
        for kind in range(12):
            here = members == kind
            column[here] = rng.choice(size, int(here.sum()), p=_uneven(rng, size, 1.5))
        columns.append(column)
    return _of_columns("latent classes", columns)


def structural_zeros(rng: np.random.Generator) -> Population:
    """Independent keys, but a tenth of the pairs of levels of each two keys cannot occur."""
    table = np.ones(SIZES)
    for axis, size in enumerate(SIZES):
        table = table * _uneven(rng, size, 0.8).reshape(_shape((axis,)))
    for axes in itertools.combinations(range(len(SIZES)), 2):
        table = table * (rng.random(_shape(axes)) > 0.1)
    return _of_table("structural zeros", table, rng)


def heavy_tails(rng: np.random.Generator) -> Population:
    """A place and an occupation of hundreds of levels by Zipf's law; region, age and sex.

    What a place and an occupation have to do with each other has lognormal strength; age and sex
    depend on the occupation, the region on nothing.
    """
    places, occupations, ages = 400, 250, 60
    joint = 1 / np.outer(np.arange(1, places + 1), np.arange(1, occupations + 1))
    joint *= np.exp(1.5 * rng.standard_normal(joint.shape))
    place, occupation = np.unravel_index(
        rng.choice(joint.size, N, p=(joint / joint.sum()).ravel()), joint.shape
    )
    centre, spread = rng.uniform(10, 50, occupations), rng.uniform(4, 15, occupations)
    age = np.clip(np.rint(rng.normal(centre[occupation], spread[occupation])), 0, ages - 1)
    sex = (rng.random(N) < rng.beta(1, 1, occupations)[occupation]).astype(np.int64)
    region = rng.choice(6, N, p=_uneven(rng, 6, 1.0))
    return _of_columns("heavy tails", [place, occupation, region, age.astype(np.int64), sex])


def census(rng: np.random.Generator) -> Population:
    """Persons in households, six of the ten keys."""
    people = census_population(2 * N, rng=rng)
    table = people.to_arrow().select(CENSUS_KEYS)
    return Population(
        name="made-up census", records=table, keys=CENSUS_KEYS, stratum="household_type"
    )


def long_key(rng: np.random.Generator) -> Population:
    """Few keys, one of them a place of 5,000 levels by Zipf's law, most of which no sample
    sees.
    """
    shares = 1 / np.arange(1, 5001)
    place = rng.choice(5000, N, p=shares / shares.sum())
    others = [rng.choice(size, N, p=_uneven(rng, size, 1.0)) for size in (2, 5)]
    return _of_columns("one long key", [place, *others])


def from_file(name: str, path: Path, keys: Sequence[str], stratum: str) -> Population:
    """A file taken as a population."""
    return Population(name=name, records=str(path), keys=tuple(keys), stratum=stratum)


MADE_UP: tuple[Callable[[np.random.Generator], Population], ...] = (
    independent,
    two_way,
    latent_classes,
    structural_zeros,
    heavy_tails,
    census,
    long_key,
)


def _uneven(rng: np.random.Generator, size: int, spread: float) -> FloatArray:
    """Lognormal shares of the levels of a key."""
    weight: FloatArray = np.exp(spread * rng.standard_normal(size))
    shares: FloatArray = weight / weight.sum()
    return shares


def _shape(axes: Sequence[int]) -> tuple[int, ...]:
    """The shape of an array over some of the keys that fits into the table of all."""
    return tuple(size if axis in axes else 1 for axis, size in enumerate(SIZES))


def _of_table(name: str, weight: FloatArray, rng: np.random.Generator) -> Population:
    """N persons drawn with probabilities in proportion to `weight`."""
    counts = rng.multinomial(N, (weight / weight.sum()).ravel())
    cells = np.repeat(np.arange(weight.size), counts)
    return _of_columns(name, list(np.unravel_index(cells, weight.shape)))


def _of_columns(name: str, columns: Sequence[IntArray]) -> Population:
    """Persons with these levels; the third key is the one to stratify by."""
    named = {f"key {place + 1}": column for place, column in enumerate(columns)}
    return Population(name=name, records=pa.table(named), keys=tuple(named), stratum="key 3")
