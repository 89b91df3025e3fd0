"""Special uniques of cells that are too many to be held at once: SUDA by passes over them.

A record is alone on a set S of keys where no other record agrees with it on S. One bit for each set
says so beside every cell, 52 to a column: what they make is a whole number that a float holds
exactly. The bits come from two kinds of passes:

- Where S has few combinations, a dense table has the records of each. Many tables are made in one
  pass. A second pass looks up the cells of one record: alone on S are those whose combination has
  one record. Sets on which nobody is alone need no bit.
- Otherwise the cells that agree on some key of S are looked at together, and put in order by S.
  Cells move once for each such key, not for each set.

Then one more pass has all that it takes beside each cell: S is a minimal sample unique if its bit
is set and that of no S without one key is (who is alone on a set is alone on all larger ones). No
combination is hashed to a number that others may have, so the counts are exact.

Cost: sets times cells, some 15 ns each; 8 bytes of disk a cell for 52 sets.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from discreet.data.cells import CellBatch
from discreet.engines.contract import Cells
from discreet.engines.key_space import View
from discreet.engines.local.grouping import grouped
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray
from discreet.numerics.exact_sums import exact_sum
from discreet.numerics.rounding import ALIKE
from discreet.progress import Progress
from discreet.survey.suda.key_sets import Keys, brought_together, dense_passes
from discreet.survey.suda.scores import Convention, dis_of_share, msu_contributions, weighted

BITS = 52
MOST_LOOKED_UP = 1 << 25  # combinations of the tables that one pass looks cells up in
AT_HAND = 1 << 25  # bits of cells that are taken apart together
STEP = "searching for minimal sample uniques"
SCORE, SCORE_GUIDE = "suda_score", "suda_score_guide"


@dataclass(frozen=True, slots=True)
class Marks:
    """Which bit, counted through all columns, says who is alone on a set of keys; nobody is on a
    set that is not there."""

    places: Mapping[Keys, int] = field(default_factory=dict)

    def also(self, sets: Sequence[Keys]) -> "Marks":
        """The same with bits for more sets."""
        first = len(self.places)
        return Marks({**self.places, **{keys: first + i for i, keys in enumerate(sets)}})

    def columns(self, sets: Sequence[Keys] | None = None) -> tuple[str, ...]:
        """Names of the columns that hold the bits of these sets, or of all."""
        chosen = self.places if sets is None else sets
        return tuple(dict.fromkeys(self.column(keys) for keys in chosen))

    def column(self, keys: Keys) -> str:
        """Name of the column that holds the bit of a set."""
        return f"alone {self.places[keys] // BITS}"

    def bit(self, keys: Keys) -> int:
        """Which bit of its column it is."""
        return self.places[keys] % BITS


@dataclass(frozen=True)
class _Marking:
    """Sets the bits of some sets, the last of `marks`."""

    marks: Marks
    sets: tuple[Keys, ...]

    @property
    def gives(self) -> tuple[str, ...]:
        """The columns with these bits."""
        return self.marks.columns(self.sets)

    @property
    def reads(self) -> tuple[str, ...]:
        """The column that has other bits already."""
        before = [keys for keys in self.marks.places if keys not in set(self.sets)]
        there = self.marks.columns(before)
        return tuple(name for name in self.gives if name in there)

    def of(self, batch: CellBatch) -> tuple[Mapping[str, FloatArray], None]:
        """The columns of some cells."""
        there = self.reads
        bits = {
            name: (batch.extra[name] if name in there else np.zeros(len(batch))).astype(np.int64)
            for name in self.gives
        }
        self._mark(batch, bits)
        return {name: column.astype(np.float64) for name, column in bits.items()}, None

    def _mark(self, batch: CellBatch, bits: dict[str, IntArray]) -> None:
        """Set the bits of the cells that are alone on each set."""
        raise NotImplementedError  # either kind of pass has its own

    def joined(self, one: None, other: None) -> None:
        """Nothing."""


@dataclass(frozen=True)
class _ByTables(_Marking):
    """Looks cells up in tables: which combinations of each set have one record."""

    tables: Mapping[Keys, BoolArray]

    def _mark(self, batch: CellBatch, bits: dict[str, IntArray]) -> None:
        rows = np.flatnonzero(batch.n_records == 1)
        words = batch.words[rows]
        levels = {k: batch.coding.level(words, k) for k in {k for s in self.sets for k in s}}
        for keys in self.sets:
            table = self.tables[keys]
            place = np.zeros(len(rows), dtype=np.int64)
            for key, size in zip(keys, table.shape, strict=True):
                place *= size
                place += levels[key]
            alone = rows[table.ravel()[place]]
            bits[self.marks.column(keys)][alone] |= 1 << self.marks.bit(keys)


@dataclass(frozen=True)
class _Together(_Marking):
    """Puts the cells in order by each set. All that agree on it are in the batch.

    Who is alone on a part of the set, which comes before it, agrees with nobody and is left aside.
    """

    views: tuple[View, ...]

    def _mark(self, batch: CellBatch, bits: dict[str, IntArray]) -> None:
        records, own = batch.n_records, set(self.sets)
        for keys, view in zip(self.sets, self.views, strict=True):
            alone = np.zeros(len(batch), dtype=np.bool_)
            for part in own.intersection(combinations(keys, len(keys) - 1)):
                alone |= (bits[self.marks.column(part)] >> self.marks.bit(part) & 1) == 1
            left = np.flatnonzero(~alone)
            order, starts = grouped(view.words(batch.words[left]))
            single = left[order[starts[np.diff(starts, append=len(order)) == 1]]]
            alone[single] = records[single] == 1
            bits[self.marks.column(keys)][alone] |= 1 << self.marks.bit(keys)


def mark_alone(cells: Cells, max_size: int, progress: Progress) -> Marks:
    """Put beside the cells on which sets of up to `max_size` keys their records are alone.

    Trusted: no record matches those of other cells, and `max_size`.
    """
    sizes = cells.space.coding.sizes
    numbers = range(1, max_size + 1)
    sets = [keys for size in numbers for keys in combinations(range(len(sizes)), size)]
    passes, others = dense_passes(sets, sizes, cells.n_cells)
    marks, done = Marks(), 0
    tables: dict[Keys, BoolArray] = {}
    for dense in passes:
        progress(STEP, done / len(sets))
        made = {keys: table == 1 for keys, table in cells.margins(dense).items()}
        tables |= {keys: single for keys, single in made.items() if single.any()}
        if sum(single.size for single in tables.values()) > MOST_LOOKED_UP:
            marks, tables = _looked_up(cells, marks, tables), {}
        done += len(dense)
    marks = _looked_up(cells, marks, tables)
    for by, some in brought_together(cells, others):
        progress(STEP, done / len(sets))
        marks = marks.also(some)
        views = tuple(cells.space.itself().of_keys(keys) for keys in some)
        cells.add_together(_Together(marks, tuple(some), views), by)
        done += len(some)
    progress(STEP, 1.0)
    return marks


def _looked_up(cells: Cells, marks: Marks, tables: Mapping[Keys, BoolArray]) -> Marks:
    if not tables:
        return marks
    found = marks.also(list(tables))
    cells.add(_ByTables(found, tuple(tables), tables))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class MsuTotals:
    """Minimal sample uniques of all cells: by their size (1 … M), and by the keys that they hold
    (keys × sizes).

    `score` is the highest, of the cell with the code `word`, the first of those that have it, whose
    MSUs are `msus`. `total` is the exact sum of the scores, `inverse` that of their power −q.
    """

    n_scored: int
    by_size: IntArray
    by_key: IntArray
    total: int
    inverse: int
    score: float
    word: tuple[int, ...]
    msus: tuple[Keys, ...]

    def joined(self, other: "MsuTotals") -> "MsuTotals":
        """Of the cells of both."""
        first = min(self, other, key=lambda one: (-one.score, one.word))
        return replace(
            first,
            n_scored=self.n_scored + other.n_scored,
            by_size=self.by_size + other.by_size,
            by_key=self.by_key + other.by_key,
            total=self.total + other.total,
            inverse=self.inverse + other.inverse,
        )


@dataclass(frozen=True)
class ScoreMsus:
    """The SUDA scores of cells, from the bits beside them."""

    marks: Marks
    n_keys: int
    max_size: int
    power: float  # of the scores, in their spread over the DIS
    gives: tuple[str, ...] = (SCORE, SCORE_GUIDE)

    @property
    def reads(self) -> tuple[str, ...]:
        """The bits."""
        return self.marks.columns()

    def of(self, batch: CellBatch) -> tuple[Mapping[str, FloatArray], MsuTotals]:
        """Of some cells."""
        columns = {name: np.zeros(len(batch)) for name in self.gives}
        found = self._nothing()
        marked = np.zeros(len(batch), dtype=np.bool_)
        for name in self.reads:
            marked |= batch.extra[name] > 0
        rows = np.flatnonzero(marked)
        at_once = max(AT_HAND // max(len(self.marks.places), 1), 1)
        for first in range(0, len(rows), at_once):
            here = rows[first : first + at_once]
            scores, totals = self._scored(batch.part(here))
            for name, values in scores.items():
                columns[name][here] = values
            found = found.joined(totals)
        return columns, found

    def joined(self, one: MsuTotals, other: MsuTotals) -> MsuTotals:
        """Of the cells of both."""
        return one.joined(other)

    def _nothing(self) -> MsuTotals:
        return MsuTotals(
            n_scored=0,
            by_size=np.zeros(self.max_size, dtype=np.int64),
            by_key=np.zeros((self.n_keys, self.max_size), dtype=np.int64),
            total=0,
            inverse=0,
            score=0.0,
            word=(),
            msus=(),
        )

    def _scored(self, batch: CellBatch) -> tuple[Mapping[str, FloatArray], MsuTotals]:
        """Of cells that are alone on some set, so that each has a minimal one."""
        n_msus = np.zeros((len(batch), self.max_size), dtype=np.int32)
        by_key = np.zeros((self.n_keys, self.max_size), dtype=np.int64)
        alone = self._alone(batch)
        for keys in alone:
            minimal = self._minimal(alone, keys)
            n_msus[:, len(keys) - 1] += minimal
            by_key[list(keys), len(keys) - 1] += np.count_nonzero(minimal)
        elliot, guide = (
            weighted(n_msus, msu_contributions(self.n_keys, self.max_size, convention))
            for convention in Convention
        )
        word, best = self._first_of(batch, elliot)
        totals = MsuTotals(
            n_scored=len(batch),
            by_size=n_msus.sum(axis=0, dtype=np.int64),
            by_key=by_key,
            total=exact_sum(elliot),
            inverse=exact_sum(elliot**-self.power),
            score=float(elliot[best]),
            word=word,
            msus=tuple(keys for keys in alone if self._minimal(alone, keys)[best]),
        )
        return {SCORE: elliot, SCORE_GUIDE: guide}, totals

    def _alone(self, batch: CellBatch) -> dict[Keys, BoolArray]:
        """Which cells are alone on each set."""
        bits = {name: batch.extra[name].astype(np.int64) for name in self.reads}
        return {
            keys: (bits[self.marks.column(keys)] >> self.marks.bit(keys) & 1).astype(np.bool_)
            for keys in self.marks.places
        }

    @staticmethod
    def _minimal(alone: Mapping[Keys, BoolArray], keys: Keys) -> BoolArray:
        """Who is alone on these keys, and on no part of them."""
        minimal = alone[keys].copy()
        for part in combinations(keys, len(keys) - 1):
            if part in alone:
                minimal &= ~alone[part]
        return minimal

    @staticmethod
    def _first_of(batch: CellBatch, scores: FloatArray) -> tuple[tuple[int, ...], int]:
        """The first code among those of the highest score, and where it stands."""
        highest = np.flatnonzero(scores == scores.max())
        words = batch.words[highest]
        first = np.lexsort(words.T[::-1])[0]
        return tuple(words[first].tolist()), int(highest[first])


@dataclass(frozen=True, slots=True)
class Largest:
    """The greatest DIS-SUDA score, and how many records are above each limit."""

    score: float
    above: tuple[int, ...]

    def joined(self, other: "Largest") -> "Largest":
        """Of the cells of both."""
        above = tuple(a + b for a, b in zip(self.above, other.above, strict=True))
        return Largest(max(self.score, other.score), above)


@dataclass(frozen=True)
class SpreadDis:
    """The DIS of the file spread over the cells by their scores: each gets it by its share of the
    `total`, or by its part of what the power −q of the scores adds up to, of `n_uniques` records.
    """

    name: str
    dis: float
    n_uniques: int | None
    power: float
    total: float
    limits: tuple[float, ...]
    reads: tuple[str, ...] = (SCORE,)

    @property
    def gives(self) -> tuple[str, ...]:
        """The column."""
        return (self.name,)

    def of(self, batch: CellBatch) -> tuple[Mapping[str, FloatArray], Largest]:
        """Of some cells."""
        scores = batch.extra[SCORE]
        found, scored = np.zeros(len(batch)), scores > 0
        if self.n_uniques is None:
            found[scored] = self.dis * (scores[scored] / self.total)
        else:
            share = scores[scored] ** -self.power / self.total
            found[scored] = dis_of_share(share, self.dis, self.n_uniques)
        above = tuple(int(np.count_nonzero(found > x * (1 + ALIKE))) for x in self.limits)
        return {self.name: found}, Largest(float(found.max(initial=0.0)), above)

    def joined(self, one: Largest, other: Largest) -> Largest:
        """Of the cells of both."""
        return one.joined(other)
