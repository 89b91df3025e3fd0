"""Stata, SPSS and SAS files, with their value labels."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet.errors import FileError, must_be

READERS = {
    ".dta": "read_dta",
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}

XPORT_RECORD = 80  # bytes; the reader itself does not notice a file that is cut off


def read_header(path: Path) -> tuple[tuple[str, ...], dict[str, dict[str, str]]]:
    """Column names, and for each labelled column the label of each value (values as text)."""
    if path.suffix.lower() == ".xpt" and path.stat().st_size % XPORT_RECORD:
        raise FileError(must_be(path.name, "a whole .xpt file", "one that is cut off"))
    _, meta = _call(path, metadataonly=True)
    labels = {
        column: {level_text(value): str(label) for value, label in mapping.items()}
        for column, mapping in meta.variable_value_labels.items()
    }
    return tuple(meta.column_names), labels


def read_columns(path: Path, columns: Sequence[str]) -> pa.Table:
    """The named columns as an Arrow table; whole numbers stored as floats become integers."""
    data, _ = _call(path, usecols=list(dict.fromkeys(columns)))
    return pa.table({name: _to_arrow(data[name]) for name in columns})


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


def _to_arrow(values: Any) -> pa.Array:
    """One column; the empty text and NaN of these formats are missing values."""
    array = pa.array(values, from_pandas=True)
    if pa.types.is_floating(array.type):
        whole = array.cast(pa.int64(), safe=False)
        if whole.cast(array.type, safe=False).equals(array):
            return whole
    if pa.types.is_string(array.type):
        import pyarrow.compute as pc

        return pc.if_else(pc.equal(array, ""), pa.scalar(None, pa.string()), array)
    return array
