"""Ways to make a key coarser."""

from itertools import pairwise

import numpy as np
import pytest

from discreet.engines.key_space import KeyLevels
from discreet.survey.coarsening import coarser_keys


def key(*values, name="k"):
    return KeyLevels(name=name, values=values, labels=tuple(str(v) for v in values), n_missing=0)


def ways(of, records=None):
    records = np.ones(len(of.values), dtype=np.int64) if records is None else np.array(records)
    return {way.change: way.to.tolist() for way in coarser_keys(of, records)}


def test_whole_numbers_are_put_into_bands():
    ages = [str(age) for age in range(18, 33)]
    found = ways(key(*ages))
    assert found == {
        "put k into bands of 5 (15 to 19, …)": [0] * 2 + [1] * 5 + [2] * 5 + [3] * 3,
        "put k into bands of 10 (10 to 19, …)": [0] * 2 + [1] * 10 + [2] * 3,
        "put k into bands of 20 (0 to 19, …)": [0] * 2 + [1] * 13,
    }


def test_months_are_put_into_quarters_and_halves():
    found = ways(key(*map(str, range(1, 13))))
    assert found == {
        "put k into bands of 3 (1 to 3, …)": [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3,
        "put k into bands of 6 (1 to 6, …)": [0] * 6 + [1] * 6,
    }


@pytest.mark.parametrize(
    "values",
    [
        [str(i) for i in range(60)],
        [str(i) for i in range(12)],
        list("abcdefghij"),
        [f"{i:05}" for i in range(0, 90_000, 997)],
        [f"{c}{i}.{j}" for c in "ABC" for i in (10, 11, 25) for j in (1, 2)],
        [f"19{y}-{m:02}-11" for y in range(50, 90) for m in (1, 7)],
    ],
)
def test_each_way_puts_together_what_the_one_before_left_apart(values):
    found = list(ways(key(*values), np.arange(len(values), 0, -1) ** 3).values())
    assert len(found) > 1
    for mild, coarse in pairwise(found):
        assert len(set(zip(mild, coarse, strict=True))) == len(set(mild))


def test_a_missing_level_stays_one():
    found = ways(key(*map(str, range(20)), None))
    assert found["put k into bands of 10 (0 to 9, …)"] == [0] * 10 + [1] * 10 + [2]


def test_what_stands_for_no_value_stays_by_itself():
    found = ways(key(*map(str, range(20)), "(not applicable)", None))
    change = "put k into bands of 10 (0 to 9, …) and leave '(not applicable)' as it is"
    assert found[change] == [0] * 10 + [1] * 10 + [2, 3]


def test_what_looks_like_a_missing_value_stays_by_itself():
    found = ways(key("-9", *map(str, range(20))))
    assert found["put k into bands of 10 (0 to 9, …) and leave '-9' as it is"] == [
        0, *[1] * 10, *[2] * 10
    ]  # fmt: skip
    codes = [str(n) for n in (1111, 1112, 1211, 2111, 2112, 2310, 3111, 5120, 9999)]
    found = ways(key("-9", *codes, name="isco"))
    assert found["keep only the first digit of isco and leave '-9' as it is"] == [
        0, 1, 1, 1, 2, 2, 2, 3, 4, 5
    ]  # fmt: skip


def test_amounts_have_bands_of_their_size():
    incomes = [str(1000 * i + i**2) for i in range(40)]
    found = ways(key(*incomes))
    widths = (5000, 10000, 20000)
    assert list(found) == [f"put k into bands of {w} (0 to {w - 1}, …)" for w in widths]
    assert max(found["put k into bands of 10000 (0 to 9999, …)"]) == 4


def test_fractions_have_bands_of_their_steps():
    found = ways(key(*[f"{i / 10:.1f}" for i in range(30)]))
    assert list(found) == [
        "put k into bands of 0.5 (0 to below 0.5, …)",
        "put k into bands of 1 (0 to below 1, …)",
        "put k into bands of 2 (0 to below 2, …)",
    ]
    assert list(found.values())[1] == [0] * 10 + [1] * 10 + [2] * 10


@pytest.mark.parametrize(
    "days",
    [
        ("1970-01-03", "1970-01-30", "1970-02-01", "1971-02-01", "1978-05-05"),
        ("1970-01-03 00:00:00", "1970-01-30 10:00:00", "1970-02-01 00:00:00",
         "1971-02-01 00:00:00", "1978-05-05 00:00:00"),
        ("3.1.1970", "30.01.1970", "01.02.1970", "1.2.1971", "5.5.1978"),
    ],
)  # fmt: skip
def test_dates_are_given_by_month_and_year_and_bands_of_years(days):
    assert ways(key(*days)) == {
        "give k by month": [0, 0, 1, 2, 3],
        "give k by year": [0, 0, 0, 1, 2],
        "put the year of k into bands of 5 (1970 to 1974, …)": [0, 0, 0, 0, 1],
    }


def test_where_day_and_month_cannot_be_told_apart_only_the_year_is_kept():
    assert list(ways(key("1/2/1970", "2/1/1970", "3/4/1971"))) == ["give k by year"]


def test_codes_keep_their_first_characters():
    zips = ("02139", "02140", "02210", "10001", "10002", "10013", "60601", "94107")
    assert ways(key(*zips)) == {
        "keep only the first 4 digits of k": [0, 1, 2, 3, 3, 4, 5, 6],
        "keep only the first 3 digits of k": [0, 0, 1, 2, 2, 2, 3, 4],
        "keep only the first digit of k": [0, 0, 0, 1, 1, 1, 2, 3],
    }


def test_postcodes_that_were_read_as_numbers_have_their_zeros_put_back():
    zips = ("2139", "2140", "2210", "10001", "10002", "10013", "60601", "94107")
    found = ways(key(*zips, name="zip"))
    assert found["keep only the first 3 digits of zip, written with 5 digits"] == [
        0, 0, 1, 2, 2, 2, 3, 4
    ]  # fmt: skip


def test_postcodes_with_a_space_keep_what_is_before_it():
    codes = ("M1 1AE", "M1 2BN", "B33 8TH", "CR2 6XH", "CR2 6XJ", "CR0 2YR", "EC1A 1BB", "W1A 0AX")
    found = ways(key(*codes, name="postcode"))
    assert list(found) == [
        "keep only the part of postcode before the space",
        "keep only the first 3 characters of postcode",
        "keep only the first character of postcode",
    ]
    assert found["keep only the part of postcode before the space"] == [0, 0, 1, 2, 2, 3, 4, 5]


def test_diagnoses_keep_their_first_characters():
    icd = ("E10.1", "E10.9", "E11.0", "E11.9", "I10", "I21.4", "I21.9", "J45.0")
    found = ways(key(*icd))
    assert found["keep only the first 3 characters of k"] == [0, 0, 1, 1, 2, 3, 3, 4]
    assert "keep only the first 4 characters of k" not in found  # E10. is no more than E10
    assert found["keep only the first character of k"] == [0, 0, 0, 0, 1, 1, 1, 2]


@pytest.mark.parametrize("name", ["isco", "ISCO08", "nace_2", "occupation_code", "sic"])
def test_numbers_named_like_a_list_of_codes_are_codes(name):
    codes = [str(n) for n in (1111, 1112, 1211, 2111, 2112, 2310, 3111, 5120, 9999)]
    assert all(way.startswith("keep only the first") for way in ways(key(*codes, name=name)))


@pytest.mark.parametrize("name", ["age", "income", "basic_pay", "social"])
def test_other_numbers_are_none(name):
    numbers = [str(n) for n in range(1100, 1190)]
    assert all("into bands of" in way for way in ways(key(*numbers, name=name)))


def test_the_rarest_levels_are_merged():
    found = ways(key(*"abcdef"), [100, 60, 20, 4, 3, 2])
    assert found == {
        "merge the 3 rarest levels of k (d, e, f) into one level": [0, 1, 2, 3, 3, 3],
        "merge the 4 rarest levels of k (c, d, e, f) into one level": [0, 1, 2, 2, 2, 2],
        "merge the 5 rarest levels of k (b, c, d, e, f) into one level": [0, 1, 1, 1, 1, 1],
    }


def test_many_rare_levels_are_told_by_their_records_so_that_none_is_left_to_chance():
    records = [100, 50, *[2] * 5, *[1] * 8]
    found = ways(key(*"abcdefghijklmno"), records)
    assert found == {
        "merge the 8 rarest levels of k (those with only 1 record each) into one level": [
            0, 1, 2, 3, 4, 5, 6, *[7] * 8
        ],
        "merge the 13 rarest levels of k (those with at most 2 records each) into one level": [
            0, 1, *[2] * 13
        ],
        "merge the 14 rarest levels of k (those with at most 50 records each) into one level": [
            0, *[1] * 14
        ],
    }  # fmt: skip


@pytest.mark.parametrize("values", [("a", "b"), ("1", "2", "3"), ("a",), ("1970-01-01",)])
def test_few_levels_have_no_coarser_form(values):
    assert ways(key(*values)) == {}
