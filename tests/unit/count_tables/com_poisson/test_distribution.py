"""Mass, cumulative, quantile and draws against SciPy, sums and exact arithmetic."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from discreet.count_tables.com_poisson.distribution import ComPoisson
from discreet.errors import InputError

PARAMETERS = [
    (0.3, 0.0),
    (0.6, 0.5),
    (1.2, 1.0),
    (5.0, 1.4),
    (70.5, 3.6),
    (1e8, 20.0),
    (1.05, 0.02),
]


@pytest.mark.parametrize(("rate", "dispersion"), PARAMETERS)
def test_mass_against_long_sums(rate, dispersion):
    with mp.workdps(40):
        terms = [mp.mpf(1)]
        while len(terms) < 150 or terms[-1] > max(terms) * mp.mpf(10) ** -40:
            terms.append(terms[-1] * rate / mp.mpf(len(terms)) ** mp.mpf(dispersion))
        whole = mp.fsum(terms)
        exact = [float(t / whole) for t in terms[:60]]
        below = [float(mp.fsum(terms[: x + 1]) / whole) for x in range(60)]
        above = [float(mp.fsum(terms[x + 1 :]) / whole) for x in range(60)]
    distribution = ComPoisson(rate, dispersion)
    values = np.arange(60)
    assert distribution.mass(values) == pytest.approx(exact, rel=1e-11, abs=1e-300)
    assert distribution.cumulative(values) == pytest.approx(below, rel=1e-11)
    assert distribution.survival(values) == pytest.approx(above, rel=1e-11, abs=1e-300)


@pytest.mark.parametrize("mean", [0.01, 3.3, 40.0, 5000.0])
def test_poisson_against_scipy(mean):
    ours, theirs = ComPoisson(mean, 1.0), stats.poisson(mean)
    spread = math.sqrt(mean)
    values = np.unique(np.clip(np.rint(mean + spread * np.arange(-6, 12)), 0, None)).astype(int)
    assert ours.log_mass(values) == pytest.approx(theirs.logpmf(values), rel=1e-11)
    assert ours.cumulative(values) == pytest.approx(theirs.cdf(values), rel=1e-9)
    assert ours.survival(values) == pytest.approx(theirs.sf(values), rel=1e-9)
    for probability in (0.0, 1e-9, 0.1, 0.5, 0.77, 0.999, 1 - 1e-9):
        assert ours.quantile(probability) == max(0, theirs.ppf(probability))


def test_geometric_quantile_and_tail():
    distribution = ComPoisson(1 - 1e-5, 0.0)
    for value in (0, 10, 5000, 400_000, 3_000_000):
        exact = math.exp((value + 1) * math.log1p(-1e-5))
        assert distribution.survival([value])[0] == pytest.approx(exact, rel=1e-9)
    assert distribution.quantile(0.5) == math.ceil(math.log(0.5) / math.log1p(-1e-5)) - 1


def test_far_tails_of_large_counts_vanish():
    distribution = ComPoisson.of_log_rate(0.345432, 0.0144355)  # mean 2.5e10, deviation 1.3e6
    assert distribution.survival([40_000_000_000])[0] == 0
    assert distribution.cumulative([1_000_000_000])[0] == 0
    assert distribution.cumulative([distribution.quantile(0.5034)])[0] == pytest.approx(
        0.5034, abs=1e-6
    )


def test_masses_of_huge_counts():
    """Poisson(10¹²) about its mean and in its tails, with fifty digits."""
    distribution = ComPoisson(1e12, 1.0)
    for x in (10**12, 10**12 + 3_000_000, 10**12 - 6_000_000):
        with mp.workdps(50):
            exact = x * mp.log(10**12) - 10**12 - mp.loggamma(x + 1)
        assert float(distribution.log_mass(x)) == pytest.approx(float(exact), rel=1e-11)


def test_masses_of_huge_counts_with_a_large_dispersion():
    distribution = ComPoisson(1e90, 9.0)  # λ^(1/ν) = 1e10
    with mp.workdps(60):
        rate, mode = mp.mpf(1e90), 10**10
        step = mp.log(rate) - 9 * mp.log(mode + 1)
    ratio = distribution.log_mass(mode + 1) - distribution.log_mass(mode)
    assert float(ratio) == pytest.approx(float(step), rel=1e-6, abs=1e-15)


def test_moments_are_those_of_the_masses():
    distribution = ComPoisson(9.0, 1.7)
    x = np.arange(200)
    p, factorial = distribution.mass(x), np.array([math.lgamma(v + 1) for v in x])
    assert p.sum() == pytest.approx(1, rel=1e-12)
    assert distribution.mean == pytest.approx(p @ x, rel=1e-12)
    assert distribution.variance == pytest.approx(p @ (x - p @ x) ** 2, rel=1e-11)
    found = distribution.moments
    centred = factorial - p @ factorial
    assert found.log_factorial_mean == pytest.approx(p @ factorial, rel=1e-12)
    assert found.covariance == pytest.approx(p @ (centred * x), rel=1e-11)
    assert found.log_factorial_variance == pytest.approx(p @ centred**2, rel=1e-11)
    assert 0 <= distribution.relative_error < 1e-12


@pytest.mark.parametrize(
    ("rate", "dispersion"), [(0.2, 0.0), (3.0, 0.8), (1e6, 4.0), (1.02, 2e-3), (1e7, 1.0)]
)
def test_draws_follow_the_masses(rate, dispersion):
    """Seeded: 20,000 draws in ten classes of equal probability, against chi-square at 1e-4."""
    distribution = ComPoisson(rate, dispersion)
    drawn = distribution.draw(20_000, rng=np.random.default_rng(7))
    assert drawn.dtype == np.int64
    cuts = np.unique([distribution.quantile(share / 10) for share in range(1, 10)])
    expected = np.diff(np.concatenate([[0], distribution.cumulative(cuts), [1]])) * len(drawn)
    seen = np.bincount(np.searchsorted(cuts, drawn), minlength=len(expected))
    assert stats.chisquare(seen, expected * seen.sum() / expected.sum()).pvalue > 1e-4


def test_draws_are_reproducible_and_may_be_none():
    distribution = ComPoisson(2.0, 1.0)
    first, second = (distribution.draw(9, rng=np.random.default_rng(3)) for _ in range(2))
    assert first.tolist() == second.tolist()
    assert len(distribution.draw(0, rng=np.random.default_rng(3))) == 0


def test_by_log_rate():
    by_rate, by_log = ComPoisson(4.0, 2.0), ComPoisson.of_log_rate(math.log(4.0), 2.0)
    assert by_log.rate == pytest.approx(4.0)
    assert by_log.log_normaliser == pytest.approx(by_rate.log_normaliser, rel=1e-14)
    narrow = ComPoisson.of_log_rate(7000.0, 1000.0)
    assert narrow.mass(np.arange(1050, 1150)).sum() == pytest.approx(1, rel=1e-10)
    with pytest.raises(InputError, match="log_rate must be at most 709 to give a rate"):
        _ = narrow.rate
    assert "dispersion=1000" in repr(narrow)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ComPoisson(0, 1), "rate must be a finite number above zero, got 0"),
        (lambda: ComPoisson(-1, 1), "rate must be a finite number above zero"),
        (lambda: ComPoisson(math.inf, 1), "rate must be a finite number above zero"),
        (lambda: ComPoisson(1, -1), "dispersion must be a finite number, zero or more"),
        (lambda: ComPoisson(1, 0), "rate must be below 1 when dispersion is 0"),
        (lambda: ComPoisson(2, 1).mass([0.5]), "values must be whole numbers from 0 to 2"),
        (lambda: ComPoisson(2, 1).mass([-1]), "values must be whole numbers"),
        (lambda: ComPoisson(2, 1).mass([math.nan]), "values must be whole numbers"),
        (lambda: ComPoisson(2, 1).quantile(1.0), "probability must be at least 0 and below 1"),
        (lambda: ComPoisson(2, 1).draw(-1, rng=np.random.default_rng()), "size must be zero"),
        (lambda: ComPoisson(1e20, 1).mass([5]), r"at most 1e\+15 for single counts"),
    ],
)
def test_refuses(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_shapes_are_kept():
    distribution = ComPoisson(2.0, 1.0)
    assert distribution.mass(3).shape == ()
    assert distribution.mass([[1, 2], [3, 4]]).shape == (2, 2)
    assert distribution.cumulative([]).shape == (0,)


@pytest.mark.parametrize("bits", [-3, -1, 0, 1, 3])
def test_a_quantile_at_a_step_is_the_lower_end_of_it(bits):
    """P(X ≤ 0) is a half, and P(X ≤ 1) three quarters."""
    geometric = ComPoisson(0.5 * (1 + bits * 2**-52), 0.0)
    assert geometric.quantile(0.5) == 0
    assert geometric.quantile(0.75) == 1
    assert geometric.quantile(0.5 + 1e-6) == 1
