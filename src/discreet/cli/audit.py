"""discreet audit FILE --count Freq --vars a,b,c --release a,b --release b,c"""

from functools import partial
from typing import Any

import click

from discreet.cli.again import as_choose
from discreet.cli.exit_codes import leave_with
from discreet.cli.grouped import COMPUTED, KNOWN, OUTPUT, READING, Command, option
from discreet.cli.option_names import speaking_of
from discreet.cli.options import (
    Names,
    csv_options,
    full_option,
    page_options,
    policy_option,
    split_names,
)
from discreet.cli.published import (
    OF_PUBLISHED,
    TYPED,
    audit_published,
    is_of_published,
    published_options,
)
from discreet.cli.table_file import counts_options, table_of

PLAIN = (  # options that reach the library as they are
    "knows", "policy", "small", "confidence", "alpha", "targets", "refused", "max_risk",
    "population", "seconds", "draws", "seed", "nesting", "nested",
)  # fmt: skip
PARAMETERS = {
    "model": "--models",
    "model priors": "--model-prior",
}


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


@click.command(name="audit", cls=Command)
@click.argument("file")
@option(
    KNOWN, "--release", multiple=True, metavar="A,B",
    help="Variables of a margin that is out, or a table in words: 'age:bands(10),sex | region=N', "
    "'region:tree(1)+total | rounded(5)'; may be given several times.",
)  # fmt: skip
@option(
    KNOWN, "--published", multiple=True, metavar="FILE[ | …]",
    help="A table as it was published (CSV, Excel, JSON-stat 2, PX), perhaps with what is to be "
    "said of it: 't2.csv | sex=F | rounded(5)'; may be given several times.",
)  # fmt: skip
@published_options
@option(
    KNOWN, "--knows", multiple=True, metavar="A=1,B=2:0..3",
    help="What an intruder also knows: from 0 to 3 persons have these levels; may be given several "
    "times.",
)  # fmt: skip
@option(
    KNOWN, "--refused", type=Names(), multiple=True,
    help="Variables of a margin that was refused, which an intruder knows; may be given several "
    "times.",
)  # fmt: skip
@option(KNOWN, "--population", type=int, help="The table is a sample of a population of N persons.")
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
    COMPUTED, "--models", also=["--posterior"], metavar="MODEL,…",
    help="What an intruder believes before the release: released (the model of the margins that "
    "are out), saturated, no-highest-interaction, [a b][b c], average [default: released].",
)  # fmt: skip
@option(
    COMPUTED, "--model-prior", "model_priors", type=Priors(), multiple=True,
    help="Probability of a model before anything is out; may be given several times [default: all "
    "alike].",
)  # fmt: skip
@option(
    COMPUTED, "--model-weights", also=["--weights"],
    type=click.Choice(["marginal_likelihood", "posterior_predictive"]),
    help="What weighs a model, given the release [default: marginal_likelihood].",
)  # fmt: skip
@option(
    COMPUTED, "--alpha", type=float, default=0.5, show_default=True,
    help="Count that the prior puts into each cell.",
)  # fmt: skip
@option(
    COMPUTED, "--small", type=int,
    help="Counts from 1 up to it are small [default: 2, or what --policy calls small].",
)  # fmt: skip
@option(
    COMPUTED, "--confidence", type=float, default=0.5, show_default=True,
    help="An intruder who is surer than this of a count takes it as known.",
)  # fmt: skip
@option(
    COMPUTED, "--targets", also=["--target"], type=Names(),
    help="Variables whose level a group of persons must not share.",
)  # fmt: skip
@option(
    COMPUTED, "--sure", type=float,
    help="Probability from which a group that shares a level is listed [default: 0.9].",
)  # fmt: skip
@option(
    COMPUTED, "--measure", type=click.Choice(["bounds", "table", "cells"]),
    help="What --max-risk limits: minus the width of the narrowest bounds, the probability of the "
    "true table, or the share of small cells found [default: cells].",
)  # fmt: skip
@option(
    COMPUTED, "--max-risk", type=float,
    help="The greatest share of small cells that an intruder may find (docs/guide/limits.md): "
    "exit 3 where it is broken, 4 where that is open. "
    "With --refused: the risk above which a margin is refused.",
)  # fmt: skip
@policy_option
@option(COMPUTED, "--sequence", is_flag=True, help="What is known after each release in turn.")
@option(COMPUTED, "--seconds", type=float, default=60.0, show_default=True, help="Time allowed.")
@option(
    COMPUTED, "--draws", type=int, default=2000, show_default=True, help="Draws kept of each chain."
)
@option(
    COMPUTED, "--seed", type=click.IntRange(0), default=1, show_default=True,
    help="Seed of all draws.",
)  # fmt: skip
@page_options
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
    """What released margins of the table in FILE reveal of its small cells.

    FILE holds counts in long form (--count names their column) or records to be counted.
    """
    with speaking_of(PARAMETERS):
        verdict = _run(file, options)
    leave_with(verdict)


def _run(file: str, options: dict[str, Any]) -> Any:
    """Answer; the verdict where a limit or a policy was given."""
    from discreet.cli.console import progress_bar
    from discreet.cli.show import outside, show
    from discreet.report.audit.document import audit_document
    from discreet.report.audit.json import audit_json

    if is_of_published(options):
        return audit_published(file, options)
    _check_together(options)
    options["release"] = tuple(split_names(text) for text in options["release"])
    asked = _asked(options)
    with progress_bar() as progress:
        source, table = table_of(file, options, progress)
        audits = _audits(table, options, asked, progress)
    release = audits[-1].release
    show(
        partial(
            audit_document,
            source,
            audits,
            sequence=options["sequence"],
            command=as_choose(release.table.names if release.left_out else None),
        ),
        partial(audit_json, audits, sequence=options["sequence"]),
        as_json=options["as_json"],
        full=options["full"],
        report=options["report"],
        others=outside(options, audits, source),
    )
    return audits[-1].verdict


def _check_together(options: dict[str, Any]) -> None:
    """No option is given that would have no effect beside the others."""
    if not options["release"]:
        raise click.UsageError("--release or --published must be given, got none")
    for name in OF_PUBLISHED:
        if options[name]:
            rule = "given with --published or a --release in words"
            raise click.UsageError(f"--{TYPED.get(name, name)} must be {rule}, got neither")
    if options["refused"] and options["max_risk"] is None:
        raise click.UsageError("--max-risk must be given with --refused, got none")
    if options["measure"] is not None and options["max_risk"] is None:
        raise click.UsageError("--measure must be given with --max-risk, got none")
    if options["sure"] is not None and options["targets"] is None:
        raise click.UsageError("--targets must be given with --sure, got none")
    several = len(_models(options["models"])) > 1 or options["models"] == "average"
    for name, typed in (("model_weights", "--model-weights"), ("model_priors", "--model-prior")):
        if options[name] and not several:
            rule = "given with several models of --models, or 'average'"
            raise click.UsageError(f"{typed} must be {rule}, got one model")


def _asked(options: dict[str, Any]) -> Any:
    """The options of the library: the same names, in its forms."""
    from discreet.tables.audit_options import AuditOptions

    named = ("model_weights", "sure", "measure")
    given = {name: options[name] for name in named if options[name] is not None}
    return AuditOptions(
        **{name: options[name] for name in PLAIN},
        **given,
        models=_models(options["models"]),
        model_priors=dict(options["model_priors"]) or None,
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
    """One audit for each step of a sequence, else of all that is released together."""
    from discreet.flows.audit import audit_sequence

    releases = options["release"]
    first = 1 if options["sequence"] else len(releases)
    return audit_sequence(table, releases, asked, first=first, progress=progress)
