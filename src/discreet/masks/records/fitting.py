"""How many original records each released record fits: the persons who could be behind it.

A value that is missing from a released record fits any; one that it shows fits only original
records that have it. Released records that show the same keys are looked at together: the original
records are counted by these keys alone. Cost: one grouping of the original cells for each set of
keys that some released record shows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.data.coding import Coding
from discreet.engines.key_space import KeyLevels
from discreet.engines.local.grouping import distinct_rows, places_among
from discreet.numerics.arrays import IntArray

NOT_THERE = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Combinations:
    """Combinations of keys (rows × keys) with the records that have each; a missing value is the
    last level of its key, whose value is None."""

    keys: tuple[KeyLevels, ...]
    levels: IntArray
    n: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Fits:
    """The fewest original records that a released record fits, and how many released records fit
    fewer than each of some numbers."""

    fewest: int
    below: Mapping[int, int]


def fits_of(original: Combinations, released: Combinations, limits: Sequence[int]) -> Fits:
    """How many original records the released ones fit; the keys are the same, in the same order,
    and levels are told by their values."""
    found = fitting_records(original, released)
    return Fits(
        fewest=int(found.min(initial=int(original.n.sum()))),
        below={k: int(released.n[found < k].sum()) for k in limits},
    )


def fitting_records(original: Combinations, released: Combinations) -> IntArray:
    """For each released combination the original records that it fits."""
    translated = _in_levels_of(original, released)
    shown = np.stack(
        [
            released.levels[:, key] != _missing_level(one)
            for key, one in enumerate(released.keys)
        ],
        axis=1,
    )  # fmt: skip
    patterns, of = np.unique(shown, axis=0, return_inverse=True)
    found = np.zeros(len(released.n), dtype=np.int64)
    for place, pattern in enumerate(patterns):
        rows = np.flatnonzero(of.ravel() == place)
        found[rows] = _counted(original, translated[rows], np.flatnonzero(pattern))
    return found


def _counted(original: Combinations, sought: IntArray, keys: IntArray) -> IntArray:
    """How many original records agree with each row on some keys."""
    if not len(keys):
        return np.full(len(sought), int(original.n.sum()))
    sizes = [max(len(original.keys[key].values), 1) for key in keys]
    coding = Coding.of_sizes(sizes)
    words, place = distinct_rows(coding.encode(original.levels[:, keys]))
    counts = np.bincount(place, weights=original.n, minlength=len(words)).astype(np.int64)
    wanted = sought[:, keys]
    known = (wanted != NOT_THERE).all(axis=1)
    at = np.full(len(sought), NOT_THERE)
    at[known] = places_among(words, coding.encode(wanted[known]))
    return np.where(at == NOT_THERE, 0, counts[at])


def _missing_level(key: KeyLevels) -> int:
    return len(key.values) - 1 if key.values[-1:] == (None,) else NOT_THERE


def _in_levels_of(original: Combinations, released: Combinations) -> IntArray:
    """The released levels by their places among the original ones; a value that no original record
    has is nowhere."""
    found = np.empty(released.levels.shape, dtype=np.int64)
    for key, (own, other) in enumerate(zip(original.keys, released.keys, strict=True)):
        places = {value: place for place, value in enumerate(own.values) if value is not None}
        to = np.array([NOT_THERE if v is None else places.get(v, NOT_THERE) for v in other.values])
        found[:, key] = to[released.levels[:, key]]
    return found
