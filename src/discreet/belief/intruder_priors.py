"""What an intruder believes of tables before he has seen any publication."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
from scipy.special import gammaln

from discreet.belief.factors import Factor
from discreet.belief.models.generators import HierarchicalModel
from discreet.errors import InputError, must_be
from discreet.fiber.system.linear_system import Statement
from discreet.fiber.system.priors import (
    DirichletMultinomial,
    Multinomial,
    Prior,
    ProductForm,
    Uniform,
    log_ratio,
)
from discreet.numerics.arrays import FloatArray, IntArray, read_only
from discreet.numerics.gamma_ratio import log_gamma_ratio

NAMES = ("multinomial", "dirichlet", "uniform")
ALPHA = 0.5


@dataclass(frozen=True, slots=True)
class LogLinearPrior:
    """Cell probabilities that obey a log-linear model, Dirichlet(`alpha`) before any table.

    `alpha` is one number for all cells, or an array of one a cell in the shape of the table.
    """

    model: HierarchicalModel
    alpha: float | FloatArray = ALPHA

    def __post_init__(self) -> None:
        if not np.all(np.isfinite(self.alpha) & (np.asarray(self.alpha) > 0)):
            raise InputError(must_be("alpha", "a number above 0", self.alpha))

    def parameters(self, sizes: Sequence[int]) -> FloatArray:
        """One parameter a cell, in the shape of the table."""
        found: FloatArray = np.broadcast_to(np.asarray(self.alpha, dtype=np.float64), tuple(sizes))
        return found


def prior_named(name: str, n_cells: int) -> Prior:
    """`multinomial` (1/∏x!), `dirichlet` (Dirichlet–multinomial with 0.5 a cell) or `uniform`."""
    if name == "dirichlet":
        return DirichletMultinomial(np.full(n_cells, ALPHA))
    if name in NAMES:
        return Multinomial() if name == "multinomial" else Uniform()
    near = get_close_matches(name, NAMES, n=1)
    remedy = f"did you mean {near[0]!r}?" if near else None
    raise InputError(must_be("prior", f"one of {', '.join(NAMES)}", repr(name), remedy=remedy))


def log_weights(prior: Prior, tables: IntArray) -> FloatArray:
    """log of the prior's weight of each table (rows), whatever their totals.

    Priors are products over cells for a given number of persons. Where tables differ in it, every
    number is as probable as any other: the weight is divided by its sum over all tables of so many
    persons. Uniform weighs tables, and needs no such thing.
    """
    columns = np.broadcast_to(np.arange(tables.shape[1]), tables.shape)
    found = prior.log_weight(columns, tables).sum(axis=1)
    totals = tables.sum(axis=1)
    if len(tables) and totals.min() != totals.max():
        found = found - _log_sum(prior, totals, tables.shape[1])
    return np.asarray(found)


def _log_sum(prior: Prior, totals: IntArray, n_cells: int) -> FloatArray:
    """log Σ ∏ w(x) over all tables of a total, for each total."""
    if isinstance(prior, Multinomial):
        return np.asarray(totals * np.log(n_cells) - gammaln(totals + 1.0))
    if isinstance(prior, ProductForm):
        return np.asarray(totals * np.log(prior.theta.sum()) - gammaln(totals + 1.0))
    if isinstance(prior, DirichletMultinomial):
        whole = np.full(totals.shape, float(prior.alpha.sum()))
        return np.asarray(log_gamma_ratio(whole, totals) - gammaln(totals + 1.0))
    return np.zeros(totals.shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class FactoredPrior:
    """A prior on cells times the likelihood of figures, as a product over columns.

    The first `n_cells` columns are cells; each further one is what a figure's sum lacks to its
    upper limit. Column j has the weights `flat[start[j] : start[j + 1]]`, from value `low[j]`
    upward for a cell, from the upper limit downward for the others; none where that is empty.
    """

    prior: Prior
    n_cells: int
    start: IntArray
    low: IntArray
    flat: FloatArray
    name: str = "prior and likelihood"

    def __post_init__(self) -> None:
        for array in (self.start, self.low, self.flat):
            read_only(array)

    def log_weight(self, cells: IntArray, values: IntArray) -> FloatArray:
        """log of the prior of a cell's value, plus that of the figure about it."""
        cells, values = np.asarray(cells), np.asarray(values)
        is_cell = cells < self.n_cells
        before = self.prior.log_weight(np.where(is_cell, cells, 0), np.where(is_cell, values, 0))
        return np.asarray(np.where(is_cell, before, 0.0) + self._told(cells, values))

    def _told(self, cells: IntArray, values: IntArray) -> FloatArray:
        """log of what the figure about each column says of a value."""
        length = self.start[cells + 1] - self.start[cells]
        place = np.where(cells < self.n_cells, values - self.low[cells], length - 1 - values)
        inside = (place >= 0) & (place < length)
        told = self.flat[np.where(inside, self.start[cells] + place, 0)]
        return np.asarray(np.where(inside, told, np.where(length == 0, 0.0, -np.inf)))

    def log_ratio(self, cells: IntArray, start: IntArray, values: IntArray) -> FloatArray:
        """The same over that at another value, of a weight above zero."""
        cells, is_cell = np.asarray(cells), np.asarray(cells) < self.n_cells
        own, first, then = (np.where(is_cell, part, 0) for part in (cells, start, values))
        ratio = log_ratio(self.prior, own, first, then)
        told = self._told(cells, np.asarray(values)) - self._told(cells, np.asarray(start))
        return np.asarray(np.where(is_cell, ratio, 0.0) + told)


def with_factors(
    prior: Prior, n_cells: int, known: Sequence[Statement], factors: Sequence[Factor]
) -> tuple[FactoredPrior, list[Statement]]:
    """The prior with the figures' likelihood in it, and the statements of what is known.

    A figure about one cell weighs that cell. One about a sum gets a column y of its own, tied by
    Σ x + y = the largest possible sum; it stands for the range of the sum, which is left out.
    """
    own: dict[int, Factor] = {}
    tied: list[Factor] = []
    for factor in factors:
        cell = int(factor.cells[0])
        if len(factor.cells) == 1 and cell not in own:
            own[cell] = factor
        else:
            tied.append(factor)
    columns = [own.get(cell) for cell in range(n_cells)] + tied
    lengths = [0 if one is None else len(one.log_probability) for one in columns]
    weights = [one.log_probability for one in columns if one is not None]
    found = FactoredPrior(
        prior=prior,
        n_cells=n_cells,
        start=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        low=np.array([0 if one is None else one.low for one in columns], dtype=np.int64),
        flat=np.concatenate([*weights, [0.0]]),
    )
    replaced = {(one.name, one.low, one.high) for one in tied}
    kept = [s for s in known if (s.name, s.low, s.high) not in replaced]
    return found, kept + _ties(tied, n_cells)


def _ties(tied: Sequence[Factor], n_cells: int) -> list[Statement]:
    found: list[Statement] = []
    for i, factor in enumerate(tied):
        column, span = n_cells + i, factor.high - factor.low
        cells = np.append(factor.cells, column)
        found.append(Statement(cells=cells, low=factor.high, high=factor.high, name=factor.name))
        found.append(Statement(cells=np.array([column]), low=0, high=span, name=factor.name))
    return found
