"""Attribute disclosure: groups that share a level."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from discreet.belief.belief import ListedBelief
from discreet.errors import InputError
from discreet.fiber.system.margins import margins_of
from discreet.tables.groups import learned_from_belief, learned_from_bounds, learned_from_margins

BLONDS = np.array([[4, 4], [4, 4], [4, 0]])  # black, red, blond × high, low income (Meek)


def test_all_blonds_have_a_high_income():
    [learned] = learned_from_margins(margins_of(BLONDS, [(0, 1)]), targets=[1])
    assert (learned.group, learned.group_levels) == ((0,), (2,))
    assert (learned.target, learned.level, learned.persons) == (1, 0, 4)
    assert learned.probability == 1.0


def test_the_other_way_round_everyone_with_a_low_income_is_not_blond_which_is_no_level():
    assert learned_from_margins(margins_of(BLONDS, [(0, 1)]), targets=[0]) == ()


def test_narrower_groups_are_not_listed_again():
    table = np.stack([BLONDS, BLONDS], axis=2)  # by sex, which changes nothing
    found = learned_from_margins(margins_of(table, [(0, 1, 2)]), targets=[1])
    assert [(x.group, x.group_levels) for x in found] == [((0,), (2,))]


TABLES = hnp.arrays(np.int64, (2, 3, 2), elements=st.integers(0, 2)).filter(lambda t: t.sum() > 0)


@given(TABLES)
def test_against_a_slow_search(table):
    found = learned_from_margins(margins_of(table, [(0, 1, 2)]), targets=[1])
    listed = {(x.group, x.group_levels, x.level) for x in found}
    for group in [(), (0,), (2,), (0, 2)]:
        for levels in product(*(range(table.shape[axis]) for axis in group)):
            index = [slice(None)] * 3
            for axis, level in zip(group, levels):
                index[axis] = level
            counts = np.array([table[*index[:1], j, *index[2:]].sum() for j in range(3)])
            shares = counts.sum() > 0 and counts.max() == counts.sum()
            wider = any(set(zip(g, lv)) <= set(zip(group, levels)) for g, lv, _ in listed)
            assert shares == wider or (wider and counts.sum() == 0)


def test_what_two_margins_prove_together():
    truth = np.zeros((3, 2, 2), dtype=np.int64)
    truth[0, 0, 0], truth[1, 1, 1], truth[1, 1, 0], truth[2, 1, 1] = 3, 4, 5, 2
    margins = margins_of(truth, [(0, 1), (1, 2)])
    by_margin = learned_from_margins(margins, targets=[2])
    assert [(x.group, x.group_levels) for x in by_margin] == [((1,), (0,))]
    most = np.minimum(truth.sum(axis=2)[:, :, None], truth.sum(axis=0)[None])  # Fréchet's
    [learned] = learned_from_bounds(most, truth, targets=[2], proved=by_margin)
    assert (learned.group, learned.group_levels, learned.level) == ((0,), (0,), 0)
    assert (learned.persons, learned.probability) == (3, 1.0)


@given(TABLES)
def test_with_the_whole_table_out_bounds_prove_what_its_margin_shows(table):
    by_margin = learned_from_margins(margins_of(table, [(0, 1, 2)]))
    assert set(learned_from_bounds(table, table)) == set(by_margin)
    assert learned_from_bounds(table, table, proved=by_margin) == ()


def test_with_a_probability():
    tables = np.array([[4, 0, 1, 1], [3, 1, 2, 0], [3, 1, 1, 1]])
    belief = ListedBelief(tables=tables, probabilities=np.array([0.6, 0.3, 0.1]))
    [learned] = learned_from_belief(belief, (2, 2), [0], 1, threshold=0.5)
    assert (learned.group_levels, learned.level, learned.persons) == ((0,), 0, 4)
    assert learned.probability == pytest.approx(0.6)
    both = learned_from_belief(belief, (2, 2), [0], 1, threshold=0.3)
    assert [x.probability for x in both] == pytest.approx([0.6, 0.3])


def test_a_group_that_may_be_empty_has_no_known_size():
    tables = np.array([[2, 0, 1, 0], [0, 0, 3, 0]])
    belief = ListedBelief(tables=tables, probabilities=np.array([0.5, 0.5]))
    found = learned_from_belief(belief, (2, 2), [0], 1, threshold=0.5)
    assert [(x.group_levels, x.persons, x.probability) for x in found] == [
        ((0,), None, 0.5),
        ((1,), None, 1.0),
    ]


@given(TABLES)
def test_a_known_table_is_learned_with_certainty(table):
    belief = ListedBelief(tables=table.reshape(1, -1), probabilities=np.array([1.0]))
    found = learned_from_belief(belief, table.shape, [2, 0], 1, threshold=1.0)
    for learned in found:
        c, a = learned.group_levels
        assert table[a, :, c].sum() == table[a, learned.level, c] == learned.persons
    wanted = sum(
        table[a, :, c].sum() > 0 and table[a, :, c].max() == table[a, :, c].sum()
        for a in range(2)
        for c in range(2)
    )
    assert len(found) == wanted


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 0.0}, "threshold must be above 0, up to 1, got 0.0"),
        ({"threshold": 0.5, "target": 0}, "target must be no variable of the group, got 0"),
    ],
)
def test_bad_input(options, message):
    belief = ListedBelief(tables=np.array([[1, 0, 0, 1]]), probabilities=np.array([1.0]))
    with pytest.raises(InputError, match=message):
        learned_from_belief(belief, (2, 2), [0], **({"target": 1} | options))


def test_only_what_holds_of_every_table_is_certain():
    """Probabilities that add up to 1 less a last bit, and an exception too improbable to add."""
    tables = np.array([[1, 0, 1, 0], [2, 0, 1, 0], [1, 1, 1, 0], [3, 0, 1, 0]])
    weights = np.array([0.1, 0.2, 1e-20, 0.7])
    belief = ListedBelief(tables=tables, probabilities=weights)
    found = learned_from_belief(belief, (2, 2), [0], 1, threshold=1.0)
    assert {one.group_levels: one.probability == 1 for one in found} == {(0,): False, (1,): True}
    short = ListedBelief(tables=tables[[0, 1, 3]], probabilities=weights[[0, 1, 3]] * (1 - 2**-52))
    assert {one.probability for one in learned_from_belief(short, (2, 2), [0], 1, threshold=1)} == {
        1.0
    }


def test_a_group_just_as_probable_as_asked_is_listed():
    tables = np.array([[1, 0], [0, 1]])
    for p in (0.9, 0.9 - 1e-11, 0.9 - 2**-53):
        belief = ListedBelief(tables=tables, probabilities=np.array([p, 1 - p]))
        assert len(learned_from_belief(belief, (2,), [], 0, threshold=0.9)) == 1
