"""How alike neighbours are: against all orders of a small file, and against plain sums."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from discreet.data.records import open_records
from discreet.engines.duckdb import DuckDBEngine
from discreet.engines.duckdb_order import _runs


def orders(frame):
    return {one.name: one for one in DuckDBEngine().orders(open_records(frame), list(frame))}


@pytest.mark.parametrize("values", ["aabbc", "aaab", "abcd", "aabbcc"])
def test_equal_neighbours_have_the_mean_and_variance_of_all_orders(values):
    n = len(values)
    equal = [
        sum(x == y for x, y in itertools.pairwise(order))
        for order in itertools.permutations(values)
    ]
    counts = [values.count(one) for one in set(values)]
    squares, cubes = sum(c**2 for c in counts), sum(c**3 for c in counts)
    mean, spread = np.mean(equal), np.std(equal)
    for number in set(equal):
        wanted = 0.0 if spread == 0 else (number - mean) / spread
        assert _runs(n, number, squares, cubes) == pytest.approx(wanted, abs=1e-12)


def test_serial_correlation_is_that_of_the_ranks():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"x": rng.integers(0, 7, 200).cumsum() % 11})
    _, code = np.unique(frame["x"], return_inverse=True)
    off = code - code.mean()
    wanted = ((off[1:] * off[:-1]).sum() / (off**2).sum() + 1 / 200) * math.sqrt(200)
    assert orders(frame)["x"].like_ranks == pytest.approx(wanted)


def test_in_random_order_both_are_near_standard_normal():
    rng = np.random.default_rng(11)
    found = [
        orders(pd.DataFrame({"x": rng.choice(list("abcd"), 80), "y": rng.random(80)}))
        for _ in range(150)
    ]
    for of in ("like_neighbours", "like_ranks"):
        values = [getattr(one["x"], of) for one in found]
        assert abs(np.mean(values)) < 0.3
        assert 0.8 < np.std(values) < 1.2
    assert 0.8 < np.std([one["y"].like_ranks for one in found]) < 1.2


def test_missing_values_are_a_value_like_others_and_constants_tell_nothing():
    frame = pd.DataFrame({"x": [None] * 40 + ["a"] * 40, "c": "same"})
    found = orders(frame)
    assert found["x"].most > 5
    assert found["c"].most == 0


@pytest.mark.parametrize("n", [0, 1, 2])
def test_hardly_any_records(n):
    found = orders(pd.DataFrame({"x": pd.Series(range(n), dtype="int64")}))
    assert found["x"].n_records == n
    assert math.isfinite(found["x"].most)
