"""Moves that exchange four records for four others, found among the records nearest to a cell.

The state is one consistent table and the list of its occupied cells. Each move keeps all released
margins, so that every count a cell is seen to have is one that it may have: `least` and `most`
widen by what is attained, and a search that finds nothing has shown nothing. All moves made for a
cell are undone before the next, so that the order of the cells does not matter.

Three disjoint blocks of variables B1, B2, B3, in each of which some other record says what to
change to, make a cube of eight cells around a cell c. Taking one from the corners with an odd
number of blocks changed (c+B1, c+B2, c+B3, c+B1+B2+B3) and giving one to the even ones (c, c+B1+B2,
…) changes no margin that misses a block. Going the other way takes one from c. Everything a kernel
calls stands in this file: the compiled cache does not notice a change in another one.
"""

from typing import Any

import numpy as np

from discreet.numerics.kernels import kernel

MOST_MOVES = 1024  # made for one cell
TRIES = 4000  # sets of records tried for each near one


@kernel()
def _differences(levels: Any, cell: Any, masks: Any, order: Any) -> Any:
    """Fills where each record differs from the cell, and the records by how much, nearest first."""
    # Sorted by counting: far[d] is where the next record that differs in d variables goes.
    n, m = levels.shape
    far = np.zeros(m + 2, dtype=np.int64)
    for i in range(n):
        mask, differing = 0, 0
        for v in range(m):
            if levels[i, v] != cell[v]:
                mask |= 1 << v
                differing += 1
        masks[i] = mask
        far[differing + 1] += 1
    for d in range(m + 1):
        far[d + 1] += far[d]
    same = far[1]
    for i in range(n):
        differing, left = 0, masks[i]
        while left:
            left &= left - 1
            differing += 1
        order[far[differing]] = i
        far[differing] += 1
    return same


@kernel()
def _keeps(sets: Any, a: int, b: int, c: int) -> bool:
    """Whether each released set misses one of the blocks."""
    kept = True
    for one in sets:
        kept &= one & a == 0 or one & b == 0 or one & c == 0
    return kept


@kernel()
def _exchange(table: Any, losers: Any, gainers: Any, log: Any, n_moves: int) -> Any:
    """Moves as many as the losers have, and notes it to be undone."""
    step = table[losers[0]]
    for k in range(1, 4):
        step = min(step, table[losers[k]])
    for k in range(4):
        table[losers[k]] -= step
        table[gainers[k]] += step
        log[n_moves, k], log[n_moves, 4 + k] = losers[k], gainers[k]
    log[n_moves, 8] = step
    return step


@kernel()
def _raise(
    table: Any, base: int, near: Any, masks: Any, places: Any, sets: Any, goal: int, log: Any
) -> int:
    """Moves that give to the cell until it has `goal`; returns how many were made.

    Three records that differ from the cell in disjoint blocks, and the fourth cell, which has all
    three blocks changed: cell numbers add up, so that it is the sum of the three shifts.
    """
    n_moves, tries = 0, TRIES * len(near)
    losers, gainers = np.empty(4, dtype=np.int64), np.empty(4, dtype=np.int64)
    for x in range(len(near)):
        i = near[x]
        for y in range(x + 1, len(near)):
            j = near[y]
            tries -= 1
            if tries < 0:
                return n_moves
            if masks[i] & masks[j] or table[places[i]] == 0 or table[places[j]] == 0:
                continue
            tries -= len(near) - y
            for z in range(y + 1, len(near)):
                k = near[z]
                if (masks[i] | masks[j]) & masks[k]:
                    continue
                fourth = places[i] + places[j] + places[k] - 2 * base
                if table[fourth] == 0 or table[places[k]] == 0:
                    continue
                if table[places[i]] == 0 or table[places[j]] == 0:  # used up by a move made here
                    break
                if not _keeps(sets, masks[i], masks[j], masks[k]):
                    continue
                losers[:] = (places[i], places[j], places[k], fourth)
                gainers[0], gainers[1] = base, places[i] + places[j] - base
                gainers[2] = places[i] + places[k] - base
                gainers[3] = places[j] + places[k] - base
                _exchange(table, losers, gainers, log, n_moves)
                n_moves += 1
                if table[base] >= goal or n_moves == MOST_MOVES:
                    return n_moves
    return n_moves


@kernel()
def _common(levels: Any, i: int, j: int, both: int, cell: Any, strides: Any) -> tuple[int, int]:
    """The shift of the variables in which two records leave the cell alike; (0, 0) where unlike."""
    shift, found = 0, 0
    for v in range(len(cell)):
        if both >> v & 1:
            if levels[i, v] != levels[j, v]:
                return 0, 0
            shift += (levels[i, v] - cell[v]) * strides[v]
            found |= 1 << v
    return shift, found


@kernel()
def _lower(
    table: Any, base: int, cell: Any, near: Any, levels: Any, masks: Any, places: Any, strides: Any,
    sets: Any, goal: int, log: Any,
) -> int:  # fmt: skip
    """Moves that take from the cell until it has `goal`; returns how many were made.

    Two records that leave the cell alike in one block, B1, and each apart in another: they have the
    blocks B1 + B2 and B1 + B3 changed, and the third cell to lose one has B2 + B3.
    """
    n_moves = 0
    losers, gainers = np.empty(4, dtype=np.int64), np.empty(4, dtype=np.int64)
    for x in range(len(near)):
        i = near[x]
        for y in range(x + 1, len(near)):
            j = near[y]
            both = masks[i] & masks[j]
            if both == 0 or both in {masks[i], masks[j]}:
                continue
            if table[places[i]] == 0 or table[places[j]] == 0:
                continue
            shift, found = _common(levels, i, j, both, cell, strides)
            if found == 0 or not _keeps(sets, both, masks[i] ^ both, masks[j] ^ both):
                continue
            third = places[i] + places[j] - base - 2 * shift
            if table[third] == 0:
                continue
            losers[:] = (base, places[i], places[j], third)
            gainers[0], gainers[1] = base + shift, places[i] - shift
            gainers[2], gainers[3] = places[j] - shift, places[i] + places[j] - base - shift
            _exchange(table, losers, gainers, log, n_moves)
            n_moves += 1
            if table[base] <= goal or n_moves == MOST_MOVES:
                return n_moves
    return n_moves


@kernel()
def _undo(table: Any, log: Any, n_moves: int) -> None:
    """Takes back the moves; their order does not matter, as each adds and takes away the same."""
    for move in range(n_moves):
        for k in range(4):
            table[log[move, k]] += log[move, 8]
            table[log[move, 4 + k]] -= log[move, 8]


@kernel()
def reach_by_blocks(
    table: Any, levels: Any, places: Any, wanted: Any, sizes: Any, strides: Any, sets: Any,
    least: Any, most: Any, lower: Any, n_near: int, width: int,
) -> None:  # fmt: skip
    """Widens `least` and `most` of the wanted cells by moves from the table, left as it was.

    `levels` and `places` are the occupied cells by levels and by number; `sets` are the released
    sets of three variables and more, as bits. A cell is done when its counts span `width`.
    """
    n, m = levels.shape
    masks, order = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    cell = np.empty(m, dtype=np.int64)
    log = np.empty((MOST_MOVES, 9), dtype=np.int64)
    for base in wanted:
        for v in range(m):
            cell[v] = base // strides[v] % sizes[v]
        same = _differences(levels, cell, masks, order)
        near = order[same : same + n_near]
        if table[base] > 0 and least[base] > lower[base] and most[base] - least[base] < width:
            goal = max(lower[base], most[base] - width)
            made = _lower(table, base, cell, near, levels, masks, places, strides, sets, goal, log)
            least[base] = min(least[base], table[base])
            _undo(table, log, made)
        if most[base] - least[base] < width:
            made = _raise(table, base, near, masks, places, sets, least[base] + width, log)
            most[base] = max(most[base], table[base])
            _undo(table, log, made)
