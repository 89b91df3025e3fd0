"""Draws of whole numbers alone: every probability is exact."""

from fractions import Fraction
from math import exp, factorial

import numpy as np
import pytest
from scipy.stats import chisquare

from discreet.errors import InputError
from discreet.numerics.rational_draws import bernoulli_exp, discrete_laplace, geometric_exp


class Scripted:
    """Stands for a generator: gives numbers of a script, each time checking its bound."""

    def __init__(self, script, bounds):
        self.script, self.bounds, self.place = script, bounds, 0

    def integers(self, low, high, size):
        assert (low, size) == (0, 1)
        if self.place == len(self.script):
            raise StopIteration
        assert high == self.bounds[self.place]
        self.place += 1
        return np.array([self.script[self.place - 1]])


def decided(numerator, denominator, depth):
    """The exact probability that all scripts of some rounds settle on true, and on false."""
    found = {True: Fraction(0), False: Fraction(0)}
    open_scripts = [((), Fraction(1))]
    bounds = [denominator * k for k in range(1, depth + 1)]
    for round_ in range(depth):
        further = []
        for script, chance in open_scripts:
            for number in range(bounds[round_]):
                longer, own = (*script, number), chance / bounds[round_]
                rng = Scripted(longer, bounds)
                try:
                    result = bool(bernoulli_exp(np.array([numerator]), denominator, rng=rng)[0])
                except StopIteration:
                    further.append((longer, own))
                else:
                    found[result] += own
        open_scripts = further
    return found


@pytest.mark.parametrize(("numerator", "denominator"), [(0, 1), (1, 1), (1, 2), (2, 3), (1, 5)])
def test_every_script_of_numbers_settles_as_the_series_of_exp_says(numerator, denominator):
    """After m rounds true has Σ_{k ≤ m, odd} γ^(k−1)/(k−1)! − γ^k/k!, in exact fractions."""
    depth, gamma = 4, Fraction(numerator, denominator)
    found = decided(numerator, denominator, depth)
    terms = [gamma**k / factorial(k) for k in range(depth + 1)]
    stops = [terms[k - 1] - terms[k] for k in range(1, depth + 1)]  # at round k
    assert found[True] == sum(stops[0::2])
    assert found[False] == sum(stops[1::2])
    assert float(found[True]) <= exp(-gamma) <= float(found[True] + terms[depth]) + 1e-15


@pytest.mark.parametrize("rate", [Fraction(1), Fraction(1, 3), Fraction(7, 5), Fraction(3, 10)])
def test_draws_have_the_stated_probabilities(rate):
    n, alpha = 60_000, exp(-float(rate))
    drawn = discrete_laplace(n, rate, rng=np.random.default_rng(4))
    most = 12
    values = np.arange(-most, most + 1)
    chances = (1 - alpha) / (1 + alpha) * alpha ** np.abs(values)
    tail = alpha ** (most + 1) / (1 + alpha)
    observed = [(drawn < -most).sum(), *(np.sum(drawn == v) for v in values), (drawn > most).sum()]
    expected = n * np.array([tail, *chances, tail])
    assert expected.sum() == pytest.approx(n)
    few = expected < 5
    observed = np.array([*np.array(observed)[~few], np.array(observed)[few].sum()])
    expected = np.array([*expected[~few], expected[few].sum()])
    kept = expected > 0
    assert chisquare(observed[kept], expected[kept]).pvalue > 1e-3


def test_successes_before_a_failure_are_geometric():
    drawn = geometric_exp(40_000, rng=np.random.default_rng(2))
    chances = (1 - exp(-1)) * np.exp(-np.arange(8.0))
    observed = [*(np.sum(drawn == k) for k in range(8)), (drawn >= 8).sum()]
    assert chisquare(observed, 40_000 * np.array([*chances, exp(-8)])).pvalue > 1e-3


def test_the_same_generator_gives_the_same_draws():
    one, other = (discrete_laplace(50, Fraction(1, 7), rng=np.random.default_rng(3)) for _ in "ab")
    assert np.array_equal(one, other)
    assert discrete_laplace(0, Fraction(1), rng=np.random.default_rng(3)).shape == (0,)


@pytest.mark.parametrize(
    "rate", [Fraction(0), Fraction(-1, 2), Fraction(1, 2**41), Fraction(2**41)]
)
def test_rates_that_64_bits_cannot_hold_are_refused(rate):
    with pytest.raises(InputError, match="rate must be a ratio of whole numbers from 1"):
        discrete_laplace(1, rate, rng=np.random.default_rng(0))
