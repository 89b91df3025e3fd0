"""Levels of a variable that are sums of its other levels, and how easily that is an accident."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import comb

import numpy as np
import numpy.typing as npt
from scipy.special import betaln, gammaln

from discreet.numerics.arrays import BoolArray, IntArray

Level = tuple[int, int]  # a variable and one of its levels, by position
Checks = npt.NDArray[np.uint64]
ALL_SETS = 14  # levels of a variable up to which every set of them is tried as parts of another
MOST_CODES = 1_000  # levels of a variable up to which longer codes are tried as parts of shorter
SEED = 20_240_601  # of the random numbers that compare rows, the same in every run


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Cells as a file has them, each once: levels by position, and counts from 0.

    `labels` name the levels of each variable, `missing` is the position of its missing level, or
    None.
    """

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    missing: tuple[int | None, ...]
    cells: IntArray
    counts: IntArray


@dataclass(frozen=True, slots=True)
class LevelSum:
    """A level that is the sum of the levels `parts` of its variable; `n_tried` such sets were.

    `by_code` says that its name is the beginning of theirs.
    """

    level: Level
    parts: frozenset[int]
    n_tried: int
    by_code: bool = False


def has(table: Counted, levels: Iterable[Level]) -> BoolArray:
    """Which cells are of one of the levels."""
    found: BoolArray = np.zeros(len(table.cells), dtype=np.bool_)
    for variable, level in levels:
        found |= table.cells[:, variable] == level
    return found


def where(table: Counted, kept: BoolArray) -> Counted:
    """Some of the cells; the levels keep their positions."""
    return replace(table, cells=table.cells[kept], counts=table.counts[kept])


def row_keys(table: Counted, variables: Iterable[int]) -> Checks:
    """A number for each cell, the same for cells of the same levels of these variables.

    Others differ but for a chance of 2⁻⁶⁴.
    """
    rng = np.random.default_rng(SEED)
    keys: Checks = np.full(len(table.cells), SEED, dtype=np.uint64)
    chosen = set(variables)
    for variable, labels in enumerate(table.labels):
        own = rng.integers(0, 2**64, len(labels), dtype=np.uint64)
        if variable in chosen:
            keys += own[table.cells[:, variable]]
    return (keys ^ (keys >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)


def level_sums(table: Counted, variable: int) -> Iterator[LevelSum]:
    """Every level with a set of others whose sum it is, in every row that has one of them.

    A row is what the other variables say. All rows are compared at once, by the sum of the counts
    times the row's random number. Where a level is the only one of its row, it is the sum of
    nothing there: whether the row is a total by other variables is not looked at here.
    """
    held = where(table, table.counts > 0)
    levels = np.unique(held.cells[:, variable]).tolist()
    if len(levels) < 2:
        return
    own = held.cells[:, variable]
    keys = row_keys(held, set(range(len(table.names))) - {variable})
    _, row, n_in_row = np.unique(keys, return_inverse=True, return_counts=True)
    weighed = keys * held.counts.astype(np.uint64)
    whole: Checks = np.zeros(len(table.labels[variable]), dtype=np.uint64)
    in_company = np.zeros_like(whole)
    np.add.at(whole, own, weighed)
    np.add.at(in_company, own, np.where(n_in_row[row.ravel()] > 1, weighed, np.uint64(0)))
    find = _every_set if len(levels) <= ALL_SETS else _likely_sets
    yield from find(table, variable, levels, whole, in_company)


def _every_set(
    table: Counted, variable: int, levels: Sequence[int], whole: Checks, wanted: Checks
) -> Iterator[LevelSum]:
    sums: Checks = np.zeros(1, dtype=np.uint64)  # of the set that the bits of the place name
    for level in levels:
        sums = np.concatenate([sums, sums + whole[level]])
    for place, level in enumerate(levels):
        for bits in np.flatnonzero(sums == wanted[level]).tolist():
            parts = frozenset(x for i, x in enumerate(levels) if bits >> i & 1)
            if parts and not bits >> place & 1:
                n_tried = comb(len(levels) - 1, len(parts))
                yield LevelSum((variable, level), parts, n_tried)


def _likely_sets(
    table: Counted, variable: int, levels: Sequence[int], whole: Checks, wanted: Checks
) -> Iterator[LevelSum]:
    """All others, and codes that are longer by as few characters as there are: DE1, DE2 for DE."""
    others = whole[levels].sum(dtype=np.uint64, keepdims=True) - whole
    for level in levels:
        if wanted[level] and wanted[level] == others[level]:
            yield LevelSum((variable, level), frozenset(levels) - {level}, 1)
            continue
        if len(levels) > MOST_CODES:
            continue
        parts = _longer_codes(table.labels[variable], level, levels)
        if parts and wanted[level] == whole[list(parts)].sum(dtype=np.uint64):
            yield LevelSum((variable, level), frozenset(parts), 1, by_code=True)


def _longer_codes(labels: Sequence[str], level: int, levels: Sequence[int]) -> list[int]:
    own = labels[level]
    longer = [x for x in levels if x != level and labels[x].startswith(own)]
    least = min((len(labels[x]) for x in longer), default=0)
    return [x for x in longer if len(labels[x]) == least]


def accident(
    table: Counted,
    found: LevelSum,
    n_levels: int,
    beside: Collection[Level],
    *,
    lowest_terms: bool = True,
) -> float:
    """The chance that the level's counts are such sums by accident.

    Let each person of a row with n_r = 2 c_r persons in the level or its parts be of the level with
    the same probability s, which has the density m 2^(1 - m) at 1/2 where m parts and the level
    have a uniform distribution of shares. Then all rows match with the chance
    m 2^(1 - m) · Π_r C(2 c_r, c_r) · B(1 + Σ c_r, 1 + Σ c_r), times the number of levels and sets
    that were tried; for a single row m 2^(1 - m) / (2 c + 1). In `lowest_terms` rows are divided by
    the largest number that divides them, and alike ones speak once: designs of 20, 10 and 10 a
    place prove nothing. Rows of the levels `beside` are sums by other variables and say nothing
    new, unless there are no others.
    """
    variable, level = found.level
    chosen = [level, *found.parts]
    own = where(table, np.isin(table.cells[:, variable], chosen) & (table.counts > 0))
    others = [x for x in beside if x[0] != variable]
    inner = where(own, ~has(own, others))
    if (inner.cells[:, variable] == level).any():
        own = inner
    if lowest_terms:
        counts = _different_rows(own, found.level).astype(np.float64)
    else:
        counts = own.counts[own.cells[:, variable] == level].astype(np.float64)
    m = len(found.parts)
    density = max(m * 2.0 ** (1 - m), 1.0)
    logs = np.sum(gammaln(2 * counts + 1) - 2 * gammaln(counts + 1))
    total = float(counts.sum())
    chance = density * found.n_tried * n_levels * np.exp(logs + betaln(total + 1, total + 1))
    return min(1.0, float(chance))


def _different_rows(table: Counted, level: Level) -> IntArray:
    """The counts of the level in each row, in lowest terms, rows that are alike once."""
    variable, own = level
    keys = row_keys(table, set(range(len(table.names))) - {variable})
    rows, row = np.unique(keys, return_inverse=True)
    row = row.ravel()
    divisor: IntArray = np.zeros(len(rows), dtype=np.int64)
    np.gcd.at(divisor, row, table.counts)
    least = table.counts // divisor[row]
    random = np.random.default_rng(SEED).integers(0, 2**64, len(table.labels[variable]), np.uint64)
    shape: Checks = np.zeros(len(rows), dtype=np.uint64)
    np.add.at(shape, row, random[table.cells[:, variable]] * least.astype(np.uint64))
    counts: IntArray = np.zeros(len(rows), dtype=np.int64)
    mine = table.cells[:, variable] == own
    counts[row[mine]] = least[mine]
    _, first = np.unique(shape, return_index=True)
    return counts[first]


def unaccounted(table: Counted, parts: dict[Level, frozenset[int]]) -> set[Level]:
    """Those of the levels with a row that is not the sum of the rows of its parts.

    `parts` has levels that are no sums themselves. A row may be a total by several variables at
    once: what counts are the others it names.
    """
    marks = np.full(table.cells.shape, -1, dtype=np.int64)
    for variable, level in parts:
        mine = table.cells[:, variable] == level
        marks[mine, variable] = level
    is_total = has(table, parts)
    base = where(table, ~is_total)
    found: set[Level] = set()
    for mark in np.unique(marks[is_total], axis=0):
        by = [(int(v), int(mark[v])) for v in np.flatnonzero(mark >= 0)]
        others = [v for v in range(len(table.names)) if mark[v] < 0]
        inside: BoolArray = np.ones(len(base.cells), dtype=np.bool_)
        for variable, level in by:
            inside &= np.isin(base.cells[:, variable], list(parts[variable, level]))
        alike: BoolArray = np.all(marks == mark, axis=1)
        rows = where(table, alike)
        if not _same_sums(rows, where(base, inside), others):
            found |= set(by)
    return found


def _same_sums(rows: Counted, base: Counted, variables: Sequence[int]) -> bool:
    """Whether each row holds the sum of the base over all but these variables."""
    keys, place = np.unique(row_keys(base, variables), return_inverse=True)
    sums: IntArray = np.zeros(len(keys) + 1, dtype=np.int64)
    np.add.at(sums, place.ravel(), base.counts)
    own = row_keys(rows, variables)
    at = np.searchsorted(keys, own)
    there = np.isin(own, keys)
    return bool(np.array_equal(np.where(there, sums[at], 0), rows.counts))
