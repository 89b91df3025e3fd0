"""Sequential importance sampling: tables filled piece by piece, each with the weight it deserves.

A table x is built by choices with known probabilities q(x); its weight w(x) / q(x) makes averages
over draws right for the prior w, and the mean weight estimates Σ w, which is the number of tables
where w = 1. A dead end (limits that leave no value) is a draw of weight zero and is counted as one,
so that nothing is biased.

Two ways to fill a table:
- *columns*, for two margins (two-way slices, with any limits on cells): a whole column is drawn at
  once from ∏ w(x_i) R_i(r_i − x_i) given its sum, R_i(m) being the total weight of all ways to fill
  the rest of row i with sum m, both exactly by dynamic programming. Only the sums of later columns
  are left out of account. Without limits every such column can be completed.
- *cells*, for any system: cell by cell, within whole-number limits that are passed along the
  equations after every choice (Buzzigoli and Giusti's shuttle). A value is chosen ∝ its weight,
  tilted towards the released figures (see `tilt`), times for each equation a normal approximation
  to the probability that the cells left to fill make up the rest.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Context, Decimal
from math import prod
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from discreet.clock import work, working_seconds
from discreet.errors import InputError, Interrupted, must_be
from discreet.fiber.draws.moves import Cut, check_same_rows, cuts_of, offsets_of
from discreet.fiber.draws.tilt import balanced
from discreet.fiber.draws.walk_weights import TooManyWeights, weight_table
from discreet.fiber.system.linear_system import System, system_of
from discreet.fiber.system.margins import Margins
from discreet.fiber.system.priors import Prior, Uniform
from discreet.figures import Unavailable
from discreet.numerics.arrays import FloatArray, IntArray, read_only
from discreet.numerics.rounding import alike
from discreet.progress import Progress, interruption_ends_all, silent

LEAST_EFFECTIVE = 100
MOST_VALUES = 2**24  # entries of a slice's table of weights
MOST_FILLED = 2**32  # pairs of a value and a rest that are gone through before columns are drawn
MOST_TRIED = 2**28  # values tried for one table
CELLS_A_SECOND = 1.5e6  # in a few equations each
VALUES_A_SECOND = 2e8  # of these cells
COLUMN_VALUES_A_SECOND = 5e7  # of cells of a slice that is filled by columns
PAIRS_A_SECOND = 4e7  # of a cell to fill and a cell in one of its equations
TILT_SHARE = 0.2  # of the time, for slopes that make draws better
BEYOND = (
    0.5  # how far beyond the heaviest a draw that was not made lies, in its distance to the mean
)
MOST_OVER = 1.5  # of the time limit that the last batch may take
BATCH_NUMBERS = 2**17  # random numbers drawn at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number estimated from draws, with its standard error; both grow beyond floats if need be.

    `value` and `standard_error` are floats below 1e300 and whole numbers above.
    """

    value: float | int
    standard_error: float | int
    log_value: float
    relative_error: float
    effective_draws: float
    n_draws: int
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedDraws:
    """Tables (draws × cells) with log weights log w(x) / q(x); dead ends are counted, not kept."""

    tables: IntArray
    log_weights: FloatArray
    n_tried: int
    how: str
    stopped: str = ""

    def __post_init__(self) -> None:
        read_only(self.tables)
        read_only(self.log_weights)

    @property
    def shares(self) -> FloatArray:
        """The weights, scaled to a sum of one."""
        found: FloatArray = np.exp(self.log_weights - logsumexp(self.log_weights))
        return found

    @property
    def effective_draws(self) -> float:
        """(Σ weight)² / Σ weight²: as many unweighted draws would tell about as much.

        All of them where weights differ by rounding alone, as they do where columns are exact:
        else a hundred such draws would be "fewer than 100" on some processors.
        """
        logs = self.log_weights
        if len(logs) == 0 or alike(logs.min(), logs.max(), scale=1.0):
            return float(len(logs))
        return float(1 / np.sum(self.shares**2))

    @property
    def warning(self) -> str:
        """Why not to trust the weights, or nothing."""
        if self.effective_draws < LEAST_EFFECTIVE:
            return (
                f"only {self.effective_draws:.1f} effective draws of {self.n_tried}: few tables "
                "carry the weight, so that errors may be far larger than stated; allow more seconds"
            )
        return ""

    def mean(self) -> FloatArray:
        """The weighted mean of each cell."""
        return self.shares @ self.tables

    def standard_error(self) -> FloatArray:
        """Of the weighted means: √Σ share² (x − mean)², the delta method of a ratio."""
        found: FloatArray = np.sqrt(self.shares**2 @ (self.tables - self.mean()) ** 2)
        return found

    def total(self) -> Estimate | Unavailable:
        """Σ w over all tables: their number under the uniform prior."""
        if len(self.log_weights) == 0:
            return Unavailable(f"none of {self.n_tried} draws found a consistent table")
        log_value = float(logsumexp(self.log_weights) - np.log(self.n_tried))
        relative = self._relative_error()
        return Estimate(
            value=_number(log_value),
            standard_error=_number(log_value, relative),
            log_value=log_value,
            relative_error=relative,
            effective_draws=self.effective_draws,
            n_draws=self.n_tried,
            note="; ".join(filter(None, [self.how, self.stopped, self.warning])),
        )

    def _relative_error(self) -> float:
        """Standard error of the mean weight, relative to it.

        Few draws carry most of the weight, and a sample that lacks them is too low and looks too
        sure of itself. So one more draw is counted, half as far again above the mean as the
        heaviest: without it, errors made on known fibers were a quarter larger than stated.
        """
        if alike(self.log_weights.min(), self.log_weights.max(), scale=1.0):
            shares = np.ones(len(self.log_weights))  # all tables that were found count alike
            beyond = 0.0
        else:
            shares = np.exp(self.log_weights - self.log_weights.max())
            beyond = 1.0 + BEYOND * (1.0 - float(shares.mean()))
        n = self.n_tried + (beyond > 0)
        mean = (shares.sum() + beyond) / n
        spread = (shares @ shares + beyond**2) / n - mean**2
        return float(np.sqrt(max(0.0, spread) / n) * self.n_tried / shares.sum())


def _number(log_value: float, factor: float = 1.0) -> float | int:
    """factor · exp(log_value), as a whole number where floats end."""
    if log_value < 690:
        return float(factor * np.exp(log_value))
    exact = Context(prec=30, Emax=10**9)
    return int(exact.multiply(exact.exp(Decimal(log_value)), Decimal(factor)))


def estimate_count(
    constraints: System | Margins,
    *,
    n_draws: int,
    rng: np.random.Generator,
    margins: Margins | None = None,
    time_limit: float | None = None,
    progress: Progress = silent,
) -> Estimate | Unavailable:
    """The number of consistent tables with its standard error, or why there is no estimate."""
    drawn = weighted_draws(
        constraints,
        Uniform(),
        n_draws,
        rng=rng,
        margins=margins,
        time_limit=time_limit,
        progress=progress,
    )
    return drawn if isinstance(drawn, Unavailable) else drawn.total()


def weighted_draws(
    constraints: System | Margins,
    prior: Prior,
    n_draws: int,
    *,
    rng: np.random.Generator,
    margins: Margins | None = None,
    time_limit: float | None = None,
    progress: Progress = silent,
) -> WeightedDraws | Unavailable:
    """Tables with weights that make averages right for the prior; as many as asked, or fewer.

    Two margins are filled by columns where their sums are not too large, all else by cells.
    `margins` are those of a system that adds limits on cells to them. An interruption or the time
    limit leaves the draws so far. Unavailable where cells can take so many values that weights
    cannot be listed or one table would take longer than there is time.
    """
    if n_draws < 1:
        raise InputError(must_be("n_draws", "at least 1", n_draws))
    if isinstance(constraints, Margins):
        margins = constraints
        constraints = system_of(margins.n_cells, margins.statements())
    elif margins is not None:
        check_same_rows(constraints, margins)
    if np.any(constraints.lower > constraints.upper):
        return Unavailable("limits of a cell contradict each other: there is no table")
    filler = _column_filler(constraints, margins, prior) if margins else None
    how = "columns of two-way slices"
    if filler is None:
        refusal = _too_wide(constraints, time_limit)
        if refusal is not None:
            return refusal
        try:
            filler, how = _cell_filler(constraints, prior, time_limit), "cell by cell"
        except TooManyWeights as many:
            return Unavailable(str(many))
    return _collected(filler, constraints.n_named, n_draws, how, rng, time_limit, progress)


def _too_wide(system: System, time_limit: float | None) -> Unavailable | None:
    """Why no table is filled cell by cell: cells that can take too many values, or nothing."""
    values = float((system.upper - system.lower).astype(np.float64).sum())
    if values > MOST_TRIED:
        return Unavailable(
            f"cells can take more than {MOST_TRIED:,} values in all, too many to try for each table"
        )
    if time_limit is not None and _seconds_a_table(system, values) > time_limit:
        return Unavailable(f"one table would take longer than the {time_limit:.3g} s there are")
    return None


def _seconds_a_table(system: System, values: float) -> float:
    """What filling one table takes, roughly: every value of a cell is tried, and after each choice
    limits pass along the equations of the cell, over all of their cells."""
    open_cells = (system.lower < system.upper).astype(np.float64)
    ones = abs(system.matrix.copy()).sign()
    pairs = float((ones @ open_cells) @ (ones @ np.ones(system.n_columns)))
    cells = float(open_cells.sum()) / CELLS_A_SECOND
    return cells + values / VALUES_A_SECOND + pairs / PAIRS_A_SECOND


class Filler(NamedTuple):
    """Fills tables, so many at a time, with their log weights; what one of them takes."""

    fill: Callable[[int, np.random.Generator], tuple[IntArray, FloatArray]]
    seconds: float


def _collected(
    filler: Filler,
    n_cells: int,
    n_draws: int,
    how: str,
    rng: np.random.Generator,
    time_limit: float | None,
    progress: Progress,
) -> WeightedDraws:
    begun, tried, batch, stopped = working_seconds(), 0, 1, ""
    found: list[tuple[IntArray, FloatArray]] = []
    progress("drawing tables", None)
    try:
        while tried < n_draws and not stopped:
            batch = min(batch, n_draws - tried)
            tables, log_weights = filler.fill(batch, rng)
            work(batch * filler.seconds)
            alive = log_weights > -np.inf
            found.append((tables[alive], log_weights[alive]))
            tried += batch
            progress("drawing tables", tried / n_draws)
            batch = _next_batch(batch, n_cells)
            if _is_late(time_limit, working_seconds() - begun, batch / tried) and tried < n_draws:
                stopped = f"stopped by the time limit of {time_limit:.3g} s"
    except KeyboardInterrupt:
        if interruption_ends_all():
            raise
        stopped = "stopped by an interruption"
    if tried == 0:
        raise Interrupted("drawing was stopped before the first table")
    return WeightedDraws(
        tables=np.concatenate([tables for tables, _ in found]),
        log_weights=np.concatenate([weights for _, weights in found]),
        n_tried=tried,
        how=f"sequential importance sampling, {how}",
        stopped=stopped,
    )


def _is_late(time_limit: float | None, spent: float, share: float) -> bool:
    """Whether the time is over, or would be by far after a batch `share` times all so far."""
    if time_limit is None:
        return False
    return spent > time_limit or spent * (1 + share) > MOST_OVER * time_limit


def _next_batch(batch: int, n_cells: int) -> int:
    """Sizes that do not depend on the clock, so that a seed gives the same draws each time."""
    return max(1, min(2 * batch, BATCH_NUMBERS // max(1, n_cells)))


def _cell_filler(system: System, prior: Prior, seconds: float | None) -> Filler:
    """Fills tables of any system cell by cell."""
    from discreet.fiber.draws.sequential_kernels import Guide, Rows, fill_cells

    weights = weight_table(prior, system)
    by_row, by_column = system.matrix.tocsr(), system.matrix.tocsc()
    layout = (by_row.indptr, by_row.indices, by_row.data, system.right)
    arrays = (*layout, by_column.indptr, by_column.indices)
    rows = Rows(*(np.asarray(array, dtype=np.int64) for array in arrays))
    tilt = balanced(system, weights, None if seconds is None else TILT_SHARE * seconds)
    tilted = weights.for_kernels()._replace(slope=weights.slope + tilt.slopes)
    guide = Guide(tilt.mean, tilt.variance)
    order = _cell_order(system)

    def fill(n: int, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
        points = np.zeros((n, system.n_columns), dtype=np.int64)
        log_chosen = np.empty(n)
        uniforms = rng.random((n, len(order)))
        limits = (system.lower, system.upper)
        fill_cells(rows, *limits, order, tilted, guide, uniforms, points, log_chosen)
        alive = log_chosen > -np.inf
        points[~alive] = system.lower
        own = weights.values[weights.start + points] + weights.slope * points
        return points[:, : system.n_named], np.where(alive, own.sum(axis=1) - log_chosen, -np.inf)

    values = float((system.upper - system.lower).astype(np.float64).sum())
    return Filler(fill, _seconds_a_table(system, values))


def _cell_order(system: System) -> IntArray:
    """Cells before slacks, in their own order."""
    return np.arange(system.n_columns, dtype=np.int64)


def _column_filler(system: System, margins: Margins, prior: Prior) -> Filler | None:
    """Fills tables with two margins slice by slice; None where the margins or sums forbid it."""
    tree = cuts_of(tuple(margins.tables))
    covered = set().union(*margins.tables)
    if tree is None or len(tree) != 1 or len(covered) < len(margins.sizes):
        return None
    slices = []
    for part in _slices(system, margins, tree[0]):
        most = 1 + max(int(side.max(initial=0)) for side in (part.rows, part.columns))
        values = part.rows.size * part.columns.size * most
        if values > MOST_VALUES or values * most > MOST_FILLED:
            return None
        slices.append(part)
    fillers = [_SliceFiller.of(part, system, prior) for part in slices]

    def fill(n: int, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
        tables = np.zeros((n, system.n_named), dtype=np.int64)
        log_weights = np.zeros(n)
        for filler in fillers:
            tables[:, filler.cells], own = filler.fill(n, rng)
            log_weights += own
        return tables, log_weights

    return Filler(fill, sum(one.log_weights.size for one in fillers) / COLUMN_VALUES_A_SECOND)


@dataclass(frozen=True, slots=True)
class _Slice:
    """A two-way table: its row and column sums, and the numbers of its cells."""

    rows: IntArray
    columns: IntArray
    cells: IntArray  # rows × columns


def _slices(system: System, margins: Margins, cut: Cut) -> Iterator[_Slice]:
    """The two-way tables, left × right side, of each combination of levels of the separator."""
    left, right = offsets_of(margins, cut.left), offsets_of(margins, cut.right)
    sums = [_spread(margins, cut.separator, side) for side in (cut.left, cut.right)]
    for s, base in enumerate(offsets_of(margins, cut.separator)):
        cells = base + left[:, None] + right
        yield _Slice(sums[0][s], sums[1][s], cells)


def _spread(margins: Margins, separator: tuple[int, ...], side: tuple[int, ...]) -> IntArray:
    """The margin over separator and side, with the separator's combinations as rows."""
    axes = tuple(sorted(separator + side))
    table = margins.tables[axes].transpose([axes.index(i) for i in separator + side])
    return table.reshape(prod(margins.sizes[i] for i in separator), -1)


@dataclass(frozen=True, slots=True)
class _SliceFiller:
    """Fills one slice: the shorter side as columns' cells, columns of larger sums first."""

    cells: IntArray  # flat, rows × columns as filled
    rows: IntArray
    columns: IntArray
    log_weights: FloatArray
    rest_weights: FloatArray

    @classmethod
    def of(cls, part: _Slice, system: System, prior: Prior) -> "_SliceFiller":
        """Prepares the weights of all values of its cells and of all rests of its rows."""
        from discreet.fiber.draws.sequential_kernels import completions

        rows, columns, cells = part.rows, part.columns, part.cells
        if len(rows) < len(columns):
            rows, columns, cells = columns, rows, cells.T
        order = np.argsort(-columns, kind="stable")
        columns, cells = columns[order], cells[:, order]
        values = np.arange(int(rows.max(initial=0)) + 1, dtype=np.int64)
        shape = (*cells.shape, len(values))
        spread = np.broadcast_to(cells[:, :, None], shape)
        log_weights = np.array(
            prior.log_weight(spread, np.broadcast_to(values, shape)), dtype=np.float64
        )
        log_weights[(values < system.lower[spread]) | (values > system.upper[spread])] = -np.inf
        rest_weights = np.full(shape, -np.inf)
        completions(log_weights, np.ascontiguousarray(rows), rest_weights)
        return cls(cells.ravel(), np.ascontiguousarray(rows), columns, log_weights, rest_weights)

    def fill(self, n: int, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
        """Tables (draws × cells) of the slice and their log weights."""
        from discreet.fiber.draws.sequential_kernels import fill_columns

        n_rows, n_columns = len(self.rows), len(self.columns)
        tables = np.zeros((n, n_rows, n_columns), dtype=np.int64)
        log_chosen = np.empty(n)
        uniforms = rng.random((n, n_columns, n_rows))
        weights = (self.log_weights, self.rest_weights)
        fill_columns(self.rows, self.columns, *weights, uniforms, tables, log_chosen)
        alive = log_chosen > -np.inf
        i, j = np.indices((n_rows, n_columns))
        own = self.log_weights[i, j, tables].sum(axis=(1, 2))
        log_weights = np.full(n, -np.inf)
        log_weights[alive] = own[alive] - log_chosen[alive]
        return tables.reshape(n, -1), log_weights
