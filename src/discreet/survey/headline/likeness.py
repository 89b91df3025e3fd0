"""How many records of the sample are like those of a cell, from records drawn at random.

A kernel: a person who is like the reference record r has on key j the same level with probability
1 − λ_j, else a level drawn from all records. So a combination x has the probability

    q(x) = mean over r of ∏_j [(1 − λ_j)·1(r_j = x_j) + λ_j·p_j(x_j)],

and n·q(x) records of the sample are expected there. Records of the cell itself are left out, so that
a cell says nothing of its own. λ_j is the share of keys j that are drawn anew, found by EM: each
record is held against all others, and λ_j is how often its level was more likely drawn than kept.

Near neighbours (records that differ in one key) tell more where there are any; in a small sample of
many keys most cells have none, and likeness is what is left.
"""

from dataclasses import dataclass

import numpy as np

from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.engines.local.cells import HASH_BITS, mixed
from discreet.engines.local.grouping import in_order
from discreet.numerics.arrays import FloatArray, IntArray

MOST_REFERENCES = 3_000
MOST_PAIRS = 300_000_000  # cells × references, some seconds for ten keys
MOST_CELLS = 200_000  # beyond, cells have near neighbours enough
ROWS_OF_EM, STEPS_OF_EM, FIRST_MIXING = 400, 12, 0.3
LEAST_MIXING = 1e-4
ROWS_AT_ONCE = 32  # of products that stay in the cache
SALT = 0x5851F42D4C957F2D >> 2  # so that references have nothing to do with other samples by hash


def n_references(n_cells: int) -> int:
    """How many reference records so many cells are held against; 0 where it is not worth while."""
    return 0 if n_cells > MOST_CELLS else min(MOST_REFERENCES, MOST_PAIRS // max(n_cells, 1))


Drawn = tuple[IntArray, IntArray]


@dataclass(frozen=True, slots=True)
class DrawingReferences:
    """Draws a share of the records: f·share of each cell, rounded up or down by the hash of its
    code, so that each record has the same chance whatever the order of the cells."""

    share: float
    reads: tuple[str, ...] = ()

    def of(self, batch: CellBatch) -> Drawn:
        """Codes of the cells that have some, and how many."""
        drawn = np.floor(batch.n_records * self.share + uniform(batch.words)).astype(np.int64)
        some = np.flatnonzero(drawn)
        return batch.words[some], drawn[some]

    def joined(self, one: Drawn, other: Drawn) -> Drawn:
        """Of the cells of both."""
        return np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]])


def uniform(words: IntArray) -> FloatArray:
    """A number in [0, 1) for each code, the same wherever and whenever it is asked for."""
    salted = np.column_stack([words, np.full(len(words), SALT)])
    found: FloatArray = mixed(salted) / 2.0**HASH_BITS
    return found


@dataclass(frozen=True, slots=True)
class Likeness:
    """The kernel: reference cells (`levels` by key, each for `number` records), shares of the levels
    of each key, and how often a key is drawn anew."""

    levels: tuple[IntArray, ...]
    number: FloatArray
    shares: tuple[FloatArray, ...]
    mixing: FloatArray

    @classmethod
    def fitted(cls, drawn: Drawn, coding: Coding, margins: tuple[IntArray, ...]) -> "Likeness":
        """From references in any order; `margins` are the records of each level of each key."""
        words, number = drawn[0][in_order(drawn[0])], drawn[1][in_order(drawn[0])]
        rows = coding.decode(words)
        kernel = cls(
            levels=tuple(np.ascontiguousarray(column.astype(np.int32)) for column in rows.T),
            number=number.astype(np.float64),
            shares=tuple(np.maximum(margin, 0.5) / max(margin.sum(), 1) for margin in margins),
            mixing=np.full(rows.shape[1], FIRST_MIXING),
        )
        some = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), ROWS_OF_EM)).astype(np.int64))
        for _ in range(STEPS_OF_EM):
            mixing = kernel._mixing_of(rows[some], kernel.number[some])
            kernel = cls(kernel.levels, kernel.number, kernel.shares, mixing)
        return kernel

    def density(self, rows: IntArray) -> FloatArray:
        """q of combinations of levels (rows × keys), records of the same combination left out."""
        found = np.empty(len(rows))
        for first in range(0, len(rows), ROWS_AT_ONCE):
            here = slice(first, first + ROWS_AT_ONCE)
            drawn, weight = self._held_against(rows[here])
            base = np.prod(drawn, axis=0)
            outside = np.where(weight > 0, self.number, 0.0).sum(axis=1)
            found[here] = base * (weight * self.number).sum(axis=1) / np.maximum(outside, 1.0)
        return found

    def _held_against(self, rows: IntArray) -> tuple[list[FloatArray], FloatArray]:
        """λ·p of the levels of each key, and the product over the keys on which a row agrees with
        each reference of how much likelier that makes its level; 0 where all keys agree."""
        keys = list(zip(rows.T, self.shares, self.mixing.tolist(), strict=True))
        drawn = [share[column] * own for column, share, own in keys]
        gain = [(1 - own + d) / d for d, (_, _, own) in zip(drawn, keys, strict=True)]
        weight = np.ones((len(rows), len(self.number)))
        whole = np.ones(len(rows))
        for column, own, more in zip(rows.T, self.levels, gain, strict=True):
            weight *= np.where(column[:, None] == own, more[:, None], 1.0)
            whole *= more  # in the same order, so that all keys agree where it is reached
        weight[weight >= whole[:, None]] = 0.0
        return drawn, weight

    def _mixing_of(self, rows: IntArray, number: FloatArray) -> FloatArray:
        """One step of EM on some of the references."""
        sums, total = np.zeros(len(self.mixing)), 0.0
        for first in range(0, len(rows), ROWS_AT_ONCE):
            here = slice(first, first + ROWS_AT_ONCE)
            drawn, weight = self._held_against(rows[here])
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
