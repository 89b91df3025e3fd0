"""Households: their risk from that of their members, and their pattern of members.

The risk of a household is 1 − ∏ (1 − r) over its members. Logarithms are summed as decimals, so
that the result does not depend on the order of rows or threads.
"""

from collections.abc import Sequence

import numpy as np

from discreet.data.summary import SizeIndices
from discreet.engines import sql
from discreet.engines.contract import HouseholdTotals
from discreet.engines.duckdb_session import Session


def household_risk(column: str) -> str:
    """The risk of a household as an aggregate over its members' risk in `column`."""
    spared = f"CASE WHEN {column} < 1 THEN 1 - {column} ELSE 1 END"
    logs = f"CAST(sum(CAST(ln({spared}) AS DECIMAL(28, 18))) AS DOUBLE)"
    return f"CASE WHEN max({column}) >= 1 THEN 1.0 ELSE 1 - exp({logs}) END"


def make_households(session: Session, words: Sequence[str], risks: Sequence[str]) -> None:
    """Table `households`: members, the codes of their cells as a pattern, and the risk in each
    column of `risks`."""
    on = " AND ".join(f"staged.{word} = scored.{word}" for word in words)
    code = f"[{', '.join(f'staged.{word}' for word in words)}]"
    measured = "".join(f", {household_risk(sql.quoted(r))} AS {sql.quoted(r)}" for r in risks)
    session.run(
        "gathering households",
        f"CREATE OR REPLACE TABLE households AS SELECT household, count(*) AS members, "
        f"list_sort(list({code})) AS pattern{measured} "
        f"FROM staged JOIN scored ON {on} GROUP BY household",
    )


def household_totals(session: Session, risks: Sequence[str]) -> HouseholdTotals:
    """Households by the number that share their pattern, and the expected number found."""
    (n,) = session.row("SELECT count(*) FROM households")
    sums = [f"CAST(sum(CAST({sql.quoted(r)} AS DECIMAL(38, 18))) AS DOUBLE)" for r in risks]
    expected = session.row(f"SELECT {', '.join(sums)} FROM households") if risks else ()
    return HouseholdTotals(
        n_households=n,
        pattern_sizes=_pattern_sizes(session, "true"),
        several=_pattern_sizes(session, "members > 1"),
        expected_found=dict(zip(risks, expected, strict=True)),
    )


def _pattern_sizes(session: Session, which: str) -> SizeIndices:
    """Patterns by the number of households that have them, of those households that are meant."""
    rows = session.con.execute(
        f"SELECT n, count(*) AS patterns FROM (SELECT count(*) AS n FROM households WHERE {which} "
        "GROUP BY pattern) GROUP BY n ORDER BY n"
    ).fetchnumpy()
    return SizeIndices(
        np.asarray(rows["n"], dtype=np.int64), np.asarray(rows["patterns"], dtype=np.int64)
    )
