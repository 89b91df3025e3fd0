"""Exactly the named file is read, whatever its name, however it is written."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.data.csv_dialect import CsvOptions
from discreet.errors import FileError

NAMES = [
    "a[1]",
    "a*",
    "a?",
    "a[!x]",
    "{a,b}",
    "it's",
    'q"q',
    "x; DROP TABLE t; --",
    "%20%s",
    "日本",
]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("name", NAMES)
def test_patterns_in_the_name_of_a_file_are_not_followed(count, tmp_path, name, suffix):
    for other in ("a1", "ab", "a", "b", "ay"):
        write(tmp_path / f"{other}.{suffix}", ["wrong", "file"])
    write(tmp_path / f"{name}.{suffix}", ["right"])
    assert count(tmp_path / f"{name}.{suffix}", ["k"]).keys[0].values == ("right",)


@pytest.mark.parametrize("name", ["a[1]", "a*", "it's"])
def test_nor_in_the_name_of_its_folder(count, tmp_path, name):
    for folder, value in (("a1", "wrong"), ("ab", "wrong"), (name, "right")):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder / "s.csv", [value])
        write(tmp_path / folder / "s.parquet", [value])
        write(tmp_path / folder / "t.parquet", [value])
    for given in (tmp_path / name / "s.csv", tmp_path / name / "s.parquet", tmp_path / name):
        assert count(given, ["k"]).keys[0].values == ("right",)


def write(path, values):
    if path.suffix == ".csv":
        path.write_text("k\n" + "\n".join(values) + "\n")
    else:
        pq.write_table(pa.table({"k": values}), path)


@pytest.mark.parametrize(
    ("content", "levels"),
    [
        (b"a,b\n1,x\n2,y\n", ("1", "2")),
        (b"a,b\r\n1,x\r\n2,y\r\n", ("1", "2")),
        (b"a,b\r1,x\r2,y\r", ("1", "2")),
        (b"a,b\n1,x\n2,y", ("1", "2")),
        (b"a,b\n1,x\n\n2,y\n\n", ("1", "2")),
        (b"\n\na,b\n1,x\n2,y\n", ("1", "2")),
        (b'"a","b"\n"1","x"\n"2","y"\n', ("1", "2")),
        (b'a,b\n"1, or ""2""",x\n"line\nbreak",y\n', ('1, or "2"', "line\nbreak")),
        (b'a,b\n5" pipe,x\n', ('5" pipe',)),
        (b"\xef\xbb\xbfa,b\n1,x\n", ("1",)),
        (b'\xef\xbb\xbf"b\nc",a\n1,x\n2,y\n', ("x", "y")),
        (b'\xef\xbb\xbf"b\nc",a\r\n1,x\r\n2,y\r\n', ("x", "y")),
        (b'\xef\xbb\xbf"b,c","a"\n"1","x"\n', ("x",)),
        (b'"b\nc",a\r\n1,x\r\n"2\n2",y\r\n', ("x", "y")),
        (b"a;b\n1,5;x\n", ("1,5",)),
        (b"a\n1\n2\n", ("1", "2")),
        (b"a,b\n 1,x\n1,y\n", (" 1", "1")),
        (b"a,b\nNA,x\nNULL,y\n", ("NA", "NULL")),
        ("a,b\né,x\n日本,y\n".encode("utf-16"), ("é", "日本")),
    ],
)
def test_csv_as_it_is_written(count, tmp_path, content, levels):
    (tmp_path / "s.csv").write_bytes(content)
    assert count(tmp_path / "s.csv", ["a"]).keys[0].values == levels


def test_csv_packed_and_in_another_encoding(count, tmp_path):
    path = tmp_path / "s.csv.gz"
    path.write_bytes(gzip.compress("a,b\né,1\n\u20ac,2\n".encode("cp1252")))
    cells = count(path, ["a"], csv=CsvOptions(encoding="cp1252"))
    assert cells.keys[0].values == ("é", "€")


def test_csv_with_its_own_delimiter_and_quote(count, tmp_path):
    (tmp_path / "s.csv").write_text("a^b\n'1^2'^x\n")
    options = CsvOptions(delimiter="^", quote="'")
    assert count(tmp_path / "s.csv", ["a"], csv=options).keys[0].values == ("1^2",)


def test_csv_of_thousands_of_columns(count, tmp_path):
    n = 3000
    rows = [[f"v{i}" for i in range(n)], ["1"] * n, ["2"] * n]
    (tmp_path / "s.csv").write_text("\n".join(",".join(row) for row in rows) + "\n")
    cells = count(tmp_path / "s.csv", [f"v{n - 1}", "v0"])
    assert cells.cells.size_indices().to_json() == {"1": 2}


FAR = b"a,b\n" + b"1,x\n" * 400_000


@pytest.mark.parametrize(
    ("line", "part"),
    [
        (b"1,\xff\n", "text in utf-8"),
        (b"1,x,y\n", "as many fields on each line as in the header"),
        (b"1\n", "as many fields on each line as in the header"),
        (b'"1,x\n', "well quoted"),
    ],
    ids=["bytes", "long", "short", "quote"],
)
def test_a_bad_line_far_into_the_file_is_named(count, tmp_path, line, part):
    (tmp_path / "s.csv").write_bytes(FAR + line + b"1,x\n" * 10)
    with pytest.raises(FileError) as caught:
        count(tmp_path / "s.csv", ["a", "b"])
    assert part in str(caught.value)
    assert "line 400,002" in str(caught.value)


@pytest.mark.parametrize("encoding", [None, "latin-1"])
def test_a_gzip_cut_far_into_the_file_is_refused(count, tmp_path, encoding):
    numbers = np.random.default_rng(0).integers(0, 1000, 500_000)
    whole = gzip.compress(b"a,b\n" + b"".join(b"%d,x\n" % n for n in numbers), 1)
    (tmp_path / "s.csv.gz").write_bytes(whole[: -len(whole) // 4])
    with pytest.raises(FileError, match="s.csv.gz must be a readable"):
        count(tmp_path / "s.csv.gz", ["a"], csv=CsvOptions(encoding=encoding))


def test_spoiled_pages_of_parquet_are_refused(count, tmp_path):
    path = tmp_path / "s.parquet"
    pq.write_table(pa.table({"a": np.arange(10_000)}), path)
    spoiled = bytearray(path.read_bytes())
    spoiled[100:400] = b"\xff" * 300
    path.write_bytes(spoiled)
    with pytest.raises(FileError, match="s.parquet must be a readable"):
        count(path, ["a"])
