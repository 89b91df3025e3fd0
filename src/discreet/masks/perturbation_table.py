"""The perturbation table of the cell-key method: how a count becomes a published figure.

Each count i has a distribution over deviations v, of greatest entropy among those that

    change it by at most `largest`, never below zero, and leave zero as it is,
    are right on average, Σ p(v) v = 0, and have the variance asked for, Σ p(v) v² = V,
    publish no figure from 1 to `small`, and let a count stay with probability `keep`,

as in Marley and Leaver (2011) and Giessing (2016). Its form is p(v) ∝ exp(a v + b v²) on the
deviations allowed, 0 set apart where `keep` is given: Lagrange's condition. For each b one a makes
the mean zero, and the variance then rises with b, so both are found by bisection with Newton steps.

Small counts have less room below than above, so not every one can have variance V:

- where V is more than any unbiased deviation has, variance is left free; it comes out below V;
- where V is less than the least (no figure from 1 to `small` may appear, so that a count of 1 must
  jump), the least is taken, which is more than V.

`relaxed` names these counts. Probabilities are whole multiples of 2**-64, exactly those with which
a key of 64 bits leads to each deviation; each deviation allowed has one part at least, so that the
counts which may lead to a figure have no gap.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, must_be
from discreet.numerics.arrays import FloatArray, IntArray, read_only

KeyArray = NDArray[np.uint64]

LARGEST = 100
ONE = 2**64  # keys
ROUNDS = 200  # of bisection, which halves what a float has in 64
NEAR = 1e-9  # of a limit of the variance, where it counts as that limit
AGREES = 1e-12  # of mean and variance, with what was asked, by the size of the largest deviation


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseRule:
    """What noise is asked for.

    `variance` of it, `largest` deviation up or down, no published figure from 1 to `small`, and
    the probability `keep` that a count stays as it is; None leaves that open.

    Checked: large counts can have this variance within the largest deviation, and small ones can
    become something that may be published.
    """

    variance: float
    largest: int = 5
    small: int = 0
    keep: float | None = None

    def __post_init__(self) -> None:
        if not _is_whole(self.largest) or not 1 <= self.largest <= LARGEST:
            raise InputError(must_be("max", f"a whole number from 1 to {LARGEST}", self.largest))
        if not _is_whole(self.small) or not 0 <= self.small < self.largest:
            rule = f"a whole number from 0, below max={self.largest}"
            raise InputError(must_be("small", rule, self.small))
        if self.keep is not None and not (_is_number(self.keep) and 0 < self.keep < 1):
            raise InputError(must_be("keep", "above 0 and below 1", self.keep))
        if not _is_number(self.variance) or not 0 < self.variance < float("inf"):
            raise InputError(must_be("variance", "a number above 0", self.variance))
        self._check_room()

    def _check_room(self) -> None:
        changed = 1.0 if self.keep is None else 1.0 - self.keep
        most, given = changed * self.largest**2, f"max={self.largest}"
        if self.keep is not None:
            given += f" and keep={self.keep:g}"
        if self.variance >= most * (1 - NEAR):
            remedy = "raise max" if self.keep is None else "raise max, or lower keep"
            rule = f"below {most:g} with {given}"
            raise InputError(must_be("variance", rule, f"{self.variance:g}", remedy=remedy))
        if self.keep is not None and self.variance <= changed * (1 + NEAR):
            rule = f"above {changed:g} with keep={self.keep:g}, since what changes does so by 1"
            raise InputError(
                must_be("variance", rule, f"{self.variance:g}", remedy="raise one of them")
            )

    @property
    def last(self) -> int:
        """The count from which on all have the same distribution."""
        return self.largest + (self.small + 1 if self.small else 0)

    def allowed(self, count: int) -> IntArray:
        """The deviations by which a count may be published."""
        v = np.arange(-self.largest, self.largest + 1)
        figures = count + v
        fits = (figures == 0) | (figures > self.small)
        return np.asarray(v[fits & (count > 0)] if count else np.zeros(1, dtype=np.int64))


@dataclass(frozen=True, kw_only=True)
class PerturbationTable:
    """The distribution of each count's deviation; the last row is that of all larger counts.

    `shares[i][v + largest]` is the probability of deviation v of count i, times 2**64 and exactly.
    `relaxed` are the counts whose variance could not be the one asked for.
    """

    rule: NoiseRule
    shares: tuple[tuple[int, ...], ...]
    relaxed: tuple[int, ...]

    @property
    def deviations(self) -> IntArray:
        """All deviations, from the lowest."""
        return np.arange(-self.rule.largest, self.rule.largest + 1)

    @cached_property
    def probabilities(self) -> FloatArray:
        """The probability of each deviation (columns) of each count (rows)."""
        return read_only(np.array([[share / ONE for share in row] for row in self.shares]))

    @property
    def means(self) -> FloatArray:
        """The mean deviation of each count: 0 but for the last digits."""
        return np.asarray(self.probabilities @ self.deviations)

    @property
    def variances(self) -> FloatArray:
        """The variance of each count's deviation."""
        return np.asarray(self.probabilities @ self.deviations**2)

    def deviation(self, counts: IntArray, keys: KeyArray) -> IntArray:
        """The deviation of each count by its key, by the inverse of the distribution function."""
        rows = np.minimum(counts, self.rule.last)
        found = np.zeros(rows.shape, dtype=np.int64)
        for row in np.unique(rows).tolist():
            of_row = rows == row
            found[of_row] = self._of_row(row, keys[of_row])
        return found

    def _of_row(self, row: int, keys: KeyArray) -> IntArray:
        possible = [v for v, share in enumerate(self.shares[row]) if share]
        ends = accumulate(self.shares[row][v] for v in possible)
        last = np.array([end - 1 for end in ends], dtype=np.uint64)
        places = np.array(possible)[np.searchsorted(last, keys, side="left")]
        return np.asarray(places - self.rule.largest, dtype=np.int64)

    def log_probability(self, published: int) -> tuple[int, FloatArray]:
        """The least count that may be published so, and log Pr(published | count) from there on,
        up to the greatest."""
        most = self.rule.largest
        counts = np.arange(max(0, published - most), published + most + 1)
        rows = np.minimum(counts, self.rule.last)
        chances = self.probabilities[rows, published - counts + most]
        possible = chances > 0
        return int(counts[possible][0]), np.log(chances[possible])


@lru_cache(maxsize=32)
def perturbation_table(rule: NoiseRule) -> PerturbationTable:
    """The table of a rule: for each count the distribution of greatest entropy, see the module."""
    rows, relaxed = [], []
    for count in range(rule.last + 1):
        chances, holds = _row(rule, count)
        rows.append(_whole(chances, rule.allowed(count) + rule.largest))
        if not holds:
            relaxed.append(count)
    return PerturbationTable(rule=rule, shares=tuple(rows), relaxed=tuple(relaxed))


def _row(rule: NoiseRule, count: int) -> tuple[FloatArray, bool]:
    """The distribution of one count's deviation, and whether it has the variance asked for."""
    found = np.zeros(2 * rule.largest + 1)
    allowed = rule.allowed(count)
    if count == 0:
        found[rule.largest] = 1.0
        return found, True
    kept = rule.keep if rule.keep is not None and 0 in allowed else 0.0
    moves = allowed[allowed != 0] if kept else allowed
    chances, holds = greatest_entropy(moves, rule.variance / (1 - kept))
    found[moves + rule.largest] = (1 - kept) * chances
    found[rule.largest] += kept
    return found, holds


def greatest_entropy(values: IntArray, variance: float) -> tuple[FloatArray, bool]:
    """The distribution on some whole numbers of greatest entropy with mean 0 and this variance.

    Where no distribution has it, see the module; False then stands beside it.

    Checked: there are values on both sides of 0.
    """
    if not values.min() < 0 < values.max():
        raise InputError(must_be("values", "on both sides of 0", "on one"))
    below, above = int(values[values < 0].max()), int(values[values > 0].min())
    least = 0.0 if 0 in values else float(-below * above)
    most = float(-values.min() * values.max())
    if variance >= most * (1 - NEAR):
        return _centred(values / np.abs(values).max(), 0.0), False
    if variance <= least * (1 + NEAR):
        found = np.zeros(len(values))
        found[values == below], found[values == above] = above, -below
        return found / (above - below), abs(variance - least) <= NEAR * least
    return _with_variance(values, variance), True


def _with_variance(values: IntArray, variance: float) -> FloatArray:
    """p ∝ exp(a x + b x²) with mean 0 and the variance, x being values by the size of the largest.

    On distributions with mean 0 the variance rises with b: its derivative is what is left of the
    variance of x² once x is regressed out.
    """
    size = float(np.abs(values).max())
    x, wanted = values / size, variance / size**2
    low, high = -1.0, 1.0
    while _centred(x, low) @ x**2 > wanted:
        low *= 2
    while _centred(x, high) @ x**2 < wanted:
        high *= 2
    b = 0.0
    for _ in range(ROUNDS):
        p = _centred(x, b)
        off = float(p @ x**2) - wanted
        low, high = (b, high) if off < 0 else (low, b)
        slope = float(p @ x**4 - (p @ x**2) ** 2 - (p @ x**3) ** 2 / (p @ x**2))
        step = b - off / slope if slope > 0 else low
        b = step if low < step < high else (low + high) / 2
        if abs(off) <= AGREES * wanted / 100:
            break
    return _checked(p, x, wanted)


def _centred(x: FloatArray, b: float) -> FloatArray:
    """p ∝ exp(a x + b x²) with the a that makes its mean 0; the mean rises with a."""
    low, high = -1.0, 1.0
    while _tilted(x, low, b) @ x > 0:
        low *= 2
    while _tilted(x, high, b) @ x < 0:
        high *= 2
    a = 0.0
    for _ in range(ROUNDS):
        p = _tilted(x, a, b)
        mean = float(p @ x)
        low, high = (a, high) if mean < 0 else (low, a)
        slope = float(p @ x**2) - mean**2
        step = a - mean / slope if slope > 0 else low
        if abs(step - a) <= 1e-16 * max(1.0, abs(a)):
            break
        a = step if low < step < high else (low + high) / 2
    return p


def _tilted(x: FloatArray, a: float, b: float) -> FloatArray:
    logs = a * x + b * x**2
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def _checked(p: FloatArray, x: FloatArray, wanted: float) -> FloatArray:
    """The distribution, if its sum, mean and variance are what they must be."""
    off = max(abs(float(p.sum()) - 1), abs(float(p @ x)), abs(float(p @ x**2) - wanted))
    if off > AGREES:
        rule = "one of which a table can be computed to 1e-12"
        raise InputError(must_be("variance", rule, "another", remedy="change it a little"))
    return p


def _whole(chances: FloatArray, allowed: IntArray) -> tuple[int, ...]:
    """Probabilities as whole parts of 2**64, one at least at each place that is allowed.

    What rounding leaves goes to the largest.
    """
    parts = [round(p * ONE) for p in chances.tolist()]
    for place in allowed.tolist():
        parts[place] = max(1, parts[place])
    parts[parts.index(max(parts))] += ONE - sum(parts)
    return tuple(parts)


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
