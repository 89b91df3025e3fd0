"""Numbers as people read them, none rounded to a misleading 0 or 100."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.fiber.sums.counting import Count
from discreet.figures import Figure, How, Unavailable
from discreet.report import words


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (1, "1"), (999, "999"), (1000, "1,000"), (249_704_000, "249,704,000"), (7.0, "7")],
)
def test_counts(number, text):
    assert words.count(number) == text


def number_in(shown):
    """The number that is shown, and whether it is only said to be below it."""
    return float(shown.removeprefix("< ").replace(",", "")), shown.startswith("< ")


@given(st.floats(1e-300, 1e15))
def test_no_count_is_shown_as_zero_or_as_a_power_of_ten(number):
    shown = words.count(number)
    assert number_in(shown)[0] > 0
    assert "e" not in shown


@pytest.mark.parametrize("power", [25, 100, 400, 5000])
def test_counts_beyond_all_reading_are_told_by_their_size(power):
    assert words.count(10**power) == f"about 10^{power}"
    assert words.expected(10**power) == f"about 10^{power}"
    assert len(words.count(2**power)) < 40


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 5, "0 %"),
        (5, 5, "100 %"),
        (1, 3, "33.3 %"),
        (1, 2000, "< 0.1 %"),
        (1, 10**12, "< 0.1 %"),
        (1999, 2000, "> 99.9 %"),
        (9995, 10_000, "> 99.9 %"),
        (10**12 - 1, 10**12, "> 99.9 %"),
        (0, 0, "–"),
    ],
)
def test_shares(part, whole, text):
    assert words.share(part, whole) == text


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_no_share_is_shown_as_none_or_all_unless_it_is(part, rest):
    shown = words.share(part, part + rest)
    assert shown not in ("0 %", "0.0 %", "100 %", "100.0 %")
    number = float(shown.strip("<> %"))
    assert number == pytest.approx(100 * part / (part + rest), abs=0.101)


@given(st.floats(0, 1))
def test_probabilities(value):
    shown = words.probability(value)
    if 0 < value < 0.001:
        assert shown == "< 0.001"
    elif 0.999 < value < 1:
        assert shown == "> 0.999"
    else:
        assert (float(shown) == 0) == (value == 0)
        assert (float(shown) == 1) == (value == 1)
        assert float(shown) == pytest.approx(value, abs=0.001)


@given(st.floats(1e-300, 1e12))
def test_expected_counts_are_told_from_zero(value):
    number, below = number_in(words.expected(value))
    assert below == (value < 0.001)
    assert number == (0.001 if below else pytest.approx(value, rel=0.006))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1.22e-65, "< 0.001"),
        (0.00123, "0.00123"),
        (9.996, "10.0"),
        (99.97, "100"),
        (3141.59, "3,142"),
        (-3141.59, "-3,142"),
        (-0.25, "-0.25"),
        (-1e-9, "> -0.001"),
    ],
)
def test_numbers_that_need_not_be_whole(value, text):
    assert words.expected(value) == text


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("expects 3.14e+03 uniques", "expects 3,140 uniques"),
        ("a chance of 1e-05, at most", "a chance of below 0.001, at most"),
        ("1.5e+300 times", "about 10^300 times"),
        ("key 'a1e+5x' of 12 records", "key 'a1e+5x' of 12 records"),
    ],
)
def test_sentences_made_elsewhere(given, text):
    assert words.sentence(given) == text


@pytest.mark.parametrize(
    ("figure", "text"),
    [
        (Figure(value=7, low=7, high=7, how=How.EXACT), "7"),
        (Figure(value=None, low=0, high=12, how=How.BOUND), "0 to 12"),
        (Figure(value=4.36, low=1.5, high=9, how=How.ESTIMATE), "4.36 (1.5 to 9)"),
        (Figure(value=4.36, standard_error=0.00012, how=How.ESTIMATE), "4.36 ± < 0.001"),
        (Figure(value=1.58e-13, how=How.ESTIMATE), "< 0.001"),
        (Unavailable("no weights"), "not available: no weights"),
    ],
)
def test_outcomes(figure, text):
    assert words.outcome(figure) == text


def test_plurals():
    assert words.plural(1, "record") == "1 record"
    assert words.plural(0, "record") == "0 records"
    assert words.plural(1500, "record") == "1,500 records"


def test_names_in_a_sentence():
    assert words.listed(["a"]) == "a"
    assert words.listed(["a", "b"]) == "a and b"
    assert words.listed(["a", "b", "c"]) == "a, b and c"


def test_numbers_of_tables():
    def said(value, **more):
        return words.tables(Count(value=value, **more))

    assert said(59_400, how=How.EXACT) == "59,400 (exact)"
    rounded = said(0, how=How.ESTIMATE, standard_error=0.2)
    assert rounded == "about 0 (estimate, standard error 20 %)"
    assert said(10**40, how=How.ESTIMATE, standard_error=1e38).startswith("about 10^40 (estimate")
    assert said(None, how=None, note="too many", at_least=7) == "not known, at least 7: too many"


def test_words_in_the_right_number():
    assert words.plural(1, "record") == "1 record"
    assert words.plural(2_000, "category", "categories") == "2,000 categories"
    assert words.by_number(1, "lacks", "lack") == "lacks"
    assert words.by_number(0, "lacks", "lack") == "lack"


def test_clauses_as_sentences():
    assert words.full("no time, p = 1e-9") == "No time, p = below 0.001."
    assert words.full("Done.") == "Done."


def test_names_of_one_reason_together():
    given = [("a", "late"), ("b", "large"), ("c", "late"), ("a", "late")]
    assert words.by_reason(given) == {"late": ["a", "c"], "large": ["b"]}
