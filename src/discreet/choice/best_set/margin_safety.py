"""Whether a set of margins keeps every small cell's bounds wide, decided as cheaply as can be.

More margins never widen a bound. So what is part of a safe set is safe, and what holds an unsafe
one is unsafe: each verdict settles many others. A set that is decomposable is read off in closed
form; any other is split into components, which are walked in for counts that are attained and
shuttled for limits that are valid, before integer programming is asked about what is left.
"""

from collections.abc import Iterable
from enum import Enum

import numpy as np

from discreet.choice.best_set.component_range import ComponentRange
from discreet.choice.best_set.small_cells import SmallCells
from discreet.clock import work
from discreet.fiber.bounds.cell_bounds import bounds
from discreet.fiber.system.margins import Margins
from discreet.fiber.system.programs import Deadline
from discreet.numerics.arrays import BoolArray, IntArray
from discreet.numerics.bit_sets import (
    all_within,
    axes_of,
    maximal_sets,
    members,
    set_of,
)
from discreet.numerics.graphs import JunctionTree, components_tree

EFFORTS = (("blocks", 60), ("moves", 50), ("blocks", 400), ("blocks", 3000), ("moves", 4000))
MOST_PROGRAMMED = 2**12  # cells of a component that integer programs are tried on
MOST_TABLE = 2**17  # cells of the table itself
FAMILY_SECONDS, CELL_SECONDS = 1e-4, 1e-8  # to judge a set by margin, for each small cell
LOOK_SECONDS = 2e-6  # to compare a set with one that was judged
MOST_RANGES = 2000  # components whose ranges are kept


class Safety(Enum):
    """Whether every small cell keeps bounds of the asked width."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    UNKNOWN = "not settled in the time given"


class Widths:
    """The least and the greatest width that each small cell's bounds can have, as far as known."""

    def __init__(self, seen: IntArray, valid: IntArray) -> None:
        self.seen, self.valid = seen, valid

    def verdict(self, least: int) -> Safety:
        """What the widths prove."""
        if (self.valid < least).any():
            return Safety.UNSAFE
        return Safety.SAFE if (self.seen >= least).all() else Safety.UNKNOWN

    def doubtful(self, least: int) -> BoolArray:
        """The small cells that are not settled."""
        found: BoolArray = (self.seen < least) & (self.valid >= least)
        return found


class Judge:
    """Verdicts on sets of margins, released together with those that are already out."""

    def __init__(
        self,
        cells: SmallCells,
        min_width: int,
        already: Iterable[int],
        deadline: Deadline,
        *,
        seconds_each: float = 2.0,
        least_printed: int = 1,
    ) -> None:
        self.cells, self.min_width = cells, min_width
        self._least = max(min_width, least_printed)  # that a margin may show at a small cell
        self.already = maximal_sets(already)
        self.seconds_each = seconds_each
        self.n_judged = 0
        self._deadline = deadline
        self._known: dict[tuple[int, ...], Safety] = {}
        self._safe: list[tuple[int, ...]] = []
        self._unsafe: list[tuple[int, ...]] = []
        self._ranges: dict[tuple[int, tuple[int, ...]], ComponentRange] = {}

    def __call__(self, sets: Iterable[int]) -> Safety:
        """Whether these margins and those already out are safe together."""
        family = self.family(sets)
        work(LOOK_SECONDS * (1 + len(self._safe) + len(self._unsafe)))
        found = self._known.get(family) or self._implied(family)
        if found is None:
            found = self._judged(family)
            self._remember(family, found)
        self._known[family] = found
        return found

    def alone(self, variables: int) -> Safety:
        """Whether one margin is safe with those already out."""
        return self([variables])

    def family(self, sets: Iterable[int]) -> tuple[int, ...]:
        """All that is then out: these margins with those already out, none part of another."""
        return maximal_sets([0, *self.already, *sets])

    def _implied(self, family: tuple[int, ...]) -> Safety | None:
        if len(self.cells) == 0:
            return Safety.SAFE
        if any(self.cells.least(one) < self._least for one in family):
            return Safety.UNSAFE
        if len(family) == 1:
            return Safety.SAFE if self.cells.varying & ~family[0] else Safety.UNSAFE
        if any(all_within(family, larger) for larger in reversed(self._safe)):
            return Safety.SAFE
        if any(all_within(smaller, family) for smaller in reversed(self._unsafe)):
            return Safety.UNSAFE
        return None

    def _remember(self, family: tuple[int, ...], found: Safety) -> None:
        if found is Safety.SAFE:
            self._safe = [one for one in self._safe if not all_within(one, family)]
            self._safe.append(family)
        if found is Safety.UNSAFE:
            self._unsafe = [one for one in self._unsafe if not all_within(family, one)]
            self._unsafe.append(family)

    def _judged(self, family: tuple[int, ...]) -> Safety:
        self.n_judged += 1
        work(FAMILY_SECONDS * (1 + len(family)) + CELL_SECONDS * len(family) * len(self.cells))
        if any(not self._fits(one) for one in hidden_cliques(family)):
            return Safety.UNKNOWN
        tree = components_tree(map(axes_of, family))
        limit = Deadline(self._deadline.left(self.seconds_each))
        widths = self.widths(family, tree, limit)
        found = widths.verdict(self.min_width)
        if found is Safety.UNKNOWN and not limit.passed:
            parts = self._parts(family, tree).values()
            if all(len(part.least) <= MOST_PROGRAMMED for part in parts):
                return self._by_programming(family, widths, limit)
        return found

    def widths(self, family: tuple[int, ...], tree: JunctionTree, limit: Deadline) -> Widths:
        """Widths by closed form, shuttle and walk; no more work is done on settled cells."""
        parts = self._parts(family, tree)
        found = self._combined(family, tree, parts, limit)
        for kind, effort in EFFORTS:
            doubtful = np.flatnonzero(found.doubtful(self.min_width))
            settled = found.verdict(self.min_width) is not Safety.UNKNOWN
            if settled or limit.passed or not parts:
                break
            for part in parts.values():
                if kind == "blocks":
                    part.push_by_blocks(doubtful, effort, self.min_width, limit)
                else:
                    part.push(doubtful, effort, limit)
            found = self._combined(family, tree, parts, limit)
        return found

    def _parts(self, family: tuple[int, ...], tree: JunctionTree) -> dict[int, ComponentRange]:
        """The ranges of the components that are not released themselves and can be built."""
        hidden = (
            set_of(axes)
            for axes, released in zip(tree.components, tree.released, strict=True)
            if not released
        )
        return {one: self._range(family, one) for one in hidden if self._fits(one)}

    def _fits(self, component: int) -> bool:
        return ComponentRange.fits(self.cells.table, component)

    def _range(self, family: tuple[int, ...], component: int) -> ComponentRange:
        key = (component, maximal_sets(one & component for one in family))
        if key not in self._ranges:
            if len(self._ranges) >= MOST_RANGES:
                self._ranges.clear()
            self._ranges[key] = ComponentRange(self.cells.table, self.cells.levels, *key)
        return self._ranges[key]

    def _combined(
        self,
        family: tuple[int, ...],
        tree: JunctionTree,
        parts: dict[int, ComponentRange],
        limit: Deadline,
    ) -> Widths:
        """upper = min U_p, lower = max(0, Σ L_p − Σ separators), both as seen and as valid."""
        zero = np.zeros(len(self.cells), dtype=np.int64)
        total = np.full(len(self.cells), self.cells.table.total, dtype=np.int64)
        low_seen, low_valid, up_seen, up_valid = zero.copy(), zero.copy(), total, total.copy()
        for axes in tree.components:
            entries = self._component_entries(family, set_of(axes), parts, limit)
            low_seen, low_valid = low_seen + entries[0], low_valid + entries[1]
            up_seen, up_valid = np.minimum(up_seen, entries[2]), np.minimum(up_valid, entries[3])
        for axes in tree.separators[1:]:
            low_seen = low_seen - self.cells.entries(set_of(axes))
            low_valid = low_valid - self.cells.entries(set_of(axes))
        if self.cells.varying & ~_union(family):
            low_seen, low_valid = zero, zero
        seen = up_seen - np.maximum(low_seen, 0)
        return Widths(seen, up_valid - np.maximum(low_valid, 0))

    def _component_entries(
        self, family: tuple[int, ...], own: int, parts: dict[int, ComponentRange], limit: Deadline
    ) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Of a component: lower as seen and valid, upper as seen and valid, at each small cell."""
        truth = self.cells.entries(own)
        if own in family:
            return truth, truth, truth, truth
        if own in parts:
            part = parts[own]
            lower, upper = part.limits(limit)
            at = part.cells
            return part.least[at], lower[at], part.most[at], upper[at]
        pieces = [self.cells.entries(one & own) for one in family if one & own]
        upper = np.minimum.reduce(pieces)
        return truth, np.zeros_like(truth), truth, upper

    def _by_programming(self, family: tuple[int, ...], widths: Widths, limit: Deadline) -> Safety:
        """Integer programs for the cells in doubt, the narrowest first, a few at a time."""
        table = self.cells.table
        if table.n_cells > MOST_TABLE:
            return Safety.UNKNOWN
        doubtful = np.flatnonzero(widths.doubtful(self.min_width))
        order = doubtful[np.argsort(widths.seen[doubtful], kind="stable")]
        margins, truth = self.margins(family), table.dense()
        start, size, open_left = 0, 1, False
        while start < len(order):
            rows = order[start : start + size]
            levels = self.cells.levels[rows]
            left = limit.left(self.seconds_each)
            if left <= 0:
                return Safety.UNKNOWN
            found = bounds(margins, cells=levels, tables=(truth,), time_limit=left)
            wide = found.upper - found.lower >= self.min_width
            if not wide.all():
                return Safety.UNSAFE
            open_left |= not bool(found.exact.all())
            start, size = start + size, size * 4
        return Safety.UNKNOWN if open_left else Safety.SAFE

    def margins(self, family: Iterable[int]) -> Margins:
        """The margins of the table over these sets of variables."""
        table = self.cells.table
        return Margins(
            sizes=table.sizes,
            names=table.names,
            tables={axes_of(one): table.margin(axes_of(one)) for one in family},
        )


def _union(family: tuple[int, ...]) -> int:
    found = 0
    for one in family:
        found |= one
    return found


def hidden_cliques(family: tuple[int, ...]) -> list[int]:
    """Cliques of the margins' graph made chordal that are no part of a margin.

    Variables are taken away one by one, the least joined first, their neighbours being joined. None
    is left where the set is graphical and decomposable.
    """
    near: dict[int, int] = {}
    for one in family:
        for v in members(one):
            near[v] = near.get(v, 0) | one
    found: list[int] = []
    while near:
        v = min(near, key=lambda u: near[u].bit_count())
        clique = near.pop(v)
        if not any(clique & ~one == 0 for one in family):
            found.append(clique)
        for u in members(clique & ~(1 << v)):
            near[u] = (near[u] | clique) & ~(1 << v)
    return found
