"""How many of the population stand behind a value: limits against sums, coverage from both sides."""

import numpy as np
import pytest
from scipy import stats

from discreet.figures import How
from discreet.survey.population_counts import TAIL, Values, least_population, population_limits


@pytest.mark.parametrize("records", [1, 2, 5, 17])
@pytest.mark.parametrize("drawn", [0.01, 0.1, 0.5, 0.9])
def test_limits_are_those_of_the_binomial_sums(records, drawn):
    low, high = population_limits(np.array([records]), np.array([records / drawn]))
    tried = np.arange(records, int(80 * (records + 3) / drawn))
    so_many = stats.binom.sf(records - 1, tried, drawn) > TAIL
    so_few = stats.binom.cdf(records, tried, drawn) > TAIL
    assert low[0] == tried[so_many].min()
    assert high[0] == tried[so_few].max()


def test_everybody_in_the_file_is_known():
    low, high = population_limits(np.array([4, 9]), np.array([4.0, 9.0]))
    assert low.tolist() == high.tolist() == [4, 9]


@pytest.mark.parametrize(("persons", "drawn"), [(30, 0.2), (400, 0.05), (2000, 0.01)])
def test_limits_hold_the_truth_about_as_often_as_they_say(persons, drawn):
    """Nine times in ten by design; discreteness makes it a little more, never much."""
    rng = np.random.default_rng(7)
    seen = rng.binomial(persons, drawn, 4000)
    seen = seen[seen > 0]  # a value that no record has is not in the file
    low, high = population_limits(seen, seen / drawn)
    holds = (low <= persons) & (persons <= high)
    assert 0.89 <= holds.mean() <= 0.965
    assert (low > persons).mean() <= 0.055
    assert (high < persons).mean() <= 0.055


def test_the_least_takes_the_least_limits():
    """A value with one heavy record may be rarer than one with the smallest estimate."""
    values = Values(
        names=["light", "heavy"],
        records=np.array([50, 1]),
        population=np.array([100.0, 120.0]),
        counted=False,
    )
    found = least_population(values, {110.0: False, 100.0: True})
    assert found.value.value == 100
    assert found.value.how is How.ESTIMATE
    assert found.value.low == population_limits(np.array([1]), np.array([120.0]))[0][0]
    assert found.value.high == population_limits(np.array([50]), np.array([100.0]))[1][0]
    assert found.beyond == {110.0: 1, 100.0: 1}
    assert found.concerns[0] == "light"
