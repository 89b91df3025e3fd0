"""Size indices: how many cells hold exactly j records."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data.summary import SizeIndices

counts = st.lists(st.integers(1, 30), min_size=1, max_size=200)


@given(counts)
def test_they_agree_with_a_counter(counts):
    indices = SizeIndices.of_counts(np.array(counts))
    tally = Counter(counts)
    assert indices.to_json() == {str(size): tally[size] for size in sorted(tally)}
    assert indices.n_cells == len(counts)
    assert indices.sample_size == sum(counts)
    assert indices.sample_uniques == tally[1]


@given(counts, st.integers(1, 40))
def test_records_and_cells_below_k(counts, k):
    indices = SizeIndices.of_counts(np.array(counts))
    small = [count for count in counts if count < k]
    assert indices.cells_below(k) == len(small)
    assert indices.records_below(k) == sum(small)


def test_sizes_that_do_not_occur_are_not_listed():
    indices = SizeIndices.of_counts(np.array([5, 1, 1]))
    assert indices.sizes.tolist() == [1, 5]
    assert indices.cells.tolist() == [2, 1]


def test_large_sizes_are_exact():
    indices = SizeIndices(np.array([1, 10**10]), np.array([10**8, 10**7]))
    assert indices.sample_size == 10**8 + 10**17


def test_they_cannot_be_changed():
    indices = SizeIndices.of_counts(np.array([1, 2]))
    with pytest.raises(ValueError, match="read-only"):
        indices.sizes[0] = 3
    with pytest.raises(ValueError, match="read-only"):
        indices.cells[0] = 3


def test_cells_that_overlap_are_no_partition_though_the_sizes_add_up():
    counts, records = np.array([2.0, 2.0]), np.array([2, 2])
    assert SizeIndices.of_counts(counts, records).is_partition
    assert not SizeIndices.of_counts(counts, records, disjoint=False).is_partition
