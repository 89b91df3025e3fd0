"""Is a column of counts one of persons? Signs that it holds amounts, such as revenue.

A doubt leaves a verdict open, so the name and the numbers are weighed together: a name of counts
(`population`) allows any number up to those who live on earth, a name of amounts (`payroll`) is
doubted whatever it holds, and any other name is doubted where the numbers are large.
"""

import re
from collections.abc import Iterator

import numpy as np

from discreet.numerics.arrays import IntArray

MOST_PERSONS = 10**10  # more than live on earth
TYPICAL = 1_000_000  # persons in a row, from which on a table of persons is rare
LARGE, ROWS_A_CELL = 1_000, 2.0  # in each of several rows of one combination
OF_PERSONS = frozenset(
    (
        "persons", "person", "people", "population", "pop", "cases", "individuals", "inhabitants",
        "residents", "households", "employees", "patients", "students", "births", "deaths",
        "headcount", "personen", "bevölkerung", "einwohner", "habitants", "effectif",
    )
)  # fmt: skip
OF_COUNTS = frozenset(
    ("freq", "frequency", "count", "counts", "n", "number", "num", "records", "anzahl", "nombre")
)
OF_EITHER = frozenset(("total", "obs", "observations", "size"))
AMOUNTS = re.compile(
    r"revenue|turnover|income|salar|wage|payroll|earning|sales|amount|price|cost|profit|expend|"
    r"spend|budget|asset|invest|umsatz|einkommen|betrag|lohn|gehalt|montant|"
    r"dollar|tonnage|tonnes|hectare|thousand|million|billion",
    re.IGNORECASE,
)
AMOUNT_WORDS = frozenset(
    (
        "gdp", "gva", "bip", "pib", "tax", "taxes", "rent", "rents", "exports", "imports", "eur",
        "euro", "euros", "usd", "gbp", "chf", "mio", "mln", "bn", "ha", "km", "kg", "per",
    )
)  # fmt: skip


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
    words = _words(name)
    if is_amount_name(name):
        yield f"the name of column {name!r} speaks of an amount"
    if total > MOST_PERSONS:
        yield f"column {name!r} adds up to more persons than live on earth"
    if not is_count_name(name):
        if typical > LARGE:
            yield f"column {name!r} has no name of a count and holds large numbers"
    elif words.isdisjoint(OF_PERSONS):
        several = rows.sum() >= ROWS_A_CELL * n_combinations
        if typical > TYPICAL:
            yield f"a row of column {name!r} typically holds more than {TYPICAL:,}"
        elif typical > LARGE and several and words.isdisjoint(OF_COUNTS):
            said = f"several rows of one combination hold more than {LARGE:,} each"
            yield f"{said} in column {name!r}"


def is_count_name(name: str) -> bool:
    """Whether a column's name is one of counts; that of OBS_VALUE is none."""
    words = _words(name)
    return not words.isdisjoint(OF_PERSONS | OF_COUNTS | OF_EITHER) and "value" not in words


def is_amount_name(name: str) -> bool:
    """Whether a column's name is one of amounts (`payroll`), of shares (`cost per person`) or of
    counts by the thousand; `n_low_income` counts persons."""
    words = _words(name)
    counts = not words.isdisjoint(OF_PERSONS | OF_COUNTS) and "per" not in words
    by_the = re.search("thousand|million|billion", name, re.IGNORECASE)
    amounts = AMOUNTS.search(name) or not words.isdisjoint(AMOUNT_WORDS)
    return bool(by_the or (amounts and not counts))


def _words(name: str) -> set[str]:
    """The words of a name: those of OBS_VALUE, nPersons and pop2020."""
    parted = re.sub(r"(?<=[a-zäöüé])(?=[A-ZÄÖÜ])", " ", name)
    return set(re.split(r"[^a-zäöüéß]+", parted.casefold())) - {""}


def _median(values: IntArray, rows: IntArray) -> float:
    """The median over all rows; 0 where there is none."""
    if not rows.sum():
        return 0.0
    order = np.argsort(values)
    place = int(np.searchsorted(np.cumsum(rows[order]), rows.sum() / 2))
    return float(values[order][place])
