"""R-hat, effective draws and standard errors against autoregressive chains, whose values are known."""

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.numerics.chain_diagnostics import (
    diagnose,
    effective_draws,
    r_hat,
    rank_normalised,
    split,
)


def autoregressive(correlation, n_chains, n_draws, n_quantities, rng):
    """x' = φ x + noise, stationary from the start; variance 1 / (1 − φ²)."""
    noise = rng.standard_normal((n_chains, n_draws, n_quantities))
    x = np.empty_like(noise)
    x[:, 0] = noise[:, 0] / np.sqrt(1 - correlation**2)
    for t in range(1, n_draws):
        x[:, t] = correlation * x[:, t - 1] + noise[:, t]
    return x


@pytest.mark.parametrize("correlation", [-0.5, 0.0, 0.5, 0.9])
def test_effective_draws_of_autoregressive_chains(correlation):
    """S (1 − φ) / (1 + φ), and the standard error 1 / ((1 − φ) √S)."""
    draws = autoregressive(correlation, 4, 5000, 12, np.random.default_rng(1))
    found = diagnose(draws)
    expected = 20_000 * (1 - correlation) / (1 + correlation)
    assert abs(found.bulk_draws.mean() / expected - 1) < 0.05
    assert abs(found.standard_error.mean() * (1 - correlation) * np.sqrt(20_000) - 1) < 0.05
    assert found.r_hat.max() < 1.01
    assert found.warning == ""


def test_chains_with_different_means_are_seen():
    draws = autoregressive(0.0, 4, 1000, 2, np.random.default_rng(2))
    draws[0, :, 1] += 3
    found = diagnose(draws)
    assert found.r_hat[0] < 1.01
    assert found.r_hat[1] > 1.2
    assert "disagree" in found.warning


def test_chains_with_different_spreads_are_seen_by_folding():
    draws = autoregressive(0.0, 4, 1000, 1, np.random.default_rng(3))
    draws[0] *= 5
    assert r_hat(rank_normalised(split(draws)))[0] < 1.01
    assert diagnose(draws).r_hat[0] > 1.1


def test_a_chain_that_drifts_is_seen_by_splitting():
    draws = autoregressive(0.0, 1, 1000, 1, np.random.default_rng(4))
    draws[0, 500:] += 2
    assert diagnose(draws).r_hat[0] > 1.2


def test_r_hat_by_hand():
    # chains (0, 2) and (4, 6): W = 2, B / N = 8, ratio 1/2 + 4
    draws = np.array([[0.0, 2.0], [4.0, 6.0]])[:, :, None]
    assert r_hat(draws)[0] == pytest.approx(np.sqrt(4.5))


def test_rank_normalised_ties_share_their_rank():
    scores = rank_normalised(np.array([[1.0, 1.0, 5.0, 2.0]])[:, :, None])[0, :, 0]
    assert scores[0] == scores[1] < scores[3] < scores[2]


def test_independent_draws_are_all_effective_on_average():
    draws = np.random.default_rng(5).standard_normal((4, 1000, 50))
    assert abs(effective_draws(draws).mean() / 4000 - 1) < 0.05


def test_quantities_that_never_vary_are_marked():
    draws = np.random.default_rng(6).integers(0, 5, size=(2, 100, 3))
    draws[:, :, 1] = 7
    found = diagnose(draws)
    assert found.varied.tolist() == [True, False, True]
    assert len(found.r_hat) == len(found.standard_error) == 2
    assert np.all(np.isfinite(found.tail_draws))


def test_chains_stuck_at_different_values_disagree():
    draws = np.zeros((2, 50, 1), dtype=np.int64)
    draws[1] = 1
    found = diagnose(draws)
    assert found.r_hat[0] > 1e6
    assert np.isfinite(found.r_hat[0])
    assert found.warning == "chains disagree (R-hat over 1,000, above 1.01); allow more seconds"


def drifting(value, n_chains, n_draws, rng):
    """The same figure throughout, but for the last bits, which drift as sums of roundings do."""
    steps = rng.integers(-1, 2, size=(n_chains, n_draws, 1)) * np.spacing(value)
    return value + np.cumsum(steps, axis=1)


def test_what_only_rounding_moves_has_not_varied():
    draws = drifting(0.37, 4, 500, np.random.default_rng(9))
    assert diagnose(draws).bulk_draws[0] < 100  # as noise would have it
    assert not diagnose(draws, rounding=1e-13).varied.any()


def test_what_moves_more_than_rounding_has_varied():
    draws = drifting(0.37, 4, 500, np.random.default_rng(9))
    draws[2, 100] += 1e-12
    assert diagnose(draws, rounding=1e-13).varied.all()


def test_the_last_bits_of_draws_change_no_diagnosis():
    """Few values, many ties, symmetric about their median: ranks and folding see every last bit."""
    rng = np.random.default_rng(10)
    draws = rng.choice([0.1, 0.3, 0.7, 0.9], size=(4, 200, 3))
    noisy = draws + rng.uniform(-1e-15, 1e-15, draws.shape)
    plain, moved = diagnose(draws, rounding=1e-14), diagnose(noisy, rounding=1e-14)
    for name in ("r_hat", "bulk_draws", "tail_draws", "standard_error"):
        assert getattr(moved, name) == pytest.approx(getattr(plain, name), rel=1e-9)


def test_chains_stuck_at_figures_with_rounded_means_disagree_without_end():
    draws = np.full((4, 50, 1), 0.1)  # whose mean is not 0.1
    draws[2:] = 0.3
    assert r_hat(draws)[0] == np.sqrt(np.finfo(np.float64).max)
    assert r_hat(np.full((4, 50, 1), 0.1))[0] == 1
    assert effective_draws(np.full((4, 50, 1), 0.1))[0] == 200


def test_few_effective_draws_are_told():
    found = diagnose(np.random.default_rng(8).standard_normal((4, 40, 1)))
    assert "effective" in found.warning or "disagree" in found.warning


@pytest.mark.parametrize(
    ("draws", "message"),
    [
        (np.zeros((4, 10)), "chains × draws × quantities, got 2 axes"),
        (np.zeros((4, 3, 1)), "at least 4 of each chain, got 3"),
        (np.full((1, 10, 1), np.nan), "draws must be finite"),
    ],
)
def test_draws_are_checked(draws, message):
    with pytest.raises(InputError, match=message):
        diagnose(draws)
