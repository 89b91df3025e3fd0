"""A result as a document: what is said and in which order, not what it looks like.

Each flow turns its result into a `Document` once. `render_terminal` and `render_html` show the same
document; a block that makes sense in one of them alone says so in `only`: `detail` stands on the
page, and on the terminal where the user asks for all (`--full`). Plots are functions that
a page calls, so building a document loads no drawing library.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

Place = Literal["terminal", "page", "detail"]
View = Literal["terminal", "full", "page"]
PLACES: dict[View, tuple[Place | None, ...]] = {  # what each view shows of what says where it goes
    "terminal": (None, "terminal"),
    "full": (None, "terminal", "detail"),
    "page": (None, "page", "detail"),
}
Row = tuple[str, ...]
NUMBER = re.compile(r"(about |at most |at least |[<>±+−-] ?)?[.\d]|[–?]?$")  # how one begins


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph; `soft` explains, a `warning` must not be overlooked."""

    kind: ClassVar = "text"
    text: str
    style: Literal["plain", "strong", "soft", "warning"] = "plain"
    only: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows under a header; a line break in the header is for narrow columns.

    `sides` has a letter for each column, l for text and r for numbers; without it the first column
    is text, and of the others those that hold no number. The last `page_columns` stand on the page
    only, as do rows beyond `most`; `first` says which rows come before others.
    """

    kind: ClassVar = "table"
    header: Row
    rows: tuple[Row, ...]
    sides: str = ""
    page_columns: int = 0
    most: int | None = None
    first: str = ""
    only: Place | None = None

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Names and sides."""
        sides = self.sides or "".join(self._side(place) for place in range(len(self.header)))
        return list(zip(self.header, sides, strict=True))

    def _side(self, column: int) -> str:
        cells = [row[column] for row in self.rows]
        return "r" if column and all(NUMBER.match(cell) for cell in cells) else "l"


@dataclass(frozen=True, slots=True)
class Plot:
    """A picture; `draw` gives its SVG, `label` says what it shows to those who cannot see it."""

    kind: ClassVar = "plot"
    name: str
    label: str
    draw: Callable[[], str]
    only: Place = "page"


@dataclass(frozen=True, slots=True)
class Tiles:
    """The main figures, large: each with what it is; the first in red where it is `bad`."""

    kind: ClassVar = "tiles"
    tiles: tuple[tuple[str, str], ...]
    bad: bool = False
    only: Place = "page"


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and values, such as the options that were used."""

    kind: ClassVar = "facts"
    facts: tuple[tuple[str, str], ...]
    only: Place = "page"


@dataclass(frozen=True, slots=True)
class Box:
    """A cell of a grid: two lines, a shade from 0 (worst) to 4, or 5 for one that cannot
    be, and perhaps a frame."""

    text: str
    below: str
    shade: int
    framed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table of boxes: levels of `names` down, those of the variable `across` across.

    `shades` is the key of the boxes' shades; `style` names their colours: `shade` from the worst
    on, `hide` for figures that are hidden first, hidden with others, and shown.
    """

    kind: ClassVar = "grid"
    names: Row
    across: str
    levels: Row
    rows: tuple[tuple[Row, tuple[Box, ...]], ...]
    shades: Row
    style: Literal["shade", "hide"] = "shade"
    only: Place = "page"


@dataclass(frozen=True, slots=True)
class Section:
    """A title and what stands under it; on the page perhaps beside its neighbour (`half`), in the
    colour of a verdict (`tone`), or closed until it is asked for (`collapsed`; on the terminal it
    then stands in the full view only)."""

    kind: ClassVar = "section"
    title: str
    blocks: tuple["Block", ...]
    tone: Literal["", "good", "bad", "open"] = ""
    half: bool = False
    collapsed: bool = False
    only: Place | None = None


Block = Text | Table | Plot | Tiles | Facts | Grid | Section


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A whole report; `confidential` for what may not leave the agency, `public` for what may.

    `made` says at the foot of a page where it comes from.
    """

    title: str
    scope: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    mark: Literal["confidential", "public"] | None = None
    made: tuple[tuple[str, str], ...] = ()


def shown_on(view: View, blocks: tuple[Block, ...]) -> Iterator[Block]:
    """The blocks of a terminal or a page; sections with nothing to show are left out."""
    for block in blocks:
        if block.only not in PLACES[view]:
            continue
        if isinstance(block, Section):
            closed = view == "terminal" and block.collapsed
            if closed or not any(shown_on(view, block.blocks)):
                continue
        yield block


def has_more(document: Document) -> bool:
    """Whether the full view on the terminal shows more than the short one."""

    def number(view: View, blocks: tuple[Block, ...]) -> int:
        shown = shown_on(view, blocks)
        return sum(
            1 + (number(view, one.blocks) if isinstance(one, Section) else 0) for one in shown
        )

    return number("full", document.blocks) > number("terminal", document.blocks)


def plots_in(document: Document) -> Iterator[Plot]:
    """All plots of a document, in their order."""
    for block in shown_on("page", document.blocks):
        inner = shown_on("page", block.blocks) if isinstance(block, Section) else (block,)
        yield from (one for one in inner if isinstance(one, Plot))
