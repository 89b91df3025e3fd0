"""discreet choose FILE --count Freq --vars a,b,c --max-risk a"""

from functools import partial
from pathlib import Path
from typing import Any

import click

from discreet.cli.again import same_command
from discreet.cli.exit_codes import leave_with
from discreet.cli.grouped import COMPUTED, KNOWN, OUTPUT, READING, Command, option
from discreet.cli.option_names import speaking_of
from discreet.cli.option_rules import by_name
from discreet.cli.options import (
    NamedFile,
    Names,
    csv_from,
    csv_options,
    full_option,
    page_options,
    policy_option,
    split_names,
)
from discreet.cli.table_file import counts_options, table_of

PATH = click.Path(path_type=Path)
PLAIN = (  # options that reach the library as they are
    "masks", "out", "requests", "alpha", "policy", "seconds", "targets", "nesting", "nested",
    "tables", "published", "labels",
)  # fmt: skip
PARAMETERS = {
    "prior": "--intruders",
    "mask": "--masks",
    "request": "--request",
    "user": "--user",
}


class Request(click.ParamType[tuple[tuple[str, ...], float]]):
    """A margin that users want, with its weight: a,b=2."""

    name = "NAME,…[=W]"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[tuple[str, ...], float]:
        if isinstance(value, tuple):
            return value
        listed, equals, number = value.rpartition("=")
        names = split_names(listed if equals else value)
        weight = _weight(number) if equals else 1.0
        if not names or weight is None:
            self.fail(f"must be variables and, after '=', a weight above 0, got {value!r}", param)
        return names, weight


class User(click.ParamType[tuple[str, float]]):
    """A user of the data with a weight: counts=2."""

    name = "NAME[=W]"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, float]:
        if isinstance(value, tuple):
            return value
        name, equals, number = value.partition("=")
        weight = _weight(number) if equals else 1.0
        if not name.strip() or weight is None:
            self.fail(f"must be a name and, after '=', a weight above 0, got {value!r}", param)
        return name.strip(), weight


def _weight(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if 0 < found < float("inf") else None


class Out(click.ParamType[tuple[str, ...] | str]):
    """A table that is out: the names of its variables, or how a table is written."""

    name = "TABLE"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...] | str:
        if isinstance(value, tuple):
            return value
        written = any(mark in value for mark in ":|+") or value.strip().lower() == "total"
        return value if written else Names().convert(value, param, ctx)


@click.command(name="choose", cls=Command)
@click.argument("file")
@option(
    KNOWN, "--out", type=Out(), multiple=True,
    help="Variables of a margin that is out already, or with --tables a table written as there; "
    "may be given several times.",
)  # fmt: skip
@option(
    KNOWN, "--published", multiple=True, metavar="FILE[ | …]",
    help="With --tables: a table as it was published before (CSV, Excel, JSON-stat 2, PX), perhaps "
    "with what is to be said of it: 't.csv | sex=F | rounded(5)'; may be given several times.",
)  # fmt: skip
@option(
    KNOWN, "--label", "labels", multiple=True, metavar="VAR:A=B",
    help="Another name in a published table: 'sex:Female=F' for a level, 'Geschlecht=sex' for a "
    "variable; may be given several times.",
)  # fmt: skip
@option(
    KNOWN, "--tree", "trees", type=NamedFile(), multiple=True,
    help="Which levels of a variable belong together, one leaf a row: region=tree.csv.",
)  # fmt: skip
@option(
    KNOWN, "--request", "requests", type=Request(), multiple=True,
    help="Variables of a margin that users want, with its weight; then worth is the share of "
    "requests that is met. May be given several times.",
)  # fmt: skip
@option(
    KNOWN, "--user", "users", type=User(), multiple=True,
    help="Who is served, with a weight: counts, squares, association, fit, shape, requests "
    "[default: counts, association and shape alike].",
)  # fmt: skip
@option(
    KNOWN, "--intruders", also=["--intruder"], type=Names(),
    help="Who is guarded against, by what he believes before the release: multinomial, dirichlet, "
    "uniform; of several the worst counts [default: multinomial].",
)  # fmt: skip
@option(
    KNOWN, "--nesting/--no-nesting", default=True, show_default=True,
    help="An intruder knows what one variable determines of another (region and district).",
)  # fmt: skip
@option(
    KNOWN, "--nested", multiple=True, metavar="A:B",
    help="Everybody knows B from A (district:region), so that it is no news of a group; may be "
    "given several times. Names of levels may show it too (N1 in N, 23 in 20-24).",
)  # fmt: skip
@option(
    COMPUTED, "--targets", also=["--target"], type=Names(),
    help="Variables whose level a group of persons must not share [default: all].",
)  # fmt: skip
@option(
    COMPUTED, "--sure", type=float,
    help="Probability from which a group that shares a level of --targets counts [default: 0.9].",
)  # fmt: skip
@policy_option
@option(
    COMPUTED, "--max-risk", type=float,
    help="The greatest risk allowed: from 0 to 1 for table and cells; for bounds, where risk is "
    "minus the narrowest width, 0 or below (see --min-width; docs/guide/limits.md).",
)  # fmt: skip
@option(
    COMPUTED, "--min-width", type=int,
    help="Bounds of small cells must be at least W wide: --measure bounds --max-risk -W.",
)  # fmt: skip
@option(
    COMPUTED, "--measure", type=click.Choice(["bounds", "table", "cells"]),
    help="Risk: how narrow the bounds of a small cell are, how probable the true table is, or "
    "what share of the small cells is found [default: cells].",
)  # fmt: skip
@option(
    COMPUTED, "--masks", metavar="MASK,…",
    help="What to look at, such as margins,rounding:base=3 [default: margins, rounding, "
    "suppression, perturbation, and what --policy says must be done; all there are: "
    "docs/methods/masks.md].",
)  # fmt: skip
@option(
    COMPUTED, "--tables", multiple=True, metavar="TABLE",
    help="A table that is to go out: 'region:tree(all),age:bands(10)+total' or 'region,sex | "
    "age=0-15'. Given several times, they are judged and protected as one set.",
)  # fmt: skip
@option(
    COMPUTED, "--small", type=int,
    help="Counts from 1 up to it are small [default: 2, or what --policy calls small].",
)  # fmt: skip
@option(
    COMPUTED, "--confidence", type=float,
    help="An intruder who is surer than this of a count takes it as known [default: 0.5].",
)  # fmt: skip
@option(
    COMPUTED, "--alpha", type=float, default=0.5, show_default=True,
    help="Count that the prior of the intruder dirichlet puts into each cell.",
)  # fmt: skip
@option(COMPUTED, "--seconds", type=float, default=60.0, show_default=True, help="Time allowed.")
@option(
    COMPUTED, "--seed", type=click.IntRange(0),
    help="Seed of all draws and random masks; keep it secret [default: a new one each time, "
    "recorded].",
)  # fmt: skip
@page_options
@option(OUTPUT, "--write", type=PATH, help="Write the chosen tables to a new folder.")
@option(
    OUTPUT, "--format", type=Names(),
    help="Formats of the files of --write: csv, xlsx, json-stat2, px, one or several "
    "[default: csv].",
)  # fmt: skip
@full_option
@option(OUTPUT, "--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
@option(READING, "--count", help="Column of counts [default: every row is one record].")
@option(
    READING, "--variables", also=["--vars"], type=Names(),
    help="Variables of the table [default: all columns].",
)  # fmt: skip
@option(
    READING, "--missing", default="category", show_default=True,
    help="What a missing value is: category, drop or error.",
)  # fmt: skip
@counts_options
@csv_options
def command(file: str, **options: Any) -> None:
    """What to publish of the table in FILE: the most useful release whose risk is within a limit.

    FILE holds counts in long form (--count names their column) or records to be counted. Exit code
    3 means that no release is within the limit, 4 that none was shown to be.
    """
    with speaking_of(PARAMETERS):
        _run(file, options)


def _run(file: str, options: dict[str, Any]) -> None:
    from discreet.choice.publication import check_folder
    from discreet.cli.console import progress_bar
    from discreet.cli.show import outside, show
    from discreet.report.choose.document import choose_document
    from discreet.report.choose.json import choose_json

    folder = options["write"]
    _check_together(options)
    formats = _formats(options)
    asked = _asked(options)
    if folder is not None:
        check_folder(folder)
    with progress_bar() as progress:
        source, table = table_of(file, options, progress)
        found = _found(table, asked, progress)
    show(
        partial(choose_document, source, found, command=same_command(), written=folder is not None),
        partial(choose_json, found),
        as_json=options["as_json"],
        full=options["full"],
        report=options["report"],
        others=outside(options, found, source),
    )
    if folder is not None:
        _write(found, folder, formats)
    leave_with(found.verdict)


def _formats(options: dict[str, Any]) -> Any:
    """The formats of the files to be written. Checked: a folder for them is given."""
    from discreet.data.published.writing import formats_of

    names = options["format"]
    if names is not None and options["write"] is None:
        raise click.UsageError("--format must be given with --write, got none")
    return formats_of(names or ("csv",))


def _write(found: Any, folder: Path, formats: Any) -> None:
    from discreet.choice.publication import publication_of, write_release
    from discreet.cli.console import say

    chosen = found.chosen
    if chosen is None or chosen.is_nothing or not found.verdict.allows:
        say(f"nothing is to be released, so nothing was written to {folder}")
        return
    for path in write_release(publication_of(chosen, found.table), folder, formats):
        say(f"written: {path}")


def _check_together(options: dict[str, Any]) -> None:
    """The limit is given once, in one way, and no option is given that would have no effect."""
    width, cap, measure = options["min_width"], options["max_risk"], options["measure"]
    if width is not None and cap is not None:
        raise click.UsageError("--max-risk or --min-width must be given, one of them, got both")
    if width is None and cap is None and not options["policy"]:
        raise click.UsageError("--policy, --max-risk or --min-width must be given, got none")
    if width is not None and width < 0:
        raise click.UsageError(f"--min-width must be at least 0, got {width}")
    if width is not None and measure not in (None, "bounds"):
        raise click.UsageError(f"--min-width must be given with --measure bounds, got {measure!r}")
    bounds = measure == "bounds" or width is not None
    if bounds and options["intruders"] is not None:
        raise click.UsageError(
            "--intruders must be given with --measure table or cells, since bounds hold for all, "
            "got bounds"
        )
    report = options["report"]
    folder = options["write"]
    if report is not None and folder is not None and folder.resolve() in report.resolve().parents:
        raise click.UsageError(
            f"--report must be outside the folder of --write, since it is internal, got {report}"
        )


def _asked(options: dict[str, Any]) -> Any:
    """The options of the library: the same names, in its forms."""
    from discreet.choice.options import ChooseOptions

    users = dict(options["users"])
    if len(users) < len(options["users"]):
        raise click.UsageError("--user must be given once for each user, got one twice")
    if options["sure"] is not None and options["targets"] is None:
        raise click.UsageError("--targets must be given with --sure, got none")
    named = (
        "max_risk", "min_width", "measure", "intruders", "sure", "seed", "small", "confidence"
    )  # fmt: skip
    given = {name: options[name] for name in named if options[name] is not None}
    plain = {name: options[name] for name in PLAIN}
    plain["trees"] = _trees(options)
    return ChooseOptions(**plain, **given, users=users or None)


def _trees(options: dict[str, Any]) -> dict[str, Any]:
    """The tree of each variable that has one, read as --delimiter and others say."""
    from discreet.data.tree_file import read_hierarchy

    csv = csv_from(*(options[name] for name in ("delimiter", "quote", "encoding", "decimal")))
    given = by_name("--tree", options["trees"])
    return {name: read_hierarchy(path, csv) for name, path in given.items()}


def _found(table: Any, asked: Any, progress: Any) -> Any:
    from discreet.flows.choose import choose

    return choose(table, options=asked, progress=progress)
