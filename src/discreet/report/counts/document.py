"""What the statistics of one count table give away, as a document."""

from collections.abc import Iterator, Mapping

from discreet.count_tables.assessment import CountAssessment
from discreet.count_tables.com_poisson.conjugate import BayesianAnalysis
from discreet.count_tables.likely_tables import LikelyTables
from discreet.figures import Unavailable
from discreet.report import words
from discreet.report.counts import words as said
from discreet.report.counts.fit import FIT_HEADER, bayes_section, fit_notes, fit_rows
from discreet.report.document import Block, Document, Facts, Plot, Section, Table, Text, Tiles

MOST_VALUES, MOST_TABLES = 40, 7  # on the terminal
DRAWN_TABLES = 25  # listed on the page
EXPOSED_HEADER = ("exposed value", "count", "probability of its true count")
TRIAL_HEADER = ("tried", "risk of the table", "risk of a value", "which value", "")
TILES = {
    "effective_tables": "effective tables: equally probable ones that would leave the same doubt",
    "best_guess_probability": "probability that the best guess of the table is right",
    "truth_probability": "probability of the true table",
}
JUDGED = {"low": "low enough", "high": "too high", "unknown": "not known"}


def counts_document(
    a: CountAssessment, source: str, *, bayes: BayesianAnalysis | Unavailable | None = None
) -> Document:
    """The verdict, what an intruder can rebuild, what a user can fit.

    For the holder it holds the truth and is as confidential as the data.
    """
    holder = a.table is not None
    title = "What the statistics of a count table give away"
    return Document(
        title=title if holder else "What an intruder rebuilds from the statistics of counts",
        scope=(source,),
        mark="confidential" if holder else None,
        blocks=(
            Tiles(_tiles(a)),
            *_verdict(a),
            _release(a),
            Section(
                "The release as equations for the counts f0, f1, … of the values 0, 1, …",
                tuple(Text(line) for line in said.equations_of(a.found)),
                collapsed=True,
            ),
            *_rebuilt(a),
            Section("What a user can still learn: the COM-Poisson fit", tuple(_fit(a))),
            *([] if bayes is None else [bayes_section({"": bayes})]),
            Section("How this was made", (_made(a),)),
        ),
    )


def _tiles(a: CountAssessment) -> tuple[tuple[str, str], ...]:
    right = a.risks["multinomial"]
    tables = said.count_words(a.found).split(" (")[0].split(" of ")[0]
    shown = list(TILES.items())[: 2 + (a.table is not None)]
    return (
        (tables if len(tables) < 20 else "–", "tables consistent with what goes out"),
        *((said.cell_words(getattr(right, name, None)), label) for name, label in shown),
    )


def _verdict(a: CountAssessment) -> Iterator[Section]:
    warnings = tuple(Text(line, "warning") for line in said.warnings(a))
    verdict = a.verdict
    if verdict is None:
        yield Section("Warnings", warnings)
        return
    scope = said.verdict_scope(verdict)
    blocks: list[Block] = [Text(words.sentence(verdict.sentence), "strong")]
    blocks += [Text(scope)] if scope else []
    exposed = tuple(said.exposed_rows(verdict))
    if exposed:
        blocks.append(Table(header=EXPOSED_HEADER, rows=exposed, most=MOST_VALUES))
    blocks.append(Text(words.sentence(verdict.rule), "soft"))
    blocks.append(Table(header=TRIAL_HEADER, rows=tuple(_trials(a)), sides="lrrrl", only="page"))
    title = f"Verdict: {said.verdict_words(verdict)}"
    yield Section(title, (*blocks, *warnings), tone="good" if verdict.allows else "bad")


def _trials(a: CountAssessment) -> Iterator[tuple[str, ...]]:
    """What was tried: the risk of the table, of the worst value, and what that means."""
    for trial in () if a.verdict is None else a.verdict.trials:
        yield (
            trial.release.words,
            words.outcome(trial.table_risk),
            "–" if trial.cell_risk is None else words.outcome(trial.cell_risk),
            "–" if trial.worst_value is None else str(trial.worst_value),
            JUDGED[str(trial.judged)],
        )


def _release(a: CountAssessment) -> Section:
    title = "What goes out" if a.table is None else "What would go out"
    return Section(title, tuple(Text(line) for line in a.release.lines()))


def _rebuilt(a: CountAssessment) -> Iterator[Section]:
    title = "What an intruder can rebuild"
    tables = Text(f"Tables consistent with what goes out: {said.count_words(a.found)}.")
    if isinstance(a.found, Unavailable):
        yield Section(title, (tables,))
        return
    best = Text(f"Best guess: {said.best_guess(a)}.")
    yield Section(title, (tables, best, *_drawn(a), *_listed(a)))
    yield Section("Bounds and risk of each count", tuple(_bounds(a)))
    yield Section("How sure an intruder is of the table", tuple(_priors(a)))
    if a.before is not None and a.options.knowledge is not None:
        yield Section("What the knowledge adds (multinomial prior)", tuple(_knowledge(a)))


def _drawn(a: CountAssessment) -> Iterator[Block]:
    """The tables as lines, and which of them are drawn."""
    likely = a.likely
    if isinstance(likely, Unavailable):
        yield Text(f"No table is listed or drawn: {words.sentence(likely.reason)}.", "soft")
        return
    holder = a.table is not None
    label = "Tables as lines over the values, coloured by probability"
    yield Plot(
        "solutions",
        f"{label}, with the true table marked" if holder else label,
        lambda: draw_panels({"": likely}, {"": a.table} if a.table else None),
    )
    yield Text(_drawn_words(likely) + (TRUE_LINE if holder else ""), "soft", only="page")


TRUE_LINE = " The true table is dashed, in red."


def draw_panels(
    likely: Mapping[str, LikelyTables], tables: Mapping[str, Mapping[int, int]] | None
) -> str:
    """The tables of each category as lines; counts that are not known are not drawn."""
    from discreet.report.counts_plots import panel_of, panels_plot

    return panels_plot(
        [panel_of(name, one, tables[name] if tables else None) for name, one in likely.items()]
    )


def _drawn_words(likely: LikelyTables) -> str:
    number = words.plural(len(likely.tables), "table")
    if likely.complete:
        return f"Each line is one of the {number}, coloured by its probability."
    return (
        f"Each line is a table, coloured by its probability: the {number} that are most probable, "
        "or drawn by their probability where they are too many to list."
    )


def _listed(a: CountAssessment) -> Iterator[Block]:
    rows = said.likely_rows(a, DRAWN_TABLES)
    if rows:
        shown = 3 if any(mark for *_, mark in rows) else 2
        yield Table(
            header=("most probable: counts of 0, 1, …", "probability", "")[:shown],
            rows=tuple(row[:shown] for row in rows),
            sides="lrl"[:shown],
            most=MOST_TABLES,
        )


def _bounds(a: CountAssessment) -> Iterator[Block]:
    rows = tuple(said.bounds_row(a, bound) for bound in said.bounds_of(a))
    if rows:
        yield Table(header=said.bounds_header(a), rows=rows, most=MOST_VALUES)
    yield from (Text(line, "soft") for line in said.bounds_meaning(a))


def _priors(a: CountAssessment) -> Iterator[Block]:
    width = len(said.PRIOR_HEADER) - (a.table is None)
    rows = tuple(said.prior_row(a, name, risk)[:width] for name, risk in a.risks.items())
    yield Table(header=said.PRIOR_HEADER[:width], rows=rows)
    yield from (Text(note) for note in said.prior_notes(a))
    line = said.interval_line(a)
    if line:
        yield Text(line, "soft")


def _knowledge(a: CountAssessment) -> Iterator[Block]:
    known = a.options.knowledge.described() if a.options.knowledge else ()
    yield Text(f"Known: {'; '.join(known)}.")
    yield Table(header=("", "before", "after"), rows=tuple(said.knowledge_rows(a)))
    yield from (Text(note) for note in said.knowledge_notes(a))
    if said.zeros_came_in(a):
        yield Text(said.ZEROS_CAME_IN, "soft")


def _fit(a: CountAssessment) -> Iterator[Block]:
    rows = tuple(fit_rows(a))
    if rows:
        yield Table(header=FIT_HEADER, rows=rows)
    yield from (Text(note) for note in fit_notes(a))


def _made(a: CountAssessment) -> Facts:
    return Facts(
        (("seconds allowed", f"{a.options.seconds:g}"), ("seed", str(a.options.seed))),
    )
