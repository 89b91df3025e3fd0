"""A figure is a finite number with how it was got, or a reason."""

import math

import pytest

from discreet.figures import Figure, How, Unavailable


@pytest.mark.parametrize("name", ["value", "low", "high", "standard_error", "confidence"])
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_no_part_of_a_figure_may_be_infinite_or_nan(name, number):
    with pytest.raises(ValueError, match=f"{name} of a figure must be finite"):
        Figure(**({"value": 1.0, "how": How.ESTIMATE} | {name: number}))


@pytest.mark.parametrize("how", [How.EXACT, How.ESTIMATE])
def test_only_a_bound_may_lack_a_value(how):
    with pytest.raises(ValueError, match="must be a number unless it is a bound"):
        Figure(value=None, how=how)
    assert Figure(value=None, how=How.BOUND, low=0, high=3).value is None


def test_json_holds_no_null():
    assert Figure(value=2.0, how=How.EXACT).to_json() == {"value": 2.0, "how": "exact"}
    bound = Figure(value=None, how=How.BOUND, low=0, high=3)
    assert bound.to_json() == {"low": 0, "high": 3, "how": "certified bound"}


def test_json_shows_what_else_is_known():
    figure = Figure(
        value=2.0, how=How.ESTIMATE, low=1, high=3, standard_error=0.5, confidence=0.95, note="why"
    )
    assert figure.to_json() == {
        "value": 2.0,
        "low": 1,
        "high": 3,
        "how": "estimate",
        "standard_error": 0.5,
        "confidence": 0.95,
        "note": "why",
    }


def test_a_standard_error_of_zero_is_shown():
    assert Figure(value=2.0, how=How.ESTIMATE, standard_error=0.0).to_json()["standard_error"] == 0


def test_figures_cannot_be_changed():
    with pytest.raises(AttributeError):
        Figure(value=1.0, how=How.EXACT).value = 2.0  # type: ignore[misc]


def test_the_reason_for_no_figure():
    assert Unavailable("no weights").to_json() == {"unavailable": "no weights"}
