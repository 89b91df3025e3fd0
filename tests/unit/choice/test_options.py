"""A limit in one of two ways, a measure by its name or made."""

from dataclasses import replace

import pytest

from discreet.choice.measures import Measure
from discreet.choice.options import ChooseOptions
from discreet.errors import InputError
from discreet.tables.refused_margin import RiskMeasure


def test_a_width_is_a_limit_of_bounds():
    made = ChooseOptions(min_width=3, small=1)
    assert (made.max_risk, made.measure.kind, made.measure.small) == (-3.0, RiskMeasure.BOUNDS, 1)
    same = ChooseOptions(max_risk=-3.0, measure="bounds", small=1, seed=made.seed)
    assert same == made
    assert replace(made, seconds=9.0).max_risk == -3.0


def test_a_measure_by_its_name_or_made():
    made = ChooseOptions(max_risk=0.2, measure="table", confidence=0.7, alpha=1.0)
    assert made.measure == Measure(kind=RiskMeasure.TABLE, confidence=0.7, alpha=1.0)
    assert replace(made, small=4).measure == replace(made.measure, small=4)
    assert ChooseOptions(max_risk=0.2, measure=Measure(small=5)).measure.small == 5
    assert ChooseOptions(max_risk=0.2, intruders="uniform").intruders == ("uniform",)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "policy, max_risk or min_width must be given, one of them at least, got none"),
        ({"max_risk": 0.1, "min_width": 3}, "max_risk must be left out where min_width is given"),
        ({"min_width": -1}, "min_width must be at least 0, got -1"),
        ({"min_width": 1, "measure": "cells"}, "min_width must be given with the measure bounds"),
        ({"max_risk": 0.1, "measure": "cell"}, "measure must be one of bounds, table, cells"),
    ],
)
def test_what_cannot_be_meant(given, says):
    with pytest.raises(InputError, match=says):
        ChooseOptions(**given)
