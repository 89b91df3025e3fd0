"""Which keys make records unique: the uniques that vanish when a key, or a pair, is dropped.

A record that is unique without the dropped keys is unique with them, so the vanished uniques are
the difference of two counts. Each count sorts the reduced codes of all cells: cost grows as
cells · log(cells) for every set that is dropped.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np

from discreet.data.coding import Coding
from discreet.figures import Unavailable
from discreet.numerics.arrays import IntArray
from discreet.progress import Progress, silent

PAIR_WORK = 50_000_000  # cells times pairs that take about a second
MOST_PAIRS = 2_000
MATCHING_COST = 100  # how much longer a cell takes where missing values match anything

UniquesLeft = Callable[[Sequence[int]], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What dropping some keys does: how many sample uniques vanish and how many are left."""

    keys: tuple[str, ...]
    uniques_removed: int
    uniques_left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Contributions:
    """Each key alone and each pair, largest first; pairs only where the work stays small."""

    single: tuple[Contribution, ...]
    pairs: tuple[Contribution, ...] | Unavailable


def contributions(
    words: IntArray,
    sample_count: IntArray,
    coding: Coding,
    names: Sequence[str],
    *,
    all_pairs: bool = False,
    uniques_left: UniquesLeft | None = None,
    progress: Progress = silent,
) -> Contributions:
    """Sample uniques that vanish when each key, and each pair of keys, is dropped. Exact.

    Pairs are left out, with the reason, where cells · pairs exceed PAIR_WORK, unless `all_pairs`.
    `uniques_left` counts the uniques without the keys at given places where cells are no partition
    of the records, and takes longer.
    """
    left = uniques_left or partial(uniques_without, words, sample_count > 1, coding)
    measure = partial(_measure, names, left, progress=progress)
    single = measure([(j,) for j in range(len(names))])
    pairs = list(combinations(range(len(names)), 2))
    work = len(pairs) * len(sample_count) * (1 if uniques_left is None else MATCHING_COST)
    if (work > PAIR_WORK or len(pairs) > MOST_PAIRS) and not all_pairs:
        return Contributions(single=single, pairs=Unavailable(_too_long(len(pairs), sample_count)))
    return Contributions(single=single, pairs=measure(pairs))


def _too_long(n_pairs: int, sample_count: IntArray) -> str:
    return (
        f"pairs of keys ({n_pairs:,}, over {len(sample_count):,} cells) take long; "
        "ask for all pairs to have them"
    )


def _measure(
    names: Sequence[str],
    uniques_left: UniquesLeft,
    dropped: Sequence[tuple[int, ...]],
    *,
    progress: Progress,
) -> tuple[Contribution, ...]:
    uniques = uniques_left(())
    found: list[Contribution] = []
    with ThreadPoolExecutor() as pool:
        left = pool.map(uniques_left, dropped)
        for done, (keys, n) in enumerate(zip(dropped, left, strict=True)):
            found.append(
                Contribution(
                    keys=tuple(names[key] for key in keys),
                    uniques_removed=uniques - n,
                    uniques_left=n,
                )
            )
            progress("dropping keys", (done + 1) / len(dropped))
    return tuple(sorted(found, key=lambda c: -c.uniques_removed))


def uniques_without(
    words: IntArray, shared: np.ndarray, coding: Coding, dropped: Sequence[int]
) -> int:
    """Records that are alone in their cell when the keys at `dropped` are left out.

    `shared` says which cells hold more than one record already.
    """
    if len(dropped) == len(coding.digits):
        return int(len(shared) == 1 and not shared[0])
    reduced = words.copy()
    for key in dropped:
        digit = coding.digits[key]
        reduced[:, digit.word] -= coding.level(words, key) * digit.stride
    reduced[:, -1] = reduced[:, -1] * 2 + shared
    return _alone(reduced)


def _alone(reduced: IntArray) -> int:
    """Rows whose code no other row has and whose last bit says: one record."""
    if reduced.shape[1] == 1:
        ordered = np.sort(reduced[:, 0])[:, None]
    else:
        ordered = reduced[np.lexsort(reduced.T[::-1])]
    lone = ordered[:, -1] & 1 == 0
    ordered[:, -1] >>= 1
    differs = (ordered[1:] != ordered[:-1]).any(axis=1)
    lone[1:] &= differs
    lone[:-1] &= differs
    return int(lone.sum())
