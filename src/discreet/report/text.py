"""An assessment on the terminal, readable at 80 columns."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from rich.console import Console, ConsoleRenderable
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from discreet.errors import one_line
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.report import words
from discreet.report.extras import Section, extra_sections
from discreet.report.meaning import MEANING
from discreet.report.standing_out import (
    anonymity_meaning,
    anonymity_rows,
    cells_line,
    combination,
    unavailable_models,
)
from discreet.survey.assessment import Assessment
from discreet.survey.contributions import Contribution
from discreet.survey.headline.recommendation import COUNTED, Recommended
from discreet.survey.scoring import ModelResult

WIDTH = 80
BAR = 20
MOST_CAUTIONS = 2  # told in full; more are only marked
MARK = " !"
MARKED = (
    "The data contradict the models marked !, or leave room for doubt; --report and --json say "
    "how, and so does --models with one name."
)
SHOWN = 3
LONGEST_NAME = 40  # that a table of numbers leaves room for


def trimmed(line: Sequence[Segment]) -> Text:
    """A line as the console rendered it, without blanks at its end."""
    text = Text.assemble(*((segment.text, segment.style or "") for segment in line))
    text.rstrip()
    return text


def print_assessment(
    console: Console, assessment: Assessment, *, report: Path | None = None
) -> None:
    """The summary that fits on a page or two; `report` is where more is written, if it is."""
    for part in _parts(assessment, report):
        console.print(part)


def _parts(assessment: Assessment, report: Path | None) -> Iterator[ConsoleRenderable]:
    yield Text(one_line(f"Disclosure risk of {assessment.settings.source}"), style="bold")
    yield indented(Text("\n".join(scope(assessment))))
    for warning in assessment.warnings:
        yield indented(Text(one_line(f"Look here: {warning}."), style="yellow"))
    yield heading("Who stands out in the file")
    yield indented(_anonymity(assessment))
    yield indented(Text(anonymity_meaning(assessment), style="dim"))
    yield heading("How many could be found")
    yield from (indented(line) for line in _headline(assessment.recommended))
    yield heading("What each model says")
    yield indented(_models(assessment))
    yield indented(Text(MEANING["models"], style="dim"))
    cautions = [r for r in assessment.models.values() if isinstance(r, ModelResult) and r.caution]
    many = len(cautions) > MOST_CAUTIONS
    for reason in _reasons(assessment):
        yield indented(Text(one_line(reason)))
    for name, result in assessment.models.items():
        if isinstance(result, ModelResult) and result.caution and not many:
            caution = words.sentence(result.caution)
            yield indented(Text(one_line(f"{name}: {caution}"), style="yellow"))
    if many:
        yield indented(Text(MARKED, style="yellow"))
    yield heading("Which keys make records unique")
    yield indented(_contributions(assessment))
    yield indented(Text(MEANING["contributions"], style="dim"))
    for section in extra_sections(assessment):
        yield from () if section.only == "page" else section_parts(section)
    yield heading("Riskiest combinations (confidential)")
    yield from (indented(line) for line in _riskiest(assessment, report))


def _headline(recommended: Recommended) -> Iterator[ConsoleRenderable]:
    """The recommended estimate in words, why it leads, and how far the models disagree."""
    uniques, matches = (
        recommended.expected_population_uniques,
        recommended.expected_correct_matches,
    )
    table = plain_table(_headline_title(recommended), "")
    table.add_row("population uniques among the records", words.outcome(uniques))
    table.add_row("records matched correctly", words.outcome(matches))
    yield table
    note = headline_note(recommended)
    if note:
        yield Text(one_line(f"{note}."), style="yellow")
    yield Text(one_line(" ".join(headline_words(recommended))), style="dim")


def _headline_title(recommended: Recommended) -> str:
    """What the figures that lead are: an estimate, what is certain, or a count."""
    uniques = recommended.expected_population_uniques
    if isinstance(uniques, Figure) and uniques.how is not How.ESTIMATE:
        return "certain limits" if uniques.how is How.BOUND else "counted"
    return "chosen estimate" if recommended.is_chosen else "recommended estimate"


def headline_note(recommended: Recommended) -> str:
    """What speaks against the estimate, where something does."""
    uniques = recommended.expected_population_uniques
    note = uniques.note if isinstance(uniques, Figure) else ""
    return words.sentence(note) if note != recommended.why else ""


def headline_words(recommended: Recommended) -> Iterator[str]:
    """What the estimate is, and how far the models disagree, in sentences."""
    uniques = recommended.expected_population_uniques
    confidence = uniques.confidence if isinstance(uniques, Figure) else None
    if recommended.model == COUNTED:
        yield f"There is no estimate: {recommended.why}."
    else:
        limits = "" if confidence is None else f"With {100 * confidence:.0f} % limits. "
        yield f"{limits}The estimate {recommended.why}."
    if recommended.disagreement:
        yield f"{recommended.disagreement}."


def section_parts(section: Section) -> Iterator[ConsoleRenderable]:
    """A section on request: its table, what it means, and its notes."""
    yield heading(section.title)
    if section.rows:
        yield indented(filled_table(section.header, section.rows))
    for note in section.notes:
        yield indented(Text("\n".join(one_line(line) for line in note.splitlines())))
    yield indented(Text(section.meaning, style="dim"))


def scope(assessment: Assessment) -> Iterator[str]:
    """What was assessed, in a few lines."""
    summary, settings = assessment.summary, assessment.settings
    yield (
        f"{words.plural(summary.sample_size, 'record')}, {words.plural(len(settings.keys), 'key')}"
        f", {cells_line(assessment)}"
    )
    yield population_line(assessment)
    yield missing_line(assessment)


def population_line(assessment: Assessment) -> str:
    """The size of the population and where it comes from."""
    summary = assessment.summary
    if summary.population_size is None:
        return "population size unknown (give --population, or --weight to estimate it)"
    source = "given" if summary.population_size_known else "estimated by the sum of the weights"
    return f"population of {words.expected(summary.population_size)} ({source})"


def missing_line(assessment: Assessment) -> str:
    """How missing key values were treated and how many records that touched."""
    policy = assessment.settings.missing
    touched = words.plural(assessment.n_incomplete, "record")
    if assessment.n_incomplete == 0:
        return f"no key value is missing (policy: {policy.name})"
    verb = "lacks" if assessment.n_incomplete == 1 else "lack"
    return f"{touched} {verb} a key value (policy {policy.name}: {policy.meaning})"


def heading(title: str) -> ConsoleRenderable:
    """The title of a section, with air above it."""
    return Text(f"\n{title}", style="bold")


def indented(part: ConsoleRenderable) -> ConsoleRenderable:
    """Two columns to the right."""
    return Padding(part, (0, 0, 0, 2), expand=False)


def plain_table(*columns: str) -> Table:
    """A table without lines: the first column left, the others right."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for place, column in enumerate(columns):
        side: Literal["left", "right"] = "left" if place == 0 else "right"
        table.add_column(column, justify=side, overflow="fold")
    return table


def filled_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A plain table with these rows; names in the first column stay whole while they can."""
    table = plain_table(*header)
    names = [one_line(row[0]) for row in rows]
    table.columns[0].no_wrap = max(map(len, names), default=0) <= LONGEST_NAME
    for name, row in zip(names, rows, strict=True):
        table.add_row(name, *(one_line(cell) for cell in row[1:]))
    return table


def _anonymity(assessment: Assessment) -> Table:
    total = assessment.summary.sample_size
    rows = [
        (name, words.count(records), words.share(records, total), words.count(cells))
        for name, records, cells in anonymity_rows(assessment)
    ]
    return filled_table(("", "records", "share", "cells"), rows)


def _models(assessment: Assessment) -> Table:
    """What the models say that say something; the others are named below, by the reason."""
    rows = [
        (name + (MARK if result.caution else ""), *two_figures(result))
        for name, result in assessment.models.items()
        if isinstance(result, ModelResult)
    ]
    return filled_table(("model", "population uniques", "correct matches"), rows)


def two_figures(result: ModelResult) -> tuple[str, str]:
    """Population uniques and correct matches of a model, as they are shown."""
    uniques = result.expected_population_uniques
    matches = result.expected_correct_matches
    return (short_outcome(uniques), short_outcome(matches))


def short_outcome(outcome: Outcome) -> str:
    """A figure for a table; the reason why there is none has its place below."""
    return "–" if isinstance(outcome, Unavailable) else words.outcome(outcome)


def _reasons(assessment: Assessment) -> Iterator[str]:
    """Why models, or some of their figures, are not there; models of one reason together."""
    for reason, names in unavailable_models(assessment).items():
        are = "is" if len(names) == 1 else "are"
        yield f"{words.listed(names)} {are} not available: {words.sentence(reason)}."
    for (figure, reason), names in _figures_not_there(assessment).items():
        give = "gives" if len(names) == 1 else "give"
        yield f"{words.listed(names)} {give} no {figure}: {words.sentence(reason)}."


def _figures_not_there(assessment: Assessment) -> dict[tuple[str, str], list[str]]:
    """Names of the models that lack a figure, by the figure and the reason."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, result in assessment.models.items():
        if isinstance(result, Unavailable):
            continue
        for figure, outcome in (
            ("population uniques", result.expected_population_uniques),
            ("correct matches", result.expected_correct_matches),
        ):
            if isinstance(outcome, Unavailable):
                found.setdefault((figure, outcome.reason), []).append(name)
    return found


def _contributions(assessment: Assessment) -> Table:
    table = plain_table("without", "uniques vanish", "share")
    table.add_column("", min_width=1)
    total = assessment.sample_uniques
    pairs = assessment.contributions.pairs
    for contribution in assessment.contributions.single[:10]:
        table.add_row(*_contribution_row(contribution, total))
    if isinstance(pairs, Unavailable):
        table.add_row(f"pairs: {pairs.reason}")
    else:
        for contribution in pairs[:3]:
            table.add_row(*_contribution_row(contribution, total))
    return table


def _contribution_row(contribution: Contribution, total: int) -> Sequence[str]:
    removed = contribution.uniques_removed
    filled = round(BAR * removed / total) if total else 0
    return (
        one_line(" and ".join(contribution.keys)),
        words.count(removed),
        words.share(removed, total),
        "█" * filled,
    )


def _riskiest(assessment: Assessment, report: Path | None) -> Iterator[ConsoleRenderable]:
    keys = assessment.settings.keys
    for cell in assessment.riskiest[:SHOWN]:
        levels = ", ".join(f"{k}={v}" for k, v in zip(keys, cell.levels, strict=True))
        yield Text(one_line(f"{combination(cell.sample_count, cell.records)}: {levels}"))
    if len(assessment.riskiest) > SHOWN and report is None:
        yield Text("More of them are in the report (--report risk.html).", style="dim")
