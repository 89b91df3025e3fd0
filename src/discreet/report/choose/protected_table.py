"""What was chosen, drawn as it would go out: which figures are hidden, and why each of them is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from discreet.choice.publication import publication_of
from discreet.choice.risk_utility import RiskUtility
from discreet.data.layout import Layout
from discreet.data.table import Table
from discreet.masks.contract import Axes, Masked, PublishedTable
from discreet.masks.redaction import NAME as REDACTION
from discreet.masks.suppression import Zeros
from discreet.report import words
from discreet.report.document import Block, Box, Grid, Section, Text

TITLE = "The table as it would go out"
MOST_FIGURES = 1024  # of one table that is drawn
MOST_TABLES = 12
ALL = "all"
PRIMARY, SECONDARY, SHOWN = range(3)
KEY = ("hidden: small itself", "hidden to protect others", "shown")
MEANING = (
    "A figure that is small is hidden first. Since tables add up, others must be hidden with it, "
    "totals too, or it could be worked out; decoys may be among them. Nobody outside may know "
    "which are which."
)
ALONE = "A figure that is small is removed, each for itself."


def protected_section(found: RiskUtility) -> Section:
    """Every table that the chosen release publishes; nothing where nothing is released."""
    chosen = found.chosen
    if chosen is None or chosen.is_nothing:
        return Section(TITLE, ())
    publication = publication_of(chosen, found.table)
    primary = _small(chosen.masked)
    alone = chosen.masked is not None and chosen.masked.mask == REDACTION
    if any(one.layout is not None for one in publication.published):
        small = 0 if chosen.masked is None else chosen.masked.parameters.get("small", 0)
        drawn = linked_blocks(publication.published, int(str(small)))
        return Section(TITLE, tuple(drawn), only="page")
    tables = {one.axes: one for one in publication.published}
    out = _Out(publication.table, tables, primary, alone)
    blocks: list[Block] = []
    if out.hides:
        blocks.append(Text(ALONE if alone else MEANING, "soft"))
    largest = out.largest()
    for axes in largest[:MOST_TABLES]:
        blocks.append(Text(out.title(axes), "strong"))
        blocks.append(out.drawn(axes))
    if len(largest) > MOST_TABLES:
        left = words.plural(len(largest) - MOST_TABLES, "more table")
        blocks.append(Text(f"And {left}: --write puts all of them in files.", "soft"))
    return Section(TITLE, tuple(blocks), only="page")


def linked_blocks(published: Sequence[PublishedTable], small: int) -> Iterator[Block]:
    """Tables with categories of their own, each by itself; counts to `small` are hidden first."""
    hides = any(one.shown is not None and not one.shown.all() for one in published)
    if hides:
        yield Text(MEANING, "soft")
    for one in published[:MOST_TABLES]:
        assert one.layout is not None
        yield Text(one.layout.title, "strong")
        yield _linked(one, one.layout, small, hides=hides)
    if len(published) > MOST_TABLES:
        left = words.plural(len(published) - MOST_TABLES, "more table")
        yield Text(f"And {left}: --write puts all of them in files.", "soft")


def _linked(one: PublishedTable, layout: Layout, small: int, *, hides: bool) -> Block:
    """One table, its last variable across."""
    if not layout.variables:
        return Text(words.count(int(one.counts)))
    if one.counts.size > MOST_FIGURES:
        number = words.count(one.counts.size)
        return Text(f"{number} figures, too many to draw: --write puts them in a file.", "soft")
    shown = [True] * one.counts.size if one.shown is None else one.shown.ravel().tolist()
    boxes = [
        _linked_box(count, is_shown, true <= small)
        for count, is_shown, true in zip(
            one.counts.ravel().tolist(), shown, layout.counts().ravel().tolist(), strict=True
        )
    ]
    *down, last = layout.variables
    width = len(last.categories)
    rows = product(*(variable.categories for variable in down))
    names = layout.names()
    return Grid(
        names=names[:-1],
        across=names[-1],
        levels=last.categories,
        rows=tuple(
            (labels, tuple(boxes[i * width : (i + 1) * width])) for i, labels in enumerate(rows)
        ),
        shades=KEY if hides else (),
        style="hide",
    )


def _linked_box(count: int, is_shown: bool, is_primary: bool) -> Box:
    if is_shown:
        return Box(words.count(count), "", SHOWN, False)
    return Box("hidden", "small" if is_primary else "with it", int(not is_primary), False)


def _small(masked: Masked | None) -> frozenset[str]:
    """The names of figures that a suppression hides because they are small: decoys are protected
    like these, but this page is for the agency, which may know which are which."""
    protection = None if masked is None else masked.protection
    if masked is None or protection is None:
        return frozenset()
    if not masked.parameters.get("decoys"):
        return frozenset(protection.names)
    named = zip(protection.names, protection.counts.tolist(), strict=True)
    least = 0 if masked.parameters["zeros"] == Zeros.SENSITIVE else 1
    most = masked.parameters["small"]
    assert isinstance(most, int)
    return frozenset(name for name, count in named if least <= count <= most)


@dataclass(frozen=True, slots=True)
class _Out:
    """The published tables by their variables, and the names of figures that are hidden first; all
    are where each is hidden for itself `alone`."""

    table: Table
    published: Mapping[Axes, PublishedTable]
    primary: frozenset[str]
    alone: bool

    @property
    def hides(self) -> bool:
        return any(one.shown is not None and not one.shown.all() for one in self.published.values())

    def largest(self) -> list[Axes]:
        """Sets of variables that lie in no other: the rest are their totals."""
        sets = list(self.published)
        return [axes for axes in sets if not any(set(axes) < set(other) for other in sets)]

    def title(self, axes: Axes) -> str:
        return " × ".join(self.table.names[axis] for axis in axes) or "Number of persons"

    def drawn(self, axes: Axes) -> Block:
        """The table with the totals that go out beside it, its last variable across."""
        if not axes:
            return Text(words.count(int(self.published[axes].counts)))
        if self.published[axes].counts.size > MOST_FIGURES:
            number = words.count(self.published[axes].counts.size)
            return Text(f"{number} figures, too many to draw: --write puts them in a file.", "soft")
        *down, last = axes
        across = self._places(last, axes)
        rows = tuple(
            (
                tuple(self._label(axis, i) for axis, i in zip(down, place, strict=True)),
                tuple(self._box(axes, (*place, j)) for j in across),
            )
            for place in product(*(self._places(axis, axes) for axis in down))
            if self._has(axes, (*place, None)) or self._has(axes, (*place, 0))
        )
        return Grid(
            names=tuple(self.table.names[axis] for axis in down),
            across=self.table.names[last],
            levels=tuple(self._label(last, j) for j in across),
            rows=rows,
            shades=KEY if self.hides else (),
            style="hide",
        )

    def _places(self, axis: int, axes: Axes) -> list[int | None]:
        """The levels of a variable, and after them (None) all together where that goes out."""
        places: list[int | None] = list(range(self.table.sizes[axis]))
        without = set(axes) - {axis}
        summed = any(axis not in own and set(own) <= without for own in self.published)
        return [*places, None] if summed else places

    def _label(self, axis: int, level: int | None) -> str:
        return ALL if level is None else str(self.table.levels[axis][level])

    def _own(self, axes: Axes, place: tuple[int | None, ...]) -> tuple[Axes, tuple[int, ...]]:
        """The variables that are not summed over, and where the figure stands among theirs."""
        kept = [(axis, i) for axis, i in zip(axes, place, strict=True) if i is not None]
        return tuple(axis for axis, _ in kept), tuple(i for _, i in kept)

    def _has(self, axes: Axes, place: tuple[int | None, ...]) -> bool:
        return self._own(axes, place)[0] in self.published

    def _box(self, axes: Axes, place: tuple[int | None, ...]) -> Box:
        own, at = self._own(axes, place)
        one = self.published.get(own)
        if one is None:
            return Box("", "", SHOWN, False)
        if one.shown is None or one.shown[at]:
            return Box(words.count(int(one.counts[at])), "", SHOWN, False)
        if self.alone or self._name(own, at) in self.primary:
            return Box("hidden", "small", PRIMARY, False)
        return Box("hidden", "with it", SECONDARY, False)

    def _name(self, axes: Axes, at: tuple[int, ...]) -> str:
        pairs = zip(axes, at, strict=True)
        named = (f"{self.table.names[a]}={self.table.levels[a][i]}" for a, i in pairs)
        return ", ".join(named) or "total"
