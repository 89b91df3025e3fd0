"""Loops of the additive model: the mass of the positive part over all cells, and E(1/F).

A cell is a path in a tree, one variable a depth, the innermost variable unrolled as a row. The
factor of a cell is

    s(i) = base + Σ_a u_a(i_a) + Σ_{a<b} g_ab(i_a, i_b),    weight  w(i) = ∏ p_a(i_a),

with u and g centred under p (Σ p_a u_a = 0; Σ p_a g_ab = Σ p_b g_ab = 0). Centring gives three
closed forms for a box of cells that share their first k levels, where h_b(j) = u_b(j) + Σ g over
the fixed levels:

    mean of s        μ  = base + all terms among the fixed levels
    variance of s    σ² = Σ_b Σ_j p_b(j) h_b(j)² + Σ_{b<c} Σ p_b p_c g_bc²        (b, c not fixed)
    limits of s      μ + Σ_b max_j {h_b(j) + Σ_{c>b} max_l g_bc(j, l)}, and the same with min

So a box whose upper limit is not positive adds nothing, one whose lower limit is not negative adds
w·μ, and any other box lies between w·max(μ, 0) (Jensen) and w·½(√(σ² + μ²) + μ) (Cauchy–Schwarz).

Everything a kernel calls is in this file, because the compiled cache does not notice a change in
another one.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from discreet.data.arrays import BoolArray, FloatArray, IntArray

FAST = {"reassoc", "contract", "nsz", "nnan", "ninf"}

EXACT, DRAWN, VARIANCE, LOW, HIGH, WORK, PRUNED, ABORTED = range(8)
CLEAN, MIXED, IMPOSSIBLE = range(3)


class Tree(NamedTuple):
    """The variables in order of depth, their levels end to end.

    Levels of variable a are offsets[a] … offsets[a+1]−1; the interactions of level i with all
    levels of later variables start at pairs[row[i]].
    """

    base: float
    offsets: IntArray
    probability: FloatArray
    cumulative: FloatArray  # of probability, within each variable
    main: FloatArray  # u
    row: IntArray
    pairs: FloatArray  # g
    most: FloatArray  # Σ over later variables of the largest interaction of this level
    least: FloatArray  # and of the smallest
    pair_variance: FloatArray  # by depth k, over pairs of variables from k on
    zeros: BoolArray  # impossible boxes × levels: is the level inside?
    zeros_end: IntArray  # deepest variable that each impossible box restricts


class Stack(NamedTuple):
    """What is known at each depth of the path walked now."""

    level: IntArray
    score: FloatArray  # μ
    weight: FloatArray  # w
    top: FloatArray  # Σ of upper limits over the variables beyond the one walked at this depth
    bottom: FloatArray
    effect: FloatArray  # h, depth × levels
    alive: BoolArray  # depth × impossible boxes: may the box still hold this path?


@njit(cache=True, nogil=True)
def _new_stack(tree: Any) -> Any:
    depth, width = len(tree.offsets) - 1, tree.offsets[-1]
    return Stack(
        np.zeros(depth, np.int64),
        np.zeros(depth),
        np.ones(depth),
        np.zeros(depth),
        np.zeros(depth),
        np.zeros((depth, width)),
        np.ones((depth, len(tree.zeros_end)), np.bool_),
    )


@njit(cache=True, nogil=True, fastmath=FAST)
def _limits(effect: Any, most: Any, least: Any) -> Any:
    """Largest and smallest effect of a variable, with what later variables can add."""
    top, bottom = effect[0] + most[0], effect[0] + least[0]
    for j in range(1, len(effect)):
        top = max(top, effect[j] + most[j])
        bottom = min(bottom, effect[j] + least[j])
    return top, bottom


@njit(cache=True, nogil=True)
def _set_limits(tree: Any, stack: Any, depth: int) -> Any:
    """Fill top and bottom of a depth; the limits of s over the whole box at this depth."""
    top, bottom = 0.0, 0.0
    for b in range(len(tree.offsets) - 2, depth - 1, -1):
        low, high = tree.offsets[b], tree.offsets[b + 1]
        if b == depth:
            stack.top[depth], stack.bottom[depth] = top, bottom
        t, o = _limits(stack.effect[depth, low:high], tree.most[low:high], tree.least[low:high])
        top, bottom = top + t, bottom + o
    return stack.score[depth] + top, stack.score[depth] + bottom


@njit(cache=True, nogil=True, fastmath=FAST)
def _add(source: Any, more: Any, target: Any) -> None:
    for j in range(len(target)):
        target[j] = source[j] + more[j]


@njit(cache=True, nogil=True)
def _descend(tree: Any, stack: Any, depth: int, i: int, score: float, weight: float) -> None:
    """Fix level i of the variable at `depth`: the effects on all later levels, one depth down."""
    start, end = tree.offsets[depth + 1], tree.offsets[-1]
    more = tree.pairs[tree.row[i] : tree.row[i] + end - start]
    _add(stack.effect[depth, start:end], more, stack.effect[depth + 1, start:end])
    stack.score[depth + 1], stack.weight[depth + 1] = score, weight


@njit(cache=True, nogil=True)
def _mark(tree: Any, stack: Any, depth: int, i: int) -> int:
    """Which impossible boxes may hold the path with level i at `depth`; what that says of it."""
    state = CLEAN
    for z in range(len(tree.zeros_end)):
        alive = stack.alive[depth, z] and tree.zeros[z, i]
        stack.alive[depth + 1, z] = alive
        if alive and tree.zeros_end[z] <= depth:
            return IMPOSSIBLE
        if alive:
            state = MIXED
    return state


@njit(cache=True, nogil=True, fastmath=FAST)
def _row(score: float, effect: Any, more: Any, probability: Any) -> float:
    """Σ_x p(x)·max(score + effect(x) + more(x), 0)."""
    total = 0.0
    for x in range(len(probability)):
        total += probability[x] * max(score + effect[x] + more[x], 0.0)
    return total


@njit(cache=True, nogil=True)
def _row_with_zeros(
    score: float, effect: Any, more: Any, probability: Any, zeros: Any, alive: Any
) -> float:
    """The same over the levels that no box still alive holds."""
    total = 0.0
    for x in range(len(probability)):
        possible = True
        for z in range(len(alive)):
            possible = possible and not (alive[z] and zeros[z, x])
        if possible:
            total += probability[x] * max(score + effect[x] + more[x], 0.0)
    return total


@njit(cache=True, nogil=True)
def _innermost(
    tree: Any, alive: Any, effect: Any, i: int, score: float, mixed: bool
) -> float:
    """Positive part of the innermost row below level i, per unit of weight."""
    start, end = tree.offsets[-2], tree.offsets[-1]
    more = tree.pairs[tree.row[i] : tree.row[i] + end - start]
    probability = tree.probability[start:end]
    if mixed:
        return _row_with_zeros(
            score, effect[start:end], more, probability, tree.zeros[:, start:end], alive
        )
    return _row(score, effect[start:end], more, probability)


@njit(cache=True, nogil=True)
def _uniform(state: Any) -> float:
    """A number in [0, 1) from a counter in `state` (splitmix64)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)) * 2.0**-53


@njit(cache=True, nogil=True)
def _draw_level(tree: Any, variable: int, state: Any) -> int:
    low, high = tree.offsets[variable], tree.offsets[variable + 1]
    target = _uniform(state)
    while low < high - 1:
        middle = (low + high) // 2
        if tree.cumulative[middle - 1] <= target:
            low = middle
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def _draw(tree: Any, stack: Any, depth: int, state: Any) -> float:
    """Positive part of one innermost row drawn from the box at `depth`; unbiased for its mean."""
    last = len(tree.offsets) - 2
    for b in range(depth, last):
        i = _draw_level(tree, b, state)
        score = stack.score[b] + stack.effect[b, i]
        box = _mark(tree, stack, b, i)
        if box == IMPOSSIBLE:
            return 0.0
        if b == last - 1:
            return _innermost(tree, stack.alive[last], stack.effect[b], i, score, box == MIXED)
        _descend(tree, stack, b, i, score, 1.0)
    return 0.0


@njit(cache=True, nogil=True)
def _variance(tree: Any, stack: Any, depth: int) -> float:
    """Variance of s over the box at `depth`."""
    total = tree.pair_variance[depth]
    for j in range(tree.offsets[depth], tree.offsets[-1]):
        total += tree.probability[j] * stack.effect[depth, j] ** 2
    return total


@njit(cache=True, nogil=True)
def _prune(
    tree: Any, stack: Any, depth: int, top: float, mixed: bool, threshold: float, state: Any, out: Any
) -> bool:
    """Settle the box at `depth` by limits and two draws if its limits are within `threshold`."""
    mean, weight = stack.score[depth], stack.weight[depth]
    low = 0.0 if mixed else max(mean, 0.0)
    high = 0.5 * (np.hypot(np.sqrt(_variance(tree, stack, depth)), mean) + mean)
    high = max(min(high, top), low)
    if weight * (high - low) > threshold:
        return False
    first, second = _draw(tree, stack, depth, state), _draw(tree, stack, depth, state)
    out[LOW] += weight * low
    out[HIGH] += weight * high
    out[DRAWN] += weight * 0.5 * (first + second)
    out[VARIANCE] += (weight * 0.5 * (first - second)) ** 2
    out[PRUNED] += 1
    out[WORK] += 2 * (tree.offsets[-1] - tree.offsets[depth])
    return True


@njit(cache=True, nogil=True)
def _open(
    tree: Any, stack: Any, depth: int, mixed: bool, threshold: float, state: Any, out: Any
) -> bool:
    """Whether the box at `depth` has to be walked; otherwise its mass is in `out`."""
    top, bottom = _set_limits(tree, stack, depth)
    out[WORK] += tree.offsets[-1] - tree.offsets[depth]
    if top <= 0:
        return False
    if bottom >= 0 and not mixed:
        out[EXACT] += stack.weight[depth] * stack.score[depth]
        return False
    return not (
        threshold > 0 and _prune(tree, stack, depth, top, mixed, threshold, state, out)
    )


@njit(cache=True, nogil=True)
def _rows(tree: Any, stack: Any, out: Any) -> None:
    """Add the innermost rows below the path: all cells of the last two variables."""
    last = len(tree.offsets) - 2
    start, end = tree.offsets[last], tree.offsets[last + 1]
    effect, row_effect = stack.effect[last - 1], stack.effect[last - 1, start:end]
    probability, row_probability = tree.probability, tree.probability[start:end]
    most, least, row, pairs = tree.most, tree.least, tree.row, tree.pairs
    base, top, bottom = stack.score[last - 1], stack.top[last - 1], stack.bottom[last - 1]
    total = 0.0
    work = 0
    for i in range(tree.offsets[last - 1], start):
        score = base + effect[i]
        if score + most[i] + top <= 0:
            continue
        if score + least[i] + bottom >= 0:
            total += probability[i] * score
            continue
        more = pairs[row[i] : row[i] + end - start]
        total += probability[i] * _row(score, row_effect, more, row_probability)
        work += end - start
    out[EXACT] += stack.weight[last - 1] * total
    out[WORK] += work


@njit(cache=True, nogil=True)
def _rows_with_zeros(tree: Any, stack: Any, out: Any) -> None:
    """The same where some cells may be impossible."""
    last = len(tree.offsets) - 2
    for i in range(tree.offsets[last - 1], tree.offsets[last]):
        score = stack.score[last - 1] + stack.effect[last - 1, i]
        box = _mark(tree, stack, last - 1, i)
        if box != IMPOSSIBLE:
            out[EXACT] += (
                stack.weight[last - 1]
                * tree.probability[i]
                * _innermost(tree, stack.alive[last], stack.effect[last - 1], i, score, box == MIXED)
            )
            out[WORK] += tree.offsets[last + 1] - tree.offsets[last]


@njit(cache=True, nogil=True)
def _walk(
    tree: Any, stack: Any, floor: int, threshold: float, cap: float, stop: Any, state: Any, out: Any
) -> None:
    """Add the positive part of all cells below the path down to `floor`."""
    last = len(tree.offsets) - 2
    if floor == last - 1:
        _rows_with_zeros(tree, stack, out)
        return
    depth = floor
    stack.level[depth] = tree.offsets[depth] - 1
    while depth >= floor:
        stack.level[depth] += 1
        i = stack.level[depth]
        if i == tree.offsets[depth + 1]:
            depth -= 1
            continue
        score = stack.score[depth] + stack.effect[depth, i]
        weight = stack.weight[depth] * tree.probability[i]
        if score + tree.most[i] + stack.top[depth] <= 0 or weight == 0:
            continue
        box = _mark(tree, stack, depth, i)
        if box == IMPOSSIBLE:
            continue
        if box == CLEAN and score + tree.least[i] + stack.bottom[depth] >= 0:
            out[EXACT] += weight * score
            continue
        _descend(tree, stack, depth, i, score, weight)
        if not _open(tree, stack, depth + 1, box == MIXED, threshold, state, out):
            continue
        if depth + 1 == last - 1:
            if box == CLEAN:
                _rows(tree, stack, out)
            else:
                _rows_with_zeros(tree, stack, out)
        else:
            depth += 1
            stack.level[depth] = tree.offsets[depth] - 1
        if out[WORK] > cap or stop[0] != 0:
            out[ABORTED] = 1
            return


@njit(cache=True, nogil=True)
def _force(tree: Any, stack: Any, prefix: int, floor: int) -> bool:
    """Walk straight to the prefix of that number; False if the prefix is impossible."""
    width = 1
    for a in range(floor):
        width *= tree.offsets[a + 1] - tree.offsets[a]
    for a in range(floor):
        width //= tree.offsets[a + 1] - tree.offsets[a]
        i = tree.offsets[a] + prefix // width
        prefix %= width
        if _mark(tree, stack, a, i) == IMPOSSIBLE:
            return False
        score = stack.score[a] + stack.effect[a, i]
        _descend(tree, stack, a, i, score, stack.weight[a] * tree.probability[i])
    return True


@njit(cache=True, nogil=True)
def positive_part(
    tree: Any,
    floor: int,
    first: int,
    end: int,
    threshold: float,
    cap: float,
    stop: Any,
    seed: Any,
) -> Any:
    """Mass of max(s, 0) over possible cells whose first `floor` levels are prefixes first…end−1.

    Returns EXACT (summed or in closed form) and, for the boxes left unopened because their limits
    were within `threshold`, DRAWN with its VARIANCE and the certain LOW and HIGH. WORK counts cells
    and levels touched; the walk ends early, ABORTED, beyond `cap` or once stop[0] is set.
    """
    out = np.zeros(8)
    stack = _new_stack(tree)
    state = np.empty(1, np.uint64)
    state[0] = seed
    stack.effect[0, :] = tree.main
    stack.score[0] = tree.base
    for prefix in range(first, end):
        if _force(tree, stack, prefix, floor):
            _set_limits(tree, stack, floor)
            _walk(tree, stack, floor, threshold, cap, stop, state, out)
        if out[ABORTED] != 0:
            break
    return out
