"""discreet choose FILE --count Freq --vars a,b,c --max-risk a"""

from functools import partial
from pathlib import Path
from typing import Any

import click

from discreet.cli.option_names import speaking_of
from discreet.cli.options import Names, csv_options, split_names
from discreet.cli.single_options import OnceCommand
from discreet.cli.table_file import table_of

PATH = click.Path(path_type=Path)
REFUSED = 3
PARAMETERS = {  # of the library, where the user typed something else
    "max_risk": "--max-risk",
    "prior": "--intruder",
    "intruders": "--intruder",
    "mask": "--masks",
    **{
        name: f"--{name}"
        for name in (
            "small", "confidence", "alpha", "seconds", "out", "request", "user", "masks", "count",
            "missing", "write", "seed",
        )
    },
}  # fmt: skip


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


@click.command(name="choose", cls=OnceCommand)
@click.argument("file")
@click.option("--count", help="Column of counts [default: every row is one record].")
@click.option("--vars", "variables", type=Names(), help="Variables of the table [default: all].")
@click.option(
    "--max-risk", type=float,
    help="The cap on risk: from 0 to 1 for table and cells; for bounds, where risk is minus the "
    "narrowest width, 0 or below (see --min-width).",
)  # fmt: skip
@click.option(
    "--min-width", type=int,
    help="Bounds of small cells must be so wide: the same as --measure bounds --max-risk -W.",
)  # fmt: skip
@click.option(
    "--measure", type=click.Choice(["bounds", "table", "cells"]),
    help="Risk: how narrow the bounds of a small cell are, how probable the true table is, or "
    "what share of the small cells is found [default: cells].",
)  # fmt: skip
@click.option(
    "--masks", metavar="MASK,…",
    help="What to look at, such as margins,rounding:base=3 [default: margins, rounding, "
    "suppression, perturbation].",
)  # fmt: skip
@click.option("--out", type=Names(), multiple=True, help="A margin that is out already.")
@click.option(
    "--request", "requests", type=Request(), multiple=True,
    help="A margin that users want, with its weight; then worth is the share that is met.",
)  # fmt: skip
@click.option(
    "--user", "users", type=User(), multiple=True,
    help="Who is served, with weights: counts, squares, association, fit, shape, requests "
    "[default: counts, association and shape alike].",
)  # fmt: skip
@click.option(
    "--intruder", "intruders", type=Names(),
    help="Who is guarded against, by what he holds beforehand: multinomial, dirichlet, uniform; "
    "of several the worst counts [default: multinomial].",
)  # fmt: skip
@click.option("--small", type=int, default=2, show_default=True, help="Counts up to it are small.")
@click.option(
    "--confidence", type=float, default=0.5, show_default=True,
    help="Probability from which a count is taken as known.",
)  # fmt: skip
@click.option("--alpha", type=float, default=0.5, show_default=True, help="Prior count of a cell.")
@click.option("--missing", default="category", show_default=True, help="category, drop or error.")
@click.option("--seconds", type=float, default=60.0, show_default=True, help="Time it may take.")
@click.option(
    "--seed", type=click.IntRange(0),
    help="Of all draws and random masks; keep it secret [default: a new one each time, recorded].",
)  # fmt: skip
@click.option("--report", type=PATH, help="Write an HTML report (internal).")
@click.option("--write", type=PATH, help="Write the chosen tables as CSV files to a new folder.")
@csv_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def command(file: str, **options: Any) -> None:
    """What to publish of the table in FILE: the most useful release whose risk is within a cap.

    FILE holds counts in long form (--count names their column) or records to be counted. Exit code
    3 means that nothing but releasing nothing is within the cap.
    """
    with speaking_of(PARAMETERS):
        _run(file, options)


def _run(file: str, options: dict[str, Any]) -> None:
    from discreet.choice.publication import check_folder
    from discreet.cli.console import progress_bar
    from discreet.cli.show import show
    from discreet.report.choose.document import choose_document
    from discreet.report.choose.json import choose_json

    folder = options["write"]
    _check_together(options)
    asked = _asked(options)
    if folder is not None:
        check_folder(folder)
    with progress_bar() as progress:
        source, table = table_of(file, options, progress)
        found = _found(table, options, asked, progress)
    show(
        partial(choose_document, source, found),
        partial(choose_json, found),
        as_json=options["as_json"],
        report=options["report"],
    )
    if folder is not None:
        _write(found, folder)
    if not found.something_is_safe:
        raise click.exceptions.Exit(REFUSED)


def _write(found: Any, folder: Path) -> None:
    from discreet.choice.publication import publication_of, write_release
    from discreet.cli.console import say

    chosen = found.chosen
    if chosen is None or chosen.is_nothing:
        say(f"nothing is to be released, so nothing was written to {folder}")
        return
    for path in write_release(publication_of(chosen, found.table), folder):
        say(f"written: {path}")


def _check_together(options: dict[str, Any]) -> None:
    """The cap is given once, in one way, and no option is given that would have no effect."""
    width, cap, measure = options["min_width"], options["max_risk"], options["measure"]
    if (width is None) == (cap is None):
        both = "both" if width is not None else "neither"
        raise click.UsageError(f"--max-risk or --min-width must be given, one of them, got {both}")
    if width is not None and width < 0:
        raise click.UsageError(f"--min-width must be at least 0, got {width}")
    if width is not None and measure not in (None, "bounds"):
        raise click.UsageError(f"--min-width must be given with --measure bounds, got {measure!r}")
    bounds = measure == "bounds" or width is not None
    if bounds and options["intruders"] is not None:
        raise click.UsageError(
            "--intruder must be given with --measure table or cells, since bounds hold for all, "
            "got bounds"
        )
    report = options["report"]
    if report is not None and report.suffix.lower() not in (".html", ".htm"):
        raise click.UsageError(f"--report must end in .html, got {report.name!r}")
    folder = options["write"]
    if report is not None and folder is not None and folder.resolve() in report.resolve().parents:
        raise click.UsageError(
            f"--report must be outside the folder of --write, since it is internal, got {report}"
        )


def _asked(options: dict[str, Any]) -> Any:
    from discreet.choice.measures import Measure
    from discreet.choice.risk_utility import ChooseOptions
    from discreet.tables.refused_margin import Policy

    width = options["min_width"]
    policy = Policy.BOUNDS if width is not None else Policy(options["measure"] or "cells")
    measure = Measure(
        policy=policy,
        small=options["small"],
        confidence=options["confidence"],
        alpha=options["alpha"],
    )
    users = dict(options["users"])
    if len(users) < len(options["users"]):
        raise click.UsageError("--user must be given once for each user, got one twice")
    return ChooseOptions(
        max_risk=options["max_risk"] if width is None else 0.0 - width,
        measure=measure,
        intruders=options["intruders"] or ("multinomial",),
        users=users or None,
        requests=options["requests"],
        out=options["out"],
        seconds=options["seconds"],
        **({} if options["seed"] is None else {"seed": options["seed"]}),
    )


def _found(table: Any, options: dict[str, Any], asked: Any, progress: Any) -> Any:
    from discreet.choice.recommendation import recommend

    return recommend(table, options["masks"], asked, progress=progress)
