"""A CSV file comes out as it went in: letter for letter, in its own dialect."""

import csv
import datetime
import gzip
import io

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.data.csv_dialect import CsvOptions
from discreet.data.csv_output import CsvStyle, quoted_fields
from discreet.data.records import open_records
from discreet.errors import ColumnError, OutputError

PLAIN = "id,naïve name,age\n01,Zoë,30\n1,,\n2.50,x y,007\n"


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace(",", ";"),
        PLAIN.replace(",", "\t"),
        PLAIN.replace(",", "|"),
        '"a","b"\n"x",1\n"y",2\n',  # as R writes: texts in quotes, numbers not
        'a,b\n"x, y",1\n"he said ""no""",2\n"two\nlines",3\n',
        '"a b",c\r\n"two\r\nlines",3\r\n',
        ',x\n0,"a"\n1,"b"\n',  # the first column has no name, as that of an index
        'only\nx\n""\ny\n',
        "a,b\n1,2\n",
        "a,b\n,\n,\n",
        f"big,b\n{2**62},{-(2**62)}\n",
        "a,b\n 1 , x\n",
    ],
)
def test_an_unchanged_file_is_the_same_byte_for_byte(tmp_path, copies, text):
    source = tmp_path / "in.csv"
    source.write_bytes(text.encode())
    assert copies.write(source, tmp_path / "out.csv").read_bytes() == source.read_bytes()


@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1", "cp1252", "utf-16"])
def test_the_encoding_and_its_mark_are_kept(tmp_path, copies, encoding):
    source = tmp_path / "in.csv"
    source.write_bytes(PLAIN.encode(encoding))
    told = {} if encoding in ("utf-8-sig", "utf-16") else {"csv": CsvOptions(encoding=encoding)}
    found = copies.write(source, tmp_path / "out.csv", batch=1, **told)
    assert found.read_bytes() == source.read_bytes()


def test_a_mark_is_kept_where_the_encoding_was_given_without_it(tmp_path, copies):
    source = tmp_path / "in.csv"
    source.write_bytes(PLAIN.encode("utf-8-sig"))
    found = copies.write(source, tmp_path / "out.csv", csv=CsvOptions(encoding="utf-8"))
    assert found.read_bytes() == source.read_bytes()


def test_another_quote(tmp_path, copies):
    source = tmp_path / "in.csv"
    source.write_text("a;b\n'x;y';1\n'it''s';2\n\"z\";3\n")
    found = copies.write(source, tmp_path / "out.csv", csv=CsvOptions(delimiter=";", quote="'"))
    assert found.read_text() == source.read_text()


@pytest.mark.parametrize(("delimiter", "weight"), [(";", "2,5"), (",", '"2,5"')])
def test_new_numbers_have_the_decimal_sign_of_the_source(tmp_path, copies, delimiter, weight):
    source = tmp_path / "in.csv"
    source.write_text("a;w\n1.5;3\n".replace(";", delimiter))
    told = {"csv": CsvOptions(delimiter=delimiter, decimal=","), "numbers": ("w",)}
    found = copies.write(source, tmp_path / "out.csv", changed={"w": [2.5]}, **told)
    assert found.read_text() == f"a;w\n1.5;{weight}\n".replace(";", delimiter)


def test_a_packed_file_stays_packed_and_names_no_temporary_file(tmp_path, copies):
    source = tmp_path / "in.csv.gz"
    source.write_bytes(gzip.compress(PLAIN.encode()))
    found = copies.write(source, tmp_path / "out.csv.gz")
    assert gzip.decompress(found.read_bytes()) == PLAIN.encode()
    assert b"discreet" not in found.read_bytes()
    assert list(open_records(found).column_names) == ["id", "naïve name", "age"]


def test_empty_lines_before_the_header_are_left_out(tmp_path, copies):
    source = tmp_path / "in.csv"
    source.write_text("\n\n" + PLAIN)
    assert copies.write(source, tmp_path / "out.csv").read_text() == PLAIN


def test_changed_columns_and_taken_out_values(tmp_path, copies):
    source = tmp_path / "in.csv"
    source.write_text("id,age,town,w\n7,30,A,1.25\n8,40,B,2\n9,50,C,3\n")
    found = copies.write(
        source,
        tmp_path / "out.csv",
        rows=[2, 0],
        names=["w", "town", "age"],
        changed={"age": ["30, 40", None], "town": [None, "A"], "w": [2.5, 1.0]},
        recoded={"age": ("30, 40", "50")},
        numbers=("w",),
    )
    assert found.read_text() == 'w,town,age\n2.5,,"30, 40"\n1,A,\n'


def test_coded_text_is_written_as_text(tmp_path, copies):
    source = tmp_path / "in.csv"
    source.write_text("a,b\n1,2\n3,4\n")
    with copies.opened(source, tmp_path / "out.csv", changed=["a"], recoded={"a": ("x", "y")}) as (
        _,
        out,
    ):
        coded = pa.array(["y", None]).dictionary_encode()
        out.write(np.arange(2), pa.table({"a": coded, "b": ["2", "4"]}))
    assert (tmp_path / "out.csv").read_text() == "a,b\ny,2\n,4\n"


def test_no_rows_leave_the_header(tmp_path, copies):
    source = tmp_path / "in.csv"
    source.write_text(PLAIN)
    assert copies.write(source, tmp_path / "out.csv", rows=[]).read_text() == "id,naïve name,age\n"


def test_a_label_that_the_encoding_cannot_write(tmp_path, copies):
    source = tmp_path / "in.csv"
    source.write_bytes("id,age\nZoë,30\n".encode("latin-1"))
    told = {"csv": CsvOptions(encoding="latin-1"), "recoded": {"age": ("≤ 30",)}}
    with pytest.raises(OutputError) as caught:
        copies.write(source, tmp_path / "out.csv", changed={"age": ["≤ 30"]}, **told)
    assert str(caught.value) == (
        "column 'age' must be text that can be written in latin-1, got a character that it does "
        "not have; use plainer labels for its levels, or write a .parquet file"
    )
    assert not (tmp_path / "out.csv").exists()


def test_a_column_that_occurs_twice_is_refused(tmp_path, copies):
    source = tmp_path / "in.csv"
    source.write_text("a,a\n1,2\n")
    with pytest.raises(ColumnError, match="occurs once"):
        copies.write(source, tmp_path / "out.csv")


def test_types_of_other_sources_are_written_plainly(tmp_path, copies):
    moment = datetime.datetime(2020, 1, 31, 12, 30)
    table = pa.table(
        {
            "i": [2**62, None],
            "f": [0.1, 3.0],
            "n": pa.array([float("nan"), 1e20]),
            "b": [True, None],
            "d": [moment.date(), None],
            "t": [moment, None],
            "s": pa.array(["a,b", None]).dictionary_encode(),
        }
    )
    found = copies.write(table, tmp_path / "out.csv")
    assert found.read_text() == (
        f'i,f,n,b,d,t,s\n{2**62},0.1,,true,2020-01-31,2020-01-31 12:30:00,"a,b"\n,3,1e+20,,,,\n'
    )
    assert copies.write(table, tmp_path / "out.tsv").read_text().startswith("i\tf\tn\tb")


def test_a_column_that_text_cannot_hold(tmp_path, copies):
    with pytest.raises(ColumnError, match="column 'x' must be one that text can hold"):
        copies.write(pa.table({"x": [[1, 2], [3]]}), tmp_path / "out.csv")


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=6)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=8), st.booleans())
def test_any_text_is_read_back_as_it_was(rows, always):
    style = CsvStyle(delimiter=";", quote="'")
    columns = [pa.array([row[i] for row in rows], pa.string()) for i in range(2)]
    fields = [quoted_fields(column, style, always, False).to_pylist() for column in columns]
    text = "".join(";".join(row) + "\r\n" for row in zip(*fields))
    found = csv.reader(io.StringIO(text, newline=""), delimiter=";", quotechar="'")
    assert [tuple(row) for row in found] == rows


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.lists(st.one_of(st.none(), TEXTS), min_size=1, max_size=5))
def test_a_single_column_has_a_line_for_every_row(tmp_path, copies, values):
    found = copies.write(pa.table({"x": pa.array(values, pa.string())}), tmp_path / "out.csv")
    with found.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert [row for (row,) in rows] == ["x", *(value or "" for value in values)]
