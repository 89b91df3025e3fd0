"""What a steward should look at, in one plain sentence each."""

import pandas as pd
import pytest

from discreet.flows.assess import assess


def warnings(columns, keys=("a",), **options):
    return assess(pd.DataFrame(columns), list(keys), models="sample_frequency", **options).warnings


def test_ordinary_data_earn_none():
    assert warnings({"a": [1, 1, 2, 2, 3], "w": [1.0, 2, 3, 4, 5]}, weight="w") == ()


def test_an_identifier_as_key():
    (found,) = warnings({"a": ["p", "q", "r"]})
    assert "key 'a' is different in every record: it looks like an identifier" in found
    assert "'p'" not in found


def test_a_key_of_too_many_levels():
    (found,) = warnings({"a": [*range(1001), 0]})
    assert "key 'a' has 1,001 levels" in found
    assert warnings({"a": [*range(1000), 0]}) == ()


@pytest.mark.parametrize(("column", "word"), [([1, 1], "the same"), ([None, None], "missing")])
def test_a_key_that_adds_nothing(column, word):
    (found,) = warnings({"a": column})
    assert found == f"key 'a' is {word} in every record, so it adds nothing"


def test_the_text_missing_in_every_record_is_not_missing():
    (found, *_) = warnings({"a": ["(missing)"] * 3})
    assert "is the same in every record" in found


@pytest.mark.parametrize("code", ["NA", "n/a", "NaN", " null ", ".", "*", "?", "-", "Missing"])
def test_levels_that_look_like_codes_for_missing(code):
    (found,) = warnings({"a": ["x", "x", code, code]})
    assert found.startswith(f"key 'a' has {code!r} among its levels")


def test_weights_below_one():
    (found,) = warnings({"a": [1, 1, 1], "w": [0.5, 1.0, 0.25]}, weight="w", keys=["a"])[:1]
    assert found.startswith("2 of 3 weights are below 1")


def test_weights_below_one_of_dropped_records_are_not_counted():
    columns = {"a": [1, None, None, 1, 2, 2], "w": [0.5, 0.5, 0.5, 2.0, 2.0, 2.0]}
    (found,) = warnings(columns, weight="w", missing="drop")
    assert found.startswith("1 of 4 weights are below 1")


@pytest.mark.parametrize(
    ("population", "warned"), [(100, False), (110, False), (200, True), (50, True)]
)
def test_weights_far_from_the_population(population, warned):
    columns = {"a": [1, 1, 2, 2], "w": [25.0] * 4}
    found = warnings(columns, weight="w", population=population)
    assert any("far from the population" in warning for warning in found) is warned


def test_a_tiny_total_of_weights_is_not_shown_as_zero():
    found = warnings({"a": [1, 1], "w": [0.1, 0.2]}, weight="w", population=50)
    assert any("the weights sum to 0.3, far from the population of 50" in w for w in found)


def test_a_single_record():
    found = warnings({"a": [1]})
    assert any("the file has a single record" in warning for warning in found)
    assert not any("identifier" in warning for warning in found)


def test_impossible_rows_without_effect():
    zeros = pd.DataFrame({"a": [7, 8]})
    (found,) = warnings({"a": [1, 1, 2, 2]}, impossible=zeros)
    assert "2 of the 2 impossible combinations name a level that never occurs" in found


@pytest.mark.parametrize("code", ["NA", "?", "*", "-9", "Refused", "-99"])
def test_levels_of_a_sensitive_variable_that_look_like_codes(code):
    columns = {"a": [1, 1, 2, 2], "s": ["1", "2", code, "3"]}
    (found,) = warnings(columns, sensitive=["s"])
    assert found.startswith(f"sensitive variable 's' has {code!r} among its levels")


@pytest.mark.parametrize(
    ("levels", "warned"),
    [
        ([1, 1, -9, -9], True),
        ([-9, -8, 5, 5], True),
        ([-9, -10, 5, 5], False),
        ([-4, 1, 1, 3], False),
    ],
)
def test_negative_codes_are_told_from_negative_numbers(levels, warned):
    assert any("-9" in w for w in warnings({"a": [*levels, *levels]})) is warned


def test_codes_that_never_occur():
    codes = {"missing_codes": {"*": ["NA"], "a": ["9"]}, "suppressed_codes": {"a": ["2"]}}
    found = warnings({"a": ["1", "1", "2", "2"]}, **codes)
    assert found == (
        "the code 'NA' for missing never occurs in any column, so it has no effect",
        "the code '9' for missing never occurs in 'a', so it has no effect",
    )


@pytest.mark.parametrize("bits", [-3, 0, 3])
@pytest.mark.parametrize("ratio", [0.8, 1.25])
def test_weights_that_are_just_far_from_the_population_are_told(ratio, bits):
    size = 10 / ratio * (1 + bits * 2.0**-52)
    columns = {"a": [1, 1, 2, 2], "w": [2.0, 3.0, 2.0, 3.0]}
    (found,) = warnings(columns, weight="w", population=size)
    assert found.startswith("the weights sum to 10, far from the population")
