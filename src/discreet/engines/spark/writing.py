"""The file of records: one row a record, with what it has from its cell and its household.

Spark joins, orders and writes parts into the workspace; one file in the order of the records is
then put together from the parts, some rows at a time. A folder is left to Spark.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from discreet.engines import sql
from discreet.engines.contract import ClassLimits
from discreet.engines.spark.naming import castable, connected
from discreet.engines.spark.work import Work, as_url
from discreet.errors import OutputError, must_be
from discreet.numerics.rounding import ALIKE


@dataclass(frozen=True, slots=True)
class Written:
    """A column of the file: its name, the Spark column it is, and its type where that is known."""

    name: str
    column: Any
    sql_type: str | None = None


def risk_class(column: Any, limits: ClassLimits) -> Any:
    """The class of the risk; what is at a limit but for rounding is not above it."""
    from pyspark.sql import functions as F  # noqa: N812

    risk = known(column)
    some, high = (limit * (1 + ALIKE) for limit in (limits.some, limits.high))
    return (
        F.when(risk > F.lit(high), "high")
        .when(risk > F.lit(some), "some")
        .when(risk.isNotNull(), "low")
    )


def known(column: Any) -> Any:
    """A number, NULL where it is NaN."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.when(~F.isnan(column.cast("double")), column)


def write(work: Work, joined: Any, columns: Sequence[Written], path: Path | str) -> None:
    """The columns of the frame, in the order of its `row`, as CSV or Parquet by the ending of the
    name, or as a folder of Parquet files where the path is a folder or ends in '/'."""
    if str(path).endswith("/") or Path(path).is_dir():
        _write_folder(work, joined, columns, Path(path))
        return
    named = [written.column.alias(f"o{i}") for i, written in enumerate(columns)]
    parts = work.write("writing the risks", joined.orderBy("row").select(*named), "risks")
    try:
        _put_together(parts, columns, Path(path))
    except duckdb.IOException as error:
        problem = must_be("risks", "writable", "a disk that is full or failing")
        raise OutputError(problem) from error
    finally:
        work.remove(parts)


def _write_folder(work: Work, joined: Any, columns: Sequence[Written], path: Path) -> None:
    if path.exists() and any(path.iterdir()):
        rule = "a folder that is empty or not there yet"
        raise OutputError(must_be("risks", rule, f"{path.name!r} with files in it"))
    own = joined.orderBy("row").select(*(c.column.alias(c.name) for c in columns))
    target = as_url(path)
    work.run("writing the risks", lambda: own.write.mode("overwrite").parquet(target))


def _put_together(parts: Path, columns: Sequence[Written], path: Path) -> None:
    """One file of all parts, in order, through bounded memory."""
    files = ", ".join(sql.text_literal(str(part)) for part in sorted(parts.glob("*.parquet")))
    shown = ", ".join(
        f"{f'o{i}' if c.sql_type is None else f'CAST(o{i} AS {castable(c.sql_type)})'} "
        f"AS {sql.quoted(c.name)}"
        for i, c in enumerate(columns)
    )
    csv = path.suffix.lower() == ".csv"
    form = "FORMAT csv, HEADER true" if csv else "FORMAT parquet"
    with connected() as con:
        con.execute("SET memory_limit = '1GB'")
        con.execute(
            f"COPY (SELECT {shown} FROM read_parquet([{files}])) "
            f"TO {sql.text_literal(str(path))} ({form}, USE_TMP_FILE false)"
        )
