"""Standard errors and effective draws of chains whose dependence is known."""

import numpy as np
import pytest

from discreet.belief.draws.chain_frequencies import counted_distribution, independent_distribution
from discreet.numerics.chain_diagnostics import diagnose

REPEATS = 60
STAY = 0.6  # chance that a chain stays where it is: effective draws are (1 − s)/(1 + s) of all


def sticky(rng, draw, stay=STAY, shape=(4, 400)):
    """Chains that stay with a chance and else draw anew."""
    fresh = draw(shape)
    renewed = rng.random(shape) >= stay
    renewed[:, 0] = True
    last = np.maximum.accumulate(np.where(renewed, np.arange(shape[1]), 0), axis=1)
    return np.take_along_axis(fresh, last, axis=1)


def test_the_standard_error_of_a_mean(errors_are_right):
    rng, scores = np.random.default_rng(1), []
    for _ in range(REPEATS):
        draws = sticky(rng, lambda shape: rng.normal(size=shape))
        told = diagnose(draws[:, :, None])
        scores.append(draws.mean() / told.standard_error[0])
    errors_are_right(scores)


def test_effective_draws_of_the_middle():
    """400 effective draws of 1600; the estimate itself has an error of about 8 %, so 40 of them
    one of 1.3 %."""
    rng = np.random.default_rng(2)
    found = [
        diagnose(sticky(rng, lambda shape: rng.normal(size=shape))[:, :, None]).bulk_draws[0]
        for _ in range(40)
    ]
    assert np.mean(found) == pytest.approx(1600 * (1 - STAY) / (1 + STAY), rel=0.08)


def test_effective_draws_of_a_tail_that_is_seldom_left():
    """A regime of probability 0.08 is kept with a chance of 0.95, in which draws lie far below, and
    5 % of all are at or under a point within it. I(x ≤ point) has a variance of 0.05 · 0.95 and at
    lag k a covariance of 0.625² · 0.08 · 0.92 · 0.95^k, so τ = 1 + 2 · 0.605 · 19 = 24. At the
    median hardly anything depends on the regime, and there τ is about 1.3."""
    rng, found = np.random.default_rng(3), []
    for _ in range(10):
        low = sticky(rng, lambda shape: rng.random(shape) < 0.08, stay=0.95, shape=(4, 5000))
        draws = np.where(low, rng.normal(-9.0, 1.0, low.shape), rng.normal(size=low.shape))
        found.append(diagnose(draws[:, :, None]).tail_draws[0])
    assert np.mean(found) == pytest.approx(20_000 / 24, rel=0.25)


def test_errors_of_the_shares_of_counts_along_chains(errors_are_right):
    """Errors of likely values by their own effective draws, of others by the fewest."""
    rng, scores = np.random.default_rng(4), []
    right = np.array([0.216, 0.432, 0.288, 0.064])  # binomial, 3 and 0.4
    for _ in range(REPEATS):
        counts = sticky(rng, lambda shape: rng.binomial(3, 0.4, shape))
        told = counted_distribution(counts)
        scores.append([(told.distribution[q] - right[q]) / told.errors[q] for q in range(4)])
        assert told.effective_draws == pytest.approx(1600 * (1 - STAY) / (1 + STAY), rel=0.5)
    for own in np.transpose(scores):
        errors_are_right(own)


def test_errors_of_the_shares_of_independent_counts(errors_are_right):
    rng, scores = np.random.default_rng(5), []
    right = np.array([0.216, 0.432, 0.288, 0.064])
    for _ in range(REPEATS):
        told = independent_distribution(rng.binomial(3, 0.4, 400))
        scores.append([(told.distribution[q] - right[q]) / told.errors[q] for q in range(4)])
    for own in np.transpose(scores):
        errors_are_right(own)


@pytest.mark.parametrize("of_chains", [False, True])
def test_a_value_seen_once_or_twice_is_not_taken_as_settled(of_chains):
    """Of probability 1/400 in 400 draws: seen once, its own share says √(p(1 − p)/n) = 0.0025, but
    it might as well be twice as frequent. By the rule of succession the error is that of a share
    of 2/402, √2 of its own: never below it, never twice as large."""
    counts = np.zeros((4, 100), dtype=np.int64)
    counts[2, 50] = 1
    told = counted_distribution(counts) if of_chains else independent_distribution(counts.ravel())
    own = np.sqrt(1 / 400 * (1 - 1 / 400) / 400)
    assert 1.3 < told.errors[1] / own < 1.6
    assert told.errors[0] == pytest.approx(told.errors[1], rel=0.5)


def test_one_value_in_all_draws_is_not_certain_where_there_is_room():
    """Laplace's rule: another value has a chance of 1 / (n + 2); a tenth of a chain's draws count."""
    counts = np.full((4, 100), 7)
    assert counted_distribution(counts).errors == {7: pytest.approx(1 / 42)}
    assert counted_distribution(counts, room=False).errors == {7: 0.0}
    assert independent_distribution(counts.ravel()).errors == {7: pytest.approx(1 / 402)}
