"""Sets of variables as whole numbers: bit i stands for variable i."""

from collections.abc import Iterable, Iterator
from itertools import groupby

Axes = tuple[int, ...]


def set_of(axes: Iterable[int]) -> int:
    """The set that holds these variables."""
    found = 0
    for axis in axes:
        found |= 1 << axis
    return found


def members(variables: int) -> Iterator[int]:
    """The variables of a set, ascending."""
    while variables:
        low = variables & -variables
        yield low.bit_length() - 1
        variables ^= low


def axes_of(variables: int) -> Axes:
    """The variables of a set as positions, ascending."""
    return tuple(members(variables))


def maximal_sets(sets: Iterable[int]) -> tuple[int, ...]:
    """The sets that lie in no other one, largest first; the empty set only where it is alone."""
    ordered = sorted(set(sets), key=lambda s: (-s.bit_count(), s))
    kept: list[int] = []
    for _, same in groupby(ordered, key=int.bit_count):
        larger = list(kept)
        kept += [one for one in same if not any(one & ~other == 0 for other in larger)]
    return tuple(kept)


def lies_within(one: int, sets: Iterable[int]) -> bool:
    """Whether a set is part of one of the others."""
    return any(one & ~other == 0 for other in sets)


def all_within(inner: Iterable[int], outer: tuple[int, ...]) -> bool:
    """Whether each of the inner sets is part of one of the outer ones: a coarser release."""
    return all(lies_within(one, outer) for one in inner)
