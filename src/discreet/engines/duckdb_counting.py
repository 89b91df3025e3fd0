"""From a request to its cells.

1. Turn keys into digits (see `duckdb_keys`).
2. Stage each record as its raw code (mixed radix over the digits) with its weight and what else was
   asked for: sensitive values, household.
3. Count records by raw code.
4. Keep the levels that occur in the counted records, and code the cells by those alone.
5. Where missing values match anything, match cells with each other.

So the records are read once for text keys, once for all, and what follows costs by the cell. A CSV
file is parsed once, into columns.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from discreet.data.cell_table import margins_of_cells
from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.data.records import ArrowScan, CsvScan, ParquetScan
from discreet.engines import sql
from discreet.engines.contract import MISSING_LABEL, KeyLevels, Request, WeightCheck
from discreet.engines.duckdb_cells import DuckDBCells
from discreet.engines.duckdb_codes import CodeCounts, count_codes, idle_codes
from discreet.engines.duckdb_keys import Column, RawDigit, raw_digits
from discreet.engines.duckdb_scan import from_clause
from discreet.engines.duckdb_session import Session
from discreet.engines.duckdb_texts import ranked_texts
from discreet.engines.matching import matched_cells
from discreet.errors import (
    ColumnError,
    FileError,
    InputError,
    MissingError,
    WeightError,
    must_be,
)

WEIGHT_PATTERN = (
    r"[+-]?([0-9]+(MARK[0-9]*)?|MARK[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(?i:inf(inity)?|nan)"
)
MOST_WEIGHT = 1e15
CELLS_AT_HAND = 1 << 16  # of which the levels stay in the cache of the processor
BAD_WEIGHT = "weight IS NULL OR NOT isfinite(weight) OR weight <= 0"


class Counter:
    """Counts the records of one request in one connection."""

    def __init__(self, session: Session, request: Request, folder: Path) -> None:
        self.session = session
        self.request = request
        self.workspace = folder
        records = request.records
        positions = records.find("keys", request.keys) + records.find(
            "sensitive", request.sensitive
        )
        n_columns = len(positions)
        for role, name in (("weight", request.weight), ("household", request.household)):
            if name is not None:
                positions += records.find(role, [name])
        n_named = len(positions)
        positions += records.find("carry", request.carry)
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
        """Count: `cells` in the order of the codes, and `staged`, each record's raw code."""
        self._check_types()
        digits = raw_digits(self.session, self.columns, self._values(), self.ranked)
        keys, sensitive = digits[: self.n_keys], digits[self.n_keys :]
        raw = Coding.of_sizes([self._size(digit) for digit in keys])
        self._stage(raw, keys, sensitive)
        n_all, n_kept = self._check_records()
        weights = None if self.request.weight is None else self._check_weights(n_kept)
        self._count(raw, weights)
        margins = self._raw_margins(raw)
        labels = self.request.records.value_labels
        named = dict(zip(self.names, self.columns, strict=True))
        coded = count_codes(self.session, self.source, named, self.request.codes, labels)
        levels = self._key_levels(keys, margins, coded, any_dropped=n_kept < n_all)
        n_incomplete = self._n_incomplete(raw, keys, n_all - n_kept)
        coding = self._pack(raw, margins)
        if weights is not None:
            (total,) = self.session.row("SELECT CAST(sum(weight_total) AS DOUBLE) FROM cells")
            if total >= MOST_WEIGHT:
                name = f"weight {self.request.weight!r}"
                raise WeightError(must_be(name, "below 1e15 in all", "a larger sum"))
            weights = replace(weights, total=float(total))
        if self.request.missing.matching is not None and n_incomplete:
            self._match(coding, levels, weighted=weights is not None)
        return DuckDBCells(
            session=self.session,
            request=self.request,
            workspace=self.workspace,
            n_records=n_kept,
            n_dropped=n_all - n_kept,
            n_incomplete=n_incomplete,
            n_cells=self.session.row("SELECT count(*) FROM cells")[0],
            keys=levels,
            coding=coding,
            raw_words=raw.n_words,
            one_way=tuple(tuple(margin.values()) for margin in margins),
            weights=weights,
            sensitive_labels=tuple(digit.labels for digit in sensitive),
            idle_codes=idle_codes(self.request.codes, coded, labels),
        )

    def _check_types(self) -> None:
        for name, column in zip(self.names, self.columns, strict=True):
            if not sql.can_be_key(column.sql_type):
                rule = "a column of single values (text, numbers, dates, true or false)"
                own = column.sql_type.lower()
                got = "lists" if own.endswith("]") else own
                raise ColumnError(must_be(f"column {name!r}", rule, got))
        kind = self.weight_type
        if kind is not None and kind not in ("VARCHAR", "NULL") and not sql.is_number(kind):
            name = f"weight {self.request.weight!r}"
            raise ColumnError(must_be(name, "a column of numbers", kind.lower()))

    def _values(self) -> str:
        """The source with values k0, k1, …, the weight as a number, and the household."""
        values = [f"{column.value()} AS k{j}" for j, column in enumerate(self.columns)]
        if self.weight_at is not None:
            values.append(f"{self._weight_number(f'c{self.weight_at}')} AS weight")
        if self.household_at is not None:
            values.append(f"nullif(CAST(c{self.household_at} AS VARCHAR), '') AS household")
        values += [f"c{at} AS x{i}" for i, at in enumerate(self.carry_at)]
        return f"(SELECT {', '.join(values)} FROM {self.source})"

    def _weight_number(self, column: str) -> str:
        """Text is read only in the one form that the decimal mark allows, so that no 1.500 passes
        for a number where it means 1500."""
        if self.weight_type != "VARCHAR":
            return f"TRY_CAST({column} AS DOUBLE)"
        mark = self.request.decimal
        text = f"trim({column})"
        number = sql.text_literal(WEIGHT_PATTERN.replace("MARK", f"[{mark}]"))
        read = f"TRY_CAST(replace({text}, '{mark}', '.') AS DOUBLE)"
        return f"CASE WHEN regexp_full_match({text}, {number}) THEN {read} END"

    def _size(self, digit: RawDigit) -> int:
        """Number of raw digits of a key: one more for missing, if that is a level and may occur."""
        lacks = self.request.missing.is_a_level and not digit.never_missing
        return max(len(digit.labels) + lacks, 1)

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
        self.session.run(
            "coding the records",
            f"CREATE TABLE staged AS SELECT {', '.join(columns)} FROM {self._values()}",
        )

    def _check_records(self) -> tuple[int, int]:
        """Records in all, and those that are counted."""
        name = self.request.records.name
        n_all, n_kept = self.session.row("SELECT count(*), count(r0) FROM staged")
        if n_all == 0:
            if not self.request.records.files:
                raise InputError(must_be(name, "a frame with at least one record", "none"))
            raise FileError(must_be(name, "a file with at least one record", "none"))
        if n_kept < n_all and not self.request.missing.accepts:
            absent = self._n_missing()
            lacking = [key for key, n in zip(self.request.keys, absent, strict=True) if n]
            remedy = "choose category or drop for missing values (missing)"
            shown = " or ".join(map(repr, lacking))
            got = f"{n_all - n_kept:,} of {n_all:,} records without {shown}"
            raise MissingError(must_be("keys", "known in every record", got, remedy=remedy))
        if n_kept == 0:
            what = "a file" if self.request.records.files else "a frame"
            rule = f"{what} with at least one record that has every key"
            got = f"none among {n_all:,}"
            remedy = "choose category for missing values (missing)"
            raise MissingError(must_be(name, rule, got, remedy=remedy))
        self._check_households(n_all)
        return n_all, n_kept

    def _check_households(self, n_all: int) -> None:
        if self.household_at is None:
            return
        (known,) = self.session.row("SELECT count(household) FROM staged")
        if known < n_all:
            (first,) = self.session.row("SELECT min(rowid) + 1 FROM staged WHERE household IS NULL")
            name = f"household {self.request.household!r}"
            got = f"{n_all - known:,} without"
            where = f"record {first:,} first"
            raise MissingError(must_be(name, "known in every record", got, where=where))

    def _n_missing(self) -> tuple[int, ...]:
        """Records without a value of each key; another pass, for policies that leave them out."""
        absent = ", ".join(f"count(*) - count(k{j})" for j in range(self.n_keys))
        return self.session.row(f"SELECT {absent} FROM {self._values()}")

    def _check_weights(self, n_kept: int) -> WeightCheck:
        bad, below, smallest, largest = self.session.row(
            f"SELECT count(*) FILTER ({BAD_WEIGHT}), "
            "count(*) FILTER (weight < 1 AND r0 IS NOT NULL), min(weight), max(weight) FROM staged"
        )
        if bad:
            raise self._bad_weights(bad)
        if sql.decimal_type(smallest, largest, n_kept) is None:
            name = f"weight {self.request.weight!r}"
            got = f"a largest that is {largest / smallest:.0e} times the smallest"
            raise WeightError(must_be(name, "of sizes that can be summed exactly", got))
        return WeightCheck(total=0.0, smallest=smallest, largest=largest, n_below_one=below)

    def _bad_weights(self, bad: int) -> WeightError:
        kinds = {
            "missing or not a number": "weight IS NULL OR isnan(weight)",
            "infinite": "isinf(weight)",
            "zero": "weight = 0",
            "negative": "weight < 0 AND NOT isinf(weight)",
        }
        cases = ", ".join(f"count(*) FILTER ({test})" for test in kinds.values())
        counts = self.session.row(f"SELECT {cases} FROM staged")
        (first,) = self.session.row(f"SELECT min(rowid) + 1 FROM staged WHERE {BAD_WEIGHT}")
        found = ", ".join(f"{n:,} {kind}" for kind, n in zip(kinds, counts, strict=True) if n)
        remedy = "correct or remove these records"
        texts = self.weight_type == "VARCHAR" and bool(self.request.records.files)
        if texts and self.request.decimal == ".":
            remedy += ", or give ',' as the mark (decimal) if the file writes 1,5 for 1.5"
        return WeightError(
            must_be(
                f"weight {self.request.weight!r}",
                "a positive, finite number in every record",
                f"{bad:,} that are not ({found})",
                where=f"record {first:,} first",
                remedy=remedy,
            )
        )

    def _count(self, raw: Coding, weights: WeightCheck | None) -> None:
        """Table `counted`: records and weights by raw code."""
        words = ", ".join(f"r{i}" for i in range(raw.n_words))
        total = ""
        if weights is not None:
            (n,) = self.session.row("SELECT count(*) FROM staged")
            kind = sql.decimal_type(weights.smallest, weights.largest, n)
            total = f", sum(CAST(weight AS {kind})) AS weight_total"
        self.session.run(
            "counting the cells",
            f"CREATE TABLE counted AS SELECT {words}, count(*) AS records{total} "
            f"FROM staged WHERE r0 IS NOT NULL GROUP BY {words}",
        )

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
        (n,) = self.session.row("SELECT count(*) FROM counted")
        for first in range(0, n, CELLS_AT_HAND):
            found = self.session.con.execute(
                f"SELECT {', '.join(words)}, records FROM counted "
                f"WHERE rowid >= {first} AND rowid < {first + CELLS_AT_HAND}"
            ).fetchnumpy()
            yield CellBatch(
                coding=raw,
                words=np.stack([found[word] for word in words], axis=1),
                sample_count=np.asarray(found["records"], dtype=np.int64),
                weight_total=None,
            )

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
        suppressed = [
            sum(coded[key][code] for code in self.columns[j].suppressed)
            for j, key in enumerate(self.request.keys)
        ]
        levels: list[KeyLevels] = []
        for j, (digit, margin) in enumerate(zip(digits, margins, strict=True)):
            key = self.request.keys[j]
            given = self.request.records.value_labels.get(key, {})
            names = (*digit.labels, None)
            values = tuple(names[d] for d in margin)
            hidden = 0 if self.columns[j].suppressed_is_a_level else suppressed[j]
            levels.append(
                KeyLevels(
                    name=key,
                    values=values,
                    labels=tuple(_label(value, given) for value in values),
                    n_missing=absent[j] - hidden,
                    n_suppressed=suppressed[j],
                    n_not_applicable=sum(
                        coded[key][code] for code in self.columns[j].not_applicable
                    ),
                )
            )
        return tuple(levels)

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

    def _pack(self, raw: Coding, margins: list[dict[int, int]]) -> Coding:
        """Table `cells`: the counted cells, coded by the levels that occur, in that order."""
        coding = Coding.of_sizes([len(margin) for margin in margins])
        words = [f"r{i}" for i in range(raw.n_words)]
        joins: list[str] = []
        if coding != raw:
            words, joins = self._recoded(raw, coding, margins)
        named = ", ".join(f"{word} AS w{i}" for i, word in enumerate(words))
        order = ", ".join(f"w{i}" for i in range(coding.n_words))
        self.session.run(
            "ordering the cells",
            f"CREATE TABLE cells AS SELECT {named}, counted.*, records AS sample_count "
            f"FROM counted {' '.join(joins)} ORDER BY {order}",
        )
        self.session.rows("DROP TABLE counted")
        return coding

    def _recoded(
        self, raw: Coding, coding: Coding, margins: list[dict[int, int]]
    ) -> tuple[list[str], list[str]]:
        """The words of the code by the levels that occur, and the joins that they need."""
        codes, joins = [], []
        for j, level in enumerate(sql.level_expressions(raw, "r")):
            occurring = list(margins[j])
            if occurring[-1] - occurring[0] + 1 == len(occurring):
                codes.append(f"({level} - {occurring[0]})")
                continue
            places = {"digit": np.array(occurring), "place": np.arange(len(occurring))}
            self.session.con.register(f"places_{j}", places)
            joins.append(f"JOIN places_{j} ON {level} = places_{j}.digit")
            codes.append(f"places_{j}.place")
        return sql.word_expressions(coding, codes), joins

    def _match(self, coding: Coding, keys: tuple[KeyLevels, ...], *, weighted: bool) -> None:
        """Give the cells the counts and weights of all records that match theirs."""
        words = ", ".join(f"w{i}" for i in range(coding.n_words))
        total = "CAST(weight_total AS DOUBLE)" if weighted else "NULL"
        found = self.session.con.execute(
            f"SELECT {words}, records, {total} AS weight_total FROM cells ORDER BY rowid"
        ).fetchnumpy()
        codes = np.stack([np.asarray(found[f"w{i}"]) for i in range(coding.n_words)], axis=1)
        policy = self.request.missing.matching
        assert policy is not None
        matched = matched_cells(
            coding.decode(codes),
            np.array([len(key.values) - 1 if key.values[-1] is None else -1 for key in keys]),
            np.asarray(found["records"], dtype=np.int64),
            np.asarray(found["weight_total"], dtype=np.float64) if weighted else None,
            policy=policy,
            missing_weight=self.request.missing_weight,
            progress=self.session.progress,
        )
        columns = {"sample_count": matched.sample_count}
        if matched.weight_total is not None:
            columns["weight_total"] = matched.weight_total
        self.session.con.register("matched", columns)
        replaced = ", ".join(columns)
        own = ", cells.weight_total AS own_weight" if weighted else ""
        self.session.rows(
            f"CREATE TABLE matched_cells AS SELECT cells.* EXCLUDE ({replaced}), matched.*{own} "
            "FROM cells POSITIONAL JOIN matched"
        )
        self.session.con.unregister("matched")
        self.session.rows("DROP TABLE cells")
        self.session.rows("ALTER TABLE matched_cells RENAME TO cells")


def _label(value: str | None, given: Mapping[str, str]) -> str:
    return MISSING_LABEL if value is None else given.get(value, value)
