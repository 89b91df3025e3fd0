"""The inner loops of sequential importance sampling: narrowing of limits, columns of a table.

A table is filled part by part, never to be changed again, and the probability q of each choice is
kept: a table drawn with the probability q(x) counts with the weight w(x) / q(x), which is right on
average for any q that gives every consistent table a chance. So a choice may be guided by
approximations, and only has to be reported exactly. The state of `fill_cells` is the limits of all
cells after the choices so far, that of `fill_columns` what is left of each row total. Where limits
contradict each other the draw is a dead end, of weight zero.

They take their random numbers from the caller, one uniform a choice, and return log q of each
table, or −inf for a dead end. The kernels stand in this one file, are compiled when first called,
and release the interpreter lock. They trust their caller in indices and shapes.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.fiber.draws.walk_kernels import Weights
from discreet.numerics.kernels import kernel

Array = NDArray[Any]
DEAD = -np.inf
SMALL = 1e-200  # a sum of products below this has lost terms to underflow


class Rows(NamedTuple):
    """Σ factors · x[columns] = right, row by row, and the rows that each column stands in."""

    begin: Array
    columns: Array
    factors: Array
    right: Array
    column_begin: Array
    column_rows: Array


@kernel()
def _narrow(
    rows: Rows,
    low: Array,
    high: Array,
    queue: Array,
    waiting: Array,
    n_waiting: Any,
) -> Any:
    """Passes limits along the rows that wait until nothing changes; False at a contradiction.

    Whole numbers throughout: every limit is rounded inward. `queue` is a ring of the rows that
    wait, each at most once (`waiting`), so that it never holds more than there are rows.
    """
    begin, columns, factors, right, column_begin, column_rows = rows
    n_rows = len(right)
    head = 0
    while n_waiting > 0:
        row = queue[head]
        head = head + 1 if head + 1 < n_rows else 0
        n_waiting -= 1
        waiting[row] = False
        least, most = 0, 0
        for k in range(begin[row], begin[row + 1]):
            j, a = columns[k], factors[k]
            if a > 0:
                least += a * low[j]
                most += a * high[j]
            else:
                least += a * high[j]
                most += a * low[j]
        if least > right[row] or most < right[row]:
            return False
        # What the row has above its least and below its most is all that one column can use up.
        above, below = right[row] - least, most - right[row]
        for k in range(begin[row], begin[row + 1]):
            j, a = columns[k], factors[k]
            if low[j] == high[j]:
                continue
            size = abs(a)
            up, down = above // size, below // size
            if a > 0:
                new_high, new_low = low[j] + up, high[j] - down
            else:
                new_high, new_low = low[j] + down, high[j] - up
            if new_high >= high[j] and new_low <= low[j]:
                continue
            low[j], high[j] = max(low[j], new_low), min(high[j], new_high)
            if low[j] > high[j]:
                return False
            for q in range(column_begin[j], column_begin[j + 1]):
                other = column_rows[q]
                if not waiting[other]:
                    waiting[other] = True
                    tail = head + n_waiting
                    queue[tail if tail < n_rows else tail - n_rows] = other
                    n_waiting += 1
    return True


class Guide(NamedTuple):
    """What cells are expected to be: mean and variance of each column before any choice."""

    mean: Array
    variance: Array


@kernel()
def _expected_rests(rows: Rows, guide: Guide, low: Array, high: Array, j: int, rests: Array) -> int:
    """For each row of column j: its factor, what it leaves to j on average, 1 / (2 variance).

    Columns whose limits have met count as they are, others as expected within their limits.
    Returns how many rows still hold other columns that can vary.
    """
    n = 0
    for q in range(rows.column_begin[j], rows.column_begin[j + 1]):
        row = rows.column_rows[q]
        left, variance, factor = np.float64(rows.right[row]), 0.0, 0.0
        for k in range(rows.begin[row], rows.begin[row + 1]):
            i, a = rows.columns[k], rows.factors[k]
            if i == j:
                factor = np.float64(a)
            elif low[i] == high[i]:
                left -= a * low[i]
            else:
                left -= a * min(max(guide.mean[i], low[i]), high[i])
                variance += a * a * guide.variance[i]
        if variance > 0.0:
            rests[n, 0], rests[n, 1], rests[n, 2] = factor, left, 0.5 / variance
            n += 1
    return n


@kernel()
def _choose(
    j: int,
    low: int,
    high: int,
    weights: Weights,
    rests: Array,
    n_rests: int,
    uniform: float,
    masses: Array,
) -> Any:
    """A value of column j within its limits and the log of its probability."""
    # log weight, less the exponents of the normal densities of what each row leaves to others
    n, most = high - low + 1, DEAD
    for k in range(n):
        x = low + k
        mass = weights.values[weights.start[j] + x] + weights.slope[j] * x
        for r in range(n_rests):
            mass -= (rests[r, 1] - rests[r, 0] * x) ** 2 * rests[r, 2]
        masses[k] = mass
        most = max(most, mass)
    total = 0.0
    for k in range(n):
        masses[k] = np.exp(masses[k] - most)
        total += masses[k]
    mark, running, k = uniform * total, masses[0], 0
    while k < n - 1 and running <= mark:
        k += 1
        running += masses[k]
    while masses[k] == 0.0:  # only by rounding at the very end
        k -= 1
    return low + k, np.log(masses[k] / total)


@kernel()
def fill_cells(
    rows: Rows,
    lower: Array,
    upper: Array,
    order: Array,
    weights: Weights,
    guide: Guide,
    uniforms: Array,
    points: Array,
    log_chosen: Array,
) -> None:
    """Fills tables cell by cell, within limits that the rows leave after every choice.

    A value is chosen ∝ its weight times, for each row, a normal approximation to the probability
    that the row's other columns make up the rest. Row d of `points` gets a table, log_chosen[d] the
    log of its probability; −inf where the limits met in a contradiction.
    """
    column_begin, column_rows = rows.column_begin, rows.column_rows
    n_rows, n_columns = len(rows.right), len(lower)
    low, high = np.empty(n_columns, np.int64), np.empty(n_columns, np.int64)
    first_low, first_high = lower.copy(), upper.copy()
    queue, waiting = np.arange(n_rows), np.ones(n_rows, np.bool_)
    possible = _narrow(rows, first_low, first_high, queue, waiting, n_rows)  # the same for all
    widest, deepest = 1, 1
    for j in range(n_columns):
        widest = max(widest, first_high[j] - first_low[j] + 1)
        deepest = max(deepest, column_begin[j + 1] - column_begin[j])
    masses, rests = np.empty(widest), np.empty((deepest, 3))
    for d in range(len(points)):
        for j in range(n_columns):  # a slice assigned to another costs seconds to compile
            low[j], high[j] = first_low[j], first_high[j]
        log_q = 0.0 if possible else DEAD
        for place in range(len(order)):
            j = order[place]
            if log_q == DEAD or low[j] == high[j]:
                continue
            n = _expected_rests(rows, guide, low, high, j, rests)
            value, log_p = _choose(
                j, low[j], high[j], weights, rests, n, uniforms[d, place], masses
            )
            log_q += log_p
            low[j] = high[j] = value
            # Only rows of the column that was settled can imply anything new.
            n_waiting = np.int64(0)
            waiting[:] = False
            for q in range(column_begin[j], column_begin[j + 1]):
                queue[n_waiting] = column_rows[q]
                waiting[column_rows[q]] = True
                n_waiting += 1
            if not _narrow(rows, low, high, queue, waiting, n_waiting):
                log_q = DEAD
        for j in range(n_columns):
            points[d, j] = low[j]
        log_chosen[d] = log_q


@kernel()
def completions(log_weights: Array, most: Array, found: Array) -> None:
    """Log weights of what is left of a row after each column: found[i, j, m] for a rest of m.

    log Σ ∏ w over x in the columns behind j with Σ x = m. `log_weights` is rows × columns × values,
    `most` the row totals.
    """
    n_rows, n_columns, _ = log_weights.shape
    for i in range(n_rows):
        for m in range(most[i] + 1):
            found[i, n_columns - 1, m] = 0.0 if m == 0 else DEAD
        for j in range(n_columns - 1, 0, -1):
            for m in range(most[i] + 1):
                peak = DEAD
                for x in range(m + 1):
                    peak = max(peak, log_weights[i, j, x] + found[i, j, m - x])
                total = 0.0
                if peak > DEAD:
                    for x in range(m + 1):
                        total += np.exp(log_weights[i, j, x] + found[i, j, m - x] - peak)
                found[i, j - 1, m] = peak + np.log(total) if total > 0 else DEAD


@kernel()
def _tilted(log_f: Array, rests: Array, n_rows: int, wanted: int, slope: float, f: Array) -> Any:
    """f = exp(log f + slope x), each row scaled to a peak of one; the sum of the rows' means."""
    means = 0.0
    for i in range(n_rows):
        peak = DEAD
        top = min(rests[i], wanted)
        for x in range(top + 1):
            peak = max(peak, log_f[i, x] + slope * x)
        mass, moment = 0.0, 0.0
        for x in range(top + 1):
            f[i, x] = np.exp(log_f[i, x] + slope * x - peak) if peak > DEAD else 0.0
            mass += f[i, x]
            moment += x * f[i, x]
        if mass > 0:
            means += moment / mass
    return means


@kernel()
def _suffix_sums(f: Array, rests: Array, n_rows: int, wanted: int, g: Array) -> Any:
    """g[i, m] ∝ Σ ∏ f over rows i … with sum m, each scaled to a peak of one; whether safe."""
    for m in range(wanted + 1):
        g[n_rows, m] = 1.0 if m == 0 else 0.0
    for i in range(n_rows - 1, -1, -1):
        peak = 0.0
        for m in range(wanted + 1):
            total = 0.0
            for x in range(min(rests[i], m) + 1):
                total += f[i, x] * g[i + 1, m - x]
            g[i, m] = total
            peak = max(peak, total)
        if peak == 0.0:
            return False
        for m in range(wanted + 1):
            g[i, m] /= peak
    return g[0, wanted] > SMALL


@kernel()
def _column(
    log_f: Array,
    rests: Array,
    n_rows: int,
    wanted: int,
    f: Array,
    g: Array,
    uniforms: Array,
    x: Array,
) -> Any:
    """Draws a column x with Σ x = wanted, ∝ ∏ exp log_f[i, x_i]; log of its probability.

    Where the weights favour columns with another sum, a slope that shifts the mean to the wanted
    sum is put on all rows first: it changes no probability given the sum, and keeps numbers away
    from underflow.
    """
    slope = 0.0
    _tilted(log_f, rests, n_rows, wanted, slope, f)
    if not _suffix_sums(f, rests, n_rows, wanted, g):
        left, right = -745.0, 745.0  # beyond these slopes exp leaves nothing but the ends
        for _ in range(40):
            slope = 0.5 * (left + right)
            if _tilted(log_f, rests, n_rows, wanted, slope, f) < wanted:
                left = slope
            else:
                right = slope
        if not _suffix_sums(f, rests, n_rows, wanted, g):
            return DEAD
    # Row by row, given what the rows before took: g says how well the rows behind can make up m.
    log_q, m = 0.0, wanted
    for i in range(n_rows):
        top = min(rests[i], m)
        total = 0.0
        for v in range(top + 1):
            total += f[i, v] * g[i + 1, m - v]
        if total <= 0.0:
            return DEAD
        mark, running, chosen = uniforms[i] * total, 0.0, -1
        for v in range(top + 1):
            mass = f[i, v] * g[i + 1, m - v]
            if mass > 0.0:
                chosen = v
                running += mass
                if running > mark:
                    break
        log_q += np.log(f[i, chosen] * g[i + 1, m - chosen] / total)
        x[i] = chosen
        m -= chosen
    return log_q


@kernel()
def fill_columns(
    rows: Array,
    columns: Array,
    log_weights: Array,
    rest_weights: Array,
    uniforms: Array,
    tables: Array,
    log_chosen: Array,
) -> None:
    """Fills two-way tables column by column: each column ∝ weights of its cells and of the rests.

    tables[d] is rows × columns; log_chosen[d] gets the log of its probability, −inf at a dead end.
    """
    n_rows, n_columns = len(rows), len(columns)
    most, width = 0, 0
    for value in rows:
        width = max(width, value)
    for value in columns:
        most = max(most, value)
    log_f, f = np.empty((n_rows, width + 1)), np.empty((n_rows, width + 1))
    g = np.empty((n_rows + 1, most + 1))
    rests, x = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    for d in range(len(tables)):
        for i in range(n_rows):
            rests[i] = rows[i]
        log_q = 0.0
        for j in range(n_columns):
            for i in range(n_rows):
                for v in range(min(rests[i], columns[j]) + 1):
                    log_f[i, v] = log_weights[i, j, v] + rest_weights[i, j, rests[i] - v]
            log_q += _column(log_f, rests, n_rows, columns[j], f, g, uniforms[d, j], x)
            if log_q == DEAD:
                break
            for i in range(n_rows):
                tables[d, i, j] = x[i]
                rests[i] -= x[i]
        log_chosen[d] = log_q
