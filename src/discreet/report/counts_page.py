"""What count statistics give away, as one HTML page with the tables drawn as lines."""

from collections.abc import Mapping
from pathlib import Path

from discreet.count_tables.assessment import CountAssessment
from discreet.count_tables.com_poisson.conjugate import BayesianAnalysis
from discreet.count_tables.likely_tables import LikelyTables
from discreet.data.writing import written_whole
from discreet.figures import Unavailable
from discreet.report import counts_fit as cf
from discreet.report import counts_words as cw
from discreet.report import words
from discreet.report.counts_plots import Panel, panels_plot
from discreet.report.html import render

MOST_VALUES = 200
MOST_TABLES = 25


def write_counts_page(
    a: CountAssessment,
    source: str,
    path: Path,
    *,
    bayes: BayesianAnalysis | Unavailable | None = None,
) -> None:
    """Write the page, whole or not at all."""
    text = counts_html(a, source, bayes=bayes)
    with written_whole(path) as temporary:
        temporary.write_bytes(text.encode("utf-8", "backslashreplace"))


def counts_html(
    a: CountAssessment, source: str, *, bayes: BayesianAnalysis | Unavailable | None = None
) -> str:
    """The page; for the holder it holds the truth and is as confidential as the data."""
    return render(
        "counts.html",
        a=a,
        w=words,
        cw=cw,
        cf=cf,
        source=source,
        bayes={} if bayes is None else {"": bayes},
        holder=a.table is not None,
        unavailable=words.sentence(a.found.reason) if isinstance(a.found, Unavailable) else "",
        equations=cw.equations_of(a.found),
        bounds=[cw.bounds_row(a, bound) for bound in cw.bounds_of(a)[:MOST_VALUES]],
        priors=[
            cw.prior_row(a, name, risk)[: 5 - (a.table is None)] for name, risk in a.risks.items()
        ],
        tables=cw.likely_rows(a, MOST_TABLES),
        plot=_plot(a),
        drawn=_drawn_words(a),
        tiles=list(_tiles(a)),
        trials=_trials(a),
    )


def _plot(a: CountAssessment) -> str:
    if isinstance(a.likely, Unavailable):
        return ""
    return panels_plot([panel_of("", a.likely, a.table)])


def panel_of(name: str, likely: LikelyTables, table: Mapping[int, int] | None) -> Panel:
    """The tables of one category as lines; counts that are not identified are not drawn."""
    first = likely.first_value
    width = likely.tables.shape[1]
    truth = None if table is None else [table.get(j, 0) for j in range(first, width)]
    return Panel(
        name=name,
        first_value=first,
        tables=likely.tables[:, first:],
        probabilities=likely.probability.tolist(),
        truth=truth,
    )


def _drawn_words(a: CountAssessment) -> str:
    """Which tables the picture shows."""
    if isinstance(a.likely, Unavailable):
        return f"No tables are drawn: {words.sentence(a.likely.reason)}."
    number = words.count(len(a.likely.tables))
    if a.likely.complete:
        return f"Each line is one of the {number} tables, coloured by its probability."
    return (
        f"Each line is a table, coloured by its probability: {number} of all, the most "
        "probable, or where they are too many to list some drawn by their probability."
    )


def _tiles(a: CountAssessment) -> list[tuple[str, str]]:
    right = a.risks["multinomial"]
    tables = cw.count_words(a.found).split(" (")[0].split(" of ")[0]
    tiles = [(tables if len(tables) < 20 else "–", "tables consistent with what goes out")]
    named = {
        "effective_tables": "as much doubt as so many alike",
        "best_guess_probability": "best guess of the table is right",
        "truth_probability": "probability of the true table",
    }
    for name, said in list(named.items())[: 2 + (a.table is not None)]:
        tiles.append((cw.cell_words(getattr(right, name, None)), said))  # reasons stand below
    return tiles


def _trials(a: CountAssessment) -> list[tuple[str, ...]]:
    """What was tried: the risk of the table, of the worst value, and what that means."""
    if a.verdict is None:
        return []
    meant = {"low": "low enough", "high": "too high", "unknown": "not known"}
    return [
        (
            t.release.words,
            words.outcome(t.table_risk),
            "–" if t.cell_risk is None else words.outcome(t.cell_risk),
            "–" if t.worst_value is None else str(t.worst_value),
            meant[str(t.judged)],
        )
        for t in a.verdict.trials
    ]
