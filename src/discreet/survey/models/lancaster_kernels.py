"""The mass of the positive part of an additive model over all its cells: loops and their plan.

A cell is a path in a tree, one variable a depth, the innermost variable unrolled as a row. The
factor and the weight of a cell are

    s(i) = base + Σ_a u_a(i_a) + Σ_{a<b} g_ab(i_a, i_b),        w(i) = ∏_a p_a(i_a),

with u and g centred under p (Σ p_a u_a = 0, Σ p_a g_ab = Σ p_b g_ab = 0), and the mass sought is
Σ w·max(s, 0). For a box of cells that share their first levels, with h_b(j) = u_b(j) + Σ g_ab(i_a,
j) over the fixed levels i_a, centring gives in closed form

    mean of s        μ  = base + all terms among the fixed levels
    variance of s    σ² = Σ_b Σ_j p_b(j)·h_b(j)² + Σ_{b<c} Σ p_b·p_c·g_bc²          (b, c free)
    limits of s      μ + Σ_b max_j {h_b(j) + Σ_{c>b} max_l g_bc(j, l)}, the same with min

A box whose upper limit is not positive holds nothing, one whose lower limit is not negative holds
w·μ; any other holds from w·max(μ, 0) (Jensen) to w·½(μ + √(σ² + μ²)) (Cauchy–Schwarz). Boxes are
opened until they are certain, or until their limits are as close as asked; a box left closed is
estimated by draws. Everything a kernel calls stands in this file: the compiled cache does not
notice a change in another one.
"""

import itertools
import math
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from discreet.numerics.arrays import BoolArray, FloatArray, IntArray
from discreet.numerics.kernels import kernel

EXACT, LOW, HIGH, WIDEST, DRAWN, VARIANCE, VARIANCE_LIMIT, HITS = range(8)
CLOSED, WORK, DRAW_WORK, ABORTED, N_OUT = range(8, 13)
CLEAN, MIXED, IMPOSSIBLE = range(3)

ROW_CELLS = 256  # small innermost variables are joined up to this many cells, so that rows fill
LANES = 8  # and rows are padded to full vector registers with levels of probability zero
MAX_PREFIXES, MAX_PARTS = 4096, 128  # in which a table is handed out, to be shared and stopped
MIN_HITS = 30  # non-zero draws below which their own spread says little
SMALL_BLOCK = 2**16  # cells that are sooner added up than estimated
LEVEL_WORK = 8.0  # time of one level on the way down, in cells of a row
PAIR_WORK = 8.0  # and of one interaction of a cell drawn

Report = Callable[[float, float], None]  # share of the sweep done, work so far

# Rows are summed in the order that fills vector registers; the order is the same in every run.
FAST = {"reassoc", "contract", "nsz", "nnan"}


class Tree(NamedTuple):
    """The variables in order of depth, their levels end to end.

    Levels of variable a are offsets[a] … offsets[a+1]−1; the interactions of level i with the
    levels of all later variables start at pairs[row[i]].
    """

    base: float
    offsets: IntArray
    probability: FloatArray
    cumulative: FloatArray  # of probability within each variable
    main: FloatArray  # u
    row: IntArray
    pairs: FloatArray  # g
    most: FloatArray  # Σ over later variables of the largest interaction of the level
    least: FloatArray  # Σ over later variables of the smallest
    row_most: FloatArray  # the largest interaction of the level with the innermost variable
    row_least: FloatArray  # the smallest
    pair_variance: FloatArray  # by depth, over the pairs of variables from there on
    zeros: BoolArray  # impossible boxes × levels: is the level inside?
    zeros_end: IntArray  # deepest variable that each impossible box restricts


class Stack(NamedTuple):
    """What is known at each depth of the path walked now."""

    level: IntArray
    score: FloatArray  # μ
    weight: FloatArray  # w
    effect: FloatArray  # h, depth × levels
    limits: FloatArray  # depth × upper and lower: of its own variable, of all later, of the row
    alive: BoolArray  # depth × impossible boxes: may the box still hold this path?
    drawn: IntArray  # levels of a cell drawn from below the path


class Closing(NamedTuple):
    """When a box is left closed, and how it is then estimated."""

    threshold: float  # its limits differ by no more mass
    draws: int  # from each closed box, at least two
    state: Any  # of the random numbers, one 64-bit word
    stop: IntArray  # set its only entry to end the drawing


class PositiveSums(NamedTuple):
    """What a sweep over the table found; `low` and `high` are certain, `value` lies between."""

    value: float
    standard_error: float
    low: float
    high: float
    exact: bool
    widest: float  # difference between the limits of the least certain box left closed
    work: float  # cells and levels touched
    draw_work: float  # of it for draws


def _new_stack(tree: Tree) -> Stack:
    depth, width = len(tree.offsets) - 1, len(tree.main)
    effect, limits = np.zeros((depth, width)), np.zeros((depth, 6))
    effect[0] = tree.main
    for side, extreme, later in ((0, np.maximum, tree.most), (1, np.minimum, tree.least)):
        by_variable = extreme.reduceat(tree.main + later, tree.offsets[:-1])
        limits[0, side::2] = by_variable[0], by_variable[1:].sum(), by_variable[-1]
    score, weight = np.full(depth, tree.base), np.ones(depth)
    alive = np.ones((depth + 1, len(tree.zeros_end)), np.bool_)
    level, drawn = np.zeros(depth, np.int64), np.zeros(depth, np.int64)
    return Stack(level, score, weight, effect, limits, alive, drawn)


@kernel(fastmath=FAST)
def _add(source: Any, more: Any, target: Any) -> None:
    """target = source + more, as a loop: a slice assigned to another costs seconds to compile."""
    for j in range(len(target)):
        target[j] = source[j] + more[j]


@kernel(fastmath=FAST)
def _extremes(effect: Any, most: Any, least: Any) -> Any:
    """Largest and smallest effect of one variable, with what later variables can add."""
    top, bottom = effect[0] + most[0], effect[0] + least[0]
    for j in range(1, len(effect)):
        top = max(top, effect[j] + most[j])
        bottom = min(bottom, effect[j] + least[j])
    return top, bottom


@kernel()
def _set_limits(tree: Any, stack: Any, depth: int, i: int) -> None:
    """Limits at `depth` below level i; of the row alone, looser ones while it is being unrolled.

    Finding the extremes of a row takes as long as summing it, so at the depth of the rows they are
    had from those one depth up and the extremes of what level i adds.
    """
    last, offsets, limits = len(tree.offsets) - 2, tree.offsets, stack.limits[depth]
    effect, most, least = stack.effect[depth], tree.most, tree.least
    if depth < last - 1:
        low, high = offsets[last], offsets[last + 1]
        limits[4], limits[5] = _extremes(effect[low:high], most[low:high], least[low:high])
    else:
        limits[4] = stack.limits[depth - 1, 4] + tree.row_most[i]
        limits[5] = stack.limits[depth - 1, 5] + tree.row_least[i]
    limits[2], limits[3] = limits[4], limits[5]
    for b in range(last - 1, depth - 1, -1):
        low, high = offsets[b], offsets[b + 1]
        top, bottom = _extremes(effect[low:high], most[low:high], least[low:high])
        if b > depth:
            limits[2] += top
            limits[3] += bottom
        else:
            limits[0], limits[1] = top, bottom


@kernel()
def _descend(tree: Any, stack: Any, depth: int, i: int) -> None:
    """Fix level i of the variable at `depth`: all that is known one depth down."""
    start, end = tree.offsets[depth + 1], tree.offsets[-1]
    more = tree.pairs[tree.row[i] : tree.row[i] + end - start]
    _add(stack.effect[depth, start:end], more, stack.effect[depth + 1, start:end])
    stack.score[depth + 1] = stack.score[depth] + stack.effect[depth, i]
    stack.weight[depth + 1] = stack.weight[depth] * tree.probability[i]
    _set_limits(tree, stack, depth + 1, i)


@kernel()
def _mark(zeros: Any, zeros_end: Any, alive: Any, depth: int, i: int) -> int:
    """Which impossible boxes may hold the path with level i at `depth`, and what that makes it."""
    # A box holds the whole path once the deepest variable that it restricts is fixed inside it.
    state = CLEAN
    for z in range(len(zeros_end)):
        alive[depth + 1, z] = alive[depth, z] and zeros[z, i]
        if alive[depth + 1, z] and zeros_end[z] <= depth:
            return IMPOSSIBLE
        if alive[depth + 1, z]:
            state = MIXED
    return state


@kernel(fastmath=FAST)
def _row(score: float, effect: Any, more: Any, probability: Any) -> float:
    """Σ_x p(x)·max(score + effect(x) + more(x), 0)."""
    total = 0.0
    for x in range(len(probability)):
        total += probability[x] * max(score + effect[x] + more[x], 0.0)
    return total


@kernel()
def _mixed_row(tree: Any, alive: Any, own: float, effect: Any, more: Any) -> float:
    """The same over the levels that no box still alive holds."""
    start, last = tree.offsets[-2], len(tree.offsets) - 2
    total = 0.0
    for x in range(len(more)):
        if _mark(tree.zeros, tree.zeros_end, alive, last, start + x) != IMPOSSIBLE:
            total += tree.probability[start + x] * max(own + effect[x] + more[x], 0.0)
    return total


@kernel()
def _mixed_rows(tree: Any, stack: Any) -> float:
    """Positive part of the possible cells of the last two variables below the path."""
    rows = len(tree.offsets) - 3
    first, start, end = tree.offsets[rows], tree.offsets[rows + 1], tree.offsets[rows + 2]
    effect, probability = stack.effect[rows, start:end], tree.probability[start:end]
    total = 0.0
    for i in range(first, start):
        own, more = stack.score[rows] + stack.effect[rows, i], tree.pairs[tree.row[i] :]
        box = _mark(tree.zeros, tree.zeros_end, stack.alive, rows, i)
        if box == CLEAN:
            total += tree.probability[i] * _row(own, effect, more[: end - start], probability)
        elif box == MIXED:
            row = _mixed_row(tree, stack.alive, own, effect, more[: end - start])
            total += tree.probability[i] * row
    return total


@kernel()
def _clean_rows(
    score: float, effect: Any, levels: Any, pairs: Any, ends: Any, top: float, bottom: float
) -> float:
    """The same where no cell is impossible, passing over rows of certain sign.

    `levels` are probability, row, most and least of all levels, `ends` where the levels of the last
    two variables begin and end.
    """
    probability, row, most, least = levels
    first, start, end = ends
    row_effect, row_probability = effect[start:end], probability[start:end]
    total = 0.0
    for i in range(first, start):
        own = score + effect[i]
        if own + least[i] + bottom >= 0:  # nowhere negative: the mass is the mean, by centring
            total += probability[i] * own
        elif own + most[i] + top > 0:
            more = pairs[row[i] : row[i] + end - start]
            total += probability[i] * _row(own, row_effect, more, row_probability)
    return total


@kernel()
def _clean_blocks(tree: Any, stack: Any) -> float:
    """Positive part of all cells of the last three variables below the path, none impossible.

    This is where nearly all time goes, so arrays are taken out of their tuples only once.
    """
    depth = len(tree.offsets) - 4
    outer, first = tree.offsets[-4], tree.offsets[-3]
    start, end = tree.offsets[-2], tree.offsets[-1]
    levels, pairs = (tree.probability, tree.row, tree.most, tree.least), tree.pairs
    probability, row, most, least = levels
    row_most, row_least, limits = tree.row_most, tree.row_least, stack.limits[depth]
    effect, below = stack.effect[depth], stack.effect[depth + 1]
    total = 0.0
    for i in range(outer, first):
        score = stack.score[depth] + effect[i]
        if score + most[i] + limits[2] <= 0:  # before its effects are worked out, by looser limits
            continue
        _add(effect[first:end], pairs[row[i] : row[i] + end - first], below[first:end])
        top, bottom = _extremes(below[first:start], most[first:start], least[first:start])
        row_top, row_bottom = limits[4] + row_most[i], limits[5] + row_least[i]
        if score + bottom + row_bottom >= 0:
            total += probability[i] * score
        elif score + top + row_top > 0:
            ends = first, start, end
            rows = _clean_rows(score, below, levels, pairs, ends, row_top, row_bottom)
            total += probability[i] * rows
    return total


@kernel()
def _uniform(state: Any) -> float:
    """A number in [0, 1) from the counter in `state` (splitmix64)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    number: float = (z >> np.uint64(11)) * 2.0**-53
    return number


@kernel()
def _draw_level(cumulative: Any, low: int, high: int, target: float) -> int:
    """The level from low to high − 1 in which the running sum of probabilities passes target."""
    while low < high - 1:
        middle = (low + high) // 2
        if cumulative[middle - 1] <= target:
            low = middle
        else:
            high = middle
    return low


@kernel()
def _draw(tree: Any, stack: Any, depth: int, state: Any) -> float:
    """Positive part of one cell drawn from the box at `depth`; its mean is that of the box."""
    score: float = stack.score[depth]
    for b in range(depth, len(tree.offsets) - 1):
        low, high = tree.offsets[b], tree.offsets[b + 1]
        i = _draw_level(tree.cumulative, low, high, _uniform(state))
        if _mark(tree.zeros, tree.zeros_end, stack.alive, b, i) == IMPOSSIBLE:
            return 0.0
        score += stack.effect[depth, i]
        for a in range(depth, b):
            score += tree.pairs[tree.row[stack.drawn[a]] + i - tree.offsets[a + 1]]
        stack.drawn[b] = i
    return max(score, 0.0)


@kernel()
def _estimate(tree: Any, stack: Any, depth: int, closing: Any, out: Any) -> Any:
    """Mean of some draws from the box at `depth`, and the variance of the mean."""
    total, squares = 0.0, 0.0
    for _ in range(closing.draws):
        if closing.stop[0] != 0:
            break
        value = _draw(tree, stack, depth, closing.state)
        total += value
        squares += value * value
        out[HITS] += value != 0
    mean = total / closing.draws
    return mean, max(squares / closing.draws - mean * mean, 0.0) / (closing.draws - 1)


@kernel()
def _mean_square(probability: Any, effect: Any, start: int) -> float:
    """Σ p·h² over the levels from `start` on."""
    total = 0.0
    for j in range(start, len(probability)):
        total += probability[j] * effect[j] ** 2
    return total


@kernel()
def _close(tree: Any, stack: Any, depth: int, box: int, closing: Any, out: Any) -> bool:
    """Settle the box at `depth` by its limits and some draws, if the limits are close enough."""
    mean, weight, start = stack.score[depth], stack.weight[depth], tree.offsets[depth]
    square = _mean_square(tree.probability, stack.effect[depth], start)
    square += tree.pair_variance[depth] + mean * mean
    top = mean + stack.limits[depth, 0] + stack.limits[depth, 2]
    # Impossible cells may hold any part of the mean, so that only zero is sure below.
    low = max(mean, 0.0) if box == CLEAN else 0.0
    high = max(low, min(top, 0.5 * (mean + math.sqrt(square))))
    if weight * (high - low) > closing.threshold:
        return False
    drawn, variance = _estimate(tree, stack, depth, closing, out)
    out[DRAWN] += weight * drawn
    out[VARIANCE] += weight * weight * variance
    # E max(s, 0)² is at most E s², and at most the largest s times E max(s, 0).
    out[VARIANCE_LIMIT] += weight * weight * min(square, top * high) / closing.draws
    out[LOW] += weight * low
    out[HIGH] += weight * high
    out[WIDEST] = max(out[WIDEST], weight * (high - low))
    out[CLOSED] += 1
    work = closing.draws * PAIR_WORK * (len(tree.offsets) - depth) ** 2
    out[DRAW_WORK] += work
    out[WORK] += work
    return True


@kernel()
def _certain(mean: float, weight: float, limits: Any, box: int, out: Any) -> bool:
    """Whether all cells of a box have one sign; then its mass is in `out`."""
    if mean + limits[0] + limits[2] <= 0:
        return True
    if box == CLEAN and mean + limits[1] + limits[3] >= 0:
        out[EXACT] += weight * mean
        return True
    return False


@kernel()
def _unrolled(tree: Any, stack: Any, depth: int, box: int, most_cells: float, out: Any) -> bool:
    """Whether the box at `depth` was bottom and small enough to be added up cell by cell."""
    rows = len(tree.offsets) - 3
    if depth < rows - 1 or (depth < rows and box != CLEAN):
        return False
    cells = 1
    for a in range(depth, rows + 2):
        cells *= tree.offsets[a + 1] - tree.offsets[a]
    if cells > most_cells:
        return False
    if depth < rows:
        mass = _clean_blocks(tree, stack)
    elif box == CLEAN:
        levels = tree.probability, tree.row, tree.most, tree.least
        ends = tree.offsets[-3], tree.offsets[-2], tree.offsets[-1]
        top, bottom = stack.limits[depth, 2], stack.limits[depth, 3]
        score, effect = stack.score[depth], stack.effect[depth]
        mass = _clean_rows(score, effect, levels, tree.pairs, ends, top, bottom)
    else:
        mass = _mixed_rows(tree, stack)
    out[EXACT] += stack.weight[depth] * mass
    out[WORK] += cells
    return True


@kernel()
def _done(tree: Any, stack: Any, depth: int, box: int, closing: Any, out: Any) -> bool:
    """Whether the mass of the box at `depth` went into `out`; otherwise it has to be opened."""
    out[WORK] += LEVEL_WORK * (len(tree.main) - tree.offsets[depth])
    if _certain(stack.score[depth], stack.weight[depth], stack.limits[depth], box, out):
        return True
    if closing is None:  # known when compiled: the exact sweep has no code for draws
        return _unrolled(tree, stack, depth, box, np.inf, out)
    if _unrolled(tree, stack, depth, box, SMALL_BLOCK, out):
        return True
    if _close(tree, stack, depth, box, closing, out):
        return True
    return depth == len(tree.offsets) - 3 and _unrolled(tree, stack, depth, box, np.inf, out)


@kernel()
def _walk(tree: Any, stack: Any, floor: int, closing: Any, cap: float, stop: Any, out: Any) -> None:
    """Add the positive part of all cells below the path down to `floor`."""
    depth = floor
    stack.level[depth] = tree.offsets[depth]
    while depth >= floor:
        i = stack.level[depth]
        if i == tree.offsets[depth + 1]:
            depth -= 1
            continue
        if out[WORK] > cap or stop[0] != 0:
            out[ABORTED] = 1
            return
        stack.level[depth] += 1  # where this depth goes on when all below it is done
        box = _mark(tree.zeros, tree.zeros_end, stack.alive, depth, i)
        top = stack.score[depth] + stack.effect[depth, i] + tree.most[i] + stack.limits[depth, 2]
        if top > 0 and box != IMPOSSIBLE:
            _descend(tree, stack, depth, i)
            if not _done(tree, stack, depth + 1, box, closing, out):
                depth += 1
                stack.level[depth] = tree.offsets[depth]


@kernel()
def _enter(tree: Any, stack: Any, prefix: int, floor: int) -> int:
    """Walk straight to the prefix of that number; says whether it is clean or impossible."""
    box = MIXED if len(tree.zeros_end) else CLEAN
    width = 1
    for a in range(floor):
        width *= tree.offsets[a + 1] - tree.offsets[a]
    for a in range(floor):
        width //= tree.offsets[a + 1] - tree.offsets[a]
        i = tree.offsets[a] + prefix // width
        prefix %= width
        box = _mark(tree.zeros, tree.zeros_end, stack.alive, a, i)
        if box == IMPOSSIBLE:
            return box
        _descend(tree, stack, a, i)
    return box


@kernel()
def positive_part(
    tree: Any, stack: Any, floor: int, first: int, end: int, closing: Any, cap: float, stop: Any
) -> Any:
    """Mass of max(s, 0) over possible cells whose first `floor` levels are prefixes first…end−1.

    Returns EXACT (summed or in closed form) and, unless `closing` is None, for boxes left CLOSED
    the estimate DRAWN with its VARIANCE and the certain LOW and HIGH, at most WIDEST apart. WORK
    counts cells and levels touched; the walk ends ABORTED beyond `cap` or once stop[0] is set.
    """
    out = np.zeros(N_OUT)
    for prefix in range(first, end):
        box = _enter(tree, stack, prefix, floor)
        if box != IMPOSSIBLE and not _done(tree, stack, floor, box, closing, out):
            _walk(tree, stack, floor, closing, cap, stop, out)
        if out[ABORTED] != 0:
            break
    return out


class _Layout:
    """Variables in order of depth, before they are laid end to end: p, u, what is inside, and g."""

    def __init__(
        self,
        probability: Sequence[FloatArray],
        pairs: Mapping[tuple[int, int], FloatArray],
        zeros: Sequence[Mapping[int, BoolArray]],
    ) -> None:
        order = _order([len(p) for p in probability])
        self.probability = [probability[a] for a in order]
        self.main = [np.zeros(len(p)) for p in self.probability]
        self.inside = [_inside(a, len(probability[a]), zeros) for a in order]
        self.pairs = {
            (i, j): pairs[a, b] if a < b else pairs[b, a].T
            for (i, a), (j, b) in itertools.combinations(enumerate(order), 2)
        }

    def join_innermost(self) -> None:
        """Make one variable of the last two: its levels are their pairs of levels."""
        last = len(self.main) - 1
        first, second = self.probability[-2:]
        main = self.main[-2][:, None] + self.main[-1] + self.pairs.pop((last - 1, last))
        inside = self.inside[-2][:, :, None] & self.inside[-1][:, None, :]
        self.probability[-2:] = [np.outer(first, second).ravel()]
        self.main[-2:] = [main.ravel()]
        self.inside[-2:] = [inside.reshape(len(inside), main.size)]
        for x in range(last - 1):
            joined = self.pairs[x, last - 1][:, :, None] + self.pairs.pop((x, last))[:, None, :]
            self.pairs[x, last - 1] = joined.reshape(len(joined), -1)

    def pad_innermost(self) -> None:
        """Copies of the last level with probability 0, up to whole vector registers."""
        extra = (0, -len(self.main[-1]) % LANES)
        self.probability[-1] = np.pad(self.probability[-1], extra)
        self.main[-1] = np.pad(self.main[-1], extra, mode="edge")
        self.inside[-1] = np.pad(self.inside[-1], [(0, 0), extra], mode="edge")
        last = len(self.main) - 1
        for x in range(last):
            self.pairs[x, last] = np.pad(self.pairs[x, last], [(0, 0), extra], mode="edge")

    def over(self, reduce: Callable[..., FloatArray], first: int = 0) -> FloatArray:
        """For each level, Σ of its reduced g with the later variables, from `first` on."""
        total = [np.zeros(len(main)) for main in self.main]
        for (a, b), pair in self.pairs.items():
            if b >= first:
                total[a] += reduce(pair, axis=1)
        return np.concatenate(total)

    def pair_variance(self) -> FloatArray:
        """By depth k, Σ p·p·g² over the pairs of variables from k on."""
        total = np.zeros(len(self.main))
        for (a, b), pair in self.pairs.items():
            total[: a + 1] += self.probability[a] @ pair**2 @ self.probability[b]
        return total


def _order(sizes: Sequence[int]) -> list[int]:
    """Variables from small to large, but the smallest last if a row needs them to fill."""
    order = sorted(range(len(sizes)), key=lambda a: (sizes[a], a))
    cells, fill = sizes[order[-1]], 0
    while fill < len(order) - 2 and cells * sizes[order[fill]] <= ROW_CELLS:
        cells *= sizes[order[fill]]
        fill += 1
    return order[fill:-1] + order[:fill] + order[-1:]


def _inside(variable: int, size: int, zeros: Sequence[Mapping[int, BoolArray]]) -> BoolArray:
    """Which levels of a variable each impossible box holds: boxes × levels."""
    inside = np.ones((len(zeros), size), np.bool_)
    for row, box in zip(inside, zeros, strict=True):
        row &= box.get(variable, True)
    return inside


def plant(
    base: float,
    probability: Sequence[FloatArray],
    pairs: Mapping[tuple[int, int], FloatArray],
    zeros: Sequence[Mapping[int, BoolArray]] = (),
) -> Tree:
    """The tree of a model: variables by size, the largest innermost, small ones there joined.

    `zeros` are impossible boxes: for some variables, which levels are inside. Trusted: two or more
    variables, the probabilities positive, the interactions centred.
    """
    layout = _Layout(probability, pairs, zeros)
    main = layout.main
    while len(main) > 2 and len(main[-1]) * len(main[-2]) <= ROW_CELLS:
        layout.join_innermost()
    layout.pad_innermost()
    sizes = [len(levels) for levels in main]
    depth, offsets = len(sizes), np.cumsum([0, *sizes])
    rows = [
        np.concatenate([layout.pairs[a, b] for b in range(a + 1, depth)], axis=1).ravel()
        for a in range(depth - 1)
    ]
    width = np.repeat(offsets[-1] - offsets[1:], sizes)
    restricts = np.array([~inside.all(axis=1) for inside in layout.inside])
    return Tree(
        base=base,
        offsets=offsets.astype(np.int64),
        probability=np.concatenate(layout.probability),
        cumulative=np.concatenate([np.cumsum(p) for p in layout.probability]),
        main=np.concatenate(main),
        row=(np.cumsum(width) - width).astype(np.int64),
        pairs=np.concatenate(rows),
        most=layout.over(np.max),
        least=layout.over(np.min),
        row_most=layout.over(np.max, first=depth - 1),
        row_least=layout.over(np.min, first=depth - 1),
        pair_variance=layout.pair_variance(),
        zeros=np.concatenate(layout.inside, axis=1),
        zeros_end=(depth - 1 - restricts[::-1].argmax(axis=0)).astype(np.int64),
    )


def _floor(sizes: IntArray) -> int:
    """How many variables a prefix fixes: at most MAX_PREFIXES of them, the last two left free."""
    prefixes = np.cumprod(sizes[:-2].astype(np.float64))
    return int(np.searchsorted(prefixes, MAX_PREFIXES, side="right"))


def _cores() -> int:
    """Cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # not on every system
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _parts(sizes: IntArray) -> tuple[int, list[tuple[int, int]]]:
    """How many variables a prefix fixes, and the ranges of prefixes handed out as one part."""
    floor = _floor(sizes)
    n_prefixes = math.prod(int(size) for size in sizes[:floor])
    edges = np.linspace(0, n_prefixes, min(n_prefixes, MAX_PARTS) + 1).astype(np.int64)
    return floor, list(itertools.pairwise(edges.tolist()))


def _sweep(
    tree: Tree, closing: Closing | None, cap: float, seed: int, report: Report
) -> FloatArray | None:
    """`positive_part` over the whole table, in parts on all cores; None if it took beyond `cap`.

    The parts are added in their order, so the sum does not depend on the number of cores. When the
    caller is interrupted, or `report` raises, the running parts are told to stop.
    """
    floor, ranges = _parts(np.diff(tree.offsets))
    states = np.random.SeedSequence(seed).generate_state(len(ranges), np.uint64)
    stop = np.zeros(1, np.int64)

    def part(k: int, first: int, end: int) -> Any:
        own = closing and closing._replace(state=states[k : k + 1], stop=stop)
        return positive_part(tree, _new_stack(tree), floor, first, end, own, cap, stop)

    part(0, 0, 0)  # so that compilation happens here, not in every thread
    done: list[FloatArray] = []
    work = 0.0
    with ThreadPoolExecutor(_cores()) as pool:
        try:
            for job in [pool.submit(part, k, *ends) for k, ends in enumerate(ranges)]:
                done.append(job.result())
                work += done[-1][WORK]
                if done[-1][ABORTED] or work > cap:
                    return None
                report(len(done) / len(ranges), work)
        finally:
            stop[0] = 1
            pool.shutdown(cancel_futures=True)
    total = np.array([math.fsum(column) for column in zip(*done, strict=True)])
    total[WIDEST] = max(part[WIDEST] for part in done)
    return total


def _sums(total: FloatArray) -> PositiveSums:
    variance = total[VARIANCE] if total[HITS] >= MIN_HITS else total[VARIANCE_LIMIT]
    low, high = total[EXACT] + total[LOW], total[EXACT] + total[HIGH]
    value = min(max(total[EXACT] + total[DRAWN], low), high)
    return PositiveSums(
        value=float(value),
        standard_error=math.sqrt(variance),
        low=float(low),
        high=float(high),
        exact=not total[CLOSED],
        widest=float(total[WIDEST]),
        work=float(total[WORK]),
        draw_work=float(total[DRAW_WORK]),
    )


def positive_mass(
    tree: Tree, *, budget: float, tolerance: float, seed: int, report: Callable[[float], None]
) -> PositiveSums:
    """Σ w·max(s, 0) over the possible cells: exact if the table, or the work, fits in `budget`.

    The budget is counted in cells of a row, some 10⁹ a second on one core. A larger table is swept
    with an ever smaller threshold until no box stays closed, or the limits are within `tolerance`,
    or half the budget is spent; then the other half goes into draws.
    """
    if math.prod(int(size) for size in np.diff(tree.offsets)) <= budget:
        total = _sweep(tree, None, math.inf, seed, lambda done, _: report(done))
        assert total is not None
        return _sums(total)
    return _refine(tree, budget, tolerance, seed, report)


def _halfway(report: Callable[[float], None], spent: float, budget: float) -> Report:
    """Progress through the first half of the budget."""
    return lambda _, work: report(min((spent + work) / budget, 0.5))


def _refine(
    tree: Tree, budget: float, tolerance: float, seed: int, report: Callable[[float], None]
) -> PositiveSums:
    spread = tree.pair_variance[0] + tree.base**2 + np.dot(tree.probability, tree.main**2)
    threshold = 0.5 * (math.sqrt(spread) + tree.base)  # closes the box of all cells
    closing = kept = Closing(threshold, draws=2, state=None, stop=np.zeros(1, np.int64))
    best, spent, cap = None, 0.0, math.inf
    while best is None or cap > 0:
        total = _sweep(tree, closing, cap, seed, _halfway(report, spent, budget))
        if total is None:
            break
        best, kept = _sums(total), closing
        if best.exact or best.high - best.low <= tolerance:
            return best
        spent += best.work
        cap = budget / 2 - spent
        closing = closing._replace(threshold=best.widest / 4)
    assert best is not None
    more = kept._replace(draws=2 + int(budget / best.draw_work))
    total = _sweep(tree, more, math.inf, seed, lambda done, _: report(0.5 + done / 2))
    return best if total is None else _sums(total)
