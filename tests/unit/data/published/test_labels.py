"""What labels say: a total, a band of whole numbers, or nothing."""

import pytest

from discreet.data.published.labels import (
    Interval,
    Whole,
    Word,
    meaning,
    meanings,
    numeric,
    stated_range,
)
from discreet.masks.records.recoding import interval

BANDS = {
    "15": (15, 15), "0": (0, 0), "-5": (-5, -5), "−5": (-5, -5), "15.0": (15, 15),
    "15-19": (15, 19), "15–19": (15, 19), "15 — 19": (15, 19), "15 to 19": (15, 19),
    "15..19": (15, 19), "15 - 19 years": (15, 19), "15  -  19": (15, 19), "15 bis 19": (15, 19),
    "15 à 19 ans": (15, 19), "15 through 19": (15, 19), "between 15 and 19": (15, 19),
    "-5 to -1": (-5, -1), "-5--1": (-5, -1), "-5-3": (-5, 3), "0-4": (0, 4), "1990-1995": (1990, 1995),
    "85+": (85, None), "85 +": (85, None), "85 and over": (85, None), "85 or older": (85, None),
    "85 years and over": (85, None), "85 years or more": (85, None), "85+ years": (85, None),
    "85 and more": (85, None), "85 Jahre und älter": (85, None), "85 ans et plus": (85, None),
    ">=85": (85, None), "≥ 85": (85, None), ">84": (85, None), "over 84": (85, None),
    "more than 84": (85, None), "at least 85": (85, None), "5 or more persons": (5, None),
    "under 5": (None, 4), "Under 5 years": (None, 4), "<5": (None, 4), "< 5": (None, 4),
    "<=4": (None, 4), "≤4": (None, 4), "below 16": (None, 15), "less than 1 year": (None, 0),
    "17 or less": (None, 17), "4 and under": (None, 4), "up to 4": (None, 4), "unter 5": (None, 4),
    "[15,20)": (15, 19), "[15,20]": (15, 20), "(15,20]": (16, 20), "(15, 20)": (16, 19),
    "[85,Inf)": (85, None), "(-inf,5)": (None, 4), "[15;20[": (15, 19), "[1,200)": (1, 199),
    "15 to below 20": (15, 19), "15 to under 20": (15, 19), "15 bis unter 20 Jahre": (15, 19),
    "Y15-19": (15, 19), "Y15T19": (15, 19), "Y_GE85": (85, None), "Y_GT84": (85, None),
    "Y_LT5": (None, 4), "Y_LE4": (None, 4), "Y5": (5, 5),
    "aged 15-19": (15, 19), "Age 15": (15, 15), "ages 15 to 19": (15, 19), "age: 85+": (85, None),
    "15 years": (15, 15), "15 year olds": (15, 15), "1 person": (1, 1),
    "1,000-1,999": (1000, 1999), "1 000 - 1 999": (1000, 1999), "10,000+": (10000, None),
}  # fmt: skip
WORDS = (
    "", "M", "North", "NUTS1", "23-Bremen", "2020-01", "2020-10", "2020-01-31", "01-02", "007", "00",
    "05-09", "AB5", "ab5", "over5", "15a19", "19-15", "1.5", "1.5 to below 2", "1.5-2.5", "5 6", "A+",
    "15-19-20", "[20,15)", "T", "Not stated", "1st", "R2D2", "+", "-", "12 (95)", "<",
    "9" * 16,
)  # fmt: skip


@pytest.mark.parametrize(("label", "ends"), BANDS.items())
def test_bands_of_whole_numbers(label, ends):
    assert meaning(label) == Interval(*ends)


@pytest.mark.parametrize("label", WORDS)
def test_words(label):
    assert meaning(label) == Word()


@pytest.mark.parametrize(
    "label", ["Total", "total", "TOTAL", "All", "All ages", "_T", "Both sexes", "Insgesamt"]
)
def test_totals(label):
    assert meaning(label) == Whole()


def test_an_interval_holds_its_ends():
    own = Interval(15, 19)
    assert [n for n in range(12, 23) if own.holds(n)] == [15, 16, 17, 18, 19]
    assert Interval(85, None).holds(10**9)
    assert not Interval(85, None).holds(84)
    assert Interval(None, 4).holds(-(10**9))
    assert not Interval(None, 4).holds(5)


@pytest.mark.parametrize("ends", [(15, 20), (0, 1), (-10, -5), (-5, 5), (5, 6)])
def test_bands_that_recodings_name_are_understood(ends):
    low, high = ends
    assert meaning(interval(low, high, whole=True)) == Interval(low, high - 1)


def test_a_variable_is_of_numbers_only_as_a_whole():
    assert numeric(["0-4", "5-9", "10+", "Total"])
    assert numeric(["0", "1", "2"])
    assert not numeric(["0-4", "5-9", "Not stated"])
    assert not numeric(["1", "02"])
    assert not numeric(["2020-08", "2020-09", "2020-10"])
    assert not numeric(["2020-10", "2020-11"])
    assert not numeric(["Total"])
    assert not numeric([])


def test_bands_that_meet_in_a_number_do_not_say_which_holds_it():
    assert not numeric(["15-20", "20-25"])
    assert numeric(["15-20", "21-25"])
    assert numeric(["15-19", "19"])  # of two tables: a band, and the last of its ages


def test_meanings_of_all_labels_of_a_variable():
    assert meanings(["0-4", "5+", "Total"]) == (Interval(0, 4), Interval(5, None), Whole())
    assert meanings(["0-4", "5+", "unknown"]) == (Word(), Word(), Word())
    assert meanings(["M", "F", "T"]) == (Word(), Word(), Whole())
    assert meanings(["A", "B", "T"]) == (Word(), Word(), Word())
    assert meanings(["Total"]) == (Word(),)
    assert meanings(["Total", "All"]) == (Word(), Word())
    assert meanings([]) == ()


@pytest.mark.parametrize(
    ("mark", "counts"),
    [
        ("<5", (0, 4)), ("< 3", (0, 2)), ("≤3", (0, 3)), ("<= 3", (0, 3)), ("1-4", (1, 4)),
        ("1–4", (1, 4)), ("1 to 4", (1, 4)), ("under 5", (0, 4)), ("5+", (5, None)),
        (">10", (11, None)), ("fewer than 3", (0, 2)), ("[1,5)", (1, 4)),
    ],
)  # fmt: skip
def test_marks_that_state_a_range(mark, counts):
    assert stated_range(mark) == counts


@pytest.mark.parametrize(
    "mark", ["", "x", "c", "*", "..", "5", "3-3", "<0", "-5 to -1", "4-1", "12 (5)"]
)
def test_marks_that_state_none(mark):
    assert stated_range(mark) is None
