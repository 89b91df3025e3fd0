"""What was taken out of one column or one member, and another still shows."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import discreet
from discreet.errors import InputError
from discreet.protection.tell_tales import tell_tales

RNG = np.random.default_rng(3)
N = 600
HOUSE = np.repeat(np.arange(N // 3), 3)
FRAME = pd.DataFrame(
    {
        "house": HOUSE,
        "region": np.array(list("abcdefghij"))[RNG.integers(0, 10, N // 3)][HOUSE],
        "age": RNG.integers(0, 60, N),
        "sex": RNG.choice(["f", "m"], N),
    }
)
KEYS = ["region", "age", "sex"]


def lost(found):
    return {name: cost.value for name, cost in found.loss.suppressed_values.by_key.items()}


def test_what_members_of_a_household_share_is_not_suppressed():
    plain = discreet.protect(FRAME, KEYS, min_k=3, search=False)
    told = discreet.protect(FRAME, KEYS, min_k=3, search=False, household="house")
    assert lost(plain)["region"] > 0
    assert lost(told)["region"] == 0
    assert told.reached
    assert any("have the same region" in note for note in told.notes)
    data = told.data
    assert (data.groupby("house").region.nunique(dropna=False) == 1).all()


def test_households_that_are_removed_tell_nothing():
    found = discreet.protect(
        FRAME, KEYS, min_k=3, search=False, household="house",
        steps=["remove_columns(columns=house)"],
    )  # fmt: skip
    assert lost(found)["region"] > 0
    assert not any("household" in note for note in found.notes)


def test_a_recipe_that_suppresses_what_members_share_is_warned_of():
    plain = discreet.protect(FRAME, KEYS, min_k=3, search=False)
    again = discreet.protect(FRAME, KEYS, recipe=plain.recipe, household="house")
    assert any("which other members of the household still show" in note for note in again.notes)


def test_whole_records_are_not_suppressed_where_households_are_told():
    with pytest.raises(InputError, match="suppress must be values where households are told"):
        discreet.protect(FRAME, KEYS, min_k=3, suppress="records", household="house")


def test_columns_that_tell_a_key_are_named():
    frame = FRAME.assign(
        code=FRAME.region.map(ord), birth=2020 - FRAME.age, id=np.arange(N), income=RNG.random(N)
    )
    found = discreet.protect(frame, KEYS, min_k=3, recode=["age=bands(20)"])
    named = [note for note in found.notes if "still tells" in note]
    assert any("birth still tells age" in note for note in named)
    assert not any("id still tells" in note or "income still tells" in note for note in named)
    without = discreet.protect(
        frame, KEYS, min_k=3, recode=["age=bands(20)"],
        steps=["remove_columns(columns=birth+code)"],
    )  # fmt: skip
    assert not any("still tells" in note for note in without.notes)


def test_a_key_with_one_value_is_told_by_nobody():
    table = pa.table({"k": ["a"] * 20, "other": [1, 2] * 10, "empty": pa.nulls(20)})
    assert tell_tales(table, ["k"], ["other", "empty"]) == []
    assert tell_tales(table, ["other"], ["k"]) == []
    twice = table.append_column("code", pa.array([10, 20] * 10))
    assert tell_tales(twice, ["other"], ["code"]) == [("code", "other")]
