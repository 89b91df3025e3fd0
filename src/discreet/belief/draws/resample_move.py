"""Weighted draws of a distribution moved about by a walk, to tell more than their weights alone.

Draws are resampled by their weights and each is then moved by steps that leave the distribution as
it is (resample and move; Gilks and Berzuini 2001). The draws stand for the distribution whether or
not the moves connect all tables; if they do, as they mostly do, long walks forget how uneven the
weights were. The moves are cubes: +1 and −1 by turns on the corners over variables that no margin
holds whole."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from discreet.belief.drawn_belief import DrawnBelief
from discreet.belief.draws.augmentation import ChainEffort
from discreet.belief.draws.chain_frequencies import counted_distribution, warning_of
from discreet.belief.exact.exact_distribution import ExactDistribution
from discreet.clock import Clock
from discreet.fiber.bounds.attained_by_moves import minimal_non_faces
from discreet.fiber.draws.moves import ListedMoves, listed
from discreet.fiber.draws.walk import WalkPlan, line_chains, walk
from discreet.fiber.system.margins import Margins
from discreet.numerics.arrays import IntArray
from discreet.numerics.rounding import above
from discreet.progress import Progress, silent

MOST_MOVE_CELLS = 2**22  # cells of all moves together
MOST_KEPT = 2**24  # counts kept of the walks
MOVES_PER_CELL = 8
LEAST_DRAWS = 20
TRUSTED = 50.0  # effective draws from which resampling makes sense


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedDistribution:
    """Distributions of some cells with their standard errors, and what the walks say of themselves:
    `effective_draws` are the independent ones that the least settled cell rests on."""

    distributions: Sequence[dict[int, float]]
    errors: Sequence[dict[int, float]]
    n_chains: int
    n_draws: int
    effective_draws: float
    warning: str


def moved_distribution(
    distribution: ExactDistribution,
    margins: Margins,
    drawn: DrawnBelief,
    cells: IntArray,
    *,
    effort: ChainEffort,
    clock: Clock,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> MovedDistribution | None:
    """The distributions of the cells after the walks, or None where there are no such moves or no
    time.

    Trusted: the system is that of the margins alone.
    """
    moves = cube_moves(margins)
    if moves is None or moves.n_moves == 0 or len(cells) == 0:
        return None
    starts = _starts(drawn, effort.n_chains, rng)
    chains = line_chains(distribution.system, moves, distribution.prior, starts, rng=rng)
    thin = MOVES_PER_CELL * distribution.n_cells
    n_draws = min(effort.n_draws, MOST_KEPT // (effort.n_chains * len(cells)))
    pilot = WalkPlan(n_draws=LEAST_DRAWS, thin=thin, warm_up=0, time_limit=clock.share(0.2))
    tried = [walk(chains, pilot, cells) for _ in range(2)][1]
    left = clock.share(0.8)
    if tried.stopped:
        return None
    if left is not None:
        n_draws = min(n_draws, int(left * LEAST_DRAWS / (1.25 * (tried.seconds + 1e-9))))
    if n_draws < LEAST_DRAWS:
        return None
    plan = WalkPlan(
        n_draws=n_draws, thin=thin, warm_up=max(1, n_draws // 4), time_limit=clock.left()
    )
    found = walk(chains, plan, cells, progress=progress)
    return None if found.tables.shape[1] < LEAST_DRAWS else _told(found.tables, drawn, cells)


def cube_moves(margins: Margins) -> ListedMoves | None:
    """Every cube of two levels of each variable of a smallest set that no margin holds, at all
    levels of the others; None where they are too many."""
    sizes = margins.sizes
    cubes = minimal_non_faces(margins.tables, sizes)
    strides = np.cumprod([1, *sizes[:0:-1]])[::-1]
    parts: list[tuple[IntArray, IntArray]] = []
    total = 0
    for axes in cubes:
        places, signs = _cubes(axes, sizes, strides)
        total += places.size
        if total > MOST_MOVE_CELLS:
            return None
        parts.append((places, signs))
    why = "cubes over variables that no margin holds whole; not shown to connect all tables"
    if not parts:
        return listed(np.zeros((0, margins.n_cells), dtype=np.int64), why)
    lengths = np.concatenate([np.full(len(p), p.shape[1]) for p, _ in parts])
    return ListedMoves(
        begin=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        cells=np.concatenate([p.ravel() for p, _ in parts]),
        steps=np.concatenate([np.tile(s, len(p)) for p, s in parts]),
        why=why,
    )


def _cubes(
    axes: tuple[int, ...], sizes: Sequence[int], strides: IntArray
) -> tuple[IntArray, IntArray]:
    """The cells of each cube over the axes (cubes × corners), and the signs of the corners."""
    corners = list(product((0, 1), repeat=len(axes)))
    signs = np.array([(-1) ** sum(corner) for corner in corners], dtype=np.int64)
    pairs = product(*(combinations(range(sizes[axis]), 2) for axis in axes))
    shapes = [
        [
            sum(int(pair[bit]) * int(strides[axis]) for pair, bit, axis in parts)
            for parts in (list(zip(chosen, corner, axes, strict=True)) for corner in corners)
        ]
        for chosen in pairs
    ]
    base: IntArray = np.zeros(1, dtype=np.int64)
    for axis, size in enumerate(sizes):
        if axis not in axes:
            base = (base[:, None] + np.arange(size) * strides[axis]).ravel()
    places = base[:, None, None] + np.array(shapes, dtype=np.int64)[None]
    return places.reshape(-1, len(corners)), signs


def _starts(drawn: DrawnBelief, n_chains: int, rng: np.random.Generator) -> list[IntArray]:
    """Resampled by weight, or far apart where few draws carry all the weight."""
    if above(TRUSTED, drawn.effective_draws):
        chosen = rng.choice(len(drawn.tables), size=n_chains)
    else:
        chosen = rng.choice(len(drawn.tables), size=n_chains, p=drawn.shares)
    return [drawn.tables[i] for i in chosen]


def _told(tables: IntArray, drawn: DrawnBelief, cells: IntArray) -> MovedDistribution:
    told = [
        counted_distribution(tables[:, :, i], room=bool(drawn.lower[cell] < drawn.upper[cell]))
        for i, cell in enumerate(cells.tolist())
    ]
    return MovedDistribution(
        distributions=[one.distribution for one in told],
        errors=[one.errors for one in told],
        n_chains=tables.shape[0],
        n_draws=tables.shape[1],
        effective_draws=min(one.effective_draws for one in told),
        warning=_warning(warning_of(told), drawn),
    )


def _warning(of_walks: str, drawn: DrawnBelief) -> str:
    parts = [of_walks] if of_walks else []
    if above(TRUSTED, drawn.effective_draws):
        parts.append(
            f"only {drawn.effective_draws:.1f} effective weighted draws, so the walk rests on "
            "moves that are not proved to connect all tables"
        )
    return "; ".join(parts)
