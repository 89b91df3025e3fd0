"""The Bayes test of uniqueness over a grid of losses."""

import numpy as np
import pytest

from discreet.survey.bayes_test import LOSS_RATIOS, CalledUnique, called_unique


@pytest.mark.parametrize("ratio", [*LOSS_RATIOS, 3.0, 9.0, 0.5])
def test_at_a_tie_a_record_is_called_unique_whatever_the_last_bits(ratio):
    tie = 1 / (1 + ratio) * (1 + np.arange(-4, 5) * 2.0**-52)
    assert called_unique(tie, ratio).all()
    assert not called_unique(tie * 0.999, ratio).any()


def test_records_are_counted_for_each_ratio():
    found = CalledUnique.none_yet().add(np.array([0.0, 1 / 3, 1.0]), np.array([5, 1, 2]))
    assert found.records.tolist() == [2, *[3] * (len(LOSS_RATIOS) - 1)]
