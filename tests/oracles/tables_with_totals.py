"""Made-up tables of counts as files hold them, with rows of totals and without, and their truth."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
import pyarrow as pa

STRONG, OFTEN = ("Total", "all ages", "_T", "insgesamt"), ("Persons", "T", "All", "both")
NAMES = ("sex", "region", "age")


@dataclass(frozen=True)
class Made:
    """A file in long form, and the persons that it is about by their levels."""

    source: pa.Table
    truth: Mapping[tuple[str | None, ...], int]


def made(
    rng: np.random.Generator,
    *,
    n_variables: int = 2,
    typical: float = 20.0,
    total: str | None = "Total",
    layout: str = "cube",
    subtotals: bool = False,
    zeros: bool = True,
    own: tuple[str | None, ...] = (),
) -> Made:
    """A table with counts of a typical size.

    `layout` says which totals it has: none, those of a `cube`, of a `rollup`, the grand one alone
    (`corner`), or those of the `first` variable. With `subtotals` the last variable has a level
    that adds up some, not all, of the others. Rows of 0 are there with `zeros`. `own` are levels of
    the first variable that are persons, whatever their names say.
    """
    sizes = [int(rng.integers(2, 6)) for _ in range(n_variables)]
    levels: list[list[str | None]] = [
        [f"{name}{i}" for i in range(size)] for name, size in zip(NAMES, sizes, strict=False)
    ]
    if subtotals and len(levels[-1]) < 4:
        levels[-1] = [f"{NAMES[n_variables - 1]}{i}" for i in range(4)]
    levels[0][: len(own)] = own
    rates = typical * rng.lognormal(0, 0.8, [len(x) for x in levels])
    counts = rng.poisson(rates)
    truth = {
        tuple(levels[v][i] for v, i in enumerate(place)): int(counts[place])
        for place in np.ndindex(counts.shape)
        if counts[place]
    }
    rows = [(cell, n) for cell, n in _cells(counts, levels) if n or zeros]
    if subtotals:
        levels = [list(x) for x in levels]
        part = levels[-1][1:3]
        rows += _with_sum(rows, n_variables - 1, part, "several")
    rows += list(_totals(rows, layout, total, levels))
    order = rng.permutation(len(rows))
    columns = {
        name: pa.array([rows[i][0][v] for i in order], pa.string())
        for v, name in enumerate(NAMES[:n_variables])
    }
    return Made(pa.table(columns | {"n": [rows[i][1] for i in order]}), truth)


def _cells(counts, levels) -> Iterator[tuple[tuple[str | None, ...], int]]:
    for place in np.ndindex(counts.shape):
        yield tuple(levels[v][i] for v, i in enumerate(place)), int(counts[place])


def _with_sum(rows, variable, parts, label):
    """Rows of one more level of the variable that adds up some."""
    sums: dict[tuple[str | None, ...], int] = {}
    for cell, n in rows:
        if cell[variable] in parts:
            key = (*cell[:variable], label, *cell[variable + 1 :])
            sums[key] = sums.get(key, 0) + n
    return list(sums.items())


def _totals(rows, layout, total, levels):
    """Rows of totals: each by the variables that it adds up."""
    n = len(levels)
    sets = {
        "none": [],
        "cube": [x for x in product((False, True), repeat=n) if any(x)],
        "rollup": [tuple(v >= first for v in range(n)) for first in range(n)],
        "corner": [(True,) * n],
        "first": [tuple(v == 0 for v in range(n))],
    }[layout]
    known = [set(own) for own in levels]
    for gone in sets:
        sums: dict[tuple[str | None, ...], int] = {}
        for cell, count in rows:
            if all(x in own for x, own, out in zip(cell, known, gone, strict=True) if out):
                key = tuple(total if out else x for x, out in zip(cell, gone, strict=True))
                sums[key] = sums.get(key, 0) + count
        yield from sums.items()
