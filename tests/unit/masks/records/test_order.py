"""The order of records, and columns that are left out."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chi2
from tests.oracles.made_up_records import records_of

from discreet.errors import InputError
from discreet.masks.records.order import RemoveColumns, Shuffle


def rng(seed=1):
    return np.random.default_rng(seed)


def as_probable(seen, open_to):
    """Each of these was seen about as often."""
    assert set(seen) <= set(open_to)
    expected = seen.total() / len(open_to)
    statistic = sum((seen[one] - expected) ** 2 / expected for one in open_to)
    return 1e-4 < chi2.sf(statistic, len(open_to) - 1) < 1 - 1e-4


def test_every_order_is_as_probable():
    records, made = records_of({"a": [0, 1, 2, 3]}), rng()
    seen = Counter(tuple(Shuffle().applied(records, made).rows.tolist()) for _ in range(6000))
    assert as_probable(seen, list(permutations(range(4))))


def test_households_stay_together_in_every_order():
    records = records_of({"a": [0, 1, 2, 3]}, household=[8, 8, 2, 5])
    made = rng(2)
    seen = Counter()
    for _ in range(6000):
        shuffled = Shuffle(households=True).applied(records, made)
        seen[tuple(shuffled.rows.tolist())] += 1
        # Numbered in the order in which they come.
        assert shuffled.household[0] == 0
        assert set(np.diff(shuffled.household)) <= {0, 1}
    together = [
        order for order in permutations(range(4)) if abs(order.index(0) - order.index(1)) == 1
    ]
    assert as_probable(seen, together)


def test_records_move_whole():
    records = records_of({"a": [0, 1, 2]}, household=[4, 1, 4], weight=[1, 2, 3])
    shuffled = Shuffle().applied(records, rng(3))
    assert np.array_equal(shuffled.levels[:, 0], shuffled.rows)
    assert np.array_equal(shuffled.weight, shuffled.rows + 1)
    houses = dict(zip(shuffled.rows.tolist(), shuffled.household.tolist()))
    assert houses[0] == houses[2] != houses[1]
    assert records.rows.tolist() == [0, 1, 2]


@pytest.mark.parametrize("n", [0, 1])
@pytest.mark.parametrize("households", [False, True])
def test_files_that_have_one_order(n, households):
    records = records_of({"a": [0] * n}, sizes={"a": 1}, household=[3] * n)
    assert Shuffle(households=households).applied(records, rng()).rows.tolist() == [0] * n


def test_the_same_seed_the_same_order():
    records = records_of({"a": [0] * 50})
    one, same, other = (Shuffle().applied(records, rng(seed)).rows for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_a_file_without_households():
    with pytest.raises(InputError, match="households must be known for every record, got none"):
        Shuffle(households=True).applied(records_of({"a": [0]}), rng())


def test_what_no_shuffle_can_be():
    with pytest.raises(InputError, match="households must be True or False, got None"):
        Shuffle(households=None)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ((), "columns must be at least one name, got none"),
        ("name", "columns must be a tuple of names, each once, got 'name'"),
        (("a", "a"), "columns must be a tuple of names, each once"),
    ],
)
def test_what_no_columns_can_be(columns, message):
    with pytest.raises(InputError) as complaint:
        RemoveColumns(columns=columns)
    assert message in str(complaint.value)


def test_words():
    assert Shuffle().in_words == "put the records in random order"
    assert Shuffle(households=True).in_words == (
        "put the records in random order, households together"
    )
    assert RemoveColumns(columns=("name", "phone", "id")).in_words == "leave out name, phone and id"
    assert "no longer tells anything" in Shuffle().still_possible
    assert "not in the file" in RemoveColumns(columns=("a",)).still_possible
