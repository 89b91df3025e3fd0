"""A tree over the levels of a variable: which belong together, and how closely.

The leaves are the levels, the inner nodes are groups (heart disease, disease of the circulation),
the root holds all. Height 0 is the leaves. A table gives one row a leaf, from the leaf to the root,
as the hierarchies of ARX and sdcMicro do; there the height of a group is the number of its column.
A mapping from each node to its parent may be uneven; there the height of a node is the longest way
down to a leaf.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.errors import InputError, must_be
from discreet.numerics.arrays import IntArray, read_only

SHOWN = 5


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """The group of each leaf at each height.

    Leaf i is in group `groups[h, i]` at height h; at height 0 each is alone, at `height`, the last,
    all are together. In an uneven tree a leaf is, at height h, in its highest node up to that
    height. `names[h]` are the names of the groups at height h, `columns[h]` what such groups are
    called (province), where that is known.
    """

    leaves: tuple[str, ...]
    groups: IntArray
    names: tuple[tuple[str, ...], ...] = ()
    columns: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        read_only(self.groups)

    @property
    def height(self) -> int:
        """Height of the root, at least 1."""
        return len(self.groups) - 1

    @classmethod
    def of_table(cls, rows: Iterable[Sequence[object]]) -> "Hierarchy":
        """From one row a leaf: the level, the group it is in, the group of that group, …, the root.

        Checked: every row has as many columns, at least two; what stands in one column always has
        the same to its right, so no level has two parents; the last column is one root. A row may
        occur more than once.
        """
        columns = _columns([tuple(row) for row in rows])
        for height in range(len(columns) - 1):
            _check_parents(columns[height], columns[height + 1], height)
        if len(set(columns[-1])) > 1:
            got = f"{len(set(columns[-1]))} different entries"
            remedy = "add a column that is the same in every row"
            raise InputError(
                must_be("last column of the hierarchy", "one root", got, remedy=remedy)
            )
        first = {leaf: row for row, leaf in reversed(list(enumerate(columns[0])))}
        keep = sorted(first.values())
        return cls._of_columns([[column[row] for row in keep] for column in columns])

    @classmethod
    def _of_columns(cls, columns: Sequence[Sequence[str]]) -> "Hierarchy":
        """From the node of each leaf at each height, the leaves first."""
        groups = np.array([_codes(column) for column in columns])
        return cls(tuple(columns[0]), groups, tuple(tuple(dict.fromkeys(c)) for c in columns))

    @classmethod
    def of_parents(cls, parents: Mapping[str, str]) -> "Hierarchy":
        """From the parent of every node but the root; the leaves are the nodes without a child.

        Checked: there is one root, and every node leads to it.
        """
        downward = _from_the_root(parents)
        heights = dict.fromkeys(downward, 0)
        for node in reversed(downward[1:]):
            heights[parents[node]] = max(heights[parents[node]], heights[node] + 1)
        leaves = [node for node in parents if heights[node] == 0]
        return cls._of_columns(list(_climb(leaves, parents, heights)))

    def at_height(self, height: int) -> dict[str, str]:
        """The name of the group of each leaf at a height."""
        named = self.names[height]
        return {
            leaf: named[group] for leaf, group in zip(self.leaves, self.groups[height], strict=True)
        }

    def groups_of(self, levels: Sequence[str]) -> IntArray:
        """The group of each of some levels at each height below the root: heights × levels.

        Checked: every level is a leaf.
        """
        place = {leaf: i for i, leaf in enumerate(self.leaves)}
        strange = [level for level in levels if level not in place]
        if strange:
            raise InputError(
                must_be(
                    "hierarchy",
                    "a tree with a leaf for every level",
                    f"none for {_some(strange)}",
                    remedy="add them; a level that is itself a group needs a leaf below the group",
                )
            )
        return self.groups[:-1, [place[level] for level in levels]]


def _columns(rows: list[tuple[object, ...]]) -> list[list[str]]:
    if not rows or len(rows[0]) < 2:
        got = f"{len(rows[0])} columns" if rows else "no rows"
        raise InputError(must_be("hierarchy", "a row for each level, from level to root", got))
    for number, row in enumerate(rows, start=1):
        where = f"row {number}"
        if len(row) != len(rows[0]):
            rule = f"{len(rows[0])} entries in every row"
            raise InputError(must_be("hierarchy", rule, len(row), where=where))
        if any(entry is None or entry != entry for entry in row):
            raise InputError(must_be("hierarchy", "filled in", "a missing entry", where=where))
    return [[str(row[column]) for row in rows] for column in range(len(rows[0]))]


def _check_parents(nodes: list[str], parents: list[str], height: int) -> None:
    known: dict[str, str] = {}
    for row, (node, parent) in enumerate(zip(nodes, parents, strict=True), start=1):
        if known.setdefault(node, parent) != parent:
            raise InputError(
                must_be(
                    f"{node!r} in column {height + 1} of the hierarchy",
                    "below one parent",
                    f"{known[node]!r} and {parent!r}",
                    where=f"row {row}",
                )
            )


def _from_the_root(parents: Mapping[str, str]) -> list[str]:
    """All nodes, each after its parent."""
    children: dict[str, list[str]] = {}
    for node, parent in parents.items():
        children.setdefault(parent, []).append(node)
    roots = [node for node in children if node not in parents]
    if len(roots) != 1:
        got = f"several: {_some(roots)}" if roots else "none"
        raise InputError(must_be("hierarchy", "a tree with one root", got))
    downward = roots
    for node in downward:
        downward.extend(children.get(node, ()))
    if len(downward) <= len(parents):
        circling = set(parents).difference(downward)
        lost = [node for node in parents if node in circling]
        raise InputError(must_be("hierarchy", "a tree", f"a circle among {_some(lost)}"))
    return downward


def _climb(
    leaves: list[str], parents: Mapping[str, str], heights: Mapping[str, int]
) -> Iterator[list[str]]:
    """For height 0, 1, …: the highest node above each leaf that is no higher."""
    here = leaves
    for height in range(max(heights.values()) + 1):
        above = [parents.get(node, node) for node in here]
        pairs = zip(here, above, strict=True)
        here = [up if heights[up] <= height else node for node, up in pairs]
        yield here


def _codes(labels: Sequence[str]) -> list[int]:
    """0, 1, 2, … for the labels in the order in which they first occur."""
    known: dict[str, int] = {}
    return [known.setdefault(label, len(known)) for label in labels]


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:SHOWN])
    return f"{shown} and {len(names) - SHOWN:,} more" if len(names) > SHOWN else shown
