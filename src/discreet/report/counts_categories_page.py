"""One set of count statistics for each category, as one HTML page with a panel for each."""

from pathlib import Path

from discreet.count_tables.com_poisson.regression import Regression, SetsRegression
from discreet.data.writing import written_whole
from discreet.figures import Unavailable
from discreet.report import counts_categories as cc
from discreet.report import counts_fit as cf
from discreet.report import words
from discreet.report.counts_categories import CategoriesView
from discreet.report.counts_page import panel_of
from discreet.report.counts_plots import panels_plot
from discreet.report.html import render

MOST_PANELS = 30


def write_categories_page(view: CategoriesView, path: Path) -> None:
    """Write the page, whole or not at all."""
    with written_whole(path) as temporary:
        temporary.write_bytes(categories_html(view).encode("utf-8", "backslashreplace"))


def categories_html(view: CategoriesView) -> str:
    """The page; for the holder it holds the truth and is as confidential as the data."""
    regression = view.regression if isinstance(view.regression, SetsRegression) else None
    fitted = regression.common if regression is not None else None
    return render(
        "counts_categories.html",
        v=view,
        cc=cc,
        cf=cf,
        w=words,
        plot=_plot(view),
        drawn=_drawn_words(view),
        not_drawn=_not_drawn(view),
        regression=regression,
        effects=cf.regression_rows(fitted) if isinstance(fitted, Regression) else [],
        means=[] if regression is None else cf.mean_rows(regression, list(view.releases)),
        no_regression=view.regression.reason if isinstance(view.regression, Unavailable) else "",
    )


def _drawable(view: CategoriesView) -> list[str]:
    return [name for name, one in view.likely.items() if not isinstance(one, Unavailable)]


def _plot(view: CategoriesView) -> str:
    panels = []
    for name in _drawable(view)[:MOST_PANELS]:
        likely = view.likely[name]
        if not isinstance(likely, Unavailable):
            panels.append(panel_of(name, likely, view.tables[name] if view.tables else None))
    return panels_plot(panels) if panels else ""


def _drawn_words(view: CategoriesView) -> str:
    """Which tables the panels show."""
    drawn = _drawable(view)
    said = "Each line is a table that agrees with the category's own set, coloured by its "
    said += "probability; where tables are too many, the most probable or some drawn."
    if len(drawn) > MOST_PANELS:
        said += f" The first {MOST_PANELS} of {len(drawn)} categories."
    return said


def _not_drawn(view: CategoriesView) -> list[str]:
    """Which tables are not drawn, and why."""
    reasons: dict[str, list[str]] = {}
    for name, one in view.likely.items():
        if isinstance(one, Unavailable):
            reasons.setdefault(one.reason, []).append(name)
    return [
        f"Not drawn: {words.listed(names)}, since {words.sentence(reason)}."
        for reason, names in reasons.items()
    ]
