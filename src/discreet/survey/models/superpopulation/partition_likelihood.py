"""The likelihood of size indices under Pitman's partition, with its derivatives.

Records come one by one. After m records in u cells the next opens a new cell with probability
(θ + uα)/(θ + m) and joins a given cell of j records with probability (j − α)/(θ + m). Hence n
records lie in u cells of sizes n_1, …, n_u with probability (Pitman 1995)

    ∏_{i<u} (θ + iα) · ∏_k (1 − α)(2 − α)…(n_k − 1 − α) / ((θ + 1)…(θ + n − 1))

whatever their order, and N records of which a sample of n is drawn without replacement follow the
same distribution for both. Ewens is α = 0. α = −γ < 0 with θ = Kγ is the Dirichlet–multinomial
distribution on K cells: the Poisson–gamma model given its total."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, gammaln

from discreet.data.summary import SizeIndices
from discreet.numerics.arrays import FloatArray
from discreet.numerics.gamma_ratio import trigamma
from discreet.numerics.integer_sums import Nodes, integer_nodes
from discreet.survey.models.superpopulation.size_index_fit import Evaluation


@dataclass(frozen=True, slots=True)
class Derivatives:
    """A function of α and θ with its first and second derivatives."""

    value: float
    alpha: float
    theta: float
    alpha_alpha: float
    alpha_theta: float
    theta_theta: float


Surface = Callable[[float, float], Derivatives]


@dataclass(frozen=True, slots=True)
class PartitionLikelihood:
    """log P(cell sizes) as a function of α and θ; a call costs a few hundred logarithms.

    Trusted: the sizes are whole numbers and form a partition of n ≥ 2 records.
    """

    sizes: FloatArray
    cells: FloatArray
    cell_nodes: Nodes
    record_nodes: Nodes

    @classmethod
    def of(cls, indices: SizeIndices, least_cells: int | None = None) -> "PartitionLikelihood":
        """That of the size indices of a sample.

        Where α is to be below 0, `least_cells` is the least number K = −θ/α of cells there may be.
        """
        return cls(
            indices.sizes.astype(np.float64),
            indices.cells.astype(np.float64),
            integer_nodes(1, indices.n_cells, least_cells),
            integer_nodes(1, indices.sample_size),
        )

    def __call__(self, alpha: float, theta: float) -> Derivatives:
        """The log-likelihood and its derivatives; α < 1 and θ + iα > 0 for 1 ≤ i < u."""
        opened, joined, seen = self._opened(alpha, theta), self._joined(alpha), self._seen(theta)
        return Derivatives(
            opened[0] + joined[0] - seen[0],
            opened[1] + joined[1],
            opened[2] - seen[1],
            opened[3] + joined[2],
            opened[4],
            opened[5] - seen[2],
        )

    def _opened(self, alpha: float, theta: float) -> tuple[float, ...]:
        """Σ log(θ + iα) over 1 ≤ i < u and its derivatives."""
        t, w = self.cell_nodes
        x = theta + t * alpha
        each = w / x
        squared = each / x
        moved = t * squared
        return (
            float(w @ np.log(x)),
            float(each @ t),
            float(each.sum()),
            -float(moved @ t),
            -float(moved.sum()),
            -float(squared.sum()),
        )

    def _joined(self, alpha: float) -> tuple[float, float, float]:
        """Σ log((1 − α)…(j − 1 − α)) over all cells and its derivatives."""
        start, x, cells = 1 - alpha, self.sizes - alpha, self.cells
        return (
            float(cells @ (gammaln(x) - gammaln(start))),
            -float(cells @ (digamma(x) - digamma(start))),
            float(cells @ (trigamma(x) - trigamma(np.array([start])))),
        )

    def _seen(self, theta: float) -> tuple[float, float, float]:
        """Σ log(θ + m) over 1 ≤ m < n and its derivatives."""
        t, w = self.record_nodes
        x = theta + t
        each = w / x
        return float(w @ np.log(x)), float(each.sum()), -float(each @ (1 / x))


@dataclass(frozen=True, slots=True)
class LogUniqueProbability:
    """log P(F = 1 given f = 1) = Σ log(1 − (1 − α)/(θ + m)) over n ≤ m < N."""

    nodes: Nodes

    @classmethod
    def of(cls, sample_size: int, population_size: int) -> "LogUniqueProbability":
        """That of a sample unique when the sample grows to the population."""
        return cls(integer_nodes(sample_size, population_size))

    def __call__(self, alpha: float, theta: float) -> Derivatives:
        """The logarithm and its derivatives."""
        t, w = self.nodes
        x = theta + t
        y = x - (1 - alpha)
        slope, bend = w / y, w / (y * y)
        return Derivatives(
            float(w @ np.log1p((alpha - 1) / x)),
            float(slope.sum()),
            float(((1 - alpha) / x) @ slope),
            -float(bend.sum()),
            -float(bend.sum()),
            float((w * (y - x)) @ ((x + y) / (x * x * y * y))),
        )


def log_arrangements(indices: SizeIndices) -> float:
    """log n! / ∏ (j!)^{s_j} s_j!: the ways to put n records into cells of these sizes."""
    sizes, cells = indices.sizes.astype(np.float64), indices.cells.astype(np.float64)
    ways = math.lgamma(indices.sample_size + 1) - float(cells @ gammaln(sizes + 1))
    return ways - float(gammaln(cells + 1).sum())


def along_ewens(surface: Surface, point: FloatArray) -> Evaluation:
    """The surface at α = 0 as a function of log θ."""
    theta = math.exp(point[0])
    d = surface(0.0, theta)
    first = theta * d.theta
    return Evaluation(d.value, np.array([first]), np.array([[theta**2 * d.theta_theta + first]]))


def along_pitman(surface: Surface, point: FloatArray) -> Evaluation:
    """The surface as a function of α and log(θ + α)."""
    alpha, reach = float(point[0]), math.exp(point[1])
    d = surface(alpha, reach - alpha)
    aa = d.alpha_alpha - 2 * d.alpha_theta + d.theta_theta
    ab = reach * (d.alpha_theta - d.theta_theta)
    bb = reach * (reach * d.theta_theta + d.theta)
    gradient = np.array([d.alpha - d.theta, reach * d.theta])
    return Evaluation(d.value, gradient, np.array([[aa, ab], [ab, bb]]))


def along_dirichlet(surface: Surface, point: FloatArray) -> Evaluation:
    """The surface at α = −γ, θ = Kγ as a function of log γ and log K."""
    gamma = math.exp(point[0])
    theta = math.exp(point[0] + point[1])
    d = surface(-gamma, theta)
    of_theta, mixed = theta * d.theta, gamma * theta * d.alpha_theta
    kk = theta**2 * d.theta_theta + of_theta
    gk = kk - mixed
    gg = gk - mixed + gamma**2 * d.alpha_alpha - gamma * d.alpha
    gradient = np.array([of_theta - gamma * d.alpha, of_theta])
    return Evaluation(d.value, gradient, np.array([[gg, gk], [gk, kk]]))
