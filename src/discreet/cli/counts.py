"""discreet counts '0:15,1:20,2:9' (the holder), or --n 51 --s1 61 --s2 '2^20*3^7' (an intruder)"""

from functools import partial
from pathlib import Path
from typing import Any

import click

from discreet.cli.counts_checks import check_together
from discreet.cli.exit_codes import leave_with
from discreet.cli.grouped import COMPUTED, JUDGED, KNOWN, OUTPUT, READING, Command, option
from discreet.cli.option_names import speaking_of
from discreet.cli.options import (
    Names,
    csv_text_options,
    full_option,
    page_options,
    pages_asked,
    policy_option,
)
from discreet.flows.counts_input import is_file

RELEASED = "What goes out"
PLAIN = (  # options that reach the library as they are
    "knows", "decimals", "truncate", "withhold_n", "max_risk", "policy", "small", "bayes", "prior",
    "seconds", "seed",
)  # fmt: skip
HOLDER = {  # parameters of the library with other names than the options
    "n": "n",
    "knowledge": "--knows",
    "total": "S1",
    "variables": "--column and --by",
    "effects": "--regress",
    "the effects": "--regress",
    "n of the sets": "n of --sets",
    "s1 of the sets": "s1 of --sets",
    **{name: f"{name} of --prior" for name in ("a", "b", "c")},
}
INTRUDER = HOLDER | {"n": "--n", "total": "--s1", "S2": "--s2"}
S2_HELP = (
    "S2, either as what e^S2 is a product of (2^20*3^7, read as 2 to the power 20 times 3 to the "
    "power 7; exact) or as the logarithm with its decimals (21.55)."
)
REGRESS_HELP = (
    "COM-Poisson regression of the log rate on these category columns; ward*year adds their "
    "interaction."
)


class PriorParameter(click.ParamType[tuple[float, float, float]]):
    """The prior's own total, log-factorial total and number of observations."""

    name = "A,B,C"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, float, float]:
        if isinstance(value, tuple):
            return value
        try:
            a, b, c = (float(part) for part in value.split(","))
        except ValueError:
            self.fail(f"must be three numbers separated by commas, got {value!r}", param, ctx)
        return a, b, c


@click.command(name="counts", cls=Command)
@click.argument("counts", required=False, metavar="[VALUE:COUNT,…|FILE]")
@option(KNOWN, "--n", type=int, help="Number of observations; left out where it is withheld.")
@option(KNOWN, "--s1", type=int, help="S1, the sum of all values.")
@option(KNOWN, "--s2", help=S2_HELP)
@option(
    KNOWN, "--sets", metavar="FILE",
    help="Released sets, one a category: columns n, s1, s2, and others that name the category.",
)  # fmt: skip
@option(
    KNOWN, "--total-table", metavar="VALUE:COUNT,…",
    help="With --sets: the table of all categories together, where it is out.",
)  # fmt: skip
@option(
    KNOWN, "--knows", metavar="WORD,…",
    help="What an intruder knows (of every category): max=4 or max=3..6 (largest value), nozeros "
    "(or zero=0), 2=5 or 2=5..9 (count of value 2), decreasing, increasing, unimodal, peak=1, "
    "n=40..60.",
)  # fmt: skip
@option(
    KNOWN, "--number-prior", type=click.Choice(["equal", "reciprocal"]),
    help="What an intruder assumes of n where it is withheld: each n is as probable as any other "
    "(default), or in proportion to 1/n.",
)  # fmt: skip
@option(RELEASED, "--decimals", type=int, help="Release S2 with N decimals [default: exactly].")
@option(RELEASED, "--truncate", is_flag=True, help="Decimals are cut off, not rounded.")
@option(RELEASED, "--withhold-n", is_flag=True, help="Do not release n.")
@option(
    RELEASED, "--by", type=Names(),
    help="Columns of FILE: one set goes out for each of their categories.",
)  # fmt: skip
@option(
    RELEASED, "--totals", is_flag=True,
    help="With --by: the table of all together goes out too.",
)  # fmt: skip
@option(
    RELEASED, "--margin", "margins", type=Names(), multiple=True,
    help="With --by: the table by these columns goes out too; may be given several times.",
)  # fmt: skip
@option(
    RELEASED, "--withhold", multiple=True, metavar="CATEGORY",
    help="With --by: the set of this category does not go out, but that of all together does; may "
    "be given several times.",
)  # fmt: skip
@policy_option
@option(
    JUDGED, "--max-risk", type=float,
    help="The greatest probability of the table, and of each count in it, that an intruder may "
    "have (docs/guide/limits.md); exit 3 where it is broken, 4 where that is undecided.",
)  # fmt: skip
@option(
    JUDGED, "--measure", type=click.Choice(["best_guess", "truth", "reciprocal_entropy"]),
    help="The risk of the table to judge: an intruder's best guess is right (default), the "
    "probability of the true table, or one over the entropy.",
)  # fmt: skip
@option(
    JUDGED, "--small", type=int,
    help="Single counts are judged where at most so many have the value [default: all that "
    "occur].",
)  # fmt: skip
@option(COMPUTED, "--regress", type=Names(), help=REGRESS_HELP)
@option(COMPUTED, "--bayes", is_flag=True, help="Bayesian analysis of rate and dispersion.")
@option(
    COMPUTED, "--prior", type=PriorParameter(),
    help="Prior that counts as C observations with total A and log-factorial total B [default: "
    "flat].",
)  # fmt: skip
@option(
    COMPUTED, "--fit-draws", type=click.IntRange(1), metavar="N",
    help="Test the fit on N tables drawn from it and fitted again, as 499 [default: by a formula "
    "for large tables].",
)  # fmt: skip
@option(COMPUTED, "--seconds", type=float, default=120.0, show_default=True, help="Time allowed.")
@option(
    COMPUTED, "--seed", type=click.IntRange(0), default=1, show_default=True,
    help="Seed of all draws.",
)  # fmt: skip
@page_options
@full_option
@option(OUTPUT, "--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
@option(READING, "--column", help="Column of FILE with the values [default: the only one].")
@option(READING, "--count", help="Column of FILE that says how many have the value.")
@option(
    READING, "--missing", type=click.Choice(["error", "drop"]),
    help="Rows without a value: refuse them (default) or leave them out.",
)  # fmt: skip
@csv_text_options
def command(counts: str | None, **options: Any) -> None:
    """What the statistics n, S1 and S2 of counts give away of the table of counts.

    The holder gives the table, as '0:15,1:20,2:9,3:5,4:2' or as a FILE with a column of values;
    --by asks for one set of statistics for each category. An intruder gives --n, --s1 and --s2, or
    --sets. S1 is the sum of all values, S2 that of the logarithms of their factorials: what a
    COM-Poisson model needs. The exit code is 3 where a rule is broken, 4 where one could not be
    decided.
    """
    check_together(counts, options)
    with speaking_of(INTRUDER if counts is None else HOLDER):
        if options["by"] or options["sets"]:
            from discreet.cli.counts_categories import run_categories

            verdict = run_categories(counts, options)
        else:
            verdict = _run(counts, options)
    leave_with(verdict)


def _run(counts: str | None, options: dict[str, Any]) -> Any:
    """Answer; the verdict, where a greatest risk was given."""
    from discreet.cli.console import progress_bar
    from discreet.cli.show import outside, show
    from discreet.data.writing import check_outputs
    from discreet.report.counts.document import counts_document
    from discreet.report.counts.json import counts_json

    if not (counts and is_file(counts)):
        check_outputs(pages_asked(options), [])
    asked = _asked(options)
    with progress_bar() as progress:
        source, found = _assessed(counts, options, asked, progress)
    show(
        partial(counts_document, found, source, bayes=found.bayes),
        partial(counts_json, found, bayes=found.bayes),
        as_json=options["as_json"],
        full=options["full"],
        report=options["report"],
        others=outside(options, found, _data_name(counts)),
    )
    return found.verdict


def _data_name(counts: str | None) -> str:
    """The name of the file; a table that was typed has none, and is not to be repeated."""
    return Path(counts).name if counts is not None and is_file(counts) else ""


def _asked(options: dict[str, Any]) -> Any:
    """The options of the library: the same names, in its forms."""
    from discreet.count_tables.options import CountOptions

    named = ("measure", "number_prior", "fit_draws")
    given = {name: options[name] for name in named if options[name] is not None}
    plain = {name: options[name] for name in PLAIN}
    return CountOptions(**plain, **given, draw=options["report"] is not None)


def _assessed(counts: str | None, options: dict[str, Any], asked: Any, progress: Any) -> Any:
    """Where the figures come from, and the assessment."""
    from discreet.count_tables.notation import parse_counts
    from discreet.flows.counts import assess_counts, assess_statistics

    if counts is None:
        n, s1, s2 = (options[name] for name in ("n", "s1", "s2"))
        return "from released statistics", assess_statistics(n, s1, s2, asked, progress=progress)
    if is_file(counts):
        from discreet.cli.counts_reading import read

        source, tables = read(counts, options, progress)
        table = tables[()]
    else:
        source, table = "counts given on the command line", parse_counts(counts)
    return source, assess_counts(table, asked, progress=progress)
