"""What must not matter to an attack, and what more tables may do to it."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.published_tables import published
from tests.oracles.published_worlds import made

from discreet.data.published.writing import Format, write_published
from discreet.flows.attack import attack
from discreet.report.attack.json import attack_json
from discreet.tables.linked.rules import Rule
from discreet.tables.linked.sources import Source

SEEDS = st.integers(0, 10_000)
FEW = settings(max_examples=12)


def found(world, sources=None, **more):
    return attack(world.sources if sources is None else sources, seconds=None,
                  **(world.keywords | more))  # fmt: skip


def values(world, own):
    """The value of each figure that follows, by its hidden cells."""
    return {
        frozenset(
            world.cells_called(one.cell).difference(*(map(world.cells_called, one.but)))
        ): one.lower
        for one in own.derived
    }


def bounds(world, own):
    return {frozenset(world.cells_called(one.cell)): (one.lower, one.upper) for one in own.cells}


def shuffled(source, rng):
    """The same table with its figures, its labels and its variables in another order."""
    table = source.table
    columns = rng.permutation(len(table.variables)).tolist()
    rows = rng.permutation(table.n_figures).tolist()
    order = [rng.permutation(len(labels)).tolist() for labels in table.labels]
    places = np.array(
        [[order[v].index(table.places[r, v]) for v in columns] for r in rows], dtype=np.int64
    ).reshape(len(rows), len(columns))
    return replace(
        source,
        table=replace(
            table,
            variables=tuple(table.variables[v] for v in columns),
            labels=tuple(tuple(table.labels[v][i] for i in order[v]) for v in columns),
            places=places,
            printed=tuple(table.printed[r] for r in rows),
        ),
    )


@FEW
@given(SEEDS)
def test_the_order_of_tables_figures_and_labels_does_not_matter(seed):
    world = made(seed)
    rng = np.random.default_rng(seed)
    turned = [shuffled(world.sources[i], rng) for i in rng.permutation(len(world.sources))]
    one, two = found(world), found(world, turned)
    assert bounds(world, one) == bounds(world, two)
    assert one.n_tables.value == two.n_tables.value
    assert [d.lower for d in one.derived if not d.but] == [
        d.lower for d in two.derived if not d.but
    ]
    same = values(world, two)
    assert all(same.get(cells, value) == value for cells, value in values(world, one).items())


@FEW
@given(SEEDS)
def test_one_more_table_never_widens_a_bound(seed):
    world = made(seed)
    counts = [s for s in world.sources if s.table.statistic == "count"]
    more = found(world, counts)
    if not lists_all(world, counts[1:]):
        return
    less = attack(counts[1:], seconds=None, **less_keywords(world, counts[1:]))
    told = values(world, more)
    for one in less.cells:
        own = world.cells_called(one.cell)
        inside = [b for cells, b in bounds(world, more).items() if cells <= own]
        held = set().union(*(cells for cells in bounds(world, more) if cells <= own))
        if held == own:  # finer cells add up to limits at least as narrow
            assert sum(high for _, high in inside) >= one.lower
            assert sum(low for low, _ in inside) <= one.upper
            if len(inside) == 1:
                assert one.lower <= inside[0][0]
                assert inside[0][1] <= one.upper
    for cells, value in values(world, less).items():
        assert told.get(cells, value) == value


def lists_all(world, sources):
    """Whether some tables list the labels of all their variables, as all tables do."""
    names = {n for s in sources for n in (*s.table.variables, *s.table.part)}
    own = replace(world, sources=sources)
    return all(own.lists(one) for one in world.variables if one.name in names)


def less_keywords(world, sources):
    names = {n for s in sources for n in (*s.table.variables, *s.table.part)}
    keywords = world.keywords
    return {
        "trees": {name: tree for name, tree in keywords["trees"].items() if name in names},
        "others": tuple(name for name in keywords["others"] if name in names),
    }


@FEW
@given(SEEDS)
def test_a_table_twice_tells_no_more(seed):
    world = made(seed)
    twice = [*world.sources, world.sources[0]]
    if world.sources[0].table.statistic != "count":
        return
    one, two = found(world), found(world, twice)
    assert bounds(world, one) == bounds(world, two)
    assert values(world, one) == values(world, two)
    assert one.n_tables.value == two.n_tables.value


@FEW
@given(SEEDS)
def test_other_names_of_labels_change_nothing(seed):
    world = made(seed)
    index = next((i for i, s in enumerate(world.sources) if "sex" in s.table.variables), None)
    if index is None:
        return
    source = world.sources[index]
    place = source.table.variables.index("sex")
    labels = list(source.table.labels)
    labels[place] = tuple({"F": "Frauen"}.get(label, label) for label in labels[place])
    renamed = replace(source, table=replace(source.table, labels=tuple(labels)))
    sources = [*world.sources[:index], renamed, *world.sources[index + 1 :]]
    one, two = found(world), found(world, sources, labels=["sex:Frauen=F"])
    assert bounds(world, one) == bounds(world, two)
    assert values(world, one) == values(world, two)


@FEW
@given(SEEDS)
def test_a_rounded_table_never_tells_more_than_the_exact_one(seed):
    world = made(seed)
    exact = [
        s for s in world.sources
        if s.table.statistic == "count" and s.rule.is_exact and all(s.table.printed)
    ]  # fmt: skip
    if len(exact) < 2 or not lists_all(world, exact):
        return
    first = exact[0]
    printed = tuple(str(int(text) - int(text) % 3) for text in first.table.printed)
    rounded = Source(table=replace(first.table, printed=printed), rule=Rule(base=3, stated=True))
    keywords = less_keywords(world, exact)
    plain = attack(exact, seconds=None, **keywords)
    less = attack([rounded, *exact[1:]], seconds=None, **keywords)
    narrow = bounds(world, plain)
    for cells, (low, high) in bounds(world, less).items():
        assert low <= narrow[cells][0]
        assert narrow[cells][1] <= high
    assert less.n_tables.value is None or less.n_tables.value >= plain.n_tables.value


@FEW
@given(
    st.lists(st.integers(0, 5), min_size=6, max_size=6),
    st.lists(st.booleans(), min_size=6, max_size=6),
)
def test_two_tables_of_parts_tell_what_one_table_does(counts, withheld):
    ages = ["0", "1", "2"]
    figures = [None if gone else count for count, gone in zip(counts, withheld, strict=True)]
    rows = [(s, a, figures[3 * i + j]) for i, s in enumerate("FM") for j, a in enumerate(ages)]
    total = Source(table=published("all", [], [(sum(counts),)]), rule=Rule(stated=True))
    lists = Source(
        table=published("by sex", ["sex"], [("F", sum(counts[:3])), ("M", sum(counts[3:]))]),
        rule=Rule(stated=True),
    )
    whole = Source(table=published("t", ["sex", "age"], rows), rule=Rule(stated=True))
    parts = [
        Source(
            table=replace(published(s, ["age"], [row[1:] for row in rows if row[0] == s]), part={"sex": s}),
            rule=Rule(stated=True),
        )
        for s in "FM"
    ]  # fmt: skip
    one = attack([whole, total, lists], seconds=None)
    two = attack([*parts, total, lists], seconds=None)
    assert {frozenset(c.cell.items()): (c.lower, c.upper) for c in one.cells} == {
        frozenset(c.cell.items()): (c.lower, c.upper) for c in two.cells
    }
    assert one.n_tables.value == two.n_tables.value
    # Sums over both sexes may be told in other words.
    assert by_sex(one) == by_sex(two)


def by_sex(own):
    return {(frozenset(one.cell.items()), one.lower) for one in own.derived if "sex" in one.cell}


@pytest.mark.parametrize("seed", [1, 2, 5, 8, 13])
def test_files_of_every_format_tell_the_same(seed, tmp_path):
    world = made(seed)
    sources = [s for s in world.sources if s.table.statistic == "count" and s.table.variables
               and s.rule.withheld == (0, None)]  # fmt: skip
    keywords = less_keywords(world, sources)
    told = []
    for format in Format:
        given = []
        for source in sources:
            path = tmp_path / f"{source.table.name.replace(' ', '-')}{format.ending}"
            write_published(source.table, path, format)
            rule = source.rule
            words = "exact" if rule.is_exact else f"perturbed({rule.most})"
            if rule.base > 1:
                words = f"rounded({rule.base},{rule.way})"
            given.append(f"{path} | {words}")
        own = attack_json(attack(given, seconds=None, **keywords))
        told.append([
            {name: one[name] for name in ("cell", "lower", "upper", "how")} for one in own["derived"]
        ])  # fmt: skip
    assert all(sorted(map(json.dumps, one)) == sorted(map(json.dumps, told[0])) for one in told)
