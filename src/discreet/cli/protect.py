"""discreet protect FILE --keys a,b,c --min-k 3 --write OUT"""

from pathlib import Path
from typing import Any

import click

from discreet.cli.exit_codes import leave_with
from discreet.cli.grouped import COMPUTED, JUDGED, KNOWN, OUTPUT, Command, option
from discreet.cli.option_names import speaking_of
from discreet.cli.option_rules import by_name
from discreet.cli.options import (
    NamedFile,
    NamedNumber,
    Names,
    Role,
    csv_from,
    csv_options,
    design_options,
    full_option,
    page_options,
    pages_asked,
    policy_option,
)
from discreet.errors import must_be

DONE = "What may be done"
PATH = click.Path(path_type=Path)
PLAIN = (  # options that reach the library as they are
    "keys", "weight", "population", "whole_population", "household", "cluster", "clusters",
    "stratum", "sensitive", "min_k", "max_risk", "max_uniques", "l", "policy", "guarantee",
    "recode", "search", "suppress", "most_records", "untouched", "keep_keys", "steps", "recipe",
    "loss", "keep", "frontier", "seed", "closest", "write", "overwrite", "sheet",
)  # fmt: skip


@click.command(name="protect", cls=Command)
@click.argument("file")
@option(
    KNOWN, "--keys", "--key-vars", "--keyVars", "--qi", "keys", type=Names(), required=True,
    help="Columns an intruder may know.",
)  # fmt: skip
@design_options
@option(
    KNOWN, "--sensitive", type=Names(), default=(),
    help="Columns that an intruder would like to learn.",
)  # fmt: skip
@option(
    KNOWN, "--role", "roles", type=Role(), multiple=True,
    help="The column of a kind that a policy asks for: region=province. May be given several "
    "times.",
)  # fmt: skip
@option(
    KNOWN, "--tree", "trees", type=NamedFile(), multiple=True,
    help="Which levels of a key belong together, one leaf a row from the finest level to the "
    "root; with or without a header.",
)  # fmt: skip
@option(JUDGED, "--min-k", type=int, metavar="K", help="So many records must belong together.")
@option(
    JUDGED, "--max-risk", type=float, metavar="R",
    help="No record may have a risk above this, from 0 to 1.",
)  # fmt: skip
@option(
    JUDGED, "--max-uniques", type=float, metavar="U",
    help="So many population uniques may be among the records at most.",
)  # fmt: skip
@option(
    JUDGED, "--l", type=int,
    help="Different values of each sensitive variable where keys agree (l-diversity).",
)  # fmt: skip
@policy_option
@option(
    JUDGED, "--guarantee", type=click.Choice(["strict", "candidates", "wildcard"]),
    default="strict", show_default=True,
    help="What --min-k means: strict, K released records show the same values; candidates, every "
    "record fits K original ones; wildcard, as R sdcMicro counts (weak: see the docs).",
)  # fmt: skip
@option(
    DONE, "--recode", multiple=True, metavar="KEY=RULE",
    help="Begin with this recoding: age=bands(5), age=breaks(18,65), age=top(85), "
    "job=merge(a,b,into=c), job=rare(20), region=tree(1), born=dates(year), code=leading(2), "
    "name=drop. May be given several times.",
)  # fmt: skip
@option(
    DONE, "--search/--no-search", default=True,
    help="Whether further recodings are looked for [default: they are].",
)  # fmt: skip
@option(
    DONE, "--suppress", type=click.Choice(["values", "records", "none"]), default="values",
    show_default=True, help="Take out single values, whole records, or nothing.",
)  # fmt: skip
@option(
    DONE, "--most-records", type=float, default=1.0, metavar="SHARE",
    help="With --suppress records: the largest share of them [default: 1].",
)  # fmt: skip
@option(
    DONE, "--untouched", type=Names(), default=(),
    help="Keys that are neither recoded nor suppressed.",
)  # fmt: skip
@option(DONE, "--keep-keys", is_flag=True, help="Leave no key out of the file.")
@option(
    DONE, "--importance", type=NamedNumber(), multiple=True,
    help="How much a value of a key is worth against one of another: age=3. May be given several "
    "times.",
)  # fmt: skip
@option(
    DONE, "--most-suppressed", type=NamedNumber(), multiple=True,
    help="The most values of a key that may be taken out: age=100. May be given several times.",
)  # fmt: skip
@option(
    DONE, "--step", "steps", multiple=True, metavar="METHOD(…)",
    help="What is done to single records in the end: 'pram(key=job,retention=.9)', "
    "'swap(key=area,share=.05,keeping=age+sex)', 'subsample(share=.5)', 'round_weights(base=5)', "
    "'remove_weights()', 'remove_columns(columns=name+phone)', 'shuffle()'. May be given several "
    "times.",
)  # fmt: skip
@option(DONE, "--recipe", metavar="FILE", help="Carry out this recipe and look for nothing.")
@option(
    COMPUTED, "--loss", type=click.Choice(["arx", "entropy", "values"]), default="arx",
    show_default=True, help="What the search keeps small.",
)  # fmt: skip
@option(
    COMPUTED, "--keep", multiple=True, metavar="ANALYSIS",
    help="Compare the results of an analysis: 'income ~ age + sex', or 'table:age,sex'. May be "
    "given several times.",
)  # fmt: skip
@option(
    COMPUTED, "--frontier/--no-frontier", default=True,
    help="Whether risk and loss at other strengths are worked out [default: they are].",
)  # fmt: skip
@option(
    COMPUTED, "--seed", type=int,
    help="Of steps that treat records by chance [default: drawn afresh, and secret].",
)  # fmt: skip
@option(COMPUTED, "--memory", help="Memory for all of it, such as 8GB [default: 4GB].")
@option(COMPUTED, "--threads", type=click.IntRange(1, 1024), help="Threads [default: all cores].")
@option(
    COMPUTED, "--temporary", type=PATH, metavar="FOLDER",
    help="Where what does not fit in memory goes meanwhile [default: that of this system].",
)  # fmt: skip
@option(
    OUTPUT, "--write", type=PATH, metavar="OUT",
    help="Write the protected records: CSV, Parquet, Arrow, Excel, Stata, SPSS or SAS (.xpt), by "
    "the ending.",
)  # fmt: skip
@option(OUTPUT, "--overwrite", is_flag=True, help="OUT may be there already.")
@option(
    OUTPUT, "--closest", is_flag=True,
    help="Where the goal cannot be reached, write the closest file.",
)  # fmt: skip
@option(OUTPUT, "--write-recipe", type=PATH, metavar="R.toml", help="Write what was done.")
@page_options
@full_option
@option(OUTPUT, "--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
@csv_options
def command(file: str, **options: Any) -> None:
    """Change FILE as little as possible so that the rules hold, and show what it cost.

    FILE is CSV, Parquet, Arrow/Feather, Excel, Stata, SPSS or SAS; it stays as it is.
    """
    with speaking_of():
        _run(file, options)


def _run(file: str, options: dict[str, Any]) -> None:
    from discreet.cli.console import progress_bar
    from discreet.data.records import open_records
    from discreet.data.writing import check_outputs
    from discreet.engines.duckdb import DuckDBEngine
    from discreet.flows.protect import protect

    csv = csv_from(*(options[name] for name in ("delimiter", "quote", "encoding", "decimal")))
    records = open_records(file, csv, options["sheet"])
    outputs = [*pages_asked(options), *_paths(options, "write", "write_recipe")]
    own = [Path(path) for _, path in options["trees"]]
    own += [Path(path) for path in (options["recipe"], *options["policy"]) if path is not None]
    check_outputs(outputs, [*records.files, *own], records.parts)
    recipe = options["write_recipe"]
    if recipe is not None and recipe.exists() and not options["overwrite"]:
        remedy = "name another, or say that it may be overwritten (--overwrite)"
        got = repr(str(recipe))
        raise click.UsageError(must_be("--write-recipe", "a new file", got, remedy=remedy))
    with progress_bar() as progress:
        engine = DuckDBEngine(
            memory=options["memory"],
            threads=options["threads"],
            temporary=options["temporary"],
            progress=progress,
        )
        found = protect(file, **_asked(csv, options), engine=engine, progress=progress)
    _show(found, options)


def _paths(options: dict[str, Any], *names: str) -> list[Path]:
    return [options[name] for name in names if options[name] is not None]


def _asked(csv: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The options of the library: the same names, in its forms."""
    most = by_name("--most-suppressed", options["most_suppressed"])
    return {name: options[name] for name in PLAIN} | {
        "csv": csv,
        "trees": by_name("--tree", options["trees"]),
        "roles": by_name("--role", options["roles"]),
        "importance": by_name("--importance", options["importance"]),
        "most_suppressed": {name: int(number) for name, number in most.items()},
    }


def _show(found: Any, options: dict[str, Any]) -> None:
    from functools import partial

    from discreet.cli.show import outside, show
    from discreet.report.protect.document import protect_document
    from discreet.report.protect.json import protect_json

    if options["write_recipe"] is not None and (found.reached or options["closest"]):
        found.recipe.write(options["write_recipe"])
    else:
        options = options | {"write_recipe": None}
    written = _paths(options, "write_recipe") + ([found.output] if found.output else [])
    show(
        partial(protect_document, found),
        partial(protect_json, found),
        as_json=options["as_json"],
        full=options["full"],
        report=options["report"],
        others=outside(options, found, found.source),
        written=written,
    )
    leave_with(found.verdict)
