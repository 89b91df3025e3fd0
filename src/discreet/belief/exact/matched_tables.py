"""Many tables at once, drawn by matching records along a junction tree."""

import numpy as np

from discreet.fiber.system.margins import Margins
from discreet.numerics.arrays import IntArray
from discreet.numerics.graphs import junction_tree


def matched_tables(margins: Margins, n_draws: int, *, rng: np.random.Generator) -> IntArray:
    """Independent tables (draws × cells) with decomposable margins, each ∝ 1/∏F!.

    Clique by clique the records there so far meet those of the next one at random within each level
    of the separator; what each cell gets is hypergeometric. Variables in no margin get a level at
    random. Cost: draws × cells, whatever the counts. Trusted: decomposable, no total above 10⁹.
    """
    tree = junction_tree(margins.tables)
    assert tree is not None
    axes = list(tree.components[0])
    table = np.broadcast_to(margins.tables[tree.components[0]], (n_draws, *_shape(margins, axes)))
    for clique, separator in zip(tree.components[1:], tree.separators[1:], strict=True):
        new = [axis for axis in clique if axis not in separator]
        order = [clique.index(axis) for axis in (*separator, *new)]
        right = margins.tables[clique].transpose(order)
        table = _joined(table, [axes.index(axis) for axis in separator], right, rng)
        axes += new
    for axis in [axis for axis in range(len(margins.sizes)) if axis not in axes]:
        table = _spread(table, margins.sizes[axis], rng)
        axes.append(axis)
    ordered = table.transpose([0, *(1 + axes.index(axis) for axis in range(len(axes)))])
    return np.ascontiguousarray(ordered.reshape(n_draws, -1))


def _shape(margins: Margins, axes: list[int]) -> tuple[int, ...]:
    return tuple(margins.sizes[axis] for axis in axes)


def _joined(
    table: IntArray, shared: list[int], right: IntArray, rng: np.random.Generator
) -> IntArray:
    """The table with the new variables of `right` (separator first) as last axes."""
    n_draws, new = len(table), right.shape[len(shared) :]
    flat = right.reshape(*right.shape[: len(shared)], -1)
    joined = np.zeros((*table.shape, flat.shape[-1]), dtype=np.int64)
    left = np.empty((*flat.shape[:-1], n_draws, flat.shape[-1]), dtype=np.int64)
    left[...] = flat[..., None, :]
    for cell in np.ndindex(*table.shape[1:]):
        stock = left[tuple(cell[i] for i in shared)]
        taken = _taken(stock, table[(slice(None), *cell)], rng)
        stock -= taken
        joined[(slice(None), *cell)] = taken
    return joined.reshape(*table.shape, *new)


def _taken(stock: IntArray, wanted: IntArray, rng: np.random.Generator) -> IntArray:
    """So many records wanted of each stock (rows), taken at random without putting back."""
    taken, rest = np.zeros_like(stock), stock.sum(axis=1)
    for k in range(stock.shape[1] - 1):
        rest = rest - stock[:, k]
        taken[:, k] = rng.hypergeometric(stock[:, k], rest, wanted)
        wanted = wanted - taken[:, k]
    taken[:, -1] = wanted
    return taken


def _spread(table: IntArray, size: int, rng: np.random.Generator) -> IntArray:
    """Every count spread evenly at random over the levels of one more variable."""
    parts, left = [], table
    for k in range(size - 1):
        parts.append(rng.binomial(left, 1.0 / (size - k)))
        left = left - parts[-1]
    return np.stack([*parts, left], axis=-1)
