"""Made-up areas of a census, and the tables that a census prints of each.

A person has a sex, a single year of age, one of seven races and one of two ethnicities. Ages lean
to the young or the old from area to area, one race mostly prevails, and ethnicity goes with race,
as in the blocks of a city. The tables are of the shapes of the 2010 Summary File 1 of the US census
for blocks: total, race, ethnicity, both; sex by 23 bands of age, also for each race, for one
ethnicity, and for one ethnicity of the first race; sex by single year of age under 20.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from discreet.data.layout import Classified, Layout
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.fiber.system.linear_system import Statement
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray

SEX, AGE, RACE, ETHNICITY = range(4)
NAMES = ("sex", "age", "race", "ethnicity")
N_AGES, ADULT, SINGLE_YEARS = 110, 18, 20
LEVELS = (
    ("Male", "Female"),
    tuple(str(age) for age in range(N_AGES)),
    tuple(f"Race {letter}" for letter in "ABCDEFG"),
    ("First ethnicity", "Second ethnicity"),
)
# The first age of each of the 23 bands.
BANDS = (*range(0, 15, 5), 15, 18, 20, 21, 22, *range(25, 60, 5), 60, 62, 65, 67, *range(70, 86, 5))
RACES = np.array([0.72, 0.126, 0.009, 0.048, 0.002, 0.062, 0.033])  # shares of all persons
SKEW = 2.5  # the smaller, the more one race prevails in an area
SECOND = np.array([0.9, 0.4, 1.5, 0.2, 0.9, 4.0, 1.8])  # times the area's share of ethnicity two


def census_area(size: int, *, rng: np.random.Generator) -> Table:
    """The persons of one made-up area, counted by sex, single year of age, race and ethnicity."""
    if size < 1:
        raise InputError(must_be("size", "at least 1", size))
    race = rng.choice(len(RACES), size, p=rng.dirichlet(SKEW * RACES))
    second = np.minimum(rng.beta(0.4, 2.2) * SECOND, 0.98)
    persons = np.empty((size, 4), dtype=np.int64)
    persons[:, SEX] = rng.integers(0, 2, size)
    persons[:, AGE] = rng.choice(N_AGES, size, p=_ages(rng))
    persons[:, RACE] = race
    persons[:, ETHNICITY] = rng.random(size) < second[race]
    cells, counts = np.unique(persons, axis=0, return_counts=True)
    return Table(names=NAMES, levels=LEVELS, cells=cells, counts=counts.astype(np.int64))


def _ages(rng: np.random.Generator) -> FloatArray:
    """Chances of each age: even up to 75, then fewer, with a hump that differs by area."""
    age = np.arange(N_AGES)
    old = np.where(age < 75, 1.0, np.exp(-(age - 75) / 8))
    hump = rng.uniform(0, 4) * np.exp(-(((age - rng.uniform(10, 70)) / 15) ** 2))
    weights = old * (1 + hump)
    return np.asarray(weights / weights.sum())


def census_areas(
    n: int, *, seed: int, least: int = 10, most: int = 500
) -> Iterator[tuple[str, Table]]:
    """So many areas of `least` to `most` persons, small ones more often, each with its name.

    An area depends on its number and the seed alone.
    """
    if not 1 <= least <= most:
        raise InputError(must_be("least", f"from 1 to most ({most})", least))
    for i in range(n):
        rng = np.random.default_rng([seed, i])
        size = least * (most / least) ** rng.random()
        yield f"area {i + 1}", census_area(int(size), rng=rng)


def census_layouts(table: Table) -> tuple[Layout, ...]:
    """The tables that are printed of an area: 18 of them, as layouts."""
    bands, years = _by_age(table, BANDS), _by_age(table, range(SINGLE_YEARS + 1))
    sex, race, ethnicity = (Classified.by_level(table, axis) for axis in (SEX, RACE, ETHNICITY))
    adult = {AGE: np.arange(N_AGES) >= ADULT}
    minor = {AGE: np.arange(N_AGES) < SINGLE_YEARS}
    second = {ETHNICITY: _only(table, ETHNICITY, 1)}
    first_of_a = {RACE: _only(table, RACE, 0), ETHNICITY: _only(table, ETHNICITY, 0)}
    younger = Classified(axis=AGE, categories=years.categories[:-1], holds=years.holds[:-1])
    return (
        Layout(table=table, variables=(), title="total"),
        Layout(table=table, variables=(race,), title="race"),
        Layout(table=table, variables=(ethnicity,), title="ethnicity"),
        Layout(table=table, variables=(ethnicity, race), title="ethnicity by race"),
        Layout(table=table, variables=(race,), part=adult, title="race of adults"),
        Layout(table=table, variables=(ethnicity, race), part=adult, title="both, of adults"),
        Layout(table=table, variables=(sex, bands), title="sex by age"),
        *(
            Layout(
                table=table,
                variables=(sex, bands),
                part={RACE: _only(table, RACE, i)},
                title=f"sex by age, {name}",
            )
            for i, name in enumerate(LEVELS[RACE])
        ),
        Layout(table=table, variables=(sex, bands), part=second, title="sex by age, ethnicity two"),
        Layout(table=table, variables=(sex, bands), part=first_of_a, title="sex by age, A and one"),
        Layout(table=table, variables=(sex, younger), part=minor, title="sex by year under 20"),
    )


def _by_age(table: Table, starts: Sequence[int]) -> Classified:
    """Bands of age that begin at the given ages; the last is open."""
    place = np.searchsorted(np.array(starts), np.arange(N_AGES), side="right") - 1
    ends = [*starts[1:], None]
    names = [
        f"{first} and over"
        if end is None
        else str(first)
        if end == first + 1
        else f"{first}-{end - 1}"
        for first, end in zip(starts, ends, strict=True)
    ]
    holds = place[None, :] == np.arange(len(starts))[:, None]
    return Classified(axis=AGE, categories=tuple(names), holds=holds)


def _only(table: Table, axis: int, level: int) -> BoolArray:
    return np.asarray(np.arange(table.sizes[axis]) == level)


def statements_of(layouts: Sequence[Layout]) -> tuple[int, list[Statement]]:
    """What tables of one population say of its cells: their number, and a statement a figure.

    Levels that no table tells apart are one, so cells are as coarse as the tables allow.
    """
    table = layouts[0].table
    places = [_merged(layouts, axis) for axis in range(len(table.sizes))]
    sizes = [int(place.max()) + 1 for place in places]
    found = []
    for layout in layouts:
        counts = layout.counts().ravel()
        for entry, labels in enumerate(layout.labels()):
            value = int(counts[entry])
            cells = _cells(layout.levels_of(entry), places, sizes)
            name = f"[{layout.title}] {', '.join(labels)}".rstrip()
            found.append(Statement(cells=cells, low=value, high=value, name=name))
    return int(np.prod(sizes)), found


def _merged(layouts: Sequence[Layout], axis: int) -> IntArray:
    """Of each level of a variable the number of its class: levels that always go together."""
    size = layouts[0].table.sizes[axis]
    held = [np.ones((1, size), dtype=np.bool_)]
    for layout in layouts:
        held += [one.holds for one in layout.variables if one.axis == axis]
        held += _parts(layout.part, axis)
    _, first, place = np.unique(
        np.concatenate(held), axis=1, return_index=True, return_inverse=True
    )
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[np.ravel(place)])


def _parts(part: Mapping[int, BoolArray], axis: int) -> list[BoolArray]:
    return [part[axis][None, :]] if axis in part else []


def _cells(held: Sequence[BoolArray], places: Sequence[IntArray], sizes: Sequence[int]) -> IntArray:
    """The cells of classes that hold the given levels of each variable."""
    numbers = np.zeros(1, dtype=np.int64)
    for levels, place, size in zip(held, places, sizes, strict=True):
        classes = np.unique(place[levels])
        numbers = (numbers[:, None] * size + classes[None, :]).ravel()
    return numbers
