"""Options of a wrong type are refused in one line; every right one is taken."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet.errors import InputError
from discreet.option_types import a_kind

FRAME = pd.DataFrame({"a": [1, 2]})


@pytest.mark.parametrize(
    ("kind", "given", "says"),
    [
        ("AssessOptions", {"keys": 5}, "keys must be a list of column names, got 5"),
        (
            "AssessOptions",
            {"k": None},
            "k must be a whole number or a list of whole numbers, got No",
        ),
        (
            "AssessOptions",
            {"k": "x"},
            "k must be a whole number or a list of whole numbers, got a s",
        ),
        ("AssessOptions", {"k": [2, "x"]}, "k must be a whole number or a list of whole numbers"),
        ("AssessOptions", {"k": FRAME}, "got a DataFrame"),
        ("AssessOptions", {"k": True}, "got a bool"),
        ("AssessOptions", {"weight": 3}, "weight must be text or None, got an int"),
        (
            "AssessOptions",
            {"population": FRAME},
            "population must be a number of persons, got a Dat",
        ),
        ("AssessOptions", {"scenarios": ["a"]}, "scenarios must be a dict, got a list"),
        ("AssessOptions", {"csv": ";"}, "csv must be a CsvOptions or None, got a str"),
        ("AssessOptions", {"shrinkage_table": "yes"}, "must be true or false, got a str"),
        ("AssessOptions", {"risks": 5}, "risks must be text or a Path or None, got an int"),
        ("AuditOptions", {"small": "x"}, "small must be a whole number or None, got a str"),
        (
            "AuditOptions",
            {"population": 2.5},
            "population must be a whole number or None, got a fl",
        ),
        ("AuditOptions", {"refused": [["a"], 3]}, "refused must be a list, got a list"),
        ("ChooseOptions", {"max_risk": None}, "max_risk must be a number, got None"),
        ("ChooseOptions", {"max_risk": 0.1, "small": "x"}, "small must be a whole number or None"),
        ("ChooseOptions", {"max_risk": 0.1, "masks": 5}, "masks must be text or None, got an int"),
        ("CountOptions", {"decimals": "x"}, "decimals must be a whole number or None, got a str"),
        ("CountOptions", {"prior": (1, 2)}, "prior must be a list of numbers or None, got a tuple"),
        ("CategoryOptions", {"by": 5}, "by must be a list of names, got an int"),
        ("BacktestOptions", {"keys": ["a"], "fractions": 5}, "fractions must be a list of numbers"),
        ("CsvOptions", {"delimiter": 5}, "delimiter must be text or None, got an int"),
    ],
)
def test_a_wrong_type_is_told_in_one_line(kind, given, says):
    with pytest.raises(InputError) as caught:
        getattr(discreet, kind)(**({"keys": ["a"]} if kind == "AssessOptions" else {}) | given)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (
            "AssessOptions",
            {"k": np.int64(3), "population": np.float64(10), "risks": Path("r.parquet")},
        ),
        ("AssessOptions", {"k": [2, 3], "population": Fraction(10), "models": ("ewens",)}),
        ("AssessOptions", {"missing_codes": [99], "loss_ratios": (1, 2.5), "k": (2,)}),
        ("AssessOptions", {"keys": (name for name in "ab"), "shrinkage_table": np.bool_(False)}),
        ("AuditOptions", {"knows": "a=1:2", "measure": "table", "seconds": 3}),
        ("ChooseOptions", {"max_risk": 1, "measure": "table", "intruders": "uniform", "small": 3}),
        ("ChooseOptions", {"max_risk": 0.5, "requests": [(("a", "b"), 1)], "out": [["a"]]}),
        ("CountOptions", {"measure": "truth", "prior": [1, 2, 3.5], "max_risk": np.float32(0.5)}),
        ("CategoryOptions", {"withhold": "a", "margins": [["a"], ["b"]], "regress": ["a"]}),
        ("BacktestOptions", {"keys": ["a"], "fractions": np.array([0.1, 0.2]), "models": "auto"}),
    ],
)
def test_what_is_right_is_taken(kind, given):
    keys = {"keys": ["a"]} if kind == "AssessOptions" else {}
    assert getattr(discreet, kind)(**keys | given)


def test_kinds_in_words():
    assert [a_kind(x) for x in (None, 1, "a", Decimal(1))] == [
        "None",
        "an int",
        "a str",
        "a Decimal",
    ]
