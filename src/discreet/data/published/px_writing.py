"""A published table as a PX file (PC-Axis): PX file format specification, AXIS-VERSION 2013.

A withheld figure is two dots; one with a mark is as many dots as the file then shows the mark for
(DATASYMBOL). The last variable stands across, the others down the side.
"""

import re
from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from discreet.data.published.about import About
from discreet.data.published.headings import heading
from discreet.data.published.published_table import PublishedTable, Statistic
from discreet.errors import OutputError, must_be

PLAIN = ".."  # a figure that is withheld without a mark of its own
MOST_MARKS = 6  # kinds of dots, of which one is the plain one
ALONE = "total"  # the variable of a table that has none
INSTEAD = "write csv or json-stat2"


def px_bytes(table: PublishedTable, about: About) -> bytes:
    """The file in UTF-8. Checked: each combination of labels has a figure, no text holds a double
    quote or a line break, and there are not too many kinds of marks."""
    names = table.variables or (ALONE,)
    labels = table.labels or (("Total",),)
    _check_texts([*names, *(label for own in labels for label in own)])
    dots = _dots(table)
    lines = [
        *_head(table, about),
        *(f"DATASYMBOL{len(dot)}={_quoted(mark)};" for mark, dot in dots.items() if mark),
        *([f"STUB={_listed(names[:-1])};"] if names[1:] else []),
        f"HEADING={_listed(names[-1:])};",
        *(f"VALUES({_quoted(n)})={_listed(own)};" for n, own in zip(names, labels, strict=True)),
        "DATA=",
        *_rows(table, [len(own) for own in labels], dots),
    ]
    return ("\n".join(lines) + ";\n").encode("utf-8", "backslashreplace")


def _head(table: PublishedTable, about: About) -> Iterator[str]:
    contents = about.title or ", ".join(table.variables) or ALONE
    places = max((len(printed.partition(".")[2]) for printed in table.printed), default=0)
    unit = "persons" if table.statistic is Statistic.COUNT else heading(table, quote="'")
    yield from ('CHARSET="ANSI";', 'AXIS-VERSION="2013";', 'CODEPAGE="utf-8";', 'LANGUAGE="en";')
    if about.updated:
        yield f"CREATION-DATE={_quoted(_date(about.updated))};"
    yield from (f"DECIMALS={places};", f"SHOWDECIMALS={min(places, 6)};", 'MATRIX="TABLE";')
    yield from ('SUBJECT-AREA="";', 'SUBJECT-CODE="";')
    yield f"TITLE={_quoted(_plain(contents))};"
    yield f"CONTENTS={_quoted(_plain(contents))};"
    yield f"UNITS={_quoted(_plain(unit))};"
    if about.source:
        yield f"SOURCE={_quoted(_plain(about.source))};"


def _dots(table: PublishedTable) -> dict[str, str]:
    """The dots that stand for each mark; for none, two."""
    marks = dict.fromkeys(m for i, m in table.marks.items() if not table.printed[i])
    own = {mark: mark for mark in marks if re.fullmatch(r"\.{1,6}", mark)}
    free = [dot for n in range(1, 7) if (dot := "." * n) not in {PLAIN, *own.values()}]
    others = [mark for mark in marks if mark and mark not in own]
    if len(others) > len(free):
        rule = f"a table of at most {MOST_MARKS} kinds of marks as PX"
        raise OutputError(must_be("output", rule, f"{len(marks)}", remedy=INSTEAD))
    _check_texts(others)
    return {"": PLAIN} | dict(zip(others, free, strict=False)) | own


def _rows(table: PublishedTable, sizes: Sequence[int], dots: dict[str, str]) -> Iterator[str]:
    """A line for each combination of the variables down the side."""
    if len(table.printed) != prod(sizes):
        rule = "a table with a figure or a mark for every combination of its labels as PX"
        raise OutputError(must_be("output", rule, "one without", remedy=INSTEAD))
    cells = [
        printed or f'"{dots[table.marks.get(place, "")]}"'
        for place, printed in enumerate(table.printed)
    ]
    if table.variables:
        order = np.ravel_multi_index(tuple(table.places.T), tuple(sizes)).argsort(kind="stable")
        cells = [cells[place] for place in order.tolist()]
    width = sizes[-1]
    yield from (" ".join(cells[i : i + width]) for i in range(0, len(cells), width))


def _check_texts(texts: Sequence[str]) -> None:
    bad = next((text for text in texts if '"' in text or len(text.splitlines()) > 1), None)
    if bad is not None:
        rule = "names and labels without double quotes and line breaks as PX"
        raise OutputError(must_be("output", rule, repr(bad[:40]), remedy=INSTEAD))


def _plain(text: str) -> str:
    """A text that the file shows but does not tell apart from others, as PX can hold it."""
    return " ".join(text.replace('"', "'").split())


def _date(updated: str) -> str:
    """20240131 10:00 of 2024-01-31T10:00."""
    date, _, time = updated.replace("T", " ").partition(" ")
    return f"{date.replace('-', '')} {time[:5] or '00:00'}"


def _quoted(text: str) -> str:
    return f'"{text}"'


def _listed(texts: Sequence[str]) -> str:
    """Texts in quotes, one a line where they are many."""
    return (",\n" if len(texts) > 8 else ",").join(map(_quoted, texts))
