"""Small files of records in memory, written as the levels of each key, None for missing."""

import numpy as np

from discreet.engines.key_space import KeyLevels
from discreet.masks.records.contract import CodedRecords


def records_of(columns, *, sizes=None, household=None, weight=None):
    """Records whose keys have these columns of levels; `sizes` gives keys more known levels than
    occur. A key has a missing level where a value is None."""
    keys, levels = [], []
    for name, column in columns.items():
        known = [level for level in column if level is not None]
        n = (sizes or {}).get(name, max(known, default=-1) + 1)
        values = [f"{name}{level}" for level in range(n)]
        n_missing = len(column) - len(known)
        if n_missing:
            values.append(None)
        keys.append(
            KeyLevels(
                name=name,
                values=tuple(values),
                labels=tuple(value or "missing" for value in values),
                n_missing=n_missing,
            )
        )
        levels.append([n if level is None else level for level in column])
    return coded(keys, np.array(levels, dtype=np.int64).T, household=household, weight=weight)


def coded(keys, levels, *, household=None, weight=None):
    """Records of these keys with these levels (records × keys)."""
    return CodedRecords(
        keys=tuple(keys),
        levels=levels,
        rows=np.arange(len(levels)),
        household=None if household is None else np.array(household, dtype=np.int64),
        weight=None if weight is None else np.array(weight, dtype=np.float64),
    )


def drawn_records(n, sizes, rng, **beside):
    """n records with uniform levels of keys of these sizes, by the name of the key."""
    return records_of(
        {name: rng.integers(0, size, n).tolist() for name, size in sizes.items()},
        sizes=sizes,
        **beside,
    )


def column(records, key):
    """The levels of a key, None for missing."""
    place = records.place(key)
    known = [value is not None for value in records.keys[place].values]
    return [int(level) if known[level] else None for level in records.levels[:, place]]
