"""When a stated standard error is right, and when it is not."""

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import chi2

CHANCE = 0.0005  # on each side, that a right error would fail


@pytest.fixture
def errors_are_right():
    """Asserts that stated errors are those of the estimates, neither too small nor too large.

    `scores` are (estimate − truth) / stated error, one a repeat. If the errors are right, their sum
    of squares is chi-square with as many degrees of freedom: for 50 repeats their root mean square
    is between 0.68 and 1.34 but once in a thousand times, where errors half as large make it 2 and
    errors twice as large 0.5. Draws are seeded, so that a right error passes every time.
    `at_least` and `at_most` are what the root mean square is in truth where the errors are not
    exactly right for a reason the caller knows.
    """

    def check(scores: Sequence[float], *, at_least: float = 1.0, at_most: float = 1.0) -> None:
        n = len(scores)
        assert n >= 40, "too few repeats to tell an error from one twice as large"
        low, high = np.sqrt(chi2.ppf([CHANCE, 1 - CHANCE], n) / n)
        spread = float(np.sqrt(np.mean(np.square(scores))))
        assert at_least * low < spread < at_most * high

    return check
