"""What the statistics of one count table give away, as a document."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from discreet.count_tables.advice import CountAdvice
from discreet.count_tables.assessment import CountAssessment
from discreet.count_tables.com_poisson.conjugate import BayesianAnalysis
from discreet.count_tables.likely_tables import LikelyTables
from discreet.figures import Unavailable
from discreet.report import words
from discreet.report.counts import answer
from discreet.report.counts import words as said
from discreet.report.counts.fit import FIT_HEADER, bayes_section, fit_notes, fit_rows
from discreet.report.document import Block, Document, Facts, Plot, Section, Table, Text, Tiles
from discreet.report.verdict import next_section, verdict_section

MOST_VALUES, MOST_TABLES = 40, 7  # on the terminal
DRAWN_TABLES = 25  # listed on the page
EXPOSED_HEADER = ("exposed value", "count", "probability of its true count")
TRIAL_HEADER = ("tried", "risk of the table", "risk of a value", "which value", "")
TILES = {
    "effective_tables": "effective tables: equally probable ones that would leave the same doubt",
    "best_guess_probability": "probability that the best guess of the table is right",
    "truth_probability": "probability of the true table",
}
TRUTH = said.SURE_HEADER.index("true table")


def counts_document(
    a: CountAssessment, source: str, *, bayes: BayesianAnalysis | Unavailable | None = None
) -> Document:
    """The verdict, what an intruder can rebuild, what to do now, and how all that is known.

    For the holder it holds the truth and is as confidential as the data.
    """
    holder = a.table is not None
    title = "What the statistics of a count table give away"
    return Document(
        title=title if holder else "What an intruder rebuilds from the statistics of counts",
        scope=(source, answer.out_line(a)),
        mark="confidential" if holder else None,
        blocks=(
            *_verdict(a),
            Tiles(_tiles(a)),
            _rebuilt(a),
            next_section(answer.next_steps(a)),
            Section("The tables that fit", (*_drawn(a), *_listed(a))),
            *_tried(a),
            Section(
                "The release as equations for the counts f0, f1, … of the values 0, 1, …",
                tuple(Text(line) for line in said.equations_of(a.found)),
                collapsed=True,
            ),
            *_shown_in_detail(a),
            Section(
                "What a user can still learn: the COM-Poisson fit", tuple(_fit(a)), only="detail"
            ),
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
    if a.verdict is not None:
        found = verdict_section(a.verdict)
        yield replace(found, blocks=(*found.blocks, *warnings))
    else:
        yield Section("Warnings", warnings)


def _tried(a: CountAssessment) -> Iterator[Section]:
    """The values that are exposed, and the releases that were tried."""
    if a.advice is None:
        return
    blocks: list[Block] = [Text(words.sentence(a.advice.rule), "soft")]
    exposed = tuple(said.exposed_rows(a.advice))
    if exposed:
        blocks.append(Table(header=EXPOSED_HEADER, rows=exposed, most=MOST_VALUES))
    blocks.append(Table(header=TRIAL_HEADER, rows=tuple(_trials(a.advice)), sides="lrrrl"))
    yield Section("What was judged, and what was tried", tuple(blocks), only="detail")


def _trials(advice: CountAdvice) -> Iterator[tuple[str, ...]]:
    """What was tried: the risk of the table, of the worst value, and what that means."""
    for trial in advice.trials:
        yield (
            trial.release.words,
            words.outcome(trial.table_risk),
            "–" if trial.cell_risk is None else words.outcome(trial.cell_risk),
            "–" if trial.worst_value is None else str(trial.worst_value),
            str(trial.ruling),
        )


def _rebuilt(a: CountAssessment) -> Section:
    title = "What an intruder can rebuild"
    tables = Text(f"Tables consistent with what goes out: {said.count_words(a.found)}.")
    if isinstance(a.found, Unavailable):
        return Section(title, (tables,))
    best = Text(f"Best guess: {said.best_guess(a)}.")
    return Section(title, (tables, best))


def _shown_in_detail(a: CountAssessment) -> Iterator[Section]:
    if isinstance(a.found, Unavailable):
        return
    yield Section("Bounds and risk of each count", tuple(_bounds(a)), only="detail")
    yield Section("How sure an intruder is of the table", tuple(_sure(a)), only="detail")
    if a.before is not None and a.options.knowledge is not None:
        yield Section("What the knowledge adds", tuple(_knowledge(a)), only="detail")


def _drawn(a: CountAssessment) -> Iterator[Block]:
    """The tables as lines, and which of them are drawn."""
    likely = a.likely
    if isinstance(likely, Unavailable):
        why = f"No table is listed or drawn: {words.sentence(likely.reason)}."
        yield Text(why, "soft", "detail")
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
            only="detail",
        )


def _bounds(a: CountAssessment) -> Iterator[Block]:
    rows = tuple(said.bounds_row(a, bound) for bound in said.bounds_of(a))
    if rows:
        yield Table(header=said.bounds_header(a), rows=rows, most=MOST_VALUES)
    yield from (Text(line, "soft") for line in said.bounds_meaning(a))


def _sure(a: CountAssessment) -> Iterator[Block]:
    columns = [i for i in range(len(said.SURE_HEADER)) if a.table is not None or i != TRUTH]
    row = said.sure_row(a.risks["multinomial"])
    yield Table(
        header=tuple(said.SURE_HEADER[i] for i in columns),
        rows=(tuple(row[i] for i in columns),),
        sides="r" * len(columns),
    )
    yield from (Text(note, "soft") for note in said.sure_notes(a))
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
