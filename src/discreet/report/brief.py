"""A result in a few lines, as Python prints it: what it is, the answer, what speaks against it, and
how to see the rest."""

import re
from collections.abc import Iterator
from io import StringIO
from typing import Any

from rich.console import Console
from rich.text import Text as RichText

from discreet.errors import one_line
from discreet.report.document import Document, Section, Text, shown_on
from discreet.report.render_terminal import WIDTH, indented, print_blocks, print_part
from discreet.report.results import document_of
from discreet.report.verdict import NEXT
from discreet.report.words import full

MOST_SCOPE, MOST_LINES, MOST_CAVEATS = 2, 6, 2  # lines of scope, of the answer, of caveats
MOST_STEPS = 3  # lines of what to do now
OPTION = re.compile(r"`[^`]*`|--risks\s+FILE\.csv|--[a-z][a-z-]*")
NO_SIZE = (
    "only bounds are known without the size of the population: give population or weight, or "
    "whole_population if these records are everybody"
)
MORE = "More: .write_report('report.html'), .tables(), .to_frame(), .to_json()"
MORE_RECORDS = f"{MORE}, .records()"


def brief(result: Any) -> str:
    """Title, what was looked at, and the first section (the verdict where there is one, else the
    headline), then in a line what speaks against the figures. Options go by their names in Python.
    """
    document = document_of(result)
    if document is None:
        return f"<{type(result).__name__}>"
    more = MORE_RECORDS if hasattr(result, "records") else MORE
    return "\n".join([*_lines(result, document), more])


def _lines(result: Any, document: Document) -> list[str]:
    title = [one_line(document.title)]
    scope = [line for part in document.scope for line in _printed(part)][:MOST_SCOPE]
    sections = [b for b in shown_on("terminal", document.blocks) if isinstance(b, Section)]
    answer = _answer(sections[0]) if sections else []
    said = " ".join(" ".join(answer[: MOST_LINES - MOST_CAVEATS]).split())
    caveats = [one for one in dict.fromkeys(_caveats(result, document)) if one not in said]
    told = _printed(f"Mind: {' '.join(caveats)}") if caveats else []
    if len(told) > MOST_CAVEATS:
        told = [*told[: MOST_CAVEATS - 1], f"{told[MOST_CAVEATS - 1]} …"]
    now = _changed(result) or _first_step(sections)
    text = "\n".join([*_cut(answer, MOST_LINES - len(told)), *told, *now])
    return title + scope + OPTION.sub(_in_python, text).splitlines()


def _changed(result: Any) -> list[str]:
    """What was changed of a file that now keeps its rules."""
    if type(result).__name__ != "Protected" or not result.reached:
        return []
    from discreet.report.protect.words import changes

    return _cut(_printed(f"Changed: {'; '.join(changes(result))}."), MOST_STEPS)


def _first_step(sections: list[Section]) -> list[str]:
    """What to do now, as far as it fits into a line or two; commands are for the terminal."""
    steps = [b for one in sections if one.title == NEXT for b in one.blocks if isinstance(b, Text)]
    step = next((one.text for one in steps if "`" not in one.text and "--" not in one.text), None)
    return [] if step is None else _cut(_printed(f"{NEXT}: {step}"), MOST_STEPS)


def _caveats(result: Any, document: Document) -> Iterator[str]:
    """What must not be overlooked: of an estimate first, then what stands in the short view."""
    if type(result).__name__ == "Assessment":
        yield from _of_estimate(result)
    yield from _warnings(shown_on("terminal", document.blocks))


def _of_estimate(assessment: Any) -> Iterator[str]:
    """What speaks against the recommended estimate, and what there is instead of it."""
    from discreet.report.assess.words import headline_note

    led = assessment.recommended
    if assessment.summary.population_size is None and assessment.verdict is None:
        yield full(NO_SIZE)
    if headline_note(led):
        yield full(headline_note(led))
    if led.disagreement:
        yield full(led.disagreement)


def _warnings(blocks: Iterator[Any]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, Section):
            yield from _warnings(shown_on("terminal", block.blocks))
        elif isinstance(block, Text) and block.style == "warning":
            yield block.text


def _in_python(found: re.Match[str]) -> str:
    """An option by its name in Python; commands stay as they are."""
    text = found[0]
    if text.startswith("`"):
        return text
    return ".records()" if text.startswith("--risks") else text[2:].replace("-", "_")


def _printed(text: str) -> list[str]:
    console = _console()
    print_part(console, indented(RichText(one_line(text))))
    return _written(console)


def _answer(section: Section) -> list[str]:
    console = _console()
    print_blocks(console, (section,), has_page=True)
    return [line for line in _written(console) if line]


def _cut(lines: list[str], most: int) -> list[str]:
    return lines if len(lines) <= most else [*lines[:most], "  …"]


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
