"""The plan of a sample by one prior or by both."""

import pytest

import discreet
from discreet.errors import InputError


def test_one_plan_a_prior():
    both = discreet.plan(1000, 10_000, 0.05)
    assert [plan.prior for plan in both] == ["uniform", "multinomial"]
    assert discreet.plan(1000, 10_000, 0.05, "multinomial") == both[1:]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ((1, 10, 0.1), "cells must be a whole number of at least 2, got 1"),
        ((10, 0, 0.1), "population must be a whole number of at least 1, got 0"),
        ((10, 10, 2), "target risk must be above 0 and at most 1"),
        ((10, 10, 0.1, "flat"), "prior must be uniform or multinomial"),
    ],
)
def test_what_cannot_be_planned(given, says):
    with pytest.raises(InputError, match=says):
        discreet.plan(*given)
