"""Rows of totals in a table of counts: they say what other rows say already, and count nobody.

A level is a total, or a subtotal, where its counts are the sums of other levels of its variable in
every row. Its name is weighed with the chance that the sums match by accident. What is shown to be
a total is left out. What may well be one is neither counted nor left out: whoever gave the table
has to say what it is.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.data.level_sums import (
    Counted,
    Level,
    accident,
    has,
    level_sums,
    row_keys,
    unaccounted,
    where,
)
from discreet.data.total_names import Telling, telling
from discreet.errors import InputError, must_be


@dataclass(frozen=True, slots=True)
class Limits:
    """Chances of an accident: below `shown` a level is a total, below `likely` it may be one."""

    shown: float
    likely: float


LIMITS: Mapping[Telling, Limits] = {
    Telling.TOTAL: Limits(shown=np.inf, likely=np.inf),
    Telling.OFTEN: Limits(shown=0.05, likely=np.inf),
    Telling.SOMETIMES: Limits(shown=1e-3, likely=np.inf),
    Telling.MISSING: Limits(shown=1e-3, likely=0.25),
    Telling.SHARED: Limits(shown=1e-3, likely=0.05),
    Telling.NOTHING: Limits(shown=1e-6, likely=0.05),
}
IN_SEVERAL = {  # variables, what a name tells that has matching sums in each
    Telling.NOTHING: Telling.SHARED,
    Telling.SOMETIMES: Telling.OFTEN,
    Telling.OFTEN: Telling.TOTAL,
}
BY_NAME = (Telling.OFTEN, Telling.SOMETIMES)
NEAR = 0.1  # share by which a level that is often a total may miss the sum of the others


@dataclass(frozen=True, slots=True)
class _Sums:
    """Levels that are sums of others: their parts, and the chance of an accident."""

    parts: dict[Level, frozenset[int]] = field(default_factory=dict)
    chance: dict[Level, float] = field(default_factory=dict)


def total_levels(table: Counted, said: Mapping[Level, bool] | None = None) -> tuple[Level, ...]:
    """The levels whose rows are totals of others, with those that are said to be.

    `said` has levels that are known to be totals (True) or none (False). Raises InputError for
    levels that may be totals, and for one that is named as a total and is none.
    """
    told = dict(said or {})
    out = [level for level, is_total in told.items() if is_total]
    rest = without(table, out)
    named = [x for x in _occurring(rest) if x not in told and _telling(rest, x) is Telling.TOTAL]
    body = without(rest, named)
    parts, doubtful = _found(body, told)
    if named and not doubtful:
        doubtful = _wrongly_named(rest, named, parts)
    if doubtful:
        raise InputError(_doubt(table, sorted(doubtful)))
    return tuple(sorted({*out, *named, *parts}))


def said_of(table: Counted, given: Iterable[str]) -> dict[Level, bool]:
    """What was said of levels, each as `sex=Persons:leave-out` or `sex=Persons:keep`.

    Raises InputError for what is no such sentence, or names a level that is not there.
    """
    found: dict[Level, bool] = {}
    for one in given:
        named, _, verb = one.rpartition(":")
        level = _level_named(table, named)
        if verb not in ("leave-out", "keep"):
            rule = "find, keep, or of a level 'NAME=LEVEL:leave-out' or 'NAME=LEVEL:keep'"
            raise InputError(must_be("totals", rule, repr(one)))
        if level is None:
            raise InputError(must_be("totals", "of a level of the table", repr(named)))
        found[level] = verb == "leave-out"
    return found


def without(table: Counted, levels: Iterable[Level]) -> Counted:
    """The cells of no such level; the levels keep their positions."""
    return where(table, ~has(table, levels))


def shown(table: Counted, level: Level) -> str:
    """A level as it is told: `sex = Total`."""
    return f"{table.names[level[0]]} = {table.labels[level[0]][level[1]]}"


def _level_named(table: Counted, said: str) -> Level | None:
    for variable, name in enumerate(table.names):
        label = said.removeprefix(f"{name}=")
        if label != said and label in table.labels[variable]:
            return variable, table.labels[variable].index(label)
    return None


def _occurring(table: Counted) -> list[Level]:
    """The levels that occur, of variables with several."""
    own = [np.unique(table.cells[:, v]).tolist() for v in range(len(table.names))]
    return [(v, i) for v, levels in enumerate(own) if len(levels) > 1 for i in levels]


def _telling(table: Counted, level: Level) -> Telling:
    variable, own = level
    if table.missing[variable] == own:
        return Telling.MISSING
    return telling(table.labels[variable][own])


def _found(
    table: Counted, told: Mapping[Level, bool]
) -> tuple[dict[Level, frozenset[int]], set[Level]]:
    """Levels that are shown to be totals, with the levels that they add up, and those that may be.

    Without the subtotals that were found others may show: so it looks again. Levels that occur in
    rows of totals alone, as the grand total of a rollup, are totals where that explains the rows.
    """
    parts: dict[Level, frozenset[int]] = {}
    while True:
        body = without(table, parts)
        sums = _sums(body, told)
        sure, doubtful = _judged(body, sums)
        if not sure:
            break
        for level in sure:
            parts[level] = _leaves(level, {x: sums.parts[x] for x in sure})
    doubtful |= _near_totals(body, sums, told)
    wrong = unaccounted(table, parts)
    if wrong:
        gone = set(_occurring(table)) - set(_occurring(body)) - {*parts, *told}
        more = {x: _others(body, x) for x in gone}
        wrong = unaccounted(table, {**parts, **more})
        if not wrong:
            parts |= more
    return parts, doubtful | wrong


def _others(table: Counted, level: Level) -> frozenset[int]:
    """The other levels of its variable that occur."""
    return frozenset(np.unique(table.cells[:, level[0]]).tolist()) - {level[1]}


def _leaves(level: Level, parts: Mapping[Level, frozenset[int]]) -> frozenset[int]:
    """The parts of a level, those that are sums themselves taken apart."""
    variable = level[0]
    found = {
        x
        for part in parts[level]
        for x in (_leaves((variable, part), parts) if (variable, part) in parts else {part})
    }
    return frozenset(found)


def _sums(table: Counted, told: Mapping[Level, bool]) -> _Sums:
    """Every level that is the sum of others, by the parts that are least an accident.

    Two levels of equal counts are common: that one is the other's total is looked at only where its
    name or a missing value says so, and the variable has no third.
    """
    found = [
        one
        for variable in range(len(table.names))
        for one in level_sums(table, variable)
        if one.level not in told
    ]
    n_levels = [
        len(np.unique(table.cells[table.counts > 0][:, v])) for v in range(len(table.names))
    ]
    sums = _Sums()
    for one in found:
        by_name = _telling(table, one.level) is not Telling.NOTHING
        n = n_levels[one.level[0]]
        if len(one.parts) == 1 and not (by_name and n == 2):
            continue
        beside = {other.level for other in found}
        chance = accident(
            table, one, 1 if by_name or one.by_code else n, beside, lowest_terms=not by_name
        )
        if chance <= sums.chance.get(one.level, np.inf):
            sums.parts[one.level], sums.chance[one.level] = one.parts, chance
    for (v, i), chance in _corners(table).items():
        if (v, i) not in told and (v, i) not in sums.parts:
            sums.parts[v, i] = _others(table, (v, i))
            sums.chance[v, i] = chance
    return sums


def _judged(table: Counted, sums: _Sums) -> tuple[set[Level], set[Level]]:
    """Of levels that are sums of others, those that are shown to be totals and those that may be.

    Levels of one label in several variables speak for each other: the chance that all of them are
    accidents counts.
    """
    alike: dict[str, list[Level]] = {}
    for v, i in sums.parts:
        alike.setdefault(table.labels[v][i].casefold(), []).append((v, i))
    sure, doubtful = set(), set()
    for same in alike.values():
        # levels that occur only together have one and the same chance, which counts once
        chance = float(np.prod(list({sums.chance[x] for x in same})))
        for level in same:
            kind = _telling(table, level)
            if len({v for v, _ in same}) > 1:
                kind = IN_SEVERAL.get(kind, kind)
            arms = len(sums.parts[level]) == 1 and kind in BY_NAME  # T and C of a trial
            if chance < LIMITS[kind].shown and not arms:
                sure.add(level)
            elif chance < LIMITS[kind].likely:
                doubtful.add(level)
    return sure, doubtful


def _near_totals(table: Counted, sums: _Sums, told: Mapping[Level, bool]) -> set[Level]:
    """Levels with the name of a total that nearly are the sum of at least two others: rounded?"""
    found = set()
    for variable, level in _occurring(table):
        own = np.bincount(table.cells[:, variable], weights=table.counts)
        others = own.sum() - own[level]
        if (
            _telling(table, (variable, level)) in BY_NAME
            and (variable, level) not in {*told, *sums.parts}
            and np.count_nonzero(own) > 2
            and abs(own[level] - others) <= NEAR * others
        ):
            found.add((variable, level))
    return found


def _wrongly_named(
    table: Counted, named: Sequence[Level], known: Mapping[Level, frozenset[int]]
) -> set[Level]:
    """Levels that are named as totals and add up no others; where others without such a name are
    what is too much in the sum, those."""
    base = without(table, [*named, *known])
    parts = {x: _others(base, x) for x in named}
    wrong = unaccounted(table, {**known, **parts}) & set(named)
    for level in sorted(wrong):
        variable = level[0]
        own = without(table, [x for x in (*named, *known) if x != level and x[0] == variable])
        sums = list(level_sums(own, variable))
        some = max((x for x in sums if x.level == level), key=lambda x: len(x.parts), default=None)
        if some is None:
            continue
        too_much = {x.level for x in sums if len(x.parts) > 1 and x.level[1] not in some.parts}
        if too_much - {level}:
            return too_much - {level}
        if accident(own, some, 1, named, lowest_terms=False) < LIMITS[Telling.OFTEN].shown:
            parts[level] = some.parts
    return unaccounted(table, {**known, **parts}) & set(named)


def _corners(table: Counted) -> dict[Level, float]:
    """Levels of several variables that occur only together, and there hold the sum of all others:
    a file that has the total of everything and no others."""
    found: dict[Level, float] = {}
    for group in _always_together(table):
        by = [v for v, _ in group]
        _, merged = np.unique(row_keys(table, by), return_inverse=True)
        others = [v for v in range(len(table.names)) if v not in by]
        cells = np.column_stack([table.cells[:, others], merged.ravel()])
        whole = Counted(
            names=(*(table.names[v] for v in others), "together"),
            labels=(*(table.labels[v] for v in others), ("",) * (int(merged.max()) + 1)),
            missing=(*(table.missing[v] for v in others), None),
            cells=cells,
            counts=table.counts,
        )
        corner = (len(others), int(cells[has(table, group[:1])][0, -1]))
        n = len(np.unique(merged.ravel()[table.counts > 0]))
        for one in level_sums(whole, len(others)):
            if one.level == corner and len(one.parts) == n - 1 > 1:
                found |= dict.fromkeys(group, accident(whole, one, 1, ()))
    return found


def _always_together(table: Counted) -> list[list[Level]]:
    """Levels of at least two variables that occur in the same rows."""
    random = np.random.default_rng(1).integers(0, 2**62, len(table.cells))
    rows: dict[int, list[Level]] = {}
    for v in range(len(table.names)):
        marks = np.zeros(len(table.labels[v]), dtype=np.int64)
        np.bitwise_xor.at(marks, table.cells[:, v], random)
        for i in np.unique(table.cells[:, v]).tolist():
            rows.setdefault(int(marks[i]), []).append((v, i))
    return [group for group in rows.values() if len(group) > 1]


def _doubt(table: Counted, levels: Sequence[Level]) -> str:
    """What is asked of levels that may be totals."""
    listed = " and ".join(repr(shown(table, x)) for x in levels)
    v, i = levels[0]
    said = f"{table.names[v]}={table.labels[v][i]}"
    each = ", and so of each" if len(levels) > 1 else ""
    remedy = f"say {said + ':leave-out'!r} if they are totals, {said + ':keep'!r} if not (totals)"
    remedy += each
    if all(_telling(table, x) is Telling.TOTAL for x in levels):
        rule, got = "the sums of other levels", "others"
        return must_be(f"rows of totals {listed}", rule, got, remedy=remedy)
    rule, got = "clearly totals of other rows or clearly not", "counts that may be either"
    return must_be(f"rows {listed}", rule, got, remedy=remedy)
