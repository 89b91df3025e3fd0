"""Normalising constants by bridge sampling, with their standard errors.

For draws of a distribution with density g/c, c unknown, and draws of a proposal with density q
known in full, Meng and Wong (1996) find c as the fixed point of an average over both. The proposal
is a multivariate normal fitted to half of the draws, the other half goes into the bridge, and both
distributions are made symmetric about the proposal's centre (Warp-III, Meng and Schilling 2002),
which keeps c and takes skewness out."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.errors import InputError, must_be
from discreet.numerics.arrays import FloatArray
from discreet.numerics.chain_diagnostics import effective_draws

LogDensity = Callable[[FloatArray], FloatArray]
ROUNDS = 1000
TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class LogConstant:
    """log c with the standard error of the logarithm."""

    value: float
    standard_error: float


def log_constant(
    draws: FloatArray, log_density: LogDensity, *, rng: np.random.Generator
) -> LogConstant:
    """log ∫ exp(log_density) from draws (chains × draws × parameters) of the distribution.

    The error allows for the dependence of successive draws. Checked: more draws than parameters.
    """
    n_chains, n_draws, p = draws.shape
    half = n_draws // 2
    if n_chains * half < 4 * p + 8:
        raise InputError(must_be("draws", f"more than {8 * p + 16}", n_chains * n_draws))
    if p == 0:
        return LogConstant(float(log_density(np.zeros((1, 0)))[0]), 0.0)
    centre, root = _fitted(draws[:, :half].reshape(-1, p))
    target = _warped(log_density, centre, root)
    later = draws[:, half:]
    steps = np.linalg.solve(root, (later.reshape(-1, p) - centre).T).T
    own: FloatArray = np.asarray(steps, dtype=np.float64)
    own = own * rng.choice([-1.0, 1.0], size=(len(own), 1))
    proposed = rng.standard_normal(own.shape)
    log_l_own = target(own) - _log_normal(own)
    log_l_proposed = target(proposed) - _log_normal(proposed)
    n_effective = _effective(target(own).reshape(later.shape[:2]))
    value = _fixed_point(log_l_own, log_l_proposed, n_effective)
    return LogConstant(value, _error(log_l_own, log_l_proposed, value, n_effective))


def _fitted(draws: FloatArray) -> tuple[FloatArray, FloatArray]:
    centre = draws.mean(axis=0)
    spread = np.cov(draws, rowvar=False).reshape(draws.shape[1], -1)
    spread = spread + 1e-10 * np.trace(spread) / len(spread) * np.eye(len(spread))
    return centre, np.linalg.cholesky(spread)


def _warped(log_density: LogDensity, centre: FloatArray, root: FloatArray) -> LogDensity:
    """The density of (ψ − centre) / root, made symmetric; its integral is the same."""
    log_volume = float(np.log(np.diag(root)).sum())

    def target(z: FloatArray) -> FloatArray:
        step = z @ root.T
        both = np.logaddexp(log_density(centre + step), log_density(centre - step))
        return np.asarray(both - np.log(2.0) + log_volume)

    return target


def _log_normal(z: FloatArray) -> FloatArray:
    return np.asarray(-0.5 * (z**2).sum(axis=1) - 0.5 * z.shape[1] * np.log(2 * np.pi))


def _effective(series: FloatArray) -> float:
    """Effective draws of the log density along the chains."""
    halves = series[:, :, None]
    found = float(effective_draws(halves)[0])
    return min(max(found, 2.0), float(series.size))


def _fixed_point(log_l_own: FloatArray, log_l_proposed: FloatArray, n_effective: float) -> float:
    shift = float(np.median(log_l_own))
    own, proposed = np.exp(log_l_own - shift), np.exp(log_l_proposed - shift)
    n_proposed = len(proposed)
    s = n_effective / (n_effective + n_proposed)
    c, last = 1.0, 0.0
    for _ in range(ROUNDS):
        if abs(c - last) <= TOLERANCE * c:
            break
        last = c
        above = np.mean(proposed / (s * proposed + (1 - s) * c))
        below = np.mean(1.0 / (s * own + (1 - s) * c))
        c = float(above / below)
    return float(np.log(c)) + shift


def _error(
    log_l_own: FloatArray, log_l_proposed: FloatArray, log_c: float, n_effective: float
) -> float:
    """The delta method of Frühwirth-Schnatter (2004): relative variances of both averages."""
    own, proposed = np.exp(log_l_own - log_c), np.exp(log_l_proposed - log_c)
    s = n_effective / (n_effective + len(proposed))
    f_own = 1.0 / (s * own + (1 - s))
    f_proposed = proposed / (s * proposed + (1 - s))
    variance = f_proposed.var() / f_proposed.mean() ** 2 / len(f_proposed)
    variance += f_own.var() / f_own.mean() ** 2 / n_effective
    return float(np.sqrt(variance))
