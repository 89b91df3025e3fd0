"""The measures of small cells against counting by hand, and what a simulated distribution adds to
them.
"""

import pytest

from discreet.fiber.sums.counting import Count
from discreet.figures import Figure, How, Unavailable
from discreet.tables.measures import (
    TOO_SMALL,
    best_value,
    one_over_tables,
    table_measures,
    tightness,
)

DISTRIBUTIONS = [{0: 0.3, 1: 0.7}, {0: 0.5, 2: 0.5}, {1: 0.45, 2: 0.4, 3: 0.15}, {0: 0.9, 1: 0.1}]
TRUTHS = [1, 2, 1, 1]


def measured(errors, confidence=0.5, true_table=None):
    chance = true_table or Figure(value=0.1, how=How.EXACT)
    own = [dict.fromkeys(distribution, errors) for distribution in DISTRIBUTIONS]
    return table_measures(DISTRIBUTIONS, own, TRUTHS, confidence=confidence, true_table=chance)


def test_exact_distributions_give_exact_measures():
    found = measured(0.0)
    assert found.small_cells_identified == Figure(value=1 / 4, how=How.EXACT)
    assert found.expected_identified.value == pytest.approx(0.7 + 0.5 + 0.45 + 0.1)
    assert measured(0.0, confidence=0.4).small_cells_identified.value == 2 / 4


def test_rounding_turns_no_even_chance():
    even = {0: 0.4999999999999999, 1: 0.5000000000000001}
    assert best_value(even) == 0
    chance, none = Figure(value=0.1, how=How.EXACT), dict.fromkeys(even, 0.0)
    for truth in even:
        found = table_measures([even], [none], [truth], confidence=0.5, true_table=chance)
        assert found.small_cells_identified.value == 0


def test_cells_known_not_to_be_found_lower_the_share_alone():
    chance, own = (
        Figure(value=0.1, how=How.EXACT),
        [dict.fromkeys(distribution, 0.0) for distribution in DISTRIBUTIONS],
    )
    found = table_measures(
        DISTRIBUTIONS, own, TRUTHS, confidence=0.5, true_table=chance, not_found=6
    )
    assert found.small_cells_identified.value == 1 / 10
    assert found.expected_identified == measured(0.0).expected_identified


def test_cells_near_the_confidence_limit_a_simulated_share():
    found = measured(0.01).small_cells_identified
    assert (found.value, found.low, found.high) == (1 / 4, 1 / 4, 2 / 4)  # 0.5 against 0.5
    wide = measured(0.11).small_cells_identified
    assert (wide.low, wide.high) == (0.0, 3 / 4)
    assert "near the confidence" in wide.note


def test_standard_errors_add_up_in_the_worst_case():
    found = measured(0.01).expected_identified
    assert found.standard_error == pytest.approx(0.04)


def test_the_probability_of_the_true_table_is_never_zero():
    found = measured(0.0, true_table=Figure(value=0.0, how=How.EXACT))
    assert found.true_table.note == TOO_SMALL


def test_no_small_cell_is_no_figure():
    found = table_measures([], [], [], confidence=0.5, true_table=Unavailable("x"))
    assert isinstance(found.small_cells_identified, Unavailable)
    assert isinstance(tightness([], True), Unavailable)


def test_tightness_is_minus_the_least_width():
    assert tightness([3, 1, 7], True) == Figure(value=-1, how=How.EXACT)
    loose = tightness([3, 1, 7], False)
    assert (loose.value, loose.low, loose.high, loose.how) == (None, -1, 0, How.BOUND)


def test_one_over_the_number_of_tables():
    assert one_over_tables(Count(value=8, how=How.EXACT)).value == 1 / 8
    limit = one_over_tables(Count(value=None, how=None, at_least=20))
    assert (limit.value, limit.high) == (None, 1 / 20)
    guess = one_over_tables(Count(value=100, how=How.ESTIMATE, standard_error=10.0))
    assert guess.standard_error == pytest.approx(0.001)  # one tenth of 1 / 100


def test_of_equals_the_least_value_is_the_best():
    assert best_value({2: 0.5, 1: 0.5}) == 1


@pytest.mark.parametrize("noise", [0.0, 1e-17, 6e-10, 5e-9])
def test_a_cell_with_one_value_is_exact_whatever_rounding_leaves_of_its_error(noise):
    found = table_measures(
        [{1: 1.0}], [{1: noise}], [1], confidence=0.5, true_table=Unavailable("none")
    )
    assert found.small_cells_identified.how is How.EXACT
    assert found.expected_identified.how is How.EXACT


def test_a_cell_that_all_draws_agree_on_is_an_estimate():
    succession = [{1: 1 / 2002}]
    found = table_measures(
        [{1: 1.0}], succession, [1], confidence=0.5, true_table=Unavailable("none")
    )
    assert found.expected_identified.how is How.ESTIMATE
