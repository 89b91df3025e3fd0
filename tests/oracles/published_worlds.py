"""Small hidden tables, published in every way that is understood, and all tables that fit.

A `World` is made by chance from a seed: variables with bands, words beside bands, groups of a tree
or levels that no table lists; tables of parts of the population, with totals, withheld, rounded and
perturbed figures; percentages and means; knowledge. What each figure says of the hidden cells is
written down apart from how the program reads the tables, and every table is tried.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
from tests.oracles.published_tables import Told, cells_where, fitting_tables, published

from discreet.data.hierarchy import Hierarchy
from discreet.data.published.published_table import Statistic
from discreet.tables.linked.rules import Rule, Way
from discreet.tables.linked.sources import Source, source_of_knowledge

Categories = Mapping[str, tuple[int, ...]]
TREE = Hierarchy.of_table([("a", "P", "all"), ("b", "P", "all"), ("c", "Q", "all")])
MOST_TRIED = 2e6  # product of the limits of the cells, beyond which not every table is tried


@dataclass(frozen=True)
class Variable:
    """Its levels, the sets of labels that a table may have, and what a user says of it."""

    name: str
    levels: tuple[str, ...]
    categories: tuple[Categories, ...]
    tree: Hierarchy | None = None
    others: bool = False  # the last level is one that no table lists

    @property
    def size(self) -> int:
        return len(self.levels)

    @property
    def every(self) -> tuple[int, ...]:
        return tuple(range(self.size))


AGE = Variable(
    "age",
    ("0", "1", "2", "3"),
    (
        {"0-1": (0, 1), "2-3": (2, 3)},
        {"0": (0,), "1-3": (1, 2, 3)},
        {"0-2": (0, 1, 2), "3": (3,)},
        {"0": (0,), "1": (1,), "2": (2,), "3": (3,)},
        {"0-1": (0, 1), "0-2": (0, 1, 2), "2-3": (2, 3)},
    ),
)
STATED = Variable(
    "age",
    ("0", "1", "2", "not stated"),
    (
        {"0": (0,), "1-2": (1, 2), "not stated": (3,)},
        {"0-1": (0, 1), "2": (2,), "not stated": (3,)},
        {"0-2": (0, 1, 2), "Not  Stated": (3,)},
    ),
)
REGION = Variable(
    "region",
    ("a", "b", "c"),
    (
        {"P": (0, 1), "Q": (2,)},
        {"a": (0,), "b": (1,), "c": (2,)},
        {"a": (0,), "b": (1,), "c": (2,), "P": (0, 1)},
    ),
    tree=TREE,
)
SEX = Variable("sex", ("F", "M"), ({"F": (0,), "M": (1,)},))
OPEN_SEX = Variable("sex", ("F", "M", "others"), ({"F": (0,), "M": (1,)},), others=True)
# Nobody says that there are others, but no table lists two labels.
ONLY_F = Variable("sex", ("F", "others"), ({"F": (0,)},))
SIDE = Variable("side", ("L", "R"), ({"L": (0,), "R": (1,)},))
PAIRS = (
    (AGE, SEX), (STATED, SEX), (REGION, SEX), (OPEN_SEX, SIDE), (REGION, SIDE), (AGE, SIDE),
    (STATED, ONLY_F),
)  # fmt: skip


@dataclass
class World:
    """A hidden table, what is published of it, and what that says of its cells."""

    variables: tuple[Variable, ...]
    hidden: np.ndarray
    sources: list[Source] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)
    weighed: list[tuple[np.ndarray, int, int]] = field(default_factory=list)  # of means

    @property
    def names(self) -> list[str]:
        return [one.name for one in self.variables]

    @property
    def sizes(self) -> list[int]:
        return [one.size for one in self.variables]

    @property
    def keywords(self) -> dict:
        """What the user says beside the tables, of the variables that these have."""
        there = {n for s in self.sources for n in (*s.table.variables, *s.table.part)}
        own = [one for one in self.variables if one.name in there]
        return {
            "trees": {one.name: one.tree for one in own if one.tree is not None},
            "others": tuple(one.name for one in own if one.others),
        }

    def cells(self, held: Mapping[str, Sequence[int]]) -> tuple[int, ...]:
        """The cells with one of the levels held of each variable named."""
        return cells_where(self.sizes, [held.get(v.name, v.every) for v in self.variables])

    def cells_called(self, cell: Mapping[str, str]) -> set[int]:
        """The cells of what the program names: labels, bands, or several joined by a plus."""
        return set(self.cells({v.name: _called(v, cell[v.name]) for v in self.variables
                               if v.name in cell}))  # fmt: skip

    def count(self, cells: Sequence[int]) -> int:
        return int(self.hidden[list(cells)].sum())

    def lists(self, one: Variable) -> bool:
        """Whether a table lists labels of a variable beside each other, or there is but one."""
        own = [s.table.labels[s.table.variables.index(one.name)] for s in self.sources
               if one.name in s.table.variables]  # fmt: skip
        return any(len(set(labels) - {"Total"}) > 1 for labels in own) or one is ONLY_F

    @property
    def is_limited(self) -> bool:
        """Whether some statement limits each cell from above."""
        limited = {cell for one in self.told if one.high is not None for cell in one.cells}
        return len(limited) == len(self.hidden)

    @property
    def is_small(self) -> bool:
        """Whether every table can be tried."""
        tops = [
            min(t.high for t in self.told if c in t.cells and t.high is not None)
            for c in range(len(self.hidden))
        ]
        return prod(1.0 + top for top in tops) < MOST_TRIED

    def tables(self) -> np.ndarray:
        """Every table that fits."""
        found = fitting_tables(len(self.hidden), self.told)
        for weights, low, high in self.weighed:
            sums = found @ weights
            found = found[(sums >= low) & (sums <= high)]
        return found

    def atoms(self) -> list[list[int]]:
        """The cells that no figure tells apart, by sets; those of no figure left out."""
        signs: dict[tuple[int, ...], list[int]] = {}
        for cell in range(len(self.hidden)):
            sign = tuple(i for i, one in enumerate(self.told) if cell in one.cells)
            if sign:
                signs.setdefault(sign, []).append(cell)
        return list(signs.values())

    def n_parts(self, cells: Sequence[int]) -> int:
        """How many combinations of parts some cells are: levels that no label of any table tells
        apart are one part."""
        places = np.stack(np.unravel_index(cells, self.sizes), axis=1)
        part_of = [self._part_of(one) for one in self.variables]
        return len({tuple(own[i] for own, i in zip(part_of, at, strict=True)) for at in places})

    def _part_of(self, one: Variable) -> list[tuple[bool, ...]]:
        labels = []
        for table in (source.table for source in self.sources):
            if one.name in table.variables:
                labels += table.labels[table.variables.index(one.name)]
            labels += [label for name, label in table.part.items() if name == one.name]
        held = [set(_called(one, label)) for label in set(labels) - {"Total"}]
        return [tuple(level in own for own in held) for level in one.every]


def _called(variable: Variable, label: str) -> tuple[int, ...]:
    known: dict[str, tuple[int, ...]] = {own: (i,) for i, own in enumerate(variable.levels)}
    for categories in variable.categories:
        known |= categories
    found: set[int] = set()
    for part in label.split(" + "):
        if part in known:
            found |= set(known[part])
        else:
            low, _, high = part.partition("-")
            found |= {variable.levels.index(str(x)) for x in range(int(low), int(high or low) + 1)}
    return tuple(sorted(found))


def made(seed: int, *, pairs: Sequence[tuple[Variable, ...]] = PAIRS) -> World:
    """A world by chance, with a total of everybody."""
    rng = np.random.default_rng(seed)
    variables = pairs[int(rng.integers(len(pairs)))]
    sizes = [one.size for one in variables]
    world = World(variables, rng.poisson(0.9, size=sizes).ravel())
    for number in range(int(rng.integers(2, 4))):
        add_table(world, f"t{number}", rng)
    for one in variables:
        if not world.lists(one):
            add_table(world, f"by {one.name}", rng, whole=one)
    add_total(world)
    kind = rng.random()
    if kind < 0.2:
        add_knowledge(world, rng)
    elif kind < 0.4 and not variables[0].others:
        add_percentages(world, rng)
    elif kind < 0.6 and variables[0] is AGE:
        add_means(world, rng)
    return world


def add_table(
    world: World, name: str, rng: np.random.Generator, whole: Variable | None = None
) -> None:
    """A table of counts, perhaps of a part of the population, rounded, perturbed or withheld; or
    by one variable, of everybody."""
    mine = [one for one in world.variables if rng.random() < 0.75] or [world.variables[0]]
    mine = mine if whole is None else [whole]
    own = {one.name: chosen(one, rng) for one in mine}
    for one in mine:
        if rng.random() < 0.4:
            own[one.name]["Total"] = one.every
    part, held = {}, {}
    if whole is None and rng.random() < 0.3:
        one = world.variables[int(rng.integers(len(world.variables)))]
        categories = chosen(one, rng)
        label = list(categories)[int(rng.integers(len(categories)))]
        part, held = {one.name: label}, {one.name: categories[label]}
        own.pop(one.name, None)
    rule = rule_by_chance(rng)
    withholds = rule.withheld != (0, None) or rng.random() < 0.2
    rows = []
    for labels in product(*own.values()):
        pairs = dict(zip(own, labels, strict=True))
        cells = world.cells(held | {name: own[name][label] for name, label in pairs.items()})
        count = world.count(cells)
        printed = None if withholds and 0 < count <= 2 else as_printed(rule, count, rng)
        world.told.append(Told(cells, *rule.range_of("" if printed is None else str(printed), "")))
        rows.append((*labels, printed))
    table = replace(published(name, list(own), rows), part=part)
    world.sources.append(Source(table=table, rule=rule))


def chosen(variable: Variable, rng: np.random.Generator) -> dict[str, tuple[int, ...]]:
    return dict(variable.categories[int(rng.integers(len(variable.categories)))])


def rule_by_chance(rng: np.random.Generator) -> Rule:
    kind = rng.random()
    rule = Rule(stated=True)
    if kind < 0.15:
        rule = Rule(base=3, way=Way(rng.choice(list(Way))), stated=True)
    elif kind < 0.3:
        rule = Rule(most=1, stated=True)
    return replace(rule, withheld=(1, 2)) if rng.random() < 0.3 else rule


def as_printed(rule: Rule, count: int, rng: np.random.Generator) -> int:
    if rule.most:
        return max(0, count + int(rng.integers(-rule.most, rule.most + 1)))
    down = count - count % rule.base
    if down == count or rule.way is Way.DOWN:
        return down
    up = {Way.UP: True, Way.NEAREST: count % rule.base * 2 > rule.base}
    return down + rule.base * int(up.get(rule.way, rng.random() < 0.5))


def add_total(world: World) -> None:
    total = int(world.hidden.sum())
    cells = tuple(range(len(world.hidden)))
    world.told.append(Told(cells, total, total))
    table = published("all", [], [(total,)])
    world.sources.append(Source(table=table, rule=Rule(stated=True)))


def add_knowledge(world: World, rng: np.random.Generator) -> None:
    one = world.variables[int(rng.integers(len(world.variables)))]
    label, levels = next(iter(one.categories[0].items()))
    cells = world.cells({one.name: levels})
    count = world.count(cells)
    low, high = max(0, count - int(rng.integers(2))), count + int(rng.integers(2))
    world.told.append(Told(cells, low, high))
    world.sources.append(source_of_knowledge(f'{one.name}="{label}":{low}..{high}'))


def add_percentages(world: World, rng: np.random.Generator) -> None:
    """Percentages of one variable within another, with a table that shows the groups."""
    first, second = world.variables
    rows, groups = chosen(first, rng), chosen(second, rng)
    shown, shares = [], []
    for group, held in groups.items():
        cells = world.cells({second.name: held})
        n = world.count(cells)
        world.told.append(Told(cells, n, n))
        shown.append((group, n))
        for label, levels in rows.items():
            own = world.cells({second.name: held, first.name: levels})
            text = f"{100 * world.count(own) / n:.1f}" if n else "0.0"
            fits = [x for x in range(n + 1) if _is_about(Fraction(100 * x, max(n, 1)), text)]
            world.told.append(Told(own, min(fits), max(fits)))
            shares.append((label, group, text))
    world.sources.append(
        Source(table=published("groups", [second.name], shown), rule=Rule(stated=True))
    )
    table = published("shares", [first.name, second.name], shares)
    table = replace(table, statistic=Statistic.PERCENT, of=(second.name,))
    world.sources.append(Source(table=table, rule=Rule()))


def _is_about(value: Fraction, text: str) -> bool:
    """Whether a number may be printed so, to one decimal, halves either way."""
    return abs(value - Fraction(text)) <= Fraction(1, 20)


def add_means(world: World, rng: np.random.Generator) -> None:
    """Mean ages by the second variable, with ages one by one and the numbers of persons shown."""
    _, second = world.variables
    shown, means = [], []
    ages = np.arange(len(world.hidden)) // second.size
    for label, held in second.categories[0].items():
        cells = world.cells({second.name: held})
        n = world.count(cells)
        world.told.append(Told(cells, n, n))
        shown.append((label, n))
        total = int(ages[list(cells)] @ world.hidden[list(cells)])
        text = f"{total / n:.1f}" if n else "0.0"
        weights = np.zeros(len(world.hidden), dtype=np.int64)
        weights[list(cells)] = ages[list(cells)]
        fits = [s for s in range(4 * n + 1) if _is_about(Fraction(s, max(n, 1)), text)]
        world.weighed.append((weights, min(fits), max(fits)))
        world.told.append(Told(cells, 0, None))
        means.append((label, text))
    world.sources.append(
        Source(table=published("numbers", [second.name], shown), rule=Rule(stated=True))
    )
    by_year = [(str(age), world.count(world.cells({"age": (age,)}))) for age in range(4)]
    for age, count in enumerate(c for _, c in by_year):
        world.told.append(Told(world.cells({"age": (age,)}), count, count))
    world.sources.append(Source(table=published("years", ["age"], by_year), rule=Rule(stated=True)))
    table = published("means", [second.name], means)
    table = replace(table, statistic=Statistic.MEAN, of=("age",))
    world.sources.append(Source(table=table, rule=Rule()))


def small_worlds(seeds: Sequence[int], **options) -> Iterator[int]:
    """The seeds of worlds of which every table can be tried."""
    return (seed for seed in seeds if made(seed, **options).is_small)
