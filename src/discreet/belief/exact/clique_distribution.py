"""The distribution of a decomposable model's own margins given released ones, without the full
table.

Under a hyper-Dirichlet distribution (see `exact_distribution`) the counts of the cliques C and
separators S obey

    Pr(n_C) = n! Γ(α₊)/Γ(α₊+n) · ∏_C ∏ Γ(n_C+α_C)/(Γ(α_C) n_C!) / ∏_S ∏ Γ(n_S+α_S)/(Γ(α_S) n_S!),

and the full table, given them, is a random matching of records along the junction tree (dawid and
lauritzen 1993). For a model with small cliques that is far less than the table.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.special import gammaln

from discreet.belief.draws.smc_kernels import Lines
from discreet.belief.models.generators import Axes, HierarchicalModel
from discreet.fiber.draws.moves import ListedMoves
from discreet.fiber.system.margins import Margins
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.gamma_ratio import log_gamma_ratio
from discreet.numerics.graphs import JunctionTree, junction_tree

MOST_WEIGHTS = 2**24  # weights of all columns together


@dataclass(frozen=True, slots=True, kw_only=True)
class CliqueDistribution:
    """Columns are the entries of `sets`, cliques (sign 1) and separators (−1) of the model.

    log Pr(R | A) = `log_constant` + log Σ ∏ w over all consistent columns, log w = `plain` + `more`
    looked up at start[c] + count; `plain` alone is the distribution of tables that are all
    matchings of records, 1/∏F!."""

    tree: JunctionTree
    margins: Margins
    sets: Sequence[tuple[Axes, int]]
    start: IntArray
    upper: IntArray
    plain: FloatArray
    more: FloatArray
    log_constant: float

    def columns_of(self, tables: IntArray) -> IntArray:
        """The columns of each table (rows)."""
        found: IntArray = np.ascontiguousarray((self.columns_of_cells().T @ tables.T).T)
        return found

    def columns_of_cells(self) -> csr_array:
        """Cells × columns, 1 where a cell counts."""
        return _projection(self.margins.sizes, [axes for axes, _ in self.sets])

    def lines(self, moves: ListedMoves) -> Lines:
        """What moves of the table do to the columns, each once; those that do nothing left out."""
        rows = np.repeat(np.arange(moves.n_moves), np.diff(moves.begin))
        shape = (moves.n_moves, self.margins.n_cells)
        whole = coo_array((moves.steps, (rows, moves.cells)), shape=shape).tocsr()
        dense = np.asarray((whole @ self.columns_of_cells()).todense(), dtype=np.int64)
        dense = dense[np.any(dense != 0, axis=1)]
        first = np.argmax(dense != 0, axis=1) if len(dense) else np.zeros(0, dtype=np.int64)
        dense = dense * np.sign(dense[np.arange(len(dense)), first])[:, None]
        dense = np.unique(dense, axis=0)
        places = np.nonzero(dense)
        begin = np.concatenate([[0], np.cumsum(np.count_nonzero(dense, axis=1))]).astype(np.int64)
        return Lines(begin, np.ascontiguousarray(places[1]), dense[places])

    def log_more(self, points: IntArray) -> FloatArray:
        """log ∏ w beyond `plain`, of each point (rows of columns)."""
        found: FloatArray = self.more[self.start + points].sum(axis=1)
        return found

    def cells(self, points: IntArray, levels: IntArray, *, rng: np.random.Generator) -> IntArray:
        """The count of each cell (rows of levels) in a table drawn given each point, by matching
        records along the tree: draws × cells."""
        tables, tree = self._tables(points), self.tree
        found = np.empty((len(points), len(levels)), dtype=np.int64)
        for i, cell in enumerate(levels.tolist()):
            x = _entry(tables, tree.components[0], cell)
            for axes, separator in zip(tree.components[1:], tree.separators[1:], strict=True):
                own, total = _entry(tables, axes, cell), _entry(tables, separator, cell)
                x = rng.hypergeometric(x, total - x, own)
            found[:, i] = x
        return found

    def _tables(self, points: IntArray) -> dict[Axes, IntArray]:
        """Counts of every clique and separator (draws × its levels)."""
        tables, first = dict[Axes, IntArray](), 0
        for axes, _ in self.sets:
            shape = [self.margins.sizes[axis] for axis in axes]
            width = int(np.prod(shape, dtype=np.int64))
            tables[axes] = points[:, first : first + width].reshape(-1, *shape)
            first += width
        return tables


def clique_distribution(
    margins: Margins, model: HierarchicalModel, alpha: FloatArray
) -> CliqueDistribution | None:
    """The distribution, or None: a model that is not decomposable or does not hold every released
    margin whole, or counts too large for it. Trusted: `alpha` is above zero, in the table's
    shape."""
    tree = junction_tree(model.generators)
    if tree is None or not model.contains(margins.tables):
        return None
    sets = [(axes, 1) for axes in tree.components] + [(axes, -1) for axes in tree.separators[1:]]
    upper = np.concatenate([_limits(margins, axes).ravel() for axes, _ in sets])
    if float(upper.sum()) + len(upper) > MOST_WEIGHTS:
        return None
    signs = np.concatenate([np.full(_alpha(alpha, axes).size, sign) for axes, sign in sets])
    alphas = np.concatenate([_alpha(alpha, axes).ravel() for axes, _ in sets])
    start = np.concatenate([[0], np.cumsum(upper + 1)])[:-1]
    column = np.repeat(np.arange(len(upper)), upper + 1)
    count = np.arange(len(column)) - start[column]
    n = margins.total
    return CliqueDistribution(
        tree=tree,
        margins=margins,
        sets=sets,
        start=start,
        upper=upper,
        plain=-signs[column] * gammaln(count + 1.0),
        more=signs[column] * log_gamma_ratio(alphas[column], count),
        log_constant=float(gammaln(n + 1) - log_gamma_ratio(float(alpha.sum()), n)),
    )


def log_matchings(margins: Margins) -> float | None:
    """log Σ 1/∏F! over all tables with decomposable margins; None for any others.

    ∏_S ∏ n_S! / ∏_C ∏ n_C!, times the levels of a variable in no margin to the power n.
    """
    tree = junction_tree(margins.tables)
    if tree is None:
        return None
    found = -sum(float(gammaln(t + 1.0).sum()) for t in margins.tables.values())
    for axes in tree.separators[1:]:
        home = next(own for own in margins.tables if set(axes) <= set(own))
        other = tuple(i for i, axis in enumerate(home) if axis not in axes)
        found += float(gammaln(margins.tables[home].sum(axis=other) + 1.0).sum())
    covered = {axis for axes in margins.tables for axis in axes}
    free = [size for axis, size in enumerate(margins.sizes) if axis not in covered]
    return found + margins.total * float(np.log(free).sum() if free else 0.0)


def _limits(margins: Margins, axes: Axes) -> IntArray:
    """The most that each entry over some variables can be, by each released margin alone."""
    limits = np.full([margins.sizes[axis] for axis in axes], margins.total, dtype=np.int64)
    for own, table in margins.tables.items():
        shared = [axis for axis in axes if axis in own]
        part = table.sum(axis=tuple(i for i, axis in enumerate(own) if axis not in shared))
        wide = [margins.sizes[axis] if axis in shared else 1 for axis in axes]
        limits = np.minimum(limits, np.asarray(part).reshape(wide))
    return limits


def _projection(sizes: Sequence[int], sets: Sequence[Axes]) -> csr_array:
    levels = np.indices(sizes).reshape(len(sizes), -1)
    parts, first = [], 0
    for axes in sets:
        shape = [sizes[axis] for axis in axes]
        place = np.zeros(levels.shape[1], dtype=np.int64)
        if axes:
            place = np.ravel_multi_index(tuple(levels[list(axes)]), shape)
        parts.append(first + place)
        first += int(np.prod(shape, dtype=np.int64))
    column = np.concatenate(parts)
    row = np.tile(np.arange(levels.shape[1]), len(sets))
    ones = np.ones(len(column), dtype=np.int64)
    return coo_array((ones, (row, column)), shape=(levels.shape[1], first)).tocsr()


def _alpha(alpha: FloatArray, axes: Axes) -> FloatArray:
    return np.asarray(alpha.sum(axis=tuple(i for i in range(alpha.ndim) if i not in axes)))


def _entry(tables: dict[Axes, IntArray], axes: Axes, cell: Sequence[int]) -> IntArray:
    place: tuple[slice | int, ...] = (slice(None), *(cell[axis] for axis in axes))
    return np.asarray(tables[axes][place])
