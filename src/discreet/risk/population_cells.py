"""Small cells of a sample's table, seen as cells of the population it was drawn from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, gammaln

from discreet.errors import InputError, must_be


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationCell:
    """One cell: Pr(F = Q | released) of the population's count for Q from 0 to `small`, the
    probability that it is 1, and its mean."""

    probabilities: Mapping[int, float]
    unique: float
    mean: float


def population_cells(
    laws: Sequence[Mapping[int, float]],
    *,
    alpha: float,
    alpha_total: float,
    sample_size: int,
    population_size: int,
    small: int,
) -> tuple[PopulationCell, ...]:
    """The population's count of each cell given the law of the sample's, simple random sampling.

    As `tables.population.population_law`, of which only the small counts are made, so that the size
    of the population is of no account. Checked: the population is no smaller than the sample.
    """
    if not 0 < sample_size <= population_size:
        rule = f"at least the sample's {sample_size}"
        raise InputError(must_be("population", rule, population_size))
    rest = population_size - sample_size
    found = []
    for law in laws:
        values = dict.fromkeys(range(small + 1), 0.0)
        mean = 0.0
        for count, p in law.items():
            own, others = alpha + count, alpha_total - alpha + sample_size - count
            mean += p * (count + rest * own / (own + others))
            for value in range(count, small + 1):
                values[value] += p * _mass(value - count, rest, own, others)
        found.append(PopulationCell(probabilities=values, unique=values.get(1, 0.0), mean=mean))
    return tuple(found)


def _mass(k: int, n: int, a: float, b: float) -> float:
    """The beta-binomial probability of k out of n."""
    if k > n:
        return 0.0
    if b <= 0:
        return float(k == n)
    choose = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return float(np.exp(choose + betaln(k + a, n - k + b) - betaln(a, b)))
