"""Tables whose counts lie within bounds and add up to n: their number and distribution.

One equation over all cells, so that sums over all tables are products of polynomials: the weights
of a cell by its count, multiplied cell by cell. All numbers are positive, so that nothing cancels.
Weights may be multiplied by e^(λ Σ f) = e^(λ n), one factor for all tables; λ is such that cells
meet n on average, and floats hold what matters.
"""

import math
from dataclasses import dataclass
from itertools import accumulate, product

import numpy as np

from discreet.belief.count_belief import (
    Mixture,
    TableDistribution,
    mixed_distribution,
    prior_named,
)
from discreet.clock import work
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.sums.marginals import NEGLIGIBLE, Posterior
from discreet.fiber.system.linear_system import Statement, System, system_of
from discreet.fiber.system.priors import Prior, log_ratio
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.rounding import EPSILON

MOST_PRODUCTS = 2_000_000_000
PRODUCT_SECONDS = 1e-9  # a multiplication and an addition of floats
WHOLE_SECONDS = 1e-7  # the same of whole numbers of any size
MOST_WHOLE = 20_000_000
HALVINGS = 200


@dataclass(frozen=True, slots=True)
class Within:
    """Counts from `lower` to `upper` that add up to n; trusted: some do."""

    n: int
    lower: tuple[int, ...]
    upper: tuple[int, ...]

    @property
    def spare(self) -> int:
        """What is left of n above the lower bounds."""
        return self.n - sum(self.lower)

    @property
    def widths(self) -> list[int]:
        """By how much each count can exceed its lower bound."""
        return [min(b - a, self.spare) for a, b in zip(self.lower, self.upper, strict=True)]

    def count(self) -> int:
        """How many tables there are. Raises BudgetExceeded where that takes too long.

        Compositions of what is to spare, less those that exceed an upper bound (inclusion and
        exclusion), or cell by cell by running sums, whichever is less work.
        """
        widths = [width for width in self.widths if width > 0]
        by_sums, by_sets = len(widths) * (self.spare + 1), 2.0 ** len(widths)
        if min(by_sums, by_sets) > MOST_WHOLE:
            raise BudgetExceeded(f"{len(widths)} counts within bounds are too many to count tables")
        work(WHOLE_SECONDS * min(by_sums, by_sets))
        if by_sets < by_sums:
            return _by_sets(widths, self.spare)
        return _by_sums(widths, self.spare)

    def system(self) -> System:
        """The same as equations and limits."""
        pairs = zip(self.lower, self.upper, strict=True)
        limits = [
            Statement(cells=np.array([j]), low=a, high=b, name=f"f{j}")
            for j, (a, b) in enumerate(pairs)
        ]
        cells = np.arange(len(self.lower))
        return system_of(len(cells), [*limits, Statement(cells=cells, low=self.n, high=self.n,
                                                         name="n")])  # fmt: skip

    def distribution(self, prior: str) -> TableDistribution:
        """The distribution of the table and its cells. Raises BudgetExceeded."""
        chosen, widths = prior_named(prior), self.widths
        products = 2.0 * sum(widths) * (self.spare + 1)
        if products > MOST_PRODUCTS:
            raise BudgetExceeded(f"{products:.0e} products of weights are too many")
        work(PRODUCT_SECONDS * products)
        best = self._most_even() if prior == "multinomial" else self._first()
        found = self._posterior(chosen, best)
        return mixed_distribution(Mixture(chosen, (found,), np.zeros(1), ("",), ("",), (best,)))

    def _first(self) -> IntArray:
        """The table with the least last count, then the least one before it, and so on."""
        left, found = self.spare, list(self.lower)
        for j, width in enumerate(self.widths):
            found[j] += min(width, left)
            left -= min(width, left)
        return np.array(found, dtype=np.int64)

    def _most_even(self) -> IntArray:
        """The table of the least ∏ f!: all counts at one level, within their bounds."""
        low, high = np.array(self.lower), np.array(self.upper)
        below, above = 0, self.n
        while below < above:  # the greatest level that n is not too small for
            middle = (below + above + 1) // 2
            if int(np.clip(middle, low, high).sum()) <= self.n:
                below = middle
            else:
                above = middle - 1
        found: IntArray = np.clip(below, low, high).astype(np.int64)
        more = np.flatnonzero((found == below) & (found < high))[: self.n - int(found.sum())]
        found[more] += 1
        return found

    def _posterior(self, prior: Prior, best: IntArray) -> Posterior:
        widths = self.widths
        logs = [
            log_ratio(prior, np.full(w + 1, j), best[j], self.lower[j] + np.arange(w + 1))
            for j, w in enumerate(widths)
        ]
        tilt = _tilt(logs, self.lower, self.n)
        tilted = [one + tilt * (self.lower[j] + np.arange(len(one)) - best[j])
                  for j, one in enumerate(logs)]  # fmt: skip
        weights = [np.exp(one - one.max()) for one in tilted]
        before = _messages(weights, self.spare)
        after = _messages(weights[::-1], self.spare)[::-1]
        probabilities, log_z = [], 0.0
        for j, own in enumerate(weights):
            (left, left_log), (right, right_log) = before[j], after[j + 1]
            turned = np.zeros(len(own) + len(left) - 1)  # turned[b] = right[spare − b]
            first = self.spare - np.arange(len(turned))
            inside = (first >= 0) & (first < len(right))
            turned[inside] = right[first[inside]]
            p = own * np.correlate(turned, left, "valid")
            log_z = math.log(p.sum()) + left_log + right_log + float(tilted[j].max())
            probabilities.append(p / p.sum())
        others = [float(one.max()) for one in tilted]
        log_z += math.fsum(others) - others[-1]
        pairs = list(zip(probabilities, logs, strict=True))
        mean = math.fsum(float(np.dot(p[p > 0], w[p > 0])) for p, w in pairs)
        size = math.fsum(float(np.abs(w[p > NEGLIGIBLE]).max()) for p, w in pairs)
        cells = np.arange(len(best))
        return Posterior(
            system=self.system(), prior=prior, lower=np.array(self.lower, dtype=np.int64),
            probabilities=probabilities, start=best, log_relative=log_z,
            log_normaliser=math.fsum([*prior.log_weight(cells, best), log_z]),
            entropy=max(0.0, (log_z - mean) / math.log(2.0)),
            relative_error=EPSILON * (4.0 * size + 4.0 * len(best) * (self.spare + 1)),
        )  # fmt: skip


def _by_sets(widths: list[int], spare: int) -> int:
    """Σ over sets of cells that exceed their bounds of ± the compositions of what is then left."""
    k, total = len(widths), 0
    if k == 0:
        return int(spare == 0)
    for chosen in product((0, 1), repeat=k):
        left = spare - sum(w + 1 for w, one in zip(widths, chosen, strict=True) if one)
        if left >= 0:
            total += (-1) ** sum(chosen) * math.comb(left + k - 1, k - 1)
    return total


def _by_sums(widths: list[int], spare: int) -> int:
    """Ways to spend 0 … spare on the cells so far; a further cell adds those of a window."""
    ways = [1] + [0] * spare
    for width in widths:
        summed = [0, *accumulate(ways)]
        ways = [summed[s + 1] - summed[max(0, s - width)] for s in range(spare + 1)]
    return ways[spare]


def _tilt(logs: list[FloatArray], lower: tuple[int, ...], n: int) -> float:
    """λ such that cells weighed by themselves have means that add up to n; by halving."""

    def gap(tilt: float) -> float:
        total = 0.0
        for low, one in zip(lower, logs, strict=True):
            values = np.arange(len(one))
            weight = one + tilt * values
            p = np.exp(weight - weight.max())
            total += low + float(p @ values / p.sum())
        return total - n

    low, high = -50.0, 50.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if high - low < 1e-6:
            break
        low, high = (middle, high) if gap(middle) < 0 else (low, middle)
    return 0.5 * (low + high)


def _messages(weights: list[FloatArray], spare: int) -> list[tuple[FloatArray, float]]:
    """Products of the first 0, 1, 2, … polynomials up to the power `spare`, each with the
    logarithm of the factor that was taken out of it."""
    found: list[tuple[FloatArray, float]] = [(np.ones(1), 0.0)]
    for one in weights:
        before, log_scale = found[-1]
        after = np.convolve(before, one)[: spare + 1]
        scale = float(after.max())
        found.append((after / scale, log_scale + math.log(scale)))
    return found
