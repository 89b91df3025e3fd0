"""Cells of one machine, in parts.

Few cells are one part in memory. Many are parts on disk, each of which holds all cells that agree
on some of the keys: so whatever is asked of the cells that agree on these and further keys is asked
of one part at a time. Where a question is about other keys the cells are exchanged among the parts
first, by one pass. Cost grows linearly with the cells, and as cells · log(cells) where they are
put in order; memory is that of a few parts.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, TypeVar

import numpy as np

from discreet.clock import threads
from discreet.data.cell_table import margins_of_cells
from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.data.missing import POLICIES
from discreet.data.summary import SizeIndices
from discreet.engines.contract import Fold, Scoring, SensitiveValues, Small, ValuesOfCells
from discreet.engines.key_space import KeyLevels, KeySpace, View
from discreet.engines.local.grouping import (
    BITS,
    distinct_rows,
    grouped,
    in_order,
    neighbours_without,
    places_among,
    small_groups,
)
from discreet.engines.local.parts import Array, Columns, Part, Shelf
from discreet.engines.matching import matched_cells
from discreet.errors import InputError, must_be
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.progress import Progress, heed, silent

State = TypeVar("State")
Found = TypeVar("Found")
BATCH_CELLS = 1 << 18  # looked at together
MATCHING_BYTES = 200  # that a cell takes where missing values match anything
FEWEST_BITS, MOST_BITS = 16, 20  # of the place of a cell among those put in order together
MARGIN_LIMIT = 1 << 26  # cells of dense margins
MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, so that multiplying by it modulo 2^64 loses nothing
HASH_BITS = 32
UNEVEN = 4  # times its share that a part may have before cells are exchanged by more keys
NEIGHBOURS = "neighbours"
WEIGHTS = "weight", "squares"  # what a part has of them: their sum and that of their squares


@dataclass(slots=True)
class LocalCells:
    """Cells in parts. `together` are keys such that cells that agree on them are in one part.

    Columns of a part: `words` and `records`, with weights `weight` (of the cell's own records) and
    their squares `squares`, and where records match those of other cells `sample_count` and
    `weight_total` of all that match.
    """

    space: KeySpace
    parts: list[Part]
    shelf: Shelf
    together: frozenset[int] | None = None

    @classmethod
    def of_arrays(
        cls,
        words: IntArray,
        records: IntArray,
        space: KeySpace,
        weight: FloatArray | None = None,
        *,
        squares: FloatArray | None = None,
        shelf: Shelf | None = None,
    ) -> "LocalCells":
        """Cells that are at hand, one row each; all records of one have the same weight where there
        are no `squares`."""
        columns: dict[str, Array] = {"words": words, "records": records}
        if weight is not None:
            columns["weight"] = weight
            with np.errstate(over="ignore"):  # of weights beyond all reason
                columns["squares"] = weight / records * weight if squares is None else squares
        kept = shelf or Shelf()
        return cls.of_rows([columns], len(records), space, kept)

    @classmethod
    def of_rows(
        cls, rows: Iterable[Columns], n_cells: int, space: KeySpace, shelf: Shelf
    ) -> "LocalCells":
        """Cells that come some at a time."""
        n_parts = shelf.n_parts(n_cells)
        by = frozenset(range(0, len(space.keys), 2))
        view = space.itself().of_keys(sorted(by))
        placed = ((_part_of(view, columns["words"], n_parts), columns) for columns in rows)
        found = cls(space, shelf.scattered(placed, n_parts), shelf, by)
        found.even_out()
        return found

    @property
    def coding(self) -> Coding:
        """How levels make up the code of a cell."""
        return self.space.coding

    @property
    def n_cells(self) -> int:
        """Occupied cells."""
        return sum(map(len, self.parts))

    @property
    def n_records(self) -> int:
        """Records that were counted."""
        return sum(int(part.read("records").sum()) for part in self.parts)

    @property
    def weighted(self) -> bool:
        """Whether the records have weights."""
        return "weight" in self.parts[0]

    @property
    def disjoint(self) -> bool:
        """Whether no record matches those of another cell."""
        return "sample_count" not in self.parts[0]

    def size_indices(self) -> SizeIndices:
        """How many cells hold exactly j records."""
        return self.fold(SizesOfCells(self.disjoint))

    def margins(self, sets: Sequence[tuple[int, ...]]) -> Mapping[tuple[int, ...], IntArray]:
        """The records by the levels of each set of keys, as dense tables from one pass."""
        check_margins(self.space, sets)
        return margins_of_cells(self.batches(), self.coding, sets)

    def batches(self, reads: Sequence[str] = ()) -> Iterator[CellBatch]:
        """All cells, some at a time, in any order."""
        for part in self.parts:
            batch = self.read(part, reads)
            for first in range(0, len(part), BATCH_CELLS):
                heed()
                yield (
                    batch
                    if len(part) <= BATCH_CELLS
                    else batch.part(slice(first, first + BATCH_CELLS))
                )

    def fold(self, step: Fold[State]) -> State:
        """A summary of all cells."""
        return reduce(step.joined, (step.of(batch) for batch in self.batches(step.reads)))

    def add(self, step: Scoring[State]) -> State:
        """Put columns beside the cells."""
        return self._added(
            step,
            lambda words: [
                slice(first, first + BATCH_CELLS) for first in range(0, len(words), BATCH_CELLS)
            ],
        )

    def add_together(self, step: Scoring[State], keys: Sequence[int]) -> State:
        """The same, where the step sees all cells that agree on these keys in one batch."""
        by = frozenset(keys)
        if self.together is None or not self.together <= by:
            self.exchange(by)
        state = self._added(step, lambda words: self._blocks(words, by) if len(words) else [])
        self.even_out()
        return state

    def _added(
        self, step: Scoring[State], pieces: Callable[[IntArray], Sequence[IntArray | slice]]
    ) -> State:
        """Columns of each part, of some of its rows at a time."""
        states = []
        for done, part in enumerate(self.parts):
            self.shelf.progress("scoring the cells", done / len(self.parts))
            batch = self.read(part, step.reads)
            columns: dict[str, FloatArray] = {name: np.empty(len(part)) for name in step.gives}
            for here in pieces(batch.words):
                heed()
                found, state = step.of(batch.part(here))
                states.append(state)
                for name, values in found.items():
                    columns[name][here] = values
            part.put(columns)
        return reduce(step.joined, states)

    def without_each_key(self) -> tuple[SizeIndices, ...]:
        """The sizes of the cells without each key in turn; puts `neighbours` beside them."""
        n_keys = len(self.space.keys)
        if n_keys == 1:
            return self._without_only_key()
        for part in self.parts:
            part.put({NEIGHBOURS: np.zeros(len(part), dtype=np.int64)})
        found: dict[int, SizeIndices] = {}
        for by, sets in self._placements([frozenset({key}) for key in range(n_keys)]):
            keys = [key for (key,) in sets]
            for done, part in enumerate(self.parts):
                for key, sizes in zip(keys, self._without(part, keys, by), strict=True):
                    found[key] = found[key].joined(sizes) if key in found else sizes
                more = (done + 1) / len(self.parts) * len(keys)
                already = len(found) - len(keys)
                self.shelf.progress("counting near neighbours", (already + more) / n_keys)
        return tuple(found[key] for key in range(n_keys))

    def _without(self, part: Part, keys: Sequence[int], by: frozenset[int]) -> list[SizeIndices]:
        """The sizes of the cells of a part without each key; adds to their neighbours."""
        words, records = part.read("words"), part.read("records")
        total = part.read(NEIGHBOURS).copy()
        sizes: dict[int, SizeIndices] = {}
        for rows in self._blocks(words, by):
            own, held, more = words[rows], records[rows], total[rows]

            def one(
                key: int, own: IntArray = own, held: IntArray = held
            ) -> tuple[IntArray, IntArray, SizeIndices]:
                heed()
                return neighbours_without(own, held, self.coding, key)

            for key, (cells, others, left) in zip(keys, in_threads(one, keys), strict=True):
                more[cells] += others
                sizes[key] = sizes[key].joined(left) if key in sizes else left
            total[rows] = more
        part.put({NEIGHBOURS: total})
        return [sizes[key] for key in keys]

    def _without_only_key(self) -> tuple[SizeIndices, ...]:
        n = self.n_records
        for part in self.parts:
            part.put({NEIGHBOURS: n - part.read("records")})
        return (SizeIndices.of_counts(np.array([n])),)

    def _placements(
        self, touched: Sequence[frozenset[int]]
    ) -> Iterator[tuple[frozenset[int], list[frozenset[int]]]]:
        """Keys by which the cells are placed, and those of the sets of keys that this serves: cells
        that agree on all other keys than those of the set are in one part."""
        left = list(dict.fromkeys(touched))
        everything = frozenset(range(len(self.space.keys)))
        while left:
            by = self.together
            if by is None or not any(serves(by, keys) for keys in left):
                by = placement(left, len(everything))
                self.exchange(by)
                if self._is_uneven():
                    by = everything - left[0]
                    self.exchange(by)
            yield by, [keys for keys in left if serves(by, keys)]
            left = [keys for keys in left if not serves(by, keys)]
        self.even_out()

    def even_out(self) -> None:
        """Place the cells by all their keys where those that they lie by leave parts too large."""
        if len(self.parts) > 1 and self._is_uneven():
            self.exchange(frozenset(range(len(self.space.keys))))

    def _is_uneven(self) -> bool:
        share = self.n_cells / len(self.parts)
        return max(map(len, self.parts)) > UNEVEN * share

    def _blocks(self, words: IntArray, by: frozenset[int]) -> list[IntArray | slice]:
        """The rows of a part in blocks that are put in order quickly, those of cells that agree on
        the keys `by` in one: so few that a code and a place fit in one word."""
        free = max(BITS - int(words.max(initial=0)).bit_length(), FEWEST_BITS)
        n_blocks = -(-len(words) // (1 << min(free, MOST_BITS)))
        if n_blocks <= 1 or not by:
            return [slice(None)]
        view = self.space.itself().of_keys(sorted(by))
        number = ((mixed(view.words(words)) >> np.uint64(16)) % np.uint64(n_blocks)).astype(
            np.uint16
        )
        order = np.argsort(number, kind="stable")
        ends = np.cumsum(np.bincount(number, minlength=n_blocks))
        return [rows for rows in np.split(order, ends[:-1]) if len(rows)]

    def exchange(self, by: frozenset[int]) -> None:
        """Place the cells so that those which agree on these keys are in one part."""
        if len(self.parts) > 1:
            view = self.space.itself().of_keys(sorted(by))
            self.parts = self._scattered(view, len(self.parts))
        self.together = by

    def _scattered(
        self, view: View, n_parts: int, copied: Sequence[str] | None = None
    ) -> list[Part]:
        """The cells in other parts, by their codes in the view; with `copied` copies of them, with
        these columns alone."""

        def rows() -> Iterator[tuple[Array, Columns]]:
            for part in self.parts:
                names = [*part.held, *part.kinds] if copied is None else copied
                for first in range(0, len(part), self.shelf.at_once):
                    end = min(first + self.shelf.at_once, len(part))
                    columns = {name: part.read(name, first, end) for name in names}
                    yield _part_of(view, columns["words"], n_parts), columns
                if copied is None:
                    part.remove()

        return self.shelf.scattered(rows(), n_parts)

    def small(self, views: Sequence[View], k: int) -> list[Small]:
        """Records in small cells, under each view of the keys."""
        n_keys = len(self.space.keys)
        touched = [frozenset(range(n_keys)) - view.untouched for view in views]
        found: dict[int, Small] = {}
        for number, view in enumerate(views):  # what touches most keys is looked at by itself
            if len(self.parts) > 1 and 3 * len(touched[number]) > 2 * n_keys:
                sizes = self.seen_through(view).size_indices()
                found[number] = Small(sizes.records_below(k), sizes.sample_uniques)
        rest = [number for number in range(len(views)) if number not in found]
        for _, sets in self._placements([touched[number] for number in rest]):
            here = [number for number in rest if touched[number] in sets]
            for part in self.parts:
                own = self._small(part, [views[number] for number in here], k)
                for number, one in zip(here, own, strict=True):
                    found[number] = found.get(number, Small(0, 0)).joined(one)
        return [found[number] for number in range(len(views))]

    def _small(self, part: Part, views: Sequence[View], k: int) -> list[Small]:
        words, records = part.read("words"), part.read("records")

        def one(view: View) -> Small:
            heed()
            return small_groups(view.words(words), records, k)

        return in_threads(one, views)

    def seen_through(self, view: View) -> "LocalCells":
        """The coarser cells of a view."""
        parts = self.parts
        if len(parts) > 1:
            weight = WEIGHTS if self.weighted else ()
            parts = self._scattered(view, len(parts), ["words", "records", *weight])
        made = []
        for part in parts:
            made.append(self.shelf.part(_coarser(part, view), on_disk=part.folder is not None))
            if parts is not self.parts:
                part.remove()
        everything = frozenset(range(len(view.space.keys)))
        found = LocalCells(view.space, made, self.shelf, everything)
        n_parts = self.shelf.n_parts(found.n_cells)
        if n_parts < len(made):
            found.parts = found._scattered(view.space.itself(), n_parts)
        return found.matched()

    def matched(self, progress: Progress = silent) -> "LocalCells":
        """The same cells with the counts and weights of all records that match theirs, in one part;
        themselves where no value is missing that matches anything.

        All of them are held at once: some `MATCHING_BYTES` and 8 more for each key and cell.
        """
        matching = self.space.policy.matching
        if matching is None or not self.space.overlap:
            return self
        whole = self.held(self.n_cells, ("squares",) if self.weighted else ())
        assert whole is not None
        levels, missing = whole.levels(), self.space.missing_levels
        if not bool((levels == missing).any()):
            return self
        found = matched_cells(
            levels,
            missing,
            whole.n_records,
            whole.weight_total,
            policy=matching,
            missing_weight=self.space.missing_weight,
            progress=progress,
        )
        columns: dict[str, Array] = {
            "words": whole.words,
            "records": whole.n_records,
            "sample_count": found.sample_count,
        }
        if whole.weight_total is not None and found.weight_total is not None:
            columns |= {"weight": whole.weight_total, "weight_total": found.weight_total}
            columns["squares"] = whole.extra["squares"]
        shelf = replace(self.shelf, most_held=max(self.shelf.most_held, len(whole)))
        return LocalCells.of_rows([columns], len(whole), self.space, shelf)

    def take(self, coarser: "LocalCells", view: View, columns: Mapping[str, str]) -> None:
        """Put columns of the coarser cells of a view beside the cells, under these new names."""
        others = coarser.parts
        if len(others) > 1:
            n_parts = len(self.parts)
            self.parts, self.together = self._scattered(view, n_parts), None
            others = coarser._scattered(view.space.itself(), n_parts, ["words", *columns])
        for number, part in enumerate(self.parts):
            other = others[number if len(others) > 1 else 0]
            at = places_among(other.read("words"), view.words(part.read("words")))
            part.put({new: other.read(name)[at] for name, new in columns.items()})
            if len(others) > 1:
                other.remove()

    def put_counts(self, name: str, rows: Iterable[Columns]) -> None:
        """A column of whole numbers that come as `words` and `n`, some at a time; 0 for a cell that
        none comes for, and what comes for no cell is left out."""
        if len(self.parts) == 1:
            self._put_counts(name, self.parts[0], rows)
            return
        for part, counts in self.beside(rows):
            self._put_counts(name, part, [{n: counts.read(n) for n in ("words", "n")}])
            counts.remove()

    def _put_counts(self, name: str, part: Part, rows: Iterable[Columns]) -> None:
        words, found = part.read("words"), np.zeros(len(part), dtype=np.int64)
        for columns in rows:
            at = places_among(words, columns["words"])
            np.add.at(found, at[at >= 0], columns["n"][at >= 0])
        part.put({name: found})

    def measure_values(
        self,
        name: str,
        rows: Iterable[Columns],
        labels: tuple[str, ...],
        step: ValuesOfCells[Found],
    ) -> Found:
        """Look at the values of a variable in every cell; they come as `words`, `value` and
        `records`, some at a time, for cells that are there."""
        states = []
        for part, pairs in self.beside(rows):
            batch = self.read(part, ())
            cell = places_among(batch.words, pairs.read("words"))
            values = values_in_cells(name, labels, cell, pairs.read("value"), pairs.read("records"))
            columns, state = step.of(batch, values)
            part.put(columns)
            states.append(state)
            if pairs.folder is not None:
                pairs.remove()
        return reduce(step.joined, states)

    def beside(self, rows: Iterable[Columns]) -> list[tuple[Part, Part]]:
        """Each part of the cells, and the rows about its cells."""
        if self.together is None:
            self.exchange(frozenset(range(len(self.space.keys))))
        assert self.together is not None
        view = self.space.itself().of_keys(sorted(self.together))
        n_parts = len(self.parts)
        placed = ((_part_of(view, columns["words"], n_parts), columns) for columns in rows)
        return list(zip(self.parts, self.shelf.scattered(placed, n_parts), strict=True))

    def held(self, most: int, reads: Sequence[str] = ()) -> CellBatch | None:
        """All cells at once in the order of their codes, None if there are more than `most`."""
        if self.n_cells > most:
            return None
        own = ["weight"] if self.weighted and not self.disjoint else []
        return cells_in_order([self.read(part, [*reads, *own]) for part in self.parts])

    def sampled(self, most: int, reads: Sequence[str] = ()) -> CellBatch:
        """Cells chosen by a hash of their codes, in the order of these."""
        limit = int(min(most / self.n_cells, 1.0) * 2**HASH_BITS)
        kept = []
        for batch in self.batches(reads):
            kept.append(batch.part(np.flatnonzero(mixed(batch.words) < limit)))
        return cells_in_order(kept)

    def read(self, part: Part, reads: Sequence[str]) -> CellBatch:
        """The cells of a part, with some columns that lie beside them."""
        records = part.read("records")
        alone = "sample_count" not in part
        weight = None
        if "weight" in part:
            weight = part.read("weight" if alone else "weight_total")
        return CellBatch(
            coding=self.coding,
            words=part.read("words"),
            records=records,
            sample_count=records if alone else part.read("sample_count"),
            weight_total=weight,
            extra={name: part.read(name) for name in reads},
        )


@dataclass(frozen=True, slots=True)
class SizesOfCells:
    """How many cells hold exactly j records."""

    disjoint: bool
    reads: tuple[str, ...] = ()

    def of(self, batch: CellBatch) -> SizeIndices:
        """Of some cells."""
        records = None if self.disjoint else batch.n_records
        return SizeIndices.of_counts(batch.sample_count, records, disjoint=self.disjoint)

    def joined(self, one: SizeIndices, other: SizeIndices) -> SizeIndices:
        """Of the cells of both."""
        return one.joined(other)


@dataclass(frozen=True, slots=True)
class MarginsOfCells:
    """The records by the levels of each set of keys, as dense tables."""

    coding: Coding
    sets: tuple[tuple[int, ...], ...]
    reads: tuple[str, ...] = ()

    def of(self, batch: CellBatch) -> dict[tuple[int, ...], IntArray]:
        """Of some cells."""
        return margins_of_cells([batch], self.coding, self.sets)

    def joined(
        self, one: dict[tuple[int, ...], IntArray], other: dict[tuple[int, ...], IntArray]
    ) -> dict[tuple[int, ...], IntArray]:
        """Of the cells of both."""
        return {axes: table + other[axes] for axes, table in one.items()}


def serves(by: frozenset[int], touched: frozenset[int]) -> bool:
    """Whether cells placed by some keys are together that agree but for the touched ones."""
    return not by & touched


def placement(touched: Sequence[frozenset[int]], n_keys: int) -> frozenset[int]:
    """Keys to place the cells by, which serve the first of these sets of keys and as many others as
    leave a third of the keys."""
    by = frozenset(range(n_keys)) - touched[0]
    for other in touched[1:]:
        if len(by - other) * 3 >= n_keys:
            by -= other
    return by


def check_margins(space: KeySpace, sets: Sequence[tuple[int, ...]]) -> None:
    """Dense margins of these sets of keys are small enough; raises InputError where they are
    not."""
    sizes = [math.prod(space.coding.sizes[axis] for axis in axes) for axes in sets]
    remedy = "group the levels of these keys"
    if sizes and max(sizes) > MARGIN_LIMIT:
        largest = sets[sizes.index(max(sizes))]
        names = " × ".join(repr(space.names[axis]) for axis in largest)
        rule = f"of at most {MARGIN_LIMIT:,} cells"
        raise InputError(must_be(f"margin {names}", rule, max(sizes), remedy=remedy))
    if sum(sizes) > 2 * MARGIN_LIMIT:
        rule = f"of at most {2 * MARGIN_LIMIT:,} cells in all"
        raise InputError(must_be("margins of the keys", rule, sum(sizes), remedy=remedy))


def values_in_cells(
    name: str, labels: tuple[str, ...], cell: IntArray, value: IntArray, records: IntArray
) -> SensitiveValues:
    """Rows about the values of cells, in any order, added up and put in theirs."""
    pairs, place = distinct_rows(np.stack([cell, value], axis=1))
    return SensitiveValues(
        name=name,
        labels=labels,
        cell=pairs[:, 0],
        value=pairs[:, 1],
        records=np.bincount(place, records, len(pairs)).astype(np.int64),
    )


def in_threads(work: Callable[[Any], Found], items: Sequence[Any]) -> list[Found]:
    """What the work makes of each item, some of them at a time."""
    if len(items) < 2:
        return [work(item) for item in items]
    with threads(len(items)) as pool:
        return list(pool.map(work, items))


def mixed(words: IntArray) -> Array:
    """A number below 2^32 for each code, the same wherever and whenever it is asked for."""
    found = np.full(len(words), MIX)  # so that a code of 0 is mixed too
    for word in range(words.shape[1]):
        found = (found ^ words[:, word].astype(np.uint64)) * MIX
        found ^= found >> np.uint64(HASH_BITS)
    return (found * MIX) >> np.uint64(64 - HASH_BITS)


def _part_of(view: View, words: IntArray, n_parts: int) -> Array:
    kind = np.min_scalar_type(n_parts)  # the smaller, the quicker rows are put in order by it
    if n_parts == 1:
        return np.zeros(len(words), dtype=kind)
    return (mixed(view.words(words)) % np.uint64(n_parts)).astype(kind)


def _coarser(part: Part, view: View) -> Columns:
    """The cells of a part that fall together in a view, with their records and weights."""
    words = view.words(part.read("words"))
    records = part.read("records")
    if not len(words):
        weights = WEIGHTS if "weight" in part else ()
        return {"words": words, "records": records} | {name: part.read(name) for name in weights}
    if "weight" in part:
        distinct, place = distinct_rows(words, view.space.coding.n_combinations)
        order = in_order(part.read("words"))  # so that sums do not depend on how the cells lie
        return {
            "words": distinct,
            "records": np.bincount(place, records, len(distinct)).astype(np.int64),
        } | {
            name: np.bincount(place[order], part.read(name)[order], len(distinct))
            for name in WEIGHTS
        }
    order, starts = grouped(words)
    return {"words": words[order[starts]], "records": np.add.reduceat(records[order], starts)}


def cells_in_order(batches: Sequence[CellBatch]) -> CellBatch:
    """All cells of the batches as one, in the order of their codes."""
    first = batches[0]
    words = np.concatenate([batch.words for batch in batches])
    counts = np.concatenate([batch.sample_count for batch in batches])
    weights = [batch.weight_total for batch in batches if batch.weight_total is not None]
    whole = replace(
        first,
        words=words,
        sample_count=counts,
        records=np.concatenate([batch.n_records for batch in batches]),
        weight_total=np.concatenate(weights) if weights else None,
        extra={name: np.concatenate([b.extra[name] for b in batches]) for name in first.extra},
    )
    return whole.part(in_order(words))


def cells_at_hand(
    words: IntArray,
    records: IntArray,
    coding: Coding,
    weight: FloatArray | None = None,
    squares: FloatArray | None = None,
) -> LocalCells:
    """Cells in memory, one row each, whose keys have no names; see `of_arrays` for `squares`."""
    keys = tuple(
        KeyLevels(name=f"key {number}", values=("",) * size, labels=("",) * size, n_missing=0)
        for number, size in enumerate(coding.sizes)
    )
    space = KeySpace(keys=keys, coding=coding, policy=POLICIES["category"])
    return LocalCells.of_arrays(words, records, space, weight, squares=squares)
