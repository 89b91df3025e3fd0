"""Why a sum of cells cannot be above, or below, a number: a few figures, added and subtracted.

For figures low ≤ A x ≤ high of cells x ≥ 0, whole weights p and m over a common denominator d give

    d·c·x ≤ (p − m)ᵀ A x ≤ p·high − m·low     wherever     Aᵀ(p − m) ≥ d·c  and  p, m ≥ 0,

so that c·x is at most the whole number below (p·high − m·low)/d. Of all weights that prove the
number asked for those with the least sum are sought, which uses few figures; they are then checked
in whole numbers, so that nothing rests on a solver's word. Only figures near the cells are looked
at first, then wider rings of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, hstack, vstack

from discreet.clock import standing_still, work
from discreet.fiber.system.linear_system import UNLIMITED
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray

DENOMINATORS = (1, 2, 3, 4, 6, 12)
MOST_ROWS = 1000  # of a program that looks for a certificate
NEARLY = 1e-6  # by which a bound is below the next whole number
ENTRY_SECONDS = 2e-6  # of such a program, for each entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """Weights over `denominator` on figures, by number: Σ weights · figure bounds the sum.

    `value` is the bound that they prove, from above where `is_upper`; `is_equal` says whether the
    weighted figures are the sum itself and no mere bound of it.
    """

    rows: tuple[int, ...]
    weights: tuple[int, ...]
    denominator: int
    value: int
    is_equal: bool
    is_upper: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranges:
    """Figures: low ≤ A x ≤ high, with UNLIMITED where nothing limits one from above."""

    matrix: csr_array
    low: IntArray
    high: IntArray


def at_most(ranges: Ranges, cells: IntArray, value: int) -> Certificate | None:
    """Why the cells are at most `value` in all; None where no linear argument was found."""
    return _certificate(ranges, cells, 1, value)


def at_least(ranges: Ranges, cells: IntArray, value: int) -> Certificate | None:
    """Why the cells are at least `value` in all; None where no linear argument was found."""
    found = _certificate(ranges, cells, -1, -value)
    if found is None:
        return None
    return Certificate(
        rows=found.rows,
        weights=tuple(-weight for weight in found.weights),
        denominator=found.denominator,
        value=-found.value,
        is_equal=found.is_equal,
        is_upper=False,
    )


def _certificate(ranges: Ranges, cells: IntArray, sign: int, value: int) -> Certificate | None:
    wanted = np.zeros(int(ranges.matrix.shape[1]), dtype=np.int64)
    wanted[cells] = sign
    for rows in _rings(ranges.matrix, cells):
        # Counts are whole, so that any bound below value + 1 proves the value. Where the value
        # itself is such a bound its weights are rounder: a looser one is paid with tiny weights.
        for most in (value, value + 1 - NEARLY):
            weights = _lightest(ranges, rows, wanted, most)
            if weights is not None:
                found = _checked(ranges, rows, weights, wanted, value)
                if found is not None:
                    return found
    return None


def _rings(matrix: csr_array, cells: IntArray) -> Iterator[IntArray]:
    """Figures that hold the cells, then with them those that share a cell with these, and so on."""
    by_cell = csr_array(matrix.T)
    reached: BoolArray = np.zeros(matrix.shape[0], dtype=np.bool_)
    new = np.unique(csr_array(by_cell[cells]).indices)
    while len(new):
        reached[new] = True
        if int(reached.sum()) > MOST_ROWS:
            return
        yield np.flatnonzero(reached)
        near = np.unique(csr_array(matrix[new]).indices)
        found = np.unique(csr_array(by_cell[near]).indices)
        new = found[~reached[found]]


def _lightest(ranges: Ranges, rows: IntArray, wanted: IntArray, most: float) -> FloatArray | None:
    """Weights with the least sum that prove a bound, in floating point."""
    with standing_still():
        from scipy.optimize import linprog

    own = csr_array(ranges.matrix[rows])
    used = np.union1d(np.unique(own.indices), np.flatnonzero(wanted))
    part = csr_array(own[:, used].T).astype(np.float64)
    high, low = ranges.high[rows], ranges.low[rows].astype(np.float64)
    limited = high != UNLIMITED
    n = len(rows)
    cost = np.concatenate([np.ones(n), np.ones(n)])
    price = np.concatenate([np.where(limited, high, 0).astype(np.float64), -low])
    cover = hstack([-part, part], format="csr")
    work(ENTRY_SECONDS * cover.nnz + 1e-3)
    solved = linprog(
        cost,
        A_ub=vstack([cover, csr_array(price[None, :])], format="csr"),
        b_ub=np.concatenate([-wanted[used].astype(np.float64), [most]]),
        bounds=[*((0, None if some else 0) for some in limited), *[(0, None)] * n],
        method="highs",
    )
    if solved.status != 0 or solved.x is None:
        return None
    return np.asarray(solved.x[:n] - solved.x[n:])


def _checked(
    ranges: Ranges, rows: IntArray, weights: FloatArray, wanted: IntArray, value: int
) -> Certificate | None:
    """The weights over a small denominator, if they prove the value in whole numbers."""
    for denominator in DENOMINATORS:
        whole = np.rint(weights * denominator).astype(np.int64)
        used = np.flatnonzero(whole)
        total = _transposed(ranges.matrix, rows[used], whole[used])
        rest = total - denominator * wanted
        if np.any(rest < 0):
            continue
        bound = _bound(ranges, rows[used], whole[used])
        if bound is not None and bound // denominator <= value:
            return Certificate(
                rows=tuple(rows[used].tolist()),
                weights=tuple(whole[used].tolist()),
                denominator=denominator,
                value=bound // denominator,
                is_equal=not np.any(rest),
            )
    return None


def _transposed(matrix: csr_array, rows: IntArray, weights: IntArray) -> IntArray:
    """Σ weight · row, over all cells."""
    return np.asarray(csr_array(matrix[rows]).T @ weights)


def _bound(ranges: Ranges, rows: IntArray, weights: IntArray) -> int | None:
    """p·high − m·low in exact whole numbers; None where a limit that is used is none."""
    total = 0
    for row, weight in zip(rows.tolist(), weights.tolist(), strict=True):
        limit = int(ranges.high[row]) if weight > 0 else int(ranges.low[row])
        if weight > 0 and limit == UNLIMITED:
            return None
        total += weight * limit
    return total
