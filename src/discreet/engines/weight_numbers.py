"""Weights of any type as numbers, as SQL of DuckDB."""

from discreet.engines import sql

WEIGHT_PATTERN = (
    r"[+-]?([0-9]+(MARK[0-9]*)?|MARK[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(?i:inf(inity)?|nan)"
)


def weight_number(column: str, sql_type: str | None, mark: str) -> str:
    """Text is read only in the one form that the decimal mark allows, so that no 1.500 passes
    for a number where it means 1500."""
    if sql_type != "VARCHAR":
        return f"TRY_CAST({column} AS DOUBLE)"
    text = f"trim({column})"
    number = sql.text_literal(WEIGHT_PATTERN.replace("MARK", f"[{mark}]"))
    read = f"TRY_CAST(replace({text}, '{mark}', '.') AS DOUBLE)"
    return f"CASE WHEN regexp_full_match({text}, {number}) THEN {read} END"
