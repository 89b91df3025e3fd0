"""Whatever a file holds, it is read as tables or refused in one sentence, never anything else."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import openpyxl
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data.published.reading import read_published
from discreet.errors import FileError

CELL = st.sampled_from(
    ["", "a", "b", "age", "sex", "count", "percent", "Total", "15", "16", "1,5", "1.5", "1.234", "x",
     "-", "<5", "..", "age \\ sex", "M", "F", '"', "=1", "12*", "note", "OBS_VALUE", "unit", "OBS_FLAG",
     "\\", "2**53", "9" * 17, "mean a", "percent within a", "(a)", "%", "12 %"]
)  # fmt: skip
ROWS = st.lists(st.lists(CELL, max_size=5), max_size=7)
PX = st.lists(
    st.sampled_from(
        ['STUB="a"', 'HEADING="b"', 'VALUES("a")="x","y"', 'VALUES("b")="p"', 'CODES("a")="1","2"',
         'KEYS("a")=VALUES', 'CONTVARIABLE="b"', 'UNITS="percent"', 'DATA=1 2', 'DATA="x" 1 "y" ".."',
         "DATA=", ";", "=", '"', 'TIMEVAL("b")=TLIST(A1,"2000"-"2001")', "VALUES(", "\n", 'DATASYMBOL1=""']
    ),
    max_size=10,
).map(";".join)  # fmt: skip
JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-2, 3),
        st.sampled_from(["a", "b", "", "0", "x", "<5"]),
    ),
    lambda own: st.one_of(
        st.lists(own, max_size=3),
        st.dictionaries(
            st.sampled_from(["a", "b", "category", "index", "label", "0", "1"]), own, max_size=3
        ),
    ),
    max_leaves=6,
)
DIMENSION = st.fixed_dictionaries(
    {
        "category": st.fixed_dictionaries(
            {"index": st.one_of(st.just(["x", "y"]), JSON)}, optional={"label": JSON, "unit": JSON}
        )
    },
    optional={"label": JSON},
)
DATASET = st.fixed_dictionaries(
    {"class": st.just("dataset")},
    optional={
        "id": st.one_of(st.just(["a"]), JSON),
        "size": st.one_of(st.just([2]), JSON),
        "dimension": st.one_of(st.fixed_dictionaries({"a": DIMENSION}), JSON),
        "value": st.one_of(st.just([1, None]), JSON),
        "status": JSON,
        "role": st.one_of(st.just({"metric": ["a"]}), JSON),
        "extension": JSON,
    },
)


def reads_or_refuses(content, name):
    """Reads a file; each figure has a row of labels, a place in the file and no unknown label."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        if isinstance(content, list):
            book = openpyxl.Workbook()
            for row in content:
                book.active.append([int(own) if own in ("15", "16") else own for own in row])
            book.save(path)
        else:
            path.write_text(content)
        try:
            found = read_published(path)
        except FileError as error:
            assert " must be " in str(error)
            return
    for table in found:
        assert table.places.shape == (table.n_figures, len(table.variables))
        assert len(table.where) == table.n_figures
        assert all(int(table.places[:, i].max()) < len(own) for i, own in enumerate(table.labels))
        assert all(table.printed[place] == "" for place in table.marks)


@settings(max_examples=100, deadline=None)
@given(ROWS, st.sampled_from(",;\t"))
def test_rows_of_a_csv_file(rows, delimiter):
    reads_or_refuses("\n".join(delimiter.join(row) for row in rows), "t.csv")


@settings(max_examples=30, deadline=None)
@given(ROWS)
def test_rows_of_a_sheet(rows):
    reads_or_refuses(rows, "t.xlsx")


@settings(max_examples=100, deadline=None)
@given(PX)
def test_keywords_of_px(text):
    reads_or_refuses(text, "t.px")


@settings(max_examples=100, deadline=None)
@given(DATASET)
def test_parts_of_a_dataset(found):
    reads_or_refuses(json.dumps(found), "t.json")
