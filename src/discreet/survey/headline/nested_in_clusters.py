"""Keys that tell the cluster, of all records or of nearly all: small areas in districts.

If each level of a key lies in one cluster, no other cluster has the keys of a record. That levels
never meet in the clusters that were drawn is evidence for it, the more the more levels and clusters
there are; and a few records with a level that belongs to another cluster, *strays*, are little
against it. A stray is alone if nobody of the cluster that its level belongs to has its other keys;
all others are, if none of the strays from other clusters has.
"""

from dataclasses import dataclass

import numpy as np

from discreet.data.nesting import nested_pairs
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray

# Share of strays up to which a key is taken to tell the cluster, and from which on not at all.
MOST_STRAYS, TOO_MANY = 0.25, 0.5
STRAYS_UNSEEN = 0.1  # at most, of a key whose levels never meet
# Share of the units outside the cluster that has most of the level, below which a key may well tell
# the cluster although few clusters make many strays of one household.
HARDLY_AWAY, EVEN = 0.02, 0.5
LEVELS_OF_A_CLUSTER = 1.5  # below, a key may as well be one of regions, of which each has several
FACTOR_OF_STRAYS = 3.0  # by which there may be more
DEGREES = 40  # of how often levels meet, that are averaged over


@dataclass(frozen=True, slots=True)
class Telling:
    """A key that tells the cluster: how sure that is, the share of records that are strays, and how
    likely each unit is one."""

    weight: float
    strays: float
    stray: FloatArray

    def alone(self, chance: float, times: float = 1.0) -> FloatArray:
        """How likely no other cluster has the keys of each unit, if nobody of one cluster has them
        with this chance, and so many `times` the strays."""
        stray = np.minimum(self.stray * times, 1.0) if times != 1 else self.stray
        home = chance ** (self.strays * times)
        found: FloatArray = (1 - stray) * home + stray * chance
        return found


def telling(levels: IntArray, cluster: IntArray, n_clusters: float) -> Telling | None:
    """The key that tells best of each unit, a combination of keys in a cluster, in which of the
    `n_clusters` of the population it lies; None where none does."""
    rows = np.column_stack([levels, cluster])
    sizes = tuple(int(column.max()) + 1 for column in rows.T)
    apart = {
        pair.determining
        for pair in nested_pairs(rows, np.ones_like(cluster), sizes)
        if pair.determined == levels.shape[1]
    }
    every = [
        _of_key(column, cluster, n_clusters, key in apart) for key, column in enumerate(levels.T)
    ]
    found = [one for one in every if one is not None and one.weight > 0]
    return max(found, key=lambda one: (one.weight, -one.strays), default=None)


def _of_key(level: IntArray, cluster: IntArray, n_clusters: float, apart: bool) -> Telling | None:
    """How far a key does; `apart` says that its levels never meet, which is no accident."""
    groups = int(cluster.max()) + 1
    code, place, units = np.unique(
        level * groups + cluster, return_inverse=True, return_counts=True
    )
    own, drawn = code // groups, len(np.unique(cluster))
    total, most = np.bincount(own, units), np.zeros(int(own.max()) + 1)
    np.maximum.at(most, own, units)
    several = total > 1
    held, away = float(total[several].sum()), float((total - most).sum())
    meetings = int((np.bincount(own) - (total > 0)).sum())
    if drawn < 2 or not held:
        return None
    usual = away / meetings if meetings else float(units[several[own]].mean())
    others = max(n_clusters - 1, drawn - 1) / (drawn - 1)
    strays = (away + 0.5 * usual) / held * others
    weight = (TOO_MANY - strays) / (TOO_MANY - MOST_STRAYS)
    several_levels = len(code) > LEVELS_OF_A_CLUSTER * drawn
    if meetings and several_levels and weight < EVEN and away < HARDLY_AWAY * held:
        weight, strays = EVEN, min(strays, STRAYS_UNSEEN)
    if not meetings:
        if not apart:
            return None
        if several_levels:
            weight, strays = _never_meeting(len(code), drawn, others), min(strays, STRAYS_UNSEEN)
    if weight <= 0:
        return None
    seen_away = _is_away(own, units)
    single = (units == 1) & ~seen_away
    unseen = max(strays * units.sum() - away, 0.0)
    chance = min(unseen / max(int(single.sum()), 1), 1.0)
    stray = np.where(seen_away, 1.0, np.where(single, chance, 0.0))
    return Telling(min(weight, 1.0), min(strays, 1.0), stray[place.ravel()])


def _never_meeting(pairs: int, drawn: int, others: float) -> float:
    """How sure it is that levels lie in one cluster each, as `pairs` of a level and a cluster show
    none that meet: as likely before as that each lies in 1 to all other clusters, the logarithm of
    how many being anything."""
    meeting = pairs / 2 / others  # for each other cluster that a level lies in
    degrees = np.geomspace(1.0, max((drawn - 1) * others, 1.0), DEGREES)
    return float(1 / (1 + np.exp(-meeting * degrees).mean()))


def _is_away(level: IntArray, units: IntArray) -> BoolArray:
    """Of each level in each cluster, whether it has more units in another (or before it, if as
    many)."""
    order = np.lexsort((-units, level))
    first = np.concatenate([[True], level[order][1:] != level[order][:-1]])
    found = np.zeros(len(level), dtype=bool)
    found[order] = ~first
    return found
