"""Groups that probably share a level, against a plain count over all tables of the belief."""

from itertools import combinations, product

import numpy as np
import pytest

from discreet.belief.belief import ListedBelief
from discreet.tables.groups import Learned, learned_from_margins
from discreet.tables.probable_groups import probable_groups

SIZES = (2, 3, 2)


def beliefs(seed):
    """Sparse random tables of three variables, each with a random probability."""
    rng = np.random.default_rng(seed)
    tables = np.unique(rng.multinomial(3, np.full(12, 1 / 12), size=6), axis=0)
    weights = rng.dirichlet(np.ones(len(tables)))
    return ListedBelief(tables=tables, probabilities=weights)


def shared(belief, pairs, target, level):
    """Pr(the group has a member, and all have the level), one table after another."""
    total = 0.0
    for table, p in zip(belief.tables.reshape(-1, *SIZES), belief.probabilities, strict=True):
        inside = outside = 0
        for cell in np.ndindex(*SIZES):
            if all(cell[axis] == own for axis, own in pairs.items()):
                inside += table[cell] if cell[target] == level else 0
                outside += table[cell] if cell[target] != level else 0
        total += p * (inside > 0 and outside == 0)
    return total


def by_brute_force(belief, target, threshold):
    """Every group, widest first, unless a wider one has the same lesson and is as probable."""
    found = []
    others = [axis for axis in range(3) if axis != target]
    for size in range(len(others) + 1):
        for group in combinations(others, size):
            for levels in product(*(range(SIZES[axis]) for axis in group)):
                pairs = dict(zip(group, levels, strict=True))
                for level in range(SIZES[target]):
                    p = shared(belief, pairs, target, level)
                    wider = any(
                        own.items() <= pairs.items() and level == taught and sure >= p - 1e-9
                        for own, taught, sure in found
                    )
                    if p >= threshold and not wider:
                        found.append((pairs, level, p))
    return found


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("threshold", [0.4, 0.9])
def test_against_brute_force(seed, threshold):
    belief = beliefs(seed)
    for target in range(3):
        found = probable_groups(belief, SIZES, [target], threshold=threshold, proved=())
        own = [
            (dict(zip(one.group, one.group_levels, strict=True)), one.level, one.probability)
            for one in found
        ]
        right = by_brute_force(belief, target, threshold)
        assert [pair[:2] for pair in own] == [pair[:2] for pair in right]
        assert [p for *_, p in own] == pytest.approx([p for *_, p in right], abs=1e-12)


def test_several_targets_stand_one_after_the_other():
    belief = beliefs(3)
    both = probable_groups(belief, SIZES, [2, 0], threshold=0.5, proved=())
    alone = [probable_groups(belief, SIZES, [t], threshold=0.5, proved=()) for t in (2, 0)]
    assert both == alone[0] + alone[1]


def test_what_is_proved_and_what_only_narrows_it_is_left_out():
    belief = beliefs(0)
    first = probable_groups(belief, SIZES, [2], threshold=0.3, proved=())
    assert first
    wide = Learned(
        group=(), group_levels=(), target=2, level=first[0].level, persons=None, probability=1.0
    )
    left = probable_groups(belief, SIZES, [2], threshold=0.3, proved=[wide])
    assert left == tuple(one for one in first if one.level != first[0].level)
    elsewhere = Learned(group=(), group_levels=(), target=1, level=0, persons=None, probability=1.0)
    assert probable_groups(belief, SIZES, [2], threshold=0.3, proved=[elsewhere]) == first


def test_persons_are_told_where_every_table_agrees_on_them():
    tables = np.array([[2, 0, 0, 1], [1, 1, 0, 1]])
    belief = ListedBelief(tables=tables, probabilities=np.array([0.95, 0.05]))
    found = probable_groups(belief, (2, 2), [1], threshold=0.9, proved=())
    assert [(one.group_levels, one.level, one.persons) for one in found] == [
        ((0,), 0, 2),
        ((1,), 1, 1),
    ]


def test_a_released_margin_proves_what_the_belief_holds_for_certain():
    from discreet.fiber.system.margins import margins_of

    table = np.array([[3, 0], [1, 2]])
    belief = ListedBelief(tables=table.reshape(1, -1), probabilities=np.ones(1))
    proved = learned_from_margins(margins_of(table, [(0, 1)]), [1])
    assert proved
    assert probable_groups(belief, (2, 2), [1], threshold=1.0, proved=proved) == ()
    assert probable_groups(belief, (2, 2), [1], threshold=1.0, proved=()) == proved


def test_a_probable_group_does_not_hide_a_certain_one_within_it():
    tables = np.array([[2, 0, 1, 0], [2, 0, 0, 1]])
    belief = ListedBelief(tables=tables, probabilities=np.array([0.92, 0.08]))
    found = probable_groups(belief, (2, 2), [1], threshold=0.9, proved=())
    assert [(one.group_levels, one.probability) for one in found] == [((), 0.92), ((0,), 1.0)]
