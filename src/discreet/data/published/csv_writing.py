"""A published table as a CSV file in long form; a withheld figure is its mark, or empty."""

import csv
import io

from discreet.data.published.about import About
from discreet.data.published.headings import heading, order_of
from discreet.data.published.labels import Interval, meaning
from discreet.data.published.published_table import PublishedTable

ALWAYS = ("=", "@", "\t", "\r")  # with which a formula begins in a program for sheets,
UNLESS_NUMBER = ("+", "-")  # and these, which may as well begin a number or a band


def csv_bytes(table: PublishedTable, about: About) -> bytes:
    """The file; text that a program for sheets would take for a formula has an apostrophe before
    it, which `csv_reading.unguarded` takes away again."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    order = order_of(table)
    names = [*(table.variables[i] for i in order), about.column or heading(table)]
    writer.writerow([guarded(name) for name in names])
    labels = [[guarded(label) for label in own] for own in table.labels]
    for place, printed in enumerate(table.printed):
        codes = table.places[place].tolist()
        own = (labels[i][codes[i]] for i in order)
        writer.writerow([*own, printed or guarded(table.marks.get(place, ""))])
    return buffer.getvalue().encode("utf-8", "backslashreplace")


def guarded(text: str) -> str:
    """The text, with an apostrophe before it if it would be taken for a formula."""
    rest = text.lstrip("'")
    begins = rest.startswith(ALWAYS) or (
        rest.startswith(UNLESS_NUMBER)
        and (rest != text or not isinstance(meaning(rest), Interval))
        and len(rest) > 1
    )
    return "'" + text if begins else text
