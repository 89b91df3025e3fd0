"""Special uniques (SUDA): who stands out on few keys, how much, and through which values.

A *minimal sample unique* (MSU) of a record is a set of keys whose values no other record of the
sample shares, while every smaller part of them is shared by someone. A record has MSUs only if it
is a sample unique on all keys. Few keys, and many ways, make a record easy to recognise, so the
score of a record adds up a contribution from each of its MSUs, larger for fewer keys (Elliot,
Manning and Ford 2002; Elliot, Manning, Mayes, Gurd and Bane 2005). `Convention` and `Scaling` give
the formulas in use. Missing values have no special role here: code them as a level of their own.
Where they match anything, `discreet.survey.suda.matching` finds the MSUs.

Cost. All Σ C(K, k), k ≤ M, sets of K keys are looked at, up to 16 of them in a pass over the cells
that others agree with. Time grows as the rows times that sum at worst: it doubles with each key
when M = K, grows as K^M / M! for a small limit M, and is less where many are alone on few keys.
Memory besides the input: at most 24 + 5·K + 6·M bytes a row, 8·M a sample unique (8·M·K more for
`by_record`), and one bit a sample unique for each set of fewer than M keys, which `memory_limit`
bounds by dealing with the sample uniques in blocks.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.data.coding import Coding
from discreet.errors import InputError, must_be
from discreet.numerics.arrays import FloatArray, IntArray, read_only

MAX_KEY_SETS = 2**22
Progress = Callable[[float], None]


class _Choice(StrEnum):
    """Named alternatives; an unknown name is an error of the input."""

    @classmethod
    def _missing_(cls, value: object) -> None:
        raise InputError(must_be(cls.__name__.lower(), " or ".join(cls), repr(value)))


class Convention(_Choice):
    """What an MSU of size k contributes to a score, of K keys and searched up to size M.

    `elliot`: ∏_{i=k}^{M} (K − i), with M counted as K − 1 when all sizes are searched (its last
    factor would be nought): (K − k)! / (K − M − 1)!. Elliot et al. (2005); the score column of the
    SDC Practice Guide, table 4.5; sdcMicro's `original_scores = TRUE`, which searches all sizes.

    `guide`: (2^(K−k) − 1) / C(K, k), whatever M is. The standardised scores of the IHSN program,
    which stand behind the DIS-SUDA column of the same table of the guide (not behind its score
    column); sdcMicro's `original_scores = FALSE`. Nothing for a record unique on all keys only.
    """

    ELLIOT = "elliot"
    GUIDE = "guide"


class Attribution(_Choice):
    """How the contribution of an MSU is put down to its keys.

    `involved`: in full to each of them, so that a key gets what the score would lose without it
    (the contributions of other MSUs kept as they are); the sum over keys exceeds the score. As
    sdcMicro has it: its `contributionPercent` is this over the score of the record, its
    `attribute_contributions` 100 times this over the total score, its
    `attribute_level_contributions` 100 times that of a value over that of its key.

    `shared`: in equal parts, which add up to the score (the Shapley value of the keys).
    """

    INVOLVED = "involved"
    SHARED = "shared"


class Scaling(_Choice):
    """How the DIS of the file is spread over its U sample uniques by their scores s.

    `odds`: 1 / (1 + U·(1/DIS − 1) / (s^q · Σ s^−q)), q = 1 + (8 − K)/20, the sum over records with
    a score. When all U have one their harmonic mean is DIS. sdcMicro's `disScore`, and the DIS-SUDA
    column of the SDC Practice Guide.

    `share`: DIS · s / Σ s, parts of the DIS in proportion to the scores, as the Python package suda
    defines it. Not a probability of a correct match.
    """

    ODDS = "odds"
    SHARE = "share"


def msu_contributions(
    n_keys: int, max_size: int, convention: str = Convention.ELLIOT
) -> FloatArray:
    """Contribution of one MSU of size 1, 2, … `max_size` to the score; see `Convention`."""
    sizes = range(1, max_size + 1)
    if Convention(convention) is Convention.GUIDE:
        return np.array([(2 ** (n_keys - k) - 1) / math.comb(n_keys, k) for k in sizes])
    last = min(max_size, n_keys - 1)
    return np.array([float(math.prod(n_keys - i for i in range(k, last + 1))) for k in sizes])


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecialUniques:
    """How many minimal sample uniques each record and each value has, by size. All counts exact.

    `rows` are the positions, ascending, of the sample uniques among the `n_rows` rows given, and
    `n_msus` (sample uniques × sizes 1 … `max_size`) the MSUs of each. For each key, `levels` has
    the codes that occur and `level_msus` (codes × sizes) the MSUs that hold each. `key_msus`
    (sample uniques × keys × sizes) counts the MSUs of a record that hold a key; None unless asked
    for. `records` has the records of each of `rows`: one, unless missing values match other values.
    """

    n_rows: int
    max_size: int
    rows: IntArray
    n_msus: NDArray[np.int32]
    levels: tuple[IntArray, ...]
    level_msus: tuple[IntArray, ...]
    key_msus: NDArray[np.int32] | None
    records: IntArray | None = None

    def __post_init__(self) -> None:
        if self.records is None:
            object.__setattr__(self, "records", np.ones(len(self.rows), dtype=np.int64))
        arrays: list[NDArray[Any]] = [self.rows, self.n_msus, *self.levels, *self.level_msus]
        arrays.append(self.row_records)
        for array in arrays if self.key_msus is None else [*arrays, self.key_msus]:
            read_only(array)

    @property
    def n_keys(self) -> int:
        """Number of keys, K or ATT in the literature."""
        return len(self.levels)

    @property
    def row_records(self) -> IntArray:
        """Records of each of `rows`."""
        assert self.records is not None
        return self.records

    @property
    def n_uniques(self) -> int:
        """Records that are sample uniques."""
        return int(self.row_records.sum())

    @property
    def n_scored(self) -> int:
        """Records with an MSU."""
        return int(self.row_records[self.n_msus.any(axis=1)].sum())

    def scores(self, convention: str = Convention.ELLIOT) -> FloatArray:
        """SUDA score of every row given: 0 for a record that is no sample unique."""
        scores = np.zeros(self.n_rows)
        scores[self.rows] = weighted(self.n_msus, self._weights(convention))
        return scores

    def total_score(self, convention: str = Convention.ELLIOT) -> float:
        """Sum of the scores of all records."""
        return float(weighted(self.row_records @ self.n_msus, self._weights(convention)))

    def key_contributions(
        self, convention: str = Convention.ELLIOT, attribution: str = Attribution.SHARED
    ) -> FloatArray:
        """What each key contributes to the total score, in units of score."""
        weights = self._weights(convention, attribution)
        return np.array([weighted(msus.sum(axis=0), weights) for msus in self.level_msus])

    def level_contributions(
        self,
        key: int,
        convention: str = Convention.ELLIOT,
        attribution: str = Attribution.SHARED,
    ) -> FloatArray:
        """What each value of one key, `levels[key]`, contributes to the total score."""
        return weighted(self.level_msus[key], self._weights(convention, attribution))

    def record_contributions(
        self, convention: str = Convention.ELLIOT, attribution: str = Attribution.SHARED
    ) -> FloatArray:
        """What each key contributes to the score of each sample unique: `rows` × keys."""
        if self.key_msus is None:
            raise InputError(must_be("by_record", "True when the MSUs are searched for", "False"))
        return weighted(self.key_msus, self._weights(convention, attribution))

    def dis_suda(
        self,
        dis: float = 0.1,
        convention: str = Convention.ELLIOT,
        scaling: str = Scaling.ODDS,
    ) -> FloatArray:
        """The DIS of the file spread over its records by their scores; 0 for a score of 0.

        Checked: `dis` is in (0, 1], and there are fewer than 28 keys for `odds`, whose power q is
        nought or negative from there on and would call the safest records the riskiest.
        """
        _between_0_and_1("dis", dis)
        scores = self.scores(convention)
        scored = scores > 0
        if not scored.any():
            return scores
        records = np.ones(self.n_rows)
        records[self.rows] = self.row_records
        if Scaling(scaling) is Scaling.SHARE:
            scores[scored] *= dis / (scores[scored] @ records[scored])
            return scores
        if self.n_keys >= 28:
            raise InputError(
                must_be(
                    "keys", "fewer than 28 for scaling by odds", self.n_keys, remedy="use share"
                )
            )
        inverse = scores[scored] ** -power_of_scores(self.n_keys)
        share = inverse / (inverse @ records[scored])
        scores[scored] = dis_of_share(share, dis, self.n_uniques)
        return scores

    def _weights(self, convention: str, attribution: str = Attribution.INVOLVED) -> FloatArray:
        """Contribution of one MSU of each size, to the score or to each of its keys."""
        weights = msu_contributions(self.n_keys, self.max_size, convention)
        if Attribution(attribution) is Attribution.SHARED:
            weights /= np.arange(1, self.max_size + 1)
        return weights


def weighted(counts: NDArray[Any], weights: FloatArray) -> FloatArray:
    """Σ count · weight along the last axis, size by size so that no large copy is made."""
    total = np.zeros(counts.shape[:-1])
    for size, weight in enumerate(weights):
        total += counts[..., size] * weight
    return total


def power_of_scores(n_keys: int) -> float:
    """q, the power of the scores in `Scaling.ODDS`."""
    return 1 + (8 - n_keys) / 20


def dis_of_share(share: FloatArray, dis: float, n_uniques: int) -> FloatArray:
    """DIS-SUDA by `Scaling.ODDS` from s^−q / Σ s^−q."""
    found: FloatArray = 1 / (1 + n_uniques * (1 / dis - 1) * share)
    return found


def _between_0_and_1(name: str, value: float) -> float:
    """The value, if it is above 0 and at most 1."""
    if not 0 < value <= 1:
        raise InputError(must_be(name, "above 0 and at most 1", value))
    return value


def special_uniques(
    levels: ArrayLike,
    sample_count: ArrayLike | None = None,
    *,
    max_size: int | None = None,
    by_record: bool = False,
    memory_limit: int = 2**30,
    progress: Progress | None = None,
) -> SpecialUniques:
    """All minimal sample uniques of at most `max_size` keys, counted; all sizes unless said.

    `levels` (rows × keys) has a level code for every key, the rows being records, or cells with
    `sample_count` records each. Only sets of at least one key count, so a record that is alone in
    the file has every single key as an MSU. `by_record` also counts which keys the MSUs of each
    record hold. `progress` is told the share of the sets done and may raise to stop the search.

    Checked: codes are whole and not negative, counts are at least 1, `max_size` is from 1 to the
    number of keys and the sets to look at are no more than `MAX_KEY_SETS`.
    """
    from discreet.survey.suda.kernels import search

    matrix = level_matrix(levels)
    limit = check_size(max_size, matrix.shape[1])
    cells = _Cells.of(matrix, record_counts(sample_count, len(matrix)))
    if progress is not None:
        progress(0.0)
    found = search(
        cells.columns, cells.sizes, len(cells.rows), limit,
        by_key=by_record, memory_limit=memory_limit, progress=progress,
    )  # fmt: skip
    by_level = np.split(found.by_level.T, np.cumsum(cells.sizes)[:-1])
    place, order = np.argsort(cells.key_order), np.argsort(cells.rows)
    return SpecialUniques(
        n_rows=len(matrix),
        max_size=limit,
        rows=cells.rows[order],
        n_msus=found.by_unique[:, order].T,
        levels=cells.codes,
        level_msus=tuple(by_level[i] for i in place),
        key_msus=found.by_unique_and_key[:, place[:, None], order].T if by_record else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cells:
    """The distinct cells of a sample, those that hold one record first.

    `columns` (keys × cells) has ranks among the codes that occur, the keys in `key_order`, from the
    one that distinguishes least to the one that distinguishes most; `sizes` are their numbers of
    codes. `codes` are in the order given. `rows` are where the sample uniques stand in the input.
    """

    columns: NDArray[Any]
    key_order: IntArray
    sizes: tuple[int, ...]
    codes: tuple[IntArray, ...]
    rows: IntArray

    @classmethod
    def of(cls, matrix: NDArray[Any], counts: IntArray) -> "_Cells":
        """Group equal rows and put keys and cells in the order the search wants."""
        codes, ranks = zip(*(_ranked(matrix, key) for key in range(matrix.shape[1])), strict=True)
        agreeing = [np.square(np.bincount(rank), dtype=np.float64).sum() for rank in ranks]
        key_order = np.argsort(agreeing, kind="stable")[::-1]
        sizes = tuple(len(codes[key]) for key in key_order)
        rows, totals = _grouped([ranks[key] for key in key_order], sizes, counts)
        alone = totals == 1
        cells = np.concatenate([rows[alone], rows[~alone]])
        smallest = np.min_scalar_type(max(sizes) - 1)
        return cls(
            columns=np.stack([ranks[key][cells].astype(smallest) for key in key_order]),
            key_order=key_order,
            sizes=sizes,
            codes=codes,
            rows=rows[alone],
        )


def _ranked(matrix: NDArray[Any], key: int) -> tuple[IntArray, NDArray[np.int32]]:
    """The codes of one key that occur, ascending, and each row's rank among them."""
    column = matrix[:, key].astype(np.int64)
    if column.max() > 4 * len(column):
        codes, ranks = np.unique(column, return_inverse=True)
        return codes, ranks.astype(np.int32)
    occurs = np.bincount(column) > 0
    rank_of = np.cumsum(occurs, dtype=np.int32) - 1
    return np.flatnonzero(occurs), rank_of[column]


def _grouped(
    ranks: Sequence[NDArray[np.int32]], sizes: tuple[int, ...], counts: IntArray
) -> tuple[IntArray, IntArray]:
    """One row of each distinct cell, sorted with the last key first, and the records it holds."""
    coding = Coding.of_sizes(sizes)
    words = np.zeros((len(counts), coding.n_words), dtype=np.int64)
    for rank, digit in zip(ranks, coding.digits, strict=True):
        words[:, digit.word] += rank * np.int64(digit.stride)
    order = np.lexsort(words.T) if coding.n_words > 1 else np.argsort(words[:, 0])
    words = words[order]
    new = np.concatenate([[True], (words[1:] != words[:-1]).any(axis=1)])
    starts = np.flatnonzero(new)
    return order[starts], np.add.reduceat(counts[order], starts)


def level_matrix(levels: ArrayLike) -> NDArray[Any]:
    """The levels as a matrix of whole numbers with at least one row and one key."""
    matrix = np.asarray(levels)
    if matrix.ndim != 2 or 0 in matrix.shape:
        rule = "a matrix with at least one row and one key"
        raise InputError(must_be("levels", rule, f"the shape {matrix.shape}"))
    if matrix.dtype.kind not in "biu":
        raise InputError(must_be("levels", "whole-number codes", f"the type {matrix.dtype}"))
    if len(matrix) >= 2**31:
        raise InputError(must_be("levels", "fewer than 2**31 rows", len(matrix)))
    for extreme in (matrix.argmin(), matrix.argmax()):
        row, key = divmod(int(extreme), matrix.shape[1])
        if not 0 <= matrix[row, key] < 2**63:
            where, remedy = f"row {row}, key {key}", "give missing values a level of their own"
            rule = "codes from 0 to 2**63 - 1"
            raise InputError(must_be("levels", rule, "another", where=where, remedy=remedy))
    return matrix


def record_counts(sample_count: ArrayLike | None, n_rows: int) -> IntArray:
    """Records in each row: one, unless said otherwise."""
    if sample_count is None:
        return np.ones(n_rows, dtype=np.int64)
    counts = np.asarray(sample_count)
    if counts.shape != (n_rows,) or counts.dtype.kind not in "iu":
        got = f"the shape {counts.shape} and type {counts.dtype}"
        raise InputError(must_be("sample_count", f"{n_rows} whole numbers, one a row", got))
    if counts.min() < 1:
        where = f"row {int(counts.argmin())}"
        raise InputError(must_be("sample_count", "at least 1", int(counts.min()), where=where))
    return counts.astype(np.int64)


def up_to_keys(n_keys: int) -> str:
    """The rule for the size of a set of keys."""
    return f"from 1 to the {n_keys} keys" if n_keys > 1 else "1, as there is one key"


def check_size(max_size: int | None, n_keys: int, name: str = "max_size") -> int:
    """The largest MSU to look for, if the search up to it is of a size that can be done.

    `name` is what the size is called in a complaint.
    """
    from discreet.survey.suda.kernels import n_key_sets

    limit = n_keys if max_size is None else max_size
    if not 1 <= limit <= n_keys:
        raise InputError(must_be(name, up_to_keys(n_keys), limit))
    n_sets = n_key_sets(n_keys, limit)
    if n_sets > MAX_KEY_SETS:
        possible = max(m for m in range(limit) if n_key_sets(n_keys, m) <= MAX_KEY_SETS)
        rule = f"small enough for at most {MAX_KEY_SETS:,} sets of keys"
        remedy = f"for {n_keys} keys that is {possible}"
        raise InputError(must_be(name, rule, f"{limit} ({n_sets:,} sets)", remedy=remedy))
    return limit
