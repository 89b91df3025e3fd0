"""The file of a counts command, opened as its options say."""

from typing import Any

from discreet.cli.options import csv_from, pages_asked


def opened(file: str, options: dict[str, Any]) -> tuple[Any, Any]:
    """The records of the file and its CSV options, the report checked not to overwrite them."""
    from discreet.data.records import open_records
    from discreet.data.writing import check_outputs

    csv = csv_from(options["delimiter"], options["quote"], options["encoding"], None)
    records = open_records(file, csv, options["sheet"])
    check_outputs(pages_asked(options), list(records.files), list(records.parts))
    return records, csv


def read(file: str, options: dict[str, Any], progress: Any) -> tuple[str, Any]:
    """Where the tables come from, and the table of each category by its levels."""
    from discreet.count_tables.reading import read_tables

    records, csv = opened(file, options)
    column, tables = read_tables(
        records,
        options["column"],
        by=options["by"] or (),
        count=options["count"],
        missing=options["missing"] or "error",
        csv=csv,
        progress=progress,
    )
    return f"{records.name}, column {column}", tables
