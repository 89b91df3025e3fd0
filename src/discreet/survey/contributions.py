"""Which keys make records unique: the uniques that vanish when a key, or a pair, is dropped.

A record that is unique without the dropped keys is unique with them, so the vanished uniques are
the difference of two counts. Each count sorts the reduced codes: of all cells for a key, of the
cells that are left without its first key for a pair. Cost grows as cells · log(cells) for every set
that is dropped.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, groupby

from discreet.clock import threads
from discreet.data.coding import Coding
from discreet.figures import Unavailable
from discreet.numerics.arrays import IntArray
from discreet.progress import Progress, silent
from discreet.survey.regrouping import KeysLeftOut, alone_after, n_alone_without, recoded_words

PAIR_WORK = 50_000_000  # cells times pairs that take about a second
MOST_PAIRS = 2_000
MATCHING_COST = 100  # how much longer a cell takes where missing values match anything

UniquesLeft = Callable[[Sequence[int]], int]
Counting = Callable[[Sequence[tuple[int, ...]]], list[int]]  # uniques left without each set


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
    left_out: KeysLeftOut | None = None,
    progress: Progress = silent,
) -> Contributions:
    """Sample uniques that vanish when each key, and each pair of keys, is dropped. Exact.

    Pairs are left out, with the reason, where cells · pairs exceed PAIR_WORK, unless `all_pairs`.
    `uniques_left` counts the uniques without the keys at given places where cells are no partition
    of the records, and takes longer. `left_out` may have counted the cells without each key before.
    """
    left_out = left_out or KeysLeftOut(words, sample_count, coding)
    counting = _by_matching(uniques_left) if uniques_left else _by_sorting(left_out)
    uniques = uniques_left(()) if uniques_left else int((sample_count == 1).sum())
    measure = partial(_measure, names, uniques, counting, progress=progress)
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
    uniques: int,
    counting: Counting,
    dropped: Sequence[tuple[int, ...]],
    *,
    progress: Progress,
) -> tuple[Contribution, ...]:
    """`dropped` are all sets of one size, in ascending order; of one first key they are counted
    together."""
    found: list[Contribution] = []
    together = [list(sets) for _, sets in groupby(dropped, key=lambda keys: keys[0])]
    with threads(len(together)) as pool:
        for sets, counts in zip(together, pool.map(counting, together), strict=True):
            for keys, n in zip(sets, counts, strict=True):
                named = tuple(names[key] for key in keys)
                found.append(Contribution(keys=named, uniques_removed=uniques - n, uniques_left=n))
            progress("dropping keys", len(found) / len(dropped))
    return tuple(sorted(found, key=lambda c: -c.uniques_removed))


def _by_matching(uniques_left: UniquesLeft) -> Counting:
    return lambda sets: [uniques_left(keys) for keys in sets]


def _by_sorting(left_out: KeysLeftOut) -> Counting:
    return lambda sets: list(_alone(left_out, sets))


def _alone(left_out: KeysLeftOut, sets: Sequence[tuple[int, ...]]) -> Iterator[int]:
    """Records that are alone in their cell without each of these sets of one or two keys, which
    have the first in common."""
    if len(sets[0]) == 1:
        yield from (left_out.small(key).uniques for (key,) in sets)
        return
    coding = left_out.coding
    reduced = recoded_words(left_out.words, coding, sets[0][0])
    words, shared = alone_after(reduced, left_out.records > 1)
    yield from n_alone_without(words, shared, coding, [key for _, key in sets])
