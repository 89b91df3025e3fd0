"""discreet counts '0:15,1:20,2:9' (the holder), or --n 51 --s1 61 --s2 '2^20*3^7' (an intruder)"""

from functools import partial
from pathlib import Path
from typing import Any

import click

from discreet.cli.counts_checks import check_together, is_file
from discreet.cli.option_names import speaking_of
from discreet.cli.options import Names
from discreet.cli.single_options import OnceCommand

PATH = click.Path(path_type=Path)
REFUSED = 3
HOLDER = {
    "knowledge": "--knows",
    "max_risk": "--max-risk",
    "total": "S1",
    "keys": "--column, --count and --by",
    "variables": "--column and --by",
    "effects": "--regress",
    "the effects": "--regress",
    **{name: f"--{name}" for name in ("decimals", "seconds", "missing", "count", "small")},
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


class Prior(click.ParamType[tuple[float, float, float]]):
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


@click.command(name="counts", cls=OnceCommand)
@click.argument("counts", required=False, metavar="[VALUE:COUNT,…|FILE]")
@click.option("--n", type=int, help="Number of observations; left out where it is withheld.")
@click.option("--s1", type=int, help="S1, the sum of all values.")
@click.option("--s2", help=S2_HELP)
@click.option(
    "--sets", metavar="FILE",
    help="Released sets, one a category: columns n, s1, s2, and others that name the category.",
)  # fmt: skip
@click.option("--by", type=Names(), help="Columns of FILE: one set for each of their categories.")
@click.option("--totals", is_flag=True, help="With --by: the table of all together goes out too.")
@click.option(
    "--margin", "margins", type=Names(), multiple=True,
    help="With --by: the table by these columns goes out too; may be given several times.",
)  # fmt: skip
@click.option(
    "--withhold", "withheld", multiple=True, metavar="CATEGORY",
    help="With --by: the set of this category does not go out, but that of all together does.",
)  # fmt: skip
@click.option(
    "--total-table", metavar="VALUE:COUNT,…",
    help="With --sets: the table of all categories together, where it is out.",
)  # fmt: skip
@click.option("--regress", type=Names(), help=REGRESS_HELP)
@click.option("--bayes", is_flag=True, help="Bayesian analysis of rate and dispersion.")
@click.option(
    "--prior", type=Prior(),
    help="Prior worth C observations with total A and log-factorial total B [default: flat].",
)  # fmt: skip
@click.option(
    "--knows", metavar="WORD,…",
    help="What an intruder knows (of every category): max=4 or max=3..6 (largest value), nozeros "
    "(or zero=0), 2=5 or 2=5..9 (count of value 2), decreasing, increasing, unimodal, peak=1, "
    "n=40..60.",
)  # fmt: skip
@click.option("--decimals", type=int, help="Release S2 with so many decimals [default: exactly].")
@click.option("--truncate", is_flag=True, help="Decimals are cut off, not rounded.")
@click.option("--withhold-n", is_flag=True, help="Do not release n.")
@click.option(
    "--number-prior", type=click.Choice(["equal", "reciprocal"]),
    help="Where n is withheld: each n is as probable as any other (default), or in proportion to "
    "1/n.",
)  # fmt: skip
@click.option(
    "--max-risk", type=float, help="Judge against this risk; exit 3 where it is not kept."
)
@click.option(
    "--measure", type=click.Choice(["best_guess", "truth", "reciprocal_entropy"]),
    help="The risk of the table to judge: an intruder's best guess is right (default), the "
    "probability of the true table, or one over the entropy.",
)  # fmt: skip
@click.option(
    "--small", type=int,
    help="Judge beside it only values that at most so many have [default: all that occur].",
)  # fmt: skip
@click.option("--column", help="Column of FILE with the values [default: the only one].")
@click.option("--count", help="Column of FILE that says how many have the value.")
@click.option(
    "--missing", type=click.Choice(["error", "drop"]),
    help="Rows without a value: refuse them (default) or leave them out.",
)  # fmt: skip
@click.option("--seconds", type=float, default=120.0, show_default=True, help="Time it may take.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of all draws.")
@click.option("--report", type=PATH, help="Write an HTML report with the tables drawn as lines.")
@click.option("--delimiter", help="Delimiter of a CSV file [default: found out].")
@click.option("--quote", help='Quote of a CSV file [default: "].')
@click.option("--encoding", help="Encoding of a CSV file [default: UTF-8].")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def command(counts: str | None, **options: Any) -> None:
    """What the statistics n, S1 and S2 of counts give away of the table of counts.

    The holder gives the table, as '0:15,1:20,2:9,3:5,4:2' or as a FILE with a column of values;
    --by asks for one set of statistics for each category. An intruder gives --n, --s1 and --s2, or
    --sets. S1 is the sum of all values, S2 that of the logarithms of their factorials: what a
    COM-Poisson model needs. The exit code is 3 where --max-risk is not kept.
    """
    check_together(counts, options)
    with speaking_of(INTRUDER if counts is None else HOLDER):
        if options["by"] or options["sets"]:
            from discreet.cli.counts_categories import run_categories

            refused = run_categories(counts, options)
        else:
            refused = _run(counts, options)
    if refused:
        raise click.exceptions.Exit(REFUSED)


def _run(counts: str | None, options: dict[str, Any]) -> bool:
    """Answer; was a greatest risk given that no release was found to keep?"""
    from discreet.cli.console import progress_bar
    from discreet.cli.counts_models import bayes_of_release
    from discreet.cli.show import show
    from discreet.data.writing import check_outputs
    from discreet.report.counts.document import counts_document
    from discreet.report.counts.json import counts_json

    report = options["report"]
    if report is not None and not (counts and is_file(counts)):
        check_outputs([report], [])
    asked = _asked(options)
    with progress_bar() as progress:
        source, found = _assessed(counts, options, asked, progress)
        bayes = bayes_of_release(found.release, options["prior"]) if options["bayes"] else None
    show(
        partial(counts_document, found, source, bayes=bayes),
        partial(counts_json, found, bayes=bayes),
        as_json=options["as_json"],
        report=report,
    )
    return found.verdict is not None and not found.verdict.allows


def _asked(options: dict[str, Any]) -> Any:
    from discreet.count_tables.assessment import CountOptions
    from discreet.count_tables.knowledge_notation import parse_knowledge
    from discreet.count_tables.verdict import Measure

    known = options["knows"]
    plain = ("decimals", "truncate", "withhold_n", "max_risk", "small", "seconds", "seed")
    return CountOptions(
        **{name: options[name] for name in plain},
        knowledge=None if known is None else parse_knowledge(known),
        measure=Measure(options["measure"] or Measure.BEST_GUESS),
        number_prior=options["number_prior"] or "equal",
        draw=options["report"] is not None,
    )


def _assessed(counts: str | None, options: dict[str, Any], asked: Any, progress: Any) -> Any:
    """Where the figures come from, and the assessment."""
    from discreet.cli.counts_knowledge import check_known
    from discreet.cli.counts_reading import parse_s2, read_counts
    from discreet.count_tables.assessment import assess_counts, assess_statistics
    from discreet.count_tables.notation import parse_counts

    if counts is None:
        s2 = parse_s2(options["s2"], options["s1"], truncated=options["truncate"])
        found = assess_statistics(options["n"], options["s1"], s2, asked, progress=progress)
        return "from released statistics", found
    if is_file(counts):
        source, table = read_counts(counts, options, progress)
    else:
        source, table = "counts of the command line", parse_counts(counts)
    check_known(options["knows"], table, withhold_n=options["withhold_n"])
    return source, assess_counts(table, asked, progress=progress)
