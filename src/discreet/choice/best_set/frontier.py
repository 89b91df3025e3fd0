"""Where releasing stops: what is out, what could have been, and the least that cannot go out."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import combinations

from discreet.choice.best_set.margin_safety import Judge, Verdict
from discreet.fiber.system.programs import Deadline
from discreet.numerics.bit_sets import Axes, axes_of, lies_within, set_of

MOST_FOR_ALL = 6  # variables up to which margins of every order are looked at
MOST_MARGINS = 4000  # margins looked at for a table of more


class Status(Enum):
    """What became of a margin."""

    RELEASED = "released"
    IMPLIED = "part of a released margin"
    JOINABLE = "could go out too, but nobody asked"
    APART = "could go out by itself, but not with these"
    UNRELEASABLE = "cannot go out"
    UNSETTLED = "not settled in the time given"


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontier:
    """The margins of up to `order` variables, by what became of them.

    `released` are the largest that are out. `blocked` are the smallest that cannot join them, and
    `unreleasable` the smallest that cannot go out even by themselves (with what was out before).
    `statuses` has every margin that was looked at; `complete` says whether that is every margin of
    up to `order` variables.
    """

    released: tuple[Axes, ...]
    blocked: tuple[Axes, ...]
    unreleasable: tuple[Axes, ...]
    statuses: Mapping[Axes, Status]
    order: int
    complete: bool


def frontier(
    judge: Judge, chosen: Iterable[int], wanted_order: int, deadline: Deadline
) -> Frontier:
    """The frontiers of a release, by verdicts on each margin by itself and with the release."""
    family = judge.family(chosen)
    n = len(judge.cells.table.names)
    order = n if n <= MOST_FOR_ALL else wanted_order
    statuses: dict[int, Status] = {}
    complete = True
    for one in _margins(n, order):
        if len(statuses) >= MOST_MARGINS or deadline.passed:
            complete = False
            break
        statuses[one] = status(judge, family, one)
    blocked = {Status.APART, Status.UNRELEASABLE}
    return Frontier(
        released=tuple(axes_of(one) for one in family if one),
        blocked=_smallest(one for one, own in statuses.items() if own in blocked),
        unreleasable=_smallest(o for o, own in statuses.items() if own is Status.UNRELEASABLE),
        statuses={axes_of(one): own for one, own in statuses.items()},
        order=order,
        complete=complete,
    )


def status(judge: Judge, family: tuple[int, ...], one: int) -> Status:
    """What became of one margin, given all that is out."""
    if one in family:
        return Status.RELEASED
    if lies_within(one, family):
        return Status.IMPLIED
    alone = judge.alone(one)
    if alone is Verdict.UNSAFE:
        return Status.UNRELEASABLE
    together = judge([*family, one])
    if together is Verdict.SAFE:
        return Status.JOINABLE
    if alone is Verdict.SAFE and together is Verdict.UNSAFE:
        return Status.APART
    return Status.UNSETTLED


def _margins(n: int, order: int) -> Iterator[int]:
    for size in range(1, min(order, n) + 1):
        yield from (set_of(axes) for axes in combinations(range(n), size))


def _smallest(sets: Iterable[int]) -> tuple[Axes, ...]:
    """The sets that hold no other one."""
    kept: list[int] = []
    for one in sorted(set(sets), key=lambda s: (s.bit_count(), s)):
        if not any(other & ~one == 0 for other in kept):
            kept.append(one)
    return tuple(axes_of(one) for one in kept)
