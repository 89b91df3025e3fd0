"""Moves between consistent tables, and why they connect all of them.

A move is a whole-number vector m with A m = 0: adding it to a table changes no released figure. A
set of moves is of use only if every consistent table can be reached from every other through tables
that are consistent too. Each set here carries the reason why it does; nothing else is walked on.

- A decomposable set of margins: for each edge of its junction tree the variables fall into a
  separator, a left and a right side, and within a slice of the separator the table is two-way,
  left × right. The moves + − / − + on two rows and two columns of these slices connect the tables
  of every such set of margins (Dobra 2003), as long as nothing else limits a cell from above.
- Two margins (one edge), with any limits: the slices are two-way tables of their own, whose matrix
  is unimodular, so that its loops, alternately plus and minus along distinct rows and columns, are
  all its circuits and these are its Graver basis. The difference of any two tables is a sum of
  loops that agree with it in sign, so that one after the other they lead from one table to the
  other without ever leaving the limits.
- Variables in no margin: pairs of cells that differ in these alone are added.
- Any system: the Markov basis of the system lifted by its limits, from 4ti2.
- A small fiber: any moves from which a search reaches all its tables, counted by other means.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import monotonic

import numpy as np

from discreet.errors import InputError, must_be
from discreet.fiber.sums.latte import markov_basis
from discreet.fiber.system.linear_system import System, system_of
from discreet.fiber.system.margins import Margins
from discreet.fiber.system.nonnegative_form import implied_span
from discreet.figures import Unavailable
from discreet.numerics.arrays import IntArray, read_only


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """An edge of a junction tree: the variables of its separator and on either side of it."""

    separator: tuple[int, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedMoves:
    """Moves written out: move i adds `steps` to `cells`, both from begin[i] to begin[i + 1]."""

    begin: IntArray
    cells: IntArray
    steps: IntArray
    why: str

    def __post_init__(self) -> None:
        for array in (self.begin, self.cells, self.steps):
            read_only(array)

    @property
    def n_moves(self) -> int:
        """How many there are, up to sign."""
        return len(self.begin) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopMoves:
    """Loops made at random by formula, never listed: see `walk_kernels`.

    A row of `cuts` holds where in `offsets` the cell offsets of separator, left side, right side
    and free variables begin and how many there are of each, then the longest loop.
    `tree` are the cuts they came from, `free` the variables in no margin, and `limited` says
    whether loops longer than four cells are needed because of limits on cells.
    """

    cuts: IntArray
    offsets: IntArray
    tree: tuple[Cut, ...]
    free: tuple[int, ...]
    limited: bool
    why: str

    def __post_init__(self) -> None:
        for array in (self.cuts, self.offsets):
            read_only(array)

    @property
    def n_moves(self) -> int:
        """How many kinds of moves there are; none where only one table is consistent."""
        return len(self.cuts)


MoveSet = ListedMoves | LoopMoves


def listed(moves: IntArray, why: str) -> ListedMoves:
    """The moves in the rows of an array; rows of zeros are left out."""
    rows, cells = np.nonzero(moves)
    counts = np.bincount(rows, minlength=len(moves))
    begin = np.concatenate([[0], np.cumsum(counts[counts > 0])]).astype(np.int64)
    cells = np.ascontiguousarray(cells)
    return ListedMoves(begin=begin, cells=cells, steps=moves[rows, cells], why=why)


def cuts_of(sets: Iterable[tuple[int, ...]]) -> tuple[Cut, ...] | None:
    """The edges of a junction tree of the sets of variables; None if they are not decomposable."""
    from discreet.numerics.graphs import junction_tree

    tree = junction_tree(sets)
    if tree is None:
        return None
    below = [set(component) for component in tree.components]
    for i in range(len(below) - 1, 0, -1):
        below[tree.parents[i]] |= below[i]
    cuts = []
    for i in range(1, len(below)):
        separator = set(tree.separators[i])
        outside = [c for j, c in enumerate(tree.components) if not _is_below(tree.parents, j, i)]
        near = set().union(*outside) - separator
        far = below[i] - separator
        cuts.append(Cut(separator=_axes(separator), left=_axes(near), right=_axes(far)))
    return tuple(cuts)


def _is_below(parents: Sequence[int], child: int, ancestor: int) -> bool:
    while child > ancestor:
        child = parents[child]
    return child == ancestor


def _axes(variables: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(variables))


def moves_of_margins(margins: Margins, system: System | None = None) -> LoopMoves | Unavailable:
    """Moves by formula that connect the tables with these margins, or why there are none.

    `system` is that of the margins with further limits on cells, if there are any. Checked: the
    margins are decomposable, the system has the margins' equations, and limits come with at most
    two margins (see the module's text for why).
    """
    tree = cuts_of(tuple(margins.tables))
    if tree is None:
        return Unavailable("the margins are not decomposable, so no formula gives their moves")
    limited = False
    if system is not None:
        check_same_rows(system, margins)
        limited = has_limits(system)
    if limited and len(tree) > 1:
        reason = "limits on cells and more than two margins: the formula's moves may not connect"
        return Unavailable(reason)
    return _loop_moves(margins, tree, limited)


def has_limits(system: System) -> bool:
    """Whether an upper limit does more than the equations and lower limits do by themselves."""
    right = system.right - system.matrix @ system.lower
    span = system.upper - system.lower
    return bool(np.any(span < implied_span(system.matrix, right)))


def check_same_rows(system: System, margins: Margins) -> None:
    """Raises InputError unless the system's equations are those of the margins."""
    own = system_of(margins.n_cells, margins.statements())
    alike = system.matrix.shape == own.matrix.shape and np.array_equal(system.right, own.right)
    if not alike or abs(system.matrix - own.matrix).sum():
        remedy = "leave the margins out to have moves of the system itself"
        raise InputError(must_be("system", "that of the margins", "other equations", remedy=remedy))


def _loop_moves(margins: Margins, tree: tuple[Cut, ...], limited: bool) -> LoopMoves:
    covered = sorted(set().union(*margins.tables))
    free = tuple(i for i in range(len(margins.sizes)) if i not in covered)
    tables: list[IntArray] = []
    rows: list[list[int]] = []
    for cut in tree:
        sides = [offsets_of(margins, part) for part in (cut.separator, cut.left, cut.right, free)]
        shorter = min(len(sides[1]), len(sides[2]))
        if shorter > 1:
            rows.append([*_placed(tables, sides), shorter if limited else 2])
    if free and len(offsets_of(margins, free)) > 1:
        none = np.zeros(1, dtype=np.int64)
        sides = [offsets_of(margins, covered), none, none, offsets_of(margins, free)]
        rows.append([*_placed(tables, sides), 1])
    return LoopMoves(
        cuts=np.array(rows, dtype=np.int64).reshape(-1, 9),
        offsets=np.concatenate([np.zeros(0, dtype=np.int64), *tables]),
        tree=tree,
        free=free,
        limited=limited,
        why=_why_loops(tree, limited),
    )


def _why_loops(tree: tuple[Cut, ...], limited: bool) -> str:
    if limited:
        return (
            "loops of two-way slices are the Graver basis of at most two margins, "
            "and connect under any limits"
        )
    if not tree:
        return "pairs of cells connect the tables with one margin"
    return "primitive moves of a decomposable set of margins (Dobra 2003), without further limits"


def _placed(tables: list[IntArray], sides: Iterable[IntArray]) -> list[int]:
    """Adds offset tables to the list; where each begins and how long it is."""
    placed: list[int] = []
    for side in sides:
        placed += [sum(map(len, tables)), len(side)]
        tables.append(side)
    return placed


def offsets_of(margins: Margins, variables: Iterable[int]) -> IntArray:
    """What each combination of levels of some variables adds to a cell's number, in C order."""
    strides = np.cumprod([1, *margins.sizes[:0:-1]])[::-1]
    offsets = np.zeros(1, dtype=np.int64)
    for variable in variables:
        levels = np.arange(margins.sizes[variable], dtype=np.int64) * strides[variable]
        offsets = (offsets[:, None] + levels).ravel()
    return offsets


def moves_by_4ti2(system: System, *, time_limit: float = 60.0) -> ListedMoves | Unavailable:
    """Markov bases of the system's blocks, each lifted by its limits, or why there are none.

    Blocks share no equation, so that the moves of one connect its points whatever the others hold.
    """
    from discreet.fiber.system.structure import presolve

    presolved = presolve(system, drop_redundant=False)
    end = monotonic() + time_limit
    parts = []
    for block in presolved.blocks:
        basis = markov_basis(block.system, time_limit=max(0.01, end - monotonic()))
        if isinstance(basis, Unavailable):
            return basis
        part = np.zeros((len(basis), system.n_columns), dtype=np.int64)
        part[:, block.columns] = basis
        parts.append(part)
    moves = np.concatenate([np.zeros((0, system.n_columns), dtype=np.int64), *parts])
    return listed(moves, f"4ti2's Markov basis of the lifted system ({len(moves)} moves)")


def connecting_moves(
    system: System, margins: Margins | None = None, *, time_limit: float = 60.0
) -> MoveSet | Unavailable:
    """Moves shown to connect the system's points: by formula where margins allow, else by 4ti2.

    Where there are none the reason says what was tried and what to do.
    """
    why_not: list[str] = []
    if margins is not None:
        formula = moves_of_margins(margins, system)
        if not isinstance(formula, Unavailable):
            return formula
        why_not.append(formula.reason)
    basis = moves_by_4ti2(system, time_limit=time_limit)
    if not isinstance(basis, Unavailable):
        return basis
    remedy = "use an exact method, or sequential importance sampling (which needs no moves)"
    return Unavailable(
        f"no moves known to connect the tables: {'; '.join([*why_not, basis.reason])}; {remedy}"
    )
