"""SQL text for coding keys and counting cells, as plain functions from names to text.

Inside the engine, key number j is the column `k{j}`, word number i of its code the column `w{i}`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from discreet.data.coding import Coding

INTEGERS = frozenset(
    ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
)
WIDE_INTEGERS = frozenset(("HUGEINT", "UHUGEINT", "UBIGINT"))
FLOATS = frozenset(("FLOAT", "DOUBLE"))
OTHERS = frozenset(("BOOLEAN", "VARCHAR", "DATE", "UUID", "ENUM", "NULL"))


def base_type(described: str) -> str:
    """The type that DESCRIBE tells, without what does not matter here."""
    return "ENUM" if described.startswith("ENUM") else described.strip('"').upper()


def quoted(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def text_literal(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def can_be_key(sql_type: str) -> bool:
    """Whether a column of this type has single values that can be told apart."""
    return is_number(sql_type) or sql_type in OTHERS or sql_type.startswith("TIME")


def is_number(sql_type: str) -> bool:
    """Whether a column of this type holds numbers."""
    return sql_type in INTEGERS | FLOATS | WIDE_INTEGERS or sql_type.startswith("DECIMAL")


@dataclass(frozen=True, slots=True)
class KeyType:
    """How the values of one key column are told apart, named and ordered."""

    sql_type: str

    def value(self, column: str) -> str:
        """The value with NaN and the empty text turned into a missing one, a category into text."""
        if self.sql_type in FLOATS:
            return f"CASE WHEN isnan({column}) THEN NULL ELSE {column} + 0.0 END"
        if self.sql_type in ("ENUM", "NULL"):
            return f"nullif(CAST({column} AS VARCHAR), '')"
        return f"nullif({column}, '')" if self.sql_type == "VARCHAR" else column

    def label(self, value: str) -> str:
        """The value as text: its name, different for different values."""
        if self.sql_type in FLOATS:
            whole = f"CAST(CAST({value} AS BIGINT) AS VARCHAR)"
            is_whole = f"abs({value}) < 1e15 AND {value} = trunc({value})"
            return f"CASE WHEN {is_whole} THEN {whole} ELSE CAST({value} AS VARCHAR) END"
        return f"CAST({value} AS VARCHAR)"

    def order(self, value: str) -> str:
        """What to sort by: numbers by size even when written as text, then the rest by name."""
        if self.sql_type in ("VARCHAR", "ENUM", "NULL"):
            return f"TRY_CAST({value} AS DOUBLE) NULLS LAST, {value}"
        return value

    def whole_number(self, value: str) -> str | None:
        """The value as a whole number where its type is one at heart, else None."""
        if self.sql_type in INTEGERS or self.sql_type == "BOOLEAN":
            return f"CAST({value} AS BIGINT)"
        return f"CAST({value} - DATE '1970-01-01' AS BIGINT)" if self.sql_type == "DATE" else None

    def whole_label(self, number: str) -> str:
        """The name of the value that `whole_number` turned into this number."""
        if self.sql_type == "DATE":
            return f"CAST(DATE '1970-01-01' + CAST({number} AS INTEGER) AS VARCHAR)"
        boolean = self.sql_type == "BOOLEAN"
        return f"CAST(CAST({number} AS {'BOOLEAN' if boolean else 'BIGINT'}) AS VARCHAR)"


def word_columns(coding: Coding) -> list[str]:
    """Names of the columns that hold the code."""
    return [f"w{word}" for word in range(coding.n_words)]


def word_expressions(coding: Coding, codes: Sequence[str]) -> list[str]:
    """Each word as the sum of code · stride over its keys; NULL when one of them is."""
    words: list[list[str]] = [[] for _ in range(coding.n_words)]
    for digit, code in zip(coding.digits, codes, strict=True):
        words[digit.word].append(f"CAST({code} AS BIGINT) * {digit.stride}")
    return [" + ".join(terms) for terms in words]


def level_expressions(coding: Coding, prefix: str) -> list[str]:
    """Level of each key, from the words in columns such as w0, w1, …"""
    return [f"({prefix}{d.word} // {d.stride} % {d.size})" for d in coding.digits]


def grouping_sets(sets: Iterable[Sequence[str]]) -> str:
    """The clause that groups by each set of columns in one pass."""
    return "GROUPING SETS (" + ", ".join(f"({', '.join(columns)})" for columns in sets) + ")"


def margin_mask(n_columns: int, place: int) -> int:
    """What grouping_id of n columns tells in the rows grouped by the column at `place` alone."""
    return (1 << n_columns) - 1 - (1 << (n_columns - 1 - place))
