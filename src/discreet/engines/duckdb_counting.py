"""From a request to its cells: find the levels, check the weights, code the records, count."""

import math
from dataclasses import replace
from pathlib import Path

from discreet.data.coding import Coding
from discreet.engines import sql
from discreet.engines.contract import MISSING_LABEL, KeyLevels, Request, WeightCheck
from discreet.engines.duckdb_cells import DuckDBCells
from discreet.engines.duckdb_scan import from_clause
from discreet.engines.duckdb_session import Session
from discreet.errors import ColumnError, FileError, MissingError, WeightError, must_be

KEYS_PER_PASS = 48  # the identity of a grouping set is a bit mask in 64 bits
LOOKUP_RANGE = 1 << 16  # whole-number keys within this range are coded by a lookup list


class Counter:
    """From a request to its cells: levels, weights, codes, counts."""

    def __init__(self, session: Session, request: Request, folder: Path) -> None:
        self.session = session
        self.request = request
        records = request.records
        positions = records.find("keys", request.keys)
        if request.weight is not None:
            positions += records.find("weight", [request.weight])
        self.source = from_clause(session.con, records.scan(positions), folder)
        described = session.rows(f"DESCRIBE SELECT * FROM {self.source}")
        self.types = [_base_type(row[1]) for row in described]
        self.key_types = [sql.KeyType(t) for t in self.types[: len(request.keys)]]

    def cells(self) -> "DuckDBCells":
        self._check_types()
        self._find_levels()
        n_all, n_kept, n_incomplete = self._check_totals()
        weights = self._check_weights() if self.request.weight is not None else None
        keys = tuple(self._key_levels(j) for j in range(len(self.request.keys)))
        coding = Coding.of_sizes([len(key.labels) for key in keys])
        self._count(coding, weights)
        (n_cells,) = self.session.rows("SELECT count(*) FROM cells")[0]
        if weights is not None:
            weights = replace(weights, total=self._weight_total())
        return DuckDBCells(
            session=self.session,
            n_records=n_kept,
            n_dropped=n_all - n_kept,
            n_incomplete=n_incomplete,
            n_cells=n_cells,
            keys=keys,
            coding=coding,
            weights=weights,
        )

    def _weight_total(self) -> float:
        (total,) = self.session.rows("SELECT CAST(sum(weight_total) AS DOUBLE) FROM cells")[0]
        return float(total)

    def _check_types(self) -> None:
        for name, key_type in zip(self.request.keys, self.types, strict=False):
            if not sql.can_be_key(key_type):
                rule = "a column of single values (text, numbers, dates, true or false)"
                raise ColumnError(must_be(f"key {name!r}", rule, key_type.lower()))
        if self.request.weight is not None:
            weight_type = self.types[-1]
            if weight_type != "VARCHAR" and not sql.is_number(weight_type):
                rule = "a column of numbers"
                raise ColumnError(
                    must_be(f"weight {self.request.weight!r}", rule, weight_type.lower())
                )

    def _values(self) -> str:
        """The source with key values k0, k1, … and the weight as a number."""
        values = [f"{t.value(f'c{j}')} AS k{j}" for j, t in enumerate(self.key_types)]
        if self.request.weight is not None:
            values.append(f"{self._weight_number(f'c{len(self.key_types)}')} AS weight")
        return f"(SELECT {', '.join(values)} FROM {self.source})"

    def _weight_number(self, column: str) -> str:
        if self.types[-1] == "VARCHAR" and self.request.decimal == ",":
            column = f"replace({column}, ',', '.')"
        return f"TRY_CAST({column} AS DOUBLE)"

    def _complete(self) -> str:
        """True for the records that are counted."""
        if self.request.missing.is_a_level:
            return "true"
        return " AND ".join(f"k{j} IS NOT NULL" for j in range(len(self.key_types)))

    def _find_levels(self) -> None:
        """Tables level_0, level_1, … of (value, kept) and `totals`, from one pass over the records
        for every KEYS_PER_PASS keys."""
        n = len(self.key_types)
        for first in range(0, n, KEYS_PER_PASS):
            here = range(first, min(first + KEYS_PER_PASS, n))
            columns = [f"k{j}" for j in here]
            sets = sql.grouping_sets([[], *([column] for column in columns)])
            self.session.run(
                "reading the records",
                f"CREATE OR REPLACE TABLE one_way AS SELECT {', '.join(columns)}, "
                f"grouping_id({', '.join(columns)}) AS margin, count(*) AS n, "
                f"count(*) FILTER ({self._complete()}) AS kept, {self._totals()} "
                f"FROM {self._values()} GROUP BY {sets}",
            )
            everything = 2 ** len(columns) - 1
            for place, j in enumerate(here):
                margin = everything - 2 ** (len(columns) - 1 - place)
                self.session.rows(
                    f"CREATE TABLE level_{j} AS SELECT k{j} AS value, n, kept FROM one_way "
                    f"WHERE margin = {margin}"
                )
            self.session.rows(
                "CREATE OR REPLACE TABLE totals AS SELECT * FROM one_way "
                f"WHERE margin = {everything}"
            )

    def _totals(self) -> str:
        keys = len(self.key_types)
        incomplete = " OR ".join(f"k{j} IS NULL" for j in range(keys))
        totals = [f"count(*) FILTER ({incomplete}) AS incomplete"]
        if self.request.weight is not None:
            bad = "weight IS NULL OR NOT isfinite(weight) OR weight <= 0"
            totals += [
                f"count(*) FILTER ({bad}) AS bad_weights",
                "count(*) FILTER (weight < 1) AS weights_below_one",
                "min(weight) AS smallest",
                "max(weight) AS largest",
            ]
        return ", ".join(totals)

    def _check_totals(self) -> tuple[int, int, int]:
        records, keys = self.request.records, self.request.keys
        n_all, n_kept, incomplete = self.session.rows("SELECT n, kept, incomplete FROM totals")[0]
        if n_all == 0:
            raise FileError(must_be(records.name, "a file with at least one record", "none"))
        if incomplete and not self.request.missing.accepts:
            missing = [keys[j] for j in range(len(keys)) if self._n_missing(j)]
            remedy = "choose --missing category or --missing drop"
            got = f"{incomplete:,} of {n_all:,} records without {' or '.join(map(repr, missing))}"
            raise MissingError(must_be("keys", "known in every record", got, remedy=remedy))
        if n_kept == 0:
            got = f"none among {n_all:,}"
            remedy = "choose --missing category"
            rule = "at least one record with every key known"
            raise MissingError(must_be(records.name, rule, got, remedy=remedy))
        return n_all, n_kept, incomplete

    def _n_missing(self, j: int) -> int:
        rows = self.session.rows(f"SELECT n FROM level_{j} WHERE value IS NULL")
        return int(rows[0][0]) if rows else 0

    def _check_weights(self) -> WeightCheck:
        bad, below, smallest, largest = self.session.rows(
            "SELECT bad_weights, weights_below_one, smallest, largest FROM totals"
        )[0]
        if bad:
            raise self._bad_weights(bad)
        if largest >= 1e15:
            got = "one that is larger"
            raise WeightError(must_be(f"weight {self.request.weight!r}", "below 1e15", got))
        return WeightCheck(total=0.0, smallest=smallest, largest=largest, n_below_one=below)

    def _bad_weights(self, bad: int) -> WeightError:
        kinds = {
            "missing or not a number": "weight IS NULL OR isnan(weight)",
            "infinite": "isinf(weight)",
            "zero": "weight = 0",
            "negative": "weight < 0 AND NOT isinf(weight)",
        }
        cases = ", ".join(f"count(*) FILTER ({test})" for test in kinds.values())
        wrong = "weight IS NULL OR NOT isfinite(weight) OR weight <= 0"
        counts = self.session.rows(f"SELECT {cases} FROM {self._values()}")[0]
        first = self.session.rows(
            f"SELECT min(row) FROM (SELECT row_number() OVER () AS row, weight FROM "
            f"{self._values()}) WHERE {wrong}"
        )[0][0]
        found = ", ".join(f"{n:,} {kind}" for kind, n in zip(kinds, counts, strict=True) if n)
        remedy = "correct or remove these records"
        if self.types[-1] == "VARCHAR" and self.request.decimal == ".":
            remedy += "; if the file writes 1,5 for 1.5, give --decimal ,"
        return WeightError(
            must_be(
                f"weight {self.request.weight!r}",
                "a positive, finite number in every record",
                f"{bad:,} that are not ({found})",
                where=f"record {first:,} first",
                remedy=remedy,
            )
        )

    def _key_levels(self, j: int) -> KeyLevels:
        """Number the levels that occur in counted records, in their natural order."""
        key_type = self.key_types[j]
        self.session.rows(
            f"CREATE TABLE coded_{j} AS SELECT value, {key_type.label('value')} AS label, "
            f"row_number() OVER (ORDER BY {key_type.order('value')}) - 1 AS code "
            f"FROM level_{j} WHERE value IS NOT NULL AND kept > 0"
        )
        labels = [row[0] for row in self.session.rows(f"SELECT label FROM coded_{j} ORDER BY code")]
        n_missing = self._n_missing(j)
        if n_missing and self.request.missing.is_a_level:
            labels.append(MISSING_LABEL)
        name = self.request.keys[j]
        given = self.request.records.value_labels.get(name, {})
        return KeyLevels(
            name=name,
            values=tuple(labels),
            labels=tuple(given.get(label, label) for label in labels),
            n_missing=n_missing,
        )

    def _code(self, j: int) -> str:
        """Code of the value k{j}: arithmetic or a lookup list for whole numbers, else an enum."""
        key_type = self.key_types[j]
        whole = key_type.whole_number(f"k{j}")
        known = None
        if whole is not None:
            value = key_type.whole_number("value")
            low, high, n = self.session.rows(
                f"SELECT min({value}), max({value}), count(*) FROM coded_{j}"
            )[0]
            if n and high - low + 1 == n:
                known = f"{whole} - {low}"
            elif n and high - low < LOOKUP_RANGE:
                known = self._lookup(j, whole, str(value), low, high)
        code = known or self._enum(j)
        missing = self.session.rows(f"SELECT count(*) FROM coded_{j}")[0][0]
        return f"coalesce({code}, {missing})" if self.request.missing.is_a_level else f"({code})"

    def _lookup(self, j: int, whole: str, value: str, low: int, high: int) -> str:
        codes: list[int | None] = [None] * (high - low + 1)
        for found, code in self.session.rows(f"SELECT {value}, code FROM coded_{j}"):
            codes[found - low] = code
        listed = ", ".join("NULL" if code is None else str(code) for code in codes)
        return f"list_extract(CAST([{listed}] AS INTEGER[]), {whole} - {low} + 1)"

    def _enum(self, j: int) -> str:
        if self.session.rows(f"SELECT count(*) FROM coded_{j}")[0][0] == 0:
            return "NULL"
        self.session.rows(
            f"CREATE TYPE enum_{j} AS ENUM (SELECT label FROM coded_{j} ORDER BY code)"
        )
        return f"enum_code(TRY_CAST({self.key_types[j].label(f'k{j}')} AS enum_{j}))"

    def _count(self, coding: Coding, weights: WeightCheck | None) -> None:
        """Table `cells` in the order of the codes, and `staged` when records are asked for."""
        words = sql.word_columns(coding)
        coded = sql.word_expressions(coding, [self._code(j) for j in range(len(self.key_types))])
        columns = [f"{e} AS {w}" for e, w in zip(coded, words, strict=True)]
        if weights is not None:
            columns.append(f"CAST(weight AS {_decimal_type(weights.largest)}) AS weight")
        source = f"(SELECT {', '.join(columns)} FROM {self._values()})"
        if self.request.for_records:
            self.session.run("coding the records", f"CREATE TABLE staged AS SELECT * FROM {source}")
            source = "staged"
        total = ", sum(weight) AS weight_total" if weights is not None else ""
        known = " AND ".join(f"{word} IS NOT NULL" for word in words)
        self.session.run(
            "counting the cells",
            f"CREATE TABLE cells AS SELECT {', '.join(words)}, count(*) AS sample_count{total} "
            f"FROM {source} WHERE {known} GROUP BY {', '.join(words)} ORDER BY {', '.join(words)}",
        )


def _base_type(described: str) -> str:
    return "ENUM" if described.startswith("ENUM") else described.upper()


def _decimal_type(largest: float) -> str:
    """A decimal of 18 digits that holds the largest weight, with up to 9 decimals."""
    whole_digits = max(1, math.floor(math.log10(largest)) + 2)
    return f"DECIMAL(18, {min(9, 18 - whole_digits)})"
