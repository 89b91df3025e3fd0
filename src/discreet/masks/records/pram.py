"""Post-randomisation: the values of a key change by chance, with chances that may be told.

Gouweleeuw, Kooiman, Willenborg and de Wolf (1998), *Post randomisation for statistical disclosure
control*. Each value k of the key becomes l with probability P(k, l), independently of all other
records. What an intruder can still say follows from the matrices (`after_pram`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.engines.key_space import KeyLevels
from discreet.engines.local.grouping import places_among
from discreet.errors import InputError, must_be
from discreet.masks.records.combinations import coding_of, combinations_of, missing_level
from discreet.masks.records.contract import CodedRecords
from discreet.masks.records.parameters import check_names, check_share, percent, place_of, said
from discreet.masks.records.pram_chances import Chances, DrawnAgain, GivenMatrix, LevelCounts
from discreet.numerics.arrays import FloatArray, IntArray, read_only

RETENTION = 0.8
SUM_ERROR = 1e-9  # by which a row of a given matrix may miss 1

Matrix = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pram:
    """Change the values of `key` by chance, so that the share `retention` stays on average.

    Without a `matrix` expected margins stay as they are, in each combination of the `strata` keys
    (`DrawnAgain`); a stratum whose values agree so often that values drawn anew would keep more
    than the retention keeps that. `matrix` gives the chances instead: for each value its row, the
    values it may become with their probabilities; a value without a row stays. A missing value of
    the key stays missing; one of a stratum key is a value like any other.

    Checked: probabilities are from 0 to 1, rows sum to 1, the key is no stratum of itself, and
    (by `fitted`) names are keys and values of the file.
    """

    name: ClassVar[str] = "pram"
    key: str
    retention: float = RETENTION
    matrix: Matrix | None = None
    strata: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_share("retention", self.retention, zero=True)
        check_names("strata", self.strata)
        if self.key in self.strata:
            raise InputError(must_be("strata", "other keys than the one that changes", self.key))
        if self.matrix is None:
            return
        if self.retention != RETENTION:
            raise InputError(must_be("retention", "left out beside a matrix", self.retention))
        for value, row in self.matrix.items():
            _check_row(value, row)

    @property
    def in_words(self) -> str:
        """What it does, as an instruction."""
        within = f" within {said(self.strata)}" if self.strata else ""
        if self.matrix is not None:
            return f"change {self.key} by chance{within}, with the given probabilities"
        kept = percent(self.retention)
        return f"change {self.key} by chance{within}, so that {kept} of the values stay"

    @property
    def still_possible(self) -> str:
        """What an intruder can still do, in a sentence."""
        return (
            f"An intruder who knows the chances can work out how probably each value of {self.key} "
            "is the true one; rare combinations of the other keys are as visible as before."
        )

    def fitted(self, records: CodedRecords) -> "FittedPram":
        """The chances for these records, for each stratum; nothing is drawn yet."""
        key = records.keys[place_of(records, "key", self.key)]
        combinations, stratum = combinations_of(
            records, [place_of(records, "strata", name) for name in self.strata]
        )
        level = records.levels[:, records.place(self.key)]
        known = level != missing_level(key)
        counts = LevelCounts.of(
            stratum[known],
            level[known],
            n_strata=len(combinations),
            n_levels=max(len(key.values), 1),
        )
        keys = tuple(records.keys[records.place(name)] for name in self.strata)
        return FittedPram(
            key=key,
            strata=keys,
            combinations=combinations,
            counts=counts,
            chances=self._of(counts, key),
        )

    def applied(self, records: CodedRecords, rng: np.random.Generator) -> CodedRecords:
        """The changed records; the records given stay as they are."""
        return self.fitted(records).drawn(records, rng)

    def _of(self, counts: LevelCounts, key: KeyLevels) -> Chances:
        if self.matrix is None:
            return DrawnAgain.with_retention(self.retention, counts)
        return _given(self.matrix, key)


def _check_row(value: str, row: Mapping[str, float]) -> None:
    """The probabilities of one value are some, and sum to 1."""
    for probability in row.values():
        check_share(f"a probability in the row {value!r} of the matrix", probability, zero=True)
    total = sum(row.values())
    if abs(total - 1) > SUM_ERROR:
        name = f"the sum of the row {value!r} of the matrix"
        raise InputError(must_be(name, "1", f"{total:.12g}"))


def _given(matrix: Matrix, key: KeyLevels) -> GivenMatrix:
    """The matrix by the places of the values among the levels of the key."""
    place = {value: at for at, value in enumerate(key.values) if value is not None}
    for value in [*matrix, *(to for row in matrix.values() for to in row)]:
        if value not in place:
            rule = f"values of the key {key.name}"
            raise InputError(must_be("names in the matrix", rule, repr(value)))
    rows = np.zeros((len(matrix), max(len(key.values), 1)))
    row_of = np.full(max(len(key.values), 1), -1)
    for at, (value, row) in enumerate(matrix.items()):
        row_of[place[value]] = at
        for to, probability in row.items():
            rows[at, place[to]] = probability
    return GivenMatrix(rows=rows, row_of=row_of)


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedPram:
    """The chances of one key in each stratum of a file; `combinations` holds the levels of the
    `strata` keys of each stratum."""

    key: KeyLevels
    strata: tuple[KeyLevels, ...]
    combinations: IntArray
    counts: LevelCounts
    chances: Chances

    def __post_init__(self) -> None:
        read_only(self.combinations)

    @property
    def n_strata(self) -> int:
        """Strata that occur."""
        return len(self.combinations)

    @property
    def retention(self) -> float:
        """The expected share of the known values that stay; 1 where there is none."""
        counts = self.counts
        if not len(counts.codes):
            return 1.0
        stay = self.chances.between(counts.strata, counts.levels, counts.levels)
        return float(np.dot(counts.records, stay) / counts.records.sum())

    def matrix(self, stratum: int = 0) -> FloatArray:
        """P of a stratum: known values before × known values after, in the order of the levels."""
        n = len(self.key.values) - (missing_level(self.key) >= 0)
        before, after = (axis.ravel() for axis in np.indices((n, n)))
        return self.chances.between(np.full(n * n, stratum), before, after).reshape(n, n)

    def between(self, stratum: IntArray, before: IntArray, after: IntArray) -> FloatArray:
        """P(before, after) of each row, where a missing value stays missing."""
        none = missing_level(self.key)
        found: FloatArray = (before == after).astype(np.float64)
        known = (before != none) & (after != none)
        found[known] = self.chances.between(stratum[known], before[known], after[known])
        return found

    def stratum_of(self, levels: IntArray) -> IntArray:
        """The stratum of each row of levels (rows × strata keys).

        Trusted: each combination occurs in the file that this was fitted to.
        """
        if not self.strata:
            return np.zeros(len(levels), dtype=np.int64)
        coding = coding_of(self.strata)
        known = coding.encode(self.combinations)
        return places_among(known, coding.encode(levels), ordered=coding.n_words == 1)

    def drawn(self, records: CodedRecords, rng: np.random.Generator) -> CodedRecords:
        """The records with the key changed by chance; the records given stay as they are."""
        level = records.levels[:, records.place(self.key.name)]
        places = [records.place(key.name) for key in self.strata]
        stratum = self.stratum_of(records.levels[:, places])
        known = level != missing_level(self.key)
        after = level.copy()
        after[known] = self.chances.drawn(stratum[known], level[known], rng)
        return records.with_levels(self.key.name, after)
