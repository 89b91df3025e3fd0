"""For each key a ladder of ways to make it coarser, the mildest first.

With a tree the rungs are its heights. Without one they are what `survey/coarsening.py` finds: bands
of numbers, beginnings of codes, parts of dates, rare levels merged. The last rung leaves the key
out. Each rung puts together what the one before left apart, so that a file further up stands out no
more than one further down.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from discreet.data.hierarchy import Hierarchy
from discreet.engines.key_space import KeyLevels
from discreet.masks.records.recoding import Drop, Levels, Recoding, Same, Tree, applied
from discreet.numerics.arrays import FloatArray, IntArray, read_only
from discreet.survey.coarsening import coarser_keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """A key after one way: level i is level to[i] of `levels`, which stands for the share
    `leaf_shares` of the key's domain."""

    how: Recoding
    to: IntArray
    levels: KeyLevels
    leaf_shares: FloatArray

    def __post_init__(self) -> None:
        read_only(self.to)
        read_only(self.leaf_shares)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladder:
    """The rungs of a key; the first leaves it as it is. `leaves` is the size of its domain."""

    key: KeyLevels
    records: IntArray
    leaves: int
    rungs: tuple[Rung, ...]

    def __len__(self) -> int:
        return len(self.rungs)


def ladder_of(
    levels: Levels, tree: Hierarchy | None = None, *, may_drop: bool = True, may_recode: bool = True
) -> Ladder:
    """The ladder of a key; of one that may not be recoded, the key as it is alone."""
    key = levels.key
    ways: list[Recoding] = [Same(key=key.name)]
    if may_recode:
        ways += _of_tree(key, tree) if tree is not None else _automatic(levels)
    if may_recode and may_drop:
        ways.append(Drop(key=key.name))
    rungs: list[Rung] = []
    for how in ways:
        rung = rung_of(levels, how, tree)
        if not rungs or len(rung.levels.values) < len(rungs[-1].levels.values):
            rungs.append(rung)
    return Ladder(
        key=key, records=levels.records, leaves=leaves_of_key(key, tree), rungs=tuple(rungs)
    )


def rung_of(levels: Levels, how: Recoding, tree: Hierarchy | None = None) -> Rung:
    """A key after one recoding, with the share of the domain that each level then stands for."""
    after = applied(levels, how)
    return Rung(
        how=after.how,
        to=after.to,
        levels=after.levels,
        leaf_shares=leaf_shares(levels.key, after.levels, after.to, (after.how,), tree),
    )


def _of_tree(key: KeyLevels, tree: Hierarchy) -> list[Recoding]:
    """The heights below the root, at which all are one level: that is to leave the key out."""
    return [
        Tree(key=key.name, height=height, tree=tree)
        for height in range(1, tree.height)
        if len(tree.names[height]) > 1
    ]


def _automatic(levels: Levels) -> list[Recoding]:
    return [way.how for way in coarser_keys(levels.key, levels.records)]


def leaves_of_key(key: KeyLevels, tree: Hierarchy | None) -> int:
    """The size of the domain of a key: the leaves of its tree, else its known levels."""
    return key.n_known if tree is None else len(tree.leaves)


def leaf_shares(
    before: KeyLevels,
    after: KeyLevels,
    to: IntArray,
    hows: Sequence[Recoding],
    tree: Hierarchy | None,
) -> FloatArray:
    """The share of a key's domain that each level stands for after some recodings: the leaves of
    its tree below it, or the levels before that became it."""
    if any(isinstance(how, Drop) for how in hows):
        return np.ones(len(after.values))
    known = [place for place, value in enumerate(before.values) if value is not None]
    held = np.bincount(to[known], minlength=len(after.values)).astype(float)
    if tree is not None:
        counted: dict[str, int] = {}
        for leaf in tree.leaves:
            group = _group(hows, leaf)
            counted[group] = counted.get(group, 0) + 1
        held = np.array([float(counted.get(v, 1)) if v else 0.0 for v in after.values])
    shares = held / max(leaves_of_key(before, tree), 1)
    if after.values[-1:] == (None,):
        shares[-1] = 1.0
    return shares


def _group(hows: Sequence[Recoding], leaf: str) -> str:
    for how in hows:
        with suppress(ValueError):
            leaf = how.group(leaf)
    return leaf
