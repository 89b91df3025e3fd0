"""Published tables made of a known table, and all tables that fit them, by trying every one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from discreet.data.published.published_table import PublishedTable

Levels = dict[str, list[str]]  # of each variable: the finest that there are


@dataclass(frozen=True)
class Told:
    """One statement about the hidden table: a set of cells and the range of their sum."""

    cells: tuple[int, ...]
    low: int
    high: int | None


def published(name: str, variables: Sequence[str], rows: Sequence[tuple]) -> PublishedTable:
    """A table in long form: labels, then what stands there (None where it is withheld)."""
    labels = [list(dict.fromkeys(row[v] for row in rows)) for v in range(len(variables))]
    places = [[labels[v].index(row[v]) for v in range(len(variables))] for row in rows]
    return PublishedTable(
        name=name,
        variables=tuple(variables),
        labels=tuple(map(tuple, labels)),
        places=np.array(places, dtype=np.int64).reshape(len(rows), len(variables)),
        printed=tuple("" if row[-1] is None else str(row[-1]) for row in rows),
    )


def cells_where(sizes: Sequence[int], held: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The cells (C order) whose level of each variable is among those held."""
    return tuple(
        int(np.ravel_multi_index(levels, sizes))
        for levels in product(*(sorted(own) for own in held))
    )


def fitting_tables(n_cells: int, told: Sequence[Told], most: int = 200_000) -> np.ndarray:
    """Every table of whole numbers that fits all statements, one a row; each cell must be limited.

    Cell by cell, as long as no statement is exceeded.
    """
    upper = [
        min(one.high for one in told if cell in one.cells and one.high is not None)
        for cell in range(n_cells)
    ]
    last = [max(one.cells) for one in told]

    def grown(table: list[int]) -> Iterator[list[int]]:
        cell = len(table)
        if cell == n_cells:
            yield table
            return
        for value in range(upper[cell] + 1):
            more = [*table, value]
            if all(_may_hold(one, more, last[i]) for i, one in enumerate(told)):
                yield from grown(more)

    found = []
    for table in grown([]):
        found.append(table)
        if len(found) > most:
            raise OverflowError
    return np.array(found, dtype=np.int64).reshape(len(found), n_cells)


def _may_hold(one: Told, table: list[int], last: int) -> bool:
    total = sum(table[cell] for cell in one.cells if cell < len(table))
    if one.high is not None and total > one.high:
        return False
    return len(table) <= last or total >= one.low
