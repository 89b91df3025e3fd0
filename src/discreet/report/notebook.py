"""Results as a notebook shows them: the body of their report, in a style that stays inside it."""

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import singledispatch
from pathlib import Path
from typing import Any

from discreet.choice.best_set.best_margins import BestMargins
from discreet.choice.risk_utility import RiskUtility
from discreet.count_tables.assessment import CountAssessment
from discreet.data.writing import written_whole
from discreet.figures import Figure, Unavailable
from discreet.report import words
from discreet.report.audit.document import audit_document
from discreet.report.backtest import backtest_document
from discreet.report.choose.document import choose_document
from discreet.report.counts.document import counts_document
from discreet.report.html import internal_html
from discreet.report.lattice_plot import MOST_VARIABLES, lattice_plot
from discreet.report.plan import plan_document
from discreet.report.render_html import page_of as html_page
from discreet.survey.assessment import Assessment
from discreet.survey.backtest.league import Backtest
from discreet.survey.models.sample_size import Plan
from discreet.tables.audit import Audit

SCOPE = "discreet"
WHOLE_PAGE = re.compile(r"(?<![\w.-])(:root|body)(?=\s*[{,])")  # what styles the page itself
PLOT = re.compile(
    r'<figure[^>]*? id="([^"]*)" aria-label="([^"]*)"[^>]*>.*?(<svg.*?</svg>)', re.DOTALL
)
LONGEST = 300  # characters of a field without a page of its own


@dataclass(frozen=True, slots=True)
class Plot:
    """One plot of a report, as SVG text."""

    title: str
    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> None:
        """Write it as an SVG file, whole or not at all."""
        with written_whole(Path(path)) as temporary:
            temporary.write_text(self.svg, encoding="utf-8")


@singledispatch
def page_of(result: Any) -> str | None:
    """The report of a result as a whole page; None where there is none."""
    return None


@page_of.register
def _(result: Assessment) -> str | None:
    return internal_html(result)


@page_of.register
def _(result: Audit) -> str | None:
    return html_page(audit_document("the table", [result]))


@page_of.register
def _(result: CountAssessment) -> str | None:
    return html_page(counts_document(result, "the counts"))


@page_of.register
def _(result: Backtest) -> str | None:
    return html_page(backtest_document(result))


@page_of.register
def _(result: Plan) -> str | None:
    return html_page(plan_document([result]))


@page_of.register
def _(result: RiskUtility) -> str | None:
    return html_page(choose_document("the table", result))


def html_of(result: Any) -> str:
    """What a notebook shows of a result: its report, or its fields where it has none."""
    page = page_of(result)
    if page is not None:
        return _inside(page)
    if isinstance(result, Figure):
        return f"<span>{html.escape(words.outcome(result))} [{result.how.value}]</span>"
    if isinstance(result, Unavailable):
        return f"<span>none: {html.escape(result.reason)}</span>"
    return _fields_table(result) + "".join(plot.svg for plot in plots_of(result).values())


def plots_of(result: Any) -> Mapping[str, Plot]:
    """The plots of the report of a result, by name."""
    if isinstance(result, BestMargins):
        return _lattice(result)
    return plots_in(page_of(result) or "")


def _lattice(best: BestMargins) -> Mapping[str, Plot]:
    if best.frontier is None or len(best.names) > MOST_VARIABLES:
        return {}
    drawn = lattice_plot(best.names, best.frontier.statuses)
    return {"lattice": Plot("What goes out, what could, what cannot", drawn)}


def plots_in(page: str) -> Mapping[str, Plot]:
    """The plots of a page, by name."""
    return {m[1]: Plot(html.unescape(m[2]), m[3]) for m in PLOT.finditer(page)}


def _inside(page: str) -> str:
    """The body of a page with its style held to it, so that the notebook keeps its own."""
    style = page.partition("<style>")[2].partition("</style>")[0]
    body = page.partition("<body>")[2].partition("</body>")[0]
    scoped = f".{SCOPE} {{ {WHOLE_PAGE.sub('&', style)} }}"
    return f'<div class="{SCOPE}"><style>{scoped}</style>{body}</div>'


def _fields_table(result: Any) -> str:
    """A result without a page: its public fields, one a row."""
    named = fields(result) if is_dataclass(result) else ()
    rows = "".join(
        f"<tr><th>{html.escape(field.name)}</th><td>{_value(getattr(result, field.name))}</td></tr>"
        for field in named
        if not field.name.startswith("_")
    )
    return f"<table><caption>{html.escape(type(result).__name__)}</caption>{rows}</table>"


def _value(value: Any) -> str:
    if isinstance(value, (Figure, Unavailable)):
        return html_of(value)
    text = repr(value)
    cut = text if len(text) <= LONGEST else text[:LONGEST] + "…"
    return html.escape(cut)
