"""Margins of a table of several variables, as statements about its cells."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np

from discreet.errors import InputError, must_be
from discreet.fiber.system.linear_system import Statement
from discreet.numerics.arrays import IntArray, read_only
from discreet.numerics.bit_sets import maximal_sets, set_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Margins:
    """Released margins of one table, in which no margin is implied by another.

    `tables` maps positions of variables, ascending, to the dense margin whose axes they are.
    Cells of the full table are numbered in C order (the last variable moves fastest), and the full
    table need never be built: `sizes` alone says how large it is.
    """

    sizes: tuple[int, ...]
    names: tuple[str, ...]
    tables: Mapping[tuple[int, ...], IntArray]

    def __post_init__(self) -> None:
        if len(self.names) != len(self.sizes):
            rule = f"one for each of the {len(self.sizes)} variables"
            raise InputError(must_be("names", rule, len(self.names)))
        for axes, table in self.tables.items():
            inside = all(0 <= axis < len(self.sizes) for axis in axes)
            if not inside or list(axes) != sorted(set(axes)):
                rule = f"over ascending variables 0 to {len(self.sizes) - 1}"
                raise InputError(must_be("margins", rule, axes))
            read_only(table)

    @property
    def n_cells(self) -> int:
        """Cells of the full table."""
        return prod(self.sizes)

    @property
    def total(self) -> int:
        """Records in the table."""
        return int(next(iter(self.tables.values())).sum())

    def statements(self) -> list[Statement]:
        """One statement for each entry of each margin; builds the full table's cell numbers."""
        cells = np.arange(self.n_cells, dtype=np.int64).reshape(self.sizes)
        found: list[Statement] = []
        for axes, table in self.tables.items():
            others = [axis for axis in range(len(self.sizes)) if axis not in axes]
            groups = cells.transpose([*axes, *others]).reshape(table.size, -1)
            for i, (group, value) in enumerate(zip(groups, table.ravel(), strict=True)):
                name = self.entry_name(axes, i)
                found.append(Statement(cells=group, low=int(value), high=int(value), name=name))
        return found

    def entry_name(self, axes: tuple[int, ...], entry: int) -> str:
        """What to call an entry of a margin: its variables and the positions of its levels."""
        shape = tuple(self.sizes[axis] for axis in axes)
        levels = np.unravel_index(entry, shape) if axes else ()
        inside = ", ".join(f"{self.names[a]} {int(v)}" for a, v in zip(axes, levels, strict=True))
        return f"margin [{inside}]" if inside else "total"


def margins_of(
    table: IntArray, released: Iterable[Sequence[int]], names: Sequence[str] | None = None
) -> Margins:
    """The margins of a known table over the given sets of variables, implied ones left out.

    The total is the margin over no variable, and the least that can be released.
    """
    wanted = maximal(tuple(sorted(set(axes))) for axes in released) or ((),)
    for axes in wanted:
        if axes and not 0 <= axes[0] <= axes[-1] < table.ndim:
            rule = f"sets of variables 0 to {table.ndim - 1}"
            raise InputError(must_be("margins", rule, axes))
    others = {axes: tuple(i for i in range(table.ndim) if i not in axes) for axes in wanted}
    return Margins(
        sizes=table.shape,
        names=tuple(names or (f"v{i}" for i in range(table.ndim))),
        tables={axes: np.asarray(table.sum(axis=rest)) for axes, rest in others.items()},
    )


def maximal(sets: Iterable[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """The sets that lie in no other one, in ascending order."""
    kept = set(maximal_sets(map(set_of, unique := set(sets))))
    return tuple(sorted(axes for axes in unique if set_of(axes) in kept))


def all_margins(n_variables: int, order: int) -> tuple[tuple[int, ...], ...]:
    """All sets of `order` variables."""
    return tuple(combinations(range(n_variables), order))
