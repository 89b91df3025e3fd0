"""Sums of hidden figures that stand beside each other, and must not be known either.

Two hidden figures of 1 under a subtotal of 2 may each be uncertain, yet everybody knows that two
persons are there. So sums of *siblings* are followed like figures that are never printed: figures
of one table with the same categories of all variables but one, in which their categories lie in the
same larger one (children of a node of a tree) and do not overlap.

Only sums that are themselves sensitive matter. Their parts with persons are then sensitive too, and
hidden in every safe pattern, so that to protect such a sum asks nothing of a pattern but what every
safe one does: what no pattern can beat stays true. Hidden zeros join all together or not at all.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from discreet.data.layout import Classified
from discreet.errors import InputError, must_be
from discreet.masks.linked_figures import NONE, LinkedFigures
from discreet.masks.suppression_figures import Rule
from discreet.numerics.arrays import BoolArray, IntArray

MOST_UNIONS = 2**16  # that are looked at


class TooManyUnionsError(InputError):
    """More small sums of hidden figures than can be looked at."""


@dataclass(frozen=True, slots=True)
class Union:
    """A sum of some figures: which, its cells and its count."""

    figures: tuple[int, ...]
    cells: IntArray
    count: int
    label: str


def small_unions(figures: LinkedFigures, hidden: BoolArray, rule: Rule) -> list[Union]:
    """The sums of two or more hidden siblings that are sensitive, each once.

    Checked: there are at most 65,536.
    """
    found: dict[bytes, Union] = {}
    known = {figures.cells(figure).tobytes() for figure in range(figures.n_told)}
    for row in rows_of(figures):
        for own in _sums(row, figures, hidden, rule):
            cells = np.sort(np.concatenate([figures.cells(figure) for figure in own]))
            if cells.tobytes() not in known and cells.tobytes() not in found:
                count = int(figures.counts[list(own)].sum())
                found[cells.tobytes()] = Union(own, cells, count, _label(figures, own))
                if len(found) > MOST_UNIONS:  # a single row can have very many
                    raise TooManyUnionsError(_too_many())
    return list(found.values())


def _too_many() -> str:
    remedy = "publish fewer or coarser tables, or call fewer counts small"
    return must_be(
        "small sums of hidden figures", f"at most {MOST_UNIONS:,}", "more", remedy=remedy
    )


def rows_of(figures: LinkedFigures) -> Iterator[tuple[int, ...]]:
    """The siblings in every row, column and node of the tables."""
    for layout, entries in zip(figures.layouts, figures.entries, strict=True):
        shaped = entries.reshape(layout.shape)
        for place, variable in enumerate(layout.variables):
            for siblings in _siblings(variable):
                others = [range(n) for i, n in enumerate(layout.shape) if i != place]
                for rest in product(*others):
                    at = [(*rest[:place], one, *rest[place:]) for one in siblings]
                    own = [int(shaped[one]) for one in at]
                    yield tuple(dict.fromkeys(one for one in own if one != NONE))


def parts_of(figures: LinkedFigures) -> dict[int, tuple[int, ...]]:
    """Other figures that a figure is the sum of, in the fewest terms; none for those that are no
    sum of siblings."""
    known = {figures.cells(figure).tobytes(): figure for figure in range(figures.n_told)}
    found: dict[int, tuple[int, ...]] = {}
    for row in rows_of(figures):
        if len(row) < 2:
            continue
        cells = np.sort(np.concatenate([figures.cells(figure) for figure in row]))
        parent = known.get(cells.tobytes(), NONE)
        if parent != NONE and len(row) < len(found.get(parent, cells)):
            found[parent] = row
    return found


def _siblings(variable: Classified) -> list[list[int]]:
    """The categories that lie directly in the same larger one, or in none."""
    holds = variable.holds
    size = holds.sum(axis=1)
    # A node with a single child holds the same levels: the first of the two stands for both.
    _, first = np.unique(holds, axis=0, return_index=True)
    kept = np.sort(first).tolist()
    found: dict[int, list[int]] = {}
    for one in kept:
        above = [k for k in kept if size[k] > size[one] and np.all(holds[k] >= holds[one])]
        parent = min(above, key=lambda k: int(size[k]), default=NONE)
        found.setdefault(parent, []).append(one)
    return [own for own in found.values() if len(own) > 1]


def _sums(
    row: Sequence[int], figures: LinkedFigures, hidden: BoolArray, rule: Rule
) -> Iterator[tuple[int, ...]]:
    """The sets of figures of a row whose sum is sensitive, with all hidden zeros and without."""
    counts = figures.counts
    own = [one for one in row if hidden[one]]
    zeros = tuple(one for one in own if counts[one] == 0)
    some = sorted((one for one in own if 0 < counts[one] <= rule.small), key=lambda o: counts[o])
    for few in _up_to(some, [int(counts[one]) for one in some], rule.small):
        for every in {few, (*few, *zeros)}:
            if len(every) > 1 and _are_apart(every, figures):
                yield every


def _up_to(figures: Sequence[int], counts: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    """All sets of one or more figures with a sum of at most so much; counts ascend."""
    for i, count in enumerate(counts):
        if count > most:
            return
        yield (figures[i],)
        for rest in _up_to(figures[i + 1 :], counts[i + 1 :], most - count):
            yield (figures[i], *rest)


def _are_apart(own: Sequence[int], figures: LinkedFigures) -> bool:
    """Whether no two figures share a cell."""
    cells = np.concatenate([figures.cells(figure) for figure in own])
    return len(np.unique(cells)) == len(cells)


def _label(figures: LinkedFigures, own: Sequence[int]) -> str:
    return " + ".join(figures.name(figure) for figure in sorted(own))
