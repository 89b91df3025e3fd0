"""Reading the tree of a variable from a small CSV file."""

import csv as csv_module
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from discreet.data.csv_dialect import CsvOptions, open_text, read_dialect, readable
from discreet.data.hierarchy import Hierarchy
from discreet.errors import FileError, must_be


def read_hierarchy(path: str | Path, csv: CsvOptions | None = None) -> Hierarchy:
    """The tree in a file with one leaf a row: the level, what it belongs to, …, the root.

    The first line is a header unless it ends in the root as all others do; it names the levels of
    the tree. Columns beyond the first name ever larger groups.
    """
    file = Path(path)
    if not file.is_file():
        raise FileError(must_be("tree", "a file", repr(str(path))))
    dialect = read_dialect(file, csv or CsvOptions())
    with readable(file, dialect.encoding), open_text(file, dialect.encoding) as text:
        rows = list(csv_module.reader(text, delimiter=dialect.delimiter, quotechar=dialect.quote))
    lines = [row for row in rows[dialect.blank_lines :] if row]
    if _is_leaf(lines):
        return Hierarchy.of_table(lines)
    found = Hierarchy.of_table(lines[1:])
    header = tuple(name.strip() for name in lines[0])
    return replace(found, columns=header) if len(header) == found.height + 1 else found


def _is_leaf(lines: Sequence[Sequence[str]]) -> bool:
    """Whether the first line is a leaf like the others: it ends in the one root that they have."""
    return len({line[-1] for line in lines}) == 1
