"""From a request to its cells.

1. Bound the keys: the range of those that are whole numbers at heart, else their values.
2. Stage each record as its raw code (mixed radix over ranges and values) and its weight.
3. Count records by raw code.
4. Keep the levels that occur in the counted records, and code the cells by those alone.

So the records are read once for text keys, once for all, and what follows costs by the cell.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from discreet.data.coding import Coding
from discreet.engines import sql
from discreet.engines.contract import MISSING_LABEL, KeyLevels, Request, WeightCheck
from discreet.engines.duckdb_cells import DuckDBCells
from discreet.engines.duckdb_scan import from_clause
from discreet.engines.duckdb_session import Session
from discreet.errors import ColumnError, FileError, MissingError, WeightError, must_be

KEYS_PER_PASS = 48  # the identity of a grouping set is a bit mask in 64 bits
RANGE_LIMIT = 1 << 20  # whole-number keys within this range need no list of their values
WEIGHT_PATTERN = (
    r"[+-]?([0-9]+(MARK[0-9]*)?|MARK[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(?i:inf(inity)?|nan)"
)
BAD_WEIGHT = "weight IS NULL OR NOT isfinite(weight) OR weight <= 0"


@dataclass(frozen=True, slots=True)
class RawDigit:
    """One key before its levels are known: its digit as SQL, and the label of each digit."""

    expression: str
    labels: tuple[str, ...]


class Counter:
    """Counts the records of one request in one connection."""

    def __init__(self, session: Session, request: Request, folder: Path) -> None:
        self.session = session
        self.workspace = folder
        self.request = request
        records = request.records
        positions = records.find("keys", request.keys)
        if request.weight is not None:
            positions += records.find("weight", [request.weight])
        self.source = from_clause(session.con, records.scan(positions), folder)
        described = session.rows(f"DESCRIBE SELECT * FROM {self.source}")
        types = [sql.base_type(row[1]) for row in described]
        self.key_types = [sql.KeyType(t) for t in types[: len(request.keys)]]
        self.weight_type = types[-1] if request.weight is not None else None

    def cells(self) -> DuckDBCells:
        """Count: `cells` in the order of the codes, and `staged`, each record's raw code."""
        self._check_types()
        digits = self._raw_digits()
        raw = Coding.of_sizes([self._size(digit) for digit in digits])
        self._stage(raw, digits)
        n_all, n_kept = self._check_records()
        weights = None if self.request.weight is None else self._check_weights(n_kept)
        self._count(raw, weights)
        margins = self._raw_margins(raw)
        keys = self._key_levels(digits, margins, any_dropped=n_kept < n_all)
        n_incomplete = self._n_incomplete(raw, digits, n_all - n_kept)
        coding = self._pack(raw, margins)
        if weights is not None:
            (total,) = self.session.row("SELECT CAST(sum(weight_total) AS DOUBLE) FROM cells")
            weights = replace(weights, total=float(total))
        return DuckDBCells(
            session=self.session,
            workspace=self.workspace,
            n_records=n_kept,
            n_dropped=n_all - n_kept,
            n_incomplete=n_incomplete,
            n_cells=self.session.row("SELECT count(*) FROM cells")[0],
            keys=keys,
            coding=coding,
            raw_words=raw.n_words,
            one_way=tuple(tuple(margin.values()) for margin in margins),
            weights=weights,
        )

    def _check_types(self) -> None:
        for name, key_type in zip(self.request.keys, self.key_types, strict=True):
            if not sql.can_be_key(key_type.sql_type):
                rule = "a column of single values (text, numbers, dates, true or false)"
                raise ColumnError(must_be(f"key {name!r}", rule, key_type.sql_type.lower()))
        kind = self.weight_type
        if kind is not None and kind not in ("VARCHAR", "NULL") and not sql.is_number(kind):
            name = f"weight {self.request.weight!r}"
            raise ColumnError(must_be(name, "a column of numbers", kind.lower()))

    def _values(self) -> str:
        """The source with key values k0, k1, … and the weight as a number."""
        values = [f"{t.value(f'c{j}')} AS k{j}" for j, t in enumerate(self.key_types)]
        if self.request.weight is not None:
            values.append(f"{self._weight_number(f'c{len(self.key_types)}')} AS weight")
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

    def _raw_digits(self) -> list[RawDigit]:
        spans = self._spans()
        others = [j for j in range(len(self.key_types)) if j not in spans]
        texts = self._texts(others)
        return [
            self._span_digit(j, *spans[j]) if j in spans else self._text_digit(j, texts[j])
            for j in range(len(self.key_types))
        ]

    def _size(self, digit: RawDigit) -> int:
        """Number of raw digits of a key: one more for missing, if that is a level."""
        return max(len(digit.labels) + self.request.missing.is_a_level, 1)

    def _spans(self) -> dict[int, tuple[int, int]]:
        """Least and greatest value of each key that is a whole number at heart, where they are not
        far apart."""
        whole = {
            j: expression
            for j, key_type in enumerate(self.key_types)
            if (expression := key_type.whole_number(f"k{j}")) is not None
        }
        if not whole:
            return {}
        ends = ", ".join(f"min({e}), max({e})" for e in whole.values())
        found = self.session.row(f"SELECT {ends} FROM {self._values()}")
        spans = {j: (found[2 * i], found[2 * i + 1]) for i, j in enumerate(whole)}
        return {
            j: (low, high)
            for j, (low, high) in spans.items()
            if low is not None and high - low < RANGE_LIMIT
        }

    def _span_digit(self, j: int, low: int, high: int) -> RawDigit:
        expression = f"{self.key_types[j].whole_number(f'k{j}')} - {low}"
        names = self.session.rows(
            f"SELECT {self.key_types[j].whole_label('i')} FROM range({low}, {high + 1}) AS t(i)"
        )
        return RawDigit(expression, tuple(name for (name,) in names))

    def _texts(self, keys: list[int]) -> dict[int, tuple[str, ...]]:
        """The distinct values of these keys as text, in their natural order."""
        texts: dict[int, tuple[str, ...]] = {}
        for first in range(0, len(keys), KEYS_PER_PASS):
            here = keys[first : first + KEYS_PER_PASS]
            columns = [f"k{j}" for j in here]
            identity = f"grouping_id({', '.join(columns)})"
            self.session.run(
                "reading the records",
                f"CREATE OR REPLACE TABLE one_way AS SELECT {', '.join(columns)}, "
                f"{identity} AS margin FROM {self._values()} "
                f"GROUP BY {sql.grouping_sets([column] for column in columns)}",
            )
            for place, j in enumerate(here):
                margin = 2 ** len(here) - 1 - 2 ** (len(here) - 1 - place)
                texts[j] = self._ordered(j, margin)
        return texts

    def _ordered(self, j: int, margin: int) -> tuple[str, ...]:
        key_type = self.key_types[j]
        rows = self.session.rows(
            f"SELECT {key_type.label(f'k{j}')} FROM one_way WHERE margin = {margin} "
            f"AND k{j} IS NOT NULL ORDER BY {key_type.order(f'k{j}')}"
        )
        return tuple(label for (label,) in rows)

    def _text_digit(self, j: int, labels: tuple[str, ...]) -> RawDigit:
        if not labels:
            return RawDigit("NULL", ())
        listed = ", ".join(sql.text_literal(label) for label in labels)
        self.session.rows(f"CREATE TYPE enum_{j} AS ENUM ({listed})")
        label = self.key_types[j].label(f"k{j}")
        return RawDigit(f"enum_code(TRY_CAST({label} AS enum_{j}))", labels)

    def _stage(self, raw: Coding, digits: list[RawDigit]) -> None:
        """Table `staged`: raw code and weight of each record, in the order of the records."""
        codes = [
            f"coalesce({digit.expression}, {len(digit.labels)})"
            if self.request.missing.is_a_level
            else f"({digit.expression})"
            for digit in digits
        ]
        expressions = sql.word_expressions(raw, codes)
        columns = [f"{e} AS r{i}" for i, e in enumerate(expressions)]
        if raw.n_words > 1 and not self.request.missing.is_a_level:
            complete = " AND ".join(f"k{j} IS NOT NULL" for j in range(len(digits)))
            columns = [
                f"CASE WHEN {complete} THEN {e} END AS r{i}" for i, e in enumerate(expressions)
            ]
        if self.request.weight is not None:
            columns.append("weight")
        self.session.run(
            "coding the records",
            f"CREATE TABLE staged AS SELECT {', '.join(columns)} FROM {self._values()}",
        )

    def _check_records(self) -> tuple[int, int]:
        """Records in all, and those that are counted."""
        name = self.request.records.name
        n_all, n_kept = self.session.row("SELECT count(*), count(r0) FROM staged")
        if n_all == 0:
            raise FileError(must_be(name, "a file with at least one record", "none"))
        if n_kept < n_all and not self.request.missing.accepts:
            lacking = [key for j, key in enumerate(self.request.keys) if self._n_missing()[j]]
            remedy = "choose --missing category or --missing drop"
            shown = " or ".join(map(repr, lacking))
            got = f"{n_all - n_kept:,} of {n_all:,} records without {shown}"
            raise MissingError(must_be("keys", "known in every record", got, remedy=remedy))
        if n_kept == 0:
            rule = "a file with at least one record that has every key"
            got = f"none among {n_all:,}"
            raise MissingError(must_be(name, rule, got, remedy="choose --missing category"))
        return n_all, n_kept

    def _n_missing(self) -> tuple[int, ...]:
        """Records without a value of each key; another pass, for policies that leave them out."""
        absent = ", ".join(f"count(*) - count(k{j})" for j in range(len(self.key_types)))
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
        if self.weight_type == "VARCHAR" and self.request.decimal == ".":
            remedy += ", or give --decimal , if the file writes 1,5 for 1.5"
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
            n = self.session.row("SELECT count(*) FROM staged")[0]
            kind = sql.decimal_type(weights.smallest, weights.largest, n)
            total = f", sum(CAST(weight AS {kind})) AS weight_total"
        self.session.run(
            "counting the cells",
            f"CREATE TABLE counted AS SELECT {words}, count(*) AS records{total} "
            f"FROM staged WHERE r0 IS NOT NULL GROUP BY {words}",
        )

    def _raw_margins(self, raw: Coding) -> list[dict[int, int]]:
        """For each key, the raw digits that occur, ascending, with their numbers of records."""
        margins: list[dict[int, int]] = []
        levels = sql.level_expressions(raw, "r")
        for first in range(0, len(levels), KEYS_PER_PASS):
            here = levels[first : first + KEYS_PER_PASS]
            columns = [f"l{i}" for i in range(len(here))]
            named = ", ".join(f"{e} AS {c}" for e, c in zip(here, columns, strict=True))
            listed = ", ".join(columns)
            rows = self.session.rows(
                f"SELECT grouping_id({listed}) AS margin, coalesce({listed}) AS digit, "
                "CAST(sum(records) AS BIGINT) "
                f"FROM (SELECT {named}, records FROM counted) "
                f"GROUP BY {sql.grouping_sets([c] for c in columns)} ORDER BY margin, digit"
            )
            for place in range(len(here)):
                margin = 2 ** len(here) - 1 - 2 ** (len(here) - 1 - place)
                margins.append({digit: n for m, digit, n in rows if m == margin})
        return margins

    def _key_levels(
        self, digits: list[RawDigit], margins: list[dict[int, int]], *, any_dropped: bool
    ) -> tuple[KeyLevels, ...]:
        absent = [m.get(len(d.labels), 0) for d, m in zip(digits, margins, strict=True)]
        if any_dropped:
            absent = list(self._n_missing())
        levels: list[KeyLevels] = []
        for name, digit, margin, n in zip(self.request.keys, digits, margins, absent, strict=True):
            given = self.request.records.value_labels.get(name, {})
            values = tuple((*digit.labels, None)[d] for d in margin)
            labels = tuple(self._label(value, given) for value in values)
            levels.append(KeyLevels(name=name, values=values, labels=labels, n_missing=n))
        return tuple(levels)

    def _label(self, value: str | None, given: Mapping[str, str]) -> str:
        return MISSING_LABEL if value is None else given.get(value, value)

    def _n_incomplete(self, raw: Coding, digits: list[RawDigit], n_dropped: int) -> int:
        if not self.request.missing.is_a_level:
            return n_dropped
        levels = sql.level_expressions(raw, "r")
        lacks = [f"{e} = {len(d.labels)}" for e, d in zip(levels, digits, strict=True)]
        (n,) = self.session.row(
            f"SELECT coalesce(sum(records), 0) FROM counted WHERE {' OR '.join(lacks)}"
        )
        return int(n)

    def _pack(self, raw: Coding, margins: list[dict[int, int]]) -> Coding:
        """Table `cells`: the counted cells, coded by the levels that occur, in that order."""
        coding = Coding.of_sizes([len(margin) for margin in margins])
        codes = [
            _dense(level, list(margin))
            for level, margin in zip(sql.level_expressions(raw, "r"), margins, strict=True)
        ]
        words = [f"{e} AS w{i}" for i, e in enumerate(sql.word_expressions(coding, codes))]
        order = ", ".join(f"w{i}" for i in range(coding.n_words))
        self.session.run(
            "ordering the cells",
            f"CREATE TABLE cells AS SELECT {', '.join(words)}, *, records AS sample_count "
            f"FROM counted ORDER BY {order}",
        )
        return coding


def _dense(level: str, occurring: list[int]) -> str:
    """The place of a raw digit among those that occur."""
    if occurring == list(range(occurring[0], occurring[0] + len(occurring))):
        return f"({level} - {occurring[0]})"
    places: list[str] = ["NULL"] * (occurring[-1] + 1)
    for place, digit in enumerate(occurring):
        places[digit] = str(place)
    return f"list_extract(CAST([{', '.join(places)}] AS INTEGER[]), {level} + 1)"
