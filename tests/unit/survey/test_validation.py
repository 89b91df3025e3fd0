"""What may be asked: every clash and every number out of range is told before a record is read."""

from typing import Any

import pandas as pd
import pytest

from discreet.errors import ColumnError, InputError
from discreet.flows.assess import assess
from discreet.survey.attributes.sensitive import Thresholds
from discreet.survey.options import AssessOptions

FRAME = pd.DataFrame({"age": [1, 2, 2], "sex": [1, 1, 2], "w": [1.0, 2, 3], "S": 1, "s": 2})
QUICK = "sample_frequency"


class NeverRead:
    """An engine that must not be asked."""

    def count(self, request):
        raise AssertionError("records were read")


def complaint(keys, **options: Any):
    given = {"models": QUICK, "engine": NeverRead()} | options
    with pytest.raises(InputError) as caught:
        assess(FRAME, keys, **given)
    return str(caught.value)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"sensitive": "sex"}, "sensitive must be a list of column names, got 'sex'"),
        ({"sensitive": ["sex", "sex"]}, "sensitive must be different columns, got 'sex' twice"),
        ({"sensitive": ["S", "s"]}, "sensitive must be names that differ in more than capitals"),
        ({"sensitive": ["age"]}, "sensitive must be no key, got 'age'"),
        ({"household": "w", "weight": "w"}, "household must be another column than weight"),
        ({"sensitive": ["w"], "weight": "w"}, "sensitive must be another column than weight"),
        ({"sensitive": ["w"], "household": "w"}, "sensitive must be another column than household"),
        ({"scenarios": {"n": ["agee"]}}, "made of keys, got 'agee'; did you mean 'age'?"),
        ({"scenarios": {"n": ["w"]}}, "scenario 'n' must be made of keys, got 'w'"),
        ({"scenarios": {"n": ["age", "age"]}}, "must be made of different keys, got 'age' twice"),
        ({"scenarios": {"n": "age"}}, "scenario 'n' must be a list of column names, got 'age'"),
        ({"scenarios": {"n": []}}, "scenario 'n' must be made of at least one key, got none"),
        ({"scenarios": {"n": ["age"], "N": ["sex"]}}, "scenarios must be names that differ"),
        ({"missing_codes": {"agee": ["9"]}}, "got 'agee'; did you mean 'age'?"),
        ({"suppressed_codes": {"w": ["9"]}}, "a key or a sensitive variable, got 'w'"),
        ({"missing_codes": ["9"], "suppressed_codes": ["9"]}, "codes of every column must be"),
        ({"missing_weight": 2}, "missing_weight must be from 0 to 1, got 2"),
        ({"missing_weight": 0.5}, "missing_weight must be 1 unless missing is 'wildcard'"),
        ({"population": 0}, "population must be from 1 to 1e15, got 0"),
        ({"population": FRAME}, "population must be a number of persons, got a DataFrame; populat"),
        ({"population": "register.csv"}, "got a str; population_file takes a file or a frame"),
        ({"cells": 0}, "cells must be at least 1, got 0"),
        ({"cells": 9, "impossible": FRAME}, "cells must be left out where"),
        ({"population": 9, "population_file": FRAME}, "population must be left out where"),
        ({"k": [2, 1]}, "k must be at least 2, got 1"),
        ({"k": 1}, "k must be at least 2, got 1"),
        ({"suda": 3}, "suda must be from 1 to the 2 keys, got 3"),
        ({"t": 0.2}, "t must be given with a sensitive variable, got none"),
        ({"sensitive": ["w"], "t": 2}, "t must be from 0 to 1, got 2"),
        ({"trees": {"W": "t.csv"}, "sensitive": ["w"]}, "got 'W'; did you mean 'w'?"),
        ({"missing": "all"}, "missing must be one of wildcard, conservative"),
        ({"shrinkage": 2, "models": "lancaster"}, "shrinkage must be from 0 to 1, got 2"),
        ({"shrinkage": 0.5}, "shrinkage must be given with the model lancaster, got the models"),
        ({"loss_ratios": [0], "models": "auto"}, "loss_ratios must be positive numbers, got 0"),
        ({"max_risk": 0}, "max_risk must be above 0 and at most 1, got 0"),
        ({"max_risk": 1.5}, "max_risk must be above 0 and at most 1, got 1.5"),
        ({"min_k": 1}, "min_k must be at least 2, got 1"),
        ({"carry": ["Risk"], "risks": "r.csv"}, "carry must be columns named unlike those"),
        ({"carry": ["a", "A"], "risks": "r.csv"}, "carry must be names that differ in more"),
        ({"carry": ["a", "a"], "risks": "r.csv"}, "carry must be different columns, got 'a' twice"),
        ({"whole_population": True, "population": 9}, "population must be left out where the file"),
        ({"whole_population": True, "weight": "w"}, "weight must be left out where the file is"),
        ({"all_models": True}, "all_models must be left out where models are named, got both"),
    ],
)
def test_what_cannot_be_asked_is_told_before_the_records_are_read(options, part):
    assert part in complaint(["age", "sex"], **options)


def test_scenarios_without_keys_are_held_against_the_columns():
    assert "scenario 'n' must be made of keys, got 'agee'; did you mean 'age'?" in complaint(
        None, scenarios={"n": ["agee"]}
    )
    found = assess(FRAME, scenarios={"n": ["age"], "m": ["sex", "age"]}, models=QUICK)
    assert found.settings.keys == ("age", "sex")


def test_loss_ratios_need_a_model_that_could_be_fitted():
    with pytest.raises(InputError, match="got none that could be fitted; give the size of the pop"):
        assess(FRAME, ["age"], loss_ratios=[3], models=[QUICK, "benedetti_franconi"])
    found = assess(FRAME, ["age"], loss_ratios=[3], models=["benedetti_franconi"], population=90)
    assert found.settings.loss_ratios == (3,)


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"diversity": 0}, "l must be a whole number of at least 1, got 0"),
        ({"diversity": 1.5}, "l must be a whole number of at least 1, got 1.5"),
        ({"recursive_c": 0}, "c must be a number above 0, got 0"),
        ({"recursive_c": float("inf")}, "c must be a number above 0, got inf"),
        ({"closeness": -0.1}, "t must be from 0 to 1, got -0.1"),
        ({"closeness": float("nan")}, "t must be from 0 to 1, got nan"),
        ({"concentration": 0}, "alpha must be above 0 and at most 1, got 0"),
        ({"concentration": 1.1}, "alpha must be above 0 and at most 1, got 1.1"),
        ({"anonymity": 0}, "alpha_k must be a whole number of at least 1, got 0"),
    ],
)
def test_thresholds_out_of_range(given, part):
    with pytest.raises(InputError) as caught:
        Thresholds(**given)
    assert str(caught.value) == part


def test_a_column_is_named_with_its_near_match():
    with pytest.raises(ColumnError, match="keys must be columns of the data frame, got 'Age'"):
        assess(FRAME, ["Age"], models=QUICK)


def test_options_are_kept_in_one_form_and_hold_no_data():
    keys = iter(["age", "sex"])
    made = AssessOptions(keys=keys, k=3, models=iter([QUICK]), missing_codes=[9], impossible=FRAME)
    assert (made.keys, made.k, made.models) == (("age", "sex"), (3,), (QUICK,))
    assert made.codes == AssessOptions(keys=["age"], missing_codes={"*": "9"}).codes
    assert "impossible" not in repr(made)
    zeros = FRAME[["age"]].head(0)
    everyone = pd.concat([FRAME, FRAME])
    found = assess(FRAME, ["age"], impossible=zeros, population_file=everyone, models=QUICK)
    assert found.settings.options.impossible == "the data frame"
    assert found.settings.options.population_file == "the data frame"


def test_options_may_be_given_whole_and_replaced():
    asked = AssessOptions(keys=["age"], models=QUICK, population=30)
    assert assess(FRAME, options=asked).summary.population_size == 30
    assert assess(FRAME, options=asked, population=40).summary.population_size == 40
    assert assess(FRAME, ["sex"], asked).settings.keys == ("sex",)
