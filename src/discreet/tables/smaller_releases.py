"""What could go out instead of a release that may not: one margin or one variable less."""

from collections.abc import Callable, Iterator, Sequence
from math import prod

from discreet.data.table import Table
from discreet.fiber.system.margins import maximal

Axes = tuple[int, ...]
Sets = tuple[Axes, ...]
MOST_TRIED = 40  # smaller releases that are judged


def first_allowed(
    table: Table, sets: Sequence[Axes], allows: Callable[[Sets], bool]
) -> tuple[tuple[str, ...], ...]:
    """The names of the largest smaller release that is allowed; none where none was found.

    Tried in turn, by the number of figures: without one margin, without one variable in one margin
    or in all, and each margin by itself with variables left out.
    """
    tried = list(dict.fromkeys(_smaller(tuple(sets))))
    tried.sort(key=lambda one: (-_figures(table, one), one))
    for one in tried[:MOST_TRIED]:
        if allows(one):
            return tuple(table.names_of(axes) for axes in one)
    return ()


def _smaller(sets: Sets) -> Iterator[Sets]:
    if len(sets) > MOST_TRIED:  # those without one of the smallest have the most figures
        least = sorted(sets, key=lambda axes: (len(axes), axes))[:MOST_TRIED]
        yield from (tuple(one for one in sets if one != axes) for axes in least)
        return
    for i, axes in enumerate(sets):
        others = sets[:i] + sets[i + 1 :]
        yield from filter(None, [maximal(others)])
        for axis in axes:
            fewer = tuple(one for one in axes if one != axis)
            yield from filter(None, [_proper([*others, fewer]), _proper([fewer])])
            yield from filter(None, [_proper([(axis,)])])
    for axis in sorted({axis for axes in sets for axis in axes}):
        yield from filter(
            None, [_proper([tuple(one for one in axes if one != axis) for axes in sets])]
        )


def _proper(sets: Sequence[Axes]) -> Sets:
    """The sets of at least one variable, none in another."""
    return maximal(axes for axes in sets if axes)


def _figures(table: Table, sets: Sets) -> int:
    sizes = table.sizes
    return sum(prod(sizes[axis] for axis in axes) for axes in sets)
