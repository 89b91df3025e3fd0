"""What is published of the population: how many have each level of a key, or of two keys together.

In a small sample a level is seen too seldom to tell how frequent it is; a published table says it.
It also sets certain limits: of the persons who share a level only so many are left who could share
all keys, so that a level of one person makes its record a population unique.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from discreet.data.columns import near_match
from discreet.data.records import Records
from discreet.data.total_names import Telling, telling
from discreet.engines.contract import Cells, CellStore
from discreet.engines.key_space import KeyLevels, View
from discreet.errors import ColumnError, InputError, must_be
from discreet.numerics.arrays import IntArray
from discreet.numerics.rounding import above

MOST_APART = 1.05  # ratio of two totals, or of a total to the size of the population
MOST_KEYS = 2
SHOWN_LEVELS = 3
MOST_COMBINATIONS = 1 << 24

Keys = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KnownMargins:
    """Persons of the population by the levels of one key or of two, by position, and in all.

    Nothing is certain by those of `doubtful` keys, and `warnings` say why.
    """

    tables: Mapping[Keys, IntArray] = field(default_factory=dict)
    total: int = 0
    doubtful: frozenset[Keys] = frozenset()
    warnings: tuple[str, ...] = ()

    @property
    def certain(self) -> Mapping[Keys, IntArray]:
        """The tables that set certain limits."""
        return {keys: one for keys, one in self.tables.items() if keys not in self.doubtful}

    def seen_through(self, view: View) -> "KnownMargins":
        """The margins of the keys of a view, which may be coarser; of coarser keys only those whose
        levels all have records."""
        places = {key: place for place, key in enumerate(view.of)}
        tables: dict[Keys, IntArray] = {}
        doubtful = set()
        for keys, table in self.tables.items():
            if not all(key in places for key in keys):
                continue  # a table of two keys has those of each beside it
            recoded = [view.to[places[key]] for key in keys]
            if any(to is not None for to in recoded) and int(table.sum()) != self.total:
                continue  # where persons of levels that no record has would go is not known
            found = table
            for axis, (key, to) in enumerate(zip(keys, recoded, strict=True)):
                if to is not None:
                    found = _recoded(found, axis, to, view.space.coding.sizes[places[key]])
            now = [places[key] for key in keys]
            tables[tuple(sorted(now))] = found.transpose(np.argsort(now))
            if keys in self.doubtful:
                doubtful.add(tuple(sorted(now)))
        return replace(self, tables=tables, doubtful=frozenset(doubtful))

    def most_beside(self, levels: IntArray, sample: Mapping[Keys, IntArray]) -> IntArray:
        """How many persons who are not in the file can share all keys with a record, at most, by
        the levels of its keys: of those of each level less the records that have it."""
        most = np.full(len(levels), self.total, dtype=np.int64)
        for keys, table in self.certain.items():
            at = tuple(levels[:, key] for key in keys)
            most = np.minimum(most, (table - sample[keys].reshape(table.shape))[at])
        return most


def _recoded(table: IntArray, axis: int, to: IntArray, size: int) -> IntArray:
    moved = np.moveaxis(table, axis, 0)
    found = np.zeros((size, *moved.shape[1:]), dtype=np.int64)
    np.add.at(found, to, moved)
    return np.moveaxis(found, 0, axis)


def read_known_margins(
    files: Sequence[Records], store: CellStore, population: float | None
) -> KnownMargins:
    """The margins that the files list, in the codes of the counted cells.

    Columns of a file are one key or two, and one with numbers of persons, whatever its name. Every
    level of a key that a record has must be there. Tables that differ in what they have in common,
    or from the size of the population, are doubtful. Checked: no fewer persons than records, and
    totals that are not far from each other and from the size of the population.
    """
    read: list[tuple[str, _Table]] = []
    tables: dict[Keys, IntArray] = {}
    alone: dict[Keys, IntArray] = {}
    total = 0
    for records in files:
        own = _read(records, store)
        keys, size = own.keys, own.total
        if keys in tables:
            names = " and ".join(store.keys[key].name for key in keys)
            raise InputError(must_be("known margins", "one table for each set of keys", names))
        for against, what in ((total, "that of another table"), (population, "the population")):
            if against and (above(size / against, MOST_APART) or above(against / size, MOST_APART)):
                rule = f"a table whose total is {what} of {against:,.0f}"
                raise InputError(must_be(_named(records), rule, f"{size:,}"))
        read.append((records.name, own))
        tables[keys], total = own.table, total or size
        alone |= {(key,): one for key, one in own.alone.items() if (key,) not in alone}
    tables = alone | tables
    _check_against(store.cells, tables, store.keys)
    doubtful, warnings = _contradictions(read, population, store)
    return KnownMargins(tables, total, doubtful, warnings)


def _contradictions(
    read: Sequence[tuple[str, "_Table"]], population: float | None, store: CellStore
) -> tuple[frozenset[Keys], tuple[str, ...]]:
    """The keys of tables that cannot all be counts of the same persons, and why, in words."""
    wrong: set[Keys] = set()
    said: list[str] = []
    for name, one in read:
        if population is not None and one.total != population:
            wrong.add(one.keys)
            said.append(
                f"the table {name} has {one.total:,} persons in all and the population "
                f"{population:,.0f}, so it does not count everybody once: nothing is certain by it"
            )
    for (name, one), (named, other) in combinations(
        [each for each in read if each[1].keys not in wrong], 2
    ):
        apart = _apart(one, other, store)
        if apart:
            wrong |= {one.keys, other.keys}
            said.append(f"the tables {name} and {named} {apart}: nothing is certain by them")
    sound = {(key,) for _, one in read if one.keys not in wrong for key in one.alone}
    doubtful = {
        keys
        for _, one in read
        if one.keys in wrong
        for keys in (one.keys, *((key,) for key in one.alone))
        if keys not in sound
    }
    return frozenset(doubtful), tuple(said)


def _apart(one: "_Table", other: "_Table", store: CellStore) -> str:
    """What two tables do not agree on, in words; empty where they may count the same persons."""
    if one.total != other.total:
        return f"have {one.total:,} and {other.total:,} persons in all"
    for key in sorted(set(one.alone) & set(other.alone)):
        if not np.array_equal(one.alone[key], other.alone[key]):
            return f"do not agree on how many have each level of {store.keys[key].name}"
    return ""


def _named(records: Records) -> str:
    return f"known margins {records.name}"


@dataclass(frozen=True, slots=True)
class _Table:
    """One table: its keys in the order of the file's, its counts by the levels of the file, those
    of each key alone, and all persons."""

    keys: Keys
    table: IntArray
    alone: Mapping[int, IntArray]
    total: int


def _read(records: Records, store: CellStore) -> _Table:
    columns = store.read_labels(records)
    names = [key.name for key in store.keys]
    own = [name for name in columns if name in names]
    counted = [name for name in columns if name not in names]
    if not 1 <= len(own) <= MOST_KEYS or len(counted) != 1:
        rule = "a table of one key or two, and one column of counts"
        near = near_match(counted[0], names) if counted and not own else None
        remedy = f"did you mean {near!r}?" if near else _no_keys(counted)
        raise ColumnError(must_be(_named(records), rule, ", ".join(columns), remedy=remedy))
    if not columns[counted[0]]:
        raise InputError(must_be(_named(records), "a table of at least one person", 0))
    own.sort(key=names.index)
    keys = tuple(names.index(name) for name in own)
    sizes = [len(store.keys[key].values) for key in keys]
    if math.prod(sizes) > MOST_COMBINATIONS:
        rule = f"a table of at most {MOST_COMBINATIONS:,} combinations"
        raise InputError(must_be(_named(records), rule, f"{math.prod(sizes):,}"))
    for key in keys:
        _check_known(store.keys[key], records)
    codes = [_code(store.keys[key]) for key in keys]
    for key, name in zip(keys, own, strict=True):
        _check_levels(store.keys[key], columns[name], records)
    table = np.zeros(sizes, dtype=np.int64)
    alone = [np.zeros(size, dtype=np.int64) for size in sizes]
    total = 0
    for number, (count, *levels) in enumerate(
        zip(columns[counted[0]], *(columns[name] for name in own), strict=True), start=1
    ):
        persons = _persons(count, number, records)
        total += persons
        at = [code.get(level) for code, level in zip(codes, levels, strict=True)]
        if None not in at:
            table[tuple(at)] += persons
        for level, one in zip(at, alone, strict=True):
            if level is not None:
                one[level] += persons
    _check_rows([columns[name] for name in own], columns[counted[0]], records)
    if total < 1:
        raise InputError(must_be(_named(records), "a table of at least one person", total))
    return _Table(
        keys=keys,
        table=table,
        alone=dict(zip(keys, alone, strict=True)),
        total=total,
    )


def _no_keys(columns: Sequence[str]) -> str | None:
    """That some columns are none of the keys, where more than the counts are not."""
    if len(columns) < 2:
        return None
    *some, last = map(repr, columns)
    return f"none of the keys is called {', '.join(some)} or {last}: leave them out, or add the key"


def _check_known(key: KeyLevels, records: Records) -> None:
    if key.values[-1] is None:
        rule = f"a table of keys that every record has, as {key.name!r} is to be one"
        remedy = "leave the records without it out (missing drop), or the table"
        raise InputError(must_be(_named(records), rule, "records without it", remedy=remedy))


def _check_rows(
    levels: Sequence[Sequence[str | None]], counts: Sequence[str | None], records: Records
) -> None:
    """Each combination is there once, and no total among them."""
    rows = list(zip(*levels, strict=True))
    if len(set(rows)) < len(rows):
        twice = next(row for row, n in Counter(rows).items() if n > 1)
        got = f"{' and '.join(map(repr, twice))} twice"
        raise InputError(must_be(_named(records), "a table with each combination once", got))
    for number, row in enumerate(rows, start=1):
        if any(level is not None and telling(level) is Telling.TOTAL for level in row):
            where = f"row {number:,}"
            got = " and ".join(map(repr, row))
            raise InputError(must_be(_named(records), "a table without totals", got, where=where))


def _check_levels(key: KeyLevels, there: Sequence[str | None], records: Records) -> None:
    """Every level of the file is in the table."""
    known = set(there)
    for value, label in zip(key.values, key.labels, strict=True):
        if value not in known and label not in known:
            some = ", ".join(repr(level) for level in list(dict.fromkeys(there))[:SHOWN_LEVELS])
            rule = f"a table with every level of {key.name!r}, written as in the file"
            remedy = f"it has {some}{', …' if len(known) > SHOWN_LEVELS else ''}"
            raise InputError(must_be(_named(records), rule, f"none for {label!r}", remedy=remedy))


def _code(key: KeyLevels) -> dict[str | None, int]:
    """The level of each label, and of each value."""
    found: dict[str | None, int] = {label: code for code, label in enumerate(key.labels)}
    return found | {value: code for code, value in enumerate(key.values)}


def _persons(count: str | None, row: int, records: Records) -> int:
    text = re.sub(r"\.0+$", "", (count or "").strip())
    if not (text.isascii() and text.isdigit()) or len(text) > 15:
        rule = "a table of whole numbers of persons"
        where = f"row {row:,}"
        got = "an empty cell" if not text else repr(count)
        remedy = "write them without separators"
        raise InputError(must_be(_named(records), rule, got, where=where, remedy=remedy))
    return int(text)


def _check_against(
    cells: Cells, tables: Mapping[Keys, IntArray], keys: Sequence[KeyLevels]
) -> None:
    """No combination has more records than persons."""
    seen = cells.margins(list(tables))
    for own, table in tables.items():
        wrong = np.argwhere(seen[own].reshape(table.shape) > table)
        if len(wrong):
            levels = " and ".join(
                f"{keys[key].name} {keys[key].labels[level]!r}"
                for key, level in zip(own, wrong[0], strict=True)
            )
            rule = "tables with no fewer persons than the file has records, not rounded"
            raise InputError(must_be("known margins", rule, f"fewer with {levels}"))
