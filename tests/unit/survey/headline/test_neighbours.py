import numpy as np
import pytest

from discreet.data.coding import Coding
from discreet.survey.headline.neighbours import neighbour_counts


def by_comparing_all_pairs(levels, records):
    """Records that differ in exactly one key, by looking at every pair of cells."""
    differ = (levels[:, None, :] != levels[None, :, :]).sum(axis=2)
    return ((differ == 1) * records).sum(axis=1)


@pytest.mark.parametrize("limit", [2**62, 40])
def test_neighbours_are_those_found_by_comparing_all_pairs(limit):
    rng = np.random.default_rng(3)
    sizes = [4, 3, 5, 2, 6]
    levels = np.unique(rng.integers(0, sizes, size=(150, 5)), axis=0)
    records = rng.integers(1, 9, len(levels))
    coding = Coding.of_sizes(sizes, limit=limit)
    assert (coding.n_words > 1) == (limit == 40)
    found = neighbour_counts(coding.encode(levels), records, coding)
    assert found.tolist() == by_comparing_all_pairs(levels, records).tolist()


def test_with_one_key_every_other_record_is_a_neighbour():
    coding = Coding.of_sizes([3])
    found = neighbour_counts(np.array([[0], [1], [2]]), np.array([5, 1, 2]), coding)
    assert found.tolist() == [3, 7, 6]


def test_a_single_cell_has_no_neighbour():
    coding = Coding.of_sizes([3, 2])
    assert neighbour_counts(np.array([[4]]), np.array([7]), coding).tolist() == [0]


def test_the_codes_are_left_as_they_were():
    coding = Coding.of_sizes([3, 2])
    words = np.array([[0], [4], [5]])
    neighbour_counts(words, np.array([1, 1, 1]), coding)
    assert words.tolist() == [[0], [4], [5]]
