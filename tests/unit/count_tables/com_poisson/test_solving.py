"""One equation at a time: the moments at the solution are those asked for."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.count_tables.com_poisson.normaliser import moments
from discreet.count_tables.com_poisson.solving import (
    dispersion_for_log_factorial_mean,
    log_rate_for_mean,
)
from discreet.errors import InputError


@settings(max_examples=60)
@given(st.floats(-12, 9).map(math.exp), st.floats(-7, 4).map(math.exp))
def test_mean(mean, dispersion):
    log_rate = log_rate_for_mean(mean, dispersion)
    assert moments(log_rate, dispersion).mean == pytest.approx(mean, rel=1e-11)


@pytest.mark.parametrize("mean", [1e-9, 0.2, 1.0, 7e5])
def test_mean_at_the_ends(mean):
    assert log_rate_for_mean(mean, 1.0) == pytest.approx(math.log(mean), rel=1e-12, abs=1e-12)
    assert log_rate_for_mean(mean, 0.0) == pytest.approx(math.log(mean / (1 + mean)), rel=1e-9)
    assert log_rate_for_mean(mean, 1e-9) == pytest.approx(log_rate_for_mean(mean, 0.0), abs=2e-8)


def test_a_bad_start_does_no_harm():
    for start in (-300.0, 0.0, 5.0, 200.0):
        assert log_rate_for_mean(3.0, 0.5, start=start) == pytest.approx(
            log_rate_for_mean(3.0, 0.5), rel=1e-12
        )


def test_a_rate_next_to_one_without_dispersion_is_refused_and_solved_around():
    with pytest.raises(InputError, match="counts matter"):
        moments(-4e-306, 0.0)
    assert dispersion_for_log_factorial_mean(1.0, -4e-306) > 0


@settings(max_examples=60)
@given(st.floats(-5, 40), st.floats(-3, 3).map(math.exp))
def test_log_factorial_mean(log_rate, wanted):
    dispersion = dispersion_for_log_factorial_mean(wanted, log_rate)
    if dispersion == 0:
        assert log_rate < 0
        assert moments(log_rate, 0.0).log_factorial_mean <= wanted
    else:
        found = moments(log_rate, dispersion).log_factorial_mean
        assert found == pytest.approx(wanted, rel=1e-9)
