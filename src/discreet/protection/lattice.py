"""The lattice of recodings: one rung of the ladder of each key, and what the file is there.

The counts at a node come from the cells of the file as it is, never from its records. Two facts let
the search leave most nodes out. *Down* the lattice (finer) the recoding alone loses less, so it is
a lower bound of the loss that needs no cells. And the records that stand out only become more, so
what must be suppressed at a node is a lower bound for all that are finer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from discreet.data.coding import Coding
from discreet.engines.local.grouping import distinct_rows, grouped
from discreet.masks.records.suppression import Values
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray
from discreet.protection.ladders import Ladder
from discreet.protection.search_loss import SearchedKey, SearchLoss

Node = tuple[int, ...]
MOST_NODES = 4_000_000  # of which the bounds are held at once


@dataclass(frozen=True, slots=True, kw_only=True)
class CellsAt:
    """The cells of the file at a node: their codes, their records, and the cell that each cell of
    the file as it is has become."""

    coding: Coding
    words: IntArray
    records: IntArray
    place: IntArray
    values: tuple[Values, ...] = ()
    lacks_values: bool = False


@dataclass(frozen=True, kw_only=True)
class Lattice:
    """The recodings of a file: the ladder of each key and the cells as they are.

    `levels` (cells × keys) and `records` are those of the file; `values` the sensitive variables
    that have to be diverse. `importance` weighs the keys in the loss.
    """

    ladders: tuple[Ladder, ...]
    levels: IntArray
    records: IntArray
    loss: SearchLoss
    importance: FloatArray | None = None
    values: tuple[Values, ...] = ()
    _held: dict[tuple[int, int], IntArray] = field(default_factory=dict, repr=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """Rungs of each key."""
        return tuple(len(ladder) for ladder in self.ladders)

    @property
    def bottom(self) -> Node:
        """The file as it is."""
        return (0,) * len(self.ladders)

    @property
    def n_nodes(self) -> int:
        """Recodings there are."""
        return int(np.prod([float(n) for n in self.shape]))

    @property
    def n_records(self) -> int:
        """Records in all."""
        return int(self.records.sum())

    def at(self, node: Node) -> CellsAt:
        """The cells at a node."""
        coding = self._coding(node)
        distinct, place = distinct_rows(self._words(node, coding))
        records = np.bincount(place, weights=self.records).astype(np.int64)
        values = tuple(_coarser(one, place) for one in self.values)
        return CellsAt(
            coding=coding,
            words=distinct,
            records=records,
            place=place,
            values=values,
            lacks_values=not self._complete.all(),
        )

    def standing_out(self, node: Node, k: int) -> "StandingOut":
        """How many records are in cells of fewer than k at a node."""
        words = self._words(node, self._coding(node))
        order, starts = grouped(words)
        held = self.records[order]
        sizes = np.add.reduceat(held, starts)
        small = np.repeat(sizes < k, np.diff(starts, append=len(order)))
        complete = small & self._complete[order]
        return StandingOut(int(held[small].sum()), int(held[complete].sum()))

    @cached_property
    def _complete(self) -> BoolArray:
        """The cells that lack no value, so that it costs something to take one out."""
        found: BoolArray = np.ones(len(self.records), dtype=np.bool_)
        for key, ladder in enumerate(self.ladders):
            if ladder.key.values[-1:] == (None,):
                found &= self.levels[:, key] != len(ladder.key.values) - 1
        return found

    def _coding(self, node: Node) -> Coding:
        return Coding.of_sizes(
            [
                len(ladder.rungs[rung].levels.values)
                for ladder, rung in zip(self.ladders, node, strict=True)
            ]
        )

    def _words(self, node: Node, coding: Coding) -> IntArray:
        words = np.zeros((len(self.records), coding.n_words), dtype=np.int64)
        for key, (rung, digit) in enumerate(zip(node, coding.digits, strict=True)):
            if digit.size > 1:
                words[:, digit.word] += self._levels_at(key, rung) * digit.stride
        return words

    def _levels_at(self, key: int, rung: int) -> IntArray:
        """The level of one key at a rung in every cell, held for the next node."""
        if (key, rung) not in self._held:
            self._held[key, rung] = self.ladders[key].rungs[rung].to[self.levels[:, key]]
        return self._held[key, rung]

    @cached_property
    def costs(self) -> tuple[tuple["RungCost", ...], ...]:
        """What each rung of each key loses."""
        return tuple(self._costs(ladder) for ladder in self.ladders)

    def _costs(self, ladder: Ladder) -> tuple["RungCost", ...]:
        lacks = ladder.key.values[-1:] == (None,)
        key = SearchedKey(records=ladder.records, leaves=ladder.leaves, missing=lacks)
        found = []
        for rung in ladder.rungs:
            lost = self.loss.of_key(key, rung.to, rung.leaf_shares)
            held = np.bincount(rung.to, weights=ladder.records, minlength=len(rung.leaf_shares))
            found.append(RungCost(lost.kept, lost.suppressed, held.astype(np.float64)))
        return tuple(found)

    def recoding_losses(self) -> FloatArray:
        """The loss of each key at each rung by recoding alone: a lower bound at every node, as an
        array of keys × rungs, infinite beyond the last rung."""
        return self._alone

    @cached_property
    def _alone(self) -> FloatArray:
        n = max(self.n_records, 1)
        found = np.full((len(self.ladders), max(self.shape, default=0)), np.inf)
        for key, rungs in enumerate(self.costs):
            found[key, : len(rungs)] = [float(cost.held @ cost.kept) / n for cost in rungs]
        return found

    def loss_of(self, node: Node, suppressed: Sequence[IntArray]) -> float:
        """The loss of a node where `suppressed[j][level]` values of key j are taken out."""
        n = max(self.n_records, 1)
        by_key = [
            float((cost.held - gone) @ cost.kept + gone @ cost.suppressed) / n
            for cost, gone in zip(self._at(node), suppressed, strict=True)
        ]
        return float(self.loss.together(np.array(by_key), self.importance))

    def guessed_loss(self, node: Node, values: float) -> float:
        """The loss of a node if so many values were taken out, of all keys alike."""
        keys = np.arange(len(self.ladders))
        alone = self.recoding_losses()[keys, np.array(node)]
        more = (1.0 - alone) * min(values / max(self.n_records * len(self.ladders), 1), 1.0)
        return float(self.loss.together(alone + more, self.importance))

    def _at(self, node: Node) -> list["RungCost"]:
        return [rungs[rung] for rungs, rung in zip(self.costs, node, strict=True)]

    def least_losses(self, nodes: IntArray, records: IntArray, *, whole: bool) -> FloatArray:
        """A lower bound of the loss at some nodes (nodes × keys) where at least `records` records
        lose a value each, or with `whole` all of their values.

        The values are those that cost least. Of single values, all could be of one key: the loss of
        keys together is concave in what a key loses, or linear, so that its least is at an end.
        """
        alone = self.recoding_losses()[np.arange(len(self.ladders)), nodes]
        least = self._cheapest[np.arange(len(self.ladders)), nodes]
        more = least * (records[:, None] / max(self.n_records, 1))
        if whole:
            return self.loss.together(alone + more, self.importance)
        found = np.full(len(nodes), np.inf)
        for key in range(len(self.ladders)):
            one = alone.copy()
            one[:, key] += more[:, key]
            found = np.minimum(found, self.loss.together(one, self.importance))
        return found

    @cached_property
    def _cheapest(self) -> FloatArray:
        """The least that taking out a value of a key costs more than keeping it, at each rung."""
        found = np.zeros((len(self.ladders), max(self.shape, default=0)))
        for key, rungs in enumerate(self.costs):
            for rung, cost in enumerate(rungs):
                gain = cost.suppressed - cost.kept
                known = cost.held > 0
                lacks = self.ladders[key].rungs[rung].levels.values[-1:] == (None,)
                known[-1:] &= not lacks  # a key that is left out has no missing level any more
                if known.any():
                    found[key, rung] = max(float(gain[known].min()), 0.0)
        return found


@dataclass(frozen=True, slots=True)
class StandingOut:
    """Records in cells of fewer than k, and those of them that lack no value."""

    records: int
    complete: int


@dataclass(frozen=True, slots=True)
class RungCost:
    """What a record of each level loses at a rung where it is kept, and where it is taken out, and
    the records that each level has."""

    kept: FloatArray
    suppressed: FloatArray
    held: FloatArray


def _coarser(values: Values, place: IntArray) -> Values:
    """The sensitive values of coarser cells."""
    pairs = np.unique(np.stack([place[values.cell], values.value], axis=1), axis=0)
    return Values(cell=pairs[:, 0], value=pairs[:, 1], least=values.least)
