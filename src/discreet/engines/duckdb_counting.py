"""From a request to its cells.

1. Turn keys into digits (see `duckdb_keys`).
2. Stage each record as its raw code (mixed radix over the digits) with its weight and what else was
   asked for: sensitive values, household.
3. Count records by raw code.
4. Keep the levels that occur in the counted records, and code the cells by those alone, in parts of
   bounded size outside the connection.
5. Where missing values match anything, match cells with each other.

So the records are read once for text keys, once for all, and what follows costs by the cell. A CSV
file is parsed once, into columns.
"""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from discreet.data.cell_table import margins_of_cells
from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.data.records import ArrowScan, CsvScan, ParquetScan
from discreet.engines import sql
from discreet.engines.contract import Request, WeightCheck
from discreet.engines.duckdb_cells import DuckDBCells, integers, side_by_side
from discreet.engines.duckdb_codes import CodeCounts, count_codes, idle_codes
from discreet.engines.duckdb_keys import Column, RawDigit, raw_digits
from discreet.engines.duckdb_scan import from_clause
from discreet.engines.duckdb_session import Session
from discreet.engines.duckdb_texts import ranked_texts
from discreet.engines.key_levels import key_levels, labels_at
from discreet.engines.key_space import KeyLevels, KeySpace
from discreet.engines.local.cells import MATCHING_BYTES, WEIGHTS, LocalCells
from discreet.engines.local.parts import Shelf
from discreet.engines.local.raw_codes import RawCodes
from discreet.engines.record_checks import (
    BAD_WEIGHTS,
    bad_weights,
    check_accepted,
    check_any,
    check_kept,
    check_types,
    check_weight_total,
    shift_of_weights,
    without_household,
)
from discreet.engines.weight_numbers import weight_number
from discreet.engines.weight_units import in_numbers, sql_numbers, sql_squares, sql_units
from discreet.errors import MissingError, OutputError, must_be

CELLS_AT_HAND = 1 << 16  # of which the levels stay in the cache of the processor
CELLS_AT_ONCE = 1 << 21  # that are handed over
KINDS = {"temporary": "temporary", "keep": "kept"}
BYTES_OF_RECORD = 56  # 58 GB in all were taken by a billion records of ten keys, with risks


class Counter:
    """Counts the records of one request in one connection.

    The cells go to `shelf`; matching them with each other may take `most_bytes`. In `keep`, a
    folder, the tables of the connection stay for another run.
    """

    def __init__(
        self,
        session: Session,
        request: Request,
        folder: Path,
        shelf: Shelf,
        most_bytes: float,
        *,
        keep: Path | None = None,
    ) -> None:
        self.session = session
        self.keep = keep
        self.shelf = shelf
        self.most_bytes = most_bytes
        self.request = request
        self.workspace = folder
        records = request.records
        positions = request.positions
        n_columns = len(request.keys) + len(request.sensitive)
        n_named = len(positions) - len(request.carry)
        named = request.codes.values(self.names, records.value_labels)
        scan = records.scan(positions, named)
        self.ranked: dict[int, RawDigit] = {}
        if isinstance(scan, ArrowScan):
            plain = [j for j, name in enumerate(request.keys) if name not in named]
            scan, self.ranked = ranked_texts(session, scan, plain)
        self.source = from_clause(session.con, scan, folder)
        if isinstance(scan, CsvScan):
            self.source = self._parsed(len(positions))
        described = session.rows(f"DESCRIBE SELECT * FROM {self.source}")
        types = [sql.base_type(row[1]) for row in described]
        self.columns = self._columns(types[:n_columns])
        self.weight_at = n_columns if request.weight is not None else None
        self.weight_type = types[n_columns] if request.weight is not None else None
        self.household_at = n_named - 1 if request.household is not None else None
        self.carry_at = range(n_named, len(positions))

    def _parsed(self, n_columns: int) -> str:
        """The wanted columns of a CSV file, parsed once and kept in columns beside the workspace's
        other files: it is read for the values of its keys, and again to code the records."""
        path = self.workspace / f"{self.session.new_name('parsed')}.parquet"
        columns = ", ".join(f"c{i}" for i in range(n_columns))
        self.session.run(
            "reading the records",
            f"COPY (SELECT {columns} FROM {self.source}) TO {sql.text_literal(str(path))} "
            "(FORMAT parquet)",
        )
        return from_clause(
            self.session.con,
            ParquetScan((path,), tuple(f"c{i}" for i in range(n_columns)), hive=False),
            self.workspace,
        )

    def _columns(self, types: Sequence[str]) -> list[Column]:
        """Keys and sensitive variables, with what their codes mean by the labels of the file."""
        request, labels = self.request, self.request.records.value_labels
        return [
            Column.of_key(
                f"c{j}", types[j], name, request.codes, request.missing, labels.get(name, {})
            )
            if j < self.n_keys
            else Column.of_sensitive(f"c{j}", types[j], name, request.codes, labels.get(name, {}))
            for j, name in enumerate(self.names)
        ]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return (*self.request.keys, *self.request.sensitive)

    @property
    def n_keys(self) -> int:
        """Keys come first among the columns, sensitive variables after them."""
        return len(self.request.keys)

    def cells(self) -> DuckDBCells:
        """Count: the cells, and `staged`, each record's raw code."""
        check_types(self.request, [c.sql_type for c in self.columns], self.weight_type)
        digits = raw_digits(self.session, self.columns, self._values(), self.ranked)
        keys, sensitive = digits[: self.n_keys], digits[self.n_keys :]
        raw = Coding.of_sizes([self._size(digit) for digit in keys])
        self._check_room(raw)
        self._stage(raw, keys, sensitive)
        n_all, n_kept = self._check_records()
        weights = None if self.request.weight is None else self._check_weights(n_kept)
        total = self._count(raw, weights, n_kept)
        margins = self._raw_margins(raw)
        labels = self.request.records.value_labels
        named = dict(zip(self.names, self.columns, strict=True))
        coded = count_codes(self.session, self.source, named, self.request.codes, labels)
        levels = self._key_levels(keys, margins, coded, any_dropped=n_kept < n_all)
        n_incomplete = self._n_incomplete(raw, keys, n_all - n_kept)
        codes = RawCodes.of_margins(raw, [list(margin) for margin in margins])
        space = KeySpace(
            keys=levels,
            coding=codes.coding,
            policy=self.request.missing,
            missing_weight=self.request.missing_weight,
        )
        if weights is not None:
            check_weight_total(self.request, total)
            weights = replace(weights, total=total)
        (n_cells,) = self.session.row("SELECT count(*) FROM counted")
        rows = self._counted(codes, weighted=weights is not None)
        cells = LocalCells.of_rows(rows, n_cells, space, self.shelf)
        if self.keep is None:
            self.session.rows("DROP TABLE counted")
        if space.overlap:
            cells = self._matched(cells)
        return DuckDBCells(
            session=self.session,
            request=self.request,
            workspace=self.workspace,
            cells=cells,
            raw=codes,
            n_records=n_kept,
            n_dropped=n_all - n_kept,
            n_incomplete=n_incomplete,
            weights=weights,
            sensitive_labels=tuple(digit.labels for digit in sensitive),
            idle_codes=idle_codes(self.request.codes, coded, labels),
        )

    def _values(self) -> str:
        """The source with values k0, k1, …, the weight as a number, and the household."""
        values = [f"{column.value()} AS k{j}" for j, column in enumerate(self.columns)]
        if self.weight_at is not None:
            mark = self.request.decimal
            number = weight_number(f"c{self.weight_at}", self.weight_type, mark)
            values.append(f"{number} AS weight")
        if self.household_at is not None:
            values.append(f"nullif(CAST(c{self.household_at} AS VARCHAR), '') AS household")
        values += [f"c{at} AS x{i}" for i, at in enumerate(self.carry_at)]
        return f"(SELECT {', '.join(values)} FROM {self.source})"

    def _size(self, digit: RawDigit) -> int:
        """Number of raw digits of a key: one more for missing, if that is a level and may occur."""
        lacks = self.request.missing.is_a_level and not digit.never_missing
        return max(len(digit.labels) + lacks, 1)

    def _check_room(self, raw: Coding) -> None:
        """Where the records cannot be held in memory, the disk has room for them; raises
        OutputError where it has not."""
        (n,) = self.session.row(f"SELECT count(*) FROM {self.source}")
        others = len(self.request.sensitive) + (self.weight_at is not None) + len(self.carry_at)
        coded, rest = n * 8 * (raw.n_words + others), n * BYTES_OF_RECORD
        if coded + rest <= self.most_bytes:
            return
        needed = {"temporary": (self.workspace.parent, coded + rest)}
        if self.keep is not None:
            needed = {"temporary": (self.workspace.parent, rest), "keep": (self.keep, coded)}
        for option, (folder, size) in needed.items():
            free = shutil.disk_usage(folder).free
            if size > free:
                name = f"{KINDS[option]} folder {str(folder)!r}"
                rule = f"one with {size / 1e9:,.1f} GB free for {n:,} records"
                remedy = f"free some space, or name another folder ({option})"
                raise OutputError(must_be(name, rule, f"{free / 1e9:,.1f} GB", remedy=remedy))

    def _stage(self, raw: Coding, keys: list[RawDigit], sensitive: list[RawDigit]) -> None:
        """Table `staged`: a row a record, in the order of the records."""
        as_level = self.request.missing.is_a_level
        codes = [digit.with_missing() if as_level else digit.expression for digit in keys]
        words = sql.word_expressions(raw, codes)
        if raw.n_words > 1 and not as_level:
            complete = " AND ".join(f"k{j} IS NOT NULL" for j in range(len(keys)))
            words = [f"CASE WHEN {complete} THEN {word} END" for word in words]
        columns = [f"{word} AS r{i}" for i, word in enumerate(words)]
        columns += [f"{d.with_missing()} AS s{i}" for i, d in enumerate(sensitive)]
        columns += ["weight"] if self.weight_at is not None else []
        columns += ["household"] if self.household_at is not None else []
        columns += [f"x{i}" for i in range(len(self.carry_at))]
        self._made(
            "staged",
            "coding the records",
            f"CREATE TABLE staged AS SELECT {', '.join(columns)} FROM {self._values()}",
        )

    def _check_records(self) -> tuple[int, int]:
        """Records in all, and those that are counted."""
        n_all, n_kept = self.session.row("SELECT count(*), count(r0) FROM staged")
        check_any(self.request, n_all)
        if n_kept < n_all and not self.request.missing.accepts:
            check_accepted(self.request, n_all, n_kept, self._n_missing())
        check_kept(self.request, n_all, n_kept)
        self._check_households(n_all)
        return n_all, n_kept

    def _check_households(self, n_all: int) -> None:
        if self.household_at is None:
            return
        (known,) = self.session.row("SELECT count(household) FROM staged")
        if known < n_all:
            (first,) = self.session.row("SELECT min(rowid) + 1 FROM staged WHERE household IS NULL")
            raise without_household(self.request, n_all - known, first)

    def _n_missing(self) -> tuple[int, ...]:
        """Records without a value of each key; another pass, for policies that leave them out."""
        absent = ", ".join(f"count(*) - count(k{j})" for j in range(self.n_keys))
        return self.session.row(f"SELECT {absent} FROM {self._values()}")

    def _check_weights(self, n_kept: int) -> WeightCheck:
        tests = ", ".join(f"count(*) FILTER ({test})" for test in BAD_WEIGHTS.values())
        below, smallest, largest, *bad = self.session.row(
            "SELECT count(*) FILTER (weight < 1 AND r0 IS NOT NULL), min(weight), max(weight), "
            f"{tests} FROM staged"
        )
        if any(bad):
            either = " OR ".join(BAD_WEIGHTS.values())
            (first,) = self.session.row(f"SELECT min(rowid) + 1 FROM staged WHERE {either}")
            by_kind = dict(zip(BAD_WEIGHTS, bad, strict=True))
            raise bad_weights(self.request, self.weight_type, by_kind, first)
        shift_of_weights(self.request, smallest, largest, n_kept)
        return WeightCheck(total=0.0, smallest=smallest, largest=largest, n_below_one=below)

    def _count(self, raw: Coding, weights: WeightCheck | None, n_kept: int) -> float:
        """Table `counted`: records and weights by raw code; returns the sum of all weights."""
        words = ", ".join(f"r{i}" for i in range(raw.n_words))
        shift, units, numbers = None, "", ""
        if weights is not None:
            shift = shift_of_weights(self.request, weights.smallest, weights.largest, n_kept)
            units = (
                f", sum({sql_units('weight', shift)}) AS units"
                f", {sql_squares('weight', weights.largest)} AS squares"
            )
            numbers = f", {sql_numbers('units', shift)} AS weight_total"
        self._made(
            "counted",
            "counting the cells",
            f"CREATE TABLE counted AS SELECT *{numbers} FROM (SELECT {words}, "
            f"count(*) AS records{units} FROM staged WHERE r0 IS NOT NULL GROUP BY {words})",
        )
        if shift is None:
            return 0.0
        (total,) = self.session.row("SELECT sum(units) FROM counted")
        return in_numbers(int(total), shift)

    def _made(self, table: str, step: str, statement: str) -> None:
        """Make a table, unless it was kept from a run before."""
        there = self.session.rows("SELECT table_name FROM duckdb_tables()")
        if (table,) not in there:
            self.session.run(step, statement)

    def _raw_margins(self, raw: Coding) -> list[dict[int, int]]:
        """For each key, the raw digits that occur, ascending, with their numbers of records."""
        margins = margins_of_cells(
            self._counted_batches(raw), raw, [(j,) for j in range(self.n_keys)]
        )
        return [
            {int(digit): int(margin[digit]) for digit in np.flatnonzero(margin)}
            for margin in margins.values()
        ]

    def _counted_batches(self, raw: Coding) -> Iterator[CellBatch]:
        """Raw codes and records of the counted cells, some at a time, in any order."""
        words = [f"r{i}" for i in range(raw.n_words)]
        step = "reading off the levels"
        for found in self._some_counted(step, [*words, "records"], CELLS_AT_HAND):
            yield CellBatch(
                coding=raw,
                words=side_by_side(found, words),
                sample_count=integers(found["records"]),
                weight_total=None,
            )

    def _counted(self, codes: RawCodes, *, weighted: bool) -> Iterator[dict[str, Any]]:
        """The counted cells by the levels that occur, some at a time, in any order."""
        weight = ["weight_total AS weight", "squares"] if weighted else []
        step, columns_read = "laying out the cells", [*codes.names, "records", *weight]
        for found in self._some_counted(step, columns_read, CELLS_AT_ONCE):
            columns = {
                "words": codes.to_cells(side_by_side(found, codes.names)),
                "records": integers(found["records"]),
            }
            for name in WEIGHTS if weighted else ():
                columns[name] = np.asarray(found[name], dtype=np.float64)
            yield columns

    def _some_counted(
        self, step: str, columns: Sequence[str], n_cells: int
    ) -> Iterator[dict[str, Any]]:
        (last,) = self.session.row("SELECT count(*) FROM counted")
        for first in range(0, last, n_cells):
            self.session.progress(step, first / last)
            yield self.session.con.execute(
                f"SELECT {', '.join(columns)} FROM counted "
                f"WHERE rowid >= {first} AND rowid < {first + n_cells}"
            ).fetchnumpy()

    def _key_levels(
        self,
        digits: list[RawDigit],
        margins: list[dict[int, int]],
        coded: CodeCounts,
        *,
        any_dropped: bool,
    ) -> tuple[KeyLevels, ...]:
        absent = [m.get(len(d.labels), 0) for d, m in zip(digits, margins, strict=True)]
        if any_dropped:
            absent = list(self._n_missing())
        return tuple(
            key_levels(
                self.request,
                key,
                self.columns[j],
                labels_at(digits[j].labels, margins[j]),
                absent[j],
                coded[key],
            )
            for j, key in enumerate(self.request.keys)
        )

    def _n_incomplete(self, raw: Coding, digits: list[RawDigit], n_dropped: int) -> int:
        if not self.request.missing.is_a_level:
            return n_dropped
        if all(digit.never_missing for digit in digits):
            return 0
        levels = sql.level_expressions(raw, "r")
        lacks = [f"{e} = {len(d.labels)}" for e, d in zip(levels, digits, strict=True)]
        (n,) = self.session.row(
            f"SELECT coalesce(sum(records), 0) FROM counted WHERE {' OR '.join(lacks)}"
        )
        return int(n)

    def _matched(self, cells: LocalCells) -> LocalCells:
        """The cells with the counts and weights of all records that match theirs."""
        n_bytes = cells.n_cells * (MATCHING_BYTES + 8 * self.n_keys)
        if n_bytes > self.most_bytes:
            name = f"missing values under {self.request.missing.name}"
            rule = f"matched within the {self.most_bytes / 1e9:.1f} GB that are there for it"
            remedy = "give more memory, or choose category for missing values (missing)"
            got = f"{cells.n_cells:,} cells, which take {n_bytes / 1e9:.1f} GB"
            raise MissingError(must_be(name, rule, got, remedy=remedy))
        return cells.matched(self.session.progress)
