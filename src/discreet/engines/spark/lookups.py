"""A few records of many: those of some cells, and what some rows hold."""

from collections.abc import Sequence
from typing import Any

from discreet.engines.spark.naming import castable, connected
from discreet.engines.spark.work import Work
from discreet.numerics.arrays import IntArray


def rows_in(work: Work, staged: Any, words: IntArray, most: int) -> list[tuple[int, ...]]:
    """The first rows, from 1, of the records with each of these codes (cells × words), `most` of a
    cell at most."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    if not len(words):
        return []
    names = [f"w{i}" for i in range(words.shape[1])]
    schema = ", ".join(f"{name} bigint" for name in ("cell", *names))
    listed = [(cell, *code) for cell, code in enumerate(words.tolist())]
    wanted = F.broadcast(work.spark.createDataFrame(listed, schema))
    place = F.row_number().over(Window.partitionBy("cell").orderBy("row"))
    found = (
        staged.select("row", *names)
        .join(wanted, names)
        .select("cell", "row", place.alias("place"))
        .where(F.col("place") <= most)
        .select("cell", "row")
    )
    rows: list[list[int]] = [[] for _ in listed]
    for cell, row in sorted(map(tuple, work.run("finding records", found.collect))):
        rows[cell].append(row)
    return list(map(tuple, rows))


def carried(
    work: Work, staged: Any, rows: Sequence[int], types: Sequence[str]
) -> list[tuple[str, ...]]:
    """What these rows, from 1, hold in the columns to carry, as text; empty where nothing."""
    from pyspark.sql import functions as F  # noqa: N812

    names = [f"x{i}" for i in range(len(types))]
    if not len(rows) or not names:
        return [()] * len(rows)
    wanted = staged.where(F.col("row").isin([int(row) for row in rows])).select("row", *names)
    table = work.run("finding records", wanted.toArrow)
    texts = ", ".join(
        f"coalesce(CAST(CAST({name} AS {castable(kind)}) AS VARCHAR), '')"
        for name, kind in zip(names, types, strict=True)
    )
    with connected() as con:
        con.register("held", table)
        found = con.execute(f"SELECT row, {texts} FROM held").fetchall()
    held = {row: tuple(values) for row, *values in found}
    return [held[int(row)] for row in rows]
