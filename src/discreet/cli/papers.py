"""discreet papers"""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from discreet.cli.grouped import Command

if TYPE_CHECKING:
    from rich.console import Console, ConsoleRenderable
    from rich.table import Table
    from rich.text import Text

    from discreet.papers.rows import Row

NAMES = (
    "cohen-sackrowitz",
    "dobra-fienberg-trottini",
    "polettini",
    "takemura",
    "kadane-krishnan-shmueli",
)
NARROW, WIDE = 80, 120
HEADER = ("figure", "printed", "computed", "verdict", "note")
PAGES = "docs/slips"
STYLES = {
    "agrees": "green",
    "paper slip": "yellow",
    "paper simulated": "cyan",
    "data not public": "dim",
    "disagrees": "bold red",
    "not computed": "bold red",
}
FAULTS = {"disagrees", "not computed"}  # either of them makes the command fail
MEANING = {
    "agrees": "what is computed rounds to what is printed",
    "paper slip": "what is printed is wrong; the page named proves it",
    "paper simulated": "the paper drew at random, and is off by no more than that explains",
    "data not public": "cannot be computed again without the paper's data",
    "disagrees": "not explained: a fault of ours until proved otherwise",
    "not computed": "could not be had here; the row says why",
}


@click.command(name="papers", cls=Command)
@click.option(
    "--paper", "names", type=click.Choice(NAMES), multiple=True,
    help="Only this paper; may be given several times [default: all five].",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list on stdout.")
def command(names: tuple[str, ...], as_json: bool) -> None:
    """Every figure printed in the five papers that this product is built on, computed again.

    One row each: what is printed, what comes out here, and the verdict. Takes ten seconds or so.
    Exit code 1 if a figure could not be computed or differs without an explanation.
    """
    from discreet.cli.console import progress_bar, stdout_console
    from discreet.papers.catalogue import paper_rows

    with progress_bar() as progress:
        found = paper_rows(names or NAMES, progress=progress)
    if as_json:
        rows = [row.to_json() for row in found]
        click.echo(json.dumps(rows, ensure_ascii=False, allow_nan=False, indent=2))
    else:
        console = stdout_console()
        console.width = _width(console)
        for part in _parts(found, console.width):
            console.print(part)
    if FAULTS & {row.verdict.value for row in found}:
        raise click.exceptions.Exit(1)


def _width(console: "Console") -> int:
    """As wide as the terminal, from 80 up to 120 columns; 80 when stdout is no terminal."""
    import shutil

    if not sys.stdout.isatty():
        return NARROW
    return max(NARROW, min(shutil.get_terminal_size().columns, WIDE))


def _parts(found: Sequence["Row"], width: int) -> "Iterator[ConsoleRenderable]":
    from rich.text import Text

    from discreet.report.render_terminal import heading, indented

    for paper in dict.fromkeys(row.paper for row in found):
        own = [row for row in found if row.paper == paper]
        yield heading(f"{paper}: {_tally(own)}")
        for part in _rows(own, width):
            yield indented(part)
    yield heading("In all")
    yield indented(Text(_tally(found)))
    for verdict in dict.fromkeys(row.verdict.value for row in found):
        yield indented(Text(f"{verdict}: {MEANING[verdict]}", style="dim"))
    yield indented(Text(f"Where names stand in brackets: {PAGES}/NAME.md.", style="dim"))


def _tally(rows: Sequence["Row"]) -> str:
    numbers = sum(row.n_numbers for row in rows)
    counts = Counter(row.verdict.value for row in rows)
    listed = ", ".join(f"{counts[verdict]} {verdict}" for verdict in MEANING if counts[verdict])
    return f"{len(rows)} rows, {numbers} numbers compared; {listed}"


def _rows(rows: Sequence["Row"], width: int) -> "Iterator[ConsoleRenderable]":
    """Figure, printed, computed, verdict; the note beside them or, where it is narrow, below."""
    from rich.padding import Padding
    from rich.text import Text

    wide = width >= WIDE
    columns = (28, 21, 21, 15, 25) if wide else (24, 16, 17, 15)
    yield _grid(columns, [Text(name, style="dim") for name in HEADER[: len(columns)]])
    for row in rows:
        verdict = row.verdict.value
        cells = [
            Text(row.figure),
            Text(" ".join(row.printed)),
            Text(" ".join(row.shown)),
            Text(verdict, style=STYLES[verdict]),
        ]
        note = Text(said(row), style="dim")
        yield _grid(columns, [*cells, note] if wide else cells)
        if not wide and note:
            yield Padding(note, (0, 0, 0, 2))


def _grid(widths: Sequence[int], cells: "Sequence[Text]") -> "Table":
    """One line of cells of these widths, each folded within its own."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 2, 0, 0))
    for width in widths:
        grid.add_column(width=width, overflow="fold")
    grid.add_row(*cells)
    return grid


def said(row: "Row") -> str:
    """The note, and the page with the argument where there is one to make."""
    return " ".join(part for part in (row.note, f"[{row.page}]" if row.link else "") if part)
