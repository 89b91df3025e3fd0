"""An intruder's distribution over tables in closed form, for the margins where there is one.

* One margin (or the total alone): each entry is spread over its k cells independently of the
  others. With weights w(x) on cells and Z_k(n) their sum over all ways to spread n persons,

      Pr(x) = w(x) Z_{k−1}(n − x) / Z_k(n),
      Z_k(n) = k^n / n!  (multinomial),    Γ(kα + n) / (Γ(kα) n!)  (Dirichlet; α = 1 is uniform).

* Decomposable margins under the multinomial prior: records are matched along the junction tree
  (`tables.matched_distribution`); variables that stand in no margin split each count evenly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Protocol

import numpy as np
from scipy.special import gammaln

from discreet.belief.exact.matched_distribution import MatchedDistribution, matched_distribution
from discreet.belief.models.generators import HierarchicalModel
from discreet.fiber.system.margins import Margins
from discreet.fiber.system.priors import DirichletMultinomial, Multinomial, Prior, Uniform
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.gamma_ratio import log_factorial_difference, log_gamma_ratio
from discreet.numerics.graphs import junction_tree

MOST_VALUES = 1_000_000  # of a cell whose distribution is written out


class ClosedBelief(Protocol):
    """The distribution of a cell and the probability of a table, both exact but for rounding."""

    def cell(self, cell: int) -> dict[int, float]:
        """Pr(F(cell) = q) for every q of a probability that can be written."""

    def log_probability(self, table: IntArray) -> float:
        """log Pr(F = table). Trusted: the table has the margins."""


def closed_belief(margins: Margins, prior: Prior) -> ClosedBelief | None:
    """The distribution given the margins, or None where it has no closed form here."""
    if margins.total > MOST_VALUES:
        return None
    if len(margins.tables) == 1:
        return _one_margin(margins, prior)
    return _matched(margins) if isinstance(prior, Multinomial) else None


def has_closed_form(margins: Margins, prior: Prior) -> bool:
    """Whether there is one, without finding it."""
    if margins.total > MOST_VALUES:
        return False
    if len(margins.tables) == 1:
        return isinstance(prior, Multinomial) or _alpha(prior) is not None
    return isinstance(prior, Multinomial) and junction_tree(margins.tables) is not None


@dataclass(frozen=True)
class OneMargin:
    """The distribution given one margin; `alpha` is None for the multinomial prior."""

    sizes: tuple[int, ...]
    axes: tuple[int, ...]
    entries: IntArray
    alpha: float | None

    @cached_property
    def spread(self) -> int:
        """Cells that share an entry."""
        return prod(size for axis, size in enumerate(self.sizes) if axis not in self.axes)

    def cell(self, cell: int) -> dict[int, float]:
        """The distribution of one cell: binomial or beta-binomial."""
        levels = np.unravel_index(cell, self.sizes)
        n = int(self.entries[tuple(levels[axis] for axis in self.axes)])
        if self.spread == 1:
            return {n: 1.0}
        values = np.arange(n + 1)
        logs = self._log_weight(values) + self._log_sum(n - values, self.spread - 1)
        distribution = np.exp(logs - self._log_sum(np.array(n), self.spread))
        return {
            int(q): float(p)
            for q, p in zip(values, distribution / distribution.sum(), strict=True)
            if p > 0
        }

    def log_probability(self, table: IntArray) -> float:
        """log ∏ w(x) − Σ log Z_k(entry)."""
        if self.alpha is None:
            ways = int(self.entries.sum()) * float(np.log(self.spread))
            return log_factorial_difference(self.entries, np.asarray(table)) - ways
        weights = self._log_weight(np.ravel(table)).sum()
        return float(weights - self._log_sum(self.entries, self.spread).sum())

    def _log_weight(self, values: IntArray) -> FloatArray:
        found: FloatArray = -gammaln(values + 1.0)
        return found if self.alpha is None else found + log_gamma_ratio(self.alpha, values)

    def _log_sum(self, totals: IntArray, cells: int) -> FloatArray:
        if self.alpha is None:
            return np.asarray(totals * np.log(cells) - gammaln(totals + 1.0))
        return np.asarray(log_gamma_ratio(cells * self.alpha, totals) - gammaln(totals + 1.0))


@dataclass(frozen=True)
class Matched:
    """The distribution by matching records; variables in no margin split each count evenly in
    `spread`.
    """

    sizes: tuple[int, ...]
    covered: tuple[int, ...]
    distribution: MatchedDistribution
    spread: int
    total: int

    def cell(self, cell: int) -> dict[int, float]:
        """The distribution of the cell of the covered variables, thinned to one of `spread` equal
        parts.
        """
        levels = np.unravel_index(cell, self.sizes)
        whole = self.distribution.cell([int(levels[axis]) for axis in self.covered])
        if self.spread == 1:
            return whole
        found = np.zeros(max(whole) + 1)
        for n, p in whole.items():
            found[: n + 1] += p * _binomial(n, 1.0 / self.spread)
        return {q: float(p) for q, p in enumerate(found) if p > 0}

    def log_probability(self, table: IntArray) -> float:
        """−Σ log x! − log Z, where Z is that of the covered variables times spread^n."""
        return self.distribution.log_probability(table) - self.total * float(np.log(self.spread))


def _one_margin(margins: Margins, prior: Prior) -> OneMargin | None:
    ((axes, entries),) = margins.tables.items()
    alpha = _alpha(prior)
    if alpha is None and not isinstance(prior, Multinomial):
        return None
    return OneMargin(margins.sizes, axes, entries, alpha)


def _alpha(prior: Prior) -> float | None:
    """The parameter of a Dirichlet distribution alike in every cell, 1 for the uniform prior."""
    if isinstance(prior, Uniform):
        return 1.0
    if isinstance(prior, DirichletMultinomial) and np.ptp(prior.alpha) == 0:
        return float(prior.alpha[0])
    return None


def _matched(margins: Margins) -> Matched | None:
    covered = tuple(sorted({axis for axes in margins.tables for axis in axes}))
    sizes = tuple(margins.sizes[axis] for axis in covered)
    tables = {
        tuple(covered.index(axis) for axis in axes): table for axes, table in margins.tables.items()
    }
    names = tuple(margins.names[axis] for axis in covered)
    own = Margins(sizes=sizes, names=names, tables=tables)
    distribution = matched_distribution(own, HierarchicalModel.of(len(covered), _sets(tables)))
    if distribution is None:
        return None
    return Matched(
        margins.sizes, covered, distribution, prod(margins.sizes) // prod(sizes), margins.total
    )


def _sets(tables: dict[tuple[int, ...], IntArray]) -> Sequence[tuple[int, ...]]:
    return list(tables)


def _binomial(n: int, p: float) -> FloatArray:
    """Pr(Binomial(n, p) = q) for q from 0 to n."""
    q = np.arange(n + 1)
    logs = gammaln(n + 1.0) - gammaln(q + 1.0) - gammaln(n - q + 1.0)
    found: FloatArray = np.exp(logs + q * np.log(p) + (n - q) * np.log1p(-p))
    return found
