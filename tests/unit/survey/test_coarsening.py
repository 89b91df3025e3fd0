"""Ways to make a key coarser."""

from itertools import pairwise

import numpy as np
import pytest

from discreet.engines.contract import KeyLevels
from discreet.survey.coarsening import coarser_keys


def key(*values):
    return KeyLevels(name="k", values=values, labels=tuple(str(v) for v in values), n_missing=0)


def ways(of, records=None):
    records = np.ones(len(of.values), dtype=np.int64) if records is None else np.array(records)
    return {way.change: way.to.tolist() for way in coarser_keys(of, records)}


def test_whole_numbers_are_put_into_bands():
    ages = [str(age) for age in range(18, 33)]
    found = ways(key(*ages))
    assert list(found) == [f"put k into bands of {width}" for width in (5, 10, 20)]
    assert found["put k into bands of 5"] == [0] * 2 + [1] * 5 + [2] * 5 + [3] * 3
    assert found["put k into bands of 10"] == [0] * 2 + [1] * 10 + [2] * 3


def test_months_are_put_into_quarters_and_halves():
    found = ways(key(*map(str, range(1, 13))))
    assert found["put k into bands of 3"] == [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3
    assert found["put k into bands of 6"] == [0] * 6 + [1] * 6


@pytest.mark.parametrize(
    "values", [[str(i) for i in range(60)], [str(i) for i in range(12)], list("abcdefghij")]
)
def test_each_way_puts_together_what_the_one_before_left_apart(values):
    found = list(ways(key(*values), np.arange(len(values), 0, -1) ** 3).values())
    assert len(found) > 1
    for mild, coarse in pairwise(found):
        assert len(set(zip(mild, coarse, strict=True))) == len(set(mild))


def test_a_missing_level_stays_one():
    found = ways(key(*map(str, range(20)), None))
    assert found["put k into bands of 10"] == [0] * 10 + [1] * 10 + [2]


def test_amounts_have_bands_of_their_size():
    incomes = [str(1000 * i + i**2) for i in range(40)]
    found = ways(key(*incomes))
    assert list(found) == [f"put k into bands of {width}" for width in (5000, 10000, 20000)]
    assert max(found["put k into bands of 10000"]) == 4


def test_fractions_have_bands_of_their_steps():
    found = ways(key(*[f"{i / 10:.1f}" for i in range(30)]))
    assert list(found) == [f"put k into bands of {width}" for width in ("0.5", "1", "2")]
    assert found["put k into bands of 1"] == [0] * 10 + [1] * 10 + [2] * 10


def test_dates_are_given_by_month_and_year():
    days = ("1970-01-03", "1970-01-30", "1970-02-01", "1971-02-01")
    assert ways(key(*days)) == {"give k by month": [0, 0, 1, 2], "give k by year": [0, 0, 0, 1]}


def test_the_rarest_levels_are_merged():
    found = ways(key(*"abcdef"), [100, 60, 20, 4, 3, 2])
    assert found == {
        "merge the 3 rarest levels of k (d, e, f)": [0, 1, 2, 3, 3, 3],
        "merge the 4 rarest levels of k (c, d, e, f)": [0, 1, 2, 2, 2, 2],
        "merge the 5 rarest levels of k (b, c, d, e, f)": [0, 1, 1, 1, 1, 1],
    }


@pytest.mark.parametrize("values", [("a", "b"), ("1", "2", "3"), ("a",), ("1970-01-01",)])
def test_few_levels_have_no_coarser_form(values):
    assert ways(key(*values)) == {}
