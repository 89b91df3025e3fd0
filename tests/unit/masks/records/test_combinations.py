"""Which records have the same values."""

import numpy as np
from tests.oracles.made_up_records import drawn_records, records_of

from discreet.masks.records.combinations import alone, combinations_of


def test_combinations_in_order():
    records = records_of({"a": [1, 0, 1, None], "b": [0, 2, 0, 1]})
    distinct, which = combinations_of(records, [0, 1])
    assert np.array_equal(distinct[which], records.levels)
    assert len(distinct) == 3


def test_without_keys_all_are_the_same():
    distinct, which = combinations_of(records_of({"a": [1, 0]}), [])
    assert distinct.shape == (1, 0)
    assert which.tolist() == [0, 0]


def test_codes_of_several_words():
    sizes = dict.fromkeys("abcde", 100000)
    records = drawn_records(30, sizes, np.random.default_rng(1))
    distinct, which = combinations_of(records, range(5))
    assert np.array_equal(distinct[which], records.levels)


def test_who_is_alone():
    assert alone(records_of({"a": [0, 1, 1, None]})).tolist() == [True, False, False, True]
    assert alone(records_of({"a": []}, sizes={"a": 1})).tolist() == []
