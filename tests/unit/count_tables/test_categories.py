"""One set of statistics a category, their sums, and the table of all together."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from tests.oracles.reconstructed_categories import reconstruct_categories

from discreet.count_tables.categories import (
    Margin,
    combinations_to_one,
    derived_sets,
    determined,
    joint_distributions,
    joint_system,
    together,
    withheld_category,
)
from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.rebuilding import Effort, hidden_counts
from discreet.count_tables.statistics import CountStatistics
from discreet.errors import InputError

TABLES = {
    "north": dict(enumerate([15, 20, 9, 5, 2])),
    "south": dict(enumerate([8, 9, 6, 3, 1])),
}
SETS = {name: CountStatistics.of_counts(table) for name, table in TABLES.items()}
TOTALS = dict(enumerate([23, 29, 15, 8, 3]))


def test_statistics_add_up():
    assert together(SETS) == CountStatistics.of_counts(TOTALS)


def test_the_last_category_is_had_by_subtraction():
    assert withheld_category({"north": SETS["north"]}, together(SETS)) == SETS["south"]
    with pytest.raises(InputError, match="n of all together must be above 78"):
        withheld_category(SETS, SETS["north"])


def test_without_totals_categories_tell_nothing_of_each_other():
    joint = reconstruct_categories(SETS, truth=TABLES)
    distributions = [
        hidden_counts(one).distribution(truth=TABLES[name]) for name, one in SETS.items()
    ]
    counts = [hidden_counts(one).count().value for one in SETS.values()]
    got = joint.sets_alone
    assert got.count.value == math.prod(counts)
    distribution = got.distributions["multinomial"]
    assert distribution.entropy.value == pytest.approx(
        sum(one.entropy.value for one in distributions)
    )
    product = math.prod(one.truth_probability.value for one in distributions)
    assert distribution.truth_probability.value == pytest.approx(product)
    assert joint.with_totals is None


def test_totals_tell_more():
    joint = reconstruct_categories(SETS, totals=TOTALS, truth=TABLES)
    north, south = (list(hidden_counts(one).tables()) for one in SETS.values())
    whole = np.array([TOTALS[j] for j in range(5)])
    pairs = [(a, b) for a, b in itertools.product(north, south) if np.array_equal(a + b, whole)]
    logs = np.array([-sum(math.lgamma(c + 1) for c in np.concatenate(pair)) for pair in pairs])
    w = np.exp(logs - logs.max())
    w /= w.sum()
    got = joint.with_totals
    assert got.count.value == len(pairs)
    distribution = got.distributions["multinomial"]
    assert distribution.entropy.value == pytest.approx(-np.sum(w * np.log2(w)), abs=1e-9)
    assert distribution.entropy.value < joint.sets_alone.distributions["multinomial"].entropy.value
    truth = joint.cell("south", 3)
    assert distribution.cells[truth].probability(3) == pytest.approx(
        sum(p for p, (_, b) in zip(w, pairs, strict=True) if b[3] == 3)
    )


def test_knowledge_of_one_category_helps_with_the_other():
    known = {"north": Knowledge(cells={4: (2, 2)})}
    joint = reconstruct_categories(SETS, totals=TOTALS, knowledge=known, truth=TABLES)
    assert joint.with_totals.count.value == 1
    assert joint.with_totals.distributions["uniform"].truth_probability.value == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"totals": {0: 5, 1: 3}}, "totals must be a table with the n, S1 and S2"),
        ({"knowledge": {"east": Knowledge()}}, "knowledge must be of categories north, south"),
        ({"truth": {"north": TABLES["north"]}}, "the true table of south"),
        ({"knowledge": {"north": Knowledge(shape="unimodal")}}, "without shapes"),
        (
            {"knowledge": {"north": Knowledge(cells={4: (2, 2), 1: (14, 14)})}},
            "smallest set that disagrees",
        ),
    ],
)
def test_contradictions(options, words):
    with pytest.raises(InputError, match=words):
        reconstruct_categories(SETS, **options)


def test_no_category():
    with pytest.raises(InputError, match="categories must be at least one"):
        together({})


SMALL = {
    "a": dict(enumerate([2, 3, 1, 1])),
    "b": dict(enumerate([1, 2, 2])),
    "c": dict(enumerate([1, 1, 1, 1])),
}


def tables_of(n, total):
    """Every table of n counts with a total."""

    def parts(left, number, largest):
        if number == 0:
            if left == 0:
                yield ()
            return
        for first in range(min(left, largest), -1, -1):
            for rest in parts(left - first, number - 1, first):
                yield (first, *rest)

    for values in parts(total, n, total):
        yield {v: values.count(v) for v in set(values)}


def added(*tables):
    found = {}
    for table in tables:
        for value, count in table.items():
            found[value] = found.get(value, 0) + count
    return {value: count for value, count in found.items() if count}


def brute_pairs(numbers, fits):
    """Every pair of tables with (n, S1) of each in `numbers` that fits."""
    for (n_a, s_a), (n_b, s_b) in numbers:
        for first in tables_of(n_a, s_a):
            for second in tables_of(n_b, s_b):
                if fits(first, second):
                    yield first, second


def distribution_of(pairs, width):
    cells = np.array([[t.get(j, 0) for t in pair for j in range(width)] for pair in pairs])
    logs = np.array([-sum(math.lgamma(c + 1) for c in row) for row in cells])
    w = np.exp(logs - logs.max())
    return cells, w / w.sum()


def check_against(joint, pairs, truth):
    cells, w = distribution_of(pairs, joint.width)
    got = joint_distributions(joint.system, joint.cells_of(truth), Effort())
    assert got.count.value == len(pairs)
    distribution = got.distributions["multinomial"]
    assert distribution.entropy.value == pytest.approx(-np.sum(w * np.log2(w)), abs=1e-9)
    own = [c for table in truth.values() for c in (table.get(j, 0) for j in range(joint.width))]
    place = next(i for i, row in enumerate(cells.tolist()) if row == own)
    assert distribution.truth_probability.value == pytest.approx(w[place], rel=1e-9)
    for cell in distribution.cells:
        for count, p in zip(cell.support, cell.probabilities, strict=True):
            assert p == pytest.approx(w[cells[:, cell.cell] == count].sum(), abs=1e-9)


def test_a_set_of_both_and_of_neither_alone_by_brute_force():
    """Only the set of a and b together is out: any split of n and S1 between them is possible."""
    truth = {name: SMALL[name] for name in ("a", "b")}
    both = CountStatistics.of_counts(added(*truth.values()))
    joint = joint_system(("a", "b"), {}, [Margin(categories=("a", "b"), statistics=both)])
    assert joint.open == ("a", "b")
    splits = [
        ((n, s), (both.n - n, both.total - s))
        for n in range(both.n + 1)
        for s in range(both.total + 1)
    ]
    pairs = list(brute_pairs(splits, lambda a, b: CountStatistics.of_counts(added(a, b)) == both))
    check_against(joint, pairs, truth)


def test_one_set_and_the_table_of_both_by_brute_force():
    """The set of a and the table of a and b together: that of b follows, and so does much more."""
    truth = {name: SMALL[name] for name in ("a", "b")}
    table = added(*truth.values())
    own = CountStatistics.of_counts(SMALL["a"])
    joint = joint_system(("a", "b"), {"a": own}, [Margin(categories=("a", "b"), table=table)])
    assert joint.derived == ("b",)
    assert joint.known["b"] == CountStatistics.of_counts(SMALL["b"])
    other = joint.known["b"]
    pairs = list(
        brute_pairs(
            [((own.n, own.total), (other.n, other.total))],
            lambda a, b: CountStatistics.of_counts(a) == own and added(a, b) == table,
        )
    )
    check_against(joint, pairs, truth)


def test_three_margins_of_pairs_determine_every_set():
    sets = {name: CountStatistics.of_counts(table) for name, table in SMALL.items()}
    margins = [
        Margin(categories=pair, statistics=together({name: sets[name] for name in pair}))
        for pair in (("a", "b"), ("b", "c"), ("a", "c"))
    ]
    assert derived_sets(("a", "b", "c"), {}, margins) == sets
    assert derived_sets(("a", "b", "c"), {}, margins[:2]) == {}


def test_margins_that_contradict():
    sets = {name: CountStatistics.of_counts(table) for name, table in SMALL.items()}
    wrong = Margin(categories=("a", "b"), statistics=sets["a"])
    with pytest.raises(InputError, match=r"the margin a\+b must be one with the n, S1 and S2"):
        joint_system(("a", "b"), {"a": sets["a"], "b": sets["b"]}, [wrong])
    with pytest.raises(InputError, match="must be sets that leave whole numbers"):
        joint_system(("a", "b"), {"a": sets["a"]}, [wrong])
    with pytest.raises(InputError, match="each in a set or in a margin that is out, got 'b'"):
        joint_system(("a", "b"), {"a": sets["a"]})
    with pytest.raises(InputError, match="a margin must be a set of statistics or a table"):
        Margin(categories=("a",))
    with pytest.raises(InputError, match="one or more categories, once each"):
        Margin(categories=("a", "a"), table={1: 1})
    with pytest.raises(InputError, match="the table of a margin must be one with the set"):
        Margin(categories=("a",), table={1: 1}, statistics=sets["a"])


@pytest.mark.parametrize("n", [6, 12, 20])
def test_every_category_follows_from_as_many_independent_groups(n):
    """With groups at random the weights have large denominators, which no rounded guess finds."""
    rng = np.random.default_rng(n)
    held = rng.integers(0, 2, size=(n, n))
    while np.linalg.matrix_rank(held) < n:
        held = rng.integers(0, 2, size=(n, n))
    names = tuple(f"c{i}" for i in range(n))
    groups = [tuple(names[i] for i in np.flatnonzero(row)) for row in held]
    found = combinations_to_one(names, groups)
    assert tuple(found) == names
    for place, weights in enumerate(found.values()):
        sums = [sum(w * int(x) for w, x in zip(weights, column)) for column in held.T]
        assert sums == [int(i == place) for i in range(n)]
    one_less = groups[:-1]
    assert len(combinations_to_one(names, one_less)) < n
    assert determined(names, groups) == set(names)


def test_what_does_not_follow_is_left_out():
    groups = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]  # only differences are known
    assert combinations_to_one(tuple("abcd"), groups) == {}
    assert combinations_to_one(tuple("abcd"), []) == {}
    triangle = [("a", "b"), ("b", "c"), ("c", "a")]
    halves = combinations_to_one(tuple("abc"), triangle)["a"]
    assert halves == [Fraction(1, 2), Fraction(-1, 2), Fraction(1, 2)]
