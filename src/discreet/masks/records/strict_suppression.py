"""Little suppression after which at least k released records show each pattern.

Records that are to show one pattern lose the same keys and agree on all others: they are a group,
given by a set of keys and by values of the rest. So what is sought is a cover of the records that
stand out by groups of at least k, at the least price: set cover, which is hard. The groups are
taken by what they cost for each record that they help:

- A group of k open records costs its set of keys for each of them. Among groups of one price a
  record that fits one alone says which to take; it takes with it as few others as make up k, since
  these help other groups to become large enough. Then whoever fits a group that is there joins it,
  and of the rest the set of keys goes first that helps most.
- A group of t < k open records is made up to k by *donors*, records of cells that have more than k,
  which lose the same values: it costs k/t times as much.
- What is left in the end joins a pattern that is there, which loses what they differ in; and where
  none fits, it loses all values that it may, together with the smallest cells that make up for what
  it lacks.

No choice can do with less than the least suppression after which every record *fits* k original
ones, which is found exactly; it is the bound that comes with the result. On the files that this was
tried on the price was 4 to 15 % above it.

Cost: a few groupings of the open cells for each set of keys, as long as cells are open.
"""

import heapq
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby

import numpy as np

from discreet.figures import How
from discreet.masks.records.candidate_suppression import suppressed_to_candidates
from discreet.masks.records.suppression import (
    Problem,
    Suppression,
    distinct_values,
    joined_pieces,
    keys_in,
)
from discreet.masks.records.widening import Pieces, with_the_rest_joined
from discreet.numerics.arrays import BoolArray, IntArray
from discreet.progress import Progress, silent

ALIKE = 9  # digits of a price by which prices are told apart
FEW_KEYS = 12  # up to which every set of keys is looked at
MOST_LOOKS, LEAST_SETS = 12_000_000, 500  # cells times sets, beyond that many keys
MOST_SETS = 5_000  # sets of keys that are looked at; all there are of up to 12 keys
FEW = 6  # records wanted together, up to which groups of every smaller size are looked at
SHARES = (1.0, 0.85, 0.7, 0.5, 0.35, 0.2, 0.0)  # of those wanted, that are looked at beyond


def most_sets_of(problem: Problem) -> int:
    """How many sets of keys are looked at: fewer where there are many keys and many cells."""
    if problem.n_keys <= FEW_KEYS:
        return MOST_SETS
    return max(min(MOST_SETS, MOST_LOOKS // max(len(problem.records), 1)), LEAST_SETS)


def suppressed_strictly(problem: Problem, progress: Progress = silent) -> Suppression:
    """Suppression after which each pattern is shown by k records with enough different sensitive
    values."""
    problem = replace(problem, most_sets=min(problem.most_sets, most_sets_of(problem)))
    search = _Search(problem)
    n_open, steps = max(len(search.waiting), 1), 0
    for size, masks in _steps(problem):
        if not len(search.waiting):
            break
        steps += len(masks)
        progress("looking for values to suppress", 1 - len(search.waiting) / n_open)
        if size == problem.k:
            search.form_groups(masks)
        else:
            search.form_with_donors(masks, size)
    search.join_what_is_there()
    search.add_whole_cells()
    floor = suppressed_to_candidates(problem)
    cell, without, records = joined_pieces(search.pieces())
    return Suppression(
        cell=cell,
        without=without,
        records=records,
        how=How.BOUND,
        least=floor.least,
        left=int(problem.records[search.waiting].sum()),
        steps=steps + floor.steps,
    )


def with_all_keys_gone(problem: Problem) -> Suppression:
    """All keys of the records that stand out are taken out, and of as many more as they need to be
    k together."""
    search = _Search(problem)
    search.add_whole_cells()
    cell, without, records = joined_pieces(search.pieces())
    return Suppression(
        cell=cell,
        without=without,
        records=records,
        how=How.BOUND,
        least=0.0 if len(search.waiting) else _price_of_whole(problem),
        left=int(problem.records[search.waiting].sum()),
    )


def _price_of_whole(problem: Problem) -> float:
    """What it costs at least where whoever stands out loses all that may be taken out."""
    free = problem.free
    return float(problem.cost[free].sum() * problem.records[problem.stands_out].sum())


def _steps(problem: Problem) -> Iterator[tuple[int, list[int]]]:
    """Which sets of keys to look at next, for open groups of which size: by the price of a record
    that is helped, dearer sets with large groups before cheaper ones with donors."""
    levels = (
        (cost, [mask for _, mask in sets])
        for cost, sets in groupby(problem.sets(), key=lambda pair: round(pair[0], ALIKE))
    )
    sizes = _group_sizes(problem)
    heap: list[tuple[float, float, int, list[int]]] = []
    coming = next(levels, None)
    while heap or coming is not None:
        while coming is not None and (not heap or coming[0] <= heap[0][0]):
            cost, masks = coming
            heapq.heappush(heap, (cost, -cost, 0, masks))
            coming = next(levels, None)
        _, minus_cost, place, masks = heapq.heappop(heap)
        yield sizes[place], masks
        if place + 1 < len(sizes):  # with donors it costs more for each open record
            price = round(-minus_cost * problem.k / sizes[place + 1], ALIKE)
            heapq.heappush(heap, (price, minus_cost, place + 1, masks))


def _group_sizes(problem: Problem) -> list[int]:
    """Open records that a group must have: k, and with donors fewer."""
    k = problem.k
    if problem.values:  # records of one cell may have any sensitive value, so none are split off
        return [k]
    if k <= FEW:
        return list(range(k, 0, -1))
    return sorted({max(round(k * share), 1) for share in SHARES}, reverse=True)


@dataclass(slots=True)
class _Groups:
    """The open cells by what they are without a set of keys: the code of each group, the group of
    each open cell, the open records of each group, and whether the group is there already."""

    codes: IntArray
    of: IntArray
    size: IntArray
    formed: BoolArray


@dataclass(slots=True)
class _Search:
    """What is decided so far.

    Invariant: every pattern in `formed` is shown by k records with enough sensitive values, and a
    cell that gave records away still has k.
    """

    problem: Problem
    waiting: IntArray = field(init=False)
    without: IntArray = field(init=False)
    donors: IntArray = field(init=False)  # cells that have records to spare, and how many
    spare: IntArray = field(init=False)
    used: IntArray = field(init=False)  # values taken out of each key
    given: list[tuple[int, int, int]] = field(default_factory=list)  # cell, mask, records
    formed: dict[int, IntArray] = field(default_factory=dict)  # codes of patterns that are there

    def __post_init__(self) -> None:
        problem = self.problem
        self.waiting = np.flatnonzero(problem.stands_out)
        self.without = np.zeros(len(problem.records), dtype=np.int64)
        rich = ~problem.stands_out & (problem.records > problem.k)
        self.donors = np.flatnonzero(rich)
        self.spare = problem.records[self.donors] - problem.k
        self.used = np.zeros(problem.n_keys, dtype=np.int64)

    def form_groups(self, masks: list[int]) -> None:
        """Groups of open records alone, of sets of keys at one price."""
        options = np.zeros(len(self.problem.records), dtype=np.int64)
        for mask in masks:
            groups = self._groups(mask)
            options[self.waiting] += (self._enough(groups) | groups.formed)[groups.of]
        if not options[self.waiting].any():
            return
        for mask in masks:
            self._take_what_fits_nowhere_else(mask, options)
        self._join(masks)
        self._take_the_largest(masks)

    def form_with_donors(self, masks: list[int], size: int) -> None:
        """Groups of at least so many open records, made up to k by those that others can spare."""
        for mask in masks:
            if not len(self.waiting):
                return
            groups = self._groups(mask)
            lacking = np.where(groups.formed, 0, np.maximum(self.problem.k - groups.size, 0))
            wanted = groups.formed | (groups.size >= size)
            if wanted.any():
                found = self._made_up(mask, groups, wanted, lacking)
                self._taken(mask, groups, found, found[groups.of])

    def join_what_is_there(self) -> None:
        """Whoever is left joins a pattern that is made wider for that."""
        if not len(self.waiting):
            return
        cell, without, records = map(np.concatenate, zip(*self.pieces(), strict=True))
        n_cells = len(self.without)
        rest = np.zeros(len(cell), dtype=np.bool_)
        rest[self.waiting] = True
        found = with_the_rest_joined(self.problem, Pieces(cell, without, records, rest), self.used)
        self.without = found.without[:n_cells]
        self.given = [
            (own, int(mask), n)
            for (own, _, n), mask in zip(self.given, found.without[n_cells:], strict=True)
        ]
        self.waiting = np.flatnonzero(found.rest)

    def add_whole_cells(self) -> None:
        """Whoever is left loses all values that may be lost, together with as many of the smallest
        cells as it takes; who cannot be helped so stays."""
        free = self.problem.free
        mask = sum(1 << key for key in free)
        if not len(self.waiting) or not mask:
            return
        groups, codes = self._groups(mask), self.problem.codes(mask)
        gave = {cell for cell, _, _ in self.given}
        sizes = self.problem.records
        helped = np.zeros(len(groups.codes), dtype=np.bool_)
        for group, code in enumerate(groups.codes):
            own = self.waiting[groups.of == group]
            others = np.flatnonzero((codes == code) & (self.without == 0))
            others = np.setdiff1d(others, own)
            by_size = others[np.argsort(sizes[others], kind="stable")]
            joining = [int(cell) for cell in by_size if int(cell) not in gave]
            added = self._fewest(own, joining, formed=bool(groups.formed[group]))
            if added is not None and self._has_room(mask, int(sizes[[*own, *added]].sum())):
                helped[group] = True
                self.without[added] = mask
                self.used[keys_in(mask)] += int(sizes[added].sum())
        self._take(mask, groups, helped)

    def pieces(self) -> list[tuple[IntArray, IntArray, IntArray]]:
        """Cells, masks and records: those of each cell, less what it gave, and what was given."""
        kept = self.problem.records.copy()
        cells = np.arange(len(kept))
        if not self.given:
            return [(cells, self.without, kept)]
        given = np.array(self.given, dtype=np.int64)
        np.subtract.at(kept, given[:, 0], given[:, 2])
        return [(cells, self.without, kept), (given[:, 0], given[:, 1], given[:, 2])]

    def _groups(self, mask: int) -> _Groups:
        codes = self.problem.codes(mask, self.waiting)
        distinct, of = np.unique(codes, return_inverse=True)
        size = np.bincount(of, weights=self.problem.records[self.waiting], minlength=len(distinct))
        formed = np.zeros(len(distinct), dtype=np.bool_)
        if mask in self.formed:
            formed = np.isin(distinct, self.formed[mask])
        return _Groups(distinct, of, size.astype(np.int64), formed)

    def _enough(self, groups: _Groups) -> BoolArray:
        """Which groups of open records can stand by themselves."""
        enough: BoolArray = groups.size >= self.problem.k
        for values in self.problem.values:
            of_cell = np.full(len(self.problem.records), -1)
            of_cell[self.waiting] = groups.of
            enough &= distinct_values(values, of_cell, len(groups.codes)) >= values.least
        return enough

    def _take_what_fits_nowhere_else(self, mask: int, options: IntArray) -> None:
        """The groups that hold a cell with no other group at this price: these cells, and as many
        of those with the fewest others as make up k."""
        if not len(self.waiting):
            return
        groups = self._groups(mask)
        alone = options[self.waiting] == 1
        needed = np.bincount(groups.of, weights=alone, minlength=len(groups.codes)) > 0
        needed &= self._enough(groups) | groups.formed
        if not needed.any():
            return
        taken = needed[groups.of]
        if not self.problem.values:
            order = np.lexsort((options[self.waiting], groups.of))
            before = np.empty(len(order), dtype=np.int64)
            before[order] = _before_in_group(groups.of[order], self._sizes()[order])
            fills = (before < self.problem.k) & ~groups.formed[groups.of]
            taken &= alone | fills
        self._take(mask, groups, needed, taken)

    def _join(self, masks: list[int]) -> None:
        """Open cells that fit a pattern that is there."""
        for mask in masks:
            if mask in self.formed and len(self.waiting):
                groups = self._groups(mask)
                if groups.formed.any():
                    self._take(mask, groups, groups.formed)

    def _take_the_largest(self, masks: list[int]) -> None:
        """Groups of open records, of that set of keys first that helps most of them.

        How many a set helps only shrinks, so sets are looked at in the order of what they helped
        when they were last looked at, and taken if none before could help more.
        """
        heap = [(0, place, mask, False) for place, mask in enumerate(masks)]
        while heap and len(self.waiting):
            _, place, mask, fresh = heapq.heappop(heap)
            groups = self._groups(mask)
            enough = self._enough(groups) | groups.formed
            helps = int(groups.size[enough].sum())
            if not helps:
                continue
            if fresh and (not heap or helps >= -heap[0][0]):
                self._take(mask, groups, enough)
            elif self._has_room(mask, 1):
                heapq.heappush(heap, (-helps, place, mask, True))

    def _made_up(
        self, mask: int, groups: _Groups, wanted: BoolArray, lacking: IntArray
    ) -> BoolArray:
        """The groups among those wanted that have enough donors, which give what is lacking."""
        found: BoolArray = wanted & (lacking == 0)
        room = self._room(mask)
        found &= np.cumsum(np.where(found, groups.size, 0)) <= room
        room -= int(groups.size[found].sum())
        codes = self.problem.codes(mask, self.donors)
        able = np.flatnonzero(np.isin(codes, groups.codes[wanted & (lacking > 0)]))
        able = able[self.spare[able] > 0]
        if not len(able):
            return found
        by_code: dict[int, list[int]] = {}
        for donor in able[np.argsort(-self.spare[able], kind="stable")]:
            by_code.setdefault(int(codes[donor]), []).append(int(donor))
        given = np.isin(groups.codes, codes[able])
        for group in np.flatnonzero(wanted & (lacking > 0) & given):
            donors = by_code[int(groups.codes[group])]
            need = int(lacking[group])
            if int(self.spare[donors].sum()) < need or room < self.problem.k:
                continue
            found[group] = True
            room -= self.problem.k
            for donor in donors:
                records = min(need, int(self.spare[donor]))
                if records:
                    self.spare[donor] -= records
                    self.given.append((int(self.donors[donor]), mask, records))
                    self.used[keys_in(mask)] += records
                    need -= records
        return found

    def _take(
        self, mask: int, groups: _Groups, which: BoolArray, cells: BoolArray | None = None
    ) -> None:
        """The open cells of these groups (or those of them in `cells`) lose the keys."""
        taken = which[groups.of] if cells is None else cells
        if self.problem.most is not None:
            which, taken = self._within_limits(mask, groups, which, taken)
        self._taken(mask, groups, which, taken)

    def _taken(self, mask: int, groups: _Groups, which: BoolArray, taken: BoolArray) -> None:
        """The same, of groups that are known to be within the limits."""
        self.without[self.waiting[taken]] = mask
        self.used[keys_in(mask)] += int(self._sizes()[taken].sum())
        self.waiting = self.waiting[~taken]
        known = self.formed.get(mask, np.zeros(0, dtype=np.int64))
        self.formed[mask] = np.union1d(known, groups.codes[which])

    def _within_limits(
        self, mask: int, groups: _Groups, which: BoolArray, taken: BoolArray
    ) -> tuple[BoolArray, BoolArray]:
        """As many of the groups, the largest first, as the keys may lose values for; whole groups,
        as a part of one might be fewer than k."""
        room = self._room(mask)
        sizes = np.bincount(groups.of, weights=self._sizes() * taken, minlength=len(groups.codes))
        order = np.argsort(-sizes, kind="stable")
        order = order[which[order]]
        kept = np.zeros(len(which), dtype=np.bool_)
        kept[order[np.cumsum(sizes[order]) <= room]] = True
        return kept, taken & kept[groups.of]

    def _room(self, mask: int) -> float:
        """How many records may still lose these keys."""
        most = self.problem.most
        if most is None:
            return np.inf
        rooms = [most[key] - self.used[key] for key in keys_in(mask) if most[key] >= 0]
        return float(min(rooms, default=np.inf))

    def _has_room(self, mask: int, records: int) -> bool:
        return self._room(mask) >= records

    def _sizes(self) -> IntArray:
        sizes: IntArray = self.problem.records[self.waiting]
        return sizes

    def _fewest(self, own: IntArray, others: list[int], *, formed: bool) -> list[int] | None:
        """As many of the other cells, in their order, as make a group stand; None if none do."""
        if formed:
            return []

        def stands(n: int) -> bool:
            cells = np.array([*own, *others[:n]], dtype=np.int64)
            enough = self.problem.records[cells].sum() >= self.problem.k
            return bool(enough) and self._is_diverse(cells)

        if not stands(len(others)):
            return None
        return others[: bisect_left(range(len(others)), True, key=stands)]  # more never harm

    def _is_diverse(self, cells: IntArray) -> bool:
        """Whether some cells together have enough different sensitive values."""
        of_cell = np.full(len(self.problem.records), -1)
        of_cell[cells] = 0
        return all(distinct_values(v, of_cell, 1)[0] >= v.least for v in self.problem.values)


def _before_in_group(group: IntArray, sizes: IntArray) -> IntArray:
    """For rows in the order of their groups: the records of the rows before, in the same group."""
    reached = np.cumsum(sizes)
    first = np.flatnonzero(np.r_[True, group[1:] != group[:-1]])
    start = (reached - sizes)[first]
    return reached - sizes - np.repeat(start, np.diff(np.r_[first, len(group)]))
