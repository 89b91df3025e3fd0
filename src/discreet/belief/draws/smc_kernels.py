"""The inner loop that moves many points at once along random lines, each by its exact conditional.

A line through a point is all x + t m within the limits. On a line of at most WINDOW points t is
drawn from its distribution given the line; on a longer one from a window of WINDOW points, spaced
by a random power of two and laid at random over the present point, which is as probable from each
of its points, so that the step leaves the distribution as it is. Random numbers are those of
splitmix64 (Steele, Lea and Flood 2014), one state for each call.

The kernel trusts its caller: points lie within their limits and indices are valid.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.numerics.kernels import kernel

Array = NDArray[Any]
WINDOW = 16
TO_UNIT = 1.0 / 9007199254740992.0  # 2**-53
ELEVEN, S30, S27, S31 = np.uint64(11), np.uint64(30), np.uint64(27), np.uint64(31)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


class Lines(NamedTuple):
    """Move i adds `steps` to `columns`, both from begin[i] to begin[i + 1]."""

    begin: Array
    columns: Array
    steps: Array


class Weights(NamedTuple):
    """log w_c(x) = values[start[c] + x] for x from 0 to upper[c]."""

    values: Array
    start: Array
    upper: Array


@kernel(error_model="numpy", forceinline=True)
def _unit(s: int) -> Any:
    """Uniform on [0, 1) from a state of splitmix64."""
    z = (s ^ (s >> S30)) * MIX_1
    z = (z ^ (z >> S27)) * MIX_2
    return np.float64((z ^ (z >> S31)) >> ELEVEN) * TO_UNIT


@kernel(error_model="numpy")
def move_points(points: Array, lines: Lines, weights: Weights, n_moves: int, state: Array) -> int:
    """Makes `n_moves` of each point (rows), in place; how many changed one."""
    begin, columns, steps = lines.begin, lines.columns, lines.steps
    values, start, upper = weights.values, weights.start, weights.upper
    masses, changed, s, n_lines = np.empty(WINDOW), 0, state[0], len(lines.begin) - 1
    for row in range(len(points)):
        x = points[row]
        for _ in range(n_moves):
            s += GOLDEN
            i = int(_unit(s) * n_lines)
            first, last = begin[i], begin[i + 1]
            low, high = -4611686018427387904, 4611686018427387904
            for k in range(first, last):
                up, down, step = upper[columns[k]] - x[columns[k]], x[columns[k]], steps[k]
                if step < 0:
                    up, down, step = down, up, -step
                if step > 1:
                    up, down = up // step, down // step
                high, low = min(high, up), max(low, -down)
            if low == high:
                continue
            spacing, reach, doublings = 1, WINDOW, 0
            while reach <= high - low:
                doublings += 1
                reach *= 2
            if doublings > 0:
                s += GOLDEN
                spacing = 1 << int(_unit(s) * (doublings + 1))
                s += GOLDEN
                back = int(_unit(s) * WINDOW)
                low = -min(back, -low // spacing) * spacing
                high = min(WINDOW - 1 - back, high // spacing) * spacing
            n, most = (high - low) // spacing + 1, -np.inf
            for p in range(n):
                t, total = low + p * spacing, 0.0
                for k in range(first, last):
                    total += values[start[columns[k]] + x[columns[k]] + t * steps[k]]
                masses[p] = total
                most = max(most, total)
            total = 0.0
            for p in range(n):
                total += np.exp(masses[p] - most)
                masses[p] = total
            s += GOLDEN
            mark, p = _unit(s) * total, 0
            while p < n - 1 and masses[p] <= mark:
                p += 1
            t = low + p * spacing
            if t != 0:
                changed += 1
                for k in range(first, last):
                    x[columns[k]] += t * steps[k]
    state[0] = s
    return changed
