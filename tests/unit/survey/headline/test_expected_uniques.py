"""The chance to stay unique as other populations have it: the formula written out, and its limits."""

import math

import numpy as np
import pytest
from tests.oracles.cells_beside import attach, column

from discreet.data.coding import Coding
from discreet.engines.local.cells import cells_at_hand
from discreet.numerics.exact_sums import as_float
from discreet.survey.headline.expected_uniques import (
    BY_FRACTION,
    BY_SURPLUS,
    LEVEL,
    ExpectedUniques,
    staying_unique,
)
from discreet.survey.headline.inclusion import Inclusion
from discreet.survey.headline.rate_index import TYPICAL_RATE


def soft(x):
    return math.log1p(math.exp(x))


@pytest.mark.parametrize(("u", "pi", "d"), [(-4.0, 0.1, 0.0), (0.5, 0.01, 0.7), (-9.0, 0.3, -1.2)])
def test_the_formula(u, pi, d):
    y, far = u - math.log(pi), math.log(pi) + 2.5
    odds = LEVEL[0] + LEVEL[1] * y + LEVEL[2] * soft(y) + LEVEL[3] * soft(y - 2)
    odds += LEVEL[4] * soft(-y - 3)
    odds += far * (BY_FRACTION[0] + BY_FRACTION[1] * y + BY_FRACTION[2] * soft(y))
    odds += d * (BY_SURPLUS[0] + BY_SURPLUS[1] * far)
    (found,) = staying_unique(np.array([u]), np.array([pi]), d)
    assert found == pytest.approx(1 / (1 + math.exp(-odds)), rel=1e-12)


def test_more_people_who_share_the_keys_make_it_less_likely_to_be_alone():
    rates = np.linspace(-14, 6, 200)
    for fraction in (0.005, 0.05, 0.3):
        chance = staying_unique(rates, np.full(200, fraction), 0.0)
        assert np.all(np.diff(chance) <= 0)
        assert np.all(np.diff(chance[:120]) < 0)
        assert chance[0] > 0.8
        assert chance[-1] < 1e-3


def test_the_sum_is_over_sample_uniques_alone():
    records = np.array([1, 2, 1, 5, 1])
    words = np.arange(5)[:, None]
    cells = cells_at_hand(words, records, Coding.of_sizes((5,)))
    typical = np.array([-3.0, -9.0, -1.0, -9.0, -5.0])
    attach(cells, **{TYPICAL_RATE: typical})
    found = cells.fold(ExpectedUniques(Inclusion(0.1, 10), 0.2))
    alone = typical[records == 1]
    assert as_float(found) == pytest.approx(staying_unique(alone, np.full(3, 0.1), 0.2).sum())
    assert np.array_equal(column(cells, TYPICAL_RATE), typical)
