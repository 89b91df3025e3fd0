"""A system seen from its lower limits: y = x − lower ≥ 0, cells that cannot vary left out.

Markov bases speak of whole-number points y ≥ 0 with A y = b. A system has upper limits as well, so
that it must be known which of them do more than the equations do anyway.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, hstack, identity, vstack

from discreet.errors import InputError, must_be
from discreet.fiber.system.linear_system import System
from discreet.numerics.arrays import BoolArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Shifted:
    """`matrix` y = `right`, 0 ≤ y ≤ `span`, over those columns of a system that can vary.

    `columns` are their positions in the system; `limited` says whose span the equations with y ≥ 0
    do not imply. Rows that hold none of these columns are gone.
    """

    matrix: csr_array
    right: IntArray
    span: IntArray
    columns: IntArray
    limited: BoolArray


def shifted(system: System) -> Shifted:
    """The system from its lower limits, without columns whose limits coincide.

    Raises InputError where limits or an equation without free cells contradict each other.
    """
    if np.any(system.lower > system.upper):
        cell = int(np.argmax(system.lower > system.upper))
        raise InputError(must_be("limits", "in order", "lower above upper", where=f"cell {cell}"))
    columns = np.flatnonzero(system.lower < system.upper)
    matrix = csr_array(system.matrix[:, columns])
    matrix.eliminate_zeros()
    right = system.right - system.matrix @ system.lower
    held = np.diff(matrix.indptr) > 0
    if np.any(right[~held] != 0):
        row = int(np.flatnonzero(~held & (right != 0))[0])
        where = system.row_names[row]
        raise InputError(
            must_be("figures", "of one table", "fixed cells of another sum", where=where)
        )
    span = (system.upper - system.lower)[columns]
    matrix = csr_array(matrix[np.flatnonzero(held)])
    limited = span < implied_span(matrix, right[held])
    return Shifted(matrix=matrix, right=right[held], span=span, columns=columns, limited=limited)


def implied_span(matrix: csr_array, right: IntArray) -> IntArray:
    """The most that each column can be under A y = b, y ≥ 0, by single rows: min ⌊b / a⌋.

    Rows with a negative coefficient imply nothing. Columns that no row limits get 2**62.
    """
    implied = np.full(matrix.shape[1], 2**62, dtype=np.int64)
    entries = matrix.tocoo()
    whole = np.ones(matrix.shape[0], dtype=bool)
    whole[entries.row[entries.data < 0]] = False
    used = whole[entries.row]
    most = right[entries.row[used]] // entries.data[used]
    np.minimum.at(implied, entries.col[used], most)
    return implied


def lifted(system: Shifted) -> csr_array:
    """The matrix [A 0; E I]: a slack s = span − y for each column with a limit of its own.

    Points y, s ≥ 0 of it are exactly the points of the system, so moves that connect every fiber of
    this matrix connect the system with its limits; a Markov basis of A alone need not.
    """
    own = np.flatnonzero(system.limited)
    if len(own) == 0:
        return system.matrix
    chosen = csr_array(
        (np.ones(len(own), np.int64), (np.arange(len(own)), own)),
        shape=(len(own), system.matrix.shape[1]),
    )
    slack = identity(len(own), dtype=np.int64, format="csr")
    nothing = csr_array((system.matrix.shape[0], len(own)), dtype=np.int64)
    above, below = hstack([system.matrix, nothing]), hstack([chosen, slack])
    return csr_array(vstack([above, below]))
