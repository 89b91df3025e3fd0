"""A population known in full: its persons, what they belong to, and how many share each cell."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.populations.dependence import DEPENDENCES
from benchmarks.populations.groups import allotted, area_sizes, effects, households, regions_of
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
    found = _Groups()
    if asked.areas is not None:
        found = _areas(people, recipe, asked.areas, rng)
    if asked.strata is not None:
        shares = np.full(asked.strata.number, 1 / asked.strata.number)
        by_level = effects(recipe.levels, asked.strata.number, asked.strata.drift, rng)
        found = replace(found, stratum=allotted(people, shares, by_level, rng))
    if asked.shared:
        within = np.zeros(len(people), dtype=np.int64) if found.area is None else found.area
        order, household = households(people, within, asked.shared, rng)
        people = people[order]
        found = replace(found.sorted_by(order), household=household)
    return _put_together(recipe, people, found)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Groups:
    """What each person belongs to, None where a population has no such groups."""

    area: IntArray | None = None
    region: IntArray | None = None
    stratum: IntArray | None = None
    household: IntArray | None = None

    def sorted_by(self, order: IntArray) -> "_Groups":
        """The same, persons in another order."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return _Groups(**{n: None if v is None else v[order] for n, v in values.items()})


def _areas(people: IntArray, recipe: Recipe, asked: Areas, rng: np.random.Generator) -> _Groups:
    """The area of each person, and the region where there are some."""
    shares = area_sizes(recipe.persons, asked.sizes, rng)
    region = regions_of(len(shares), asked.regions) if asked.regions else None
    by_level = effects(recipe.levels, len(shares), asked.drift, rng, region)
    area = allotted(people, shares, by_level, rng)
    return _Groups(area=area, region=None if region is None else region[area])


def _put_together(recipe: Recipe, people: IntArray, groups: _Groups) -> Population:
    """Keys under their names, those of features after the others."""
    columns = {f"key_{place}": column for place, column in enumerate(people.T, 1)}
    areas, strata = recipe.features.areas, recipe.features.strata
    if groups.household is not None:
        columns["household_size"] = np.bincount(groups.household)[groups.household]
    if groups.region is not None:
        columns["region"] = groups.region
    if groups.area is not None and areas is not None and areas.is_key:
        columns["place"] = groups.area
    if groups.stratum is not None and strata is not None and strata.is_key:
        columns["group"] = groups.stratum
    of_keys = people[:, _short_key(recipe.levels, after=1)]
    return Population(
        name=recipe.name,
        table=pa.table(columns),
        keys=tuple(columns),
        stratum=of_keys if groups.stratum is None else groups.stratum,
        rated=f"key_{_short_key(recipe.levels, after=2) + 1}",
        area=groups.area,
        household=groups.household,
        seen=recipe.seen,
    )


def _short_key(levels: Sequence[int], after: int) -> int:
    """The place of the first key with 3 to 15 levels from `after` on, else before."""
    places = (*range(after, len(levels)), *range(after))
    found: int = next(place for place in places if 3 <= levels[place] <= LONGEST_STRATUM)
    return found
