"""How large a sample may be before its uniques become too likely population uniques.

The unique probability Q(n) of a sample unique (cohen-sackrowitz eq. 2.4, 2.6) rises with n: under
the uniform prior it is D(D − 1) over a constant with D = n + K − 1 ≥ 1, under the multinomial one
((K − 1)/K)^(N − n). So the sizes that keep Q at or under a target are 1 … n for some n, found here
in whole numbers. The paper says that its formulas give sample sizes but prints none; solving
them for n gives `formula`, a real number whose whole part is n.
"""

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

from discreet.errors import InputError, must_be
from discreet.notebooks import Result
from discreet.survey.models.exchangeable_prior import (
    ExchangeablePosterior,
    PopulationPrior,
    check_whole,
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Plan(Result):
    """The largest sample whose uniques are population uniques with at most the target probability.

    `sample_size` is 0 where even a sample of one record has a higher probability. `formula` is the
    sample size from the formula solved for n, not rounded. The rest is at `sample_size`, None if 0:
    the unique probability, and how many sample uniques and population uniques among them the prior
    expects in such a sample.
    """

    prior: PopulationPrior
    n_table_cells: int
    population_size: int
    target: Fraction
    sample_size: int
    formula: float
    unique_probability: float | None
    expected_sample_uniques: float | None
    expected_population_uniques: float | None

    @property
    def sample_fraction(self) -> float:
        """Sample size over population size."""
        return self.sample_size / self.population_size

    @property
    def verdict(self) -> str:
        """The answer in one sentence."""
        if self.sample_size == 0:
            return "no sample size keeps the unique probability at or under the target"
        if self.sample_size == self.population_size:
            return "the whole population may be taken: the target allows certainty"
        return f"at most {self.sample_size} of {self.population_size} records may be taken"

    def curve(self, points: int = 101) -> list[tuple[int, float]]:
        """(n, unique probability) from n = 1 to N, at most so many, the planned size among them."""
        check_whole("points", points, 2)
        sizes = {1 + i * (self.population_size - 1) // (points - 1) for i in range(points)}
        sizes |= {self.sample_size} - {0}
        return [(n, self._posterior(n).unique_probability) for n in sorted(sizes)]

    def _posterior(self, n: int) -> ExchangeablePosterior:
        return _posterior(self.prior, n, self.population_size, self.n_table_cells)


def plan_sample_size(
    n_table_cells: int,
    population_size: int,
    target: float | Fraction | Decimal | str,
    prior: PopulationPrior | str = PopulationPrior.UNIFORM,
) -> Plan:
    """The largest sample size with Q(n) ≤ target, by whole-number arithmetic, for any N and K.

    A float target means the decimal it prints as: 0.3 is 3/10. Checked: N ≥ 1, K ≥ 2 (in a table of
    one cell a sample of two records has no sample unique), 0 < target ≤ 1.
    """
    check_whole("population_size", population_size, 1)
    check_whole("n_table_cells", n_table_cells, 2)
    prior, limit = _prior(prior), _target(target)
    if limit == 1:
        size, formula = population_size, float(population_size)
    elif prior is PopulationPrior.UNIFORM:
        size, formula = _uniform_size(n_table_cells, population_size, limit)
    else:
        size, formula = _multinomial_size(n_table_cells, population_size, limit)
    return _planned(prior, n_table_cells, population_size, limit, max(0, size), formula)


def _planned(
    prior: PopulationPrior, K: int, N: int, limit: Fraction, n: int, formula: float
) -> Plan:
    q = _posterior(prior, n, N, K).unique_probability if n else None
    uniques = sample_uniques_moments(prior, n, K)[0] if n else None
    return Plan(
        prior=prior,
        n_table_cells=K,
        population_size=N,
        target=limit,
        sample_size=n,
        formula=formula,
        unique_probability=q,
        expected_sample_uniques=uniques,
        expected_population_uniques=None if q is None or uniques is None else q * uniques,
    )


def sample_uniques_moments(
    prior: PopulationPrior, sample_size: int, n_table_cells: int
) -> tuple[float, float]:
    """Mean and variance of the number of sample uniques before the sample is drawn.

    A sample of n has the prior's own distribution with n for N. Mean: n K (K − 1) / ((n + K − 1)(n
    + K − 2)) (uniform) or n ((K − 1)/K)^(n − 1) (multinomial); the variance from pairs of cells.
    """
    n, K = sample_size, n_table_cells
    if n == 1 or K == 1:
        return float(n == 1), 0.0
    if n == 2:
        apart = (K - 1) / (K + 1) if prior is PopulationPrior.UNIFORM else (K - 1) / K
        return 2 * apart, 4 * apart * (1 - apart)
    return (
        _uniform_moments(n, K) if prior is PopulationPrior.UNIFORM else _multinomial_moments(n, K)
    )


def _uniform_moments(n: int, K: int) -> tuple[float, float]:
    """For n ≥ 3, K ≥ 2; P(f_i = f_j = 1) counts the samples of n − 2 in K − 2 cells."""
    A = n + K - 1
    mean = Fraction(n * K * (K - 1), A * (A - 1))
    pairs = Fraction(n * (n - 1) * K * (K - 1) ** 2 * (K - 2), math.perm(A, 4))
    return float(mean), float(pairs + mean - mean**2)


def _multinomial_moments(n: int, K: int) -> tuple[float, float]:
    """For n ≥ 3, K ≥ 2; E S(S − 1) = n(n − 1)(1 − 1/K)(1 − 2/K)^(n − 2), as a multiple of mean²."""
    if K == 2:
        mean = n * 0.5 ** (n - 1)
        return mean, mean - mean**2
    log_lone = (n - 1) * math.log1p(-1 / K)
    log_pair = (n - 2) * math.log1p(-1 / (K - 1) ** 2) - math.log1p(-1 / K)
    mean = n * math.exp(log_lone)
    return mean, mean**2 * math.expm1(log_pair) - mean * math.expm1(log_lone + log_pair)


def _uniform_size(K: int, N: int, limit: Fraction) -> tuple[int, float]:
    """Largest n with D(D − 1) ≤ target · T(T − 1): D = ⌊(1 + √(1 + 4·floor))/2⌋, exactly."""
    T = N + K - 1
    product = limit * T * (T - 1)
    size = (1 + math.isqrt(1 + 4 * math.floor(product))) // 2 - (K - 1)
    with localcontext() as context:
        context.prec = 50 + len(str(T))
        root = (Decimal(product.numerator) / product.denominator + Decimal("0.25")).sqrt()
        return size, float(root + Decimal("1.5") - K)


def _multinomial_size(K: int, N: int, limit: Fraction) -> tuple[int, float]:
    """Largest n with ((K − 1)/K)^(N − n) ≤ target: N less the records that must stay unseen.

    They are m = ⌈log target / log((K − 1)/K)⌉. Digits are added until the quotient is clear of
    whole numbers; it can be whole only if target = ((K − 1)/K)^m, which is tried first.
    """
    digits = 50 + 2 * len(str(K)) + len(str(N))
    while True:
        with localcontext() as context:
            context.prec = digits
            log_target = Decimal(limit.numerator).ln() - Decimal(limit.denominator).ln()
            unseen = log_target / (Decimal(K - 1).ln() - Decimal(K).ln())
            near = int(unseen.to_integral_value())
            error = Decimal(10) ** (len(str(near)) + len(str(K)) + 5 - digits)
            formula = float(N - unseen)
            least = math.ceil(unseen)
        if _is_power(limit, K, near):
            return N - near, float(N - near)
        if abs(unseen - near) > error:
            return N - least, formula
        digits *= 2


def _is_power(limit: Fraction, K: int, m: int) -> bool:
    """Whether the target is ((K − 1)/K)^m; its denominator K^m decides whether that can be."""
    return (
        m * math.log2(K) < limit.denominator.bit_length() + 1 and Fraction(K - 1, K) ** m == limit
    )


def _posterior(prior: PopulationPrior, n: int, N: int, K: int) -> ExchangeablePosterior:
    return ExchangeablePosterior(prior=prior, sample_size=n, population_size=N, n_table_cells=K)


def _prior(prior: PopulationPrior | str) -> PopulationPrior:
    if prior not in set(PopulationPrior):
        raise InputError(must_be("prior", "uniform or multinomial", repr(prior)))
    return PopulationPrior(prior)


def _target(target: float | Fraction | Decimal | str) -> Fraction:
    try:
        limit = Fraction(str(target))
    except (ValueError, ZeroDivisionError):
        limit = Fraction(0)
    if not 0 < limit <= 1:
        raise InputError(must_be("target risk", "above 0 and at most 1", target))
    return limit
