"""What is drawn in secret for a suppression: decoys, and what it costs to hide each figure.

A pattern of least cost is a function of the table, and whoever owns this program can ask of every
table that fits whether it would have led to the same pattern. What gives most away is *which* of
the hidden figures are the small ones. So figures that are not small are hidden with them, each by a
chance of its own, and which were which is never told.

The chance follows what anybody would expect of a figure. With e its expected count if variables had
nothing to do with each other, and Y a Poisson number of mean e,

    π = Pr(Y is sensitive | Y may be hidden),      chance = κ π / (1 − π), from `LEAST` to `MOST`:

where small counts are to be expected, decoys are as frequent as these, and where none is, few do.
Costs are e · exp(Z), Z standard normal: by them nobody can tell which of two patterns was cheaper.
Both hang on one-way margins alone, in which sensitive entries count as their mean.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import poisson

from discreet.masks.suppression_figures import Figures, Rule, Zeros
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray, read_only

KAPPA = 0.4
LEAST, MOST = 0.02, 0.5
LEAST_OF_SUMS = 0.002  # of a figure that sums others: to hide one takes much else with it
SCALE = 2**26  # all costs together, in whole numbers
STREAM = 5  # of a seed: no other draws of this program begin as these do


@dataclass(frozen=True, slots=True)
class Secret:
    """What one draw decides: a figure is a decoy where `uniform` is below its chance, and costs its
    expected count times exp(`normal`) to hide."""

    uniform: FloatArray
    normal: FloatArray

    def __post_init__(self) -> None:
        read_only(self.uniform)
        read_only(self.normal)

    @classmethod
    def of(cls, n: int, rng: np.random.Generator) -> "Secret":
        """For so many figures."""
        return cls(uniform=rng.random(n), normal=rng.standard_normal(n))


def secret_of(seed: int, n: int) -> Secret:
    """The draw that belongs to a seed: one for each table that goes out."""
    return Secret.of(n, np.random.default_rng([STREAM, seed]))


@dataclass(frozen=True, slots=True)
class Drawing:
    """How figures of a table are drawn: what is expected of each, and its chance to be a decoy."""

    expected: FloatArray
    chance: FloatArray

    @classmethod
    def of(cls, figures: Figures, rule: Rule, counts: IntArray) -> "Drawing":
        """For figures with these counts; 0 where a figure is sensitive, or is always shown."""
        expected = expected_counts(figures, rule, counts)
        may = rule.may_hide(counts) & ~figures.is_total & ~rule.is_sensitive(counts)
        return cls(expected, np.where(may, _chances(figures, rule, expected), 0.0))

    def decoys(self, secret: Secret) -> BoolArray:
        """Which figures are decoys."""
        return np.asarray(secret.uniform < self.chance)

    def costs(self, secret: Secret, *, alike: bool) -> IntArray:
        """What it costs to hide each, from 1; `alike` where all are expected to cost the same."""
        worth = np.ones_like(self.expected) if alike else self.expected
        raw = worth * np.exp(secret.normal)
        return np.asarray(np.maximum(np.rint(raw * (SCALE / raw.sum())), 1.0), dtype=np.int64)


def _chances(figures: Figures, rule: Rule, expected: FloatArray) -> FloatArray:
    """κ π / (1 − π) within its limits."""
    hidden_from = 1 if rule.zeros == Zeros.SHOWN else 0
    small_from = 0 if rule.zeros == Zeros.SENSITIVE else 1
    above = poisson.sf(rule.small, expected)
    small = poisson.cdf(rule.small, expected) - poisson.cdf(small_from - 1, expected)
    rest = np.maximum(poisson.sf(hidden_from - 1, expected) - small, above)
    odds = small / np.maximum(rest, np.finfo(np.float64).tiny)
    sizes = figures.n_summed
    least = np.where(sizes == sizes.min(), LEAST, LEAST_OF_SUMS)
    return np.asarray(np.clip(KAPPA * odds, least, MOST))


def expected_counts(figures: Figures, rule: Rule, counts: IntArray) -> FloatArray:
    """The count of each figure if variables had nothing to do with each other, N ∏ (margin / N).

    Of each variable the finest table counts that says nothing of any other; without one its levels
    are as frequent as each other. Sensitive entries stand for their mean, so that they tell nothing
    of which is which.
    """
    sizes, total = figures.table.sizes, float(figures.table.total)
    levels = np.unravel_index(np.arange(figures.table.n_cells), sizes)
    cells = np.full(figures.table.n_cells, total)
    for own, size in zip(levels, sizes, strict=True):
        cells = cells * _shares(figures, rule, counts, own, size)[own]
    return np.asarray(np.maximum(figures.summed(cells), np.finfo(np.float64).tiny))


def _shares(figures: Figures, rule: Rule, counts: IntArray, own: IntArray, size: int) -> FloatArray:
    """The share of each level of a variable, as far as tables of it alone tell."""
    best = np.zeros(size, dtype=np.int64)  # the figure of each level; all one: the total
    told = False
    for homes in figures.homes:
        entry = np.full(size, -1, dtype=np.int64)
        entry[own] = homes
        if np.array_equal(entry[own], homes) and len(np.unique(entry)) > len(np.unique(best)):
            best, told = entry, True
    if not told:
        return np.full(size, 1.0 / size)
    entries, place, n_levels = np.unique(best, return_inverse=True, return_counts=True)
    known = counts[entries].astype(np.float64)
    unsure = rule.is_sensitive(counts[entries])
    if unsure.any():
        known[unsure] = known[unsure].mean()
    return np.asarray((known / n_levels)[place] / max(float(known.sum()), 1.0))
