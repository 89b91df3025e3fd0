"""Terms relative to the largest, against forty-digit arithmetic."""

import math

import mpmath as mp
import numpy as np
import pytest

from discreet.count_tables.com_poisson.terms import (
    PlainTerms,
    SaddleTerms,
    deviance,
    log_ratio_series,
    log_term_series,
    stirling_remainder,
    terms_of,
)
from discreet.errors import InputError


@pytest.mark.parametrize("centre", [1.5, 20.0, 1e4, 1e12, 1e100])
@pytest.mark.parametrize("share", [-0.9, -0.3, -1e-3, -1e-9, 0.0, 1e-12, 1e-4, 0.22, 0.5, 7.0])
def test_deviance(centre, share):
    offset = centre * share
    with mp.workdps(250):
        mu, x = mp.mpf(centre), mp.mpf(centre) + mp.mpf(offset)
        exact = x * mp.log(x / mu) - (x - mu)
        got = float(deviance(np.array([offset]), centre)[0])
        assert got == pytest.approx(float(exact), rel=3e-14, abs=0)


@pytest.mark.parametrize("value", [0.5, 1.0, 3.7, 15.9, 16.0, 17.0, 100.0, 1e8])
def test_stirling_remainder(value):
    with mp.workdps(40):
        x = mp.mpf(value)
        exact = mp.loggamma(x + 1) - (x + 0.5) * mp.log(x) + x - mp.log(2 * mp.pi) / 2
    got = float(stirling_remainder(np.array([value]))[0])
    assert got == pytest.approx(float(exact), abs=2e-14 if value < 16 else 3e-16)


@pytest.mark.parametrize(
    ("rate", "dispersion", "kind"),
    [
        (0.3, 0.7, PlainTerms),
        (5.0, 1.0, PlainTerms),
        (1.01, 1e-3, PlainTerms),
        (1e10, 3.0, SaddleTerms),
        (1e6, 1.0, SaddleTerms),
        (1e300, 60.0, SaddleTerms),
        (3.0, 0.03, SaddleTerms),
    ],
)
def test_ratios_of_terms(rate, dispersion, kind):
    terms = terms_of(math.log(rate), dispersion, rate=rate)
    assert isinstance(terms, kind)
    middle = round(terms.centre)
    reach = max(3, round(5 * math.sqrt(middle / dispersion)))
    for value in {max(0, middle - reach), max(0, middle - 1), middle, middle + 1, middle + reach}:
        with mp.workdps(60):
            mu = mp.e ** (mp.log(mp.mpf(rate)) / mp.mpf(dispersion))
            centre = mu if kind is SaddleTerms else mp.mpf(terms.centre)
            exact = (value - centre) * mp.log(mp.mpf(rate)) - mp.mpf(dispersion) * (
                mp.loggamma(value + 1) - mp.loggamma(centre + 1)
            )
        offset = terms.offset(np.array([float(value)]))
        assert float(terms.log_term(offset)[0]) == pytest.approx(float(exact), rel=1e-12, abs=1e-12)
        assert terms.log_term_at(float(offset[0])) == pytest.approx(
            float(exact), rel=1e-12, abs=1e-12
        )


@pytest.mark.parametrize(("rate", "dispersion"), [(1.02, 2e-3), (1e6, 1.0)])
def test_series_about_a_value(rate, dispersion):
    terms = terms_of(math.log(rate), dispersion, rate=rate)
    value = 60 if rate < 2 else 1_000_100
    with mp.workdps(60):
        log_rate, nu, centre = mp.log(mp.mpf(rate)), mp.mpf(dispersion), mp.mpf(terms.centre)

        def log_term(x):
            return (x - centre) * log_rate - nu * (mp.loggamma(x + 1) - mp.loggamma(centre + 1))

        exact = [float(c) for c in mp.taylor(log_term, value, 5)]
    ratio = log_ratio_series(terms, value)
    got = log_term_series(terms, value, ratio)
    assert got[0] == pytest.approx(exact[0], abs=1e-8)
    assert got[1:] == pytest.approx(exact[1:], rel=1e-6, abs=1e-14)
    assert dispersion * ratio[2:] == pytest.approx(got[2:], rel=1e-12)


def test_slope_is_the_derivative():
    for terms in (terms_of(0.5, 1.3), terms_of(math.log(1e9), 1.1)):
        offset, h = 0.3 * math.sqrt(terms.centre + 1), 1e-4 * (terms.centre + 1) ** 0.5
        difference = (terms.log_term_at(offset + h) - terms.log_term_at(offset - h)) / (2 * h)
        assert terms.slope(offset) == pytest.approx(difference, rel=1e-6)


@pytest.mark.parametrize(
    ("log_rate", "dispersion", "message"),
    [
        (0.0, 0.0, "rate must be below 1 when dispersion is 0"),
        (1.0, 0.0, "the series has no sum"),
        (-1.0, -0.1, "dispersion must be a finite number, zero or more"),
        (math.nan, 1.0, "log_rate must be a finite number"),
        (0.0, math.inf, "dispersion must be a finite number"),
        (1.0, 1e-3, r"rate\^\(1/dispersion\) must be at most e\^200"),
        (1.0, 1e-320, r"rate\^\(1/dispersion\) must be at most e\^200"),
        (1e8, 1e8, "dispersion must be at most 100000 × rate"),
    ],
)
def test_refuses(log_rate, dispersion, message):
    with pytest.raises(InputError, match=message):
        terms_of(log_rate, dispersion)
