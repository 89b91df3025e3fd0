"""A file while it is being changed: combinations of keys, each with how many records have it.

Steps that look at the keys alone (recoding, suppression) treat records of one combination alike. So
a file of any size is changed as a table of its cells, and each record looks up afterwards what its
cell became. Where chance treats records one by one the table has a row for each record instead.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.data.coding import Coding
from discreet.data.columns import near_match
from discreet.engines.key_space import KeyLevels
from discreet.engines.local.grouping import distinct_rows
from discreet.errors import ColumnError, must_be
from discreet.masks.records.recoding import Levels, Recoding, applied
from discreet.masks.records.strict_suppression import with_all_keys_gone
from discreet.masks.records.suppress import Suppress
from discreet.masks.records.suppression import (
    Guarantee,
    Problem,
    Suppression,
    Values,
    with_missing,
)
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray
from discreet.progress import Progress, silent
from discreet.protection.mending import Solved, tells_nothing, within_sets


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Rows of `levels` (rows × keys), each of which `n` records have.

    `origin` is the cell (or record) of the file that a row comes from; rows of one origin stand
    together, and its records belong to them in the order of the file. A value that is missing or
    was taken out is the last level of its key, whose value is None.
    """

    keys: tuple[KeyLevels, ...]
    levels: IntArray
    n: IntArray
    origin: IntArray

    @property
    def coding(self) -> Coding:
        """How levels make up a code."""
        return Coding.of_sizes([max(len(key.values), 1) for key in self.keys])

    def place(self, key: str) -> int:
        """Where a key stands; raises ColumnError where it is none."""
        names = [one.name for one in self.keys]
        if key not in names:
            near = near_match(key, names)
            remedy = f"did you mean {near!r}?" if near else None
            rule = f"one of the keys {', '.join(names)}"
            raise ColumnError(must_be("key", rule, repr(key), remedy=remedy))
        return names.index(key)

    def records_by_level(self, key: int) -> IntArray:
        """How many records have each level of a key."""
        size = max(len(self.keys[key].values), 1)
        held = np.bincount(self.levels[:, key], weights=self.n, minlength=size)
        return held.astype(np.int64)

    def margin(self, key: int, population: float | None = None) -> Levels:
        """A key as recodings are fitted to it; `population` is how many persons there are in all,
        where that is known, who are taken to be spread as the records are."""
        records = self.records_by_level(key)
        persons = None
        if population is not None:
            each = population / max(int(records.sum()), 1)
            persons = records.astype(np.float64) * each
        return Levels(key=self.keys[key], records=records, population=persons)

    def recoded(self, levels: Levels, how: Recoding) -> "tuple[Counted, Recoding, IntArray]":
        """The file with one key recoded, the fitted recoding, and what each level became."""
        key = self.place(how.key)
        after = applied(levels, how)
        changed = self.levels.copy()
        changed[:, key] = after.to[self.levels[:, key]]
        keys = (*self.keys[:key], after.levels, *self.keys[key + 1 :])
        return replace(self, keys=keys, levels=changed), after.how, after.to

    def cells(self) -> "tuple[Coding, IntArray, IntArray, IntArray]":
        """The distinct rows: their coding, codes and records, and which of them each row is."""
        coding = self.coding
        words, place = distinct_rows(coding.encode(self.levels))
        records = np.bincount(place, weights=self.n, minlength=len(words)).astype(np.int64)
        return coding, words, records, place


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppressed:
    """The file after values were taken out, what was found, and the least price that no choice can
    do without."""

    after: Counted
    found: Suppression


def suppressed(
    before: Counted,
    step: Suppress,
    *,
    values: Mapping[str, tuple[IntArray, IntArray]] | None = None,
    risk: FloatArray | None = None,
    solved: Solved | None = None,
    progress: Progress = silent,
) -> Suppressed:
    """The file after a step of local suppression.

    `values` gives the origins and the values of each sensitive variable that has to be diverse;
    `risk` is that of each row, where only risky records are to be helped; `solved` remembers what
    was found before.
    """
    coding, words, records, place = before.cells()
    diverse = tuple(
        _values(before, place, *(values or {})[name], least=least)
        for name, least in step.diverse.items()
    )
    problem = Problem(
        coding=coding,
        words=words,
        records=records,
        k=step.k,
        cost=np.array([float(step.importance.get(key.name, 1.0)) for key in before.keys]),
        never=_never(before, step, coding),
        most=_most(before, step),
        open=_open(records, step, diverse, place, risk),
        values=diverse,
    )
    if step.records:
        found = with_all_keys_gone(problem)
    else:
        guarantee = Guarantee(step.guarantee)
        found = (solved or Solved()).of(within_sets(problem, guarantee), guarantee, progress)
    return Suppressed(after=taken_out(before, place, found), found=found)


def _never(before: Counted, step: Suppress, coding: Coding) -> frozenset[int]:
    """The keys that keep their values; of single values also those that tell nothing."""
    named = frozenset(before.place(name) for name in step.never if _has(before, name))
    gone = {place for place, key in enumerate(before.keys) if key.values == ("",)}
    return named | (gone if step.records else tells_nothing(coding))


def _has(before: Counted, name: str) -> bool:
    return any(key.name == name for key in before.keys)


def _most(before: Counted, step: Suppress) -> IntArray | None:
    if not step.most:
        return None
    return np.array([int(step.most.get(key.name, -1)) for key in before.keys])


def _open(
    records: IntArray,
    step: Suppress,
    diverse: Sequence[Values],
    place: IntArray,
    risk: FloatArray | None,
) -> BoolArray:
    """The cells that stand out: by their risk where that is what is asked, else by their records
    and their sensitive values."""
    if step.above is not None and risk is not None:
        highest = np.zeros(len(records))
        np.maximum.at(highest, place, risk)
        return np.asarray(highest > step.above)
    few: BoolArray = records < step.k
    for values in diverse:
        few |= np.bincount(values.cell, minlength=len(records)) < values.least
    return few


def _values(
    before: Counted, place: IntArray, origin: IntArray, value: IntArray, *, least: int
) -> Values:
    """The sensitive values of the cells; rows of one origin are in the same cell as long as no step
    before has parted them."""
    cell_of_origin = np.full(int(before.origin.max(initial=0)) + 1, -1)
    cell_of_origin[before.origin] = place
    pairs = np.unique(np.stack([cell_of_origin[origin], value], axis=1), axis=0)
    pairs = pairs[pairs[:, 0] >= 0]
    return Values(cell=pairs[:, 0], value=pairs[:, 1], least=least)


def taken_out(before: Counted, place: IntArray, found: Suppression) -> Counted:
    """The file after a suppression of its cells; rows are parted where the records of a cell lose
    different keys."""
    order = np.lexsort((np.arange(len(place)), place))
    row_ends = np.cumsum(before.n[order])
    # Records laid out by cell: rows of the file are stretches of them, pieces of the suppression
    # are others; the ends of both cut them into the rows that there are afterwards.
    piece_ends = np.cumsum(found.records)
    ends = np.unique(np.concatenate([row_ends, piece_ends]))
    ends = ends[ends > 0]
    row = order[np.searchsorted(row_ends, ends)]
    piece = np.searchsorted(piece_ends, ends)
    n = np.diff(ends, prepend=0)
    again = np.argsort(before.origin[row], kind="stable")
    row, piece, n = row[again], piece[again], n[again]
    keys, levels = list(before.keys), before.levels[row].copy()
    for key, own in enumerate(before.keys):
        gone = (found.without[piece] >> key & 1) == 1
        if gone.any():
            keys[key] = with_missing(own)
            levels[gone, key] = len(keys[key].values) - 1
    return Counted(keys=tuple(keys), levels=levels, n=n, origin=before.origin[row])
