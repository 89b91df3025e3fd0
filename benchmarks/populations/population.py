"""A population known in full: its persons, what they belong to, and how many share each cell."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.populations.dependence import DEPENDENCES
from benchmarks.populations.groups import (
    allotted,
    area_sizes,
    effects,
    households,
    regions_of,
)
from benchmarks.populations.recipes import Areas, Recipe
from discreet.numerics.arrays import IntArray

LONGEST_STRATUM = 15  # levels of a key that is taken for the strata where there are no others


@dataclass(frozen=True, kw_only=True)
class Population:
    """Everybody, one row a person. `area` and `household` are numbers from 0, or None where there
    are none; `stratum` is that of a column of its own or the level of a key; `rated` names the key
    whose levels are drawn at different rates."""

    name: str
    table: Any
    keys: tuple[str, ...]
    stratum: IntArray
    rated: str
    area: IntArray | None = None
    household: IntArray | None = None
    seen: bool = True

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @cached_property
    def cells(self) -> IntArray:
        """The cell of each person: persons are of one cell if they agree in all keys."""
        cell = np.zeros(len(self), dtype=np.int64)
        for key in self.keys:
            level = codes_of(self.table[key])
            _, cell = np.unique(cell * (level.max() + 1) + level, return_inverse=True)
        return cell

    @cached_property
    def counts(self) -> IntArray:
        """Persons of each cell."""
        return np.bincount(self.cells)


def codes_of(column: Any) -> IntArray:
    """The levels of a column as numbers from 0."""
    values = pc.dictionary_encode(column.combine_chunks(), null_encoding="encode")
    return np.asarray(values.indices, dtype=np.int64)


def made_by(recipe: Recipe) -> Population:
    """The population of a recipe; the same each time."""
    rng = np.random.default_rng(recipe.seed)
    people = DEPENDENCES[recipe.dependence](recipe.levels, recipe.persons, rng)
    asked = recipe.features
    area = region = None
    if asked.areas is not None:
        area, region = _areas(people, recipe, asked.areas, rng)
    stratum = None
    if asked.strata is not None:
        shares = np.full(asked.strata.number, 1 / asked.strata.number)
        by_level = effects(recipe.levels, asked.strata.number, asked.strata.drift, rng)
        stratum = allotted(people, shares, by_level, rng)
    household = None
    if asked.shared:
        within = area if area is not None else np.zeros(len(people), dtype=np.int64)
        order, household = households(people, within, asked.shared, rng)
        people = people[order]
        area, region, stratum = (
            None if each is None else each[order] for each in (area, region, stratum)
        )
    return _put_together(recipe, people, area, region, stratum, household)


def _areas(
    people: IntArray, recipe: Recipe, asked: Areas, rng: np.random.Generator
) -> tuple[IntArray, IntArray | None]:
    """The area of each person, and the region where there are some."""
    shares = area_sizes(recipe.persons, asked.sizes, rng)
    region = regions_of(len(shares), asked.regions) if asked.regions else None
    by_level = effects(recipe.levels, len(shares), asked.drift, rng, region)
    area = allotted(people, shares, by_level, rng)
    return area, None if region is None else region[area]


def _put_together(
    recipe: Recipe,
    people: IntArray,
    area: IntArray | None,
    region: IntArray | None,
    stratum: IntArray | None,
    household: IntArray | None,
) -> Population:
    """Keys under their names, those of features after the others."""
    columns = {f"key_{place}": column for place, column in enumerate(people.T, 1)}
    asked = recipe.features
    if household is not None:
        columns["household_size"] = np.bincount(household)[household]
    if region is not None:
        columns["region"] = region
    if area is not None and asked.areas is not None and asked.areas.is_key:
        columns["place"] = area
    if stratum is not None and asked.strata is not None and asked.strata.is_key:
        columns["group"] = stratum
    stratified = _short_key(recipe.levels, after=1)
    return Population(
        name=recipe.name,
        table=pa.table(columns),
        keys=tuple(columns),
        stratum=people[:, stratified] if stratum is None else stratum,
        rated=f"key_{_short_key(recipe.levels, after=2) + 1}",
        area=area,
        household=household,
        seen=recipe.seen,
    )


def _short_key(levels: Sequence[int], after: int) -> int:
    """The place of the first key with 3 to 15 levels from `after` on, else before."""
    places = (*range(after, len(levels)), *range(after))
    return next(place for place in places if 3 <= levels[place] <= LONGEST_STRATUM)
