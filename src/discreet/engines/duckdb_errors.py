"""DuckDB's complaints in our words.

DuckDB quotes the offending line of a file in its messages. That line is confidential, so no word of
the original message is passed on: only its kind and the line number.
"""

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from discreet.data.csv_dialect import not_in_encoding
from discreet.errors import DiscreetError, FileError, InputError, Interrupted, OutputError, must_be


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
    text = message.casefold()
    found = re.search(r"on line:\s*(\d+)", text)
    where = f"line {int(found[1]):,}" if found else None
    if "no space left" in text or f"errno {errno.ENOSPC}" in text:
        return OutputError("the disk must have space for the work, got none left; free some space")
    if "out of memory" in text or "could not allocate" in text:
        remedy = "give more with --memory, or fewer keys"
        return InputError(must_be("memory", "enough for the work", "too little", remedy=remedy))
    if "unicode" in text or "utf-8" in text or "utf8" in text or "encoding" in text:
        return not_in_encoding(name, "utf-8", where)
    if "number of columns" in text or "expected number" in text or "too many columns" in text:
        remedy = "check the delimiter and the quotes there"
        rule = "a table with as many fields on each line as in the header"
        return FileError(must_be(name, rule, "a line that has not", where=where, remedy=remedy))
    if "quote" in text:
        remedy = "close the quote, or give another --quote"
        return FileError(must_be(name, "well quoted", "an open quote", where=where, remedy=remedy))
    if "line size" in text or "buffer" in text:
        rule = "a table with lines of at most 2 MB"
        return FileError(must_be(name, rule, "a longer one", where=where))
    kind = re.match(r"([a-z -]+ error)", text)
    got = f"one that is damaged ({kind[1]})" if kind else "one that is damaged"
    return FileError(must_be(name, "a readable file", got, where=where))
