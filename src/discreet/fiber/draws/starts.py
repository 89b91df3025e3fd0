"""Where a walk begins: some consistent tables, far apart."""

import numpy as np

from discreet.clock import standing_still
from discreet.errors import InputError, must_be
from discreet.fiber.system.linear_system import LARGEST, System
from discreet.fiber.system.margins import Margins
from discreet.figures import Unavailable
from discreet.numerics.arrays import IntArray
from discreet.numerics.graphs import JunctionTree, junction_tree


def point_of(
    system: System, *, rng: np.random.Generator | None = None, time_limit: float = 60.0
) -> IntArray | Unavailable | None:
    """A whole-number point of the system: an extreme one in a random direction, or any.

    None means that the integer program (HiGHS) proved that there is none; Unavailable that it found
    out neither within the time limit. A point is checked against every row and limit before it is
    returned, so that rounding inside the solver cannot give a wrong one.
    """
    if np.any(system.lower > system.upper):
        return None
    if system.n_columns == 0:
        return np.zeros(0, dtype=np.int64) if not np.any(system.right) else None
    with standing_still():
        from scipy.optimize import Bounds, LinearConstraint, milp  # slow to load, seldom needed

    towards = np.zeros(system.n_columns) if rng is None else rng.standard_normal(system.n_columns)
    rows = (
        LinearConstraint(system.matrix.astype(float), system.right, system.right)
        if system.n_rows
        else None
    )
    found = milp(
        towards,
        integrality=np.ones(system.n_columns, dtype=np.int64),
        bounds=Bounds(system.lower, system.upper),
        constraints=rows,
        options={"time_limit": time_limit, "mip_rel_gap": 0.05},
    )
    if found.status == 2:
        return None
    if found.x is None:
        return Unavailable("no consistent table was found within the time limit")
    point: IntArray = np.rint(found.x).astype(np.int64)
    return point if system.holds(point) else Unavailable("the solver rounded a table away")


def starting_points(
    system: System, n_points: int, *, rng: np.random.Generator, time_limit: float = 60.0
) -> list[IntArray]:
    """Points of the system, each extreme in a random direction of its own.

    Raises InputError where there is none, or none was found within the time limit.
    """
    points = []
    for _ in range(n_points):
        point = point_of(system, rng=rng, time_limit=time_limit)
        if point is None:
            raise InputError(must_be("released figures", "those of a table", "none that fits"))
        if isinstance(point, Unavailable):
            remedy = "raise the time limit, or give starting tables"
            raise InputError(must_be("a first table", "found", point.reason, remedy=remedy))
        points.append(point)
    return points


def starting_tables(
    margins: Margins, n_tables: int, *, rng: np.random.Generator, sparse: bool = False
) -> list[IntArray]:
    """Tables with decomposable margins, each as far to a random corner as a greedy fill goes.

    Margins are joined along the junction tree. Within a slice of the separator, the combinations of
    levels on either side are put in random order and paired from the first on (the north-west
    corner rule), so that few cells hold many records. Costs O(cells of the margins), whatever the
    number of records. For `sparse` tables, records of equal levels are paired in lots of at most 1,
    2, 4, … by turns of the tables: far apart still, without heaps that take a walk long to clear.
    Checked: the margins are decomposable and agree on their separators.
    """
    tree = junction_tree(margins.tables)
    if tree is None:
        raise InputError(must_be("margins", "decomposable", "others"))
    lots = [2 ** (i % 4) if sparse else LARGEST for i in range(n_tables)]
    return [_table_along(margins, tree, lot, rng) for lot in lots]


def _table_along(
    margins: Margins, tree: JunctionTree, lot: int, rng: np.random.Generator
) -> IntArray:
    levels, counts = _entries(margins, tree.components[0])
    for axes, separator in zip(tree.components[1:], tree.separators[1:], strict=True):
        near, far = _in_lots(levels, counts, lot), _in_lots(*_entries(margins, axes), lot)
        levels, counts = _joined(margins, near, far, axes, separator, rng)
    for i, size in enumerate(margins.sizes):
        outside = levels[:, i] < 0
        levels[outside, i] = rng.integers(size, size=int(outside.sum()))
    table = np.zeros(margins.n_cells, dtype=np.int64)
    np.add.at(table, np.ravel_multi_index(tuple(levels.T), margins.sizes), counts)
    return table


def _entries(margins: Margins, axes: tuple[int, ...]) -> tuple[IntArray, IntArray]:
    """The levels (−1 for variables outside) and counts of a margin's entries that are not zero."""
    table = margins.tables[axes]
    counts = table[table > 0].ravel()
    levels = np.full((len(counts), len(margins.sizes)), -1, dtype=np.int64)
    levels[:, list(axes)] = np.argwhere(table > 0)
    return levels, counts


def _in_lots(levels: IntArray, counts: IntArray, lot: int) -> tuple[IntArray, IntArray]:
    """Runs of equal records, cut into lots of at most a size."""
    lots = -(-counts // lot)
    sizes = np.full(int(lots.sum()), lot, dtype=np.int64)
    sizes[np.cumsum(lots) - 1] = counts - (lots - 1) * lot
    return np.repeat(levels, lots, axis=0), sizes


def _joined(
    margins: Margins,
    one: tuple[IntArray, IntArray],
    other: tuple[IntArray, IntArray],
    axes: tuple[int, ...],
    separator: tuple[int, ...],
    rng: np.random.Generator,
) -> tuple[IntArray, IntArray]:
    """Runs of equal records of one side and of a margin, paired within slices of the separator."""
    (levels, counts), (far_levels, far_counts) = one, other
    near = _in_random_order(margins, levels, separator, rng)
    far = _in_random_order(margins, far_levels, separator, rng)
    if counts.sum() != far_counts.sum():
        raise InputError(must_be("margins", "those of one table", "totals that disagree"))
    near_ends, far_ends = np.cumsum(counts[near]), np.cumsum(far_counts[far])
    ends = np.union1d(near_ends, far_ends)
    near = near[np.searchsorted(near_ends, ends).clip(max=len(near) - 1)]
    far = far[np.searchsorted(far_ends, ends).clip(max=len(far) - 1)]
    shared = list(separator)
    if not np.array_equal(levels[near][:, shared], far_levels[far][:, shared]):
        raise InputError(must_be("margins", "those of one table", "sums that disagree"))
    both = levels[near]
    both[:, list(axes)] = far_levels[far][:, list(axes)]
    return both, np.diff(ends, prepend=0)


def _in_random_order(
    margins: Margins, levels: IntArray, separator: tuple[int, ...], rng: np.random.Generator
) -> IntArray:
    """Positions sorted by slice of the separator, at random within."""
    slices = np.zeros(len(levels), dtype=np.int64)
    for i in separator:
        slices = slices * margins.sizes[i] + levels[:, i]
    return np.lexsort([rng.random(len(levels)), slices])
