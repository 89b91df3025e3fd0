"""A published table that is written and read again is the same table, in every format; the columns of
variables that could be taken for figures come first."""

import math
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data.published.headings import kind_of
from discreet.data.published.published_table import PublishedTable, Statistic
from discreet.data.published.reading import read_published
from discreet.data.published.writing import Format, write_published

ODD = st.sampled_from(
    ["=1+2", "'=x", "''", "-1", "-", "+", "@a", "15-19", "Total", "1,234", "a;b", "x", "..", "<5", "count",
     "n", "percent", "%", "NaN", "null", "é", "合計", "<b>", "\u202eabc", "a\\b", "#", "TRUE", "0", "007",
     "1e5", "2020-01-31", "value", "size", "{}", "&amp;", "_x0041_", "it's"]
)  # fmt: skip
TEXT = st.text(
    st.characters(blacklist_categories=("Cc", "Cs", "Zl", "Zp", "Cn"), blacklist_characters='"\ufffe\uffff'),
    min_size=1, max_size=6,
).map(lambda text: " ".join(text.split())).filter(bool)  # fmt: skip
LABELS = st.lists(st.one_of(ODD, TEXT), min_size=1, max_size=4, unique=True)
PLAIN_NAMES = st.lists(
    st.one_of(TEXT, st.sampled_from(["age", "n", "count", "value", "=x", "size", "flag"])),
    min_size=1, max_size=3, unique_by=str.casefold,
)  # fmt: skip
MARKS = {
    Format.CSV: ["", "x", "<5", "1-4", ".."],
    Format.XLSX: ["x", "<5", "1-4", ".."],
    Format.JSON_STAT: ["c", "x", "<5", "1-4"],
    Format.PX: ["..", "x", "<5", "1-4", "."],
}


@st.composite
def tables(draw, format):
    """A table of odd names and labels, with withheld figures."""
    kind = draw(st.sampled_from(["count", "percent", "mean"]))
    counts_only = kind == "count"  # beside percentages, a column called n is one of counts
    names = draw(PLAIN_NAMES.filter(lambda own: counts_only or not any(map(kind_of, own))))
    labels = tuple(tuple(draw(LABELS)) for _ in names)
    sizes = [len(one) for one in labels]
    n = math.prod(sizes)
    counts = st.integers(0, 2**53 - 1).map(str)
    decimals = st.decimals(0, 100, places=2).map(lambda one: f"{one:f}")
    own = st.one_of(st.just(""), counts if kind == "count" else decimals)
    printed = (draw(own.filter(bool)), *(draw(own) for _ in range(n - 1)))
    marks = {i: draw(st.sampled_from(MARKS[format])) for i in range(n) if not printed[i]}
    of = {"count": (), "percent": tuple(names[:1]), "mean": ("hours",)}[kind]
    return PublishedTable(
        name="t",
        variables=tuple(names),
        labels=labels,
        places=np.array(list(product(*map(range, sizes)))),
        printed=printed,
        statistic=Statistic(kind),
        of=of,
        marks={i: mark for i, mark in marks.items() if mark},
    )


@pytest.mark.parametrize("format", Format)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_round_trip(format, data):
    table = data.draw(tables(format))
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"t{format.ending}"
        write_published(table, path, format)
        (found,) = read_published(path)
    order = [found.variables.index(name) for name in table.variables]
    assert tuple(found.labels[i] for i in order) == table.labels
    assert found.places[:, order].tolist() == table.places.tolist()
    assert found.printed == table.printed
    assert dict(found.marks) == dict(table.marks)
    assert (found.statistic, found.of) == (table.statistic, table.of)
