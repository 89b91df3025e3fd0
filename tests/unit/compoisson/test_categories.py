"""One set of statistics a category, their sums, and the table of all together."""

import itertools
import math

import numpy as np
import pytest

from discreet.compoisson.categories import reconstruct_categories, together, withheld_category
from discreet.compoisson.knowledge import Knowledge
from discreet.compoisson.snooper import snooper
from discreet.compoisson.statistics import CountStatistics
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
    laws = [snooper(one).law(truth=TABLES[name]) for name, one in SETS.items()]
    counts = [snooper(one).count().value for one in SETS.values()]
    got = joint.sets_alone
    assert got.count.value == math.prod(counts)
    law = got.laws["multinomial"]
    assert law.entropy.value == pytest.approx(sum(one.entropy.value for one in laws))
    product = math.prod(one.truth_probability.value for one in laws)
    assert law.truth_probability.value == pytest.approx(product)
    assert joint.with_totals is None


def test_totals_tell_more():
    joint = reconstruct_categories(SETS, totals=TOTALS, truth=TABLES)
    north, south = (list(snooper(one).tables()) for one in SETS.values())
    whole = np.array([TOTALS[j] for j in range(5)])
    pairs = [(a, b) for a, b in itertools.product(north, south) if np.array_equal(a + b, whole)]
    logs = np.array([-sum(math.lgamma(c + 1) for c in np.concatenate(pair)) for pair in pairs])
    w = np.exp(logs - logs.max())
    w /= w.sum()
    got = joint.with_totals
    assert got.count.value == len(pairs)
    law = got.laws["multinomial"]
    assert law.entropy.value == pytest.approx(-np.sum(w * np.log2(w)), abs=1e-9)
    assert law.entropy.value < joint.sets_alone.laws["multinomial"].entropy.value
    truth = joint.cell("south", 3)
    assert law.cells[truth].probability(3) == pytest.approx(
        sum(p for p, (_, b) in zip(w, pairs, strict=True) if b[3] == 3)
    )


def test_knowledge_of_one_category_helps_with_the_other():
    known = {"north": Knowledge(cells={4: (2, 2)})}
    joint = reconstruct_categories(SETS, totals=TOTALS, knowledge=known, truth=TABLES)
    assert joint.with_totals.count.value == 1
    assert joint.with_totals.laws["uniform"].truth_probability.value == 1


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
