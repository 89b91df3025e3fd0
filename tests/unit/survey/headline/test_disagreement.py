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
        "2 models that the data do not contradict say from 120 (pitman) to 781 (zayatz), zayatz "
        "outside its limits: a backtest on data like these tells which to trust; the data "
        "contradict 2 other models, which are no argument against it"
    )


@pytest.mark.parametrize(
    ("others", "contradicted", "said"),
    [
        ({"pitman": 80.0}, [], "pitman, which the data do not contradict, says 80.0, within its"),
        ({"pitman": 8.0}, [], "pitman, which the data do not contradict, says 8.0, outside its"),
        ({"pitman": 8.0}, ["pitman"], "the data contradict 1 other model, which is no argument"),
        ({"a": 0.01, "b": 70.0}, [], "less than 0.1 (a) to 70.0 (b), a outside its limits"),
        ({"a": 1.0, "b": 2.0}, [], "from 1.0 (a) to 2.0 (b), outside its limits: a backtest"),
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
    assert disagreement(LED, others, []) == (
        "3 models that the data do not contradict say 79.0, within its limits"
    )


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
