"""Several changes of keys together that keep the limits, and no more than it takes.

Each key has a ladder of ways to make it coarser, the mildest first, with leaving it out at the end;
every way puts together what the one before left apart. From the keys as they are, the one is taken
a rung further whose step does away with the most small cells for what it loses (the entropy of the
key, so that merging two rare levels costs little and leaving out a key its all), until a single key
is left. The first point on this way at which the limits are kept is sought, and from there the keys
are taken back in turn, as far as the limits allow.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.data.hierarchy import Hierarchy
from discreet.engines.contract import Cells
from discreet.numerics.arrays import IntArray
from discreet.survey.coarsening import Coarser, Step, coarser_keys

FEWEST_LOST = 1e-9  # nats that a step costs at least, so that it has a price
MOST_WORK = 20_000_000  # cells times rungs of all ladders, beyond which no combination is sought

Rungs = tuple[int, ...]
Gain = tuple[float, float]


@dataclass(frozen=True, slots=True)
class _Point:
    """A rung on the ladder of each key, and the cells there."""

    rungs: Rungs
    cells: Cells


def combined_steps(
    cells: Cells,
    k: int,
    keeps: Callable[[tuple[Step, ...]], bool],
    *,
    most_checks: int,
    trees: Mapping[str, Hierarchy] | None = None,
) -> tuple[Step, ...] | None:
    """Changes after which `keeps` says that the limits are kept; None where none was found.

    `k` is the size from which on a cell is no longer small. Cost: one regrouping of the cells a
    rung and key, on ever fewer cells, and at most `most_checks` calls of `keeps`.
    """
    keys, margins = cells.space.keys, _margins(cells)
    ladders = [
        [*coarser_keys(key, own, (trees or {}).get(key.name)), None]
        for key, own in zip(keys, margins, strict=True)
    ]
    n_rungs = sum(len(ladder) for ladder in ladders)
    if cells.n_cells * n_rungs > MOST_WORK:
        return None
    way = _way(cells, ladders, k)

    def steps(rungs: Rungs) -> tuple[Step, ...]:
        return tuple(
            (cells.space.names[key], ladders[key][rung - 1])
            for key, rung in enumerate(rungs)
            if rung
        )

    checks = 0

    def kept(rungs: Rungs) -> bool:
        nonlocal checks
        checks += 1
        return checks <= most_checks and keeps(steps(rungs))

    found = _first(way, kept)
    last = tuple(len(ladder) for ladder in ladders)
    return None if found is None else steps(_taken_back(found, last, kept))


def _margins(cells: Cells) -> list[IntArray]:
    """The records of each level of each key."""
    return list(cells.margins([(key,) for key in range(len(cells.space.keys))]).values())


def _way(cells: Cells, ladders: Sequence[list[Coarser | None]], k: int) -> list[Rungs]:
    """From the keys as they are to a single one, by the step that does most for its price."""
    here = _Point((0,) * len(ladders), cells)
    way = []
    while len(nexts := _nexts(here, ladders)):
        small = _log_small_cells(here.cells, k)

        def gain(key: int, point: _Point, here: _Point = here, small: float = small) -> Gain:
            lost = max(_entropy(here.cells, key) - _entropy(point.cells, key), FEWEST_LOST)
            return (small - _log_small_cells(point.cells, k)) / lost, lost

        key = max(nexts, key=lambda key: gain(key, nexts[key]))
        here = nexts[key]
        way.append(here.rungs)
    return way


def _log_small_cells(cells: Cells, k: int) -> float:
    return float(np.log1p(cells.size_indices().cells_below(k)))


def _entropy(cells: Cells, key: int) -> float:
    """Of the levels of a key over the records, in nats."""
    (held,) = cells.margins([(key,)]).values()
    share = held[held > 0] / held.sum()
    return float(-(share * np.log(share)).sum())


def _nexts(here: _Point, ladders: Sequence[list[Coarser | None]]) -> dict[int, _Point]:
    """One rung further on the ladder of each key, but for the last key that is left.

    No key is left out while another can be made coarser.
    """
    left = [key for key, ladder in enumerate(ladders) if here.rungs[key] < len(ladder)]
    milder = [key for key in left if ladders[key][here.rungs[key]] is not None]
    found = {}
    for key in milder or left:
        rung = here.rungs[key]
        if ladders[key][rung] is None and len(left) == 1:
            continue
        rungs = (*here.rungs[:key], rung + 1, *here.rungs[key + 1 :])
        found[key] = _Point(rungs, _further(here.cells, key, ladders[key], rung))
    return found


def _further(cells: Cells, key: int, ladder: list[Coarser | None], rung: int) -> Cells:
    """The cells, whose key stands on a rung, with the key on the next; a key that is left out has
    one level."""
    view, new = cells.space.itself(), ladder[rung]
    if new is None:
        return cells.seen_through(view.flattened(key))
    if rung == 0:
        return cells.seen_through(view.recoded(key, new.to, new.levels))
    old = ladder[rung - 1]
    assert old is not None
    to = np.zeros(cells.space.coding.sizes[key], dtype=np.int64)
    to[old.to] = new.to
    return cells.seen_through(view.recoded(key, to, new.levels))


def _first(way: Sequence[Rungs], kept: Callable[[Rungs], bool]) -> Rungs | None:
    """The first point of the way at which the limits are kept, by halving: further is safer."""
    if not way or not kept(way[-1]):
        return None
    low, high = 0, len(way) - 1
    while low < high:
        middle = (low + high) // 2
        if kept(way[middle]):
            high = middle
        else:
            low = middle + 1
    return way[high]


def _taken_back(rungs: Rungs, last: Rungs, kept: Callable[[Rungs], bool]) -> Rungs:
    """Each key as far back as the limits allow, a rung at a time, the key first that went furthest
    on its ladder: one that is left out comes back before another is refined.

    A key that cannot go back now cannot later either, when others have.
    """
    stuck: set[int] = set()
    while free := [key for key, rung in enumerate(rungs) if rung and key not in stuck]:
        key = max(free, key=lambda key: rungs[key] / last[key])
        milder = (*rungs[:key], rungs[key] - 1, *rungs[key + 1 :])
        if kept(milder):
            rungs = milder
        else:
            stuck.add(key)
    return rungs
