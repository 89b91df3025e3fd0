"""DuckDB's complaints in our words.

DuckDB quotes the offending line of a file in its messages. That line is confidential, so no word of
the original message is passed on: only its kind and the line number.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from discreet.data.csv_dialect import not_in_encoding
from discreet.errors import DiscreetError, FileError, InputError, Interrupted, OutputError, must_be

CSV_CAUSES = {  # how DuckDB begins the line that names the cause: rule, what came, remedy
    "expected number of columns": (
        "a table with as many fields on each line as in the header",
        "a line that has not",
        "check the delimiter and the quotes there",
    ),
    "value with unterminated quote": (
        "well quoted",
        "a quote that does not end",
        "close the quote, or give another one (quote)",
    ),
    "maximum line size": ("a table with lines of at most 2 MB", "a longer one", None),
}


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Raise DuckDB's errors about the records called `name` as ours."""
    try:
        yield
    except duckdb.InterruptException as error:
        raise Interrupted("stopped") from error
    except duckdb.Error as error:
        raise _translation(name, str(error)) from None


def _translation(name: str, message: str) -> DiscreetError:
    first = message.partition("\n")[0].casefold()
    if "no space left" in first:
        return OutputError("the disk must have space for the work, got none left; free some space")
    if "out of memory" in first or "could not allocate" in first:
        remedy = "give more (memory), or fewer keys"
        return InputError(must_be("memory", "enough for the work", "too little", remedy=remedy))
    if "corrupt database file" in first:  # no file of records is one
        what, rule = f"what is kept of {name}", "as a run left it"
        remedy = "remove it from the folder (keep)"
        return InputError(must_be(what, rule, "a damaged database", remedy=remedy))
    found = re.search(r"csv error on line:\s*(\d+)", first)
    if found:
        return _csv_translation(name, message, f"line {int(found[1]):,}")
    if "invalid unicode" in first or "utf-8" in first:
        return not_in_encoding(name, "utf-8", None)
    if "csv parser" in first:
        rule = "a CSV file with line ends of one kind, and quotes that close"
        return FileError(must_be(name, rule, "one that is not"))
    kind = re.match(r"([a-z -]+ error)", first)
    got = f"one that is damaged ({kind[1]})" if kind else "one that is damaged"
    return FileError(must_be(name, "a readable file", got))


def _csv_translation(name: str, message: str, where: str) -> FileError:
    for line in message.casefold().splitlines():
        if line.startswith("invalid unicode"):
            return not_in_encoding(name, "utf-8", where)
        for start, (rule, got, remedy) in CSV_CAUSES.items():
            if line.startswith(start):
                return FileError(must_be(name, rule, got, where=where, remedy=remedy))
    return FileError(must_be(name, "a readable CSV file", "a line that is not", where=where))
