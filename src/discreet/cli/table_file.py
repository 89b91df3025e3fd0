"""The table in a file, read as the options of a command say."""

from collections.abc import Sequence
from typing import Any

import click

from discreet.cli.grouped import READING, Decorated, option
from discreet.cli.options import csv_from, pages_asked


def counts_options(command: Decorated) -> Decorated:
    """--totals and --persons"""
    for one in (
        option(
            READING, "--persons", is_flag=True,
            help="The column of counts counts persons, however large its numbers are.",
        ),
        option(
            READING, "--totals", multiple=True, metavar="find|keep|NAME=LEVEL:leave-out|…:keep",
            help="Rows of totals in a table of counts: find and leave out (the default), keep all "
            "as persons, or say of one level what it is: sex=Persons:leave-out. Repeatable.",
        ),
    ):  # fmt: skip
        command = one(command)
    return command


def table_of(file: str, options: dict[str, Any], progress: Any) -> tuple[str, Any]:
    """The name of the file and its table, read as --count, --variables and others say.

    Checked before any work: where --report goes, and that columns which were named are there.
    """
    from discreet.data.records import open_records
    from discreet.data.writing import check_outputs
    from discreet.engines.table_reading import read_table

    csv = csv_from(*(options[name] for name in ("delimiter", "quote", "encoding", "decimal")))
    records = open_records(file, csv, options["sheet"])
    check_outputs(pages_asked(options), list(records.files), list(records.parts))
    _check_count(options, records.column_names)
    _check_columns(options, records)
    table = read_table(
        records,
        options["variables"],
        count=options["count"],
        missing=options["missing"],
        totals=options["totals"] or "find",
        persons=options["persons"],
        csv=csv,
        progress=progress,
    )
    return records.name, table


def _check_count(options: dict[str, Any], columns: Sequence[str]) -> None:
    """A column that is a count by its name is not taken for a variable without being asked for."""
    from discreet.data.python_tables import COUNT_NAMES

    if options["count"] is None and options["variables"] is None:
        found = [name for name in columns if name.casefold() in COUNT_NAMES]
        if found:
            raise click.UsageError(
                f"--count must be the column of counts, got none; is it {found[0]!r}? "
                "Otherwise name the variables with --variables"
            )


def _check_columns(options: dict[str, Any], records: Any) -> None:
    """Columns that were named are there, each asked for under the name of its option."""
    from discreet.data.columns import find_columns

    for name, wanted in (
        ("--count", [options["count"]]),
        ("--variables", options["variables"] or []),
    ):
        find_columns(name, [x for x in wanted if x is not None], records.column_names, records.name)
