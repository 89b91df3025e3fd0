"""Which keys make records unique: the uniques that vanish when a key, or a pair, is dropped.

A record that is unique without the dropped keys is unique with them, so the vanished uniques are
the difference of two counts. Each count sorts the reduced codes of all cells. Cost grows as
cells · log(cells) for every set that is dropped.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from discreet.data.summary import SizeIndices
from discreet.engines.contract import Cells
from discreet.engines.key_space import View
from discreet.figures import Unavailable
from discreet.progress import Progress, silent

PAIR_WORK = 50_000_000  # cells times pairs that take about a second
MOST_PAIRS = 2_000
MATCHING_COST = 100  # how much longer a cell takes where missing values match anything


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


class KeysLeftOut:
    """The cells without each key in turn, counted once.

    How many near neighbours a cell has, how many uniques a key makes and what leaving it out would
    help all come from the same groups of cells, those that agree on every other key.
    """

    def __init__(self, cells: Cells) -> None:
        self.cells = cells
        self._sizes: tuple[SizeIndices, ...] | None = None

    def count(self) -> tuple[SizeIndices, ...]:
        """The sizes of the cells without each key; each cell has its near neighbours from then
        on."""
        if self._sizes is None:
            self._sizes = self.cells.without_each_key()
        return self._sizes


def contributions(
    cells: Cells,
    *,
    all_pairs: bool = False,
    left_out: KeysLeftOut | None = None,
    progress: Progress = silent,
) -> Contributions:
    """Sample uniques that vanish when each key, and each pair of keys, is dropped. Exact.

    Pairs are left out, with the reason, where cells · pairs exceed PAIR_WORK, unless `all_pairs`.
    `left_out` may have counted the cells without each key before.
    """
    names, uniques = cells.space.names, cells.size_indices().sample_uniques
    if cells.space.overlap:
        without = [_uniques_without(cells, (key,)) for key in range(len(names))]
    else:
        sizes = (left_out or KeysLeftOut(cells)).count()
        without = [own.sample_uniques for own in sizes]
    single = _ranked(names, [(key,) for key in range(len(names))], uniques, without)
    pairs = list(combinations(range(len(names)), 2))
    work = len(pairs) * cells.n_cells * (MATCHING_COST if cells.space.overlap else 1)
    if (work > PAIR_WORK or len(pairs) > MOST_PAIRS) and not all_pairs:
        return Contributions(single=single, pairs=Unavailable(_too_long(len(pairs), cells)))
    if cells.space.overlap:
        left = [_uniques_without(cells, pair) for pair in pairs]
    else:
        left = _uniques_without_pairs(cells, pairs, progress)
    return Contributions(single=single, pairs=_ranked(names, pairs, uniques, left))


def _too_long(n_pairs: int, cells: Cells) -> str:
    return (
        f"pairs of keys ({n_pairs:,}, over {cells.n_cells:,} cells) take long; "
        "ask for all pairs to have them"
    )


def _ranked(
    names: Sequence[str], dropped: Sequence[tuple[int, ...]], uniques: int, left: Sequence[int]
) -> tuple[Contribution, ...]:
    found = [
        Contribution(
            keys=tuple(names[key] for key in keys), uniques_removed=uniques - n, uniques_left=n
        )
        for keys, n in zip(dropped, left, strict=True)
    ]
    return tuple(sorted(found, key=lambda c: -c.uniques_removed))


def without(cells: Cells, dropped: Sequence[int]) -> View:
    """The view of all other keys."""
    kept = [key for key in range(len(cells.space.keys)) if key not in dropped]
    return cells.space.itself().of_keys(kept)


def _uniques_without(cells: Cells, dropped: Sequence[int]) -> int:
    """Where cells overlap: each set of keys has its own matches."""
    if len(dropped) == len(cells.space.keys):
        return int(cells.n_records == 1)
    return cells.seen_through(without(cells, dropped)).size_indices().sample_uniques


def _uniques_without_pairs(
    cells: Cells, pairs: Sequence[tuple[int, ...]], progress: Progress
) -> list[int]:
    if len(cells.space.keys) == len(pairs[0]) if pairs else False:
        return [int(cells.n_records == 1)]
    progress("dropping pairs of keys", 0.0)
    small = cells.small([without(cells, pair) for pair in pairs], 2)
    progress("dropping pairs of keys", 1.0)
    return [own.uniques for own in small]
