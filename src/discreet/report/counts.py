"""What count statistics give away, on the terminal, readable at 80 columns."""

from collections.abc import Iterator

from rich.console import Console, ConsoleRenderable
from rich.text import Text

from discreet.errors import one_line
from discreet.figures import Unavailable
from discreet.report import words
from discreet.report.counts_words import (
    KNOWLEDGE_HEADER,
    PRIOR_HEADER,
    ZEROS_CAME_IN,
    best_guess,
    bounds_header,
    bounds_meaning,
    bounds_of,
    bounds_row,
    count_words,
    fit_notes,
    fit_rows,
    interval_line,
    knowledge_rows,
    likely_rows,
    prior_notes,
    prior_row,
    title,
    warnings,
    zeros_came_in,
)
from discreet.report.text import filled_table, heading, indented
from discreet.risk.count_assessment import CountAssessment

SHOWN_VALUES = 40
SHOWN_TABLES = 7


def print_counts(console: Console, a: CountAssessment, source: str) -> None:
    """The summary that fits on a page or two."""
    for part in _parts(a, source):
        console.print(part)


def _parts(a: CountAssessment, source: str) -> Iterator[ConsoleRenderable]:
    yield Text(one_line(title(a)), style="bold")
    yield indented(Text(one_line(source), style="dim"))
    yield heading("What goes out" if a.table is None else "What would go out")
    for line in a.release.lines():
        yield indented(Text(line))
    yield from _rebuilt(a)
    yield from _priors(a)
    yield from _knowledge(a)
    yield from _fit(a)
    yield from _verdict(a)


def _rebuilt(a: CountAssessment) -> Iterator[ConsoleRenderable]:
    yield heading("What a snooper can rebuild")
    yield indented(Text(f"Tables consistent with it: {count_words(a.found)}"))
    if isinstance(a.found, Unavailable):
        return
    yield indented(Text(f"Best guess: {best_guess(a)}"))
    rows = [bounds_row(a, bound) for bound in bounds_of(a)]
    if rows:
        yield indented(filled_table(bounds_header(a), rows[:SHOWN_VALUES]))
        if len(rows) > SHOWN_VALUES:
            yield indented(Text(f"and {words.count(len(rows) - SHOWN_VALUES)} values more; --json"))
    for line in bounds_meaning(a):
        yield indented(Text(line, style="dim"))
    tables = likely_rows(a, SHOWN_TABLES)
    if tables:
        header = ("most probable: counts of 0, 1, …", "probable", "")
        shown = 3 if any(mark for *_, mark in tables) else 2
        yield indented(filled_table(header[:shown], [row[:shown] for row in tables]))


def _priors(a: CountAssessment) -> Iterator[ConsoleRenderable]:
    if isinstance(a.found, Unavailable):
        return
    yield heading("How sure a snooper is of the table")
    width = len(PRIOR_HEADER) - (a.table is None)
    rows = [prior_row(name, risk)[:width] for name, risk in a.risks.items()]
    yield indented(filled_table(PRIOR_HEADER[:width], rows))
    for note in prior_notes(a):
        yield indented(Text(one_line(note)))
    line = interval_line(a)
    if line:
        yield indented(Text(line, style="dim"))


def _knowledge(a: CountAssessment) -> Iterator[ConsoleRenderable]:
    if a.before is None or a.options.knowledge is None:
        return
    yield heading("What the knowledge adds (under multinomial)")
    yield indented(Text(f"Known: {'; '.join(a.options.knowledge.described())}."))
    yield indented(filled_table(KNOWLEDGE_HEADER, knowledge_rows(a)))
    if zeros_came_in(a):
        yield indented(Text(ZEROS_CAME_IN, style="dim"))


def _fit(a: CountAssessment) -> Iterator[ConsoleRenderable]:
    yield heading("What a user can still learn: the COM-Poisson fit")
    rows = fit_rows(a)
    if rows:
        yield indented(filled_table(("", "rate", "dispersion"), rows))
    for note in fit_notes(a):
        yield indented(Text(one_line(note)))


def _verdict(a: CountAssessment) -> Iterator[ConsoleRenderable]:
    found = warnings(a)
    if a.verdict is not None:
        yield heading("Verdict")
        yield indented(Text(one_line(words.sentence(a.verdict.sentence)), style="bold"))
    elif found:
        yield heading("Look here")
    for line in found:
        yield indented(Text(one_line(line), style="yellow"))
