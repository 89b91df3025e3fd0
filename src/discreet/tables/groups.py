"""Attribute disclosure: a group whose members all share a level (dobra, Meek's blonds).

Nobody need be alone for that: if all twelve blonds of a town have a high income, whoever knows a
blond of that town knows the income. It happens where a count equals the total of its group.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from discreet.belief.belief import ListedBelief
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.fiber.system.margins import Margins
from discreet.numerics.arrays import BoolArray, IntArray
from discreet.numerics.rounding import ALIKE

Axes = tuple[int, ...]
MOST_GROUP = 3  # variables that describe a group beyond one margin, where these suffice


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """Everyone with these levels of the `group` variables has this `level` of `target`.

    `probability` is what the intruder gives it: 1 where the release proves it.
    """

    group: Axes
    group_levels: tuple[int, ...]
    target: int
    level: int
    persons: int | None
    probability: float


def learned_words(learned: Learned, table: Table) -> str:
    """Who would learn what, as a clause."""
    pairs = zip(learned.group, learned.group_levels, strict=True)
    who = " and ".join(f"{table.names[a]} = {table.levels[a][level]}" for a, level in pairs)
    target = f"{table.names[learned.target]} = {table.levels[learned.target][learned.level]}"
    people = "everyone" if not who else f"everyone with {who}"
    if learned.persons is not None:
        people += f" ({learned.persons:,} {'person' if learned.persons == 1 else 'persons'})"
    chance = "" if learned.probability >= 1 else f", probability {learned.probability:.3f}"
    return f"{people} has {target}{chance}"


def learned_from_margins(
    margins: Margins, targets: Iterable[int] | None = None
) -> tuple[Learned, ...]:
    """What the released margins show by themselves. Exact.

    A group is a combination of levels of some variables of one margin. Groups that only narrow one
    already listed are left out: if all blonds have a high income, so have all blond women.
    Cost: entries of each margin × 2^(its variables).
    """
    wanted = set(range(len(margins.sizes)) if targets is None else targets)
    found: dict[tuple[int, Axes, tuple[int, ...]], Learned] = {}
    for axes, table in margins.tables.items():
        for target in [axis for axis in axes if axis in wanted]:
            others = [axis for axis in axes if axis != target]
            for size in range(len(others) + 1):
                for group in combinations(others, size):
                    for learned in _in_table(table, axes, group, target):
                        if not _narrows(learned, found):
                            found[target, group, learned.group_levels] = learned
    return tuple(found.values())


def _in_table(table: IntArray, axes: Axes, group: Axes, target: int) -> Iterator[Learned]:
    """The groups of one margin whose members share a level of the target."""
    counts = _summed(table, tuple(axes.index(axis) for axis in (*group, target)))
    totals = counts.sum(axis=-1)
    for place in np.argwhere((counts.max(axis=-1) == totals) & (totals > 0)):
        levels = tuple(int(level) for level in place)
        yield Learned(
            group=group,
            group_levels=levels,
            target=target,
            level=int(np.argmax(counts[levels])),
            persons=int(totals[levels]),
            probability=1.0,
        )


def _narrows(learned: Learned, found: dict[tuple[int, Axes, tuple[int, ...]], Learned]) -> bool:
    """Whether a wider group is known to share the level already."""
    pairs = list(zip(learned.group, learned.group_levels, strict=True))
    if 2 ** len(pairs) > len(found):
        own = set(pairs)
        return any(
            target == learned.target and own.issuperset(zip(group, levels, strict=True))
            for target, group, levels in found
        )
    for size in range(len(pairs) + 1):
        for some in combinations(pairs, size):
            group = tuple(axis for axis, _ in some)
            levels = tuple(level for _, level in some)
            if (learned.target, group, levels) in found:
                return True
    return False


def learned_from_supports(
    table: Table,
    sets: Sequence[Axes],
    targets: Iterable[int] | None = None,
    *,
    proved: Iterable[Learned] = (),
) -> tuple[Learned, ...]:
    """What decomposable margins prove together, of a table of any size. Exact.

    A cell may hold somebody exactly if each margin's entry does. Margins without the target tell
    nothing of it once all other variables of those with it are given, since the target is in no
    separator between the two. So a group with members is shown to share a level if and only if,
    for some occupied cell, only one level of the target may go with its levels of these variables;
    that finest group is listed, unless it narrows one that is `proved` or listed.
    Cost: occupied cells × levels × margins.
    """
    known = {(one.target, one.group, one.group_levels): one for one in proved}
    before = len(known)
    for target in range(len(table.names)) if targets is None else sorted(set(targets)):
        telling = [axes for axes in sets if target in axes]
        group = tuple(sorted({axis for axes in telling for axis in axes} - {target}))
        if not group:
            continue
        members = table.over(group)
        possible = np.ones((len(members.cells), table.sizes[target]), dtype=np.bool_)
        for axes in telling:
            others = tuple(axis for axis in axes if axis != target)
            place = tuple(members.cells[:, group.index(axis)] for axis in others)
            possible &= (table.margin((*others, target)) > 0)[place]
        for i in np.flatnonzero(possible.sum(axis=1) == 1).tolist():
            learned = Learned(
                group=group,
                group_levels=tuple(members.cells[i].tolist()),
                target=target,
                level=int(np.argmax(possible[i])),
                persons=int(members.counts[i]),
                probability=1.0,
            )
            if not _narrows(learned, known):
                known[target, group, learned.group_levels] = learned
    return tuple(known.values())[before:]


def learned_from_bounds(
    most: IntArray,
    truth: IntArray,
    targets: Iterable[int] | None = None,
    *,
    proved: Iterable[Learned] = (),
) -> tuple[Learned, ...]:
    """What all that is known proves together: of a group's cells only those of one level may be
    above 0, by the upper bounds of all cells (arrays shaped as the table).

    Exact where the bounds are; where they are not tight, some of what is proved may be missing. A
    group has members in the true table and is described by up to three variables, or by as many as
    it takes where fewer do not show it. Left out: what is `proved` already, and groups that only
    narrow one that is listed.
    Cost: groups of variables × cells.
    """
    wanted = range(most.ndim) if targets is None else sorted(set(targets))
    known = {(one.target, one.group, one.group_levels): one for one in proved}
    before = len(known)
    for target in wanted:
        others = [axis for axis in range(most.ndim) if axis != target]
        for size in range(min(MOST_GROUP, len(others)) + 1):
            for group in combinations(others, size):
                for learned in _in_bounds(most, truth, group, target):
                    if not _narrows(learned, known):
                        known[target, group, learned.group_levels] = learned
        if len(others) > MOST_GROUP:
            for finest in _in_bounds(most, truth, tuple(others), target):
                if not _narrows(finest, known):
                    learned = _widened(finest, most > 0, truth)
                    known[target, learned.group, learned.group_levels] = learned
    return tuple(known.values())[before:]


def _widened(learned: Learned, possible: BoolArray, truth: IntArray) -> Learned:
    """The group without the variables that it is shown without, taken away one by one."""
    left = dict(zip(learned.group, learned.group_levels, strict=True))

    def place(group: dict[int, int]) -> tuple[int | slice, ...]:
        return tuple(group.get(axis, slice(None)) for axis in range(possible.ndim))

    for axis in learned.group:
        fewer = {one: level for one, level in left.items() if one != axis}
        others = {**fewer, learned.target: learned.level}
        if np.count_nonzero(possible[place(fewer)]) == np.count_nonzero(possible[place(others)]):
            left = fewer
    return replace(
        learned,
        group=tuple(left),
        group_levels=tuple(left.values()),
        persons=int(truth[place(left)].sum()),
    )


def _in_bounds(most: IntArray, truth: IntArray, group: Axes, target: int) -> Iterator[Learned]:
    """The groups with members of whom the bounds show that they are all of one level."""
    kept = (*group, target)
    possible, counts = _summed(most > 0, kept) > 0, _summed(truth, kept)
    for place in np.argwhere((possible.sum(axis=-1) == 1) & (counts.sum(axis=-1) > 0)):
        levels = tuple(int(level) for level in place)
        yield Learned(
            group=group,
            group_levels=levels,
            target=target,
            level=int(np.argmax(possible[levels])),
            persons=int(counts[levels].sum()),
            probability=1.0,
        )


def _summed(table: IntArray | BoolArray, kept: Axes) -> IntArray:
    """The margin over some axes, in their order."""
    front = np.moveaxis(table, kept, range(len(kept)))
    sums: IntArray = front.sum(axis=tuple(range(len(kept), table.ndim)))
    return sums


def learned_from_belief(
    belief: ListedBelief,
    sizes: Sequence[int],
    group: Sequence[int],
    target: int,
    *,
    threshold: float,
) -> tuple[Learned, ...]:
    """Groups that share a level of the target with a probability of at least `threshold`. Exact.

    For each combination of levels of the group variables: the probability that all its members have
    one level, and that there is a member at all.
    """
    if not 0 < threshold <= 1:
        raise InputError(must_be("threshold", "above 0, up to 1", threshold))
    if target in group:
        raise InputError(must_be("target", "no variable of the group", target))
    tables = belief.tables.reshape(-1, *sizes)
    axes = [1 + axis for axis in (*group, target)]
    rest = tuple(i for i in range(1, tables.ndim) if i not in axes)
    kept = sorted(axes)
    counts = tables.sum(axis=rest)
    counts = np.moveaxis(counts, [1 + kept.index(axis) for axis in axes], range(1, len(axes) + 1))
    totals = counts.sum(axis=-1, keepdims=True)
    in_table = (counts == totals) & (totals > 0)
    shared = np.tensordot(belief.probabilities, in_table, axes=1)
    # one is certain only where it holds of every table, whatever their probabilities add up to
    shared = np.where(in_table.all(axis=0), 1.0, np.minimum(shared, np.nextafter(1.0, 0.0)))
    found = []
    for place in np.argwhere(shared >= threshold - ALIKE):
        levels = tuple(int(level) for level in place)
        among = totals[(slice(None), *levels[:-1], 0)]
        found.append(
            Learned(
                group=tuple(group),
                group_levels=levels[:-1],
                target=target,
                level=levels[-1],
                persons=int(among[0]) if np.all(among == among[0]) else None,
                probability=float(shared[levels]),
            )
        )
    return tuple(found)
