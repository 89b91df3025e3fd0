"""Impossible cells: their number is exact, and no cell is missed."""

import itertools
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discreet.data.structural_zeros import StructuralZeros


@st.composite
def tables(draw):
    """Numbers of levels and some boxes: each names levels of some of the keys."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    levels = [st.integers(0, size - 1) for size in sizes]
    keys = st.sets(st.sampled_from(range(len(sizes))), min_size=1)
    boxes = draw(
        st.lists(
            keys.flatmap(lambda k: st.fixed_dictionaries({key: levels[key] for key in sorted(k)})),
            max_size=8,
        )
    )
    return sizes, boxes


def inside(cell, boxes):
    return any(all(cell[key] == level for key, level in box.items()) for box in boxes)


@given(tables())
def test_possible_cells_agree_with_going_through_all_of_them(table):
    sizes, boxes = table
    cells = list(itertools.product(*map(range, sizes)))
    zeros = StructuralZeros.of_boxes(sizes, boxes)
    covered = [inside(cell, boxes) for cell in cells]
    assert zeros.n_possible() == len(cells) - sum(covered)
    assert zeros.covers(np.array(cells)).tolist() == covered


def test_no_box_leaves_all_cells():
    assert StructuralZeros.of_boxes([3, 4], []).n_possible() == 12
    assert not StructuralZeros.of_boxes([3, 4], []).covers(np.array([[0, 0]])).any()


def test_the_same_box_twice_counts_once():
    box = {0: 1, 1: 2}
    assert StructuralZeros.of_boxes([3, 4], [box, dict(reversed(box.items()))]).n_possible() == 11


def test_boxes_of_separate_keys_multiply_exactly_in_a_huge_table():
    sizes = [7] * 100
    boxes = [{2 * pair: 3, 2 * pair + 1: 4} for pair in range(50)]
    assert StructuralZeros.of_boxes(sizes, boxes).n_possible() == 48**50


def test_married_children_in_a_long_list():
    ages, states, rest = 100, 5, 12
    boxes = [{0: age, 1: state} for age in range(16) for state in range(1, states)]
    zeros = StructuralZeros.of_boxes([ages, states, rest], boxes)
    assert zeros.n_possible() == (ages * states - 16 * 4) * rest


def test_a_box_over_more_keys_than_a_word_holds():
    sizes = [2**13] * 6
    box = dict(enumerate([5, 0, 2**13 - 1, 7, 7, 1]))
    zeros = StructuralZeros.of_boxes(sizes, [box])
    levels = np.array([list(box.values()), [5, 0, 2**13 - 1, 7, 7, 0]])
    assert zeros.covers(levels).tolist() == [True, False]
    assert zeros.n_possible() == math.prod(sizes) - 1
