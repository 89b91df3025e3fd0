"""What count statistics give away, on the terminal, readable at 80 columns."""

from collections.abc import Iterator, Mapping

from rich.console import Console, ConsoleRenderable
from rich.text import Text

from discreet.count_tables.assessment import CountAssessment
from discreet.count_tables.com_poisson.conjugate import BayesianAnalysis
from discreet.errors import one_line
from discreet.figures import Unavailable
from discreet.report import words
from discreet.report.counts_fit import (
    BAYES_HEADER,
    FIT_HEADER,
    bayes_gaps,
    bayes_notes,
    bayes_rows,
    fit_notes,
    fit_rows,
    less_dispersed_words,
)
from discreet.report.counts_words import (
    EXPOSED_HEADER,
    KNOWLEDGE_HEADER,
    PRIOR_HEADER,
    ZEROS_CAME_IN,
    best_guess,
    bounds_header,
    bounds_meaning,
    bounds_of,
    bounds_row,
    count_words,
    exposed_rows,
    interval_line,
    knowledge_notes,
    knowledge_rows,
    likely_note,
    likely_rows,
    prior_notes,
    prior_row,
    title,
    verdict_scope,
    verdict_words,
    warnings,
    zeros_came_in,
)
from discreet.report.text import filled_table, heading, indented, trimmed

SHOWN_VALUES = 40
SHOWN_TABLES = 7


def print_counts(
    console: Console,
    a: CountAssessment,
    source: str,
    *,
    bayes: BayesianAnalysis | Unavailable | None = None,
) -> None:
    """The summary that fits on a page or two, with the Bayesian analysis where there is one."""
    for part in _parts(a, source, bayes):
        print_part(console, part)


def print_part(console: Console, part: ConsoleRenderable) -> None:
    """A part of a report without blanks at the ends of its lines."""
    for line in console.render_lines(part, pad=False):
        console.print(trimmed(line), soft_wrap=True)


def _parts(
    a: CountAssessment, source: str, bayes: BayesianAnalysis | Unavailable | None
) -> Iterator[ConsoleRenderable]:
    yield Text(one_line(title(a)), style="bold")
    yield indented(Text(one_line(source), style="dim"))
    yield heading("What goes out" if a.table is None else "What would go out")
    for line in a.release.lines():
        yield indented(Text(line))
    yield from _rebuilt(a)
    yield from _priors(a)
    yield from _knowledge(a)
    yield from _fit(a)
    if bayes is not None:
        yield from bayes_parts({"": bayes})
    yield from _verdict(a)


def _rebuilt(a: CountAssessment) -> Iterator[ConsoleRenderable]:
    yield heading("What an intruder can rebuild")
    yield indented(Text(f"Tables consistent with it: {count_words(a.found)}"))
    if isinstance(a.found, Unavailable):
        return
    yield indented(Text(f"Best guess: {best_guess(a)}"))
    rows = [bounds_row(a, bound) for bound in bounds_of(a)]
    if rows:
        yield indented(filled_table(bounds_header(a), rows[:SHOWN_VALUES]))
        yield from _more(len(rows) - SHOWN_VALUES, "values")
    for line in bounds_meaning(a):
        yield indented(Text(line, style="dim"))
    tables = likely_rows(a, SHOWN_TABLES)
    if tables:
        header = ("most probable: counts of 0, 1, …", "probable", "")
        shown = 3 if any(mark for *_, mark in tables) else 2
        yield indented(filled_table(header[:shown], [row[:shown] for row in tables]))
    if likely_note(a):
        yield indented(Text(one_line(likely_note(a)), style="dim"))


def _more(left: int, what: str) -> Iterator[ConsoleRenderable]:
    """How many lines of a table are left out, if any."""
    if left > 0:
        yield indented(Text(f"and {words.count(left)} {what} more; --json"))


def _priors(a: CountAssessment) -> Iterator[ConsoleRenderable]:
    if isinstance(a.found, Unavailable):
        return
    yield heading("How sure an intruder is of the table")
    width = len(PRIOR_HEADER) - (a.table is None)
    rows = [prior_row(a, name, risk)[:width] for name, risk in a.risks.items()]
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
    for note in knowledge_notes(a):
        yield indented(Text(one_line(note)))
    if zeros_came_in(a):
        yield indented(Text(ZEROS_CAME_IN, style="dim"))


def _fit(a: CountAssessment) -> Iterator[ConsoleRenderable]:
    yield heading("What a user can still learn: the COM-Poisson fit")
    rows = fit_rows(a)
    if rows:
        yield indented(filled_table(FIT_HEADER, rows))
    for note in fit_notes(a):
        yield indented(Text(one_line(note)))


def bayes_parts(
    analyses: Mapping[str, BayesianAnalysis | Unavailable],
) -> Iterator[ConsoleRenderable]:
    """Bayesian analyses by category, or the only one, which is told more of."""
    yield heading("Rate and dispersion by Bayes' rule, from what goes out")
    found = {n: one for n, one in analyses.items() if isinstance(one, BayesianAnalysis)}
    rows = [row for name, one in found.items() for row in bayes_rows(one, name)]
    if rows:
        yield indented(filled_table(BAYES_HEADER, rows[:SHOWN_VALUES]))
        yield from _more(len(rows) - SHOWN_VALUES, "lines")
    for note in _bayes_notes(found):
        yield indented(Text(one_line(note), style="dim"))
    for name, one in analyses.items():
        if isinstance(one, Unavailable):
            what = f"Not available for {name}" if name else "Not available"
            yield indented(Text(one_line(f"{what}: {words.sentence(one.reason)}.")))


def _bayes_notes(found: Mapping[str, BayesianAnalysis]) -> Iterator[str]:
    if len(found) == 1:
        yield from bayes_notes(next(iter(found.values())))
    elif found:
        yield f"Prior: {words.sentence(next(iter(found.values())).prior_words)}."
        shares = (f"{n} {less_dispersed_words(one)}" for n, one in found.items())
        yield f"Less dispersed than Poisson with probability: {', '.join(shares)}."
        reasons: dict[str, list[str]] = {}
        for name, one in found.items():
            for why in bayes_gaps(one):
                reasons.setdefault(why, []).append(name)
        yield from (f"{words.listed(names)}: {why}" for why, names in reasons.items())


def _verdict(a: CountAssessment) -> Iterator[ConsoleRenderable]:
    found = warnings(a)
    if a.verdict is not None:
        yield heading(f"Verdict: {verdict_words(a.verdict)}")
        yield indented(Text(one_line(words.sentence(a.verdict.sentence)), style="bold"))
        yield indented(Text(one_line(words.sentence(a.verdict.rule)), style="dim"))
        if verdict_scope(a.verdict):
            yield indented(Text(verdict_scope(a.verdict)))
        rows = exposed_rows(a.verdict)
        if rows:
            yield indented(filled_table(EXPOSED_HEADER, rows[:SHOWN_VALUES]))
            yield from _more(len(rows) - SHOWN_VALUES, "values")
    elif found:
        yield heading("Look here")
    for line in found:
        yield indented(Text(one_line(line), style="yellow"))
