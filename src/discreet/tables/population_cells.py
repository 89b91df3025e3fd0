"""Small cells of a sample's table, seen as cells of the population it was drawn from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from discreet.belief.exact.population_chain import Link, chain_distribution, mean_share
from discreet.errors import InputError, must_be
from discreet.figures import Unavailable
from discreet.numerics.gamma_ratio import log_gamma_ratio

NOT_SETTLED = Unavailable(
    "counts of the size called small are nearly all of the population outside the sample; take a "
    "smaller count for small"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationCell:
    """One cell: Pr(F = Q | released) of the population's count for Q from 0 to `small`, the
    probability that it is 1, and its mean."""

    probabilities: Mapping[int, float]
    unique: float
    mean: float


def check_population(sample_size: int, population_size: int) -> None:
    """Raises InputError unless the population is no smaller than the sample."""
    if not 0 < sample_size <= population_size:
        rule = f"at least the sample's {sample_size}"
        raise InputError(must_be("population", rule, population_size))


def population_cells(
    distributions: Sequence[Mapping[int, float]],
    *,
    alpha: float,
    alpha_total: float,
    sample_size: int,
    population_size: int,
    small: int,
) -> tuple[PopulationCell, ...]:
    """The population's count of each cell given the distribution of the sample's, simple random
    sampling, under the saturated model.

    As `tables.population.population_distribution`, of which only the small counts are made, so that
    the size of the population is of no account. Checked: the population is no smaller than the
    sample."""
    check_population(sample_size, population_size)
    rest = population_size - sample_size

    def share(count: int) -> Link:
        return alpha + count, alpha_total - alpha + sample_size - count

    def mass(count: int, more: int) -> float:
        return _mass(more, rest, *share(count))

    def mean(count: int) -> float:
        own, others = share(count)
        return rest * own / (own + others)

    return tuple(_cell(distribution, small, mass, mean) for distribution in distributions)


def chained_population_cells(
    distributions: Sequence[Mapping[int, float]],
    links: Sequence[tuple[Link, ...]],
    *,
    sample_size: int,
    population_size: int,
    small: int,
) -> tuple[PopulationCell, ...] | Unavailable:
    """The same under a decomposable model whose cliques are released, where the persons outside
    the sample are in a cell independently of its count in the sample (see
    `tables.population_chain`). `links` are each cell's betas, as `released_links` gives them.
    """
    check_population(sample_size, population_size)
    rest, found = population_size - sample_size, []
    for distribution, own in zip(distributions, links, strict=True):
        outside = chain_distribution(own, rest, small)
        if outside is None:
            return NOT_SETTLED
        found.append(_chained(distribution, outside, rest * mean_share(own)))
    return tuple(found)


def _chained(
    distribution: Mapping[int, float], outside: Sequence[float], mean: float
) -> PopulationCell:
    return _cell(distribution, len(outside) - 1, lambda _, more: outside[more], lambda _: mean)


def _cell(
    distribution: Mapping[int, float],
    small: int,
    mass: Callable[[int, int], float],
    mean: Callable[[int], float],
) -> PopulationCell:
    """From the distribution of the sample's count, and the probability of so many more persons
    outside and their mean given that count."""
    values = dict.fromkeys(range(small + 1), 0.0)
    total = 0.0
    for count, p in distribution.items():
        total += p * (count + mean(count))
        for value in range(count, small + 1):
            values[value] += p * mass(count, value - count)
    return PopulationCell(probabilities=values, unique=values.get(1, 0.0), mean=total)


def averaged_population_cells(
    weighed: Sequence[tuple[float, Sequence[PopulationCell]]],
) -> tuple[PopulationCell, ...]:
    """The cells under models with these weights (of sum 1), all over the same cells and counts."""
    weights = [weight for weight, _ in weighed]
    found = []
    for same in zip(*(cells for _, cells in weighed), strict=True):
        pairs = list(zip(weights, same, strict=True))
        values = {
            q: sum(w * cell.probabilities[q] for w, cell in pairs) for q in same[0].probabilities
        }
        mean = sum(w * cell.mean for w, cell in pairs)
        found.append(PopulationCell(probabilities=values, unique=values.get(1, 0.0), mean=mean))
    return tuple(found)


def _mass(k: int, n: int, a: float, b: float) -> float:
    """The beta-binomial probability of k out of n, to about 1e-12 however large n is."""
    if k > n:
        return 0.0
    if b <= 0:
        return float(k == n)
    into = log_gamma_ratio(a, k) - gammaln(k + 1) + log_gamma_ratio(n - k + 1.0, k)
    away = log_gamma_ratio(b, a) - log_gamma_ratio(n - k + b, a + k)
    return float(np.exp(into + away))
