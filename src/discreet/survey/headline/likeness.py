"""How many records of the sample are like those of a cell, from records drawn at random.

A kernel: a person who is like the reference record r has on key j the same level with probability
1 − λ_j, else a level drawn from all records. So a combination x has the probability

    q(x) = mean over r of ∏_j [(1 − λ_j)·1(r_j = x_j) + λ_j·p_j(x_j)],

and n·q(x) records of the sample are expected there. Records of the cell itself are left out, so
that a cell says nothing of its own. λ_j, how often key j is drawn anew, is found by EM: each record
is held against all others, which tells how likely it is that its level was drawn and not kept.

Near neighbours (records that differ in one key) tell more where there are any; in a small sample of
many keys most cells have none, and likeness is what is left.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.engines.local.cells import HASH_BITS, mixed
from discreet.engines.local.grouping import in_order
from discreet.numerics.arrays import CountArray, FloatArray, IntArray

MOST_REFERENCES = 3_000
MOST_PAIRS = 100_000_000  # cells × references, two seconds or less for ten keys
MOST_CELLS = 200_000  # beyond, cells have near neighbours enough
ROWS_OF_EM, STEPS_OF_EM, FIRST_MIXING = 400, 12, 0.3
LEAST_MIXING = 1e-4
LEAST_OTHERS = 0.5  # records that a level is taken to have in others where it has none
ROWS_AT_ONCE = 32  # of products that stay in the cache


def n_references(n_cells: int) -> int:
    """How many reference records so many cells are held against; 0 where it is not worth while."""
    return 0 if n_cells > MOST_CELLS else min(MOST_REFERENCES, MOST_PAIRS // max(n_cells, 1))


@dataclass(frozen=True, slots=True)
class Drawn:
    """Cells with records that were drawn: their codes, all their records, how many of these were
    drawn, and a number in [0, 1) of each that orders them at random."""

    words: IntArray
    records: IntArray
    number: IntArray
    chance: FloatArray

    def part(self, cells: IntArray) -> "Drawn":
        """Some of them."""
        return Drawn(self.words[cells], self.records[cells], self.number[cells], self.chance[cells])


@dataclass(frozen=True, slots=True)
class DrawingReferences:
    """Draws a share of the records: f·share of each cell, rounded up or down by chance, so that
    each record is as likely to be drawn as any other.

    The chance is a hash of the numbers of records that share a level of the cell, in ascending
    order: the same whatever the order of the cells, of the keys and of their levels.
    """

    share: float
    keys: tuple[int, ...]
    margins: tuple[IntArray, ...]
    reads: tuple[str, ...] = ()

    def of(self, batch: CellBatch) -> Drawn:
        """Those of some cells."""
        levels = batch.levels()[:, list(self.keys)]
        held = np.column_stack(
            [np.zeros(len(batch), dtype=np.int64)]
            + [m[own] for m, own in zip(self.margins, levels.T, strict=True)]
        )
        chance = mixed(np.sort(held, axis=1)) / 2.0**HASH_BITS
        number = np.floor(batch.n_records * self.share + chance).astype(np.int64)
        return Drawn(batch.words, batch.n_records, number, chance).part(np.flatnonzero(number))

    def joined(self, one: Drawn, other: Drawn) -> Drawn:
        """Those of the cells of both."""
        return Drawn(
            np.concatenate([one.words, other.words]),
            np.concatenate([one.records, other.records]),
            np.concatenate([one.number, other.number]),
            np.concatenate([one.chance, other.chance]),
        )


@dataclass(frozen=True, slots=True)
class Likeness:
    """The kernel: reference cells (`levels` by key, each for `number` records), the records of each
    level of each key among `n_records`, how often a key is drawn anew, and in which group each
    reference is if that matters."""

    levels: tuple[IntArray, ...]
    number: FloatArray
    margins: tuple[IntArray, ...]
    n_records: int
    mixing: FloatArray
    group: IntArray | None = None

    @classmethod
    def fitted(
        cls,
        drawn: Drawn,
        coding: Coding,
        keys: tuple[int, ...],
        margins: tuple[IntArray, ...],
        n_records: int,
        by: int | None = None,
    ) -> "Likeness":
        """From references in any order; `margins` are those of the `keys` that are looked at, and
        the key `by` says which references are of one group."""
        drawn = drawn.part(in_order(drawn.words))
        levels = coding.decode(drawn.words)
        rows = levels[:, list(keys)]
        kernel = cls(
            levels=tuple(np.ascontiguousarray(column.astype(np.int32)) for column in rows.T),
            number=drawn.number.astype(np.float64),
            margins=margins,
            n_records=n_records,
            mixing=np.full(rows.shape[1], FIRST_MIXING),
            group=None if by is None else levels[:, by],
        )
        some = np.sort(np.argsort(drawn.chance, kind="stable")[:ROWS_OF_EM])
        for _ in range(STEPS_OF_EM):
            own = None if kernel.group is None else kernel.group[some]
            mixing = kernel._mixing_of(rows[some], drawn.records[some], kernel.number[some], own)
            kernel = replace(kernel, mixing=mixing)
        return kernel

    def others(self, rows: IntArray, records: IntArray) -> list[FloatArray]:
        """How many share the level of each key but for the own records of each row, and
        `LEAST_OTHERS` at least."""
        return [
            np.maximum(margin[column] - records, LEAST_OTHERS)
            for margin, column in zip(self.margins, rows.T, strict=True)
        ]

    def density(
        self, rows: IntArray, others: Sequence[CountArray], group: IntArray | None = None
    ) -> FloatArray:
        """q of combinations of levels (rows × keys), whose own records are left out: `others` share
        the level of each key, more than none. References of the own `group` are left out too."""
        found = np.empty(len(rows))
        for first in range(0, len(rows), ROWS_AT_ONCE):
            here = slice(first, first + ROWS_AT_ONCE)
            own = None if group is None else group[here]
            drawn, weight = self._held_against(rows[here], [other[here] for other in others], own)
            outside = np.where(weight > 0, self.number, 0.0).sum(axis=1)
            likely = (weight * self.number).sum(axis=1) / np.maximum(outside, 1.0)
            found[here] = np.prod(drawn, axis=0) * likely
        return found

    def _held_against(
        self, rows: IntArray, others: Sequence[CountArray], group: IntArray | None
    ) -> tuple[list[FloatArray], FloatArray]:
        """λ·p of the levels of each key, and the product over the keys on which a row agrees with
        each reference of how much likelier that makes its level; 0 where all keys agree, and within
        a group."""
        mixing = self.mixing.tolist()
        shares = [other / self.n_records for other in others]
        drawn = [share * own for share, own in zip(shares, mixing, strict=True)]
        gain = [(1 - own + d) / d for d, own in zip(drawn, mixing, strict=True)]
        weight = np.ones((len(rows), len(self.number)))
        whole = np.ones(len(rows))
        for column, own, more in zip(rows.T, self.levels, gain, strict=True):
            weight *= np.where(column[:, None] == own, more[:, None], 1.0)
            whole *= more  # in the same order, so that all keys agree where it is reached
        weight[weight >= whole[:, None]] = 0.0
        if group is not None:
            weight[group[:, None] == self.group] = 0.0
        return drawn, weight

    def _mixing_of(
        self,
        rows: IntArray,
        records: IntArray,
        number: FloatArray,
        group: IntArray | None = None,
    ) -> FloatArray:
        """One step of EM on some of the references."""
        sums, total = np.zeros(len(self.mixing)), 0.0
        for first in range(0, len(rows), ROWS_AT_ONCE):
            here = slice(first, first + ROWS_AT_ONCE)
            others = self.others(rows[here], records[here])
            own = None if group is None else group[here]
            drawn, weight = self._held_against(rows[here], others, own)
            weight *= self.number
            alike = weight.sum(axis=1)
            use = number[here] * (alike > 0)
            total += use.sum()
            for key, (own, column) in enumerate(zip(self.levels, rows[here].T, strict=True)):
                agree = np.where(column[:, None] == own, weight, 0.0).sum(axis=1)
                share = agree / np.maximum(alike, 1e-300)
                kept = 1 - self.mixing[key]
                sums[key] += use @ (1 - share + share * drawn[key] / (kept + drawn[key]))
        if not total:
            return self.mixing
        return np.clip(sums / total, LEAST_MIXING, 1 - LEAST_MIXING)
