"""Draws of consistent tables under a prior: exact ones first, then a walk, then weighted draws."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from math import prod
from typing import NamedTuple

import numpy as np

from discreet.clock import working_seconds
from discreet.errors import InputError, Interrupted, must_be
from discreet.fiber.draws.moves import LoopMoves, MoveSet, connecting_moves, moves_of_margins
from discreet.fiber.draws.sequential import weighted_draws
from discreet.fiber.draws.starts import starting_points, starting_tables
from discreet.fiber.draws.walk import (
    INTERRUPTION,
    Chain,
    Walked,
    WalkPlan,
    line_chains,
    swap_chains,
    walk,
)
from discreet.fiber.draws.walk_weights import TooManyWeights
from discreet.fiber.system.linear_system import System, system_of
from discreet.fiber.system.margins import Margins
from discreet.fiber.system.priors import Multinomial, Prior
from discreet.figures import Unavailable
from discreet.numerics.arrays import FloatArray, IntArray, read_only
from discreet.numerics.chain_diagnostics import Diagnostics, diagnose
from discreet.progress import Progress, interruption_ends_all, silent

MOST_KEPT = 2**28  # counts kept at most, 2 GiB
EXACT_SECONDS = 30.0  # for dynamic programming before a walk is tried instead
SWEEPS, CHEAP_MOVES = 16, 2**16  # between kept tables: sweeps, as long as they cost next to nothing
MOST_PARTS = 2**26  # numbers that describe occupied cells for swaps


class Method(StrEnum):
    """How tables are drawn."""

    AUTO = "auto"  # the first of the others that can be done
    EXACT = "exact"
    WALK = "walk"
    SEQUENTIAL = "sequential"


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkOptions:
    """How a walk is made, where it should not choose for itself.

    `thin` moves lie between kept tables, `warm_up` tables of each chain are dropped first. `moves`
    other than those found here are trusted for what their `why` says.
    """

    n_chains: int = 4
    thin: int | None = None
    warm_up: int | None = None
    moves: MoveSet | None = None
    algebra_seconds: float = 60.0  # for 4ti2

    def __post_init__(self) -> None:
        if self.n_chains < 1:
            raise InputError(must_be("n_chains", "at least 1", self.n_chains))


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws:
    """Tables drawn under a prior, with what is known of their accuracy.

    `tables` are draws × `cells`; `shares` are their weights, which sum to one. `standard_error` is
    that of `mean` for each cell. A cell that had one value in all draws though its limits leave
    room gets (upper − lower) / (effective draws + 2): the error if as much as Laplace's rule of
    succession allows lay at the far limit. `stopped` says why there are fewer draws than asked.
    """

    tables: IntArray
    cells: IntArray
    shares: FloatArray
    method: Method
    how: str
    mean: FloatArray
    standard_error: FloatArray
    effective_draws: float
    diagnostics: Diagnostics | None = None
    warning: str = ""
    stopped: str = ""

    def __post_init__(self) -> None:
        for array in (self.tables, self.cells, self.shares, self.mean, self.standard_error):
            read_only(array)

    @property
    def is_partial(self) -> bool:
        """Whether the work was stopped before all draws were made."""
        return bool(self.stopped)

    def probability(self, cell: int, value: int) -> float:
        """The share of draws in which a cell has a value."""
        places = np.flatnonzero(self.cells == cell)
        if len(places) == 0:
            raise InputError(must_be("cell", "one of those drawn", cell))
        return float(self.shares[self.tables[:, places[0]] == value].sum())


class _Ask(NamedTuple):
    """What was asked of `draw_tables`."""

    system: System
    margins: Margins | None
    prior: Prior
    n_draws: int
    rng: np.random.Generator
    cells: IntArray
    options: WalkOptions
    end: float | None
    progress: Progress

    @property
    def seconds_left(self) -> float | None:
        return None if self.end is None else max(0.0, self.end - working_seconds())


def draw_tables(
    constraints: System | Margins,
    prior: Prior,
    n_draws: int,
    *,
    rng: np.random.Generator,
    method: Method = Method.AUTO,
    margins: Margins | None = None,
    cells: IntArray | None = None,
    walk_options: WalkOptions | None = None,
    time_limit: float | None = None,
    progress: Progress = silent,
) -> Draws | Unavailable:
    """Tables consistent with what was released, drawn under the prior, or why there are none.

    Exact independent draws come first; where they go beyond their budget a walk over the tables,
    on moves shown to connect all of them; where there are none, weighted draws by sequential
    importance sampling. `method` asks for one of them alone. `margins` are those of a system that
    adds limits on cells to them; `cells` are those to keep (all). A walk keeps n_draws over all its
    chains together, rounded up to as many of each, and at least four of each. An interruption or
    the time limit leaves the draws so far; Interrupted is raised where there are none.
    """
    if n_draws < 1:
        raise InputError(must_be("n_draws", "at least 1", n_draws))
    if isinstance(constraints, Margins):
        margins = constraints
        constraints = system_of(margins.n_cells, margins.statements())
    ask = _Ask(
        system=constraints,
        margins=margins,
        prior=prior,
        n_draws=n_draws,
        rng=rng,
        cells=_checked_cells(cells, constraints.n_named, n_draws),
        options=walk_options or WalkOptions(),
        end=None if time_limit is None else working_seconds() + time_limit,
        progress=progress,
    )
    reasons: list[str] = []
    for way in WAYS if _checked_method(method) is Method.AUTO else (Method(method),):
        drawn = WAYS[way](ask) if ask.seconds_left != 0 else Unavailable("no time was left")
        if not isinstance(drawn, Unavailable):
            return drawn
        reasons.append(f"{way.value}: {drawn.reason}")
    return Unavailable("; ".join(reasons))


def _checked_method(method: str) -> Method:
    if method not in list(Method):
        raise InputError(must_be("method", f"one of {', '.join(Method)}", method))
    return Method(method)


def _checked_cells(cells: IntArray | None, n_cells: int, n_draws: int) -> IntArray:
    chosen = np.arange(n_cells, dtype=np.int64) if cells is None else np.array(cells, np.int64)
    if len(chosen) and not 0 <= chosen.min() <= chosen.max() < n_cells:
        raise InputError(must_be("cells", f"among 0 to {n_cells - 1}", "others"))
    if len(chosen) * n_draws > MOST_KEPT:
        rule = f"at most {MOST_KEPT} in all draws together"
        remedy = "name the cells that matter, or draw fewer tables"
        raise InputError(must_be("kept counts", rule, len(chosen) * n_draws, remedy=remedy))
    return chosen


def _exactly(ask: _Ask) -> Draws | Unavailable:
    """Independent draws from the exact distribution, where that fits its budget."""
    from discreet.fiber.draws.exact_draws import sampler
    from discreet.fiber.sums.dynamic_programming import Budget
    from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded

    budget = Budget(seconds=_least(EXACT_SECONDS, ask.seconds_left))
    try:
        batches = _matched_records(ask)
        if batches is None:
            found = sampler(ask.system, ask.prior, budget=budget, progress=ask.progress)
            batches = found.batches(ask.n_draws, rng=ask.rng)
        kept, stopped = _gathered(ask, batches)
    except BudgetExceeded as beyond:
        return Unavailable(str(beyond))
    weights = np.zeros(len(kept))
    return _weighted(ask, kept, weights, Method.EXACT, "exact independent draws", stopped)


def _gathered(ask: _Ask, batches: Iterator[IntArray]) -> tuple[IntArray, str]:
    """The chosen cells of tables that come in batches, and what ended that early, or nothing."""
    from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded

    kept: list[IntArray] = []
    done, stopped = 0, ""
    try:
        for batch in batches:
            kept.append(batch[:, ask.cells])
            done += len(batch)
            ask.progress("drawing tables", done / ask.n_draws)
            if ask.seconds_left == 0 and done < ask.n_draws:
                stopped = "stopped by the time limit"
                break
    except BudgetExceeded:
        if not kept:
            raise
        stopped = "stopped by the time limit"
    except KeyboardInterrupt as interruption:
        if interruption_ends_all():
            raise
        if not kept:
            raise Interrupted("drawing was stopped before the first table") from interruption
        stopped = "stopped by an interruption"
    return np.concatenate(kept), stopped


def _matched_records(ask: _Ask) -> Iterator[IntArray] | None:
    """Draws by matching records, for decomposable margins alone under the multinomial prior."""
    from discreet.fiber.draws.exact_draws import draw_decomposable
    from discreet.fiber.sums.dynamic_programming import Budget

    if ask.margins is None or not isinstance(ask.prior, Multinomial):
        return None
    moves = moves_of_margins(ask.margins, ask.system)
    if isinstance(moves, Unavailable) or not _is_plain(ask.system, moves):
        return None
    budget = Budget(seconds=ask.seconds_left)
    drawn = draw_decomposable(ask.margins, ask.n_draws, rng=ask.rng, budget=budget)
    return (table.reshape(1, -1) for table in drawn)


def _sequentially(ask: _Ask) -> Draws | Unavailable:
    found = weighted_draws(
        ask.system,
        ask.prior,
        ask.n_draws,
        rng=ask.rng,
        margins=ask.margins,
        time_limit=ask.seconds_left,
        progress=ask.progress,
    )
    if isinstance(found, Unavailable):
        return found
    if len(found.tables) == 0:
        return Unavailable(f"none of {found.n_tried} draws found a consistent table")
    kept = found.tables[:, ask.cells]
    return _weighted(ask, kept, found.log_weights, Method.SEQUENTIAL, found.how, found.stopped)


def _weighted(
    ask: _Ask,
    tables: IntArray,
    log_weights: FloatArray,
    method: Method,
    how: str,
    stopped: str = "",
) -> Draws:
    from discreet.fiber.draws.sequential import WeightedDraws

    draws = WeightedDraws(tables=tables, log_weights=log_weights, n_tried=len(tables), how=how)
    error = draws.standard_error()
    same = np.all(tables == tables[:1], axis=0)
    return Draws(
        tables=tables,
        cells=ask.cells,
        shares=draws.shares,
        method=method,
        how=how,
        mean=draws.mean(),
        standard_error=_with_still_cells(ask, error, same, draws.effective_draws),
        effective_draws=draws.effective_draws,
        warning=draws.warning if method is Method.SEQUENTIAL else "",
        stopped=stopped,
    )


def _with_still_cells(
    ask: _Ask, error: FloatArray, same: "np.typing.NDArray[np.bool_]", effective: float
) -> FloatArray:
    """Standard errors, with those of cells that never varied set by the rule of succession."""
    span = (ask.system.upper - ask.system.lower)[ask.cells]
    return np.where(same, span / (effective + 2), error)


def _by_walking(ask: _Ask) -> Draws | Unavailable:
    options = ask.options
    moves = options.moves or connecting_moves(
        ask.system, ask.margins, time_limit=_least(options.algebra_seconds, ask.seconds_left)
    )
    if isinstance(moves, Unavailable):
        return moves
    try:
        chains, sweep = _chains(ask, moves)
    except TooManyWeights as many:
        return Unavailable(str(many))
    n_kept = max(4, -(-ask.n_draws // options.n_chains))
    plan = WalkPlan(
        n_draws=n_kept,
        warm_up=n_kept if options.warm_up is None else options.warm_up,
        thin=options.thin
        if options.thin is not None
        else max(sweep, min(SWEEPS * sweep, CHEAP_MOVES)),
        time_limit=ask.seconds_left,
    )
    walked = walk(chains, plan, ask.cells, progress=ask.progress)
    if walked.tables.shape[1] < 4:
        if walked.stopped == INTERRUPTION:
            raise Interrupted("the walk was stopped before its fourth draw")
        return Unavailable(f"the walk was ended by {walked.stopped} before its fourth draw")
    return _of_walk(ask, walked, moves)


def _least(seconds: float, left: float | None) -> float:
    return seconds if left is None else min(seconds, left)


def _chains(ask: _Ask, moves: MoveSet) -> tuple[list[Chain], int]:
    """Chains from far-apart starts, and how many moves pass over all of the table once."""
    system, margins, n = ask.system, ask.margins, ask.options.n_chains
    sweep = max(1, system.n_columns)
    if margins is None or not isinstance(moves, LoopMoves) or not _is_plain(system, moves):
        starts = starting_points(system, n, rng=ask.rng)
        return line_chains(system, moves, ask.prior, starts, rng=ask.rng), sweep
    room = min(margins.total, margins.n_cells) * (len(margins.sizes) + 1)
    sparse = margins.total < margins.n_cells and room <= MOST_PARTS
    starts = starting_tables(margins, n, rng=ask.rng, sparse=sparse)
    if sparse:
        chains = swap_chains(system, margins, moves, ask.prior, starts, rng=ask.rng)
        return chains, max(1, margins.total)
    return line_chains(system, moves, ask.prior, starts, rng=ask.rng), sweep


def _is_plain(system: System, moves: LoopMoves) -> bool:
    """Whether margins alone limit the cells."""
    return not moves.limited and not np.any(system.lower > 0)


def _of_walk(ask: _Ask, walked: Walked, moves: MoveSet) -> Draws:
    diagnostics = diagnose(walked.tables)
    tables = walked.tables.reshape(prod(walked.tables.shape[:2]), len(ask.cells))
    error = np.zeros(len(ask.cells))
    error[diagnostics.varied] = diagnostics.standard_error
    effective = float(diagnostics.bulk_draws.min(initial=len(tables)))
    return Draws(
        tables=tables,
        cells=ask.cells,
        shares=np.full(len(tables), 1 / len(tables)),
        method=Method.WALK,
        how=f"walk of {diagnostics.n_chains} chains, connected because: {moves.why}",
        mean=tables.mean(axis=0),
        standard_error=_with_still_cells(ask, error, ~diagnostics.varied, effective),
        effective_draws=effective,
        diagnostics=diagnostics,
        warning=diagnostics.warning,
        stopped=f"stopped by {walked.stopped}" if walked.stopped else "",
    )


WAYS: dict[Method, Callable[[_Ask], Draws | Unavailable]] = {
    Method.EXACT: _exactly,
    Method.WALK: _by_walking,
    Method.SEQUENTIAL: _sequentially,
}
