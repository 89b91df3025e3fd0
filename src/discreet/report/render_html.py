"""A document as one HTML page that opens anywhere, offline, or as a part of a notebook."""

import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from discreet.data.writing import written_whole
from discreet.errors import OutputError, must_be
from discreet.report.document import Document, shown_on

COMMAND = re.compile(r"`([^`]+)`")
SCOPE = "discreet"  # the class of a part of a notebook
WHOLE_PAGE = re.compile(r"(?<![\w.-])(:root|body)(?=\s*[{,])")  # what styles the page itself


PDF = ".pdf"
ENDINGS = (".html", ".htm", PDF)


def write_page(document: Document, path: str | Path) -> None:
    """Write the page, whole or not at all; as PDF where the name ends so."""
    if Path(path).suffix.lower() == PDF:
        from discreet.report.render_pdf import write_pdf

        write_pdf(page_of(document, opened=True), Path(path))
        return
    text = page_of(document)
    with written_whole(Path(path)) as temporary:
        temporary.write_bytes(text.encode("utf-8", errors="backslashreplace"))


def check_page(name: str, path: Path) -> None:
    """Raises OutputError unless a page can be written under this name: a PDF needs a printer."""
    if path.suffix.lower() not in ENDINGS:
        raise OutputError(must_be(name, "a file that ends in .html or .pdf", repr(path.name)))
    if path.suffix.lower() == PDF:
        from discreet.report.render_pdf import NO_PRINTER, has_printer

        if not has_printer():
            rule = "a file that ends in .html where no program prints PDF"
            raise OutputError(must_be(name, rule, repr(path.name), remedy=NO_PRINTER))


def page_of(document: Document, *, opened: bool = False) -> str:
    """The whole page; every text is escaped, plots are drawn now. For paper, which nobody can
    click, what is closed is `opened`."""
    return _template("page.html").render(document=document, style=_style(), opened=opened)


def part_of(document: Document) -> str:
    """The same for a notebook, in a style that stays inside it."""
    macros: Any = _template("page.html").make_module()
    scoped = f".{SCOPE} {{ {WHOLE_PAGE.sub('&', _style())} }}"
    return f'<div class="{SCOPE}"><style>{scoped}</style>{macros.body(document)}</div>'


@cache
def _template(name: str) -> Template:
    environment = Environment(
        loader=PackageLoader("discreet.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["shown"] = lambda blocks: list(shown_on("page", tuple(blocks)))
    environment.filters["marked"] = _marked
    environment.filters["flat"] = lambda text: text.replace("\n", " ")
    return environment.get_template(name)


def _marked(text: str) -> Markup:
    """The text, escaped, with what stands between backquotes as something to be typed."""
    return Markup(COMMAND.sub(r"<code>\1</code>", str(escape(text))))


def _style() -> str:
    return _template("style.css").render()
