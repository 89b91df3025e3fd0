"""Which records have the same values of some keys."""

from collections.abc import Sequence

import numpy as np

from discreet.data.coding import Coding
from discreet.engines.key_space import KeyLevels
from discreet.engines.local.grouping import distinct_rows
from discreet.masks.records.contract import CodedRecords
from discreet.numerics.arrays import BoolArray, IntArray


def coding_of(keys: Sequence[KeyLevels]) -> Coding:
    """The code of a combination of these keys."""
    return Coding.of_sizes([max(len(key.values), 1) for key in keys])


def combinations_of(records: CodedRecords, places: Sequence[int]) -> tuple[IntArray, IntArray]:
    """The combinations that occur of the keys at these places (combinations × keys), in the order
    of their codes, and which of them each record has; without any key all records have the same."""
    if not places:
        none = np.zeros((min(len(records), 1), 0), dtype=np.int64)
        return none, np.zeros(len(records), dtype=np.int64)
    coding = coding_of([records.keys[place] for place in places])
    words = coding.encode(records.levels[:, list(places)])
    n_codes = coding.n_combinations if coding.n_words == 1 else None
    distinct, which = distinct_rows(words, n_codes)
    return coding.decode(distinct), which


def alone(records: CodedRecords) -> BoolArray:
    """Which records no other one equals in all keys."""
    _, which = combinations_of(records, range(len(records.keys)))
    return np.asarray(np.bincount(which)[which] == 1) if len(which) else which.astype(np.bool_)


def missing_level(key: KeyLevels) -> int:
    """The level that stands for a missing value, −1 where none does."""
    return len(key.values) - 1 if key.values and key.values[-1] is None else -1
