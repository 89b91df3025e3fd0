"""Samples drawn from a population of cells, and the truth beside them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.cells_beside import whole

from discreet.data.coding import Coding
from discreet.errors import InputError
from discreet.survey.backtest.sampling_trial import PopulationCells, draw_sample, equal_allocation

LEVELS = np.array([[0, 0], [0, 2], [1, 1], [2, 0]])


def population(counts):
    return PopulationCells(
        coding=Coding.of_sizes([3, 3]), levels=LEVELS, counts=np.array(counts, dtype=np.int64)
    )


def test_a_sample_of_everyone_is_the_population():
    drawn = draw_sample(population([1, 3, 1, 5]), 10, stratum=None, rng=np.random.default_rng(1))
    held = whole(drawn.cells)
    codes = drawn.cells.coding.encode(LEVELS)[:, 0].tolist()
    assert dict(zip(codes, [1, 3, 1, 5], strict=True)) == dict(
        zip(held.words[:, 0].tolist(), held.n_records.tolist(), strict=True)
    )
    assert drawn.population_uniques == 2
    assert drawn.correct_matches == 4.0


def test_levels_that_are_not_drawn_are_not_coded():
    rng = np.random.default_rng(3)
    drawn = draw_sample(population([1, 3, 1, 500]), 2, stratum=None, rng=rng)
    assert drawn.cells.coding.sizes == tuple(
        len(set(column)) for column in whole(drawn.cells).levels().T.tolist()
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_mean_of_many_samples_is_the_sampling_fraction(seed):
    rng = np.random.default_rng(seed)
    uniques = [
        draw_sample(population([1, 3, 1, 5]), 4, stratum=None, rng=rng).population_uniques
        for _ in range(4000)
    ]
    assert np.mean(uniques) == pytest.approx(2 * 0.4, abs=5 * 0.6 / 4000**0.5)


def test_strata_give_equal_numbers_and_their_weights():
    counts = [40, 60, 50, 2]
    drawn = draw_sample(population(counts), 30, stratum=0, rng=np.random.default_rng(2))
    held = whole(drawn.cells)
    levels = held.levels()[:, 0]
    taken = np.bincount(levels, weights=held.sample_count)
    assert taken.tolist() == [14, 14, 2]
    totals = np.bincount(levels, weights=held.weight_total)
    assert totals == pytest.approx([100, 50, 2])


@given(st.lists(st.integers(1, 50), min_size=1, max_size=8), st.floats(0, 1, exclude_min=True))
def test_an_allocation_spends_all_and_overdraws_nothing(held, share):
    held = np.array(held)
    size = max(len(held), round(share * int(held.sum())))
    given_out = equal_allocation(held, size)
    assert given_out.sum() == size
    assert np.all(given_out <= held)
    assert given_out.min() >= 1
    smaller = given_out < held
    if smaller.any():  # those that are not used up differ by rounding only
        assert given_out[smaller].max() - given_out[smaller].min() <= 1
        assert given_out.max() <= given_out[smaller].max() + 1


def test_fewer_persons_than_strata_are_refused():
    with pytest.raises(InputError, match="at least one for each of its 3 levels, got 2"):
        equal_allocation(np.array([5, 5, 5]), 2)
