"""A result in a few lines, as Python prints it: what it is, the answer, and how to see the rest."""

from io import StringIO
from typing import Any

from rich.console import Console
from rich.text import Text as RichText

from discreet.errors import one_line
from discreet.report.document import Document, Section, shown_on
from discreet.report.render_terminal import WIDTH, indented, print_blocks, print_part
from discreet.report.results import document_of

MOST_SCOPE, MOST_LINES = 2, 6  # lines of what was looked at, and of the answer
MORE = "More: .write_report('report.html'), .tables(), .to_frame(), .to_json()"
MORE_RECORDS = f"{MORE}, .records()"


def brief(result: Any) -> str:
    """Title, what was looked at, and the first section: the verdict where there is one, else the
    headline."""
    document = document_of(result)
    if document is None:
        return f"<{type(result).__name__}>"
    more = MORE_RECORDS if hasattr(result, "records") else MORE
    return "\n".join([*_lines(document), more])


def _lines(document: Document) -> list[str]:
    title = [one_line(document.title)]
    scope = [line for part in document.scope for line in _printed(part)][:MOST_SCOPE]
    first = next((b for b in shown_on("terminal", document.blocks) if isinstance(b, Section)), None)
    return title + scope + ([] if first is None else _answer(first))


def _printed(text: str) -> list[str]:
    console = _console()
    print_part(console, indented(RichText(one_line(text))))
    return _written(console)


def _answer(section: Section) -> list[str]:
    console = _console()
    print_blocks(console, (section,), has_page=True)
    lines = [line for line in _written(console) if line]
    return lines if len(lines) <= MOST_LINES else [*lines[:MOST_LINES], "  …"]


def _console() -> Console:
    return Console(
        file=StringIO(),
        width=WIDTH,
        color_system=None,
        highlight=False,
        emoji=False,
        markup=False,
        force_terminal=False,
        force_jupyter=False,
    )


def _written(console: Console) -> list[str]:
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().splitlines()
