"""Groups of persons who probably share a level, under a belief that lists its tables."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from discreet.belief.belief import ListedBelief
from discreet.belief.ladder import believe
from discreet.belief.request import Question
from discreet.clock import Clock
from discreet.figures import Unavailable
from discreet.tables.groups import Learned, learned_from_belief
from discreet.tables.measures import ROUNDING

MOST_GROUP = 3  # variables that describe a group


def sought_groups(
    question: Question,
    sizes: Sequence[int],
    targets: Sequence[int],
    *,
    threshold: float,
    proved: Sequence[Learned],
    clock: Clock,
    seed: Sequence[int],
) -> tuple[Learned, ...] | Unavailable:
    """Groups that probably share a level of a target, by all tables that fit; or why that is not
    known. Nothing is told of no target."""
    if not targets:
        return ()
    belief = believe(question, ("listed",), clock=clock, rng=np.random.default_rng(seed))
    if not isinstance(belief, ListedBelief):
        return Unavailable("there are too many consistent tables to list them")
    return probable_groups(belief, sizes, targets, threshold=threshold, proved=proved)


def probable_groups(
    belief: ListedBelief,
    sizes: Sequence[int],
    targets: Sequence[int],
    *,
    threshold: float,
    proved: Sequence[Learned],
) -> tuple[Learned, ...]:
    """Groups of up to three variables whose members share a level of a target with a probability of
    at least the threshold, the widest groups first. Exact.

    Left out: what the release proves, and groups that narrow one listed already without being more
    probable.
    """
    found: list[Learned] = []
    for target in targets:
        for learned in _all(belief, sizes, target, threshold):
            if not any(_covers(wider, learned) for wider in (*proved, *found)):
                found.append(learned)
    return tuple(found)


def _all(
    belief: ListedBelief, sizes: Sequence[int], target: int, threshold: float
) -> Iterator[Learned]:
    others = [axis for axis in range(len(sizes)) if axis != target]
    for size in range(min(MOST_GROUP, len(others)) + 1):
        for group in combinations(others, size):
            yield from learned_from_belief(belief, sizes, group, target, threshold=threshold)


def _covers(wider: Learned, narrower: Learned) -> bool:
    """Whether the wider group has the narrower one's members and more, with the same lesson, and is
    at least as probable."""
    if wider.target != narrower.target or wider.level != narrower.level:
        return False
    if wider.probability < narrower.probability - ROUNDING:
        return False
    own = dict(zip(wider.group, wider.group_levels, strict=True))
    pairs = dict(zip(narrower.group, narrower.group_levels, strict=True))
    return own.items() <= pairs.items()
