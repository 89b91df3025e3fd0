"""From a sample's table to the population's: what the released margins of a sample tell.

The population is taken as an exchangeable sequence of persons of whom the first n are the sample
(simple random sampling without replacement). With cell probabilities Dirichlet(α), which is the
saturated model, the persons outside the sample fall into cell i as a beta-binomial variable given
the sample's count, so

    Pr(F_i = Q | R) = Σ_q Pr(f_i = q | R) · BetaBinomial(Q − q; N − n, α_i + q, α₊ − α_i + n − q).

For decomposable models see `population_chain`.
"""

from collections.abc import Mapping

import numpy as np
from scipy.special import betaln, gammaln

from discreet.errors import InputError, must_be
from discreet.numerics.arrays import FloatArray


def population_distribution(
    sample_distribution: Mapping[int, float],
    *,
    alpha: float,
    alpha_total: float,
    sample_size: int,
    population_size: int,
) -> FloatArray:
    """Pr(F_i = Q) for Q = 0, 1, …, N from the distribution of the sample's count. Exact.

    Where the sample is the population it is the sample's distribution itself. Cost: N × the values
    that the sample's count may take."""
    if not 0 < sample_size <= population_size:
        rule = f"at least the sample's {sample_size}"
        raise InputError(must_be("population", rule, population_size))
    if not 0 < alpha <= alpha_total:
        raise InputError(must_be("alpha", "above 0, at most its total", alpha))
    rest = population_size - sample_size
    distribution: FloatArray = np.zeros(population_size + 1)
    for count, probability in sample_distribution.items():
        others = alpha_total - alpha + sample_size - count
        distribution[count : count + rest + 1] += probability * _beta_binomial(
            rest, alpha + count, others
        )
    return distribution


def _beta_binomial(n: int, a: float, b: float) -> FloatArray:
    if b <= 0:  # the only cell there is
        certain: FloatArray = np.zeros(n + 1)
        certain[n] = 1.0
        return certain
    k = np.arange(n + 1)
    choose = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    weights = np.exp(choose + betaln(k + a, n - k + b) - betaln(a, b))
    distribution: FloatArray = weights / weights.sum()
    return distribution
