"""Discrete Laplace noise: its probabilities, how epsilon is shared, and what is refused."""

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest

from discreet.data.table import Table
from discreet.errors import InputError
from discreet.masks import discrete_laplace as laplace
from discreet.masks.discrete_laplace import Laplace, add_laplace, checked_epsilon

TABLE = Table.of_dense(np.array([[1, 4, 0], [7, 2, 3]]), names=["a", "b"])


@pytest.mark.parametrize("rate", [Fraction(1, 100), Fraction(1), Fraction(5, 2), Fraction(60)])
def test_probabilities_sum_to_one_with_the_stated_variance(rate):
    noise = Laplace(rate=rate)
    v = np.arange(-6000, 6001)
    p = np.exp(noise.log_probability(v))
    assert p.sum() == pytest.approx(1, abs=1e-12)
    assert (p * v**2).sum() == pytest.approx(noise.variance, rel=1e-10)
    for count in (0, 1, 7):
        assert p[v <= -count].sum() == pytest.approx(
            np.exp(noise.log_probability_at_zero(np.array(count))), rel=1e-10
        )


@pytest.mark.parametrize(
    "sets", [[["a", "b"]], [["a", "b"], ["a"]], [["a", "b"], ["a"], ["b"], []]]
)
@pytest.mark.parametrize("clamp", [False, True])
def test_one_person_more_changes_the_probability_by_at_most_e_to_epsilon(sets, clamp):
    masked = add_laplace(TABLE, epsilon=0.7, seed=5, sets=sets, clamp=clamp)
    truth = TABLE.dense().ravel()
    fewer = np.array([truth - row for row in np.eye(6, dtype=np.int64) if (truth >= row).all()])
    ratio = masked.likelihood(fewer) - masked.likelihood(truth[None])
    assert len(ratio) == 5
    assert np.all(np.abs(ratio) <= 0.7 + 1e-12)
    if not clamp:
        steps = 0.7 / len(sets)
        np.testing.assert_allclose(ratio / steps, np.rint(ratio / steps), atol=1e-9)


def test_epsilon_is_shared_by_the_tables():
    masked = add_laplace(TABLE, epsilon=1, seed=5, sets=[["a"], ["b"], []])
    factor = masked.factors[0]
    assert np.abs(np.diff(factor.log_probability)).max() == pytest.approx(1 / 3)
    assert "epsilon 1 for one person added or removed, 0.333 for each of 3 tables;" in masked.effect


def test_figures_may_be_below_zero_unless_they_are_clamped():
    plain = [add_laplace(TABLE, epsilon=0.3, seed=seed) for seed in range(30)]
    clamped = [add_laplace(TABLE, epsilon=0.3, seed=seed, clamp=True) for seed in range(30)]
    figures = np.array([one.published[0].counts for one in plain])
    assert figures.min() < 0
    for one, other in zip(figures, clamped):
        assert np.array_equal(np.maximum(one, 0), other.published[0].counts)
    assert all(one.estimate.min() >= 0 for one in plain)
    assert plain[0].title == "Laplace noise, epsilon 0.3"
    assert clamped[0].title == "Laplace noise, epsilon 0.3, not below 0"
    assert "Figures may be below 0." in plain[0].effect
    assert "Figures below 0 are shown as 0." in clamped[0].effect


def test_only_the_number_of_persons_is_certain():
    (known,) = add_laplace(TABLE, epsilon=2, seed=1).known
    assert (known.name, known.low, known.high) == ("total", 17, 17)


def test_noise_is_right_on_average_with_its_variance():
    drawn = np.concatenate(
        [
            add_laplace(TABLE, epsilon=0.5, seed=s).published[0].counts - TABLE.dense()
            for s in range(300)
        ]
    ).ravel()
    variance = Laplace(rate=Fraction(1, 2)).variance
    assert abs(drawn.mean()) < 5 * np.sqrt(variance / drawn.size)
    assert drawn.var() == pytest.approx(variance, rel=0.25)


def test_the_same_seed_gives_the_same_figures_and_the_record_tells_all():
    one, same = (add_laplace(TABLE, epsilon=0.5, seed=9, clamp=True) for _ in "ab")
    assert np.array_equal(one.published[0].counts, same.published[0].counts)
    assert one.record() == {
        "mask": "discrete-laplace",
        "parameters": {"epsilon": 0.5, "clamp": True, "sets": [["a", "b"]]},
        "seed": 9,
    }


def test_decimals_are_what_they_say():
    assert checked_epsilon(0.1) == Fraction(1, 10)
    assert checked_epsilon(3) == 3
    assert checked_epsilon(np.float64(0.001)) == Fraction(1, 1000)


@pytest.mark.parametrize("epsilon", [0, 0.0001, 101, float("nan"), True, "1"])
def test_epsilons_out_of_range_are_refused(epsilon):
    with pytest.raises(InputError, match="epsilon must be a number from 0.001 to 100"):
        add_laplace(TABLE, epsilon=epsilon, seed=1)


def test_an_epsilon_of_many_decimals_is_refused():
    with pytest.raises(
        InputError, match="epsilon must be a short decimal number, got another; take"
    ):
        add_laplace(TABLE, epsilon=1 / 3, seed=1)


def test_very_large_totals_keep_a_window_of_what_floats_can_hold(monkeypatch):
    monkeypatch.setattr(laplace, "MOST_COUNTS", 100)
    table = Table.of_dense(np.array([5_000, 3_000]))
    masked = add_laplace(table, epsilon=1, seed=1)
    figure, factor = int(masked.published[0].counts[0]), masked.factors[0]
    assert (factor.low, factor.high) == (figure - 701, figure + 701)
    alpha = exp(-1)
    assert factor.of_sums(np.array([figure]))[0] == pytest.approx(log((1 - alpha) / (1 + alpha)))
    assert factor.of_sums(np.array([figure - 9]))[0] == pytest.approx(
        log((1 - alpha) / (1 + alpha)) - 9
    )
