"""Random rounding of a two-way table that adds up and is right on average (Cox 1987).

Beside the table stand its row sums, column sums and total with a minus sign, so that all rows and
columns of the larger table sum to zero. What each entry exceeds the multiple of the base below it
by then sums to a multiple of the base in every row and column: a row with one such rest has another
one, and entries with rests form cycles. Along a cycle rests are raised and lowered in turn by as
much as brings one of them to a multiple, in one direction or the other, with the chances that keep
every mean. Each turn settles an entry at least, and rows and columns keep their sums.
"""

import numpy as np

from discreet.numerics.arrays import BoolArray, IntArray


def cycle_rounding(counts: IntArray, base: int, *, rng: np.random.Generator) -> IntArray:
    """A two-way table in multiples of the base, each next to its count with that count as mean,
    and so are the sums of its rows, its columns and all of it."""
    whole = _with_sums(np.asarray(counts, dtype=np.int64))
    rest = whole % base
    below = whole - rest
    while np.any(open_rests := (rest > 0) & (rest < base)):
        _turn(rest, _cycle(open_rests), base, rng)
    return np.asarray((below + rest)[:-1, :-1])


def _with_sums(counts: IntArray) -> IntArray:
    """The table with a row and a column that make all sums zero."""
    wide = np.zeros((counts.shape[0] + 1, counts.shape[1] + 1), dtype=np.int64)
    wide[:-1, :-1] = counts
    wide[:-1, -1] = -counts.sum(axis=1)
    wide[-1, :-1] = -counts.sum(axis=0)
    wide[-1, -1] = counts.sum()
    return wide


def _cycle(open_rests: BoolArray) -> list[tuple[int, int]]:
    """Entries of which each shares a row with one neighbour and a column with the other."""
    row = int(np.flatnonzero(open_rests.any(axis=1))[0])
    column = -1
    path: list[tuple[int, int]] = []
    rows, columns = {row: 0}, dict[int, int]()
    while True:
        column = _other(open_rests[row], column)
        path.append((row, column))
        if column in columns:
            return path[columns[column] :]
        columns[column] = len(path)
        row = _other(open_rests[:, column], row)
        path.append((row, column))
        if row in rows:
            return path[rows[row] :]
        rows[row] = len(path)


def _other(flags: BoolArray, but: int) -> int:
    """The first place that is flagged and is not the one we came from."""
    places = np.flatnonzero(flags)
    return int(places[0] if places[0] != but else places[1])


def _turn(
    rest: IntArray, cycle: list[tuple[int, int]], base: int, rng: np.random.Generator
) -> None:
    """Moves the rests of a cycle in place until one of them is settled."""
    up, down = cycle[::2], cycle[1::2]
    forward = min([base - rest[e] for e in up] + [rest[e] for e in down])
    back = min([rest[e] for e in up] + [base - rest[e] for e in down])
    step = int(forward) if goes_forward(int(forward), int(back), rng) else -int(back)
    for entry in up:
        rest[entry] += step
    for entry in down:
        rest[entry] -= step


def goes_forward(forward: int, back: int, rng: np.random.Generator) -> bool:
    """True with probability back / (forward + back), so that the mean step is zero."""
    return bool(rng.integers(0, forward + back) < back)
