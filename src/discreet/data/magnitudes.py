"""Is a column of counts one of persons? Signs that it holds amounts, such as revenue."""

import re
from collections.abc import Iterator

import numpy as np

from discreet.numerics.arrays import IntArray

MOST_PERSONS = 10**10  # more than live on earth
TYPICAL = 10_000  # persons in a row, from which on a table of persons is rare
LARGE, ROWS_A_CELL = 1_000, 2.0  # in each of several rows of one combination
COUNT_NAMES = frozenset(
    (
        "freq", "frequency", "count", "counts", "n", "number", "num", "persons", "people",
        "population", "pop", "cases", "records", "obs", "observations", "total", "anzahl",
        "personen", "effectif", "nombre", "individuals", "households", "size",
    )
)  # fmt: skip
MONEY = re.compile(
    r"revenue|turnover|income|salar|wage|sales|amount|price|cost|profit|expend|spend|umsatz|"
    r"einkommen|betrag|euro|usd|eur\b|dollar",
    re.IGNORECASE,
)


def doubts_about(
    name: str, values: IntArray, rows: IntArray, n_combinations: int
) -> tuple[str, ...]:
    """Why a column may hold no counts of persons, a clause each; none where nothing speaks for it.

    `values` are the numbers in the column and `rows` how many rows have each; `n_combinations` of
    levels occur.
    """
    return tuple(_doubts(name, values, rows, n_combinations))


def _doubts(name: str, values: IntArray, rows: IntArray, n_combinations: int) -> Iterator[str]:
    above = values > 0
    total = float(np.dot(values.astype(np.float64), rows))
    typical = _median(values[above], rows[above])
    if MONEY.search(name):
        yield f"the name of column {name!r} speaks of an amount"
    if total > MOST_PERSONS:
        yield f"column {name!r} adds up to more persons than live on earth"
    if typical > TYPICAL:
        yield f"a row of column {name!r} typically holds more than {TYPICAL:,}"
    elif typical > LARGE and rows.sum() >= ROWS_A_CELL * n_combinations:
        yield f"several rows of one combination hold more than {LARGE:,} each in column {name!r}"
    elif typical > LARGE and not is_count_name(name):
        yield f"column {name!r} has no name of a count and holds large numbers"


def is_count_name(name: str) -> bool:
    """Whether a column's name is one of counts."""
    return any(word in COUNT_NAMES for word in re.split(r"[^a-zäöüé]+", name.casefold()))


def _median(values: IntArray, rows: IntArray) -> float:
    """The median over all rows; 0 where there is none."""
    if not rows.sum():
        return 0.0
    order = np.argsort(values)
    place = int(np.searchsorted(np.cumsum(rows[order]), rows.sum() / 2))
    return float(values[order][place])
