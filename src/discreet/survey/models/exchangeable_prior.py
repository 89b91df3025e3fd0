"""What an exchangeable prior over population tables says of the sample uniques.

The population table F has K cells and N records; the sample f holds n of them, drawn without
replacement (cohen-sackrowitz eq. 2.1). Two priors treat all cells alike: every table equally likely
(`uniform`), or every record equally likely to fall in any cell (`multinomial`). What is left to
know is how the other M = N − n records lie:

* uniform: ∏ C(F_k, f_k) counts the ways to put M stars into n + K places, f_k + 1 in each cell.
  With D = n + K − 1 bars between the places and T = N + K − 1 stars and bars in all, j given places
  stay empty with probability D(D − 1)…(D − j + 1) / (T(T − 1)…(T − j + 1)): as j given things are
  all among D drawn out of T. A sample unique owns two places, so it is a population unique with
  probability D(D − 1) / (T(T − 1)), eq. 2.4, and the number of population uniques among s sample
  uniques is the number of complete pairs in such a draw.
* multinomial: each of the M records falls in any of the K cells. The number of population uniques
  is the number of s given boxes that stay empty under M balls; one box does with ((K − 1)/K)^M:
  eq. 2.6.

Sizes are Python integers and may exceed 64 bits.
"""

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, log1p

from discreet.errors import InputError, must_be
from discreet.numerics.arrays import CountArray, FloatArray, IntArray, read_only
from discreet.numerics.rounding import ALIKE

ComplexArray = NDArray[np.complex128]

TAIL = 40.0  # a band leaves out at most 2·exp(−TAIL) of a distribution
RARE = 1e-4  # expected uniques below which four terms of inclusion–exclusion give all digits
FULL_CIRCLE = 2048  # periods up to this are summed without leaving out small terms
CHUNK = 2048  # rows of a quadrature held at a time
STEP = 1 / 32  # of the double-exponential quadrature: all digits


class PopulationPrior(StrEnum):
    """How likely each population table is before the sample is seen."""

    UNIFORM = "uniform"
    MULTINOMIAL = "multinomial"


@dataclass(frozen=True, slots=True, kw_only=True)
class UniquesDistribution:
    """How many of the sample uniques are population uniques: a probability for each number.

    `probability[i]` belongs to `first + i`; numbers outside have less than 1e-16 in all. `mean` and
    `variance` come from closed forms, not from the probabilities.
    """

    sample_uniques: int
    first: int
    probability: FloatArray
    mean: float
    variance: float

    def __post_init__(self) -> None:
        read_only(self.probability)

    def interval(self, confidence: float) -> tuple[int, int]:
        """Least and greatest number, each tail outside holding at most (1 − confidence)/2."""
        if not 0 < confidence < 1:
            raise InputError(must_be("confidence", "between 0 and 1", confidence))
        tail = (1 - confidence) / 2 * (1 + ALIKE)  # a tail may hold just that
        below = int(np.argmax(np.cumsum(self.probability) > tail))
        above = int(np.argmax(np.cumsum(self.probability[::-1]) > tail))
        return self.first + below, self.first + len(self.probability) - 1 - above

    def at_least(self, number: int) -> float:
        """Probability that `number` or more sample uniques are population uniques."""
        if number <= self.first:
            return 1.0
        return float(self.probability[number - self.first :].sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeablePosterior:
    """What is known of the population table after a sample, under an exchangeable prior.

    Checked: 1 ≤ sample_size ≤ population_size and n_table_cells ≥ 1, all of them whole.
    """

    prior: PopulationPrior
    sample_size: int
    population_size: int
    n_table_cells: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "prior", PopulationPrior(self.prior))
        check_whole("sample_size", self.sample_size, 1)
        check_whole("n_table_cells", self.n_table_cells, 1)
        check_whole("population_size", self.population_size, self.sample_size)

    @property
    def unseen(self) -> int:
        """Records of the population outside the sample: M = N − n."""
        return self.population_size - self.sample_size

    @property
    def cells(self) -> int:
        """K, or 10²⁰⁰ for a larger table: no figure tells them apart, and both fit in a float."""
        return min(self.n_table_cells, 10**200)

    @property
    def bars(self) -> int:
        """D = n + K − 1, the things drawn under the uniform prior."""
        return self.sample_size + self.cells - 1

    @property
    def positions(self) -> int:
        """T = N + K − 1, the stars and bars of the uniform prior."""
        return self.population_size + self.cells - 1

    @property
    def unique_probability(self) -> float:
        """P(F_i = 1 given f_i = 1), cohen-sackrowitz eq. 2.4 and 2.6; the same for all uniques."""
        if self.unseen == 0:
            return 1.0
        if self.prior is PopulationPrior.MULTINOMIAL:
            return _all_miss(self.unseen, 1, self.cells)
        return _falling(self.bars, 2) / _falling(self.positions, 2)

    @property
    def shared_probability(self) -> float:
        """P(F_i > 1 given f_i = 1), with all its digits where the unique probability is near 1."""
        if self.unseen == 0:
            return 0.0
        if self.prior is PopulationPrior.MULTINOMIAL:
            return -math.expm1(self.unseen * _log1m(1, self.cells))
        of = _falling(self.positions, 2)
        return (of - _falling(self.bars, 2)) / of

    def match_probability(self, sample_count: CountArray) -> FloatArray:
        """E(1 / F_i given f_i) for cells that hold `sample_count` ≥ 1 records of the sample.

        Uniform: since C(F, f)/F = C(F − 1, f − 1)/f, the mean is the closed form D/(T f).
        Multinomial: F − f is binomial (M, 1/K); the mean is ∫ e^(−fx) (1 − (1 − e^(−x))/K)^M dx,
        a sum of positive terms by double-exponential quadrature.
        """
        count = np.asarray(sample_count, dtype=np.float64)
        if self.prior is PopulationPrior.UNIFORM or self.unseen == 0:
            return self.bars / self.positions / count
        sizes, where = np.unique(count, return_inverse=True)
        return self._inverse_moments(sizes)[0][where]

    def matches_variance(self, sizes: CountArray, cells: IntArray) -> float:
        """At most this is the variance of Σ f_k / F_k, when `cells[i]` cells hold `sizes[i]`.

        The terms are negatively associated, so the variance is at most the sum of theirs; under the
        uniform prior the covariance is known, −ν(1 − ν)/(T − 1) with ν = D/T, and taken off.
        """
        if self.unseen == 0 or self.cells == 1:
            return 0.0
        f, m = sizes.astype(np.float64), cells.astype(np.float64)
        if self.prior is PopulationPrior.MULTINOMIAL:
            first, second = self._inverse_moments(f)
            return max(0.0, float(np.dot(m, f**2 * (second - first**2))))
        share = self.bars / self.positions
        own = float(np.dot(m, self._uniform_second_moment(f) - share**2))
        joint = float(m.sum() * (m.sum() - 1)) * share * (1 - share) / (self.positions - 1)
        return max(0.0, own - joint)

    def _uniform_second_moment(self, f: FloatArray) -> FloatArray:
        """E(f²/F²), exact for f = 1; above it at most this.

        1/F² = (1 − 1/F) / (F(F − 1)), both factors' means are closed forms, and as one rises and
        the other falls with F the mean of their product is at most the product of their means.
        """
        D, T, M = self.bars, self.positions, self.unseen
        share, pair = D / T, _falling(D, 2) / _falling(T, 2)
        single = share * min(1.0, (D - 1) / (M + 1) * _harmonic_run(D - 1, M + 1))
        many = (1 - share / f) * pair * f / np.maximum(f - 1, 1)
        return np.where(f == 1, single, many)

    def _inverse_moments(self, f: FloatArray) -> tuple[FloatArray, FloatArray]:
        """E(1/F) and E(1/F²) under the multinomial prior, for each sample count."""
        parts = [self._inverse_quadrature(f[i : i + CHUNK]) for i in range(0, len(f), CHUNK)]
        first, second = np.concatenate([np.zeros((2, 0)), *parts], axis=1)
        return first, second

    def _inverse_quadrature(self, f: FloatArray) -> FloatArray:
        """Rows ∫ φ dx and ∫ x φ dx with φ = E exp(−Fx), at x = exp(u − e^(−u)) / E(F)."""
        M, K = float(self.unseen), float(self.cells)
        if K == 1:
            return np.stack([1 / (f + M), 1 / (f + M) ** 2])
        u = np.arange(-4.0, 7.0, STEP)
        x = np.exp(u - np.exp(-u)) / (f + M / K)[:, None]
        value = np.exp(-f[:, None] * x + M * np.log1p(np.expm1(-x) / K))
        value *= x * (1 + np.exp(-u)) * STEP
        return np.stack([value.sum(axis=1), (value * x).sum(axis=1)])

    def uniques(self, sample_uniques: int) -> UniquesDistribution:
        """The distribution of the number of population uniques among s sample uniques.

        By inversion (`_by_inversion`): O(√s) numbers at about a hundred terms each, so that a
        billion sample uniques take a second. Numbers left out are beyond Bernstein's inequality,
        which holds for negatively associated events as it does for independent ones. The mean of
        what was computed is checked against its closed form.

        Checked: a sample of n records in K cells can hold that many sample uniques.
        """
        s, mean = sample_uniques, self.mean_of(sample_uniques)
        if s * self.shared_probability < math.exp(-TAIL):
            first, probability = s, np.ones(1)
        elif self.prior is PopulationPrior.MULTINOMIAL and mean < RARE:
            first, probability = 0, self._by_inclusion(s)
        else:
            first, probability = self._by_inversion(s)
        variance = self.variance_of(s)
        check_mean(first, probability, mean, variance)
        return UniquesDistribution(
            sample_uniques=s, first=first, probability=probability, mean=mean, variance=variance
        )

    def mean_of(self, sample_uniques: int) -> float:
        """τ̃ = s·Q, the expected population uniques among s sample uniques (cohen-sackrowitz 2)."""
        self._check_uniques(sample_uniques)
        return sample_uniques * self.unique_probability

    def variance_of(self, sample_uniques: int) -> float:
        """Variance of that number, from the probability that two given uniques are both unique."""
        s, q = sample_uniques, self.unique_probability
        if s <= 1 or self.unseen == 0 or q == 0:
            return s * q * self.shared_probability
        if self.prior is PopulationPrior.UNIFORM:
            two, four = _falling(self.positions, 2), _falling(self.positions, 4)
            one, both = _falling(self.bars, 2), _falling(self.bars, 4)
            lone = s * one * (two - s * one) * four
            return (lone + s * (s - 1) * both * two**2) / (two**2 * four)
        joint = math.expm1(self.unseen * _log1m(1, (self.cells - 1) ** 2))
        return max(0.0, s * q * self.shared_probability + s * (s - 1) * q * q * joint)

    def _check_uniques(self, s: int) -> None:
        n, K = self.sample_size, self.n_table_cells
        if not 0 <= s <= min(n, K) or s == K < n:
            rule = f"the sample uniques of {n} records in {K} cells"
            raise InputError(must_be("sample_uniques", rule, s))

    def _band(self, s: int) -> tuple[int, int]:
        """Numbers of population uniques that hold all but 2·exp(−TAIL) of the probability."""
        q, most = self.unique_probability, min(s, self.cells - 1)  # one cell takes what is unseen
        low, high = _bernstein(s * q, s * q * self.shared_probability)
        return max(0, s - self.unseen, low), min(most, high)

    def _by_inclusion(self, s: int) -> FloatArray:
        """Multinomial prior, rare uniques: four terms; the next is below (s·Q)⁵/120."""
        M, K = self.unseen, self.cells
        sums = [math.comb(s, j) * _all_miss(M, j, K) for j in range(5)]
        signed = [
            [(-1) ** (j - x) * math.comb(j, x) * sums[j] for j in range(x, 5)] for x in range(5)
        ]
        return np.array([math.fsum(terms) for terms in signed[: s + 1]])

    def _by_inversion(self, s: int) -> tuple[int, FloatArray]:
        """P(x) ∝ Bin(x; s, q₀)·P(Y_x = M): things independent until their total is fixed at M.

        Uniform: each of T things is left with probability M/T, a sample unique owns two of them.
        Multinomial: each of K cells gets a Poisson number with mean M/K, a sample unique owns one.
        So a sample unique gets nothing with probability q₀, and Y_x is the total of everything when
        x of them get nothing. P(Y_x = M) is its characteristic function summed over equal angles,
        with a period so long and angles so many that what is left out is below exp(−TAIL).
        """
        x0, x1 = self._band(s)
        distribution = _UnitDistribution.of(self, s)
        x = np.arange(x0, x1 + 1)
        steps = np.log((s - x[:-1]) / x[1:]) + distribution.log_none - math.log(distribution.some)
        binomial = np.concatenate(([0.0], np.cumsum(steps)))
        angles, period = distribution.angles((x0, x1))
        chunks = [x[i : i + CHUNK] for i in range(0, len(x), CHUNK)]
        local = np.concatenate(
            [distribution.local_probability(part, angles, period) for part in chunks]
        )
        weights = np.exp(binomial - binomial.max()) * local
        return x0, weights / weights.sum()


@dataclass(frozen=True, slots=True)
class _UnitDistribution:
    """One thing a unit, Bernoulli or Poisson with this mean; `weight` units a sample unique."""

    uniques: int
    weight: int
    rest: int
    mean: float
    log_unit_none: float

    @classmethod
    def of(cls, posterior: ExchangeablePosterior, s: int) -> "_UnitDistribution":
        if posterior.prior is PopulationPrior.UNIFORM:
            stars, bars, units = posterior.unseen, posterior.bars, posterior.positions
            log_none = _log1m(stars, units) if stars < bars else math.log(bars / units)
            return cls(s, 2, units - 2 * s, stars / units, log_none)
        mean = posterior.unseen / posterior.cells
        return cls(s, 1, posterior.cells - s, mean, -mean)

    @property
    def variance(self) -> float:
        """Of one unit."""
        return self.mean if self.weight == 1 else self.mean * math.exp(self.log_unit_none)

    @property
    def log_none(self) -> float:
        """log q₀: a sample unique gets nothing."""
        return self.weight * self.log_unit_none

    @property
    def some(self) -> float:
        """1 − q₀."""
        return -math.expm1(self.log_none)

    @property
    def given_some(self) -> float:
        """Mean of a sample unique that gets something."""
        return self.weight * self.mean / self.some

    def offset(self, x: IntArray) -> FloatArray:
        """M − E(Y_x)."""
        return np.asarray(self.given_some * (x - self.uniques * math.exp(self.log_none)))

    def spread(self, x: int) -> float:
        """Var(Y_x)."""
        second = (self.weight * self.variance + (self.weight * self.mean) ** 2) / self.some
        cell = max(0.0, second - self.given_some**2)
        return (self.uniques - x) * cell + self.rest * self.variance

    def angles(self, band: tuple[int, int]) -> tuple[FloatArray, int]:
        """Angles from 0 up, and the odd number that they divide the circle by."""
        reach = TAIL + math.sqrt(TAIL**2 + 2 * TAIL * self.spread(band[0]))
        period = 2 * int(np.abs(self.offset(np.array(band))).max() + reach) + 1
        steps = (period - 1) // 2
        if period > FULL_CIRCLE:
            furthest = 14 / math.sqrt(self.spread(band[1]))  # as 1 − cos t ≥ 2t²/π² up to π
            steps = min(steps, math.ceil(furthest * period / (2 * math.pi)))
        return np.arange(steps + 1) * np.float64(2 * math.pi / period), period

    def centred(self, t: FloatArray) -> ComplexArray:
        """log E exp(it(Z − E Z)) of one unit; Bernoulli from its rarer side, to keep digits."""
        if self.weight == 1:
            return np.asarray(self.mean * (np.expm1(1j * t) - 1j * t))
        none = math.exp(self.log_unit_none)
        small, sign = (self.mean, 1j) if self.mean < none else (none, -1j)
        return np.asarray(log1p(small * np.expm1(sign * t)) - sign * t * small)

    def local_probability(self, x: IntArray, t: FloatArray, period: int) -> FloatArray:
        """P(Y_x = M) for each x."""
        unit = self.centred(t)
        cell = log1p(np.expm1(self.weight * (unit + 1j * t * self.mean)) / self.some)
        cell -= 1j * t * self.given_some
        power = (self.uniques - x)[:, None] * cell + float(self.rest) * unit
        power -= 1j * np.outer(self.offset(x), t)
        terms = np.exp(power).real * np.where(t == 0, 1.0, 2.0)
        return np.asarray(np.maximum(terms.sum(axis=1) / period, 0.0))


def check_mean(first: int, probability: FloatArray, mean: float, variance: float) -> None:
    """Raise if probabilities of first, first + 1, … do not have the mean known in closed form."""
    at = first + float(np.dot(np.arange(len(probability)), probability))
    slack = 1e-6 * min(1 + math.sqrt(variance), 10 * mean) + 1e-15 * mean
    if not abs(at - mean) <= slack:
        raise ArithmeticError(f"mean of the probabilities must be {mean}, got {at}")


def check_whole(name: str, value: int, least: int) -> None:
    """Raise unless the value is a whole number and not below the least."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise InputError(must_be(name, f"a whole number of at least {least}", value))


def _falling(value: int, factors: int) -> int:
    """value·(value − 1)·…, that many factors, as an exact integer; 0 once a factor is 0."""
    return math.prod(max(0, value - i) for i in range(factors))


def _log1m(part: int, whole: int) -> float:
    """log(1 − part/whole), −∞ where they are equal."""
    return math.log1p(-part / whole) if part < whole else -math.inf


def _all_miss(balls: int, boxes: int, of: int) -> float:
    """Probability that none of `balls` falls in given `boxes` out of `of`."""
    return math.exp(balls * _log1m(boxes, of)) if boxes < of else 0.0


def _harmonic_run(start: int, terms: int) -> float:
    """1/start + 1/(start + 1) + …, that many terms, with no cancellation where start is large."""
    if start < 1000:
        return float(digamma(start + terms) - digamma(start))
    a, b = start, start + terms
    tail = (1 / a**2 - 1 / b**2) / 12
    return math.log1p(terms / a) + (terms / a / b) / 2 + tail


def _bernstein(mean: float, variance: float) -> tuple[int, int]:
    """Whole numbers around the mean outside which a sum of 0/1 events has exp(−TAIL) a side."""
    reach = TAIL / 3 + math.sqrt((TAIL / 3) ** 2 + 2 * TAIL * variance)
    return math.floor(mean - reach), math.ceil(mean + reach)
