"""Stata, SPSS and SAS files, with their value labels."""

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import FileError, must_be

if TYPE_CHECKING:
    import pyarrow as pa

READERS = {
    ".dta": "read_dta",
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}

DECLARING = (".dta", ".sav", ".zsav", ".sas7bdat")  # kinds whose declared missing values are read
LETTERED = (".dta", ".sas7bdat")  # kinds in which they are letters
XPORT_RECORD = 80  # bytes; the reader itself does not notice a file that is cut off


def read_header(path: Path) -> tuple[tuple[str, ...], dict[str, dict[str, str]]]:
    """Column names, and for each labelled column the label of each value (values as text)."""
    if path.suffix.lower() == ".xpt" and path.stat().st_size % XPORT_RECORD:
        raise FileError(must_be(path.name, "a whole .xpt file", "one that is cut off"))
    _, meta = _call(path, metadataonly=True)
    lettered = path.suffix.lower() in LETTERED
    labels = {
        column: {
            _missing_text(value) if lettered else level_text(value): str(label)
            for value, label in mapping.items()
        }
        for column, mapping in meta.variable_value_labels.items()
    }
    return tuple(meta.column_names), labels


def read_columns(
    path: Path, columns: Sequence[str], named: Mapping[str, Collection[str]] | None = None
) -> "pa.Table":
    """The named columns as an Arrow table; whole numbers stored as floats become integers.

    Values that the file itself declares missing (extended missing values of Stata and SAS, user
    missing values of SPSS) are missing, but for those `named` by column, as text: Stata's and
    SAS's are called '.a', '.b', … A column that keeps some of these is one of text.
    """
    import pyarrow as pa

    wanted = list(dict.fromkeys(columns))
    kept = {name: values for name, values in (named or {}).items() if values and name in wanted}
    data, _ = _call(path, usecols=wanted)
    found = {name: _to_arrow(data[name]) for name in wanted}
    if kept and path.suffix.lower() in DECLARING:
        raw, meta = _call(path, usecols=list(kept), user_missing=True)
        for name, values in kept.items():
            lettered = set(meta.missing_user_values.get(name, ()))
            if lettered or meta.missing_ranges.get(name):
                found[name] = _with_declared(data[name], raw[name], lettered, values, found[name])
    return pa.Table.from_arrays([found[name] for name in columns], names=list(columns))


def _with_declared(
    plain: Any, raw: Any, lettered: Collection[str], kept: Collection[str], found: "pa.Array"
) -> "pa.Array":
    """The column with the declared missing values that are kept, where there are any."""
    texts = [_missing_text(value) if value in lettered else level_text(value) for value in raw]
    back = [
        (_is_missing(value) and not _is_missing(own) and text in kept)
        for value, own, text in zip(plain, raw, texts, strict=True)
    ]
    if not any(back):
        return found
    known = [None if _is_missing(value) else level_text(value) for value in plain]
    return _to_arrow([t if b else k for t, b, k in zip(texts, back, known, strict=True)])


def _is_missing(value: object) -> bool:
    return value is None or value == "" or value != value


def _missing_text(value: object) -> str:
    """A letter that stands for a kind of missing value, as Stata writes it; others as they are."""
    return f".{value}" if isinstance(value, str) else level_text(value)


def level_text(value: object) -> str:
    """A value as the text that names its level: 1.0 and 1 are both '1'."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _call(path: Path, **options: Any) -> tuple[Mapping[str, Any], Any]:
    import pyreadstat

    reader: Callable[..., Any] = getattr(pyreadstat, READERS[path.suffix.lower()])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data, meta = reader(str(path), output_format="dict", **options)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, OSError, ValueError) as error:
        rule = f"a readable {path.suffix.lower()} file"
        raise FileError(
            must_be(path.name, rule, "one that is damaged or of another kind")
        ) from error
    return data, meta


def _to_arrow(values: Any) -> "pa.Array":
    """One column; the empty text and NaN of these formats are missing values."""
    import pyarrow as pa

    array = pa.array(values, from_pandas=True)
    if pa.types.is_floating(array.type):
        whole = array.cast(pa.int64(), safe=False)
        if whole.cast(array.type, safe=False).equals(array):
            return whole
    if pa.types.is_string(array.type):
        import pyarrow.compute as pc

        return pc.if_else(pc.equal(array, ""), pa.scalar(None, pa.string()), array)
    return array
