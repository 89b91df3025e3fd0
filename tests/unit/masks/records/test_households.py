"""Households are the same kind exactly if the same members live in them."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discreet.masks.records.households import compositions


@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=9), min_size=1, max_size=30))
def test_the_same_number_for_the_same_members(houses):
    household = np.repeat(np.arange(len(houses)), [len(house) for house in houses])
    kind = np.concatenate(houses).astype(np.int64)
    mixed = np.random.default_rng(0).permutation(len(kind))
    found = compositions(household[mixed], kind[mixed], len(houses))
    for one, a in zip(houses, found):
        for other, b in zip(houses, found):
            assert (Counter(one) == Counter(other)) == (a == b)


def test_one_large_household_and_none():
    assert len(compositions(np.zeros(100_000, np.int64), np.arange(100_000), 1)) == 1
    none = np.zeros(0, np.int64)
    assert compositions(none, none, 0).tolist() == []
