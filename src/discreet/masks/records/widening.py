"""Records that no group helps join a pattern that is there, which loses what they differ in.

Where all spare records are given away and a few are left, some pattern is made wider: its records
lose the values in which they differ from those that join, and show one pattern with them from then
on. That is never dearer than to blank both, and it leaves nobody behind as long as some pattern
agrees on the keys that may not be touched.

Cost: records that are left × patterns × keys; beyond MOST_WORK they join all together.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discreet.data.coding import Coding
from discreet.engines.local.grouping import distinct_rows
from discreet.masks.records.suppression import Problem, distinct_values
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray

GONE = -1  # the level of a value that was taken out
MOST_WORK = 1_000_000_000  # values compared, a second or two


@dataclass(slots=True)
class Pieces:
    """Pieces of cells: `records[i]` records of `cell[i]` lose the keys `without[i]` (a bit mask);
    those that are left by themselves are in `rest`."""

    cell: IntArray
    without: IntArray
    records: IntArray
    rest: BoolArray


def with_the_rest_joined(problem: Problem, pieces: Pieces, used: IntArray) -> Pieces:
    """The pieces after those of `rest` joined patterns at the least price, where they can. Adds to
    `used` how many values of each key are taken out."""
    levels = problem.coding.decode(problem.words)[pieces.cell]
    for key in range(problem.n_keys):
        levels[(pieces.without >> key & 1) == 1, key] = GONE
    patterns = _Patterns.of_pieces(problem, pieces, levels)
    without, rest = pieces.without.copy(), pieces.rest.copy()
    for rows, places in _by_what_stays(problem, levels, np.flatnonzero(rest), patterns):
        at_once = len(rows) * len(places) * problem.n_keys > MOST_WORK
        for some in [rows] if at_once else rows[:, None]:
            own = np.where((levels[some] == levels[some[0]]).all(axis=0), levels[some[0]], GONE)
            joined = patterns.joined(own, int(pieces.records[some].sum()), places, used)
            if joined is not None:
                patterns.of[some] = joined
                rest[some] = False
    in_one = patterns.of >= 0
    without[in_one] = patterns.masks()[patterns.of[in_one]]
    return Pieces(cell=pieces.cell, without=without, records=pieces.records, rest=rest)


@dataclass(slots=True)
class _Patterns:
    """The patterns that are shown: their levels, their records, whether they have enough sensitive
    values, and the pattern of each piece (−1 for one that is left)."""

    problem: Problem
    levels: IntArray
    n: IntArray
    diverse: BoolArray
    of: IntArray

    @classmethod
    def of_pieces(cls, problem: Problem, pieces: Pieces, levels: IntArray) -> "_Patterns":
        """Those of the pieces that are not left."""
        there = np.flatnonzero(~pieces.rest & (pieces.records > 0))
        coding = Coding.of_sizes([size + 1 for size in problem.coding.sizes])
        words, place = distinct_rows(coding.encode(levels[there] - GONE))
        of = np.full(len(pieces.cell), -1)
        of[there] = place
        n = np.bincount(place, weights=pieces.records[there], minlength=len(words))
        of_cell = np.full(len(problem.records), -1)
        of_cell[pieces.cell[there]] = place
        diverse = np.ones(len(words), dtype=np.bool_)
        for values in problem.values:
            diverse &= distinct_values(values, of_cell, len(words)) >= values.least
        return cls(problem, coding.decode(words) + GONE, n.astype(np.int64), diverse, of)

    def masks(self) -> IntArray:
        """The keys that each pattern lacks."""
        bits = np.int64(1) << np.arange(self.problem.n_keys)
        return np.asarray((self.levels == GONE) @ bits)

    def joined(self, own: IntArray, n: int, places: IntArray, used: IntArray) -> int | None:
        """The pattern among some that `n` records with these levels join at the least price, made
        as wide as that takes; None where there is none. Trusted: these patterns agree with the
        records on all keys that stay."""
        if not len(places):
            return None
        problem, levels = self.problem, self.levels[places]
        lost = (levels != own) | (own == GONE)  # by those that join
        also = lost & (levels != GONE)  # by those that are there
        taken = lost * n + also * self.n[places, None]
        price: FloatArray = taken @ problem.cost
        fits = self.diverse[places] & (self.n[places] + n >= problem.k)
        if problem.most is not None:
            fits &= ((used + taken <= problem.most) | (problem.most < 0) | (taken == 0)).all(axis=1)
        if not fits.any():
            return None
        best = int(np.argmin(np.where(fits, price, np.inf)))
        found = int(places[best])
        self.levels[found, lost[best]] = GONE
        self.n[found] += n
        used += taken[best]
        return found


def _by_what_stays(
    problem: Problem, levels: IntArray, rest: IntArray, patterns: _Patterns
) -> Iterator[tuple[IntArray, IntArray]]:
    """The rows that are left and the patterns that agree with them on all keys that stay."""
    everywhere = np.concatenate([patterns.levels, levels[rest]])
    codes = np.zeros(len(everywhere), dtype=np.int64)
    if problem.never:
        kept = everywhere[:, sorted(problem.never)]
        sizes = [problem.coding.sizes[key] for key in sorted(problem.never)]
        codes = distinct_rows(Coding.of_sizes(sizes).encode(kept))[1]
    n = len(patterns.levels)
    order = np.argsort(codes[:n], kind="stable")
    ordered = codes[:n][order]
    for code in np.unique(codes[n:]):
        first, last = np.searchsorted(ordered, [code, code + 1])
        yield rest[codes[n:] == code], order[first:last]
