"""What a swap leaves of the records that look unique."""

import numpy as np
import pytest
from tests.oracles.made_up_records import drawn_records, records_of

from discreet.errors import InputError
from discreet.figures import How, Unavailable
from discreet.masks.records.after_swapping import after_swapping, expected_after_swapping
from discreet.masks.records.swapping import Swap


def rng(seed=1):
    return np.random.default_rng(seed)


def test_four_who_look_unique_and_a_pair_that_moved():
    records = records_of({"area": [0, 1, 2, 3]})
    found = after_swapping(Swap(key="area", share=0.5).swapped(records, rng()))
    assert (found.n_alone, found.n_certain, found.n_movable, found.n_really) == (4, 0, 4, 2)
    assert found.chance.value == 0.5
    assert found.chance.how is How.EXACT


def test_who_could_not_be_moved_is_certain():
    records = records_of({"area": [0, 1, 2], "age": [0, 0, 1]})
    found = after_swapping(Swap(key="area", keeping=("age",), share=1).swapped(records, rng()))
    assert (found.n_alone, found.n_certain, found.n_movable, found.n_really) == (3, 1, 2, 0)
    assert found.chance.value == 0
    assert found.chance_of_any.value == pytest.approx(1 / 3)


def test_against_the_rows():
    records = drawn_records(500, {"area": 20, "age": 3, "job": 8}, rng(3))
    swapped = Swap(key="area", keeping=("age",), share=0.3).swapped(records, rng(4))
    after = [tuple(row) for row in swapped.records.levels]
    single = [i for i, row in enumerate(after) if after.count(row) == 1]
    really = sum(after[i] == tuple(records.levels[i]) for i in single)
    found = after_swapping(swapped)
    assert found.n_alone == found.n_movable == len(single)
    assert found.chance.value == really / len(single)


def test_nobody_looks_unique():
    records = records_of({"area": [0, 0, 1, 1]})
    found = after_swapping(Swap(key="area", share=1).swapped(records, rng()))
    assert found.chance == Unavailable("no record that looks unique could have been swapped")
    assert found.chance_of_any == Unavailable("no record looks unique")
    told = expected_after_swapping(Swap(key="area", share=1), records, rng())
    assert isinstance(told, Unavailable)


def test_without_a_swap_all_are_really_there():
    records = drawn_records(50, {"area": 40}, rng(1))
    found = after_swapping(Swap(key="area", share=0).swapped(records, rng()))
    assert found.chance.value == 1


def test_the_error_of_the_expected_chance():
    """Estimates of 20 repeats scatter around their mean as their standard errors say: neither half
    nor twice as much (60 of them tell a spread to within 10 %)."""
    records = drawn_records(150, {"area": 10, "job": 6}, rng(3))
    swap = Swap(key="area", share=0.4)
    found = [expected_after_swapping(swap, records, rng(seed)) for seed in range(60)]
    values = np.array([one.value for one in found])
    errors = np.array([one.standard_error for one in found])
    assert 0.7 < values.std(ddof=1) / np.sqrt((errors**2).mean()) < 1.4
    one_draw = [after_swapping(swap.swapped(records, rng(1000 + i))) for i in range(1200)]
    ratio = sum(one.n_really for one in one_draw) / sum(one.n_movable for one in one_draw)
    assert abs(values.mean() - ratio) < 4 * errors.mean() * np.sqrt(2 / 60)


def test_an_estimate_that_has_no_error():
    """Of four who look unique two always moved."""
    records = records_of({"area": [0, 1, 2, 3]})
    found = expected_after_swapping(Swap(key="area", share=0.5), records, rng(), repeats=5)
    assert (found.value, found.standard_error, found.how) == (0.5, 0, How.ESTIMATE)


@pytest.mark.parametrize("repeats", [1, 2.5, True])
def test_repeats_that_tell_no_error(repeats):
    with pytest.raises(InputError, match="repeats must be a whole number of at least 2, got"):
        expected_after_swapping(
            Swap(key="a", share=0.5), records_of({"a": [0]}), rng(), repeats=repeats
        )
