"""Two-sided certificates of a bound: a table that attains it, and why no table goes beyond."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from discreet.errors import InputError, must_be
from discreet.fiber.bounds.contract import Proof
from discreet.fiber.bounds.duals import Dual, rounded_dual
from discreet.fiber.system.consistency import check, contradiction
from discreet.fiber.system.linear_system import System
from discreet.fiber.system.programs import Deadline, Ending, LinearProgram, Search
from discreet.fiber.system.structure import (
    Presolved,
    independent_rows,
    narrowed,
    presolve,
    with_rows,
)
from discreet.figures import Unavailable
from discreet.numerics.arrays import IntArray, read_only

FOREVER = 1e9
Side = Literal["lower", "upper"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """The bound of one cell on one side, the point that attains it, and the proof.

    With proof DUAL, `dual` weighs the rows of the system; together with its limits, narrowed by
    passing them along rows, it shows that no point goes beyond. With PROPAGATION the narrowed
    limits alone show it. With SEARCH the proof is that of an exhaustive search by CP-SAT.
    """

    cell: int
    side: Side
    value: int
    point: IntArray
    proof: Proof
    dual: Dual | None = None

    def __post_init__(self) -> None:
        read_only(self.point)

    def holds(self, system: System) -> bool:
        """Whether table and proof hold, checked anew in whole numbers; a search is trusted."""
        attained = system.holds(self.point) and int(self.point[self.cell]) == self.value
        return attained and self._is_bound(system)

    def _is_bound(self, system: System) -> bool:
        if self.proof is Proof.SEARCH:
            return True
        sign = 1 if self.side == "upper" else -1
        lower, upper = narrowed(system)
        limit = int(upper[self.cell]) if sign > 0 else -int(lower[self.cell])
        if self.dual is not None:
            limit = self.dual.bound(replace(system, lower=lower, upper=upper), self.cell, sign)
        return limit == sign * self.value


def certify(
    system: System, cell: int, side: Side, *, time_limit: float | None = None
) -> Certificate | Unavailable:
    """The exact bound of one cell with both sides of its proof.

    Unavailable where time or the size of the numbers did not allow it. Raises InputError where no
    table is consistent.
    """
    if not 0 <= cell < system.n_named:
        raise InputError(must_be("cell", f"0 to {system.n_named - 1}", cell))
    deadline = Deadline(time_limit)
    structure = presolve(system, drop_redundant=False)
    here = next((i for i, b in enumerate(structure.blocks) if cell in b.columns), None)
    if here is None:
        return _completed(system, structure, {}, cell, side, Proof.PROPAGATION, None, deadline)
    block = structure.blocks[here]
    column = int(np.searchsorted(block.columns, cell))
    found = _certify_block(block.system, column, 1 if side == "upper" else -1, deadline)
    if isinstance(found, Unavailable):
        return found
    point, proof, dual = found
    if dual is not None:
        weights = np.zeros(system.n_rows, dtype=np.int64)
        weights[block.rows] = dual.numerators
        dual = Dual(numerators=weights, denominator=dual.denominator)
    return _completed(system, structure, {here: point}, cell, side, proof, dual, deadline)


def _certify_block(
    system: System, column: int, sign: int, deadline: Deadline
) -> tuple[IntArray, Proof, Dual | None] | Unavailable:
    """A point of a block that attains the bound of a column, and the proof of the bound."""
    limit = int(system.upper[column]) if sign > 0 else -int(system.lower[column])
    rows = independent_rows(system)
    vertex = LinearProgram(with_rows(system, rows)).maximise([column], sign, deadline.left(FOREVER))
    dual, point = None, None
    if vertex is not None:
        weights = np.zeros(system.n_rows)
        weights[rows] = vertex.weights
        limit, dual = rounded_dual(system, column, sign, weights)
        point = np.rint(vertex.point).astype(np.int64)
    proof = Proof.PROPAGATION if dual is None else Proof.DUAL
    if point is not None and system.holds(point) and sign * int(point[column]) == limit:
        return point, proof, dual
    found = Search(system).maximise([column], sign, deadline.left(FOREVER))
    if found.ending is Ending.INFEASIBLE:
        raise contradiction(system)
    if found.point is None or found.ending is not Ending.OPTIMAL:
        return Unavailable(f"no certificate was found: the search {found.ending.value}")
    if sign * int(found.point[column]) == limit:
        return found.point, proof, dual
    return found.point, Proof.SEARCH, None


def _completed(
    system: System,
    structure: Presolved,
    known: dict[int, IntArray],
    cell: int,
    side: Side,
    proof: Proof,
    dual: Dual | None,
    deadline: Deadline,
) -> Certificate | Unavailable:
    """The certificate, with any point in the blocks that do not matter."""
    points: list[IntArray] = []
    for i, block in enumerate(structure.blocks):
        point = known.get(i)
        if point is None:
            point = check(block.system, time_limit=deadline.left(FOREVER))
        if point is None:
            return Unavailable("no certificate was found: no table was found in time")
        points.append(point)
    whole = structure.assembled(points)
    value = int(whole[cell])
    return Certificate(cell=cell, side=side, value=value, point=whole, proof=proof, dual=dual)
