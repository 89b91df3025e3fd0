"""What an attack derives is what all tables that fit agree in, found by trying every table."""

from itertools import product

import numpy as np
import pytest
from tests.oracles.published_tables import Told, cells_where, fitting_tables, published

from discreet.errors import InputError
from discreet.flows.attack import attack
from discreet.tables.linked.rules import Rule, Way
from discreet.tables.linked.sources import Source

AGES = ["0", "1", "2", "3"]
SEXES = ["F", "M"]
REGIONS = ["N", "S"]
NAMES = {"age": AGES, "sex": SEXES, "region": REGIONS}
BANDINGS = (
    {"0-1": (0, 1), "2-3": (2, 3)},
    {"0": (0,), "1-3": (1, 2, 3)},
    {"0-2": (0, 1, 2), "3": (3,)},
    {"0": (0,), "1": (1,), "2": (2,), "3": (3,)},
    {"0-1": (0, 1), "0-2": (0, 1, 2), "2-3": (2, 3)},
)


def categories(rng: np.random.Generator, name: str) -> dict[str, tuple[int, ...]]:
    """The labels of a variable in one table, with the levels of each."""
    if name == "age":
        own = dict(BANDINGS[rng.integers(len(BANDINGS))])
    else:
        own = {level: (i,) for i, level in enumerate(NAMES[name])}
    if rng.random() < 0.5:
        own["Total"] = tuple(range(len(NAMES[name])))
    return own


def made(seed: int):
    """Some tables of a small hidden table, and what they say of its cells."""
    rng = np.random.default_rng(seed)
    variables = ["age", "sex"] if seed % 3 else ["age", "region"]
    if seed % 7 == 0:
        variables = ["sex", "region"]
    sizes = [len(NAMES[name]) for name in variables]
    hidden = rng.poisson(0.9, size=sizes).ravel()
    sources, told = [], []
    for number in range(rng.integers(2, 4)):
        mine = [v for v in variables if rng.random() < 0.75] or variables[:1]
        own = {name: categories(rng, name) for name in mine}
        rule, rows = Rule(stated=True), []
        if rng.random() < 0.2:
            rule = Rule(base=3, way=Way(rng.choice(["unknown", "nearest", "down"])), stated=True)
        withheld = rng.random() < 0.4
        for labels in product(*own.values()):
            pairs = dict(zip(mine, labels, strict=True))
            held = [
                own[name][pairs[name]] if name in mine else range(len(NAMES[name]))
                for name in variables
            ]
            cells = cells_where(sizes, held)
            count = int(hidden[list(cells)].sum())
            printed = _printed(rng, rule, count)
            if withheld and 0 < count <= 2:
                printed = None
            low, high = rule.range_of("" if printed is None else str(printed), "")
            told.append(Told(cells, low, high))
            rows.append((*labels, printed))
        sources.append(Source(table=published(f"t{number}", mine, rows), rule=rule))
    total = int(hidden.sum())
    every = tuple(range(len(hidden)))
    told.append(Told(every, total, total))
    sources.append(Source(table=published("all", [], [(total,)]), rule=Rule(stated=True)))
    return variables, sizes, hidden, sources, told


def _printed(rng, rule, count):
    if rule.base == 1:
        return count
    down = count - count % rule.base
    if count % rule.base == 0 or rule.way is Way.DOWN:
        return down
    if rule.way is Way.NEAREST:
        return down + rule.base * (count % rule.base * 2 > rule.base)
    return down + rule.base * int(rng.random() < 0.5)


def cells_of(cell, variables, sizes, parts):
    """The cells of the hidden table that a derived figure counts, from its labels."""
    held = []
    for name, size in zip(variables, sizes, strict=True):
        held.append(range(size) if name not in cell else _levels(name, cell[name]))
    return cells_where(sizes, held)


def _levels(name, label):
    found = set()
    for part in label.split(" + "):
        if name == "age":
            low, _, high = part.partition("-")
            found |= set(range(int(low), int(high or low) + 1))
        else:
            found.add(NAMES[name].index(part))
    return sorted(found)


@pytest.mark.parametrize("seed", range(60))
def test_what_is_derived_is_what_all_tables_agree_in(seed):
    variables, sizes, hidden, sources, told = made(seed)
    tables = fitting_tables(len(hidden), told)
    found = attack(sources, seconds=None)
    # The variables of which no table tells anything do not exist for an intruder.
    known = [domain.name for domain in found.linked.universe.domains]
    for one in found.derived:
        if one.but:
            continue
        sums = tables[:, list(cells_of(one.cell, variables, sizes, None))].sum(axis=1)
        assert sums.min() == sums.max() == one.lower == one.upper, one
    wanted = determined(found, tables, variables, sizes)
    listed = {tuple(sorted(one.cell.items())) for one in found.derived}
    assert wanted <= listed, (wanted - listed, known)


def determined(found, tables, variables, sizes):
    """The finest cells that all tables agree in, and that neither a table shows nor a zero holds."""
    universe = found.linked.universe
    domains = {domain.name: domain for domain in universe.domains}
    shown = [
        set(cells_of(universe.cell_of(row), variables, sizes, None))
        for row in np.flatnonzero(universe.is_shown)
    ]
    zeros = [
        set(cells_of(universe.cell_of(row), variables, sizes, None))
        for row in np.flatnonzero(universe.high == 0)
    ]
    wanted = set()
    for parts in product(*(domain.parts for domain in domains.values())):
        cell = {
            name: part for name, part in zip(domains, parts, strict=True) if domains[name].size > 1
        }
        own = set(cells_of(cell, variables, sizes, None))
        sums = tables[:, sorted(own)].sum(axis=1)
        empty = own <= set().union(*zeros) if zeros else False
        if sums.min() == sums.max() and not empty and not _sum_of(own, shown):
            wanted.add(tuple(sorted(cell.items())))
    return wanted


def _sum_of(own, shown):
    """Whether a set is a figure, or a sum of figures that have nobody in common."""
    inside = [one for one in shown if one <= own]

    def covered(left, at):
        if not left:
            return True
        return any(
            covered(left - one, i + 1) for i, one in enumerate(inside) if i >= at and one <= left
        )

    return covered(own, 0)


@pytest.mark.parametrize("seed", range(30))
def test_bounds_and_number_are_those_of_all_tables(seed):
    variables, sizes, hidden, sources, told = made(seed)
    tables = fitting_tables(len(hidden), told)
    found = attack(sources, seconds=None)
    universe = found.linked.universe
    for one in found.cells:
        sums = tables[:, list(cells_of(one.cell, variables, sizes, None))].sum(axis=1)
        assert (sums.min(), sums.max()) == (one.lower, one.upper)
    if len(found.cells) == universe.n_atoms and len(universe.domains) == len(variables):
        sets = [list(cells_of(one.cell, variables, sizes, None)) for one in found.cells]
        different = {tuple(table[own].sum() for own in sets) for table in tables}
        assert found.n_tables.value == len(different)


@pytest.mark.parametrize("seed", range(20))
def test_figures_that_fit_no_table_are_an_error(seed):
    *_, hidden, sources, told = made(seed)
    rng = np.random.default_rng(seed)
    rows = [
        (s, i)
        for s, one in enumerate(sources)
        for i, x in enumerate(one.table.printed)
        if x and one.rule.is_exact
    ]
    source, row = rows[rng.integers(len(rows))]
    table = sources[source].table
    printed = list(table.printed)
    printed[row] = str(int(printed[row]) + int(rng.integers(1, 4)))
    from dataclasses import replace

    sources[source] = replace(sources[source], table=replace(table, printed=tuple(printed)))
    place = sum(one.table.n_figures for one in sources[:source]) + row
    told[place] = Told(told[place].cells, int(printed[row]), int(printed[row]))
    if len(fitting_tables(len(hidden), told)):
        attack(sources, seconds=None)
    else:
        with pytest.raises(InputError, match="must be"):
            attack(sources, seconds=None)
