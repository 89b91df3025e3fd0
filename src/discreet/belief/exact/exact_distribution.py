"""The distribution of a hidden table under a log-linear model, in a form that can be summed
exactly.

With cell probabilities under a constrained Dirichlet(α) distribution (see `bayesian_fitting`) the
table's own distribution is known without any simulation in two cases:

* the model is decomposable, with cliques C and separators S (the saturated model has one clique):

      Pr(F) = n!/∏F! · Γ(α₊)/Γ(α₊+n) · ∏_C ∏ Γ(F_C+α_C)/Γ(α_C) / ∏_S ∏ Γ(F_S+α_S)/Γ(α_S),

  each margin of α being that of the table's (dawid and lauritzen 1993; an empty separator has the
  one entry n);
* the model's own margins are all released: then θ cancels, and Pr(F | released) ∝ 1/∏F!.

Entries of a clique or separator that are not released become columns of their own, tied to their
cells by an equation, so that the distribution is a product over columns and every exact method of
the fiber applies to it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from discreet.belief.models.generators import Axes, HierarchicalModel
from discreet.fiber.system.linear_system import Statement, System, system_of
from discreet.fiber.system.margins import Margins
from discreet.fiber.system.priors import Multinomial, Prior, log_ratio
from discreet.numerics.arrays import FloatArray, IntArray, read_only
from discreet.numerics.gamma_ratio import log_factorial_ratio, log_gamma_ratio
from discreet.numerics.graphs import junction_tree

Number = TypeVar("Number", np.int64, np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactDistribution:
    """A system whose first `n_cells` columns are the table, and a prior over its points.

    `log_constant` is what the log normaliser of the prior on the system lacks to be log Pr(R | A),
    the marginal likelihood of the released margins; None where that is not known in closed form.
    """

    system: System
    prior: Prior
    n_cells: int
    log_constant: float | None

    def log_weights(self, tables: IntArray) -> FloatArray:
        """log of the weight of each table (rows), up to the normaliser. Trusted: they fit."""
        points = completed_points(self.system, tables)
        columns = np.broadcast_to(np.arange(points.shape[1]), points.shape)
        found: FloatArray = self.prior.log_weight(columns, points).sum(axis=1)
        return found

    def log_ratios(self, tables: IntArray) -> FloatArray:
        """log of the weight of each table (rows) over that of the first one, to the last digit even
        where both are large."""
        points = completed_points(self.system, tables)
        columns = np.broadcast_to(np.arange(points.shape[1]), points.shape)
        first = np.broadcast_to(points[:1], points.shape)
        found: FloatArray = log_ratio(self.prior, columns, first, points).sum(axis=1)
        return found

    def log_weights_where_consistent(self, tables: IntArray) -> FloatArray:
        """The same of any tables, −inf where one does not fit."""
        points = completed_points(self.system, tables)
        fits = np.array([self.system.holds(self.system.completed(one)) for one in points])
        found = np.full(len(tables), -np.inf)
        if fits.any():
            found[fits] = self.log_weights(tables[fits])
        return found


def completed_points(system: System, tables: IntArray) -> IntArray:
    """The named columns of each table's point: its cells, and the columns tied to them."""
    n_cells = tables.shape[1]
    left = system.right - (system.matrix[:, :n_cells] @ tables.T).T
    points = np.zeros((len(tables), system.n_named), dtype=np.int64)
    points[:, :n_cells] = tables
    tied = system.matrix[:, n_cells : system.n_named].tocoo()
    points[:, n_cells + tied.col] = left[:, tied.row]
    return points


@dataclass(frozen=True, slots=True)
class ColumnPrior:
    """1/∏x! on cells, times Γ(y+α)/Γ(α) to the power `sign` on entries y = `most` − column.

    For the saturated model the entries are the cells themselves: `sign` 1 and `most` 0.
    """

    n_cells: int
    sign: IntArray
    most: IntArray
    alpha: FloatArray
    name: str = "log_linear"

    def __post_init__(self) -> None:
        for array in (self.sign, self.most, self.alpha):
            read_only(array)

    def log_weight(self, cells: IntArray, values: IntArray) -> FloatArray:
        """The logarithm of each column's factor."""
        is_cell = np.asarray(cells) < self.n_cells
        entry = np.where(is_cell, values, self.most[cells] - values)
        alpha = self.alpha[cells]
        gammas = self.sign[cells] * log_gamma_ratio(alpha, entry)
        weight: FloatArray = gammas - np.where(is_cell, gammaln(np.asarray(values) + 1.0), 0.0)
        return weight

    def log_ratio(self, cells: IntArray, start: IntArray, values: IntArray) -> FloatArray:
        """The logarithm of each column's factor over that at another value."""
        is_cell = np.asarray(cells) < self.n_cells
        change = np.asarray(values) - start
        entry = np.where(is_cell, start, self.most[cells] - start)
        gammas = log_gamma_ratio(self.alpha[cells] + entry, np.where(is_cell, change, -change))
        own = np.where(is_cell, log_factorial_ratio(start, values), 0.0)
        ratio: FloatArray = self.sign[cells] * gammas - own
        return ratio


def exact_distribution(
    margins: Margins,
    model: HierarchicalModel,
    alpha: FloatArray,
    *,
    known: Sequence[Statement] = (),
) -> ExactDistribution | None:
    """The distribution of the table given its margins and what else is known, or None where it has
    no such form: a model that is not decomposable and has margins beyond the released ones.

    `alpha` has one parameter a cell, in the shape of the table. Trusted: they are above zero.
    """
    statements = [*margins.statements(), *known]
    tree = junction_tree(model.generators)
    if tree is not None:
        signed = [(axes, 1) for axes in tree.components]
        signed += [(axes, -1) for axes in tree.separators[1:]]
        return _factorised(margins, signed, alpha, statements)
    if _all_released(model.generators, margins):
        system = system_of(margins.n_cells, statements)
        return ExactDistribution(
            system=system, prior=Multinomial(), n_cells=margins.n_cells, log_constant=None
        )
    return None


def _all_released(sets: Sequence[Axes], margins: Margins) -> bool:
    return all(_home(axes, margins) is not None for axes in sets)


def _home(axes: Axes, margins: Margins) -> Axes | None:
    """A released margin that tells the counts over these variables."""
    return next((own for own in margins.tables if set(axes) <= set(own)), None)


def _factorised(
    margins: Margins,
    signed: Sequence[tuple[Axes, int]],
    alpha: FloatArray,
    statements: list[Statement],
) -> ExactDistribution:
    n_cells, every = margins.n_cells, tuple(range(len(margins.sizes)))
    n, total = margins.total, float(alpha.sum())
    constant = float(gammaln(n + 1) - log_gamma_ratio(total, n))
    signs, most, alphas = [np.zeros(n_cells, np.int64)], [np.zeros(n_cells, np.int64)], [alpha]
    for axes, sign in signed:
        home, entry_alpha = _home(axes, margins), _margin(alpha, axes)
        if home is not None:
            counts = _margin(margins.tables[home], [home.index(axis) for axis in axes])
            constant += sign * float(log_gamma_ratio(entry_alpha, counts).sum())
        elif axes == every:
            signs[0] = np.full(n_cells, sign)
        else:
            first = sum(len(part) for part in signs)
            tied = _tied_columns(margins, axes, first)
            statements += tied
            signs.append(np.full(len(tied), sign))
            most.append(np.array([row.low for row in tied], dtype=np.int64))
            alphas.append(entry_alpha)
    prior = ColumnPrior(
        n_cells,
        np.concatenate(signs),
        np.concatenate(most),
        np.concatenate([np.ravel(part) for part in alphas]),
    )
    system = system_of(len(prior.sign), statements)
    return ExactDistribution(system=system, prior=prior, n_cells=n_cells, log_constant=constant)


def _tied_columns(margins: Margins, axes: Axes, first: int) -> list[Statement]:
    """For each entry of a hidden margin: the sum of its cells and a new column is its limit."""
    limits = np.full([margins.sizes[axis] for axis in axes], margins.total, dtype=np.int64)
    for own, table in margins.tables.items():
        shared = [axis for axis in axes if axis in own]
        part = _margin(table, [own.index(axis) for axis in shared])
        wide = [margins.sizes[axis] if axis in shared else 1 for axis in axes]
        limits = np.minimum(limits, part.reshape(wide))
    cells = np.arange(margins.n_cells, dtype=np.int64).reshape(margins.sizes)
    others = [axis for axis in range(len(margins.sizes)) if axis not in axes]
    groups = cells.transpose([*axes, *others]).reshape(limits.size, -1)
    return [
        Statement(
            cells=np.append(group, first + i), low=int(most), high=int(most), name=f"entry {i}"
        )
        for i, (group, most) in enumerate(zip(groups, limits.ravel(), strict=True))
    ]


def _margin(table: NDArray[Number], axes: Sequence[int]) -> NDArray[Number]:
    """Summed over all but some axes, which are ascending."""
    return np.asarray(table.sum(axis=tuple(i for i in range(table.ndim) if i not in set(axes))))
