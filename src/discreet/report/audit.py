"""An audit on the terminal, readable at 80 columns."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console, ConsoleRenderable
from rich.table import Table
from rich.text import Text

from discreet.errors import one_line
from discreet.figures import Unavailable
from discreet.report import words
from discreet.report.audit_words import (
    CONSISTENT,
    TITLES,
    cell_name,
    count_words,
    figures,
    learned_words,
    main_view,
    margin_name,
    meaning,
    outcome_cell,
    rule_words,
    scope,
)
from discreet.report.text import filled_table, heading, indented
from discreet.risk.audit import Audit
from discreet.risk.table_measures import best_value
from discreet.risk.table_refusal import RefusalView
from discreet.risk.table_views import View

SHOWN = 20  # small cells, and lines of who would learn what
SHOWN_MODELS = 10


def print_audit(
    console: Console, source: str, audits: Sequence[Audit], *, report: Path | None = None
) -> None:
    """The last audit in full, and what each release of a sequence changed."""
    for part in _parts(source, audits, report):
        console.print(part)


def _parts(
    source: str, audits: Sequence[Audit], report: Path | None
) -> Iterator[ConsoleRenderable]:
    audit = audits[-1]
    yield Text(one_line(f"What the released margins of {source} reveal"), style="bold")
    yield indented(Text("\n".join(scope(audit))))
    yield indented(Text(f"number of {CONSISTENT}: {count_words(audit.n_tables)}"))
    yield from _small_cells(audit, report)
    yield from _risk(audit)
    yield from _models(audit)
    yield from _population(audit)
    yield from _refusal(audit)
    yield from _learned(audit)
    if len(audits) > 1:
        yield heading("What each release added")
        yield indented(sequence_table(audits))
    for note in audit.notes:
        yield indented(Text(one_line(f"Look here: {words.sentence(note)}."), style="yellow"))


def _small_cells(audit: Audit, report: Path | None) -> Iterator[ConsoleRenderable]:
    name = main_view(audit)
    yield heading("Small cells (confidential)")
    if not audit.small_cells:
        yield indented(Text("No cell is small, so there is none to protect."))
        return
    view = audit.views[name]
    rows = [
        (
            cell_name(audit, cell),
            str(cell.truth),
            f"{cell.lower} to {cell.upper}",
            *guess(view, i, cell.truth),
        )
        for i, cell in enumerate(audit.small_cells[:SHOWN])
    ]
    header = ("cell", "count", "bounds", "likeliest", "probable", "true count")
    yield indented(filled_table(header, rows))
    left = len(audit.small_cells) - SHOWN
    if left > 0:
        more = "" if report else "; --report or --json shows them"
        yield indented(Text(f"and {words.count(left)} more{more}", style="dim"))
    if isinstance(view, View):
        said = f"Probability of the likeliest and of the true count under {name}: {view.method}."
        yield indented(Text(one_line(said), style="dim"))


def guess(view: View | Unavailable, place: int, truth: int) -> tuple[str, str, str]:
    """The most probable count, its probability, and that of the true one."""
    if isinstance(view, Unavailable):
        return ("–", "–", "–")
    law = view.laws[place]
    best = best_value(law)
    return (str(best), words.probability(law[best]), words.probability(law.get(truth, 0.0)))


def _risk(audit: Audit) -> Iterator[ConsoleRenderable]:
    yield heading("How bad that is")
    name = main_view(audit)
    found = figures(audit, name)
    rows = [(TITLES[key], outcome_cell(outcome)) for key, outcome in found.items()]
    yield indented(filled_table(("measure", "value"), rows))
    for key in found:
        yield indented(Text(f"{TITLES[key]}: {meaning(key, audit)}", style="dim"))
    for key, outcome in found.items():
        if isinstance(outcome, Unavailable):
            reason = words.sentence(outcome.reason)
            yield indented(Text(one_line(f"{TITLES[key]} is not available: {reason}.")))


def _models(audit: Audit) -> Iterator[ConsoleRenderable]:
    if len(audit.views) < 2:
        return
    yield heading("By model")
    rows = [(name, *model_row(audit, name)) for name in list(audit.views)[:SHOWN_MODELS]]
    yield indented(filled_table(("model", "weight", "true table", "identified"), rows))
    kind = audit.options.weight_kind.value.replace("_", " ")
    yield indented(Text(f"Weights by {kind}.", style="dim"))
    for name, view in list(audit.views.items())[:SHOWN_MODELS]:
        if isinstance(view, Unavailable):
            reason = words.sentence(view.reason)
            yield indented(Text(one_line(f"{name} is not available: {reason}.")))


def model_row(audit: Audit, name: str) -> tuple[str, str, str]:
    """Weight, probability of the true table and share identified of one view."""
    view = audit.views[name]
    if isinstance(view, Unavailable):
        return ("–", "–", "–")
    own = audit.measures[name]
    return (
        outcome_cell(view.weight, 3),
        outcome_cell(own.true_table, 3),
        outcome_cell(own.small_cells_identified, 3),
    )


def _population(audit: Audit) -> Iterator[ConsoleRenderable]:
    if not audit.population:
        return
    size = audit.options.population or 0
    share = words.share(audit.release.table.total, size)
    yield heading(f"In the population of {words.count(size)}, of whom {share} are in the table")
    found = audit.population[main_view(audit)]
    if isinstance(found, Unavailable):
        yield indented(Text(f"not available: {words.sentence(found.reason)}."))
        return
    rows = [
        (cell_name(audit, cell), str(cell.truth), words.probability(own.unique),
         words.expected(own.mean))
        for cell, own in list(zip(audit.small_cells, found, strict=True))[:SHOWN]
    ]  # fmt: skip
    yield indented(filled_table(("cell", "count", "one in population", "mean"), rows))
    note = "Persons outside the table are drawn as those in it (simple random sampling)."
    yield indented(Text(note, style="dim"))


def _refusal(audit: Audit) -> Iterator[ConsoleRenderable]:
    found = audit.refusal
    if found is None:
        return
    yield heading("What the refusal tells")
    if isinstance(found, Unavailable):
        yield indented(Text(one_line(f"not available: {words.sentence(found.reason)}.")))
        return
    for line in refusal_lines(audit, found):
        yield indented(Text(one_line(line)))
    rows = [
        (cell_name(audit, cell), str(cell.truth), *before_after(found, i, cell.truth))
        for i, cell in enumerate(audit.small_cells[:SHOWN])
    ]
    if rows:
        yield indented(filled_table(("cell", "count", "before", "after"), rows))
        yield indented(Text("Probability of the true count before and after the refusal.", "dim"))


def refusal_lines(audit: Audit, found: RefusalView) -> Iterator[str]:
    """What was refused under which rule, and how much that says."""
    refused = " and ".join(margin_name(audit.release, axes) for axes in found.requests)
    yield f"refused: {refused}; {rule_words(found.rule)}"
    yield f"probability of a refusal beforehand: {outcome_cell(found.probability)}; {found.method}"
    if found.n_tables is not None:
        yield f"tables left: {words.count(found.n_tables)}"


def before_after(found: RefusalView, place: int, truth: int) -> tuple[str, str]:
    """The probability of the true count before and after a refusal."""
    laws = (found.before[place], found.laws[place])
    before, after = (words.probability(min(law.get(truth, 0.0), 1.0)) for law in laws)
    return before, after


def _learned(audit: Audit) -> Iterator[ConsoleRenderable]:
    if not audit.learned and (audit.options.targets is None):
        return
    yield heading("Who would learn what")
    lines = [learned_words(audit, one) for one in audit.learned]
    if isinstance(audit.believed, tuple):
        lines += [learned_words(audit, one) for one in audit.believed]
    for line in lines[:SHOWN] or ["no group of persons shares a level for certain"]:
        yield indented(Text(line))
    if len(lines) > SHOWN:
        yield indented(Text(f"and {words.count(len(lines) - SHOWN)} more", style="dim"))
    if isinstance(audit.believed, Unavailable) and audit.options.targets is not None:
        reason = words.sentence(audit.believed.reason)
        yield indented(Text(f"Only what is certain is listed: {reason}.", style="dim"))


def sequence_table(audits: Sequence[Audit]) -> Table:
    """One row a release: what was added and what is known after it."""
    header = ("after", "tables", "bounds", "true table", "identified")
    return filled_table(header, [sequence_row(audit) for audit in audits])


def sequence_row(audit: Audit) -> tuple[str, ...]:
    """The margins out, and the measures after them."""
    found = figures(audit, main_view(audit))
    number = "–" if audit.n_tables.value is None else words.count(audit.n_tables.value)
    if len(number) > 12 and audit.n_tables.value is not None:
        number = tiny_count(audit.n_tables.value)
    return (
        "".join(margin_name(audit.release, axes) for axes in audit.release.sets),
        number,
        outcome_cell(found["bounds"], 3),
        outcome_cell(found["true_table"], 3),
        outcome_cell(found["small_cells_identified"], 3),
    )


def tiny_count(number: int) -> str:
    """A large whole number by its power of ten."""
    return f"10^{len(str(number)) - 1}"
