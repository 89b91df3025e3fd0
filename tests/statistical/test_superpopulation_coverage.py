"""Limits on the realised number of population uniques hold it as often as they claim to."""

from dataclasses import dataclass

import numpy as np
import pytest
from tests.oracles.partitions import draw_sizes, fitted

from discreet.data.summary import SizeIndices
from discreet.survey.models.superpopulation.fitted import Totals
from discreet.survey.models.superpopulation.partition_urn import PartitionUrn

REPEATS = 80
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Partition:
    """Samples from a partition distribution, with the uniques of the population that each grows
    into.
    """

    alpha: float
    theta: float
    sample_size: int
    population_size: int
    cells: int = 10**6

    def draw(self, rng):
        urn = PartitionUrn(self.alpha, self.theta, self.sample_size, self.population_size)
        sizes = draw_sizes(urn, rng)
        s, each = sizes.sample_uniques, 1 - self.alpha
        if s == 0:
            return sizes, 0, self.population_size
        share = rng.beta(s * each, self.theta + self.sample_size - s * each)
        weights = rng.standard_gamma(each, s)
        arrivals = rng.multinomial(rng.binomial(urn.unseen, share), weights / weights.sum())
        return sizes, int(np.count_nonzero(arrivals == 0)), self.population_size


@dataclass(frozen=True)
class Mixture:
    """A population of independent cells, of which each person is in the sample or not."""

    population: object
    fraction: float
    cells: int = 10**6

    def draw(self, rng):
        F = self.population(rng)
        f = rng.binomial(F, self.fraction)
        sizes = SizeIndices.of_counts(f[f > 0])
        return sizes, int(np.count_nonzero((f == 1) & (F == 1))), int(F.sum())


def slide(rng):
    return 1 + rng.poisson(rng.gamma(0.3, 10.0, 4000))


def inverse_gaussian(rng):
    return rng.poisson(rng.wald(3.0, 1.5, 4000))


@pytest.mark.parametrize(
    ("name", "truth"),
    [
        ("ewens", Partition(0.0, 2000.0, 1000, 10_000)),
        ("ewens", Partition(0.0, 50.0, 1000, 10_000)),
        ("pitman", Partition(0.6, 100.0, 1000, 10_000)),
        ("pitman", Partition(0.6, 100.0, 1000, 1_000_000)),
        ("pitman", Partition(0.9, 10.0, 500, 5000)),
        ("poisson_gamma", Partition(-0.2, 300.0, 1000, 5000, cells=1500)),
        ("negative_binomial", Mixture(slide, 0.1)),
        ("poisson_inverse_gaussian", Mixture(inverse_gaussian, 0.1)),
    ],
)
def test_limits_hold_the_number_of_population_uniques(name, truth):
    """At most three standard errors below what is claimed; whole limits may hold it more often."""
    rng = np.random.default_rng(20)
    inside, ratio = 0, []
    for _ in range(REPEATS):
        sizes, uniques, population = truth.draw(rng)
        figure = fitted(name, sizes, population, truth.cells).uniques_figure()
        inside += figure.low <= uniques <= figure.high
        ratio.append((figure.value, uniques))
    error = np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / REPEATS)
    assert inside / REPEATS >= CONFIDENCE - 3 * error
    estimated, realised = np.sum(ratio, axis=0)
    assert estimated == pytest.approx(realised, rel=0.1)


def test_totals_need_no_more_than_they_hold():
    totals = Totals(
        size_indices=SizeIndices(np.array([1, 2]), np.array([3, 2])),
        population_size=70,
        n_table_cells=9,
    )
    assert totals.sampling_fraction == 0.1
    assert (totals.cells_of(2), totals.cells_of(5)) == (2, 0)
