"""A document on the terminal, readable at 80 columns; nothing in the data can act on it."""

from collections.abc import Iterator, Sequence
from typing import Literal

from rich.console import Console, ConsoleRenderable
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table as RichTable
from rich.text import Text as RichText

from discreet.errors import one_line
from discreet.report import words
from discreet.report.document import (
    Block,
    Document,
    Section,
    Table,
    Text,
    View,
    has_more,
    shown_on,
)

WIDTH = 80
LONGEST_NAME = 40  # that a table of numbers leaves room for
STYLES = {"plain": "", "strong": "bold", "soft": "dim", "warning": "yellow"}


def print_document(
    console: Console, document: Document, *, has_page: bool = False, full: bool = False
) -> None:
    """Title, scope and the blocks of the short or the full view.

    What is left out is said, unless `has_page`: then it is on the page.
    """
    view: View = "full" if full else "terminal"
    print_part(console, RichText(one_line(document.title), style="bold"))
    for line in document.scope:
        print_part(console, indented(RichText(one_line(line))))
    print_blocks(console, document.blocks, has_page=has_page, view=view)
    if view == "terminal" and has_more(document):
        where = "the report" if has_page else "--full, or --report FILE.html for a page"
        print_part(console, RichText(f"\nAll figures and how they were got: {where}.", style="dim"))


def print_blocks(
    console: Console, blocks: Sequence[Block], *, has_page: bool = False, view: View = "terminal"
) -> None:
    """Blocks without the title of a document."""
    for part in _parts(tuple(blocks), has_page, view):
        print_part(console, part)


def print_part(console: Console, part: ConsoleRenderable) -> None:
    """A part of a report without blanks at the ends of its lines."""
    for line in console.render_lines(part, pad=False):
        console.print(trimmed(line), soft_wrap=True)


def trimmed(line: Sequence[Segment]) -> RichText:
    """A line as the console rendered it, without blanks at its end."""
    text = RichText.assemble(*((segment.text, segment.style or "") for segment in line))
    text.rstrip()
    return text


def heading(title: str) -> ConsoleRenderable:
    """The title of a section, with air above it."""
    return RichText(f"\n{one_line(title)}", style="bold")


def indented(part: ConsoleRenderable) -> ConsoleRenderable:
    """Two columns to the right."""
    return Padding(part, (0, 0, 0, 2), expand=False)


def _parts(blocks: tuple[Block, ...], has_page: bool, view: View) -> Iterator[ConsoleRenderable]:
    for block in shown_on(view, blocks):
        if isinstance(block, Section):
            yield heading(block.title)
            yield from _parts(block.blocks, has_page, view)
        elif isinstance(block, Text):
            yield indented(RichText(one_line(block.text), style=STYLES[block.style]))
        elif isinstance(block, Table):
            yield indented(_table(block))
            yield from _rest(block, has_page)


def _table(table: Table) -> RichTable:
    """A table without lines; names in the first column stay whole while they can."""
    named = any(table.header)  # a table of figures with their names alone has no header line
    drawn = RichTable(
        box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", show_header=named
    )
    columns = table.columns[: len(table.header) - table.page_columns]
    for name, side in columns:
        justify: Literal["left", "right"] = "right" if side == "r" else "left"
        title = "\n".join(one_line(part) for part in name.split("\n"))
        drawn.add_column(title, justify=justify, overflow="fold")
    rows = [[one_line(cell) for cell in row[: len(columns)]] for row in table.rows[: table.most]]
    drawn.columns[0].no_wrap = max((len(row[0]) for row in rows), default=0) <= LONGEST_NAME
    for row in rows:
        drawn.add_row(*row)
    return drawn


def _rest(table: Table, has_page: bool) -> Iterator[ConsoleRenderable]:
    """How many rows are left out, and where they are."""
    if table.most is None or len(table.rows) <= table.most:
        return
    shown = f"{table.most} {table.first}" if table.first else f"first {table.most}"
    where = "" if has_page else "; --report or --json shows the rest"
    yield indented(RichText(f"The {shown} of {words.count(len(table.rows))}{where}.", style="dim"))
