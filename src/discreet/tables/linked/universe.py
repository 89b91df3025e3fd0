"""All tables together: the cells that they tell apart, and what each figure says of them.

The hidden table has a cell for each combination of parts of all variables. Cells that no figure
tells apart are one *atom*: atoms are the coarsest partition of which every figure is a sum, and the
unknowns of the fiber. A table with totals and subtotals is taken apart into *layers*, in each of
which the categories of every variable are disjoint.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from discreet.data.published.published_table import PublishedTable, Statistic
from discreet.errors import InputError, must_be
from discreet.fiber.system.linear_system import UNLIMITED
from discreet.numerics.arrays import BoolArray, IntArray, read_only
from discreet.tables.linked.domains import Domain
from discreet.tables.linked.rules import Rule

MOST_CELLS = 2**22  # combinations of parts of all variables
SEED = 20_261_119  # of the random numbers that compare sets of cells, the same in every run
Keys = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """Categories of one variable that have nobody in common, with the parts of each."""

    domain: int
    labels: tuple[str, ...]
    holds: BoolArray

    @property
    def category_of(self) -> IntArray:
        """The category of each part, −1 where it is in none."""
        return np.where(self.holds.any(axis=0), self.holds.argmax(axis=0), -1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubTable:
    """The figures of a table for one layer of each of its variables: `rows` has the number of the
    figure for each combination of categories, −1 where the table has none."""

    table: int
    layers: tuple[Layer, ...]
    rows: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A weighted sum of atoms within limits, as figure `row` (a mean) says it."""

    row: int
    matrix: csr_array
    low: int
    high: int


@dataclass(frozen=True, kw_only=True)
class Universe:
    """The cells, the atoms, and the figures of all tables as ranges of sums of atoms.

    Figure i says `low[i]` ≤ Σ `matrix[i]` x ≤ `high[i]`; it is figure `place[i]` of table
    `table[i]`. `atom_of` gives the atom of each cell (C order over the domains), −1 for a cell
    that no figure counts.
    """

    domains: tuple[Domain, ...]
    tables: tuple[PublishedTable, ...]
    rules: tuple[Rule, ...]
    sub_tables: tuple[SubTable, ...]
    low: IntArray
    high: IntArray
    table: IntArray
    place: IntArray
    atom_of: IntArray
    matrix: csr_array
    keys: Keys
    moments: tuple[Moment, ...] = ()

    def __post_init__(self) -> None:
        for array in (self.low, self.high, self.table, self.place, self.atom_of, self.keys):
            read_only(array)

    @property
    def shape(self) -> tuple[int, ...]:
        """Parts of each variable."""
        return tuple(domain.size for domain in self.domains)

    @property
    def n_atoms(self) -> int:
        """Cells that are told apart by some figure."""
        return int(self.matrix.shape[1])

    @property
    def n_figures(self) -> int:
        """Figures of all tables, withheld ones too."""
        return len(self.low)

    @property
    def is_exact(self) -> BoolArray:
        """Which figures say their count."""
        return np.asarray(self.low == self.high)

    @cached_property
    def is_shown(self) -> BoolArray:
        """Which figures stand on the page as the counts that they are."""
        counts = [table.statistic is Statistic.COUNT for table in self.tables]
        plain = [rule.is_exact and own for rule, own in zip(self.rules, counts, strict=True)]
        printed = [self.tables[t].printed[p] != "" for t, p in self._stands_at]
        by_table = np.array(plain, dtype=np.bool_)
        return np.asarray(self.is_exact & by_table[self.table] & np.array(printed))

    @property
    def _stands_at(self) -> list[tuple[int, int]]:
        """The table and the place of each figure."""
        return list(zip(self.table.tolist(), self.place.tolist(), strict=True))

    @cached_property
    def row_keys(self) -> Keys:
        """A number for each figure, the same for figures of the same persons.

        Others differ but for a chance of 2⁻⁶⁴.
        """
        sums: Keys = np.zeros(self.n_figures, dtype=np.uint64)
        entries = self.matrix.tocoo()
        np.add.at(sums, entries.row, self.keys[entries.col])
        return sums

    @cached_property
    def size_of_atom(self) -> IntArray:
        """How many cells each atom has."""
        held = self.atom_of[self.atom_of >= 0]
        return np.bincount(held, minlength=self.n_atoms).astype(np.int64)

    @cached_property
    def first_cell(self) -> IntArray:
        """One cell of each atom."""
        found = np.zeros(self.n_atoms, dtype=np.int64)
        cells = np.flatnonzero(self.atom_of >= 0)[::-1]
        found[self.atom_of[cells]] = cells
        return found

    def cell_of(self, figure: int) -> dict[str, str]:
        """What a figure is of, by its labels, those of totals left out."""
        own, place = self.tables[int(self.table[figure])], int(self.place[figure])
        pairs = own.cell(place).items()
        return {name: text for name, text in pairs if (name, text) not in self._wholes}

    @cached_property
    def _wholes(self) -> frozenset[tuple[str, str]]:
        """Labels that hold all parts of their variable."""
        return frozenset(
            (domain.name, text)
            for domain in self.domains
            for text, held in domain.sets.items()
            if held.all()
        )

    def cells_with(self, labels: Mapping[str, str]) -> IntArray:
        """The cells that have the labels of some variables."""
        every = [np.ones(domain.size, dtype=np.bool_) for domain in self.domains]
        held = [
            domain.sets[labels[domain.name]] if domain.name in labels else own
            for domain, own in zip(self.domains, every, strict=True)
        ]
        places = np.ix_(*map(np.flatnonzero, held))
        return np.asarray(np.ravel_multi_index(places, self.shape)).ravel().astype(np.int64)

    def counts_of(self, truth: IntArray) -> IntArray:
        """The counts of the atoms, given those of the cells."""
        held = self.atom_of >= 0
        counts = np.zeros(self.n_atoms, dtype=np.int64)
        np.add.at(counts, self.atom_of[held], truth.ravel()[held])
        return counts

    def figure_of(self, row: int) -> int:
        """The figure behind a row of all ranges: itself, or that of a moment."""
        n = self.n_figures
        return row if row < n else self.moments[row - n].row

    def name_of(self, figure: int) -> str:
        """What to call a figure in a sentence: its table and what it is of."""
        own = self.tables[int(self.table[figure])]
        said = ", ".join(f"{name} {label}" for name, label in self.cell_of(figure).items())
        return f"{own.name}: {said or 'total'}"

    def printed(self, figure: int) -> str:
        """What stands on the page."""
        own, place = self.tables[int(self.table[figure])], int(self.place[figure])
        return own.printed[place] or own.marks.get(place, "") or "withheld"

    @cached_property
    def _cells_in_order(self) -> tuple[IntArray, IntArray]:
        """The cells by their atoms, and where those of each atom begin."""
        held = np.flatnonzero(self.atom_of >= 0)
        order = held[np.argsort(self.atom_of[held], kind="stable")]
        return order, np.concatenate([[0], np.cumsum(self.size_of_atom)])

    def cells_of(self, atoms: IntArray) -> IntArray:
        """The cells of some atoms."""
        order, ends = self._cells_in_order
        return np.concatenate([order[ends[a] : ends[a + 1]] for a in atoms.tolist()])


def universe_of(
    domains: Sequence[Domain], tables: Sequence[PublishedTable], rules: Sequence[Rule]
) -> Universe:
    """The tables, whose variables are those of the domains, over the cells that they tell apart.

    Checked: there are at most 2**22 cells.
    """
    shape = tuple(domain.size for domain in domains)
    if prod(shape) > MOST_CELLS:
        listed = " × ".join(f"{domain.name} {domain.size:,}" for domain in domains)
        wanted = f"of at most {MOST_CELLS:,} cells together"
        remedy = "attack tables that share variables first, or give broader bands"
        got = f"{prod(shape):,} ({listed})"
        raise InputError(must_be("published", wanted, got, remedy=remedy))
    subs: list[SubTable] = []
    low: list[int] = []
    high: list[int] = []
    table: list[int] = []
    place: list[int] = []
    for number, (own, rule) in enumerate(zip(tables, rules, strict=True)):
        first = len(low)
        for figure, text in enumerate(own.printed):
            least, most = _range(own, rule, figure, text)
            low.append(least)
            high.append(UNLIMITED if most is None else most)
            table.append(number)
            place.append(figure)
        subs += _sub_tables(number, own, domains, first)
    rows, cells = _incidence(subs, domains, shape)
    atom_of, keys = _atoms(rows, cells, prod(shape), len(low))
    n_atoms = int(atom_of.max(initial=-1)) + 1
    pairs = np.unique(np.stack([rows, atom_of[cells]]), axis=1)
    ones = np.ones(pairs.shape[1], dtype=np.int64)
    return Universe(
        domains=tuple(domains),
        tables=tuple(tables),
        rules=tuple(rules),
        sub_tables=tuple(subs),
        low=np.array(low, dtype=np.int64),
        high=np.array(high, dtype=np.int64),
        table=np.array(table, dtype=np.int64),
        place=np.array(place, dtype=np.int64),
        atom_of=atom_of,
        matrix=csr_array((ones, (pairs[0], pairs[1])), shape=(len(low), n_atoms)),
        keys=keys,
    )


def _range(table: PublishedTable, rule: Rule, figure: int, text: str) -> tuple[int, int | None]:
    """What a figure says of its count; what a percentage or a mean says is found out later."""
    if table.statistic is not Statistic.COUNT:
        return 0, None
    return rule.range_of(text, table.marks.get(figure, ""))


def _sub_tables(
    number: int, table: PublishedTable, domains: Sequence[Domain], first: int
) -> Iterator[SubTable]:
    """The table for each combination of layers of its variables that has figures."""
    by_name = {domain.name: i for i, domain in enumerate(domains)}
    own = [by_name[name] for name in table.variables]
    layered = [_layers(domain, domains[domain], table.labels[v]) for v, domain in enumerate(own)]
    layer_of = [np.array([at[0] for at in places], dtype=np.int64) for _, places in layered]
    within = [np.array([at[1] for at in places], dtype=np.int64) for _, places in layered]
    n = table.n_figures
    which = np.zeros((n, len(own)), dtype=np.int64)
    category = np.zeros((n, len(own)), dtype=np.int64)
    for v in range(len(own)):
        which[:, v] = layer_of[v][table.places[:, v]]
        category[:, v] = within[v][table.places[:, v]]
    for combination in np.unique(which, axis=0):
        mine = np.flatnonzero(np.all(which == combination, axis=1))
        layers = tuple(layered[v][0][int(c)] for v, c in enumerate(combination))
        rows = np.full(tuple(len(layer.labels) for layer in layers), -1, dtype=np.int64)
        rows[tuple(category[mine].T) if own else ...] = first + mine if own else first
        yield SubTable(table=number, layers=layers, rows=rows)


def _layers(
    number: int, domain: Domain, labels: Sequence[str]
) -> tuple[list[Layer], list[tuple[int, int]]]:
    """Layers of disjoint labels, and for each label its layer and its place there.

    Small categories come first, so that levels, subtotals and totals find themselves together.
    """
    held = [domain.sets[label] for label in labels]
    used: list[BoolArray] = []
    members: list[list[int]] = []
    at: list[tuple[int, int]] = [(0, 0)] * len(labels)
    for place in sorted(range(len(labels)), key=lambda i: (int(held[i].sum()), i)):
        free = (i for i, taken in enumerate(used) if not np.any(taken & held[place]))
        layer = next(free, len(used))
        if layer == len(used):
            used.append(np.zeros(domain.size, dtype=np.bool_))
            members.append([])
        used[layer] = used[layer] | held[place]
        at[place] = (layer, len(members[layer]))
        members[layer].append(place)
    layers = [
        Layer(
            domain=number,
            labels=tuple(labels[i] for i in own),
            holds=np.array([held[i] for i in own]),
        )
        for own in members
    ]
    return layers, at


def _incidence(
    subs: Sequence[SubTable], domains: Sequence[Domain], shape: tuple[int, ...]
) -> tuple[IntArray, IntArray]:
    """Pairs of a figure and a cell that it counts."""
    rows: list[IntArray] = []
    cells: list[IntArray] = []
    for sub in subs:
        place = np.zeros((1,) * len(domains), dtype=np.int64)
        inside = np.ones((1,) * len(domains), dtype=np.bool_)
        for size, layer in zip(sub.rows.shape, sub.layers, strict=True):
            category = layer.category_of
            along = [1] * len(domains)
            along[layer.domain] = len(category)
            place = place * size + np.maximum(category, 0).reshape(along)
            inside = inside & (category >= 0).reshape(along)
        figure = np.where(inside, sub.rows.ravel()[place], -1)
        whole = np.broadcast_to(figure, shape).ravel()
        held = np.flatnonzero(whole >= 0)
        rows.append(whole[held])
        cells.append(held)
    return np.concatenate(rows), np.concatenate(cells)


def _atoms(rows: IntArray, cells: IntArray, n_cells: int, n_rows: int) -> tuple[IntArray, Keys]:
    """The atom of each cell, and a random number for each atom.

    Cells are alike where the random numbers of the figures that count them have the same sum.
    """
    rng = np.random.default_rng(SEED)
    own = rng.integers(1, 2**64, n_rows, dtype=np.uint64)
    sums: Keys = np.zeros(n_cells, dtype=np.uint64)
    np.add.at(sums, cells, own[rows])
    counted = np.zeros(n_cells, dtype=np.bool_)
    counted[cells] = True
    atom_of = np.full(n_cells, -1, dtype=np.int64)
    held = np.flatnonzero(counted)
    _, first, group = np.unique(sums[held], return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")  # atoms in the order of their first cells
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    atom_of[held] = place[group.ravel()]
    return atom_of, rng.integers(1, 2**64, len(order), dtype=np.uint64)
