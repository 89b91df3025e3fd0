"""The variables of a Stata, SPSS or SAS file as they are written: values, labels and formats."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.data.stat_files import DECLARING, READERS
from discreet.errors import FileError, OutputError, must_be
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray

FAMILIES = {
    ".dta": "Stata",
    ".sav": "SPSS",
    ".zsav": "SPSS",
    ".por": "SPSS",
    ".xpt": "SAS",
    ".sas7bdat": "SAS",
}
TEXT = "string"  # the names of storage types are those of pyreadstat
WHOLE_RANGES = (
    ("int8", -127, 100),
    ("int16", -32_767, 32_740),
    ("int32", -2_147_483_647, 2_147_483_620),
    ("double", -(2**53), 2**53),
)
DAY = 86_400  # seconds
STATA_DAYS = 3653  # from 1960 to 1970
SPSS_DAYS = 141_428  # from 14 October 1582 to 1970


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A variable with its values: numbers with NaN where missing, or texts with None.

    `letters` has the code of the letter of an extended missing value, 0 where there is none;
    `missing` are the values that SPSS takes for missing; `label_set` names the set of its value
    labels; `width` is that of its texts in bytes, where it is declared.
    """

    name: str
    storage: str
    values: FloatArray | list[str | None]
    letters: IntArray | None = None
    label: str | None = None
    format: str | None = None
    value_labels: Mapping[Any, str] = field(default_factory=dict)
    label_set: str | None = None
    missing: Sequence[Any] = ()
    measure: str = "unknown"
    display_width: int = 0
    width: int = 0

    @property
    def is_text(self) -> bool:
        """Whether its values are texts."""
        return self.storage == TEXT

    @property
    def texts(self) -> list[str | None]:
        """Its values where they are texts; none where they are numbers."""
        return self.values if isinstance(self.values, list) else []

    def rows(self, rows: IntArray, gone: BoolArray | None) -> "Variable":
        """The variable at these rows, without the values of those that are `gone`."""
        if isinstance(self.values, list):
            texts = [self.values[row] for row in rows]
            if gone is not None:
                texts = [None if out else text for text, out in zip(texts, gone, strict=True)]
            return replace(self, values=texts)
        numbers = self.values[rows]
        letters = None if self.letters is None else self.letters[rows]
        if gone is not None:
            numbers = np.where(gone, np.nan, numbers)
            letters = None if letters is None else np.where(gone, 0, letters)
        return replace(self, values=numbers, letters=letters)

    def recoded(self, levels: Sequence[str], found: Sequence[str | None]) -> "Variable":
        """The variable with new levels: texts where it was text, else the numbers from 1 with
        these labels."""
        plain = replace(self, missing=(), format=None, letters=None, label_set=None, width=0)
        if self.is_text:
            return replace(plain, values=list(found), value_labels={})
        codes = {level: float(code) for code, level in enumerate(levels, start=1)}
        numbers = np.array([np.nan if one is None else codes[one] for one in found], dtype=float)
        return replace(
            plain,
            values=numbers,
            storage=whole_storage(1, max(1, len(levels))),
            value_labels={code: level for level, code in codes.items()},
            measure="ordinal" if self.measure == "scale" else self.measure,
        )

    def with_numbers(self, numbers: FloatArray) -> "Variable":
        """The variable with other values."""
        kept = None if self.is_text else self.format
        plain = replace(self, value_labels={}, label_set=None, missing=(), letters=None)
        return replace(plain, values=numbers, storage="double", format=kept, width=0)


def cut_text(text: str, most: int) -> bytes:
    """The text in at most so many bytes, no character cut in two."""
    return text.encode("utf-8")[:most].decode("utf-8", "ignore").encode("utf-8")


def check_values(variable: Variable) -> None:
    """None of these programs holds an infinite number, or a text with a NUL in it."""
    rule = got = None
    if isinstance(variable.values, list):
        if any("\0" in text for text in variable.values if text):
            rule, got = "of text without NUL characters", "one that has some"
    elif bool(np.any(np.isinf(variable.values))):
        rule, got = "of finite numbers", "an infinite one"
    if rule is not None:
        remedy = "write a .csv or .parquet file"
        raise OutputError(must_be(f"column {variable.name!r}", rule, got, remedy=remedy))


def whole_storage(least: float, most: float) -> str:
    """The smallest type that holds whole numbers of this range; texts where none does."""
    for name, low, high in WHOLE_RANGES:
        if low <= least and most <= high:
            return name
    return TEXT


@dataclass(frozen=True, slots=True)
class StatSource:
    """What a file says of itself, and its variables by name."""

    variables: Mapping[str, Variable]
    label: str
    notes: tuple[str, ...]
    table_name: str | None


def read_source(path: Path, names: Sequence[str], *, values: bool) -> StatSource:
    """The named variables as they are stored: dates as numbers, declared missing values in place.

    Without `values` only what is said of them.
    """
    suffix = path.suffix.lower()
    options: dict[str, Any] = {"usecols": list(names), "disable_datetime_conversion": True}
    if suffix in DECLARING:
        options["user_missing"] = True
    if not values:
        options["metadataonly"] = True
    data, meta = _read(path, options)
    found = {name: _variable(name, data.get(name, []) if values else [], meta) for name in names}
    if suffix == ".dta":  # of Stata's texts one byte is counted that ends them
        found = {n: replace(one, width=max(0, one.width - 1)) for n, one in found.items()}
    table = meta.table_name if suffix == ".xpt" else None
    return StatSource(found, meta.file_label or "", tuple(meta.notes or ()), table)


def _read(path: Path, options: Mapping[str, Any]) -> tuple[Mapping[str, Any], Any]:
    import pyreadstat

    reader: Callable[..., Any] = getattr(pyreadstat, READERS[path.suffix.lower()])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data, meta = reader(str(path), output_format="dict", **options)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, OSError, ValueError) as error:
        rule, got = f"a readable {path.suffix.lower()} file", "one that is damaged"
        raise FileError(must_be(path.name, rule, got)) from error
    return data, meta


def _variable(name: str, values: Any, meta: Any) -> Variable:
    storage = meta.readstat_variable_types[name]
    lettered = bool(meta.missing_user_values.get(name))
    texts = storage == TEXT
    return Variable(
        name=name,
        storage=storage,
        values=[_text(value) for value in values] if texts else _numbers(values),
        letters=_letters(values) if lettered and not texts else None,
        label=meta.column_names_to_labels.get(name),
        format=meta.original_variable_types.get(name),
        value_labels=meta.variable_value_labels.get(name, {}),
        label_set=meta.variable_to_label.get(name),
        missing=meta.missing_ranges.get(name, ()),
        measure=meta.variable_measure.get(name, "unknown"),
        display_width=meta.variable_display_width.get(name, 0),
        width=meta.variable_storage_width.get(name, 0) if texts else 0,
    )


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _numbers(values: Sequence[Any]) -> FloatArray:
    plain = [np.nan if value is None or isinstance(value, str) else value for value in values]
    return np.array(plain, dtype=np.float64)


def _letters(values: Sequence[Any]) -> IntArray:
    codes = [ord(value) if isinstance(value, str) else 0 for value in values]
    return np.array(codes, dtype=np.int64)


def variable_of(name: str, column: pa.ChunkedArray, family: str) -> Variable:
    """A column of another kind of file as a variable of this family."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_boolean(kind):
        return _whole(name, column.cast(pa.int8()))
    if pa.types.is_integer(kind):
        return _whole(name, column)
    if pa.types.is_date(kind):
        return _days(name, column, family)
    if pa.types.is_timestamp(kind):
        return _moments(name, column, family)
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        storage = "float" if pa.types.is_float32(kind) else "double"
        return Variable(name=name, storage=storage, values=_as_floats(column))
    return _texts(name, column)


def _texts(name: str, column: pa.ChunkedArray) -> Variable:
    from discreet.data.csv_output import text_column

    return Variable(name=name, storage=TEXT, values=text_column(name, column).to_pylist())


def _as_floats(column: pa.ChunkedArray) -> FloatArray:
    plain = column.cast(pa.float64(), safe=False)
    return np.asarray(plain.to_numpy(zero_copy_only=False), dtype=np.float64)


def _whole(name: str, column: pa.ChunkedArray) -> Variable:
    """Whole numbers in the smallest type; as text where a number has more digits than a double."""
    range_ = pc.min_max(column).as_py()
    storage = whole_storage(range_["min"] or 0, range_["max"] or 0)
    if storage == TEXT:
        return _texts(name, column)
    return Variable(name=name, storage=storage, values=_as_floats(column))


def _days(name: str, column: pa.ChunkedArray, family: str) -> Variable:
    days = _as_floats(column.cast(pa.date32()).cast(pa.int32()))
    if family == "SPSS":
        numbers, look = (days + SPSS_DAYS) * DAY, "DATE11"
    else:
        numbers, look = days + STATA_DAYS, "%td" if family == "Stata" else "DATE9"
    storage = "int32" if family == "Stata" else "double"
    return Variable(name=name, storage=storage, values=numbers, format=look)


def _moments(name: str, column: pa.ChunkedArray, family: str) -> Variable:
    micro = column.cast(pa.timestamp("us", column.type.tz), safe=False).cast(pa.int64())
    seconds = _as_floats(micro) / 1e6
    if family == "SPSS":
        numbers, look = seconds + SPSS_DAYS * DAY, "DATETIME23.2"
    elif family == "Stata":
        numbers, look = np.round((seconds + STATA_DAYS * DAY) * 1000), "%tc"
    else:
        numbers, look = seconds + STATA_DAYS * DAY, "DATETIME20"
    return Variable(name=name, storage="double", values=numbers, format=look)
