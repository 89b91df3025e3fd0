"""discreet audit FILE --count Freq --vars a,b,c --release a,b --release b,c"""

from functools import partial
from pathlib import Path
from typing import Any

import click

from discreet.cli.option_names import speaking_of
from discreet.cli.options import Names, csv_options
from discreet.cli.single_options import OnceCommand
from discreet.cli.table_file import table_of

REFUSED = 3
SURE = 0.9
PATH = click.Path(path_type=Path)
PARAMETERS = {  # of the library, where the user typed something else
    "models": "--posterior",
    "model": "--posterior",
    "model priors": "--model-prior",
    "max_risk": "--max-risk",
    "effort": "--draws",
    **{
        name: f"--{name}"
        for name in (
            "small", "confidence", "alpha", "seconds", "release", "knows", "count", "population",
            "refused", "sure", "missing",
        )
    },
}  # fmt: skip


class Priors(click.ParamType[tuple[str, float]]):
    """A model and its probability before anything is released: saturated=.22."""

    name = "MODEL=P"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, float]:
        if isinstance(value, tuple):
            return value
        model, _, number = value.rpartition("=")
        try:
            return model.strip(), float(number)
        except ValueError:
            self.fail(f"must be a model, '=' and a probability, got {value!r}", param, ctx)


@click.command(name="audit", cls=OnceCommand)
@click.argument("file")
@click.option("--count", help="Column of counts [default: every row is one record].")
@click.option("--vars", "variables", type=Names(), help="Variables of the table [default: all].")
@click.option(
    "--release", "releases", type=Names(), multiple=True, required=True,
    help="Variables of a margin that is out; may be given several times.",
)  # fmt: skip
@click.option(
    "--knows", multiple=True, metavar="A=1,B=2:0..3",
    help="What an intruder knows beside: persons with these levels, from 0 to 3.",
)  # fmt: skip
@click.option(
    "--posterior", "models", metavar="MODEL,…",
    help="released, saturated, no-highest-interaction, [a b][b c], average [default: released].",
)  # fmt: skip
@click.option(
    "--model-prior", "priors", type=Priors(), multiple=True,
    help="Probability of a model before anything is out [default: all alike].",
)  # fmt: skip
@click.option(
    "--weights", type=click.Choice(["marginal_likelihood", "posterior_predictive"]),
    help="How models are weighed [default: marginal_likelihood].",
)  # fmt: skip
@click.option("--small", type=int, default=2, show_default=True, help="Counts up to it are small.")
@click.option(
    "--confidence", type=float, default=0.5, show_default=True,
    help="Probability from which a count is taken as known.",
)  # fmt: skip
@click.option("--alpha", type=float, default=0.5, show_default=True, help="Prior count of a cell.")
@click.option("--target", "targets", type=Names(), help="Variables that a group must not share.")
@click.option(
    "--sure", type=float,
    help="Probability from which a group is listed that shares a level [default: 0.9].",
)  # fmt: skip
@click.option("--refused", type=Names(), multiple=True, help="A margin that was refused.")
@click.option(
    "--policy", type=click.Choice(["bounds", "table", "cells"]),
    help="What --max-risk limits: minus the width of the narrowest bounds, the probability of the "
    "true table, or the share of small cells identified [default: cells].",
)  # fmt: skip
@click.option(
    "--max-risk", type=float,
    help="Judge the release against this risk; exit 3 unless it is kept. With --refused: the risk "
    "above which a margin is refused.",
)  # fmt: skip
@click.option("--population", type=int, help="The table is of a sample from so many.")
@click.option("--sequence", is_flag=True, help="What is known after each release in turn.")
@click.option("--missing", default="category", show_default=True, help="category, drop or error.")
@click.option("--seconds", type=float, default=60.0, show_default=True, help="Time it may take.")
@click.option("--draws", type=int, default=2000, show_default=True, help="Draws of each chain.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of all draws.")
@click.option("--report", type=PATH, help="Write an HTML report (internal).")
@csv_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def command(file: str, **options: Any) -> None:
    """What released margins of the table in FILE reveal of its small cells.

    FILE holds counts in long form (--count names their column) or records to be counted.
    """
    with speaking_of(PARAMETERS):
        refused = _run(file, options)
    if refused:
        raise click.exceptions.Exit(REFUSED)


def _run(file: str, options: dict[str, Any]) -> bool:
    """Answer; was a greatest risk given that the release was not shown to keep?"""
    from discreet.cli.console import progress_bar
    from discreet.cli.show import show
    from discreet.report.audit.document import audit_document
    from discreet.report.audit.json import audit_json

    _check_together(options)
    asked = _asked(options)
    with progress_bar() as progress:
        source, table = table_of(file, options, progress)
        audits = _audits(table, options, asked, progress)
    show(
        partial(audit_document, source, audits, sequence=options["sequence"]),
        partial(audit_json, audits, sequence=options["sequence"]),
        as_json=options["as_json"],
        report=options["report"],
    )
    verdict = audits[-1].verdict
    return verdict is not None and not verdict.allows


def _check_together(options: dict[str, Any]) -> None:
    """No option is given that would have no effect beside the others."""
    if options["refused"] and options["max_risk"] is None:
        raise click.UsageError("--max-risk must be given with --refused, got none")
    if options["policy"] is not None and options["max_risk"] is None:
        raise click.UsageError("--policy must be given with --max-risk, got none")
    if options["sure"] is not None and options["targets"] is None:
        raise click.UsageError("--target must be given with --sure, got none")
    several = len(_models(options["models"])) > 1 or options["models"] == "average"
    for name, given in (("weights", options["weights"]), ("model-prior", options["priors"])):
        if given and not several:
            rule = "given with several models of --posterior, or 'average'"
            raise click.UsageError(f"--{name} must be {rule}, got one model")
    report = options["report"]
    if report is not None and report.suffix.lower() not in (".html", ".htm"):
        raise click.UsageError(f"--report must end in .html, got {report.name!r}")


def _asked(options: dict[str, Any]) -> Any:
    from discreet.belief.draws.augmentation import Effort
    from discreet.belief.models.model_averaging import WeightKind
    from discreet.tables.audit import AuditOptions
    from discreet.tables.refused_margin import Policy

    plain = ("knows", "small", "confidence", "alpha", "targets", "refused", "max_risk")
    return AuditOptions(
        **{name: options[name] for name in (*plain, "population", "seconds", "seed")},
        models=_models(options["models"]),
        model_priors=dict(options["priors"]) or None,
        weight_kind=WeightKind(options["weights"] or WeightKind.MARGINAL_LIKELIHOOD),
        sure=SURE if options["sure"] is None else options["sure"],
        policy=Policy(options["policy"] or Policy.CELLS),
        effort=Effort(n_draws=options["draws"]),
    )


def _models(given: str | None) -> tuple[str, ...]:
    """The models of a list with commas; commas inside brackets belong to a model."""
    if given is None:
        return ("released",)
    models, depth, start = [], 0, 0
    for place, sign in enumerate(given):
        depth += (sign == "[") - (sign == "]")
        if sign == "," and depth == 0:
            models.append(given[start:place])
            start = place + 1
    return tuple(model.strip() for model in (*models, given[start:]))


def _audits(table: Any, options: dict[str, Any], asked: Any, progress: Any) -> Any:
    """One audit for each step of a sequence; for a report the last two, to tell what changed."""
    from discreet.tables.audit import audit_sequence

    releases = options["releases"]
    first = len(releases)
    if options["sequence"]:
        first = 1
    elif options["report"] is not None:
        first = max(len(releases) - 1, 1)
    return audit_sequence(table, releases, asked, first=first, progress=progress)
