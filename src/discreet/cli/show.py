"""The one way in which a command shows its result: JSON or text on stdout, pages where asked."""

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.cli.console import print_json, say, stdout_console
from discreet.cli.exit_codes import ignore_stdout, writing_stdout

if TYPE_CHECKING:
    from discreet.report.document import Document


def show(
    document: "Callable[[], Document]",
    data: Callable[[], Mapping[str, Any]],
    *,
    as_json: bool,
    full: bool = False,
    report: Path | None = None,
    others: "Mapping[Path, Callable[[], Document]] | None" = None,
    written: Sequence[Path] = (),
) -> None:
    """Write the `report` and the `others`, print the result, and name every file on stderr.

    Pages say where they come from: hashing the inputs reads them once more, at about a gigabyte a
    second, so it is done only where a page is written. Without `full` the terminal has the answer
    alone, in some fifteen lines. Files in `written` are there already and are only named.
    """
    pages = ({} if report is None else {report: document}) | dict(others or {})
    if pages:
        from discreet.cli.typed import provenance_of_command
        from discreet.report.provenance import with_provenance
        from discreet.report.render_html import write_page

        found = provenance_of_command()
        for path, page in pages.items():
            write_page(with_provenance(page(), found), path)
    try:
        _print(document, data, as_json=as_json, full=full, has_page=report is not None)
    except BrokenPipeError:  # whoever read left: what else was asked for is still done
        ignore_stdout()
    for path in (*pages, *written):
        say(f"written: {path}")


def _print(
    document: "Callable[[], Document]",
    data: Callable[[], Mapping[str, Any]],
    *,
    as_json: bool,
    full: bool,
    has_page: bool,
) -> None:
    if as_json:
        print_json(data())
    else:
        from discreet.report.render_terminal import print_document

        print_document(stdout_console(), document(), has_page=has_page, full=full)
    with writing_stdout():
        sys.stdout.flush()


def outside(
    options: Mapping[str, Any], result: Any, name: str = ""
) -> "dict[Path, Callable[[], Document]]":
    """The page for readers outside, where one was asked for; `name` is that of the data set."""
    path = options["external_report"]
    if path is None:
        return {}
    from discreet.report.external import external_document_of

    return {path: partial(external_document_of, result, Path(name).name)}
