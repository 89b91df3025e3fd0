"""Counts with discrete Laplace noise: two-sided geometric, with a stated ε of differential privacy.

Each figure of k tables that go out gets noise v of its own with

    Pr(v) = (1 − α)/(1 + α) · α^|v|,    α = exp(−ε/k),

a whole number of mean 0 and variance 2α/(1 − α)² (Ghosh, Roughgarden and Sundararajan 2009). ε is
shared equally by the tables. *Neighbours* are data that differ by one person who is in one and not
in the other. He is in one cell of each table, so that all figures of k tables change by k in all,
and the probability of any publication by a factor of at most exp(ε). Someone whose levels are
changed counts as one removed and one added: 2ε. Empty cells get noise like all others.

With `clamped` figures below 0 go out as 0, which needs no further ε; such a figure of a count x has
probability Pr(v ≤ −x) = α^x/(1 + α).

ε says nothing of what else is known. Here, as in every mask, an intruder is taken to know the
number of persons (dobra 4), and what he believes is found from all that he knows. Noise has no
limits: without the number of persons infinitely many tables would fit, so it is always known.

Noise is drawn in whole numbers alone, with exactly these probabilities (`numerics.rational_draws`),
from the bits of a generator that starts from the seed: what is promised is promised to those who
cannot find the seed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from discreet.belief.factors import Factor, product_of
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.masks.averaging import averaging_words
from discreet.masks.contract import (
    Axes,
    Masked,
    Parameter,
    PublishedTable,
    checked_counts,
    chosen_sets,
    entry_groups,
    entry_names,
    margin_sum,
    named_sets,
    sets_text,
    total_statement,
)
from discreet.masks.rounding import Rounded, checked_seed, estimate_from
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.rational_draws import LARGEST, discrete_laplace

NAME = "discrete-laplace"
LEAST, MOST = 0.001, 100.0  # epsilon
FAR = 700.0  # −log of a probability that a float can just hold
MOST_COUNTS = 2**22  # persons from which on noise less probable than that is taken not to occur


@dataclass(frozen=True, slots=True, kw_only=True)
class Laplace:
    """Discrete Laplace noise that falls by exp(−`rate`) with each step; see the module."""

    rate: Fraction
    clamped: bool = False

    @property
    def alpha(self) -> float:
        """The factor by which the probability falls with each step from 0."""
        return math.exp(-float(self.rate))

    @property
    def variance(self) -> float:
        """The variance of the noise, before figures below 0 are shown as 0."""
        return 2 * self.alpha / math.expm1(-float(self.rate)) ** 2

    def reach(self, total: int, largest: int) -> int:
        """The largest noise that is looked at: all that any count up to the total needs, but for
        very large totals, of which tables can be neither listed nor summed."""
        every = total + largest
        return every if total <= MOST_COUNTS else min(every, int(FAR / self.rate) + 1)

    def log_probability(self, deviations: IntArray) -> FloatArray:
        """log Pr(v) = log tanh(rate/2) − rate |v|, tanh(rate/2) being (1 − α)/(1 + α)."""
        rate = float(self.rate)
        return np.asarray(math.log(math.tanh(rate / 2)) - rate * np.abs(deviations))

    def log_probability_at_zero(self, counts: IntArray) -> FloatArray:
        """log Pr(v ≤ −x) = −rate x − log(1 + α): that a count is shown as 0 where it is clamped."""
        return np.asarray(-float(self.rate) * counts - math.log1p(self.alpha))


def add_laplace(
    table: Table,
    *,
    epsilon: float,
    seed: int,
    sets: Sequence[Sequence[str]] | None = None,
    clamp: bool = False,
) -> Masked:
    """Every figure of the named tables (the full one where left out) with noise of its own.

    `epsilon` is that of all tables together. `clamp` shows figures below 0 as 0. An intruder knows
    how noise is made and the number of persons, not the seed.

    Checked: epsilon is a decimal number from 0.001 to 100, names are variables of the table.
    """
    counts, chosen = checked_counts(table), chosen_sets(table, sets)
    noise = Laplace(rate=checked_epsilon(epsilon) / len(chosen), clamped=clamp)
    _check_rate(noise.rate)
    rng = np.random.default_rng(checked_seed(seed))
    noisy = [Rounded(axes, with_noise(margin_sum(counts, axes), noise, rng=rng)) for axes in chosen]
    factors = _factors(table, noisy, noise)
    return Masked(
        mask=NAME,
        title=_title(table, epsilon, chosen, clamp=clamp),
        source=table,
        published=tuple(PublishedTable(axes=part.axes, counts=part.counts) for part in noisy),
        known=(total_statement(table),),
        estimate=_estimate(table, noisy),
        effect=_effect(table, epsilon, noise, chosen),
        parameters=_parameters(table, epsilon, chosen, clamp=clamp),
        seed=int(seed),
        likelihood=product_of(factors),
        factors=factors,
    )


def with_noise(counts: IntArray, noise: Laplace, *, rng: np.random.Generator) -> IntArray:
    """Each count with noise of its own; not below 0 where it is clamped."""
    drawn = discrete_laplace(counts.size, noise.rate, rng=rng).reshape(counts.shape)
    return np.asarray(np.maximum(counts + drawn, 0) if noise.clamped else counts + drawn)


def checked_epsilon(epsilon: float) -> Fraction:
    """The decimal number that was given, exactly: 0.1 is a tenth.

    Raises InputError for one out of range.
    """
    is_number = isinstance(epsilon, int | float | np.integer | np.floating)
    if not is_number or isinstance(epsilon, bool) or not LEAST <= epsilon <= MOST:
        raise InputError(must_be("epsilon", f"a number from {LEAST:g} to {MOST:g}", epsilon))
    return Fraction(str(float(epsilon)))


def _check_rate(rate: Fraction) -> None:
    """Noise of this rate can be drawn in whole numbers of 64 bits."""
    if max(rate.numerator, rate.denominator) > LARGEST:
        remedy = "take a number of fewer decimals"
        raise InputError(must_be("epsilon", "a short decimal number", "another", remedy=remedy))


def _factors(table: Table, noisy: Sequence[Rounded], noise: Laplace) -> tuple[Factor, ...]:
    """For each figure its probability under every count up to the number of persons.

    All are windows on one array, since a table may have very many figures.
    """
    largest = max(int(np.abs(part.counts).max()) for part in noisy)
    reach = noise.reach(table.total, largest)
    logs = noise.log_probability(np.arange(-reach, reach + 1))
    at_zero = noise.log_probability_at_zero(np.arange(min(reach, table.total) + 1))
    found = []
    for part in noisy:
        groups, names = entry_groups(table, part.axes), entry_names(table, part.axes)
        for cells, figure, name in zip(groups, part.counts.ravel().tolist(), names, strict=True):
            low, high = max(0, figure - reach), min(table.total, figure + reach)
            window = logs[low - figure + reach : high - figure + reach + 1]
            own = at_zero if noise.clamped and figure == 0 else window
            found.append(Factor(cells=cells, low=low, log_probability=own, name=f"noisy {name}"))
    return tuple(found)


def _estimate(table: Table, noisy: Sequence[Rounded]) -> FloatArray:
    """What users put into cells: figures below 0 count as 0."""
    return estimate_from(table, [Rounded(p.axes, np.maximum(p.counts, 0)) for p in noisy])


def _title(table: Table, epsilon: float, sets: Sequence[Axes], *, clamp: bool) -> str:
    full = len(sets) == 1 and len(sets[0]) == len(table.names)
    part = "" if full else f" {sets_text(table, sets)}"
    return f"Laplace noise, epsilon {epsilon:g}{part}{', not below 0' if clamp else ''}"


def _effect(table: Table, epsilon: float, noise: Laplace, sets: Sequence[Axes]) -> str:
    each = f", {epsilon / len(sets):.3g} for each of {len(sets)} tables" if len(sets) > 1 else ""
    below = "Figures below 0 are shown as 0." if noise.clamped else "Figures may be below 0."
    return (
        f"Every figure of {sets_text(table, sets)}, empty ones too, has discrete Laplace noise of "
        f"its own, with variance {noise.variance:.3g}: epsilon {epsilon:g} for one person added or "
        f"removed{each}; it does not cover that a draw is chosen with a look at the true table. "
        f"{below}" + averaging_words(table.sizes, sets, noise.variance)
    )


def _parameters(
    table: Table, epsilon: float, sets: Sequence[Axes], *, clamp: bool
) -> MappingProxyType[str, Parameter]:
    return MappingProxyType(
        {"epsilon": float(epsilon), "clamp": clamp, "sets": named_sets(table, sets)}
    )
