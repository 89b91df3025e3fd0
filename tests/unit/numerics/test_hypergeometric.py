"""Hypergeometric probabilities against exact fractions, small and very large."""

from fractions import Fraction
from math import comb

import mpmath
import numpy as np
import pytest

from discreet.numerics.hypergeometric import hypergeometric_rows


@pytest.mark.parametrize(("total", "drawn"), [(1, 0), (1, 1), (12, 5), (40, 40), (60, 0), (90, 33)])
def test_small_ones_against_fractions(total, drawn):
    marked = np.arange(0, total + 1)
    values = np.arange(0, drawn + 1)
    found = hypergeometric_rows(values, total, marked, drawn)
    for row, held in zip(found, marked.tolist(), strict=True):
        wanted = [
            Fraction(comb(held, x) * comb(total - held, drawn - x), comb(total, drawn))
            for x in values.tolist()
        ]
        np.testing.assert_allclose(row, np.array(wanted, dtype=float), rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    ("total", "held", "drawn"),
    [
        (20_000_000, 1, 5_000_000),
        (4_000_000, 1000, 2_000_000),
        (10**12, 300, 4 * 10**11),
        (10**15, 7, 10**15 - 3),
    ],
)
def test_large_ones_keep_their_digits(total, held, drawn):
    values = np.arange(max(0, held + drawn - total), min(held, drawn) + 1)
    row = hypergeometric_rows(values, total, np.array([held]), drawn)[0]
    assert row.sum() == pytest.approx(1, abs=1e-14)
    with mpmath.workdps(80):

        def log_choose(n, k):
            return mpmath.loggamma(n + 1) - mpmath.loggamma(k + 1) - mpmath.loggamma(n - k + 1)

        for x, p in zip(values.tolist(), row.tolist(), strict=True):
            parts = log_choose(held, x) + log_choose(total - held, drawn - x)
            wanted = mpmath.exp(parts - log_choose(total, drawn))
            if wanted > 1e-250:
                assert float(abs(p - wanted) / wanted) < 1e-12
