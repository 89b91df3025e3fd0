"""Zayatz' equivalence class method (1991): the sample's shares of cell sizes as the population's.

If a share of p_j of the population's cells held j people, a sample unique would come from a cell
of F = j with probability ∝ p_j P(f = 1 given F = j), the last factor hypergeometric. The method
puts the sample's own shares s_j/u in the place of p_j. As a sample has smaller cells than its
population the figure is too high, the more so the smaller the sampling fraction. There is no
likelihood; the error comes from the variances of the s_j (delta method).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from discreet.numerics.arrays import FloatArray
from discreet.numerics.gamma_ratio import log_gamma_ratio
from discreet.survey.models.contract import ModelUnavailable
from discreet.survey.models.superpopulation.fitted import (
    ByDelta,
    FittedSuperpopulation,
    Totals,
)
from discreet.survey.models.superpopulation.model import SuperpopulationModel

ROWS = 512  # sample counts worked on at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Zayatz(SuperpopulationModel):
    """No parameters: Bayes' rule with the sample's shares of cell sizes."""

    name: str = "zayatz"
    assumption: str = (
        "The cells of the population are of the same sizes, in the same shares, as those of the "
        "sample, which errs on the side of too many uniques, and all sample uniques are alike."
    )

    def fit_part(self, totals: Totals) -> FittedSuperpopulation:
        """The fitted model; unavailable where every record is unique, which fits every fraction."""
        if totals.size_indices.n_cells == totals.sample_size:
            raise ModelUnavailable(
                "every record of the sample is unique, and the method would take every cell of the "
                "population for a cell of one"
            )
        distribution = SampleShares(totals)
        known = totals.size_indices.sample_uniques > 0
        return FittedSuperpopulation(
            name=self.name,
            totals=totals,
            distribution=distribution,
            uncertainty=ByDelta(math.log(distribution.unique_probability), distribution.log_error)
            if known
            else None,
            confidence=self.confidence,
            note=", which it does the less the smaller the sampling fraction",
        )


@dataclass(frozen=True, slots=True)
class SampleShares:
    """The population's cell sizes distributed as the sample's."""

    totals: Totals

    @property
    def parameters(self) -> Mapping[str, float | int | str]:
        """None are fitted."""
        return {}

    @property
    def _sizes(self) -> FloatArray:
        return self.totals.size_indices.sizes.astype(np.float64)

    @property
    def _cells(self) -> FloatArray:
        return self.totals.size_indices.cells.astype(np.float64)

    def log_chance(self, sample_count: FloatArray, sizes: FloatArray) -> FloatArray:
        """log P(f given F = j), rows f and columns j; −∞ where it cannot be.

        C(j, f) (n)_f (N − n)_(j−f) / (N)_j with falling factorials (x)_k.
        """
        n, N = self.totals.sample_size, self.totals.population_size
        f, j = np.broadcast_arrays(sample_count[:, None], sizes[None, :])
        possible = (f <= j) & (f <= n) & (j - f <= N - n)
        log_p = np.full(f.shape, -np.inf)
        f, j = f[possible], j[possible]
        choices = log_gamma_ratio(j - f + 1, f) - log_gamma_ratio(1.0, f)
        drawn = _log_falling(n, f) + _log_falling(N - n, j - f)
        log_p[possible] = choices + drawn - _log_falling(N, j)
        return log_p

    @property
    def unique_probability(self) -> float:
        """s_1 h_1 / Σ s_j h_j with h_j = P(f = 1 given F = j); 0 without sample uniques."""
        return float(self._posterior(np.ones(1))[0, self._sizes == 1].sum())

    @property
    def log_error(self) -> float:
        """Standard error of the logarithm of s_1 Q, the s_j being as Poisson numbers."""
        h = np.exp(self.log_chance(np.ones(1), self._sizes)[0])
        slope = -h / float(self._cells @ h)
        slope[self._sizes == 1] += 2 / self._cells[self._sizes == 1]
        return math.sqrt(float(self._cells @ slope**2))

    def _posterior(self, sample_count: FloatArray) -> FloatArray:
        """P(F = j given f), rows f and columns the sizes that occur; a row of 0 where none can."""
        joint = self.log_chance(sample_count, self._sizes) + np.log(self._cells)
        total = logsumexp(joint, axis=1, keepdims=True)
        posterior: FloatArray = np.exp(joint - np.where(np.isfinite(total), total, 0.0))
        return posterior

    def uniques_variance(self, sample_uniques: int) -> float:
        """As of independent cells."""
        q = self.unique_probability
        return sample_uniques * q * (1 - q)

    def inverse_moments(self, sample_count: FloatArray) -> tuple[FloatArray, FloatArray]:
        """E(1/F given f) and E(1/F² given f); 1/f where no cell that occurs could have given f."""
        f = np.asarray(sample_count, dtype=np.float64)
        parts = [self._moments(f[i : i + ROWS]) for i in range(0, len(f), ROWS)]
        first, second = np.concatenate([np.zeros((2, 0)), *parts], axis=1)
        return first, second

    def _moments(self, f: FloatArray) -> FloatArray:
        """Both, for a few sample counts."""
        posterior = self._posterior(f)
        known = posterior.sum(axis=1) > 0
        first = np.where(known, posterior @ (1 / self._sizes), 1 / f)
        return np.stack([first, np.where(known, posterior @ self._sizes**-2.0, 1 / f**2)])

    def expected_cells(self, sizes: FloatArray) -> FloatArray:
        """Cells of each size in a sample of such a population of N people."""
        cells = self.totals.population_size / float(self._cells @ self._sizes)
        chance = np.exp(self.log_chance(np.asarray(sizes, dtype=np.float64), self._sizes))
        expected: FloatArray = cells * (chance @ self._cells)
        return expected


def _log_falling(x: int, steps: FloatArray) -> FloatArray:
    """log x(x − 1)…(x − k + 1). Trusted: k ≤ x."""
    return log_gamma_ratio(x - steps + 1, steps)
