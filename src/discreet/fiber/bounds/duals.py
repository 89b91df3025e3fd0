"""Proofs of bounds in whole numbers: any weights on the equations give a bound that holds.

For weights y/d on the rows of A x = b and a linear form c, every point of the system has

    d·c·x = y·b + (d·c − Aᵀy)·x ≤ y·b + Σ_j max(r_j·lower_j, r_j·upper_j),   r = d·c − Aᵀy,

whatever y is. A solver's floating-point duals are rounded to whole numbers over a small common
denominator and the right-hand side is computed exactly, so a bound proved here owes nothing to the
solver's arithmetic.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.fiber.system.linear_system import System
from discreet.numerics.arrays import FloatArray, IntArray, read_only

DENOMINATORS = (1, 2, 3, 4, 12, 60, 2520, 2**20)
SAFE = 2.0**62


@dataclass(frozen=True, slots=True, kw_only=True)
class Dual:
    """Weights `numerators` / `denominator` on the rows of a system."""

    numerators: IntArray
    denominator: int

    def __post_init__(self) -> None:
        read_only(self.numerators)

    def bound(self, system: System, column: int, sign: int) -> int:
        """A number that sign · x[column] exceeds in no point of the system."""
        total = _exact_total(
            system, self.numerators, _unit(system, column, sign * self.denominator)
        )
        return total // self.denominator

    def refutes(self, system: System) -> bool:
        """Whether it shows that the system has no points, not even fractional ones (Farkas)."""
        return _exact_total(system, self.numerators, _unit(system, 0, 0)) < 0


def rounded_dual(
    system: System, column: int, sign: int, weights: FloatArray
) -> tuple[int, Dual | None]:
    """The best bound on sign · x[column] that the weights prove, and the dual that proves it.

    The dual is None where it proves no more than the column's limit does, which is then the bound.
    """
    best = int(system.upper[column]) if sign > 0 else -int(system.lower[column])
    found = None
    for dual in _candidates(weights):
        bound = dual.bound(system, column, sign)
        if bound < best or (bound == best and found is None):
            best, found = bound, dual
    return best, found


def refutation(system: System, weights: FloatArray) -> Dual | None:
    """A proof that the system has no points, from the weights or their opposites, if it is one."""
    for signed in (weights, -weights):
        for dual in _candidates(signed):
            if dual.refutes(system):
                return dual
    return None


def _candidates(weights: FloatArray) -> list[Dual]:
    """The weights over each denominator, until one gives them exactly but for rounding."""
    found: list[Dual] = []
    if not np.all(np.isfinite(weights)) or np.abs(weights).max(initial=0) > 2.0**32:
        return found
    for denominator in DENOMINATORS:
        scaled = weights * denominator
        whole = np.rint(scaled)
        found.append(Dual(numerators=whole.astype(np.int64), denominator=denominator))
        if np.abs(scaled - whole).max(initial=0) < 1e-7 * denominator:
            break
    return found


def _unit(system: System, column: int, value: int) -> IntArray:
    form = np.zeros(system.n_columns, dtype=np.int64)
    if value:
        form[column] = value
    return form


def _exact_total(system: System, weights: IntArray, form: IntArray) -> int:
    """weights · b + Σ max(r·lower, r·upper) with r = form − Aᵀ weights, without overflow."""
    limits = np.maximum(np.abs(system.lower), np.abs(system.upper)).astype(np.float64)
    size = np.abs(form) + abs(system.matrix).T @ np.abs(weights).astype(np.float64)
    terms = float(size @ limits) + float(np.abs(weights) @ np.abs(system.right).astype(np.float64))
    kind: Any = np.int64 if terms < SAFE else object
    rest = form.astype(kind) - _transposed(system, weights, kind)
    lower, upper = system.lower.astype(kind), system.upper.astype(kind)
    inside = np.maximum(rest * lower, rest * upper).sum() if len(rest) else 0
    return int(weights.astype(kind) @ system.right.astype(kind) + inside)


def _transposed(system: System, weights: IntArray, kind: Any) -> Any:
    if kind is np.int64:
        return system.matrix.T @ weights
    total = np.zeros(system.n_columns, dtype=object)
    entries = system.matrix.tocoo()
    np.add.at(total, entries.col, entries.data.astype(object) * weights[entries.row].astype(object))
    return total
