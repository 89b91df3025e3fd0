"""Whether the order of records tells something: how alike neighbours are, column by column.

In random order the number of neighbours with equal values has a known mean and variance (the runs
of a random arrangement: Mood 1940, Annals of Mathematical Statistics 11), and so has the serial
correlation of the ranks. A file sorted by region has equal neighbours, one sorted by a number has
neighbours of like rank. Cost: one sort of the levels and one pass over the records a column.
"""

import math
from collections.abc import Sequence
from pathlib import Path

from discreet.data.records import Records
from discreet.engines import sql
from discreet.engines.contract import ColumnOrder
from discreet.engines.duckdb_scan import from_clause
from discreet.engines.duckdb_session import Session

LIKE_NEIGHBOURS = """
WITH seen AS (SELECT rowid AS r, {value} AS x FROM in_order),
levels AS (
    SELECT x, count(*) AS n, row_number() OVER (ORDER BY {order}) AS code FROM seen GROUP BY x
),
pairs AS (
    SELECT r, code, lag(code) OVER (ORDER BY r) AS before
    FROM seen JOIN levels ON seen.x IS NOT DISTINCT FROM levels.x
)
SELECT
    (SELECT sum(CAST(n AS HUGEINT) * n) FROM levels),
    (SELECT sum(CAST(n AS HUGEINT) * n * n) FROM levels),
    count(*) FILTER (WHERE code = before),
    sum(CAST(code AS HUGEINT)), sum(CAST(code AS HUGEINT) * code),
    sum(CAST(code AS HUGEINT) * before),
    arg_min(code, r), arg_max(code, r), count(DISTINCT code)
FROM pairs
"""


def column_orders(
    session: Session, records: Records, names: Sequence[str], folder: Path
) -> tuple[ColumnOrder, ...]:
    """How alike neighbours are in each of the columns."""
    positions = records.find("columns", names)
    source = from_clause(session.con, records.scan(positions), folder)
    session.run("reading the order", f"CREATE OR REPLACE TABLE in_order AS SELECT * FROM {source}")
    (n,) = session.row("SELECT count(*) FROM in_order")
    described = session.rows("DESCRIBE in_order")
    found = []
    for name, row in zip(names, described, strict=True):
        kind = sql.KeyType(sql.base_type(row[1]))
        if not sql.can_be_key(kind.sql_type):
            kind = sql.KeyType("ENUM")  # by its text, whatever it is
        found.append(_order(session, name, row[0], kind, n))
    return tuple(found)


def _order(session: Session, name: str, column: str, kind: sql.KeyType, n: int) -> ColumnOrder:
    statement = LIKE_NEIGHBOURS.format(value=kind.value(column), order=kind.order("x"))
    squares, cubes, equal, *of_ranks, levels = session.row(statement)
    return ColumnOrder(
        name=name,
        n_records=n,
        like_neighbours=_runs(n, equal, squares, cubes),
        like_ranks=_serial(n, *of_ranks),
        in_order=1 < levels < n and n - equal == levels,
    )


def _runs(n: int, equal: int, squares: int, cubes: int) -> float:
    """By how many standard errors equal neighbours are more than chance makes them."""
    if n < 2:
        return 0.0
    mean = (squares - n) / n
    spread = (squares * (squares + n * (n + 1)) - 2 * n * cubes - n**3) / (n * n * (n - 1))
    return 0.0 if spread <= 0 else (equal - mean) / math.sqrt(spread)


def _serial(n: int, total: int, total_2: int, products: int, first: int, last: int) -> float:
    """By how many standard errors the serial correlation of ranks is from that of chance.

    Over all orders its mean is −1/(n − 1); its variance is near 1/n."""
    if n < 3:
        return 0.0
    mean = total / n
    spread = total_2 - total * mean
    if spread <= 0:
        return 0.0
    ends = (total - first) + (total - last)  # each neighbour once as the first, once as the second
    covariance = products - mean * ends + (n - 1) * mean * mean
    return (covariance / spread + 1 / n) * math.sqrt(n)
