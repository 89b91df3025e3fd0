"""What percentages and means give away of counts, once the numbers that they are of are known.

A percentage p with d decimals of a group of N persons says N(p − h)/100 ≤ x ≤ N(p + h)/100 with
h = 0.5 · 10^−d: of a small group that is one count. A mean m of a variable in numbers over n
persons says n(m − h) ≤ Σ value · x ≤ n(m + h). N and n are taken from exact figures of the same
persons, or from exact figures of one layer that make them up.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import ceil, floor

import numpy as np
from scipy.sparse import csr_array

from discreet.data.published.published_table import PublishedTable, Statistic
from discreet.fiber.system.linear_system import UNLIMITED
from discreet.numerics.arrays import IntArray
from discreet.tables.linked.domains import Domain
from discreet.tables.linked.universe import Moment, Universe


def with_shares_and_means(universe: Universe) -> tuple[Universe, list[str]]:
    """The universe with what percentages and means say of counts, and notes on those unused."""
    notes: list[str] = []
    sizes = _Sizes(universe)
    low, high = universe.low.copy(), universe.high.copy()
    moments: list[Moment] = []
    for number, table in enumerate(universe.tables):
        rows = np.flatnonzero(universe.table == number)
        if table.statistic is Statistic.PERCENT:
            notes += _percentages(universe, table, rows, sizes, low, high)
        elif table.statistic is Statistic.MEAN:
            found, note = _means(universe, table, rows, sizes)
            moments += found
            notes += [note] if note else []
    return replace(universe, low=low, high=high, moments=tuple(moments)), notes


@dataclass(frozen=True, slots=True)
class _Sizes:
    """How many persons sets of atoms have, where exact figures say it."""

    universe: Universe

    def of(self, atoms: IntArray) -> int | None:
        """The number, from a figure of the same persons or from figures that make them up."""
        u = self.universe
        inside = np.zeros(u.n_atoms, dtype=np.int64)
        inside[atoms] = 1
        own = np.diff(u.matrix.indptr)
        within = (u.matrix @ inside == own) & u.is_exact
        for sub in u.sub_tables:
            rows = sub.rows.ravel()
            rows = rows[rows >= 0]
            rows = rows[within[rows]]
            if own[rows].sum() == len(atoms):
                return int(u.low[rows].sum())
        return None


def _decimals(text: str) -> int:
    return len(text.partition(".")[2])


def _around(text: str) -> tuple[Fraction, Fraction]:
    """The numbers that are printed like this."""
    return Fraction(text) - _off(text), Fraction(text) + _off(text)


def _off(text: str) -> Fraction:
    """How far a printed number may be from the true one."""
    return Fraction(1, 2 * int(10 ** _decimals(text)))


def _percentages(
    universe: Universe,
    table: PublishedTable,
    rows: IntArray,
    sizes: _Sizes,
    low: IntArray,
    high: IntArray,
) -> Iterator[str]:
    """Narrows the figures of a table of percentages, and notes what could not be used."""
    of = table.of or _adding_up(table)
    if of is None:
        yield (
            f"{table.name}: the percentages are not used, since they add up to 100 in no way; say "
            f"of what they are, '{table.name} | percent(VARIABLE)'."
        )
        return
    groups = _groups(universe, table, rows, of)
    unknown = 0
    for members in groups:
        atoms = _persons(universe, table, members, of)
        n = None if atoms is None else sizes.of(atoms)
        if n is None:
            unknown += len(members)
            continue
        for row in members.tolist():
            text = table.printed[int(universe.place[row])]
            if text:
                least, most = _around(text)
                low[row] = max(0, ceil(n * least / 100))
                high[row] = max(0, floor(n * most / 100))
    if unknown:
        yield (
            f"{table.name}: {unknown:,} percentages are not used, since no table shows the number "
            "of persons that they are of."
        )


def _groups(
    universe: Universe, table: PublishedTable, rows: IntArray, of: Sequence[str]
) -> list[IntArray]:
    """The figures of each group within which percentages add up to 100."""
    axes = [table.variables.index(name) for name in of]
    places = table.places[universe.place[rows]][:, axes]
    _, group = np.unique(places, axis=0, return_inverse=True)
    return [rows[np.ravel(group) == number] for number in range(int(group.max(initial=-1)) + 1)]


def _persons(
    universe: Universe, table: PublishedTable, members: IntArray, of: Sequence[str]
) -> IntArray | None:
    """The atoms of the persons that percentages of one group are of, None where these are cut.

    Where the figures listed add up to 100 (or one is withheld, so that they may), the persons are
    those in them. Where they fall short, as where only the unemployed are listed, they are all who
    have the labels of the variables `of`.
    """
    listed = np.unique(universe.matrix[members].indices).astype(np.int64)
    texts = [table.printed[place] for place in universe.place[members].tolist()]
    near = sum(_off(text) for text in texts if text)
    if not all(texts) or sum(map(Fraction, texts)) >= 100 - near:
        return listed
    own = table.cell(int(universe.place[members[0]]))
    held = universe.cells_with({name: own[name] for name in of})
    atoms = np.unique(universe.atom_of[held])
    is_whole = atoms[0] >= 0 and universe.size_of_atom[atoms].sum() == len(held)
    return atoms if is_whole else None


def _adding_up(table: PublishedTable) -> tuple[str, ...] | None:
    """The fewest variables within whose combinations percentages add up to 100, if there are any.

    Figures of totals among them count twice, so that those sums are 200.
    """
    values = np.array([float(text or 0) for text in table.printed])
    if not all(table.printed):
        return None
    near = 0.5 * max(10.0 ** -_decimals(text) for text in table.printed)
    for size in range(len(table.variables)):
        for axes in combinations(range(len(table.variables)), size):
            _, group = np.unique(table.places[:, list(axes)], axis=0, return_inverse=True)
            own = np.ravel(group) if axes else np.zeros(len(values), dtype=np.int64)
            sums, number = np.bincount(own, weights=values), np.bincount(own)
            if np.all(np.abs(sums - 100) <= near * number):
                return tuple(table.variables[axis] for axis in axes)
    return None


def _means(
    universe: Universe, table: PublishedTable, rows: IntArray, sizes: _Sizes
) -> tuple[list[Moment], str]:
    """What means say, as limits on weighted sums of atoms; and a note on what is not used."""
    domain = next((d for d in universe.domains if d.name in table.of), None)
    if domain is None or any(ends is None for ends in domain.ends):
        name = table.of[0] if table.of else "the variable"
        return [], f"{table.name}: the means are not used: no table tells numbers of {name} apart."
    found: list[Moment] = []
    unknown = 0
    for row in rows.tolist():
        text = table.printed[int(universe.place[row])]
        atoms = universe.matrix[[row]].indices.astype(np.int64)
        n = sizes.of(atoms)
        if n is None or not text:
            unknown += bool(text)
            continue
        least, most = _around(text)
        limits = ceil(n * least), floor(n * most)
        found += _limits_of(universe, domain, row, atoms, limits)
    note = ""
    if unknown:
        note = (
            f"{table.name}: {unknown:,} means are not used: no table shows the number of persons."
        )
    return found, note


def _limits_of(
    universe: Universe, domain: Domain, row: int, atoms: IntArray, limits: tuple[int, int]
) -> Iterator[Moment]:
    """Limits on the sum of values: by the greatest value of each atom from below, by the least from
    above; one where all values are known. Values below 0 are not weighed."""
    axis = universe.domains.index(domain)
    cells = [universe.cells_of(np.array([atom])) for atom in atoms.tolist()]
    parts = [universe.places(own)[axis] for own in cells]
    ends = [[domain.ends[int(part)] for part in own] for own in parts]
    least = [min((e[0] if e and e[0] is not None else 0) for e in own) for own in ends]
    most = [[e[1] if e else None for e in own] for own in ends]
    if min(least, default=0) < 0:
        return
    greatest = [None if None in own else max(x for x in own if x is not None) for own in most]
    low = max(0, limits[0])
    if greatest == least:
        yield _moment(universe, row, atoms, least, low, limits[1])
        return
    yield _moment(universe, row, atoms, least, 0, limits[1])
    if None not in greatest:
        yield _moment(universe, row, atoms, [x or 0 for x in greatest], low, int(UNLIMITED))


def _moment(
    universe: Universe, row: int, atoms: IntArray, weights: Sequence[int], low: int, high: int
) -> Moment:
    own = np.array(weights, dtype=np.int64)
    used = np.flatnonzero(own)
    matrix = csr_array(
        (own[used], (np.zeros(len(used), dtype=np.int64), atoms[used])),
        shape=(1, universe.n_atoms),
    )
    return Moment(row=row, matrix=matrix, low=low, high=high)
