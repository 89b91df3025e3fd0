"""Codes for missing, suppressed and not applicable values: how often each occurs."""

from collections.abc import Iterable, Mapping

from discreet.data.missing import EVERY_COLUMN, MissingCodes, check_told_apart, values_meant
from discreet.engines.contract import IdleCode
from discreet.engines.duckdb_keys import Column
from discreet.engines.duckdb_session import Session

Labels = Mapping[str, Mapping[str, str]]
CodeCounts = Mapping[str, Mapping[str, int]]


def count_codes(
    session: Session,
    source: str,
    columns: Mapping[str, Column],
    codes: MissingCodes,
    labels: Labels,
) -> CodeCounts:
    """Records with each code of each column; a pass over the records, where codes are given.

    Checked as `check_codes` says.
    """
    counts = [count for column in columns.values() for count in column.code_counts()]
    found = iter(session.row(f"SELECT {', '.join(counts)} FROM {source}") if counts else ())
    coded = {name: {code: next(found) for code in column.codes} for name, column in columns.items()}
    check_codes(codes, coded, labels)
    return coded


def check_codes(codes: MissingCodes, counted: CodeCounts, labels: Labels) -> None:
    """No code that was given is a value that occurs and the label of another that does."""
    for _, given_for, code in codes.given():
        for name in counted if given_for == EVERY_COLUMN else [given_for]:
            check_told_apart(code, name, labels.get(name, {}), counted[name])


def idle_codes(codes: MissingCodes, counted: CodeCounts, labels: Labels) -> tuple[IdleCode, ...]:
    """Codes that were given and occur in none of the columns they were given for."""
    return tuple(
        IdleCode(kind=kind, column=column, code=code)
        for kind, column, code in codes.given()
        if not _occurs(code, counted if column == EVERY_COLUMN else [column], counted, labels)
    )


def _occurs(code: str, columns: Iterable[str], counted: CodeCounts, labels: Labels) -> bool:
    return any(
        counted[name].get(value)
        for name in columns
        for value in values_meant(code, name, labels.get(name, {}))
    )
