"""One SUDA score explained: the minimal sample uniques of a record and what each contributes.

They are found on their own and not by the search of `survey/suda/scores.py`, which they check.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InputError, must_be
from discreet.numerics.arrays import BoolArray
from discreet.survey.suda.scores import (
    Convention,
    check_size,
    level_matrix,
    msu_contributions,
    record_counts,
)


@dataclass(frozen=True, slots=True)
class Msu:
    """One minimal sample unique: the keys by position, their level codes, what it contributes."""

    keys: tuple[int, ...]
    levels: tuple[int, ...]
    contribution: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivation:
    """How the score of one row comes about: its MSUs, smallest first."""

    row: int
    n_keys: int
    max_size: int
    convention: Convention
    msus: tuple[Msu, ...]

    @property
    def score(self) -> float:
        """SUDA score of the row: the sum of the contributions."""
        return math.fsum(msu.contribution for msu in self.msus)

    def text(
        self,
        names: Sequence[str] | None = None,
        labels: Sequence[Sequence[str]] | None = None,
    ) -> str:
        """The derivation to read: one line an MSU with its keys, values, size and contribution.

        `labels` has the label of each level code of each key; without it the codes are shown.
        """
        names = names or [f"key {key}" for key in range(self.n_keys)]
        noun = "unique" if len(self.msus) == 1 else "uniques"
        head = f"row {self.row}: {len(self.msus)} minimal sample {noun} of at most {self.max_size}"
        lines = [f"{head} of {self.n_keys} keys"]
        for msu in self.msus:
            values = zip(msu.keys, msu.levels, strict=True)
            held = ", ".join(
                f"{names[key]} = {level if labels is None else labels[key][level]}"
                for key, level in values
            )
            working = self._working(len(msu.keys))
            lines.append(f"  {held}: size {len(msu.keys)}, {working} = {msu.contribution:g}")
        return "\n".join([*lines, f"score ({self.convention}): {self.score:g}"])

    def _working(self, size: int) -> str:
        """The contribution of an MSU of this size, written out."""
        if self.convention is Convention.GUIDE:
            return f"(2^{self.n_keys - size} - 1) / C({self.n_keys}, {size})"
        factors = range(size, min(self.max_size, self.n_keys - 1) + 1)
        return " · ".join(f"({self.n_keys} - {i})" for i in factors) or "empty product"


def derive(
    levels: ArrayLike,
    row: int,
    sample_count: ArrayLike | None = None,
    *,
    max_size: int | None = None,
    convention: str = Convention.ELLIOT,
) -> Derivation:
    """The MSUs of one row and what each contributes, found on their own and not by the search.

    A set of keys is unique to the row when it meets, for every other record, the keys on which the
    two differ: the MSUs are the smallest sets that meet all of these (minimal transversals).
    """
    matrix = level_matrix(levels)
    limit = check_size(max_size, matrix.shape[1])
    if not 0 <= row < len(matrix):
        raise InputError(must_be("row", f"from 0 to {len(matrix) - 1}", row))
    others = np.ones(len(matrix), dtype=np.bool_)
    others[row] = record_counts(sample_count, len(matrix))[row] > 1
    excludes = matrix[others] != matrix[row]
    return derivation(matrix, row, excludes, max_size=limit, convention=convention)


def derivation(
    matrix: NDArray[Any],
    row: int,
    excludes: BoolArray,
    *,
    max_size: int,
    convention: str = Convention.ELLIOT,
) -> Derivation:
    """The MSUs of one row, given for every other record the keys that exclude it as a match."""
    limit = max_size
    packed = np.packbits(excludes, axis=1, bitorder="little")
    differences = {int.from_bytes(bits, "little") for bits in packed}
    contributions = msu_contributions(matrix.shape[1], limit, convention)
    found = []
    for mask in _minimal_transversals(differences, matrix.shape[1], limit):
        keys = tuple(_bits(mask))
        codes = tuple(int(matrix[row, key]) for key in keys)
        found.append(Msu(keys, codes, float(contributions[len(keys) - 1])))
    return Derivation(
        row=row,
        n_keys=matrix.shape[1],
        max_size=limit,
        convention=Convention(convention),
        msus=tuple(sorted(found, key=lambda msu: (len(msu.keys), msu.keys))),
    )


def _minimal_transversals(sets: set[int], n_keys: int, max_size: int) -> list[int]:
    """The minimal non-empty sets of at most `max_size` keys that meet all of these, as bit masks.

    Berge's method: set by set, those that miss it are extended by each of its keys. An extension is
    minimal unless it holds one that met the set already; two extensions never hold each other.
    """
    smallest: list[int] = []
    for one in sorted(sets, key=int.bit_count):
        if not any(other & one == other for other in smallest):
            smallest.append(one)
    meeting = [0] if sets else [1 << key for key in range(n_keys)]
    for one in smallest:
        met = [mask for mask in meeting if mask & one]
        missed = [mask for mask in meeting if not mask & one and mask.bit_count() < max_size]
        longer = [mask | 1 << key for mask in missed for key in _bits(one)]
        meeting = met + [mask for mask in longer if not any(old & mask == old for old in met)]
    return meeting


def _bits(mask: int) -> list[int]:
    """The positions of the bits that are set, ascending."""
    return [bit for bit in range(mask.bit_length()) if mask >> bit & 1]
