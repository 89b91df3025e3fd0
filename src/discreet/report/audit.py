"""An audit on the terminal, readable at 80 columns."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console, ConsoleRenderable
from rich.table import Table
from rich.text import Text

from discreet.errors import one_line
from discreet.figures import Outcome, Unavailable
from discreet.report import words
from discreet.report.audit_words import (
    CONSISTENT,
    NO_GROUP,
    OUTSIDE,
    TITLES,
    brief_words,
    cell_name,
    count_words,
    figures,
    general_notes,
    how_words,
    learned_words,
    margin_name,
    meaning,
    measure_words,
    model_gaps,
    most_exposed,
    n_cells_of,
    only_proved,
    outcome_cell,
    probability_words,
    rule_words,
    scope,
    step_gaps,
    verdict_words,
    warnings_of,
)
from discreet.report.text import filled_table, heading, indented
from discreet.tables.audit import Audit, main_view
from discreet.tables.measures import best_value
from discreet.tables.posteriors import View
from discreet.tables.refused_margin import RefusalView

SHOWN = 20  # small cells, and lines of who would learn what
SHOWN_MODELS = 10
SMALL_HEADER = (
    "cell",
    "true\ncount",
    "bounds",
    "best\nguess",
    "prob. of\nguess",
    "prob. of\ntruth",
)
MODEL_HEADER = (
    "model",
    "probability\nof the model",
    "true table's\nprobability",
    "small cells\nidentified",
)
POPULATION_HEADER = (
    "cell",
    "count in\nthe table",
    "prob. of 1 in\nthe population",
    "expected in\nthe population",
)
REFUSAL_HEADER = (
    "cell",
    "true\ncount",
    "probability of the\ntruth before",
    "and after\nthe refusal",
)
SEQUENCE_MEASURES = ("bounds", "true_table", "small_cells_identified")
SEQUENCE_HEADER = (
    "after the release of",
    "consistent\ntables",
    "width of\nbounds",
    "probability\nof the table",
    "small cells\nidentified",
)


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
    if audit.verdict is not None:
        yield heading("Verdict")
        yield indented(Text(verdict_words(audit, audit.verdict), style="bold"))
    yield from _small_cells(audit, report)
    yield from _risk(audit)
    yield from _models(audit)
    yield from _population(audit)
    yield from _refusal(audit)
    yield from _learned(audit)
    if len(audits) > 1:
        yield heading("What each release added")
        yield indented(sequence_table(audits))
        for line in step_gaps(audits, SEQUENCE_MEASURES):
            yield indented(Text(line))
    yield from _look_here(general_notes(audit))


def _look_here(notes: Sequence[str]) -> Iterator[ConsoleRenderable]:
    for note in notes:
        said = f"Look here: {words.sentence(note)}."
        yield indented(Text(one_line(said), style="yellow"))


def _small_cells(audit: Audit, report: Path | None) -> Iterator[ConsoleRenderable]:
    name = main_view(audit)
    yield heading("Small cells (confidential)")
    if not audit.small_cells:
        yield indented(Text("No cell is small, so there is none to protect."))
        return
    view = audit.views[name]
    rows = [
        (
            cell_name(audit, audit.small_cells[i]),
            str(audit.small_cells[i].truth),
            f"{audit.small_cells[i].lower} to {audit.small_cells[i].upper}",
            *guess(view, i, audit.small_cells[i].truth),
        )
        for i in most_exposed(audit, name, SHOWN)
    ]
    yield indented(filled_table(SMALL_HEADER, rows))
    left = len(audit.small_cells) - SHOWN
    if left > 0:
        more = "" if report else "; --report or --json shows them"
        said = f"the {SHOWN} most exposed; {words.count(left)} more are not shown{more}"
        yield indented(Text(said, style="dim"))
    if isinstance(view, View):
        said = f"Probabilities of the best guess and of the true count under {name}: {view.method}."
        yield indented(Text(one_line(said), style="dim"))
    yield from _look_here(warnings_of(audit, name))


def guess(view: View | Unavailable, place: int, truth: int) -> tuple[str, str, str]:
    """The most probable count, its probability, and that of the true one."""
    if isinstance(view, Unavailable):
        return ("–", "–", "–")
    distribution, errors = view.distributions[place], view.errors[place]
    best = best_value(distribution)
    best_p, true_p = (
        probability_words(distribution.get(count, 0.0), errors.get(count, 0.0))
        for count in (best, truth)
    )
    return (str(best), best_p, true_p)


def _risk(audit: Audit) -> Iterator[ConsoleRenderable]:
    yield heading("How bad that is")
    name = main_view(audit)
    found = figures(audit, name)
    rows = [
        (TITLES[key], measure_words(key, outcome, n_cells_of(key, audit)), how_words(outcome))
        for key, outcome in found.items()
    ]
    yield indented(filled_table(("measure", "value", "how it is known"), rows))
    yield from _look_here(warnings_of(audit, name))
    for key in found:
        yield indented(Text(f"{TITLES[key]}: {meaning(key, audit)}", style="dim"))
    yield from _missing(found)


def _missing(found: Mapping[str, Outcome]) -> Iterator[ConsoleRenderable]:
    """Why measures are missing, those with the same reason together."""
    reasons: dict[str, list[str]] = {}
    for key, outcome in found.items():
        if isinstance(outcome, Unavailable):
            reasons.setdefault(outcome.reason, []).append(TITLES[key])
    for reason, titles in reasons.items():
        said = f"Not available: {words.listed(titles)}, since {words.sentence(reason)}."
        yield indented(Text(one_line(said)))


def _models(audit: Audit) -> Iterator[ConsoleRenderable]:
    if len(audit.views) < 2:
        return
    yield heading("By model")
    rows = [(name, *model_row(audit, name)) for name in list(audit.views)[:SHOWN_MODELS]]
    yield indented(filled_table(MODEL_HEADER, rows))
    kind = audit.options.weight_kind.value.replace("_", " ")
    said = f"Probability of the model: given the release, by {kind}."
    yield indented(Text(said, style="dim"))
    yield from _more(len(audit.views) - SHOWN_MODELS, SHOWN_MODELS)
    for line in model_gaps(audit, list(audit.views)[:SHOWN_MODELS]):
        yield indented(Text(line))
    for name, view in list(audit.views.items())[:SHOWN_MODELS]:
        if isinstance(view, Unavailable):
            reason = words.sentence(view.reason)
            yield indented(Text(one_line(f"{name} is not available: {reason}.")))
        if name != main_view(audit):
            yield from _look_here([f"{name}: {one}" for one in warnings_of(audit, name)])


def model_row(audit: Audit, name: str) -> tuple[str, ...]:
    """Weight, probability of the true table and share identified of one view."""
    view = audit.views[name]
    if isinstance(view, Unavailable):
        return ("–", "–", "–")
    found = figures(audit, name)
    return (
        outcome_cell(view.weight, 3),
        *(brief_words(key, found[key]) for key in ("true_table", "small_cells_identified")),
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
    yield indented(filled_table(POPULATION_HEADER, rows))
    yield from _more(len(found) - SHOWN)
    yield indented(Text(OUTSIDE, style="dim"))


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
        yield indented(filled_table(REFUSAL_HEADER, rows))
    yield from _more(len(audit.small_cells) - SHOWN)


def refusal_lines(audit: Audit, found: RefusalView) -> Iterator[str]:
    """What was refused under which rule, and how much that says."""
    refused = " and ".join(margin_name(audit.release, axes) for axes in found.requests)
    yield f"refused: {refused}; {rule_words(found.rule)}"
    yield f"probability of a refusal beforehand: {outcome_cell(found.probability)}; {found.method}"
    if found.n_tables is not None:
        yield f"tables left: {words.count(found.n_tables)}"


def before_after(found: RefusalView, place: int, truth: int) -> tuple[str, str]:
    """The probability of the true count before and after a refusal."""
    before = probability_words(found.before[place].get(truth, 0.0), 0.0)
    error = found.errors[place].get(truth, 0.0)
    return before, probability_words(found.distributions[place].get(truth, 0.0), error)


def _learned(audit: Audit) -> Iterator[ConsoleRenderable]:
    if not audit.learned and (audit.options.targets is None):
        return
    yield heading("Who would learn what")
    lines = [learned_words(audit, one) for one in audit.learned]
    if isinstance(audit.believed, tuple):
        lines += [learned_words(audit, one) for one in audit.believed]
    for line in lines[:SHOWN] or [NO_GROUP]:
        yield indented(Text(line))
    yield from _more(len(lines) - SHOWN)
    if isinstance(audit.believed, Unavailable) and audit.options.targets is not None:
        yield indented(Text(f"{only_proved(audit.believed)}.", style="dim"))


def _more(left: int, shown: int = SHOWN) -> Iterator[ConsoleRenderable]:
    """How many lines are left out, if any."""
    if left > 0:
        said = f"the first {shown}; {words.count(left)} more are not shown; --json has them all"
        yield indented(Text(said, style="dim"))


def sequence_table(audits: Sequence[Audit]) -> Table:
    """One row a release: what was added and what is known after it."""
    return filled_table(SEQUENCE_HEADER, [sequence_row(audit) for audit in audits])


def sequence_row(audit: Audit) -> tuple[str, ...]:
    """The margins out, and the measures after them."""
    found = figures(audit, main_view(audit))
    number = "–" if audit.n_tables.value is None else words.count(audit.n_tables.value)
    if len(number) > 12 and audit.n_tables.value is not None:
        number = tiny_count(audit.n_tables.value)
    return (
        "".join(margin_name(audit.release, axes) for axes in audit.release.sets),
        number,
        *(brief_words(k, found[k]) for k in SEQUENCE_MEASURES),
    )


def tiny_count(number: int) -> str:
    """A large whole number by its power of ten."""
    return f"10^{len(str(number)) - 1}"
