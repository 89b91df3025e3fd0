"""Reading the tree of a sensitive variable from a small CSV file."""

import csv as csv_module
from pathlib import Path

from discreet.data.csv_dialect import CsvOptions, open_text, read_dialect, readable
from discreet.errors import FileError, must_be
from discreet.survey.attributes.hierarchy import Hierarchy


def read_hierarchy(path: str | Path, csv: CsvOptions | None = None) -> Hierarchy:
    """The tree in a file with one leaf a row: the level, what it belongs to, …, the root.

    The first line is a header. Columns beyond the first name ever larger groups.
    """
    file = Path(path)
    if not file.is_file():
        raise FileError(must_be("tree", "a file", repr(str(path))))
    dialect = read_dialect(file, csv or CsvOptions())
    with readable(file, dialect.encoding), open_text(file, dialect.encoding) as text:
        rows = list(csv_module.reader(text, delimiter=dialect.delimiter, quotechar=dialect.quote))
    return Hierarchy.of_table(row for row in rows[dialect.blank_lines + 1 :] if row)
