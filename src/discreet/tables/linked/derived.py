"""Figures that follow from all tables together although no table shows them.

Two ways lead to them. *Differences*: a figure less the figures of a finer layer that lie within it,
whatever is left (women of 15-19 in one table, less women of 16-19 in another). And *cells*: entries
of the crosses of all parts, and withheld or rounded figures, in which every witness agrees, each
then proved by a certificate.

Not told is what a table shows, what is a sum of figures of one table, what lies within a figure of
zero, and what falls apart into figures that are shown or told anyway.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.clock import Clock, work
from discreet.fiber.bounds.certificates import Certificate, Ranges, at_least, at_most
from discreet.numerics.arrays import BoolArray, IntArray
from discreet.progress import Progress
from discreet.tables.linked.crosses import Entries, crosses_of, entries_of
from discreet.tables.linked.implied import Cover, Relations, spread, summed
from discreet.tables.linked.reduced import Reduced
from discreet.tables.linked.universe import Layer, SubTable, Universe
from discreet.tables.linked.witnesses import SAME, Witnesses

PROOF = "proving what follows"
DIFFERENCES_SHARE = 0.5  # of the time
MOST_AGAIN = 300  # differences, the smallest first, from which other figures are taken away
DIFFERENCE_SECONDS, AGAIN_SECONDS = 5e-5, 2e-4  # a difference; one layer within a difference
Prove = Callable[[Ranges, IntArray, int], Certificate | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """A figure that no table shows: its atoms, its value, and why it follows.

    `above` proves that it is no more, `below` that it is no less; of a difference of figures both
    are the same. Both are None where the tables that fit were listed or searched.
    """

    atoms: IntArray
    value: int
    above: Certificate | None = None
    below: Certificate | None = None
    how: str = "exact"


@dataclass(frozen=True, slots=True, kw_only=True)
class Following:
    """All figures that follow, smallest first; more are the same in every table that was looked at
    and could not be proved, with the values `open_values`. `is_whole` says that all differences
    were looked at."""

    figures: tuple[Derived, ...]
    open_values: tuple[int, ...] = ()
    is_whole: bool = True

    @property
    def unproved(self) -> int:
        """How many could not be proved."""
        return len(self.open_values)


@dataclass(slots=True)
class _Told:
    """Keys of sets whose figure is shown or told, so that nothing is told twice."""

    shown: set[int]
    derived: dict[int, Derived]

    def note(self, one: Derived, key: int) -> None:
        """Takes note of a figure that no table shows, by the shortest way to it."""
        if key in self.shown:
            return
        if key not in self.derived or _shorter(one, self.derived[key]):
            self.derived[key] = one


def following(
    known: Reduced,
    seen: Witnesses,
    exact: tuple[IntArray, IntArray] | None,
    clock: Clock,
    progress: Progress,
) -> Following:
    """The figures that follow. `exact` are bounds of the atoms, where they were searched."""
    universe = known.universe
    shown = set(universe.row_keys[universe.is_shown].tolist())
    told = _Told(shown, {})
    is_whole = _tell_differences(universe, told, Clock(clock.share(DIFFERENCES_SHARE)))
    cells = _Cells(known, seen, exact, told)
    found, left = cells.found(clock, progress)
    kept = [one for one in told.derived.values() if not cells.explains(one)]
    figures = [one for one in (*kept, *found) if not _is_empty(known, one)]
    return Following(
        figures=tuple(sorted(figures, key=lambda one: (one.value, len(one.atoms), _first(one)))),
        open_values=left,
        is_whole=is_whole,
    )


def _tell_differences(universe: Universe, told: _Told, clock: Clock) -> bool:
    """Takes note of all differences of figures, then of what these leave beside other figures;
    whether that was done in time."""
    for one, key in differences(universe):
        work(DIFFERENCE_SECONDS)
        if clock.is_over:
            return False
        told.note(one, key)
    several = [one for one in told.derived.values() if len(one.atoms) > 1]
    several.sort(key=lambda one: (one.value, len(one.atoms), _first(one)))
    for first in several[:MOST_AGAIN]:
        work(AGAIN_SECONDS * len(universe.sub_tables))
        if clock.is_over:
            return False
        for one, key in _within(universe, first):
            told.note(one, key)
    return True


def _within(universe: Universe, first: Derived) -> Iterator[tuple[Derived, int]]:
    """A difference less all exact figures of a layer that lie within it."""
    assert first.above is not None
    inside = np.zeros(universe.n_atoms, dtype=np.int64)
    inside[first.atoms] = 1
    sizes = _sizes(universe)
    within = universe.is_exact & (universe.matrix @ inside == sizes)
    for sub in universe.sub_tables:
        rows = sub.rows[sub.rows >= 0]
        parts = rows[within[rows]]
        if not len(parts) or sizes[parts].sum() >= len(first.atoms):
            continue
        weights: dict[int, int] = dict(zip(first.above.rows, first.above.weights, strict=True))
        for row in parts.tolist():
            weights[row] = weights.get(row, 0) - 1
        kept = {row: weight for row, weight in weights.items() if weight}
        value = first.value - int(universe.low[parts].sum())
        certificate = Certificate(
            rows=tuple(kept),
            weights=tuple(kept.values()),
            denominator=1,
            value=value,
            is_equal=True,
        )
        atoms = np.setdiff1d(first.atoms, _atoms_of(universe, parts))
        key = int(np.add.reduce(universe.keys[atoms], dtype=np.uint64))
        yield Derived(atoms=atoms, value=value, above=certificate, below=certificate), key


def _atoms_of(universe: Universe, rows: IntArray) -> IntArray:
    """The atoms that some figures count."""
    ends, atoms = universe.matrix.indptr, universe.matrix.indices
    return np.concatenate([atoms[ends[row] : ends[row + 1]] for row in rows.tolist()]).astype(
        np.int64
    )


def _first(one: Derived) -> int:
    return int(one.atoms[0])


def _shorter(one: Derived, other: Derived) -> bool:
    steps = [0 if d.above is None else len(d.above.rows) for d in (one, other)]
    return steps[0] < steps[1]


def _is_empty(known: Reduced, one: Derived) -> bool:
    """Whether it lies within a figure that is a printed zero."""
    return one.value == 0 and bool(_zero_atoms(known.universe)[one.atoms].all())


def _zero_atoms(universe: Universe) -> BoolArray:
    rows = np.flatnonzero(universe.high == 0)
    found = np.zeros(universe.n_atoms, dtype=np.bool_)
    found[universe.matrix[rows].indices] = True
    return found


def differences(universe: Universe) -> Iterator[tuple[Derived, int]]:
    """Each exact figure less all exact figures of a layer that lie within it, with its key."""
    relations = Relations(universe)
    for coarse in universe.sub_tables:
        for fine in universe.sub_tables:
            if coarse is fine:
                continue
            covers = relations.of(coarse, fine)
            if covers is not None:
                yield from _differences(universe, coarse, fine, covers)


def _differences(
    universe: Universe, coarse: SubTable, fine: SubTable, covers: Sequence[Cover]
) -> Iterator[tuple[Derived, int]]:
    exact = universe.is_exact
    n = len(covers)
    rows, parts = spread(coarse, n), spread(fine, n)
    known = (parts >= 0) & exact[np.maximum(parts, 0)]
    safe = np.maximum(parts, 0)
    number = _down(known.astype(np.int64), covers)
    keys = np.where(known, universe.row_keys.view(np.int64)[safe], 0)
    sizes = np.where(known, _sizes(universe)[safe], 0)
    key_sum, size_sum = _down(keys, covers), _down(sizes, covers)
    wanted = (rows >= 0) & exact[np.maximum(rows, 0)] & (number > 0)
    left = _sizes(universe)[np.maximum(rows, 0)] - size_sum
    inside = _Inside(parts, known, covers)
    for place in np.argwhere(wanted & (left > 0)):
        at = tuple(place.tolist())
        row = int(rows[at])
        key = int(universe.row_keys.view(np.int64)[row]) - int(key_sum[at])
        yield _difference(universe, row, inside(at)), key % 2**64


def _down(array: IntArray, covers: Sequence[Cover]) -> IntArray:
    for axis, cover in enumerate(covers):
        array = summed(array, cover, axis)
    return array


def _sizes(universe: Universe) -> IntArray:
    """How many atoms each figure counts."""
    return np.diff(universe.matrix.indptr)


@dataclass(frozen=True, slots=True)
class _Inside:
    """The figures of a fine layer within one of a coarse one."""

    parts: IntArray
    known: BoolArray
    covers: Sequence[Cover]

    def __call__(self, at: tuple[int, ...]) -> IntArray:
        own = [
            cover.inside.indices[cover.inside.indptr[i] : cover.inside.indptr[i + 1]]
            for cover, i in zip(self.covers, at, strict=True)
        ]
        chosen = np.ix_(*own)
        return np.asarray(self.parts[chosen][self.known[chosen]])


def _difference(universe: Universe, row: int, parts: IntArray) -> Derived:
    value = int(universe.low[row] - universe.low[parts].sum())
    rows = (row, *parts.tolist())
    certificate = Certificate(
        rows=rows,
        weights=(1, *[-1] * len(parts)),
        denominator=1,
        value=value,
        is_equal=True,
    )
    atoms = np.setdiff1d(_atoms_of(universe, np.array([row])), _atoms_of(universe, parts))
    return Derived(atoms=atoms, value=value, above=certificate, below=certificate)


class _Cells:
    """Entries of crosses of parts in which all witnesses agree."""

    def __init__(
        self,
        known: Reduced,
        seen: Witnesses,
        exact: tuple[IntArray, IntArray] | None,
        told: _Told,
    ) -> None:
        self.known, self.seen, self.exact, self.told = known, seen, exact, told
        self.universe = known.universe
        self._same: dict[tuple[int, ...], BoolArray] = {}  # determined, shown or empty, by cross
        self._same_atoms = np.zeros(self.universe.n_atoms, dtype=np.bool_)
        self._listed: set[int] = set()  # keys of the candidates

    def explains(self, one: Derived) -> bool:
        """Whether the figure falls apart into atoms that are known singly and, where others are
        left, a figure that is shown or told."""
        known = self._same_atoms[one.atoms]
        rest = one.atoms[~known]
        if not len(rest):
            return len(one.atoms) > 1
        key = int(np.add.reduce(self.universe.keys[rest], dtype=np.uint64))
        return bool(known.any()) and (key in self.told.shown or key in self.told.derived)

    def found(self, clock: Clock, progress: Progress) -> tuple[list[Derived], tuple[int, ...]]:
        """The cells that follow, each proved, and the values of those that were not."""
        found = self._candidates(clock, progress)
        candidates = sorted(found, key=lambda one: (one.value, len(one.atoms)))
        proved: list[Derived] = []
        left: list[int] = []
        for number, one in enumerate(candidates):
            progress(PROOF, number / len(candidates))
            if clock.is_over:
                left += [other.value for other in candidates[number:]]
                break
            done = self._proved(one)
            if done is None:
                left.append(one.value)
            else:
                proved.append(done)
        return proved, tuple(left)

    def _candidates(self, clock: Clock, progress: Progress) -> Iterator[Derived]:
        yield from self._of_atoms()
        for axes in crosses_of(self.universe):
            yield from self._of_cross(axes, clock, progress)
        for sub in self.universe.sub_tables:
            yield from self._of_figures(sub, clock, progress)

    def _of_figures(self, sub: SubTable, clock: Clock, progress: Progress) -> Iterator[Derived]:
        """Figures of a table that are withheld or not exact, which may be of bands or groups: these
        are no entries of crosses of the finest parts."""
        u = self.universe
        rows = sub.rows[sub.rows >= 0]
        rows = rows[~u.is_shown[rows]]
        if not len(rows):
            return
        own = u.matrix[rows].tocoo()
        entry = np.full(u.n_atoms, len(rows), dtype=np.int64)  # those in no such figure are last
        entry[own.col] = own.row
        told = self.told.shown | set(self.told.derived)
        wanted = np.array([int(key) not in told for key in u.row_keys[rows]] + [False])
        low, high = self.seen.sums(entry, len(wanted))
        if np.any(wanted & (high - low < SAME)):
            self.seen.settle(entry, wanted & (high - low < SAME), clock, progress)
            low, high = self.seen.sums(entry, len(wanted))
        same = wanted & (high - low < SAME) & (np.abs(low - np.rint(low)) < SAME)
        for place in np.flatnonzero(same).tolist():
            one = Derived(atoms=np.flatnonzero(entry == place), value=round(float(low[place])))
            key = int(u.row_keys[rows[place]])
            if len(one.atoms) > 1 and key not in self._listed and not self.explains(one):
                self._listed.add(key)
                yield one

    def _of_atoms(self) -> Iterator[Derived]:
        """Atoms whose count is the same in every table."""
        low, high = self.seen.sums(np.arange(self.universe.n_atoms), self.universe.n_atoms)
        same = high - low < SAME
        if self.exact is not None:
            searched = self.exact[0] == self.exact[1]
            low = np.where(searched, self.exact[0], low)
            same = same | searched
        self._same_atoms = same
        zero = _zero_atoms(self.universe)
        for atom in np.flatnonzero(same & ~zero).tolist():
            key = int(self.universe.keys[atom])
            if key not in self.told.shown and key not in self.told.derived:
                yield Derived(atoms=np.array([atom]), value=round(float(low[atom])))

    def _of_cross(
        self, axes: tuple[int, ...], clock: Clock, progress: Progress
    ) -> Iterator[Derived]:
        """New entries of one cross; crosses come finest first."""
        entry = entries_of(self.universe, axes)
        n = len(entry.valid)
        shown = self._shown(axes).ravel() | self._empty(entry)
        explained = self._explained(axes).ravel()
        low, high = self.seen.sums(entry.of_atom, n)
        wanted = entry.valid & ~shown & ~explained & (high - low < SAME)
        if wanted.any() and len(axes) < len(self.universe.shape):
            self.seen.settle(entry.of_atom, wanted, clock, progress)
            low, high = self.seen.sums(entry.of_atom, n)
        same = entry.valid & (high - low < SAME) & (np.abs(low - np.rint(low)) < SAME)
        own = tuple(self.universe.shape[a] for a in axes)
        self._same[axes] = (same | shown).reshape(own)
        for place in np.flatnonzero(same & ~shown & ~explained).tolist():
            atoms = entry.atoms(place)
            if len(atoms) == 1:
                continue  # told as an atom
            key = int(np.add.reduce(self.universe.keys[atoms], dtype=np.uint64))
            if key not in self.told.shown and key not in self.told.derived:
                self._listed.add(key)
                yield Derived(atoms=atoms, value=round(float(low[place])))

    def _empty(self, entry: Entries) -> BoolArray:
        """Entries that lie within printed zeros."""
        zero = _zero_atoms(self.universe)
        others = np.bincount(entry.of_atom[~zero], minlength=len(entry.valid))
        return np.asarray(entry.valid & (others == 0))

    def _shown(self, axes: tuple[int, ...]) -> BoolArray:
        """Entries that are sums of exact figures of one layer of a table."""
        u = self.universe
        relations = Relations(u)
        layers = tuple(
            Layer(
                domain=a,
                labels=u.domains[a].parts,
                holds=np.eye(u.shape[a], dtype=np.bool_),
            )
            for a in axes
        )
        shape = tuple(u.shape[a] for a in axes)
        cross = SubTable(table=-1, layers=layers, rows=np.zeros(shape, dtype=np.int64))
        found = np.zeros([u.shape[a] if a in axes else 1 for a in range(len(u.shape))], np.bool_)
        for fine in u.sub_tables:
            covers = relations.of(cross, fine)
            if covers is None:
                continue
            parts = spread(fine, len(covers))
            known = (parts >= 0) & u.is_shown[np.maximum(parts, 0)]
            needed, whole = _needed(covers)
            found |= whole & (_down(known.astype(np.int64), covers) == needed)
        return found.reshape(shape)

    def _explained(self, axes: tuple[int, ...]) -> BoolArray:
        """Entries all of whose parts by one more variable are known."""
        shape = tuple(self.universe.shape[a] for a in axes)
        found = np.zeros(shape, dtype=np.bool_)
        for more in range(len(self.universe.shape)):
            finer = tuple(sorted((*axes, more)))
            if more not in axes and finer in self._same:
                found |= self._same[finer].all(axis=finer.index(more))
        return found

    def _proved(self, one: Derived) -> Derived | None:
        """The figure with its proofs; None where no argument was found."""
        searched = False
        if self.exact is not None and len(one.atoms) == 1:
            atom = int(one.atoms[0])
            searched = bool(self.exact[0][atom] == self.exact[1][atom] == one.value)
        above = self._argument(at_most, one)
        below = above if above is not None and self._is_equation(above, one.value) else None
        below = below or self._argument(at_least, one)
        if above is not None and below is not None:
            return Derived(atoms=one.atoms, value=one.value, above=above, below=below)
        if searched or self._all_listed(one):
            return Derived(atoms=one.atoms, value=one.value)
        return None

    def _argument(self, prove: Prove, one: Derived) -> Certificate | None:
        """A certificate by all figures near the cells, which is short; or by those that are not
        implied, which hold less of what is far away."""
        found = prove(self.known.ranges, one.atoms, one.value)
        if found is not None:
            return found
        kept = self.known.kept
        found = prove(self.known.kept_ranges, one.atoms, one.value)
        return (
            None if found is None else replace(found, rows=tuple(kept[list(found.rows)].tolist()))
        )

    def _is_equation(self, above: Certificate, value: int) -> bool:
        """Whether exact figures make up the sum, so that they prove both sides."""
        n = self.universe.n_figures
        plain = max(above.rows, default=0) < n  # a moment is no sum of persons
        exact = plain and bool(self.universe.is_exact[list(above.rows)].all())
        return exact and above.is_equal and above.denominator == 1 and above.value == value

    def _all_listed(self, one: Derived) -> bool:
        """Whether all tables of the blocks that it touches were listed and agree."""
        block_of = self.known.block_of[one.atoms]
        if np.any(block_of == -2):
            return False
        total = 0
        for number in np.unique(block_of[block_of >= 0]).tolist():
            view = self.seen.views[number]
            if not view.is_listed:
                return False
            inside = np.isin(self._atoms_of(view.block.columns), one.atoms)
            sums = [int(point[inside].sum()) for point in view.points]
            if min(sums) != max(sums):
                return False
            total += sums[0]
        lower, _ = self.known.limits()
        return total + int(lower[one.atoms[block_of == -1]].sum()) == one.value

    def _atoms_of(self, columns: IntArray) -> IntArray:
        """The atoms of columns of the system, −1 for slacks."""
        n = self.known.system.n_named
        inside = np.minimum(columns, n - 1)
        return np.where(columns < n, self.known.limited[inside], -1)


def _needed(covers: Sequence[Cover]) -> tuple[IntArray, BoolArray]:
    """How many fine figures make up each coarse one, and which are made up of them."""
    needed = np.ones((1,) * len(covers), dtype=np.int64)
    whole = np.ones((1,) * len(covers), dtype=np.bool_)
    for axis, cover in enumerate(covers):
        along = [1] * len(covers)
        along[axis] = -1
        needed = needed * np.diff(cover.inside.indptr).reshape(along)
        whole = whole & cover.whole.reshape(along)
    return needed, whole
