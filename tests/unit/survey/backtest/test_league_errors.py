"""A model is preferred to the recommended estimate by more than two standard errors, no less."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from discreet.figures import Figure, How, Unavailable
from discreet.flows.backtest import backtest
from discreet.survey.backtest.league import Estimates, Trial

REPEATS = 16


def estimates(value: float) -> Estimates:
    uniques = Figure(value=value, low=0.0, high=500.0, how=How.ESTIMATE)
    return Estimates(uniques=uniques, matches=Unavailable("none"))


def trial(gain: float) -> Trial:
    """The truth is 100, the recommended estimate is off by 50, the other by so much less."""
    found = {"recommended": estimates(150.0), "other": estimates(150.0 - gain)}
    return Trial(
        fraction=0.1,
        sample_size=10,
        sample_uniques=5,
        population_uniques=100,
        correct_matches=200.0,
        estimates=found,
    )


@pytest.mark.parametrize(("errors", "preferred"), [(1.8, None), (2.2, "other")])
def test_chance_is_two_standard_errors_of_the_difference(errors, preferred):
    spread = np.tile([-1.0, 1.0], REPEATS // 2) * 8
    gains = spread + errors * spread.std(ddof=1) / np.sqrt(REPEATS)
    table = pa.table({"a": [1, 2, 2, 3] * 30})
    league = backtest(table, ["a"], fractions=(0.5,), repeats=1, models=["sample_frequency"])
    found = replace(league, trials=tuple(map(trial, gains)), fractions=(0.1,))
    assert found.better_than_recommended() == preferred
