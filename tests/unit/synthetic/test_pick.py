"""Categorical draws under many conditions at once."""

from typing import cast

import numpy as np
import pytest

from discreet.numerics.arrays import FloatArray
from discreet.synthetic.households import pick


def test_shares_of_draws_are_the_weights() -> None:
    weights = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 3.0], [0.0, 2.0, 0.0]])
    condition = np.repeat([1, 2], [40_000, 10])
    levels = pick(weights, condition, rng=np.random.default_rng(0))
    first = np.bincount(levels[:40_000], minlength=3) / 40_000
    assert first[1] == 0
    assert first[2] == pytest.approx(0.75, abs=5 * np.sqrt(0.75 * 0.25 / 40_000))
    assert (levels[40_000:] == 1).all()


def test_a_point_that_rounds_up_stays_in_its_row() -> None:
    class AlmostOne:
        def random(self, size: int) -> FloatArray:
            return np.full(size, np.nextafter(1.0, 0.0))

    table = np.tile([1.0, 1.0, 0.0], (400, 1))
    levels = pick(table, np.arange(400), rng=cast(np.random.Generator, AlmostOne()))
    assert (levels == 1).all()
