"""Results as a notebook shows them: their document, in a style that stays inside it."""

import html
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

from discreet.data.writing import written_whole
from discreet.errors import OutputError, must_be
from discreet.figures import Figure, Unavailable
from discreet.report.document import plots_in
from discreet.report.results import document_of

FORMS = ("svg", "png", "pdf")
LONGEST = 300  # characters of a field without a page of its own


@dataclass(frozen=True, slots=True)
class Plot:
    """One plot of a report, as SVG text."""

    title: str
    svg: str
    draw: Callable[[], str] = field(repr=False, compare=False)

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> None:
        """Write it as SVG, PNG or PDF by the ending of the file, whole or not at all.

        Raises OutputError for another ending.
        """
        form = Path(path).suffix.lower().removeprefix(".")
        if form not in FORMS:
            rule = f"a file that ends in {', '.join(f'.{one}' for one in FORMS)}"
            raise OutputError(must_be("path", rule, repr(Path(path).name)))
        content = self.svg.encode() if form == "svg" else self._drawn_as(form)
        with written_whole(Path(path)) as temporary:
            temporary.write_bytes(content)

    def _drawn_as(self, form: str) -> bytes:
        from discreet.report.plots import drawn_also

        with drawn_also(form) as buffer:
            self.draw()
        return buffer.getvalue()


def html_of(result: Any) -> str:
    """What a notebook shows of a result: its report, or its fields where it has none."""
    if isinstance(result, Figure):
        return f"<span>{html.escape(str(result))}</span>"
    if isinstance(result, Unavailable):
        return f"<span>none: {html.escape(result.reason)}</span>"
    document = document_of(result)
    if document is None:
        return _fields_table(result)
    from discreet.report.render_html import part_of

    return part_of(document)


def plots_of(result: Any) -> Mapping[str, Plot]:
    """The plots of the report of a result, by name."""
    document = document_of(result)
    if document is None:
        return {}
    return {plot.name: Plot(plot.label, plot.draw(), plot.draw) for plot in plots_in(document)}


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
