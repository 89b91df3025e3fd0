"""Risk 1/f, and the certain limits on the number of population uniques."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.data.summary import SizeIndices, Summary
from discreet.figures import Figure, How
from discreet.survey.models.contract import Tally
from discreet.survey.models.sample_frequency import SampleFrequency


def summary_of(counts, population=None):
    indices = SizeIndices.of_counts(np.array(counts))
    return Summary(
        sample_size=sum(counts),
        n_table_cells=len(counts),
        level_counts=(len(counts),),
        size_indices=indices,
        weight_total=None,
        population_size=population,
        population_size_known=population is not None,
    )


def batch_of(counts):
    coding = Coding.of_sizes([len(counts)])
    return CellBatch(
        coding=coding,
        words=np.arange(len(counts))[:, None],
        sample_count=np.array(counts),
        weight_total=None,
    )


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=300))
def test_correct_matches_are_the_occupied_cells(counts):
    fitted = SampleFrequency().fit(summary_of(counts))
    tally = Tally()
    for batch in (
        (batch_of(counts[:7]), batch_of(counts[7:])) if counts[7:] else (batch_of(counts),)
    ):
        scores = fitted.score(batch)
        assert scores.unique_probability is None
        assert scores.match_probability == pytest.approx(1 / batch.sample_count)
        tally = tally.add(batch, scores)
    matches = fitted.expected_correct_matches(tally)
    assert isinstance(matches, Figure)
    assert (matches.value, matches.how) == (len(counts), How.EXACT)


@pytest.mark.parametrize(
    ("counts", "population", "value", "low", "high", "how"),
    [
        ([1, 1, 3], None, None, 0, 2, How.BOUND),
        ([1, 1, 3], 1000, None, 0, 2, How.BOUND),
        ([1, 1, 3], 5, 2, 2, 2, How.EXACT),
        ([2, 3], None, 0, 0, 0, How.EXACT),
    ],
)
def test_population_uniques_are_certain_limits(counts, population, value, low, high, how):
    fitted = SampleFrequency().fit(summary_of(counts, population))
    figure = fitted.expected_population_uniques(Tally())
    assert isinstance(figure, Figure)
    assert (figure.value, figure.low, figure.high, figure.how) == (value, low, high, how)
    assert not fitted.parameters
