"""What to make of other models, in one line."""

import numpy as np
import pytest

from discreet.figures import Figure, How, Unavailable
from discreet.survey.headline.disagreement import disagreement

LED = Figure(value=100.0, how=How.ESTIMATE, low=60.0, high=150.0)


def test_models_that_the_data_contradict_are_no_argument():
    others = {"pitman": 120.0, "zayatz": 781.4, "ewens": 3.0, "uniform": 2375.0}
    said = disagreement(LED, others, ["ewens", "uniform"])
    assert said == (
        "the data contradict 2 of 4 other models, so they are no argument; the 2 that fit say 120 "
        "(pitman) to 781 (zayatz): a backtest on data like these tells which to trust"
    )


@pytest.mark.parametrize(
    ("others", "contradicted", "said"),
    [
        ({"pitman": 80.0}, [], "pitman, which fits, says 80.0, within the limits"),
        ({"pitman": 8.0}, [], "pitman, which fits, says 8.0: a backtest on data like these tells"),
        ({"pitman": 8.0}, ["pitman"], "the data contradict the other model, so it is no argument"),
        (
            {"a": 0.01, "b": 70.0},
            [],
            "the 2 that fit say less than 0.1 (a) to 70.0 (b): a backtest",
        ),
        ({"a": 61.0, "b": 62.0}, [], "the 2 that fit say 61.0 (a) to 62.0 (b), within the limits"),
        ({"a": 61.0, "b": 2.0}, ["b"], "contradict 1 of 2 other models, so it is no argument; a"),
    ],
)
def test_each_case_has_its_words(others, contradicted, said):
    told = disagreement(LED, others, contradicted)
    assert told is not None
    assert said in told


@pytest.mark.parametrize("bits", [-3, 0, 3])
def test_models_that_say_the_same_are_not_said_to_range(bits):
    noise = bits * 2.0**-52
    others = {"a": 79.0, "b": 79.0 * (1 + noise), "c": 79.0 * (1 - noise)}
    assert disagreement(LED, others, []) == ("the 3 that fit say 79.0, within the limits")


@pytest.mark.parametrize(
    "led",
    [Unavailable("why"), Figure(value=79.0, how=How.EXACT, low=79.0, high=79.0)],
)
def test_nothing_is_said_where_nothing_is_estimated(led):
    assert disagreement(led, {"a": 3.0}, []) is None
    assert disagreement(LED, {}, []) is None


def test_the_order_of_models_alone_decides_no_word():
    others = dict.fromkeys("abc", 70.0) | {"d": float(np.nextafter(70.0, 71.0))}
    assert "say 70.0" in str(disagreement(LED, others, []))
