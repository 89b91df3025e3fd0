"""An intruder's distribution over tables in closed form, for the margins where there is one.

* One margin (or the total alone): each entry is spread over its k cells independently of the
  others. With weights w(x) on cells and Z_k(n) their sum over all ways to spread n persons,

      Pr(x) = w(x) Z_{k−1}(n − x) / Z_k(n),
      Z_k(n) = k^n / n!  (multinomial),    Γ(kα + n) / (Γ(kα) n!)  (Dirichlet; α = 1 is uniform).

* Decomposable margins under the multinomial prior, or a model they hold: records are matched along
  the junction tree (`matched_distribution`); variables in no margin split each count evenly.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, log

import numpy as np
from scipy.special import gammaln

from discreet.belief.belief import Exact, checked_cell, checked_cells
from discreet.belief.exact.matched_distribution import MatchedDistribution, matched_distribution
from discreet.belief.intruder_priors import LogLinearPrior
from discreet.belief.models.generators import HierarchicalModel
from discreet.fiber.bounds.cell_bounds import bounds
from discreet.fiber.bounds.contract import Bounds
from discreet.fiber.system.margins import Margins
from discreet.fiber.system.priors import DirichletMultinomial, Multinomial, Prior, Uniform
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.gamma_ratio import log_factorial_difference, log_gamma_ratio
from discreet.numerics.graphs import junction_tree

MOST_VALUES = 1_000_000  # of a cell whose distribution is written out
MOST_SUMMED = 512  # cells of a table whose entropy is summed
BITS = log(2.0)
CLOSED = "exact, in closed form"


class ClosedBelief(Exact):
    """A distribution given margins alone: of each cell and each table, exact but for rounding."""

    margins: Margins
    method: str

    @property
    def lower(self) -> IntArray:
        """The least value of each cell."""
        return self._bounds.lower

    @property
    def upper(self) -> IntArray:
        """The greatest value of each cell."""
        return self._bounds.upper

    @cached_property
    def _bounds(self) -> Bounds:
        return bounds(self.margins)

    def probability(self, table: IntArray) -> Outcome:
        """The probability of a whole table; 0 if it has other margins."""
        cells = checked_cells(table, self.margins.n_cells).reshape(self.margins.sizes)
        fits = all(
            np.array_equal(cells.sum(axis=_others(axes, cells.ndim)), own)
            for axes, own in self.margins.tables.items()
        )
        value = exp(min(self.log_probability(cells), 0.0)) if fits else 0.0
        return Figure(value=value, how=How.EXACT)

    @abstractmethod
    def log_probability(self, table: IntArray) -> float:
        """log Pr(F = table). Trusted: the table has the margins."""

    @abstractmethod
    def entropy(self) -> Outcome:
        """Entropy of the distribution over tables [bits]."""


def closed_belief(margins: Margins, prior: Prior | LogLinearPrior) -> ClosedBelief | None:
    """The distribution given the margins, or None where it has no closed form here."""
    if isinstance(prior, LogLinearPrior):
        own = matched_distribution(margins, prior.model)
        every = tuple(range(len(margins.sizes)))
        return None if own is None else Matched(margins, every, own, 1)
    if margins.total > MOST_VALUES:
        return None
    if len(margins.tables) == 1:
        return _one_margin(margins, prior)
    return _matched(margins) if isinstance(prior, Multinomial) else None


def _others(axes: Sequence[int], n_axes: int) -> tuple[int, ...]:
    return tuple(axis for axis in range(n_axes) if axis not in axes)


def has_closed_form(margins: Margins, prior: Prior) -> bool:
    """Whether there is one, without finding it."""
    if margins.total > MOST_VALUES:
        return False
    if len(margins.tables) == 1:
        return isinstance(prior, Multinomial) or _alpha(prior) is not None
    return isinstance(prior, Multinomial) and junction_tree(margins.tables) is not None


@dataclass(frozen=True)
class OneMargin(ClosedBelief):
    """The distribution given one margin; `alpha` is None for the multinomial prior."""

    margins: Margins
    alpha: float | None
    method: str = CLOSED

    @property
    def axes(self) -> tuple[int, ...]:
        """The variables of the margin."""
        return next(iter(self.margins.tables))

    @property
    def entries(self) -> IntArray:
        """The margin itself."""
        return self.margins.tables[self.axes]

    @cached_property
    def spread(self) -> int:
        """Cells that share an entry."""
        return self.margins.n_cells // self.entries.size

    def cell(self, cell: int) -> dict[int, float]:
        """The distribution of one cell: binomial or beta-binomial."""
        levels = np.unravel_index(checked_cell(cell, self.margins.n_cells), self.margins.sizes)
        return self._of_entry(int(self.entries[tuple(levels[axis] for axis in self.axes)]))

    def _of_entry(self, n: int) -> dict[int, float]:
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

    def entropy(self) -> Outcome:
        """Σ over entries of log Z(n) − k E log w [bits]."""
        total = 0.0
        for n, times in zip(*np.unique(self.entries, return_counts=True), strict=True):
            told = self._of_entry(int(n))
            logs = self._log_weight(np.fromiter(told, dtype=np.int64, count=len(told)))
            mean = float(np.dot(list(told.values()), logs))
            whole = float(self._log_sum(np.array(n), self.spread))
            total += int(times) * (whole - self.spread * mean)
        return Figure(value=max(total, 0.0) / BITS, how=How.EXACT)

    def _log_weight(self, values: IntArray) -> FloatArray:
        found: FloatArray = -gammaln(values + 1.0)
        return found if self.alpha is None else found + log_gamma_ratio(self.alpha, values)

    def _log_sum(self, totals: IntArray, cells: int) -> FloatArray:
        if self.alpha is None:
            return np.asarray(totals * np.log(cells) - gammaln(totals + 1.0))
        return np.asarray(log_gamma_ratio(cells * self.alpha, totals) - gammaln(totals + 1.0))


@dataclass(frozen=True)
class Matched(ClosedBelief):
    """The distribution by matching records; variables in no margin split each count evenly in
    `spread`.
    """

    margins: Margins
    covered: tuple[int, ...]
    distribution: MatchedDistribution
    spread: int
    method: str = "exact, by matching records along the junction tree"

    def cell(self, cell: int) -> dict[int, float]:
        """The distribution of the cell of the covered variables, thinned to one of `spread` equal
        parts.
        """
        levels = np.unravel_index(checked_cell(cell, self.margins.n_cells), self.margins.sizes)
        whole = self.distribution.cell([int(levels[axis]) for axis in self.covered])
        if self.spread == 1:
            return whole
        found = np.zeros(max(whole) + 1)
        for n, p in whole.items():
            found[: n + 1] += p * _binomial(n, 1.0 / self.spread)
        return {q: float(p) for q, p in enumerate(found) if p > 0}

    @property
    def log_normaliser(self) -> tuple[float, float]:
        """log Σ 1/∏x! over all tables, and 0 for its error."""
        return self.distribution.log_normaliser + self.margins.total * log(self.spread), 0.0

    def log_probability(self, table: IntArray) -> float:
        """−Σ log x! − log Z, where Z is that of the covered variables times spread^n."""
        return self.distribution.log_probability(table) - self.margins.total * log(self.spread)

    def entropy(self) -> Outcome:
        """By the distributions of all cells [bits], where they are few."""
        if self.margins.n_cells > MOST_SUMMED:
            return Unavailable(f"not summed over more than {MOST_SUMMED} cells")
        if self.spread > 1:
            return Unavailable("not summed where some variables are in no margin")
        return Figure(value=self.distribution.entropy(), how=How.EXACT)


def _one_margin(margins: Margins, prior: Prior) -> OneMargin | None:
    alpha = _alpha(prior)
    if alpha is None and not isinstance(prior, Multinomial):
        return None
    return OneMargin(margins, alpha)


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
    distribution = matched_distribution(own, HierarchicalModel.of(len(covered), list(tables)))
    if distribution is None:
        return None
    spread = margins.n_cells // own.n_cells
    return Matched(margins, covered, distribution, spread, CLOSED)


def _binomial(n: int, p: float) -> FloatArray:
    """Pr(Binomial(n, p) = q) for q from 0 to n."""
    q = np.arange(n + 1)
    logs = gammaln(n + 1.0) - gammaln(q + 1.0) - gammaln(n - q + 1.0)
    found: FloatArray = np.exp(logs + q * np.log(p) + (n - q) * np.log1p(-p))
    return found
