"""SPSS and SAS files, written by ReadStat, which is what reads them too.

Its Python side takes pandas and polars frames, neither of which has to be installed. It asks little
of a frame, and through narwhals' protocol for frames of other libraries `_Frame` answers that.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discreet.data.stat_variables import Variable, cut_text, read_source
from discreet.errors import FileError, OutputError, must_be

XPORT_8 = b"HEADER RECORD*******LIBV8"
LONGEST_LABEL = 120  # bytes of a value label of SPSS
XPORT_5_TEXT = 200  # bytes of a text in the older version
COMPRESSED_AT = 72  # where an SPSS file says how it is packed


class _Series:
    """A column as far as it is asked: its name, its type and the longest of its texts."""

    def __init__(self, variable: Variable, version: Any, texts: Any, numbers: Any) -> None:
        self.name, self._version = variable.name, version
        self.dtype = texts if variable.is_text else numbers
        self._width = text_width(variable) if variable.is_text else 0

    def __narwhals_series__(self) -> "_Series":
        return self

    def null_count(self) -> int:
        """That some are missing; which ones, the rows show."""
        return 1

    def drop_nulls(self) -> "_Series":
        """Itself: only its type and width are looked at."""
        return self

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[Any]:
        yield "x" * self._width


class _Frame:
    """Variables as a frame, as far as ReadStat's writer asks."""

    def __init__(self, variables: Sequence[Variable], n_rows: int) -> None:
        import narwhals.stable.v2 as nw

        self._variables, self._n_rows, self._version = variables, n_rows, None
        self._texts, self._numbers = nw.String(), nw.Float64()
        self._implementation = nw.Implementation.POLARS  # whose missing values are None

    def __narwhals_dataframe__(self) -> "_Frame":
        return self

    def _with_version(self, version: Any) -> "_Frame":
        self._version = version
        return self

    def __native_namespace__(self) -> Any:
        import narwhals

        return narwhals

    @property
    def columns(self) -> list[str]:
        """The names."""
        return [variable.name for variable in self._variables]

    def __len__(self) -> int:
        return self._n_rows

    def iter_columns(self) -> Iterator[_Series]:
        """The columns in order."""
        for one in self._variables:
            yield _Series(one, self._version, self._texts, self._numbers)

    def iter_rows(self, **_: Any) -> Iterator[tuple[Any, ...]]:
        """The rows, with None where a value is missing."""
        columns = [_values(variable) for variable in self._variables]
        return zip(*columns, strict=True)


def _values(variable: Variable) -> list[Any]:
    if isinstance(variable.values, list):
        return [text or "" for text in variable.values]
    return [None if value != value else value for value in variable.values.tolist()]


def text_width(variable: Variable) -> int:
    """Bytes of the longest text, at least what was declared."""
    longest = max((len(text.encode("utf-8")) for text in variable.texts if text), default=1)
    declared = re.fullmatch(r"A([0-9]+)", variable.format or "")
    return max(longest, int(declared[1]) if declared else variable.width)


def write_spss(
    path: Path,
    variables: Sequence[Variable],
    n_rows: int,
    label: str,
    notes: Sequence[str],
    source: Path | None,
) -> None:
    """Writes a .sav or .zsav file, rows packed where they are in the source."""
    import pyreadstat

    packed = path.suffix.lower() == ".zsav"
    options: dict[str, Any] = {
        "file_label": label,
        "note": list(notes) or None,
        "compress": packed,
        "row_compress": not packed and _rows_packed(source),
        "column_labels": [variable.label for variable in variables],
        "variable_value_labels": _labels(variables),
        "missing_ranges": {one.name: list(one.missing) for one in variables if one.missing},
        "variable_display_width": {one.name: one.display_width for one in variables},
        "variable_measure": {one.name: _measure(one) for one in variables},
        "variable_format": {one.name: _spss_format(one) for one in variables},
    }
    _write(pyreadstat.write_sav, path, variables, n_rows, options)


def _labels(variables: Sequence[Variable]) -> dict[str, dict[Any, str]]:
    """Value labels as long as SPSS has room for; it has none for letters."""
    found = {}
    for one in variables:
        own = one.value_labels.items()
        labels = {value: label for value, label in own if isinstance(value, str) == one.is_text}
        cut = {value: cut_text(label, LONGEST_LABEL).decode() for value, label in labels.items()}
        if len(set(cut.values())) < len(set(labels.values())):
            rule = f"told apart by the first {LONGEST_LABEL} bytes, all that SPSS keeps"
            named = f"labels of column {one.name!r}"
            remedy = "use shorter labels, or write a .csv or .parquet file"
            raise OutputError(must_be(named, rule, "longer ones", remedy=remedy))
        if cut:
            found[one.name] = cut
    return found


def _measure(variable: Variable) -> str:
    return variable.measure if variable.measure in ("nominal", "ordinal", "scale") else "unknown"


def _spss_format(variable: Variable) -> str:
    if variable.is_text:
        return f"A{text_width(variable)}"
    if variable.format:
        return variable.format
    return "F8.0" if variable.storage.startswith("int") else "F12.4"


def _rows_packed(source: Path | None) -> bool:
    """Whether the rows of the source are packed, in the plainer of the two ways."""
    if source is None or source.suffix.lower() != ".sav":
        return True
    with source.open("rb") as file:
        head = file.read(COMPRESSED_AT + 4)
    return 1 in (head[COMPRESSED_AT], head[-1])  # either order of bytes


def write_sas(
    path: Path,
    variables: Sequence[Variable],
    n_rows: int,
    label: str,
    table_name: str | None,
    source: Path | None,
) -> None:
    """Writes a .xpt file, of the older version where the source is."""
    import pyreadstat

    options: dict[str, Any] = {
        "file_label": label,
        "table_name": table_name,
        "file_format_version": 8 if _needs_xport_8(variables, source) else 5,
        "column_labels": [variable.label for variable in variables],
        "variable_format": {one.name: one.format for one in variables if one.format},
    }
    _write(pyreadstat.write_xport, path, variables, n_rows, options)


def _needs_xport_8(variables: Sequence[Variable], source: Path | None) -> bool:
    """Whether the file is of the newer version: the source is, or a text needs it."""
    if any(text_width(one) > XPORT_5_TEXT for one in variables if one.is_text):
        return True
    if source is None or source.suffix.lower() != ".xpt":
        return True
    with source.open("rb") as file:
        return file.read(len(XPORT_8)) == XPORT_8


def _write(
    writer: Any, path: Path, variables: Sequence[Variable], n_rows: int, options: dict[str, Any]
) -> None:
    import pyreadstat

    try:
        writer(_Frame(variables, n_rows), str(path), **options)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError) as error:
        rule = f"what a {path.suffix.lower()} file can hold"
        remedy = "write a .csv or .parquet file"
        got = "a name, a label or a text that it cannot"
        raise OutputError(must_be("output", rule, got, remedy=remedy)) from error
    _check_written(path, variables)


def _check_written(path: Path, variables: Sequence[Variable]) -> None:
    """The file gives back what was written: ReadStat does not notice a disk that is full."""
    try:
        found = read_source(path, [variable.name for variable in variables], values=True).variables
        whole = all(_same(variable, found[variable.name]) for variable in variables)
    except (FileError, KeyError, MemoryError):  # what a piece of a file reads like can be anything
        whole = False
    if not whole:
        got, remedy = "one that cannot be read back", "see whether the disk is full"
        raise OutputError(must_be("output", "written whole", got, remedy=remedy))


def _same(meant: Variable, found: Variable) -> bool:
    """Whether values are alike; spaces at the end of a text are none in these files."""
    if isinstance(meant.values, list):
        texts = [(text or "").rstrip(" ") for text in meant.values]
        return texts == [(text or "").rstrip(" ") for text in found.values]
    if isinstance(found.values, list):
        return False
    return bool(np.array_equal(meant.values, found.values, equal_nan=True))
