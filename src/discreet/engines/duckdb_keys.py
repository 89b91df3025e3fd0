"""Columns as digits: what values a column has, and the SQL that turns each into a small number.

A column that is a whole number at heart, within a small range, needs only its least and greatest
value. Any other is read once for its distinct values, all such columns in one pass.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.data.missing import MissingCodes, MissingPolicy
from discreet.engines import sql
from discreet.engines.contract import NOT_APPLICABLE_LABEL, SUPPRESSED_LABEL
from discreet.engines.duckdb_session import Session

KEYS_PER_PASS = 48  # the identity of a grouping set is a bit mask in 64 bits
RANGE_LIMIT = 1 << 20  # whole numbers within this range need no list of their values


@dataclass(frozen=True, slots=True)
class RawDigit:
    """One column before its levels are known: its digit as SQL, NULL for a missing value, and the
    label of each digit. `never_missing` where every record is known to have a value."""

    expression: str
    labels: tuple[str, ...]
    never_missing: bool = False

    def with_missing(self) -> str:
        """The digit, with one more for a missing value."""
        if self.never_missing:
            return self.expression
        return f"coalesce({self.expression}, {len(self.labels)})"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the source as a key: its SQL type and the codes that stand for no value."""

    source: str
    sql_type: str
    missing: tuple[str, ...] = ()
    suppressed: tuple[str, ...] = ()
    not_applicable: tuple[str, ...] = ()
    suppressed_is_a_level: bool = False

    @classmethod
    def of_key(
        cls,
        source: str,
        sql_type: str,
        name: str,
        codes: MissingCodes,
        policy: MissingPolicy,
        labels: Mapping[str, str],
    ) -> "Column":
        """The key called `name`, found as `source`, whose values have these labels."""
        as_level = policy.is_a_level and policy.matching is None
        return cls(source, sql_type, *codes.of(name, labels), as_level)

    @classmethod
    def of_sensitive(
        cls,
        source: str,
        sql_type: str,
        name: str,
        codes: MissingCodes,
        labels: Mapping[str, str],
    ) -> "Column":
        """A sensitive variable, in which a suppressed value is none whatever the policy."""
        return cls(source, sql_type, *codes.of(name, labels))

    @property
    def has_codes(self) -> bool:
        """Whether some values stand for something else."""
        return bool(self.codes)

    @property
    def key_type(self) -> sql.KeyType:
        """The type of `value`."""
        return sql.KeyType("VARCHAR" if self.has_codes else self.sql_type)

    def value(self) -> str:
        """The value, NULL where it is missing, text where codes had to be looked for."""
        plain = sql.KeyType(self.sql_type).value(self.source)
        if not self.has_codes:
            return plain
        label = self.label()
        suppressed = sql.text_literal(SUPPRESSED_LABEL) if self.suppressed_is_a_level else "NULL"
        cases = (
            (self.missing, "NULL"),
            (self.suppressed, suppressed),
            (self.not_applicable, sql.text_literal(NOT_APPLICABLE_LABEL)),
        )
        when = " ".join(f"WHEN {_among(label, codes)} THEN {v}" for codes, v in cases if codes)
        return f"CASE {when} ELSE {label} END"

    def label(self) -> str:
        """The value as it stands in the file, as text."""
        plain = sql.KeyType(self.sql_type)
        return plain.label(f"({plain.value(self.source)})")

    @property
    def codes(self) -> tuple[str, ...]:
        """All values that stand for something else."""
        return (*self.missing, *self.suppressed, *self.not_applicable)

    def code_counts(self) -> list[str]:
        """For each of the codes, an aggregate that counts it."""
        label = self.label()
        return [f"count(*) FILTER ({_among(label, [code])})" for code in self.codes]


def _among(label: str, codes: Sequence[str]) -> str:
    return f"{label} IN ({', '.join(sql.text_literal(code) for code in codes)})"


def raw_digits(
    session: Session, columns: Sequence[Column], values: str, known: Mapping[int, RawDigit]
) -> list[RawDigit]:
    """The digits of the columns, which `values` (a query) offers as k0, k1, …; some are `known`."""
    sought = [j for j in range(len(columns)) if j not in known]
    spans = _spans(session, columns, sought, values)
    texts = _texts(session, columns, [j for j in sought if j not in spans], values)
    digits = dict(known)
    for j in sought:
        make, found = (_span_digit, spans) if j in spans else (_text_digit, texts)
        digits[j] = make(session, columns, j, *found[j])
    return [digits[j] for j in range(len(columns))]


def _spans(
    session: Session, columns: Sequence[Column], wanted: Sequence[int], values: str
) -> dict[int, tuple[int, int, bool]]:
    """Least and greatest value of each whole-number column, where they are not far apart, and
    whether some value is missing."""
    whole = {
        j: expression
        for j in wanted
        if (expression := columns[j].key_type.whole_number(f"k{j}")) is not None
    }
    if not whole:
        return {}
    ends = ", ".join(f"min({e}), max({e}), count(*) > count({e})" for e in whole.values())
    found = session.row(f"SELECT {ends} FROM {values}")
    spans = {j: found[3 * i : 3 * i + 3] for i, j in enumerate(whole)}
    return {
        j: (low, high, missing)
        for j, (low, high, missing) in spans.items()
        if low is not None and high - low < RANGE_LIMIT
    }


def _span_digit(
    session: Session, columns: Sequence[Column], j: int, low: int, high: int, missing: bool
) -> RawDigit:
    key_type = columns[j].key_type
    names = session.rows(
        f"SELECT {key_type.whole_label('i')} FROM range({low}, {high + 1}) AS t(i)"
    )
    expression = f"({key_type.whole_number(f'k{j}')} - {low})"
    return RawDigit(expression, tuple(name for (name,) in names), never_missing=not missing)


def _texts(
    session: Session, columns: Sequence[Column], wanted: Sequence[int], values: str
) -> dict[int, tuple[tuple[str, ...], bool]]:
    """The distinct values of the wanted columns as text, in their natural order, and whether some
    value is missing."""
    texts: dict[int, tuple[tuple[str, ...], bool]] = {}
    for first in range(0, len(wanted), KEYS_PER_PASS):
        here = wanted[first : first + KEYS_PER_PASS]
        names = [f"k{j}" for j in here]
        session.run(
            "reading the records",
            f"CREATE OR REPLACE TABLE one_way AS SELECT {', '.join(names)}, "
            f"grouping_id({', '.join(names)}) AS margin FROM {values} "
            f"GROUP BY {sql.grouping_sets([name] for name in names)}",
        )
        for place, j in enumerate(here):
            key_type = columns[j].key_type
            rows = session.rows(
                f"SELECT {key_type.label(f'k{j}')} FROM one_way "
                f"WHERE margin = {sql.margin_mask(len(here), place)} "
                f"ORDER BY k{j} IS NULL, {key_type.order(f'k{j}')}"
            )
            labels = tuple(label for (label,) in rows)
            missing = labels[-1:] == (None,)
            texts[j] = (labels[:-1] if missing else labels, missing)
    return texts


def _text_digit(
    session: Session, columns: Sequence[Column], j: int, labels: tuple[str, ...], missing: bool
) -> RawDigit:
    if not labels:
        return RawDigit("NULL", ())
    name = enum_of(session, labels)
    code = f"enum_code(TRY_CAST({columns[j].key_type.label(f'k{j}')} AS {name}))"
    return RawDigit(code, labels, never_missing=not missing)


def enum_of(session: Session, labels: Sequence[str]) -> str:
    """The name of a new type whose codes are the places of these labels."""
    name = session.new_name("enum")
    listed = "CREATE OR REPLACE TABLE enum_labels AS SELECT unnest($1::VARCHAR[]) AS label"
    session.con.execute(listed, [list(labels)])
    session.rows(f"DROP TYPE IF EXISTS {name}")
    session.rows(f"CREATE TYPE {name} AS ENUM (SELECT label FROM enum_labels ORDER BY rowid)")
    session.rows("DROP TABLE enum_labels")
    return name
