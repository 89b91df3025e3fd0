"""Values among matching records, against going through all pairs of cells."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engines import matched_values as module
from discreet.engines.matched_values import matched_values

MISSING = 3
cells = st.integers(1, 4).flatmap(
    lambda n: st.dictionaries(
        st.tuples(*[st.integers(0, MISSING)] * n),
        st.dictionaries(st.integers(0, 6), st.integers(1, 3), max_size=4),
        min_size=1,
        max_size=14,
    )
)


def match(one, other):
    return all(x == y or MISSING in (x, y) for x, y in zip(one, other, strict=True))


def group(here, table, policy):
    """The cells of the group of a cell, by the words of the definition."""
    if policy == "wildcard":
        return [cell for cell in table if match(here, cell)]
    if MISSING not in here:
        return [here]
    complete = [cell for cell in table if MISSING not in cell and match(here, cell)]
    return complete or [here]


def found(table, policy):
    levels = np.array(list(table))
    rows = [
        (i, value, n) for i, held in enumerate(table.values()) for value, n in sorted(held.items())
    ]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    missing = np.full(levels.shape[1], MISSING)
    groups = [Counter() for _ in table]
    met = []
    for part in matched_values(levels, missing, *columns, policy=policy):
        met += part.cells.tolist()
        keys = part.cell * 100 + part.value
        assert (np.diff(keys) > 0).all()
        for cell, value, records in zip(part.cell, part.value, part.records, strict=True):
            groups[part.cells[cell]][int(value)] += int(records)
    assert sorted(met) == list(range(len(table)))
    return groups


@pytest.mark.parametrize("policy", ["wildcard", "conservative"])
@pytest.mark.parametrize(("rows", "n_cells"), [(1 << 21, 1 << 16), (1, 1), (5, 3)])
def test_groups_are_those_of_the_definition(policy, rows, n_cells):
    @given(cells)
    @settings(max_examples=60)
    def check(table):
        expected = [
            sum((Counter(table[cell]) for cell in group(here, table, policy)), Counter())
            for here in table
        ]
        assert found(table, policy) == expected

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_ROWS", rows)
        patch.setattr(module, "MOST_CELLS", n_cells)
        check()


def test_parts_hold_no_more_rows_than_allowed(monkeypatch):
    monkeypatch.setattr(module, "MOST_ROWS", 500)
    rng = np.random.default_rng(1)
    levels = np.unique(rng.integers(0, 5, (400, 4)), axis=0)
    cell = np.repeat(np.arange(len(levels)), 3)
    value = np.sort(rng.permuted(np.tile(np.arange(50), (len(levels), 1)), axis=1)[:, :3]).ravel()
    ones = np.ones(len(cell), dtype=np.int64)
    parts = list(matched_values(levels, np.full(4, 4), cell, value, ones, policy="wildcard"))
    assert len(parts) > 10
    assert all(len(part.cell) <= 500 or len(part.cells) == 1 for part in parts)


def test_keys_beyond_one_word():
    n_keys = 70
    levels = np.array([[0] * n_keys, [1] * n_keys, [0] * (n_keys - 1) + [2]])
    missing = np.full(n_keys, 2)
    rows = np.array([0, 1, 2]), np.array([0, 1, 2]), np.array([5, 6, 7])
    groups = {}
    for part in matched_values(levels, missing, *rows, policy="wildcard"):
        for c, v, n in zip(part.cell, part.value, part.records, strict=True):
            groups.setdefault(int(part.cells[c]), {})[int(v)] = int(n)
    assert groups == {0: {0: 5, 2: 7}, 1: {1: 6}, 2: {0: 5, 2: 7}}
