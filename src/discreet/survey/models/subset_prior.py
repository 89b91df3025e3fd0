"""Priors that give a subset of the population tables a weight of its own.

The richer class of cohen-sackrowitz section 2: weight γ on a subset of the tables F, 1 − γ on all
others. Sums over the tables of a subset are coefficients of products of power series, one factor a
cell; they are computed in floats, scaled so that nothing overflows and nothing cancels.
"""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.fft import next_fast_len, rfft
from scipy.special import expit, gammaln, log1p

from discreet.data.summary import SizeIndices
from discreet.errors import InputError, must_be
from discreet.numerics.arrays import FloatArray
from discreet.survey.models.exchangeable_prior import (
    TAIL,
    ComplexArray,
    ExchangeablePosterior,
    PopulationPrior,
    check_whole,
)

POPULATION_LIMIT = 1_000_000  # records: series of this length, some seconds each
CELL_LIMIT = 10**9  # beyond it logarithms of the number of tables lose the seventh digit
WORK_LIMIT = 20_000_000  # distinct sample counts × records: about half a minute
VANISHED = -1e5  # log of a characteristic function that is zero

Sums = tuple[float, float]  # logarithms of two sums over tables: inside a subset, and outside it
Factor = tuple[int, FloatArray]  # a power, and the log coefficients of a power series


@dataclass(frozen=True, slots=True)
class LargestCell:
    """Populations in which no cell holds more than `most` records."""

    most: int


@dataclass(frozen=True, slots=True)
class EmptyCells:
    """Populations with exactly `number` empty cells (structural zeros)."""

    number: int


@dataclass(frozen=True, slots=True)
class PopulationUniques:
    """Populations with exactly `number` cells of one record, in the sample or not."""

    number: int


Subset = LargestCell | EmptyCells | PopulationUniques


@dataclass(frozen=True, slots=True, kw_only=True)
class SubsetPosterior:
    """What a prior with a weight γ on a subset of populations says of a sample unique.

    `unique_probability` is P(F_i = 1 given f), made of `inside` and `outside` the subset (None
    where no population there fits the sample), with `subset_probability` = P(subset given f).
    `subset_share` is the subset's share of the plain prior: as the weight it gives the plain prior
    back, and weights g, 1 − g *a table* in and out of the subset mean the weight
    g·share / (g·share + (1 − g)(1 − share)).
    """

    unique_probability: float
    subset_probability: float
    subset_share: float
    inside: float | None
    outside: float | None


def subset_posterior(
    size_indices: SizeIndices,
    *,
    prior: PopulationPrior,
    population_size: int,
    n_table_cells: int,
    subset: Subset,
    weight: float,
) -> SubsetPosterior:
    """The posterior of a sample unique when the subset has prior weight γ and the rest 1 − γ.

    Within each of the two the prior is `prior` (cohen-sackrowitz section 2, "a richer class"). With
    Z, B and A the sums of g(F), of ∏ C(F_k, f_k) g(F), and of the same over tables with F_i = 1,

        Q = (γ A_in/Z_in + (1 − γ) A_out/Z_out) / (γ B_in/Z_in + (1 − γ) B_out/Z_out).

    Unlike eq. 2.4 it depends on the whole sample, through its size indices. Cost: N log N for each
    series in a product, of which `LargestCell` has one a distinct sample count, the others three;
    `PopulationUniques` sums some √s products. The number of cells costs nothing.

    Checked: the sample has a sample unique and fits N and K, no weight is on a set without tables,
    N ≤ POPULATION_LIMIT, K ≤ CELL_LIMIT, series × N ≤ WORK_LIMIT.
    """
    n, s = size_indices.sample_size, size_indices.sample_uniques
    _check_sample(size_indices, prior, population_size, n_table_cells)
    _check_subset(subset, weight)
    sample = {int(f): int(m) for f, m in zip(size_indices.sizes, size_indices.cells, strict=True)}
    sample[0] = n_table_cells - size_indices.n_cells
    before = CellGroups(prior, {0: n_table_cells}, population_size)
    after = CellGroups(prior, sample, population_size - n)
    rest = CellGroups(prior, sample | {1: s - 1}, population_size - n)
    seen = PopulationUniques(subset.number - 1) if isinstance(subset, PopulationUniques) else subset
    return _mixed(weight, before.log_sums(subset), after.log_sums(subset), rest.log_sums(seen))


def _check_sample(
    sizes: SizeIndices, prior: PopulationPrior, population_size: int, n_table_cells: int
) -> None:
    if sizes.sample_uniques == 0:
        raise InputError(must_be("sample_uniques", "at least 1", 0))
    if not sizes.is_partition:
        raise InputError(must_be("size_indices", "those of cells that do not overlap", "others"))
    ExchangeablePosterior(
        prior=prior,
        sample_size=sizes.sample_size,
        population_size=population_size,
        n_table_cells=n_table_cells,
    )
    least = max(2, sizes.n_cells)
    if not least <= n_table_cells <= CELL_LIMIT:
        rule = f"from {least} to {CELL_LIMIT}"
        raise InputError(must_be("n_table_cells", rule, n_table_cells))
    limit = min(POPULATION_LIMIT, WORK_LIMIT // len(sizes.sizes))
    if population_size > limit:
        rule = f"at most {limit} for a weighted subset of tables"
        raise InputError(must_be("population_size", rule, population_size))


def _check_subset(subset: Subset, weight: float) -> None:
    if not 0 <= weight <= 1:
        raise InputError(must_be("weight", "a probability", weight))
    if isinstance(subset, LargestCell):
        check_whole("most", subset.most, 1)
    else:
        check_whole("number", subset.number, 0)


def _mixed(weight: float, before: Sums, after: Sums, unique: Sums) -> SubsetPosterior:
    """The posterior from log Z, log B and log A, each inside and outside the subset."""
    masses = []
    for share, z, b in zip((weight, 1 - weight), before, after, strict=True):
        if share and z == -math.inf:
            raise InputError(must_be("weight", "0 on a set that holds no table", weight))
        masses.append(math.log(share) + b - z if share and b > -math.inf else -math.inf)
    if max(masses) == -math.inf:
        raise InputError(must_be("weight", "positive on tables that fit the sample", weight))
    given = [
        min(1.0, math.exp(a - b)) if b > -math.inf else None
        for a, b in zip(unique, after, strict=True)
    ]
    inside = float(expit(masses[0] - masses[1]))
    return SubsetPosterior(
        unique_probability=inside * (given[0] or 0.0) + (1 - inside) * (given[1] or 0.0),
        subset_probability=inside,
        subset_share=math.exp(before[0] - np.logaddexp(*before)),
        inside=given[0],
        outside=given[1],
    )


@dataclass(frozen=True, slots=True)
class CellGroups:
    """Cells by sample count, `number[f]` of them with f records, and `total` records to come.

    A table weighs ∏ C(F_k, f_k) g(F_k), with g = 1 (uniform) or 1/F! (multinomial; a factor that no
    posterior shows is left out). So a cell is a power series in its further records j = F − f, and
    the sum over all tables of a kind is one coefficient of a product of such series.
    """

    prior: PopulationPrior
    number: Mapping[int, int]
    total: int

    def log_sums(self, subset: Subset) -> Sums:
        """log Σ of the weights of the tables inside and outside the subset; −∞ for no table."""
        if isinstance(subset, LargestCell):
            return self._log_capped(subset.most), self._log_beyond(subset.most)
        size = 0 if isinstance(subset, EmptyCells) else 1
        log_all = float(self._rest(-1)[self.total])
        inside = self._log_with(subset.number, size)
        others = -math.expm1(min(0.0, inside - log_all))
        if others > 0.5:
            return inside, log_all + math.log(others)
        return inside, self._log_other_numbers(subset.number, size)

    def _series(self, f: int) -> FloatArray:
        """Log coefficients of one cell: log C(f + j, j), or −log j!, for j = 0 … total."""
        return self._power(f + 1, 1)

    def _rest(self, size: int) -> FloatArray:
        """Log coefficients of all cells together with more than `size` records in the sample."""
        larger = {f: m for f, m in self.number.items() if f > size}
        return self._power(sum(m * (f + 1) for f, m in larger.items()), sum(larger.values()))

    def _power(self, units: int, cells: int) -> FloatArray:
        """Log coefficients of (1 − z)^(−units), or of exp(cells · z); 1 where there is no cell."""
        if cells == 0:
            return np.zeros(1)
        j = np.arange(self.total + 1.0)
        if self.prior is PopulationPrior.MULTINOMIAL:
            return np.asarray(j * math.log(cells) - gammaln(j + 1))
        return log_binomial(units - 1 + j, j)

    def _log_with(self, number: int, size: int) -> float:
        """Tables in which `number` cells hold `size` = 0 or 1 records in the population.

        Of those cells a hold a sample unique (none does for size 0) and the others no record of the
        sample; the rest of both kinds must hold another number of records. Summed over a.
        """
        lone, none = self.number.get(1, 0) * size, self.number.get(0, 0)
        empty = _without(self._series(0), slice(size, size + 1))
        single = _without(self._series(1), slice(1))
        rest = self._rest(size)

        def log_term(a: int) -> float:
            factors = [(none - number + a, empty), (lone - a, single), (1, rest)]
            ways = float(log_binomial(lone, a) + log_binomial(none, number - a))
            return ways + log_coefficient(factors, self.total - size * (number - a))

        least = max(0, number - none, size * -((self.total - number - lone) // 2))
        return _log_sum_around_peak(log_term, least, min(lone, number))

    def _log_other_numbers(self, number: int, size: int) -> float:
        """Tables in which another number of cells holds `size` records, the nearest first."""
        centre = self.number.get(size, 0)
        low, high = max(0, centre - self.total), centre + size * self.total
        sides = range(number + 1, high + 1), range(number - 1, low - 1, -1)
        sums = [_log_sum_until_small(lambda x: self._log_with(x, size), side) for side in sides]
        return float(np.logaddexp(sums[0], sums[1]))

    def _log_capped(self, most: int) -> float:
        """Tables without a cell of more than `most` records."""
        if any(m and f > most for f, m in self.number.items()):
            return -math.inf
        capped = [(m, self._series(f)[: most - f + 1]) for f, m in self.number.items() if m]
        return log_coefficient(capped, self.total)

    def _log_beyond(self, most: int) -> float:
        """Tables with a cell of more than `most` records."""
        factors = [(m, self._series(f)) for f, m in self.number.items() if m]
        cuts = [max(0, most - f + 1) for f, m in self.number.items() if m]
        return log_coefficient_beyond(factors, cuts, self.total)


def log_binomial(n: FloatArray | float, k: FloatArray | float) -> FloatArray:
    """log C(n, k) with an error near 1e-16 of itself, however large n is: Stirling's series."""
    n, k = np.asarray(n, dtype=np.float64), np.asarray(k, dtype=np.float64)
    few = np.minimum(k, n - k)
    whole, part, rest = np.maximum(n, 1), np.maximum(few, 1), np.maximum(n - few, 1)
    main = -part * np.log(part / whole) - rest * np.log1p(-part / np.maximum(whole, part + 1))
    main += np.log(whole / (2 * math.pi * part * rest)) / 2
    result = main + _stirling_rest(whole) - _stirling_rest(part) - _stirling_rest(rest)
    return np.where(few > 0, result, 0.0)


def _stirling_rest(x: FloatArray) -> FloatArray:
    """log x! less (x + 1/2) log x − x + log(2π)/2, for x ≥ 1."""
    small = np.minimum(x, 16.0)
    exact = gammaln(small + 1) - (small + 0.5) * np.log(small) + small - math.log(2 * math.pi) / 2
    y = 1 / x**2
    series = (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y / 1680))) / x
    return np.where(x < 16, exact, series)


def _without(series: FloatArray, exponents: slice) -> FloatArray:
    """The series without some of its terms."""
    result = series.copy()
    result[exponents] = -np.inf
    return result


def _log_sum_around_peak(log_term: Callable[[int], float], low: int, high: int) -> float:
    """log Σ exp(log_term) over low … high, for terms that rise to a peak and fall from it."""
    log_term = functools.cache(log_term)
    left, right = low, high
    while right - left > 32:
        middle = (left + right) // 2
        rising = log_term(middle) < log_term(middle + 1)
        left, right = (middle + 1, right) if rising else (left, middle)
    peak = max(range(left, right + 1), key=log_term, default=low)
    up = _log_sum_until_small(log_term, range(peak, high + 1))
    down = _log_sum_until_small(log_term, range(peak - 1, low - 1, -1))
    return float(np.logaddexp(up, down))


def _log_sum_until_small(log_term: Callable[[int], float], numbers: range) -> float:
    """log Σ exp(log_term) in this order, up to the first term that no longer matters."""
    log_sum = -math.inf
    for number in numbers:
        term = log_term(number)
        log_sum = float(np.logaddexp(log_sum, term))
        if -math.inf < term < log_sum - TAIL:
            break
    return log_sum


def log_coefficient(factors: Sequence[Factor], total: int) -> float:
    """log of the coefficient of z^total in a product of powers of series with terms ≥ 0.

    It is G(r)/r^total · P(Y = total), where Y is a sum of independent numbers whose distributions
    are the series at r; r is chosen so that E(Y) is near the total, where P is large, and P is a
    sum of characteristic functions over a circle so finely cut that no more of Y falls on the same
    spot."""
    factors, need = _trimmed(factors, total)
    room = sum(m * (len(w) - 1) for m, w in factors)
    if not 0 <= need <= room:
        return -math.inf
    if room == 0:
        return sum(m * float(w[0]) for m, w in factors)
    tilt, length = _tilt_and_length(factors, need)
    log_cf = np.zeros(length // 2 + 1, dtype=np.complex128)
    log_norm = -tilt * need
    for m, w in factors:
        norm, distribution = _distribution(w, tilt)
        log_norm += m * norm
        log_cf += m * _log_cf(distribution, length)
    return log_norm + _log_at(np.exp(log_cf), need, length)


def log_coefficient_beyond(factors: Sequence[Factor], cuts: Sequence[int], total: int) -> float:
    """As `log_coefficient`, but only of terms in which some factor's exponent is at least its cut.

    In a power m of a series b = a + c, cut in two, these are Σ aⁱ c bᵐ⁻¹⁻ⁱ, by the place of the
    first c. Nothing is subtracted, so that a tiny sum keeps its digits.
    """
    if all(cut > total for cut in cuts):
        return -math.inf
    if total == 0:
        return log_coefficient(factors, total)
    tilt, length = _tilt_and_length(_with_one_beyond(factors, cuts, total), total)
    log_shares = _log_shares_beyond(factors, cuts, tilt)
    scale = max(log_shares)
    log_norm = scale - tilt * total
    capped: ComplexArray = np.zeros(length // 2 + 1, dtype=np.complex128)
    beyond = np.zeros_like(capped)
    for (m, w), cut, log_share in zip(factors, cuts, log_shares, strict=True):
        norm, distribution = _distribution(w, tilt)
        free, short = _log_cf(distribution, length), _log_cf(distribution, length, cut)
        first = math.exp(log_share - scale) * rfft(
            _distribution(_without(w, slice(cut)), tilt)[1], length
        )
        beyond = beyond * np.exp(m * free) + np.exp(capped) * first * _ladder(short, free, m)
        capped = capped + m * short
        log_norm += m * norm
    return log_norm + _log_at(beyond, total, length)


def _with_one_beyond(factors: Sequence[Factor], cuts: Sequence[int], total: int) -> list[Factor]:
    """The factors with one series cut off below, that of the largest share beyond its cut."""
    tilt, _ = _tilt_and_length(factors, total)
    log_shares = _log_shares_beyond(factors, cuts, tilt)
    at = int(np.argmax([math.log(m) + x for (m, _), x in zip(factors, log_shares, strict=True)]))
    rest = [(m - (i == at), w) for i, (m, w) in enumerate(factors)]
    return [*((m, w) for m, w in rest if m), (1, _without(factors[at][1], slice(cuts[at])))]


def _log_shares_beyond(factors: Sequence[Factor], cuts: Sequence[int], tilt: float) -> list[float]:
    """log of the share that the terms from the cut on have in each tilted series."""
    parts = [(w, _without(w, slice(cut))) for (_, w), cut in zip(factors, cuts, strict=True)]
    return [_log_norm(beyond, tilt) - _log_norm(w, tilt) for w, beyond in parts]


def _ladder(log_a: ComplexArray, log_b: ComplexArray, m: int) -> ComplexArray:
    """Σ aⁱ bᵐ⁻¹⁻ⁱ over i < m, by doubling."""
    if m == 1:
        return np.ones_like(log_a)
    half = m // 2
    even = _ladder(log_a, log_b, half) * (np.exp(half * log_a) + np.exp(half * log_b))
    return even if m % 2 == 0 else np.asarray(even * np.exp(log_a) + np.exp((m - 1) * log_b))


def _trimmed(factors: Sequence[Factor], total: int) -> tuple[list[Factor], int]:
    """The factors of positive power from first to last term in use, and what is left to reach."""
    starts = [(m, w, int(np.argmax(np.append(w, 0.0) > -np.inf))) for m, w in factors if m]
    need = total - sum(m * start for m, _, start in starts)
    used = [(m, w[start : start + max(need, 0) + 1]) for m, w, start in starts]
    return [(m, w[: np.flatnonzero(w > -np.inf).max(initial=0) + 1]) for m, w in used], need


def _tilt_and_length(factors: Sequence[Factor], total: int) -> tuple[float, int]:
    """log r at which E(Y) is within a tenth of its deviation of the total; points on the circle.

    Newton's steps on log E(Y) within a bracket. The circle is twice as long as the total when Y has
    the tails of a gamma of shape 50 or more, else 16 times, or as long as Y can get.
    """
    room = sum(m * (len(w) - 1) for m, w in factors)
    least = sum(m * int(np.argmax(w > -np.inf)) for m, w in factors)
    goal = min(max(total, least + 0.5), room - 0.5)
    low, high, tilt = -800.0, 800.0, math.log(goal / (goal + sum(m for m, _ in factors)))
    for _ in range(200):
        mean, variance = _moments(factors, tilt)
        if abs(mean - goal) <= 0.1 * math.sqrt(variance) or least == room:
            break
        low, high = (low, tilt) if mean > goal else (tilt, high)
        step = tilt + math.log(goal / mean) * mean / variance if variance else low
        tilt = step if low < step < high else (low + high) / 2
    else:
        raise ArithmeticError(f"tilt must be found within 200 steps, got a mean of {mean}")
    span = 2 if (goal - least) ** 2 >= 50 * variance else 16
    return tilt, int(next_fast_len(min(room, span * (total + 1)) + 1, real=True))


def _moments(factors: Sequence[Factor], tilt: float) -> tuple[float, float]:
    """Mean and variance of the sum of independent numbers whose distributions are the tilted
    series.
    """
    mean = variance = 0.0
    for m, w in factors:
        j, distribution = np.arange(float(len(w))), _distribution(w, tilt)[1]
        own = float(j @ distribution)
        mean, variance = mean + m * own, variance + m * float((j - own) ** 2 @ distribution)
    return mean, variance


def _log_norm(w: FloatArray, tilt: float) -> float:
    """log of the sum of a tilted series."""
    return _distribution(w, tilt)[0]


def _distribution(w: FloatArray, tilt: float) -> tuple[float, FloatArray]:
    """log of the sum of a tilted series, and its terms as probabilities."""
    terms = w + tilt * np.arange(float(len(w)))
    top = float(terms.max())
    if top == -math.inf:
        return top, np.zeros(len(w))
    terms = np.exp(terms - top)
    total = float(terms.sum())
    return top + math.log(total), terms / total


def _log_cf(distribution: FloatArray, length: int, cut: int | None = None) -> ComplexArray:
    """log E exp(−2πi k Z / length), of the distribution up to its cut, to all digits where it is
    near 0.
    """
    shifted = distribution[:cut].copy()
    if len(shifted) == 0:
        return np.full(length // 2 + 1, VANISHED + 0j)
    shifted[0] = -distribution[1:].sum()
    below = rfft(shifted, length)
    return np.where(np.abs(1 + below) < 1e-15, VANISHED, log1p(below))


def _log_at(values: ComplexArray, total: int, length: int) -> float:
    """log P(Y = total) from its characteristic function; −∞ where it is zero but for rounding."""
    k = np.arange(len(values))
    twice = np.where((k == 0) | (2 * k == length), 1.0, 2.0) / length
    terms = values * np.exp(2j * np.pi * (k * total % length) / length) * twice
    value = float(terms.real.sum())
    return math.log(value) if value > 1e-12 * float(np.abs(terms).sum()) else -math.inf
