"""A walk over the consistent tables, in several chains side by side."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.clock import PROCESSORS, threads, work, working_seconds
from discreet.errors import InputError, must_be
from discreet.fiber.draws.moves import ListedMoves, LoopMoves, MoveSet, offsets_of
from discreet.fiber.draws.walk_weights import WeightTable, weight_table
from discreet.fiber.system.linear_system import System
from discreet.fiber.system.margins import Margins
from discreet.fiber.system.priors import Prior
from discreet.numerics.arrays import IntArray, read_only
from discreet.progress import Progress, interruption_ends_all, silent

if TYPE_CHECKING:
    from discreet.fiber.draws.walk_kernels import Occupied

MOVE_SECONDS, LINE_SECONDS = 3e-8, 1e-8  # a move, and each count along its line
KEPT_SECONDS = 2e-9  # a count of a cell that is kept
SLICE_SECONDS = 0.1  # how long the inner loops run before it is asked whether to stop
STATE_WORDS = 16  # a generator's state and room behind it: chains share no cache line
INTERRUPTION = "an interruption"

Words = NDArray[np.uint64]


class Chain(Protocol):
    """A table that moves."""

    def run(self, thin: int, cells: IntArray, kept: IntArray) -> int:
        """Makes `thin` moves for each row of `kept`, then copies cells into it; changes made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StillChain:
    """The only table there is."""

    point: IntArray

    def run(self, thin: int, cells: IntArray, kept: IntArray) -> int:
        """Copies the table's cells into every row."""
        kept[:] = self.point[cells]
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LineChain:
    """Draws anew from the line through the present table along a random move, given all else.

    A Gibbs step on one coordinate: the distribution ∏ w_c(x_c) is kept whatever the move is, as
    moves are chosen without regard to the table.
    """

    point: IntArray
    system: System
    moves: MoveSet
    weights: WeightTable
    state: Words

    def run(self, thin: int, cells: IntArray, kept: IntArray) -> int:
        """Moves along lines."""
        from discreet.fiber.draws import walk_kernels as kernels

        moves, weights = self.moves, self.weights.for_kernels()
        limits = kernels.CellLimits(self.system.lower, self.system.upper)
        keep = kernels.Keep(thin, cells, kept)
        if isinstance(moves, ListedMoves):
            by_list = kernels.Listed(moves.begin, moves.cells, moves.steps)
            return kernels.walk_listed(self.point, limits, by_list, weights, self.state, keep)
        loops = kernels.Loops(moves.cuts, moves.offsets)
        return kernels.walk_loops(self.point, limits, loops, weights, self.state, keep)


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapChain:
    """Two random occupied cells that agree on a separator exchange records' variables beyond it.

    The same lines as those of primitive moves, but only through cells that hold a record: for
    sparse tables, where most lines have one point. See `walk_kernels.walk_occupied`.
    """

    point: IntArray
    occupied: "Occupied"
    weights: WeightTable
    state: Words

    def run(self, thin: int, cells: IntArray, kept: IntArray) -> int:
        """Moves along lines through occupied cells."""
        from discreet.fiber.draws.walk_kernels import Keep, walk_occupied

        weights, keep = self.weights.for_kernels(), Keep(thin, cells, kept)
        return walk_occupied(self.point, self.occupied, weights, self.state, keep)


def line_chains(
    system: System,
    moves: MoveSet,
    prior: Prior,
    starts: Sequence[IntArray],
    *,
    rng: np.random.Generator,
) -> list[Chain]:
    """A chain from each starting point, along the moves; checked: they are points of the system."""
    _check_starts(system, starts)
    if moves.n_moves == 0:
        return [StillChain(point=start) for start in starts]
    weights = weight_table(prior, system)
    return [
        LineChain(
            point=start.copy(), system=system, moves=moves, weights=weights, state=_state(rng)
        )
        for start in starts
    ]


def swap_chains(
    system: System,
    margins: Margins,
    moves: LoopMoves,
    prior: Prior,
    starts: Sequence[IntArray],
    *,
    rng: np.random.Generator,
) -> list[Chain]:
    """A chain from each starting point, by swaps; checked: cells have no limits of their own."""
    _check_starts(system, starts)
    if moves.limited or np.any(system.lower > 0):
        raise InputError(must_be("cells", "without limits of their own, for swaps", "limits"))
    if moves.n_moves == 0 or margins.total == 0:
        return [StillChain(point=start) for start in starts]
    weights = weight_table(prior, system)
    return [
        SwapChain(
            point=start.copy(),
            occupied=_occupied(margins, moves, start),
            weights=weights,
            state=_state(rng),
        )
        for start in starts
    ]


def _check_starts(system: System, starts: Sequence[IntArray]) -> None:
    for start in starts:
        if not system.holds(start):
            raise InputError(must_be("starts", "points of the system", "another"))


def _state(rng: np.random.Generator) -> Words:
    """A random state of xoshiro256**, which must not be zero throughout."""
    state = np.zeros(STATE_WORDS, dtype=np.uint64)
    state[:4] = rng.integers(1, 2**64, size=4, dtype=np.uint64)
    return state


def _ended(lists: Sequence[Sequence[int]]) -> IntArray:
    """The lists as rows, each ended by −1."""
    rows = np.full((len(lists), 1 + max(map(len, lists), default=0)), -1, dtype=np.int64)
    for row, numbers in zip(rows, lists, strict=True):
        row[: len(numbers)] = numbers
    return rows


def _occupied(margins: Margins, moves: LoopMoves, table: IntArray) -> "Occupied":
    """The list of the table's occupied cells, with room for as many as there can ever be."""
    from discreet.fiber.draws.walk_kernels import Occupied

    cells = np.flatnonzero(table)
    levels = np.unravel_index(cells, margins.sizes)
    columns = [offsets_of(margins, [i])[level] for i, level in enumerate(levels)]
    together = sum((columns[i] for i in moves.free), np.zeros(len(cells), dtype=np.int64))
    room = min(margins.total, margins.n_cells) + 4
    cell_of = np.zeros(room, dtype=np.int64)
    parts = np.zeros((room, len(columns) + 1), dtype=np.int64)
    position = np.full(margins.n_cells, -1, dtype=np.int64)
    cell_of[: len(cells)], position[cells] = cells, np.arange(len(cells))
    parts[: len(cells)] = np.column_stack([*columns, together])
    return Occupied(
        cell_of=cell_of,
        parts=parts,
        position=position,
        size=np.array([len(cells)]),
        same=_ended([*(cut.separator for cut in moves.tree), ()]),
        swapped=_ended([*(min(cut.left, cut.right, key=len) for cut in moves.tree), ()]),
        free=offsets_of(margins, moves.free),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkPlan:
    """How long to walk: each chain keeps `n_draws`, after `warm_up`, one in every `thin` moves."""

    n_draws: int
    warm_up: int
    thin: int
    time_limit: float | None = None

    def __post_init__(self) -> None:
        for name, least in (("n_draws", 1), ("thin", 1), ("warm_up", 0)):
            if getattr(self, name) < least:
                raise InputError(must_be(name, f"at least {least}", getattr(self, name)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Walked:
    """Tables met by the chains, chains × draws × chosen cells, and how the walk went."""

    tables: IntArray
    n_moves: int  # made in all, those of the warm-up included
    n_changes: int  # moves that changed the table
    seconds: float
    stopped: str  # why the walk ended early, or nothing

    def __post_init__(self) -> None:
        read_only(self.tables)


def walk(
    chains: Sequence[Chain], plan: WalkPlan, cells: IntArray, *, progress: Progress = silent
) -> Walked:
    """Tables met on the way, in the long run distributed as the prior of the chains.

    The work is done in slices of about a tenth of a second, chains side by side. An interruption or
    the time limit ends it between slices, with the draws kept so far: `stopped` says so. Time spent
    compiling is not counted.
    """
    kept = np.empty((len(chains), plan.n_draws, len(cells)), dtype=np.int64)
    tally = _Tally()
    progress("preparing the walk", None)
    try:
        with threads(len(chains)) as pool:
            _walk_in_slices(pool, chains, plan, cells, kept, tally, progress)
    except KeyboardInterrupt:
        if interruption_ends_all():
            raise
        tally.stopped = INTERRUPTION
    return Walked(
        tables=kept[:, : max(0, tally.done - plan.warm_up)],
        n_moves=tally.done * plan.thin * len(chains),
        n_changes=tally.changes,
        seconds=working_seconds() - tally.begun,
        stopped=tally.stopped,
    )


@dataclass(slots=True)
class _Tally:
    """How far the walk is: rows done by each chain, changes made, why it stopped."""

    done: int = 0
    changes: int = 0
    stopped: str = ""
    begun: float = field(default_factory=working_seconds)

    def check_time(self, limit: float | None) -> None:
        if limit is not None and working_seconds() - self.begun > limit:
            self.stopped = f"the time limit of {limit:.3g} s"


def _walk_in_slices(
    pool: ThreadPoolExecutor,
    chains: Sequence[Chain],
    plan: WalkPlan,
    cells: IntArray,
    kept: IntArray,
    tally: _Tally,
    progress: Progress,
) -> None:
    total, rows, nothing = plan.warm_up + plan.n_draws, 1, np.empty(0, dtype=np.int64)
    while tally.done < total and not tally.stopped:
        start, first = working_seconds(), tally.done - plan.warm_up
        rows = min(rows, -first if first < 0 else total - tally.done)
        if first < 0:
            chosen, targets = nothing, np.empty((len(chains), rows, 0), dtype=np.int64)
        else:
            chosen, targets = cells, kept[:, first : first + rows]
        jobs = [
            pool.submit(chain.run, plan.thin, chosen, target)
            for chain, target in zip(chains, targets, strict=True)
        ]
        tally.changes += sum(job.result() for job in jobs)
        each = _move_seconds(chains[0]) * plan.thin + KEPT_SECONDS * len(chosen)
        work(len(chains) * rows * each / PROCESSORS)
        tally.done += rows
        progress("walking", tally.done / total)
        rows = _next_rows(rows, working_seconds() - start)
        if tally.done < total:
            tally.check_time(plan.time_limit)


def _move_seconds(chain: Chain) -> float:
    """What a move takes: one along a line looks at every count that the line may have."""
    if not isinstance(chain, LineChain) or not chain.system.n_columns:
        return 4 * MOVE_SECONDS
    return MOVE_SECONDS + LINE_SECONDS * float(np.mean(chain.system.upper - chain.system.lower))


def _next_rows(rows: int, seconds: float) -> int:
    """As many rows as take about a slice, at most doubled."""
    return max(1, min(2 * rows, int(rows * SLICE_SECONDS / max(seconds, 1e-6))))
