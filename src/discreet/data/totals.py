"""Rows of totals in a table of counts: they say what other rows say already, and count nobody.

A level is a total where its counts are the sums of the variable's other levels. One that is named
so, such as `Total` or `all`, must be; a missing value or a level of any other name is taken for one
only where the sums match too well for an accident.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import log

import numpy as np

from discreet.errors import InputError, must_be
from discreet.numerics.arrays import BoolArray, IntArray

NAMES = frozenset(
    (
        "total", "totals", "_t", "t", "tot", "all", "sum", "overall", "everyone", "both",
        "both sexes", "grand total", "all persons", "all ages", "all sexes", "gesamt", "insgesamt",
        "zusammen", "summe", "alle", "ensemble", "tous", "toutes", "totale", "totaal",
    )
)  # fmt: skip
FIRST_WORDS = frozenset(("total", "all", "both", "gesamt", "grand"))  # of a longer name
MISSING_CHANCE, UNNAMED_CHANCE = 1e-3, 1e-6  # of sums that match by accident
LEAST_LEVELS = 3  # of a variable one of whose levels may be a total without being named so
MOST_UNNAMED = 200  # levels of a variable beyond which none is tried that is not named so


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


def total_levels(table: Counted) -> tuple[tuple[int, int], ...]:
    """The levels (variable, level) whose rows are totals of others.

    Raises InputError for a level that is named as a total and is none.
    """
    named = [
        (v, i)
        for v, labels in enumerate(table.labels)
        for i, label in enumerate(labels)
        if len(labels) > 1 and is_named_total(label)
    ]
    wrong = _wrong(table, named)
    if wrong is not None:
        variable, level = wrong
        rule = "left out, or the sum of the other levels"
        remedy = "remove these rows, or keep them as persons of their own (totals)"
        label = f"{table.names[variable]} = {table.labels[variable][level]}"
        raise InputError(must_be(f"rows of totals {label!r}", rule, "another sum", remedy=remedy))
    rest = without(table, named)
    missing = [(v, i) for v, i in enumerate(table.missing) if i is not None]
    unnamed = _matching(rest, missing, MISSING_CHANCE)
    rest = without(rest, unnamed)
    return (*named, *unnamed, *_any_other(rest, {*named, *missing}))


def is_named_total(label: str) -> bool:
    """Whether a level is named as a total: by a word for it alone, or by one that begins the name
    (`Total persons`, `All ages`)."""
    words = label.strip().casefold().split()
    return label.strip().casefold() in NAMES or (len(words) > 1 and words[0] in FIRST_WORDS)


def without(table: Counted, levels: Sequence[tuple[int, int]]) -> Counted:
    """The cells of no such level; the levels keep their positions."""
    kept = ~_has(table, levels)
    return Counted(
        names=table.names,
        labels=table.labels,
        missing=table.missing,
        cells=table.cells[kept],
        counts=table.counts[kept],
    )


def _has(table: Counted, levels: Sequence[tuple[int, int]]) -> BoolArray:
    found = np.zeros(len(table.cells), dtype=np.bool_)
    for variable, level in levels:
        found |= table.cells[:, variable] == level
    return found


def _wrong(table: Counted, levels: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """A level whose rows are not the sums of the rows without such levels; None where all are.

    A row may be a total by several variables at once: what counts are the others it names.
    """
    per_variable: dict[int, list[int]] = {}
    for variable, level in levels:
        per_variable.setdefault(variable, []).append(level)
    base = without(table, levels)
    for some in _subsets(per_variable):
        is_total = np.ones(len(table.cells), dtype=np.bool_)
        for variable, own in per_variable.items():
            inside = np.isin(table.cells[:, variable], own)
            is_total &= inside if variable in some else ~inside
        others = [v for v in range(len(table.names)) if v not in some]
        sums = _sums(base, others)
        for i in np.flatnonzero(is_total):
            if sums.get(tuple(table.cells[i, others].tolist()), 0) != table.counts[i]:
                return some[0], int(table.cells[i, some[0]])
    return None


def _subsets(variables: dict[int, list[int]]) -> Iterator[tuple[int, ...]]:
    """Every choice of at least one variable."""
    for chosen in product((False, True), repeat=len(variables)):
        if any(chosen):
            yield tuple(v for v, taken in zip(variables, chosen, strict=True) if taken)


def _sums(table: Counted, axes: Sequence[int]) -> dict[tuple[int, ...], int]:
    cells, place = np.unique(table.cells[:, axes], axis=0, return_inverse=True)
    sums = np.zeros(len(cells), dtype=np.int64)
    np.add.at(sums, np.ravel(place), table.counts)
    return dict(zip(map(tuple, cells.tolist()), sums.tolist(), strict=True))


def _matching(
    table: Counted, levels: Sequence[tuple[int, int]], chance: float
) -> tuple[tuple[int, int], ...]:
    """Those of the levels that are totals: all of them together, else each by itself."""
    if levels and _wrong(table, levels) is None and _is_proof(table, levels, chance):
        return tuple(levels)
    return tuple(
        one
        for one in levels
        if _wrong(table, [one]) is None
        and _is_complete(table, one)
        and _is_proof(table, [one], chance)
    )


def _is_complete(table: Counted, level: tuple[int, int]) -> bool:
    """Whether it has a row wherever the other levels have persons."""
    others = [v for v in range(len(table.names)) if v != level[0]]
    own = set(map(tuple, table.cells[_has(table, [level])][:, others].tolist()))
    base = without(table, [level])
    return set(map(tuple, base.cells[base.counts > 0][:, others].tolist())) <= own


def _is_proof(table: Counted, levels: Sequence[tuple[int, int]], chance: float) -> bool:
    """Whether sums that match are no accident: any count up to that of each row might stand there.

    Rows of one other level alone say little: they match where two rows are equal.
    """
    counts = table.counts[_has(table, levels)]
    return bool(np.sum(np.log1p(counts[counts > 0])) > -log(chance))


def _any_other(table: Counted, tried: set[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Levels of no telling name that are the sums of at least two others, wherever those occur."""
    for variable in range(len(table.names)):
        present = np.unique(table.cells[table.counts > 0][:, variable])
        if not LEAST_LEVELS <= len(present) <= MOST_UNNAMED:
            continue
        totals = np.bincount(table.cells[:, variable], weights=table.counts)
        for level in present.tolist():
            halves = 2 * totals[level] == totals.sum()
            if halves and (variable, level) not in tried:
                yield from _matching(table, [(variable, level)], UNNAMED_CHANCE)
