"""What count statistics give away, as one HTML page with the tables drawn as lines."""

from pathlib import Path

from discreet.data.writing import written_whole
from discreet.figures import Unavailable
from discreet.report import counts_words as cw
from discreet.report import plots, words
from discreet.report.html import render
from discreet.risk.count_assessment import CountAssessment

MOST_VALUES = 200
MOST_TABLES = 50


def write_counts_page(a: CountAssessment, source: str, path: Path) -> None:
    """Write the page, whole or not at all."""
    with written_whole(path) as temporary:
        temporary.write_bytes(counts_html(a, source).encode("utf-8", "backslashreplace"))


def counts_html(a: CountAssessment, source: str) -> str:
    """The page; for the holder it holds the truth and is as confidential as the data."""
    return render(
        "counts.html",
        a=a,
        w=words,
        cw=cw,
        source=source,
        holder=a.table is not None,
        unavailable=words.sentence(a.found.reason) if isinstance(a.found, Unavailable) else "",
        equations=getattr(a.found, "equations", ()),
        bounds=[cw.bounds_row(a, bound) for bound in cw.bounds_of(a)[:MOST_VALUES]],
        priors=[
            cw.prior_row(name, risk)[: 5 - (a.table is None)] for name, risk in a.risks.items()
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
    truth = None
    if a.table is not None:
        truth = [a.table.get(j, 0) for j in range(a.likely.tables.shape[1])]
        if isinstance(a.found, Unavailable) or getattr(a.found, "zeros_unknown", False):
            truth[0] = 0
    return plots.solutions_plot(a.likely.tables, a.likely.probability.tolist(), truth)


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
    tables = cw.count_words(a.found).split(" (")[0]
    tiles = [(tables if len(tables) < 20 else "–", "tables consistent with what goes out")]
    if isinstance(right, Unavailable):
        return tiles
    tiles.append((cw.cell_words(right.effective_tables), "as much doubt as so many alike"))
    tiles.append((cw.cell_words(right.best_guess_probability), "best guess of the table is right"))
    if a.table is not None:
        tiles.append((cw.cell_words(right.truth_probability), "probability of the true table"))
    return tiles


def _trials(a: CountAssessment) -> list[tuple[str, str]]:
    if a.verdict is None:
        return []
    return [(t.release.words, words.outcome(t.risk)) for t in a.verdict.trials]
