"""What sets of persons and arguments are called."""

import numpy as np
import pytest
from tests.unit.tables.linked.linking import SQUARE, source, universe

from discreet.fiber.bounds.certificates import Certificate
from discreet.tables.linked.derived import Derived
from discreet.tables.linked.naming import MOST_STEPS, Names, said
from discreet.tables.linked.rules import Rule

SIMPLE = universe(SQUARE)
NAMES = Names(SIMPLE)


def derived(atoms, value, above, below, is_equal=False):
    def certificate(pairs, is_upper):
        return Certificate(
            rows=tuple(row for row, _ in pairs),
            weights=tuple(weight for _, weight in pairs),
            denominator=1,
            value=value,
            is_equal=is_equal,
            is_upper=is_upper,
        )

    up = None if above is None else certificate(above, True)
    down = up if above == below else None if below is None else certificate(below, False)
    return Derived(atoms=np.array(atoms), value=value, above=up, below=down)


@pytest.mark.parametrize(
    ("atoms", "cell"),
    [
        ([0], {"sex": "F", "age": "0-17"}),
        ([0, 1], {"sex": "F"}),
        ([0, 2], {"age": "0-17"}),
        ([0, 1, 2, 3], {}),
        ([0, 3], None),
        ([0, 1, 2], None),
    ],
)
def test_products_have_a_name(atoms, cell):
    assert NAMES.cell(np.array(atoms)) == cell


def test_what_is_no_product_is_a_box_less_cells():
    box, but = NAMES.box(np.array([0, 1, 2]))
    assert box == {}
    assert but == ({"sex": "M", "age": "18+"},)
    assert NAMES.box(np.array([0, 1])) == ({"sex": "F"}, ())


def test_cells_in_words():
    assert said({"sex": "F", "age": "15-19"}) == "sex F, age 15-19"
    assert said({}) == "everybody"


def test_a_difference_is_one_sum():
    one = derived([0], 1, [(2, 1), (1, -1)], [(2, 1), (1, -1)], is_equal=True)
    told = NAMES.derivation(one)
    assert told.sentence == "5 (square: sex F) − 4 (square: sex F, age 18+) = 1"
    assert told.above == told.below
    assert [(step.table, step.figure, step.times) for step in told.above] == [
        ("square", 5, 1), ("square", 4, -1),
    ]  # fmt: skip


def test_bounds_from_both_sides_are_two_sums():
    one = derived([0], 1, [(0, 1)], [(2, 1), (1, -1)])
    assert NAMES.derivation(one).sentence == (
        "at most 1 (square: sex F, age 0-17) = 1; "
        "at least 5 (square: sex F) − 4 (square: sex F, age 18+) = 1"
    )


def test_nobody_is_less_than_nobody():
    one = derived([0], 0, [(2, 1), (1, -1)], [])
    assert NAMES.derivation(one).sentence == (
        "at most 5 (square: sex F) − 4 (square: sex F, age 18+) = 0"
    )


def test_what_was_tried_says_so():
    assert NAMES.derivation(derived([0], 1, None, None)).sentence == (
        "the same in every table that fits, all of which were tried"
    )


def test_figures_that_are_not_printed_as_they_count_say_what_is_printed():
    rounded = universe(source("r", ["x"], [("a", 3), ("b", None)], rule=Rule(base=3, stated=True)))
    one = derived([0], 5, [(0, 1)], [(0, 1), (1, -2)])
    sentence = Names(rounded).derivation(one).sentence
    assert sentence.startswith("at most 5 (r: x a, printed 3) = 5; at least 1 (r: x a, printed 3) ")


def test_many_steps_are_summed_up():
    rows = [(f"x{i}", i) for i in range(12)]
    many = universe(source("t", ["x"], [*rows, ("Total", 66)]))
    pairs = [(12, 1), *((i, -1) for i in range(11))]
    sentence = Names(many).derivation(derived([11], 11, pairs, pairs, is_equal=True)).sentence
    assert sentence.count("(t:") == MOST_STEPS
    rest = sum(range(MOST_STEPS - 1, 11))
    assert sentence.endswith(f"− {rest} ({11 - (MOST_STEPS - 1)} more figures) = 11")


def test_weights_and_denominators_are_written():
    above = Certificate(
        rows=(0, 1), weights=(2, 1), denominator=3, value=2, is_equal=False, is_upper=True
    )
    one = Derived(atoms=np.array([0]), value=2, above=above, below=None)
    assert NAMES.derivation(one).sentence.startswith("the same in every table")
    one = Derived(atoms=np.array([0]), value=2, above=above, below=above.__class__(
        rows=(), weights=(), denominator=1, value=0, is_equal=False, is_upper=False))  # fmt: skip
    assert NAMES.derivation(one).sentence == (
        "at most 2 × 1 (square: sex F, age 0-17) + 4 (square: sex F, age 18+) / 3 = 2; "
        "nobody less than 0"
    )
