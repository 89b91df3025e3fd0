"""An assessment on the terminal, readable at 80 columns."""

from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleRenderable
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from discreet.errors import one_line
from discreet.figures import Unavailable
from discreet.report import words
from discreet.report.extras import Section, extra_sections
from discreet.report.meaning import MEANING
from discreet.risk.assessment import Assessment
from discreet.risk.contributions import Contribution
from discreet.risk.scoring import ModelResult

WIDTH = 80
BAR = 20


def print_assessment(console: Console, assessment: Assessment) -> None:
    """The summary that fits on a page or two."""
    for part in _parts(assessment):
        console.print(part)


def _parts(assessment: Assessment) -> Iterator[ConsoleRenderable]:
    yield Text(one_line(f"Disclosure risk of {assessment.settings.source}"), style="bold")
    yield indented(Text("\n".join(scope(assessment))))
    for warning in assessment.warnings:
        yield indented(Text(one_line(f"Look here: {warning}."), style="yellow"))
    yield heading("Who stands out in the file")
    yield indented(_anonymity(assessment))
    yield indented(Text(MEANING["anonymity"], style="dim"))
    yield heading("How well could an intruder do")
    yield indented(_models(assessment))
    yield indented(Text(MEANING["models"], style="dim"))
    for name, result in assessment.models.items():
        if isinstance(result, Unavailable):
            yield indented(Text(one_line(f"{name} is not available: {result.reason}.")))
        elif result.caution:
            yield indented(Text(one_line(f"{name}: {result.caution}"), style="yellow"))
    yield heading("Which keys make records unique")
    yield indented(_contributions(assessment))
    yield indented(Text(MEANING["contributions"], style="dim"))
    for section in extra_sections(assessment):
        yield from () if section.wide else section_parts(section)
    yield heading("Riskiest combinations (confidential)")
    yield from (indented(line) for line in _riskiest(assessment))


def section_parts(section: Section) -> Iterator[ConsoleRenderable]:
    """A section on request: its table, what it means, and its notes."""
    yield heading(section.title)
    table = plain_table(*section.header)
    for row in section.rows:
        table.add_row(*(one_line(cell) for cell in row))
    yield indented(table)
    for note in section.notes:
        yield indented(Text("\n".join(one_line(line) for line in note.splitlines())))
    yield indented(Text(section.meaning, style="dim"))


def scope(assessment: Assessment) -> Iterator[str]:
    """What was assessed, in a few lines."""
    summary, settings = assessment.summary, assessment.settings
    yield (
        f"{words.plural(summary.sample_size, 'record')}, {words.plural(len(settings.keys), 'key')}"
        f", {words.count(summary.size_indices.n_cells)} cells occupied of "
        f"{words.count(summary.n_table_cells)} possible"
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
        table.add_column(column, justify="left" if place == 0 else "right")
    return table


def _anonymity(assessment: Assessment) -> Table:
    table = plain_table("", "records", "share", "cells")
    for row in assessment.anonymity:
        alone = row.k == 2 and row.records == assessment.sample_uniques
        whole = " (alone in their cell)" if alone else ""
        table.add_row(
            f"break {row.k}-anonymity{whole}",
            words.count(row.records),
            words.share(row.records, assessment.summary.sample_size),
            words.count(row.cells),
        )
    return table


def _models(assessment: Assessment) -> Table:
    table = plain_table("model", "population uniques", "correct matches")
    for name, result in assessment.models.items():
        if isinstance(result, Unavailable):
            table.add_row(name, "–", "–")
        else:
            table.add_row(name, *_two_figures(result))
    return table


def _two_figures(result: ModelResult) -> tuple[str, str]:
    uniques = result.expected_population_uniques
    matches = result.expected_correct_matches
    return (words.outcome(uniques), words.outcome(matches))


def _contributions(assessment: Assessment) -> Table:
    table = plain_table("without", "uniques vanish", "share")
    table.add_column("")
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


def _riskiest(assessment: Assessment) -> Iterator[ConsoleRenderable]:
    keys = assessment.settings.keys
    for cell in assessment.riskiest[:3]:
        levels = ", ".join(f"{k}={v}" for k, v in zip(keys, cell.levels, strict=True))
        yield Text(one_line(f"{words.plural(cell.sample_count, 'record')}: {levels}"))
    if len(assessment.riskiest) > 3:
        yield Text("More of them are in the report (--report risk.html).", style="dim")
