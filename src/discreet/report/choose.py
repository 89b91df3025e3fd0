"""A choice of what to release on the terminal, readable at 80 columns."""

from collections.abc import Iterator
from pathlib import Path

from rich.console import Console, ConsoleRenderable
from rich.table import Table
from rich.text import Text

from discreet.choice.risk_utility import RiskUtility
from discreet.choice.users import wants
from discreet.errors import one_line
from discreet.report import words
from discreet.report.choose_words import (
    LEGEND,
    WORTH,
    conflict_words,
    headline,
    intruder_hint,
    intruder_words,
    mark,
    ordered,
    reasons,
    risk_meaning,
    risk_words,
    scope,
    search_words,
    short,
    standing_words,
    unknown_words,
    worth_number,
    worth_words,
)
from discreet.report.text import filled_table, heading, indented, plain_table

SHOWN = 25  # candidates
LONGEST = 36  # characters of a name


def print_choice(
    console: Console, source: str, found: RiskUtility, *, report: Path | None = None
) -> None:
    """The decision, the map as a table, what each user gets."""
    for part in _parts(source, found, report):
        console.print(part)


def _parts(source: str, found: RiskUtility, report: Path | None) -> Iterator[ConsoleRenderable]:
    yield Text(one_line(f"What to release of {source}"), style="bold")
    yield indented(Text("\n".join(scope(found))))
    yield heading("Decision")
    yield indented(Text(headline(found), style="bold"))
    for line in reasons(found):
        yield indented(Text(one_line(line)))
    yield heading("Risk and worth of what could be released")
    yield indented(_map(found))
    left = len(found.candidates) - SHOWN
    if left > 0:
        more = "" if report else "; --report or --json shows them"
        yield indented(Text(f"and {words.count(left)} more{more}", style="dim"))
    for line in (LEGEND, risk_meaning(found), WORTH):
        yield indented(Text(line, style="dim"))
    for line in unknown_words(found):
        yield indented(Text(one_line(line), style="yellow"))
    if found.search is not None:
        yield heading("The search for the best set of margins")
        for line in search_words(found):
            yield indented(Text(one_line(line)))
    yield heading("Whom it serves")
    yield indented(_users(found))
    if conflict_words(found):
        yield indented(Text(conflict_words(found)))
    yield heading("Whom it is guarded against")
    for line in intruder_words(found):
        yield indented(Text(line))
    if intruder_hint(found):
        yield indented(Text(intruder_hint(found), style="yellow"))
    for note in found.notes:
        yield indented(Text(one_line(f"Look here: {words.sentence(note)}."), style="yellow"))


def _map(found: RiskUtility) -> Table:
    table = plain_table("", "release", "risk", "worth", "the cap")
    table.columns[1].justify = "left"
    for i in ordered(found)[:SHOWN]:
        one = found.candidates[i]
        row = (short(one.title, LONGEST), risk_words(one.risk), worth_words(one))
        table.add_row(mark(found, i), *row, standing_words(found, i))
    return table


def _users(found: RiskUtility) -> Table:
    chosen = found.chosen
    rows = []
    for user in found.scientists:
        own = "–" if chosen is None or not chosen.worths else worth_number(chosen.worths[user.name])
        best = found.best_for.get(user.name)
        name = "–" if best is None else short(found.candidates[best].title, LONGEST)
        rows.append((user.name, f"{user.weight:g}", own, name, wants(user.name)))
    header = ("user", "weight", "worth", "best within the cap", "wants")
    return filled_table(header, rows)
