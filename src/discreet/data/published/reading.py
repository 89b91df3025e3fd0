"""Reading published tables from files of any format that is understood."""

from pathlib import Path

from discreet.data.csv_dialect import CsvOptions, open_bytes, readable
from discreet.data.excel_files import is_excel
from discreet.data.published.csv_reading import read_csv
from discreet.data.published.excel_reading import read_excel
from discreet.data.published.gathering import DecimalMark
from discreet.data.published.json_stat_reading import read_json_stat
from discreet.data.published.published_table import PublishedTable
from discreet.data.published.px_reading import read_px
from discreet.errors import FileError, InputError, must_be

CSV = (".csv", ".tsv", ".tab", ".txt")
JSON_STAT = (".json", ".jsonstat")
PX = (".px",)
OTHERS = (".parquet", ".pq", ".arrow", ".feather", ".dta", ".sav", ".sas7bdat", ".pdf", ".html")
FORMATS = "a published table as CSV, Excel (.xlsx), JSON-stat 2.0 or PX"
HEAD = 4096


def read_published(
    path: str | Path,
    *,
    count: str | None = None,
    sheet: str | None = None,
    csv: CsvOptions | None = None,
) -> tuple[PublishedTable, ...]:
    """The tables of a file: one for each sheet, and for each column of figures (count, percent).

    `count` names the column of counts of a table in long form, `sheet` one sheet of a workbook.
    The format is told by the ending of the name, else by how the file begins. Raises FileError
    where a figure, a label or the file cannot be understood, with its row and column, and
    InputError where an option does not fit the file.
    """
    path = Path(path)
    options = csv or CsvOptions()
    kind = _format(path)
    if sheet is not None and kind != "excel":
        raise InputError(must_be("sheet", "left out unless the file is a workbook", repr(sheet)))
    if count is not None and kind in ("json", "px"):
        rule = "left out where the file itself tells its figures"
        raise InputError(must_be("count", rule, repr(count)))
    if kind == "excel":
        with readable(path, "bytes"), path.open("rb"):
            pass
        return tuple(read_excel(path, count, sheet, DecimalMark(asked=options.decimal)))
    if kind == "json":
        return tuple(read_json_stat(path))
    if kind == "px":
        return tuple(read_px(path, options.encoding))
    return tuple(read_csv(path, count, options))


def _format(path: Path) -> str:
    """The format by the ending of the name, that of what is packed where it ends in .gz."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes[-1:] == [".gz"]
    ending = suffixes[-2] if packed and len(suffixes) > 1 else suffixes[-1] if suffixes else ""
    if is_excel(path):
        return "excel"
    for kind, endings in (("csv", CSV), ("json", JSON_STAT), ("px", PX)):
        if ending in endings:
            return kind
    return _format_by_head(path, ending)


def _format_by_head(path: Path, ending: str) -> str:
    with readable(path, "bytes"), open_bytes(path) as file:
        head = file.read(HEAD)
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if ending in OTHERS or head.startswith(b"%PDF") or text[:1] == b"<":
        raise FileError(must_be(path.name, FORMATS, "a file of another kind"))
    if head.startswith(b"PK\x03\x04"):
        remedy = "give it a name that ends in .xlsx"
        raise FileError(must_be(path.name, FORMATS, "a packed file", remedy=remedy))
    if text.startswith(b"{"):
        return "json"
    return "px" if text.upper().startswith((b"CHARSET=", b"AXIS-VERSION=")) else "csv"
