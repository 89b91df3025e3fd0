"""discreet counts '0:15,1:20,2:9' (the holder), or --n 51 --s1 61 --s2 '2^20*3^7' (a snooper)"""

import re
from pathlib import Path
from typing import Any

import click

from discreet.cli.once import OnceCommand
from discreet.cli.options import csv_from, csv_options
from discreet.cli.speaking import speaking_of
from discreet.errors import InputError, MissingError, must_be

PATH = click.Path(path_type=Path)
REFUSED = 3
HOLDER = {
    "knowledge": "--knows",
    "max_risk": "--max-risk",
    "total": "S1",
    "keys": "--column and --count",
    **{name: f"--{name}" for name in ("decimals", "seconds", "missing", "count")},
}
SNOOPER = HOLDER | {"n": "--n", "total": "--s1", "S2": "--s2"}
OF_HOLDER = ("decimals", "withhold_n", "max_risk", "measure", "column", "count", "missing")
OF_FILE = ("column", "count", "missing", "delimiter", "quote", "encoding", "decimal")


@click.command(name="counts", cls=OnceCommand)
@click.argument("counts", required=False, metavar="[VALUE:COUNT,…|FILE]")
@click.option("--n", type=int, help="Number of observations; left out where it is withheld.")
@click.option("--s1", type=int, help="Their total.")
@click.option("--s2", help="e^S2 by its primes, as 2^20*3^7, or S2 as a decimal, as 21.55.")
@click.option(
    "--knows", metavar="WORD,…",
    help="What a snooper knows: max=4 or max=3..6 (largest value), nozeros (or zero=0), 2=5 or "
    "2=5..9 (count of a value), decreasing, increasing, unimodal, peak=1, n=40..60.",
)  # fmt: skip
@click.option("--decimals", type=int, help="Release S2 with so many [default: exactly].")
@click.option("--truncate", is_flag=True, help="Decimals are cut off, not rounded.")
@click.option("--withhold-n", is_flag=True, help="Do not release n.")
@click.option("--max-risk", type=float, help="Judge against this risk; exit 3 where none passes.")
@click.option(
    "--measure", type=click.Choice(["best_guess", "truth", "reciprocal_entropy"]),
    help="The risk to judge: a snooper's best guess is right (default), the probability of the "
    "true table, or one over the entropy.",
)  # fmt: skip
@click.option("--column", help="Column of FILE with the values [default: the only one].")
@click.option("--count", help="Column of FILE that says how many have the value.")
@click.option("--missing", type=click.Choice(["error", "drop"]), help="Rows without a value.")
@click.option("--seconds", type=float, default=120.0, show_default=True, help="Time it may take.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of all draws.")
@click.option("--report", type=PATH, help="Write an HTML report with the tables drawn as lines.")
@csv_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def command(counts: str | None, **options: Any) -> None:
    """What the statistics n, S1 and S2 of counts give away of the table of counts.

    The holder gives the table, as '0:15,1:20,2:9,3:5,4:2' or as a FILE with a column of values. A
    snooper gives --n, --s1 and --s2. S1 is the sum of all values, S2 that of the logarithms of
    their factorials: what a COM-Poisson model needs.
    """
    _check_together(counts, options)
    with speaking_of(SNOOPER if counts is None else HOLDER):
        refused = _run(counts, options)
    if refused:
        raise click.exceptions.Exit(REFUSED)


def _check_together(counts: str | None, options: dict[str, Any]) -> None:
    """No option is given that would have no effect beside the others."""
    given = {name for name, value in options.items() if value is not None and value is not False}
    if counts is None:
        if not {"s1", "s2"} <= given:
            rule = "given, or --s1 and --s2 (and --n unless withheld)"
            got = ", ".join(f"--{name}" for name in ("n", "s1", "s2") if name in given)
            alone = f"{got} alone" if got else "neither"
            raise click.UsageError(f"counts must be {rule}, got {alone}")
        _refuse(given & set(OF_HOLDER), "with the table of counts, which a snooper has not")
        if options["truncate"] and not _is_decimal(options["s2"]):
            raise click.UsageError("--truncate must be given with a decimal, got a factorisation")
    else:
        _refuse(given & {"n", "s1", "s2"}, "without a table, which has statistics of its own")
    if counts is None or not _is_file(counts):
        _refuse(given & set(OF_FILE), "with a file")
    if "measure" in given and "max_risk" not in given:
        raise click.UsageError("--measure must be given with --max-risk, got none")
    if counts is not None and options["truncate"] and not {"decimals", "max_risk"} & given:
        raise click.UsageError("--truncate must be given with --decimals, got none")
    report = options["report"]
    if report is not None and report.suffix.lower() not in (".html", ".htm"):
        raise click.UsageError(f"--report must end in .html, got {report.name!r}")


def _refuse(names: set[str], rule: str) -> None:
    for name in sorted(names):
        raise click.UsageError(f"--{name.replace('_', '-')} must be given {rule}, got otherwise")


def _is_decimal(s2: str) -> bool:
    return not any(sign in s2 for sign in "^*·×") and s2.strip() != "1"


def _is_file(counts: str) -> bool:
    """A name of a file, and no table written out."""
    written = re.fullmatch(r"[\d\s:,;+.-]*", counts) is not None
    return not written and (":" not in counts or Path(counts).exists())


def _run(counts: str | None, options: dict[str, Any]) -> bool:
    """Answer; was a greatest risk given that no release was found to keep?"""
    from discreet.cli.showing import print_json, progress_bar, say, stdout_console
    from discreet.data.writing import check_outputs
    from discreet.report.counts import print_counts
    from discreet.report.counts_json import counts_json
    from discreet.report.counts_page import write_counts_page

    report = options["report"]
    if report is not None and not (counts and _is_file(counts)):
        check_outputs([report], [])
    asked = _asked(options)
    with progress_bar() as progress:
        source, found = _assessed(counts, options, asked, progress)
        if report is not None:
            write_counts_page(found, source, report)
    if options["as_json"]:
        print_json(counts_json(found))
    else:
        print_counts(stdout_console(), found, source)
    if report is not None:
        say(f"written: {report}")
    return found.verdict is not None and not found.verdict.allows


def _asked(options: dict[str, Any]) -> Any:
    from discreet.compoisson.knowledge_notation import parse_knowledge
    from discreet.risk.count_assessment import CountOptions
    from discreet.risk.count_verdict import Measure

    known = options["knows"]
    plain = ("decimals", "truncate", "withhold_n", "max_risk", "seconds", "seed")
    return CountOptions(
        **{name: options[name] for name in plain},
        knowledge=None if known is None else parse_knowledge(known),
        measure=Measure(options["measure"] or Measure.BEST_GUESS),
        draw=options["report"] is not None,
    )


def _assessed(counts: str | None, options: dict[str, Any], asked: Any, progress: Any) -> Any:
    """Where the figures come from, and the assessment."""
    from discreet.compoisson.notation import parse_counts, parse_log_factorial_total
    from discreet.risk.count_assessment import assess_counts, assess_statistics

    if counts is None:
        s2 = parse_log_factorial_total(options["s2"], truncated=options["truncate"])
        found = assess_statistics(options["n"], options["s1"], s2, asked, progress=progress)
        return "from released statistics", found
    if _is_file(counts):
        source, table = _read(counts, options, progress)
    else:
        source, table = "counts of the command line", parse_counts(counts)
    return source, assess_counts(table, asked, progress=progress)


def _read(file: str, options: dict[str, Any], progress: Any) -> tuple[str, dict[int, int]]:
    """The table {value: count} of a column of a file."""
    from discreet.data.records import open_records
    from discreet.data.writing import check_outputs
    from discreet.engines.table_reading import read_table

    csv = csv_from(*(options[name] for name in ("delimiter", "quote", "encoding", "decimal")))
    records = open_records(file, csv)
    if options["report"] is not None:
        check_outputs([options["report"]], list(records.files), list(records.parts))
    column, count = options["column"], options["count"]
    if column is None:
        column = _only_column([name for name in records.column_names if name != count])
    missing = options["missing"] or "error"
    try:
        table = read_table(
            records, [column], count=count, missing=missing, csv=csv, progress=progress
        )
    except MissingError as lacking:
        remedy = "--missing drop leaves them out"
        said = must_be(f"column {column!r}", "known in every row", "rows without", remedy=remedy)
        raise MissingError(said) from lacking
    held = zip(table.cells[:, 0].tolist(), table.counts.tolist(), strict=True)
    found: dict[int, int] = {}
    for level, number in held:
        value = _value(column, table.levels[0][level])
        found[value] = found.get(value, 0) + number
    return f"{records.name}, column {column}", found


def _only_column(names: list[str]) -> str:
    if len(names) != 1:
        listed = ", ".join(repr(name) for name in names[:8])
        raise click.UsageError(f"--column must be one of {listed}, got none")
    return names[0]


def _value(column: str, label: str) -> int:
    """A level as a whole number; what it is instead stays in the agency."""
    try:
        number = float(label)
        if number >= 0 and number == int(number):
            return int(number)
    except (ValueError, OverflowError):
        pass
    rule = "of whole numbers from 0"
    raise InputError(must_be(f"column {column!r}", rule, "something else"))
