"""How a CSV file is written is found out from its head, or said clearly to be unreadable."""

import gzip

import pytest

from discreet.data.csv_dialect import CsvOptions, open_bytes, read_dialect
from discreet.errors import FileError, InputError


@pytest.fixture
def dialect(tmp_path):
    def read(content, name="s.csv", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_dialect(path, CsvOptions(**options))

    return read


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delimiter": ""}, "delimiter must be one character, got ''"),
        ({"delimiter": ",,"}, "delimiter must be one character"),
        ({"delimiter": "\n"}, "delimiter must be one character"),
        ({"quote": ""}, "quote must be one character, got ''"),
        ({"quote": "ab"}, "quote must be one character"),
        ({"delimiter": '"'}, "delimiter must be another character than quote"),
        ({"decimal": ";"}, "decimal must be '.' or ','"),
        ({"encoding": "utf-9"}, "encoding must be one that Python knows, got 'utf-9'"),
        ({"encoding": "hex"}, "encoding must be one that Python knows"),
        ({"encoding": "undefined"}, "encoding must be one that Python knows"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InputError) as caught:
        CsvOptions(**options)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("content", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n", ";"),
        ("a\tb\n1\t2\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ('a,b\n"x;y;z",1\n"u;v;w",2\n', ","),
        ('"a,b";c\n"1,2";3\n', ";"),
        ("a\n1\n2\n", ","),
        ("a;b,c\n1;2,3\n4;5\n7;8,9\n", ";"),
        ("a,b", ","),
    ],
)
def test_the_delimiter_is_found_out(dialect, content, delimiter):
    assert dialect(content).delimiter == delimiter


def test_what_the_user_says_is_not_guessed(dialect):
    found = dialect("a^'b^c'\n1^2\n", delimiter="^", quote="'", decimal=",")
    assert found.names == ("a", "b^c")
    assert (found.delimiter, found.quote, found.decimal) == ("^", "'", ",")


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ('"a","b, c"\r\n1,2\r\n', ("a", "b, c")),
        ('"a ""q""",b\n', ('a "q"', "b")),
        ('"a\nb",c\n1,2\n', ("a\nb", "c")),
        ("a,,a\n1,2,3\n", ("a", "", "a")),
        ("ä,日本\n1,2\n", ("ä", "日本")),
        ("a,b\r1,2\r", ("a", "b")),
    ],
)
def test_names_are_those_of_the_header(dialect, content, names):
    assert dialect(content).names == names


@pytest.mark.parametrize(
    ("encoding", "given"),
    [
        ("utf-8-sig", None),
        ("utf-8-sig", "utf-8"),
        ("utf-8-sig", "UTF8"),
        ("utf-16", None),
        ("utf-16-le", "utf-16-le"),
        ("latin-1", "latin-1"),
        ("cp1252", "windows-1252"),
    ],
)
def test_encodings_and_byte_order_marks(dialect, encoding, given):
    assert dialect("é,b\n1,2\n".encode(encoding), encoding=given).names == ("é", "b")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "s.csv must be a table with a header line, got an empty file"),
        (b" \n\t\n", "got an empty file"),
        (b"\xef\xbb\xbf", "got an empty file"),
        (b"a,b\n1,\xff\n", "must be text in utf-8, got bytes that are not at line 2"),
        (b"a,b\n1\x00,2\n", "must be text, got NUL bytes"),
        ("a,b\n1,2\n".encode("utf-16-le"), "must be text, got NUL bytes"),
        (b'a,"b\nsecret,1\n', "s.csv must be well quoted"),
    ],
)
def test_a_head_that_cannot_be_read_is_refused(dialect, content, message):
    with pytest.raises(FileError) as caught:
        dialect(content)
    assert message in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("mark", ["é", "日", "😀"])
@pytest.mark.parametrize("shift", range(4))
def test_a_character_cut_in_two_at_the_end_of_the_head_is_no_error(dialect, mark, shift):
    line = f"1,{mark * 5}\n".encode()
    content = b"a" + b"x" * shift + b",b\n" + line * ((1 << 20) // len(line) + 10)
    assert dialect(content).names == ("a" + "x" * shift, "b")


@pytest.mark.parametrize("size", [1 << 20, (1 << 20) + 1])
def test_a_bad_byte_near_the_end_of_the_head_is_found_here_or_by_the_engine(dialect, size, count):
    rows = b"a,b\n" + b"1,2\n" * (size // 4)
    content = rows[: size - 4] + b"1,\xff\n" + b"1,2\n"
    with pytest.raises(FileError, match="must be text in utf-8"):
        dialect(content)
        raise FileError("must be text in utf-8: left to the engine")


def test_a_header_longer_than_a_megabyte_is_not_cut(dialect):
    names = tuple(f"{'x' * 500}{i}" for i in range(3000))
    try:
        assert dialect(",".join(names) + "\n" + ",".join("1" * 3000) + "\n").names == names
    except FileError as error:
        assert "header" in str(error)


def test_five_thousand_columns(dialect):
    names = tuple(f"v{i}" for i in range(5000))
    assert dialect(",".join(names) + "\n" + ",".join("1" * 5000) + "\n").names == names


def test_gzip_is_unpacked(dialect, tmp_path):
    assert dialect(gzip.compress(b"a,b\n1,2\n"), "s.csv.gz").names == ("a", "b")
    with open_bytes(tmp_path / "s.csv.gz") as file:
        assert file.read() == b"a,b\n1,2\n"


def damaged_gzip():
    whole = gzip.compress(bytes(range(32, 127)) * 40)
    spoiled = bytearray(whole)
    spoiled[40:60] = bytes(255 - byte for byte in spoiled[40:60])
    return {"plain": b"a,b\n1,2\n", "cut": whole[:-20], "spoiled": bytes(spoiled)}


@pytest.mark.parametrize("kind", ["plain", "cut", "spoiled"])
def test_damaged_gzip_is_refused(dialect, kind):
    with pytest.raises(FileError, match="s.csv.gz must be a readable .*damaged"):
        dialect(damaged_gzip()[kind], "s.csv.gz")
