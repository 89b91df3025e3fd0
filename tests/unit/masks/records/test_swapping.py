"""Swapping: the tables it keeps, whom it moves, and whom it cannot."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.made_up_records import column, drawn_records, records_of

from discreet.errors import ColumnError, InputError
from discreet.masks.records.combinations import alone
from discreet.masks.records.swapping import Swap

SIZES = {"area": 4, "region": 3, "age": 3, "job": 5}


def rng(seed=1):
    return np.random.default_rng(seed)


def table(records, keys):
    return Counter(zip(*(column(records, key) for key in keys)))


def moved(records, after):
    return (records.levels != after.levels).any(axis=1)


value = st.integers(0, 2)
rows = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(0, 3)), value, value, value), max_size=60
)


@given(rows, st.floats(0, 1), st.integers(0, 5))
def test_tables_keep_every_count(rows, share, seed):
    columns = {name: [row[i] for row in rows] for i, name in enumerate(SIZES)}
    records = records_of(columns, sizes=SIZES)
    swap = Swap(key="area", within=("region",), keeping=("age",), share=share)
    swapped = swap.swapped(records, rng(seed))
    after = swapped.records
    for keys in (("area", "region", "age"), ("region", "age", "job"), ("area",)):
        assert table(after, keys) == table(records, keys)
    assert np.array_equal(swapped.moved, moved(records, after))
    assert swapped.moved.sum() == swapped.n_moved <= share * swapped.n_units + 1e-9
    assert not (swapped.moved & ~swapped.movable).any()
    assert [a is None for a in column(after, "area")] == [a is None for a in columns["area"]]
    left = swapped.n_without_partner + swapped.n_beyond_share
    known = np.array([a is not None for a in columns["area"]], dtype=bool)
    assert swapped.n_targets == (alone(records) & known).sum()
    assert (alone(records) & swapped.moved).sum() == swapped.n_targets - left


houses = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(0, 2)),
        st.lists(st.tuples(value, value), min_size=1, max_size=3),
    ),
    max_size=25,
)


def file_of(houses):
    persons = [(area, *person) for area, members in houses for person in members]
    household = [i for i, (_, members) in enumerate(houses) for _ in members]
    columns = {name: [one[i] for one in persons] for i, name in enumerate(("area", "age", "job"))}
    return records_of(columns, sizes={"area": 3, "age": 3, "job": 3}, household=household)


@given(houses, st.floats(0, 1))
def test_households_move_together_to_where_the_same_live(houses, share):
    records = file_of(houses)
    swap = Swap(key="area", keeping=("age",), share=share, households=True)
    swapped = swap.swapped(records, rng(3))
    after = swapped.records
    assert table(after, ("area", "age")) == table(records, ("area", "age"))
    assert table(after, ("age", "job")) == table(records, ("age", "job"))
    assert compositions_by_area(after) == compositions_by_area(records)
    assert len(set(zip(after.household, column(after, "area")))) == len(houses)
    households = {int(h) for h in after.household[swapped.moved]}
    assert len(households) == swapped.n_moved <= share * swapped.n_units + 1e-9


def compositions_by_area(records):
    """How many households of each composition lie in each area."""
    members = {}
    for house, area, age in zip(records.household, column(records, "area"), column(records, "age")):
        members.setdefault((house, area), []).append(age)
    return Counter((area, tuple(sorted(ages))) for (_, area), ages in members.items())


def test_a_household_is_risky_if_a_member_is():
    houses = [(0, [(0, 0), (0, 1)]), (1, [(0, 1), (0, 2)]), (0, [(1, 1)]), (1, [(1, 1)])]
    records = file_of(houses)
    swap = Swap(key="area", keeping=("age",), share=0.5, households=True)
    only_first = np.array([True, *[False] * 5])
    for seed in range(10):
        swapped = swap.swapped(records, rng(seed), only_first)
        assert column(swapped.records, "area") == [1, 1, 0, 0, 0, 1]
        assert swapped.n_targets == 1


def test_the_risky_come_first():
    records = drawn_records(2000, {"area": 5, "job": 4}, rng(4))
    targets = rng(5).random(2000) < 0.05
    swapped = Swap(key="area", share=0.2).swapped(records, rng(6), targets)
    assert swapped.moved[targets].all()
    assert (swapped.n_moved, swapped.n_without_partner, swapped.n_beyond_share) == (400, 0, 0)


def test_more_risky_than_the_share():
    records = drawn_records(1000, {"area": 5}, rng(4))
    targets = rng(5).random(1000) < 0.5
    swapped = Swap(key="area", share=0.1).swapped(records, rng(6), targets)
    assert swapped.n_moved == 100
    assert swapped.n_beyond_share == targets.sum() - (targets & swapped.moved).sum()


def test_share_nothing_and_everything():
    records = drawn_records(1001, {"area": 3, "age": 2}, rng(4))
    for share, n in ((0, 0), (1, 1001)):
        swapped = Swap(key="area", keeping=("age",), share=share).swapped(records, rng(1))
        assert n - 2 <= swapped.n_moved <= n  # each of the two classes leaves one if it is odd


def test_partners_that_are_not_there():
    """Of each age all are in one area, so nobody has a partner."""
    records = records_of({"area": [0, 0, 1, 1], "age": [0, 0, 1, 1], "job": [0, 1, 0, 1]})
    swapped = Swap(key="area", keeping=("age",), share=1).swapped(records, rng())
    assert not swapped.moved.any()
    assert not swapped.movable.any()
    assert (swapped.n_targets, swapped.n_without_partner, swapped.n_beyond_share) == (4, 4, 0)


@pytest.mark.parametrize("households", [False, True])
@pytest.mark.parametrize("columns", [{"area": [0]}, {"area": [None, None]}, {"area": [0, 0, 0]}])
def test_files_that_cannot_change(columns, households):
    records = records_of(columns, household=range(len(columns["area"])))
    swap = Swap(key="area", share=1, households=households)
    assert np.array_equal(swap.applied(records, rng()).levels, records.levels)


def test_one_household_and_no_record():
    records = records_of({"area": [0, 0], "age": [0, 1]}, household=[7, 7])
    swap = Swap(key="area", share=1, households=True)
    assert np.array_equal(swap.applied(records, rng()).levels, records.levels)
    none = records_of({"area": []}, sizes={"area": 2}, household=[])
    assert len(swap.applied(none, rng())) == 0


def test_households_of_one_swap_like_records():
    columns = {
        "area": rng(1).integers(0, 3, 200).tolist(),
        "age": rng(2).integers(0, 3, 200).tolist(),
    }
    records = records_of(columns, household=range(200))
    one, other = (
        Swap(key="area", keeping=("age",), share=0.3, households=h).applied(records, rng(5))
        for h in (False, True)
    )
    assert np.array_equal(one.levels, other.levels)


def test_many_areas():
    records = drawn_records(30_000, {"area": 10_000, "age": 2}, rng(1))
    swapped = Swap(key="area", keeping=("age",), share=1).swapped(records, rng(2))
    assert swapped.n_moved >= 29_998


def test_everybody_else_is_as_likely_to_be_moved():
    """Beyond the risky, each of 100 records of four areas is moved with the same chance: the counts
    of 2,000 draws have the variance of such draws, no more and no less."""
    records = records_of({"area": [i % 4 for i in range(100)]})
    none = np.zeros(100, np.bool_)
    made = rng(3)
    counts = np.zeros(100)
    for _ in range(2000):
        counts += Swap(key="area", share=0.2).swapped(records, made, none).moved
    assert counts.sum() == 2000 * 20
    spread = ((counts - 400) ** 2).mean() / (2000 * 0.2 * 0.8)
    assert 0.6 < spread < 1.5  # chi-square of 99 degrees: a standard deviation of 0.14


def test_the_same_seed_the_same_file_and_the_records_given_stay():
    records = drawn_records(300, SIZES, rng(6))
    before = records.levels.copy()
    swap = Swap(key="area", keeping=("age",), share=0.5)
    one, same, other = (swap.applied(records, rng(seed)).levels for seed in (9, 9, 10))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
    assert np.array_equal(records.levels, before)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"share": 2}, "share must be a number from 0 to 1, got 2"),
        ({"share": None}, "share must be a number from 0 to 1, got None"),
        ({"within": "region"}, "within must be a tuple of names, each once, got 'region'"),
        ({"keeping": (1,)}, "keeping must be a tuple of names, each once, got (1,)"),
        ({"households": 1}, "households must be True or False, got 1"),
        ({"within": ("area",)}, "within must be keys without another task, got area"),
        (
            {"within": ("a",), "keeping": ("a",)},
            "keeping must be keys without another task, got a",
        ),
    ],
)
def test_what_no_swap_can_be(options, message):
    with pytest.raises(InputError) as complaint:
        Swap(key="area", **{"share": 0.1, **options})
    assert message in str(complaint.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"key": "b"}, "key must be one of the keys area, age, got 'b'"),
        ({"within": ("b",)}, "within must be one of the keys area, age, got 'b'"),
        ({"keeping": ("b",)}, "keeping must be one of the keys area, age, got 'b'"),
    ],
)
def test_keys_that_are_not_there(options, message):
    records = records_of({"area": [0], "age": [0]})
    with pytest.raises(ColumnError) as complaint:
        Swap(**{"key": "area", "share": 0.1, **options}).applied(records, rng())
    assert message in str(complaint.value)


def test_households_that_cannot_move():
    swap = Swap(key="area", share=1, households=True)
    with pytest.raises(InputError, match="households must be known for every record, got none"):
        swap.applied(records_of({"area": [0]}), rng())
    records = records_of({"area": [0, 1]}, household=[0, 0])
    with pytest.raises(InputError, match="area must be the same for all members of a household"):
        swap.applied(records, rng())


@pytest.mark.parametrize("targets", [np.ones(2, np.bool_), np.ones(3)])
def test_targets_that_fit_no_file(targets):
    with pytest.raises(InputError, match="targets must be True or False for each record, got"):
        Swap(key="area", share=1).applied(records_of({"area": [0, 1, 1]}), rng(), targets)


def test_words():
    swap = Swap(key="town", within=("region",), keeping=("age", "sex"), share=0.05, households=True)
    assert swap.in_words == (
        "swap town within region between households that are alike in age and sex, the risky ones "
        "first, for at most 5 % of them"
    )
    assert Swap(key="town", share=1).in_words == (
        "swap town between records, the risky ones first, for at most 100 % of them"
    )
    assert "All values but town are true" in swap.still_possible
