"""Records and cells that break k-anonymity."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data.summary import SizeIndices
from discreet.errors import InputError
from discreet.survey.anonymity import anonymity, anonymity_curve


@given(st.lists(st.integers(0, 6), min_size=1, max_size=80), st.integers(2, 20))
def test_it_agrees_with_looking_at_each_record(records, k):
    counts = Counter(records)
    found = anonymity(SizeIndices.of_counts(np.array(list(counts.values()))), k)
    assert found.k == k
    assert found.records == sum(counts[record] < k for record in records)
    assert found.cells == sum(count < k for count in counts.values())
    assert found.record_share == pytest.approx(found.records / len(records))


def test_the_curve_rises_with_k_and_names_each_k_once():
    curve = anonymity_curve(SizeIndices.of_counts(np.array([1, 1, 2, 4, 9])), [5, 2, 3, 5, 100])
    assert [point.k for point in curve] == [2, 3, 5, 100]
    assert [point.records for point in curve] == [2, 4, 8, 17]


@pytest.mark.parametrize("k", [1, 0, -3])
def test_k_below_two_asks_nothing(k):
    with pytest.raises(InputError, match=f"k must be at least 2, got {k}"):
        anonymity(SizeIndices.of_counts(np.array([1])), k)
