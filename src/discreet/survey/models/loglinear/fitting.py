"""Log-linear models fitted by iterative proportional fitting over the cells that may be occupied.

A hierarchical model is named by its generators, the margins it reproduces. The fitted means start
at one value everywhere and are rescaled to one margin after the other until all agree (deming-
stephan 1940); the limit is the maximum-likelihood fit. A cell in which some generator's margin is
zero, or that is declared impossible, has the mean 0: it is never stored, so a table much larger
than memory can be fitted as long as few of its cells are left.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.data.structural_zeros import StructuralZeros
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray, read_only
from discreet.numerics.graphs import Graph, Keys
from discreet.progress import Progress, silent
from discreet.survey.models.loglinear.cell_sums import CellSums, Function
from discreet.survey.models.loglinear.decomposable import DecomposableFit
from discreet.survey.models.loglinear.occupied_cells import (
    LevelArray,
    OccupiedCells,
    combination_code,
)

MOST_CELLS = 1 << 26
TOLERANCE = 0.02  # records by which a fitted margin may differ from the sample's
MOST_SWEEPS = 100
KEPT_BYTES = 1 << 29  # of places of cells in margins; beyond that they are worked out again
VARIANCE_TOLERANCE, MOST_STEPS = 0.01, 40  # of the conjugate gradient


class TableTooLarge(Exception):  # noqa: N818 - an answer
    """More cells may be occupied than the fit may hold."""


def all_of_order(n_keys: int, order: int) -> tuple[Keys, ...]:
    """Generators of the model with all interactions of so many keys: 1 is independence."""
    return tuple(itertools.combinations(range(n_keys), min(order, n_keys)))


@dataclass(frozen=True)
class Support:
    """The cells with a positive mean, in the order of their codes."""

    sizes: tuple[int, ...]
    levels: LevelArray

    def __len__(self) -> int:
        return int(self.levels.shape[1])

    @property
    def is_full(self) -> bool:
        """Whether every cell of the table is there."""
        return len(self) == math.prod(self.sizes)

    @cached_property
    def codes(self) -> IntArray:
        """One ascending number a cell."""
        return combination_code(self.levels, tuple(range(len(self.sizes))), self.sizes)

    def places(self, levels: LevelArray) -> tuple[IntArray, BoolArray]:
        """Where each cell stands, and whether it is there at all."""
        if len(self) == 0:
            return np.zeros(levels.shape[1], np.int64), np.zeros(levels.shape[1], np.bool_)
        wanted = combination_code(levels, tuple(range(len(self.sizes))), self.sizes)
        place = np.minimum(np.searchsorted(self.codes, wanted), len(self) - 1)
        return place, self.codes[place] == wanted


@dataclass(frozen=True)
class IterativeFit:
    """Fitted means on the support, the largest deviation of a margin, and the sweeps it took."""

    cells: OccupiedCells
    generators: tuple[Keys, ...]
    support: Support
    mean: FloatArray
    deviation: float
    sweeps: int

    def __post_init__(self) -> None:
        read_only(self.mean)

    @property
    def sample_size(self) -> int:
        """n, which the fitted means add up to."""
        return self.cells.sample_size

    @property
    def n_parameters(self) -> int:
        """Free parameters: over all sets of keys in a generator, combinations seen with signs.

        Exact while no zero margin hides a dependence between parameters, else a close upper limit.
        """
        sets = {
            keys
            for generator in self.generators
            for size in range(len(generator) + 1)
            for keys in itertools.combinations(generator, size)
        }
        return sum(self._interaction(keys) for keys in sets)

    def _interaction(self, keys: Keys) -> int:
        return sum(
            (-1) ** (len(keys) - size) * len(self.cells.margin(part).code)
            for size in range(len(keys) + 1)
            for part in itertools.combinations(keys, size)
        )

    @cached_property
    def sample_mean(self) -> FloatArray:
        """μ of each occupied cell."""
        return np.asarray(read_only(self.mean_at(self.cells.levels)))

    def mean_at(self, levels: LevelArray) -> FloatArray:
        """μ of any cells, `levels` being keys × cells."""
        place, there = self.support.places(levels)
        return np.where(there, self.mean[place] if len(self.mean) else 0.0, 0.0)

    def sums(self, functions: Sequence[Function], limit: float) -> CellSums:
        """Σ μ·ψ(μ) over all cells, cell by cell."""
        totals = [float((self.mean * function(self.mean)).sum()) for function in functions]
        return CellSums(np.array(totals), np.zeros(len(totals)), len(self.mean))

    def estimation_variance(self, slope: FloatArray) -> float:
        """Var of Σ_k t_k from the error of μ̂, with `slope` = dt_k / d log μ_k for occupied cells.

        g′A⁻¹g − (Σ slope)²/n with g the slopes gathered into the model's margins and A = X′ diag(μ)
        X the information of a Poisson sample, the last term since n is fixed. Conjugate gradients
        solve A z = g; A is singular, but g lies in its range. The value comes from below, and the
        steps end when it grows by less than 1 %.
        """
        columns = list(_indices(self.support, self.generators, self.cells))
        place, there = self.support.places(self.cells.levels)
        spread = np.bincount(place[there], slope[there], len(self.mean)).astype(np.float64)
        total = float(slope.sum())
        form = _quadratic_form(columns, self.mean, _gathered(columns, spread))
        return max(0.0, form - total * total / self.sample_size)


def _gathered(columns: Sequence[tuple[IntArray, int]], values: FloatArray) -> FloatArray:
    """X′ values: the values of the cells added up into the tables of all generators."""
    return np.concatenate([np.bincount(i, values, n).astype(np.float64) for i, n in columns])


def _quadratic_form(
    columns: Sequence[tuple[IntArray, int]], mean: FloatArray, g: FloatArray
) -> float:
    """g′A⁻¹g by conjugate gradients, preconditioned by the margins themselves."""
    d = _gathered(columns, mean)
    scale = np.divide(1.0, d, out=np.zeros(len(d)), where=d > 0)
    ends = np.cumsum([n for _, n in columns])[:-1]

    def information(z: FloatArray) -> FloatArray:
        parts = np.split(z, ends)
        eta = np.sum([part[i] for part, (i, _) in zip(parts, columns, strict=True)], axis=0)
        return _gathered(columns, mean * eta)

    residual = g.copy()
    step = scale * residual
    size, form = float(residual @ step), 0.0
    for _ in range(MOST_STEPS):
        image = information(step)
        curve = float(step @ image)
        if size <= 0 or curve <= 0:
            break
        length = size / curve
        form += length * size
        if length * size <= VARIANCE_TOLERANCE * form:
            break
        residual -= length * image
        fresh = scale * residual
        previous, size = size, float(residual @ fresh)
        step = fresh + size / previous * step
    return form


def fit_by_iteration(
    cells: OccupiedCells,
    generators: Sequence[Keys],
    *,
    impossible: StructuralZeros | None = None,
    smoothing: float = 0.0,
    most_cells: int = MOST_CELLS,
    tolerance: float = TOLERANCE,
    progress: Progress = silent,
) -> IterativeFit:
    """The maximum-likelihood fit of the model with these generators.

    `smoothing` w in [0, 1] replaces each margin by (1 − w)·n(C) + w·n·∏ n(a)/n, the margin under
    independence: margins stay consistent with each other, and 0 < w < 1 is a fit between the two
    models with no zero margins. Raises TableTooLarge where more than `most_cells` cells may be
    occupied. With impossible cells there may be no exact fit: `deviation` tells.
    """
    if not cells.has_code(tuple(range(len(cells.sizes)))):
        raise TableTooLarge("a cell has no 64-bit code")
    wanted = tuple(tuple(sorted(generator)) for generator in generators)
    targets = [_target(cells, keys, smoothing) for keys in wanted]
    support = _support(cells, wanted, targets, impossible, most_cells)
    mean = np.full(len(support), cells.sample_size / max(len(support), 1))
    return _iterated(cells, wanted, targets, support, mean, tolerance, progress)


def _iterated(
    cells: OccupiedCells,
    generators: tuple[Keys, ...],
    targets: Sequence[FloatArray],
    support: Support,
    mean: FloatArray,
    tolerance: float,
    progress: Progress,
) -> IterativeFit:
    """Rescales to one margin after the other until all agree."""
    kept = None
    if len(support) * len(generators) * 8 <= KEPT_BYTES or support.is_full:
        kept = list(_margins_of(support, generators, cells))
    deviation, sweep = math.inf, 0
    while deviation > tolerance and sweep < MOST_SWEEPS:
        deviation = 0.0
        margins = kept or _margins_of(support, generators, cells)
        for target, margin in zip(targets, margins, strict=True):
            held = margin.held(mean)
            deviation = max(deviation, float(np.abs(held - target).max(initial=0.0)))
            margin.rescale(mean, np.divide(target, held, out=np.zeros(len(held)), where=held > 0))
        sweep += 1
        progress("fitting the log-linear model", None)
    return IterativeFit(cells, generators, support, mean, deviation, sweep)


@dataclass(frozen=True, slots=True)
class _ListedMargin:
    """A margin of cells listed one by one: the place of each in the margin's table."""

    index: IntArray
    size: int

    def held(self, mean: FloatArray) -> FloatArray:
        return np.bincount(self.index, mean, self.size).astype(np.float64, copy=False)

    def rescale(self, mean: FloatArray, ratio: FloatArray) -> None:
        mean *= ratio[self.index]


@dataclass(frozen=True, slots=True)
class _FullMargin:
    """A margin of a full table, whose axes tell the places."""

    sizes: tuple[int, ...]
    keys: Keys

    def held(self, mean: FloatArray) -> FloatArray:
        others = tuple(key for key in range(len(self.sizes)) if key not in self.keys)
        table: FloatArray = mean.reshape(self.sizes)
        return np.asarray(table.sum(axis=others)).ravel()

    def rescale(self, mean: FloatArray, ratio: FloatArray) -> None:
        shape = [size if key in self.keys else 1 for key, size in enumerate(self.sizes)]
        table = mean.reshape(self.sizes)
        table *= ratio.reshape(shape)


def _margins_of(
    support: Support, generators: Sequence[Keys], cells: OccupiedCells
) -> Iterator[_ListedMargin | _FullMargin]:
    """The margins of all generators; those of a full table need no list of places."""
    if support.is_full:
        yield from (_FullMargin(support.sizes, keys) for keys in generators)
    else:
        yield from (_ListedMargin(i, n) for i, n in _indices(support, generators, cells))


def _indices(
    support: Support, generators: Sequence[Keys], cells: OccupiedCells
) -> Iterator[tuple[IntArray, int]]:
    """For each generator the place of every cell in its table, and the size of that table."""
    for keys in generators:
        yield combination_code(support.levels, keys, cells.sizes), cells.n_combinations(keys)


def _target(cells: OccupiedCells, keys: Keys, smoothing: float) -> FloatArray:
    """The margin of some keys as a plain array, mixed with that under independence."""
    size = cells.n_combinations(keys)
    if size > MOST_CELLS:
        raise TableTooLarge(f"the margin of keys {keys} alone has {size} cells")
    margin = cells.margin(keys)
    target = np.zeros(size)
    target[margin.code] = (1 - smoothing) * margin.total
    if smoothing > 0:
        apart = DecomposableFit(Graph.empty(len(cells.sizes)), cells)
        target += smoothing * _independent_margin(apart, keys)
    return target


def _independent_margin(fit: DecomposableFit, keys: Keys) -> FloatArray:
    """n·∏ n(a)/n over all combinations of some keys."""
    result = np.full(1, float(fit.sample_size))
    for key in keys:
        margin = fit.cells.margin((key,))
        share = np.zeros(fit.cells.sizes[key])
        share[margin.code] = margin.total / fit.sample_size
        result = np.outer(result, share).ravel()
    return result


def _support(
    cells: OccupiedCells,
    generators: Sequence[Keys],
    targets: Sequence[FloatArray],
    impossible: StructuralZeros | None,
    most_cells: int,
) -> Support:
    """Cells with every margin positive, built up key by key."""
    small = np.min_scalar_type(max(max(cells.sizes) - 1, 1))
    levels = np.zeros((0, 1), dtype=small)
    positive = [target > 0 for target in targets]
    for key, size in enumerate(cells.sizes):
        checks = [
            (_part(keys, key), _projected(table, keys, key, cells))
            for keys, table in zip(generators, positive, strict=True)
            if key in keys
        ]
        blocks = []
        held = 0
        for block in _blocks(levels, max(1, (1 << 22) // size)):
            grown = _grown(block, size, checks, cells.sizes, small)
            held += grown.shape[1]
            if held > most_cells:
                raise TableTooLarge(f"more than {most_cells} cells may be occupied")
            blocks.append(grown)
        levels = np.concatenate(blocks, axis=1)
    if impossible is not None and impossible.boxes:
        keep = [~impossible.covers(part.T.astype(np.int64)) for part in _blocks(levels, 1 << 20)]
        levels = levels[:, np.concatenate(keep)]
    return Support(cells.sizes, levels)


def _part(keys: Keys, last: int) -> Keys:
    return tuple(key for key in keys if key <= last)


def _projected(table: BoolArray, keys: Keys, last: int, cells: OccupiedCells) -> BoolArray:
    """Which combinations of the keys up to `last` have some positive entry."""
    shape = (cells.n_combinations(_part(keys, last)), -1)
    return np.asarray(table.reshape(shape).any(axis=1))


def _blocks(levels: LevelArray, width: int) -> Iterator[LevelArray]:
    for start in range(0, max(levels.shape[1], 1), width):
        yield levels[:, start : start + width]


def _grown(
    block: LevelArray,
    size: int,
    checks: Iterable[tuple[Keys, BoolArray]],
    sizes: Sequence[int],
    dtype: np.dtype[np.generic],
) -> LevelArray:
    """The cells with each level of the next key added, those kept that pass the checks."""
    keep = np.ones((block.shape[1], size), dtype=np.bool_)
    for keys, positive in checks:
        before = combination_code(block, keys[:-1], sizes) * size
        keep &= positive[before[:, None] + np.arange(size)]
    row, level = np.nonzero(keep)
    return np.concatenate([block[:, row], level[None, :].astype(dtype)])
