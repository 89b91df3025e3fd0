"""Weights in whole units: exact where they can be, refused where they cannot."""

from fractions import Fraction

import duckdb
import numpy as np
import pytest

from discreet.engines.weight_units import in_numbers, sql_numbers, sql_units, unit_shift


def nearest(weights):
    """The sum as if computed without any rounding, rounded once."""
    return float(sum(map(Fraction, weights)))


@pytest.mark.parametrize("spread", [0.1, 2, 4])
@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_sums_are_the_nearest_numbers(spread, size):
    weights = size * np.random.default_rng(3).lognormal(0, spread, 500)
    shift = unit_shift(weights.min(), weights.max(), len(weights))
    units = sql_units("w", shift)
    con = duckdb.connect()
    con.register("t", {"w": weights})
    [(total, number)] = con.execute(
        f"SELECT u, {sql_numbers('u', shift)} FROM (SELECT sum({units}) AS u FROM t)"
    ).fetchall()
    assert number == nearest(weights.tolist()) == in_numbers(int(total), shift)


def test_the_smallest_weight_keeps_thirty_bits_or_there_is_no_unit():
    assert unit_shift(1.0, 1.0, 1) == 52
    shift = unit_shift(1.0, 2.0**43, 2**30)
    assert shift == 105 - 44 - 31
    assert unit_shift(1.0, 2.0**44, 2**30) is None
    assert unit_shift(5e-324, 1.0, 1) is None
    assert unit_shift(1e300, 1e300, 1) < 0
