"""Stata's own format, version 118 (Stata 14 and later), with every type that Stata has.

The layout is that of Stata's page `help dta`: marked sections, all numbers little-endian, a map of
where each section begins. What writes the other kinds would make every whole number a long one.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.stat_variables import Variable, cut_text
from discreet.errors import OutputError, must_be

LONGEST = 2045  # bytes of a text beside the other values; longer ones stand in a section apart
CHUNK = 1 << 16  # rows
MOST_VARIABLES = 32_767
# For each type: its code, how numpy stores it, and the pattern of its system missing value, from
# which that of each letter is the given step times its place in the alphabet away.
TYPES: dict[str, tuple[int, str, int, int]] = {
    "int8": (65530, "<i1", 101, 1),
    "int16": (65529, "<i2", 32_741, 1),
    "int32": (65528, "<i4", 2_147_483_621, 1),
    "float": (65527, "<f4", 0x7F000000, 0x800),
    "double": (65526, "<f8", 0x7FE0000000000000, 1 << 40),
}
PATTERNS = {"<f4": "<u4", "<f8": "<u8"}
FORMATS = {
    "int8": "%8.0g",
    "int16": "%8.0g",
    "int32": "%12.0g",
    "float": "%9.0g",
    "double": "%10.0g",
}
LONG_TEXT = 32_768
FIRST_LETTER = ord("a")


def write_stata(
    path: Path, variables: Sequence[Variable], n_rows: int, label: str, notes: Sequence[str]
) -> None:
    """Writes the variables to a .dta file."""
    if len(variables) > MOST_VARIABLES:
        rule = f"a file of at most {MOST_VARIABLES:,} variables"
        raise OutputError(must_be("output", rule, f"{len(variables):,}"))
    kinds = [_Kind.of(variable) for variable in variables]
    with path.open("wb") as file:
        places = [0]
        file.write(b"<stata_dta>" + _header(len(variables), n_rows, label))
        places.append(file.tell())
        map_at = file.tell() + len("<map>")
        file.write(b"<map>" + bytes(14 * 8) + b"</map>")
        for section in _sections(variables, kinds, notes):
            places.append(file.tell())
            file.write(section)
        places.append(file.tell())
        _write_data(file, variables, kinds, n_rows)
        for section in (_long_texts(variables, kinds), _value_labels(variables)):
            places.append(file.tell())
            file.write(section)
        places.append(file.tell())
        file.write(b"</stata_dta>")
        places.append(file.tell())
        file.seek(map_at)
        file.write(struct.pack("<14Q", *places))


class _Kind:
    """How one variable is stored: the code of its type and the type of its values in a row."""

    def __init__(self, code: int, stored: str, width: int = 0) -> None:
        self.code, self.stored, self.width = code, stored, width

    @classmethod
    def of(cls, variable: Variable) -> "_Kind":
        """The kind of a variable; texts have the declared width, or that of the longest."""
        if not variable.is_text:
            code, stored, _, _ = TYPES[variable.storage]
            return cls(code, stored)
        longest = max((len(text.encode("utf-8")) for text in variable.texts if text), default=0)
        width = max(1, longest, variable.width if variable.width <= LONGEST else 0)
        if width > LONGEST:
            return cls(LONG_TEXT, "<u8")
        return cls(width, f"S{width}", width)


def _header(n_variables: int, n_rows: int, label: str) -> bytes:
    said = cut_text(label, 320)
    return b"".join(
        (
            b"<header><release>118</release><byteorder>LSF</byteorder>",
            b"<K>" + struct.pack("<H", n_variables) + b"</K>",
            b"<N>" + struct.pack("<Q", n_rows) + b"</N>",
            b"<label>" + struct.pack("<H", len(said)) + said + b"</label>",
            b"<timestamp>\0</timestamp></header>",  # of no length: when is no one's affair
        )
    )


def _sections(
    variables: Sequence[Variable], kinds: Sequence[_Kind], notes: Sequence[str]
) -> Iterable[bytes]:
    """What stands before the data, in Stata's order."""
    codes = struct.pack(f"<{len(kinds)}H", *(kind.code for kind in kinds))
    yield _marked("variable_types", codes)
    yield _marked("varnames", b"".join(_padded(one.name, 129) for one in variables))
    yield _marked("sortlist", bytes(2 * (len(variables) + 1)))
    looks = (_format(one, kind) for one, kind in zip(variables, kinds, strict=True))
    yield _marked("formats", b"".join(_padded(look, 57) for look in looks))
    sets = label_sets(variables)
    names = {place: name for name, (_, places) in sets.items() for place in places}
    filled = (_padded(names.get(place, ""), 129) for place in range(len(variables)))
    yield _marked("value_label_names", b"".join(filled))
    said = (_padded(one.label or "", 321) for one in variables)
    yield _marked("variable_labels", b"".join(said))
    yield _marked("characteristics", b"".join(_notes(notes)))


def _format(variable: Variable, kind: _Kind) -> str:
    if variable.format:
        return variable.format
    if variable.is_text:
        return f"%{min(kind.width or 9, 244)}s"
    return FORMATS[variable.storage]


def _notes(notes: Sequence[str]) -> Iterable[bytes]:
    if notes:
        yield _characteristic("note0", str(len(notes)))
    for number, note in enumerate(notes, start=1):
        yield _characteristic(f"note{number}", note)


def _characteristic(name: str, content: str) -> bytes:
    data = _padded("_dta", 129) + _padded(name, 129) + content.encode("utf-8") + b"\0"
    return b"<ch>" + struct.pack("<I", len(data)) + data + b"</ch>"


def _write_data(
    file: IO[bytes], variables: Sequence[Variable], kinds: Sequence[_Kind], n_rows: int
) -> None:
    row = np.dtype([(f"v{i}", kind.stored) for i, kind in enumerate(kinds)])
    file.write(b"<data>")
    for start in range(0, n_rows, CHUNK):
        stop = min(n_rows, start + CHUNK)
        data = np.zeros(stop - start, dtype=row)
        for i, (variable, kind) in enumerate(zip(variables, kinds, strict=True)):
            data[f"v{i}"] = _stored(variable, kind, start, stop, i + 1)
        file.write(data.tobytes())
    file.write(b"</data>")


def _stored(variable: Variable, kind: _Kind, start: int, stop: int, number: int) -> NDArray[Any]:
    """The values of some rows as they stand in the file."""
    values = variable.values[start:stop]
    if not isinstance(values, list):
        letters = None if variable.letters is None else variable.letters[start:stop]
        return _stored_numbers(variable, values, letters)
    if kind.code != LONG_TEXT:
        return np.array([(text or "").encode("utf-8") for text in values], dtype=kind.stored)
    # Where a long text stands: the variable in two bytes, the row from 1 in the other six.
    places = [number | (row + 1) << 16 if values[row - start] else 0 for row in range(start, stop)]
    return np.array(places, dtype="<u8")


def _stored_numbers(
    variable: Variable, values: NDArray[np.float64], letters: NDArray[np.int64] | None
) -> NDArray[Any]:
    _, stored, gap, step = TYPES[variable.storage]
    missing = np.isnan(values)
    found = np.where(missing, 0, values).astype(stored)
    _check_range(variable, found, missing)
    patterns = found.view(PATTERNS.get(stored, stored)).copy()
    tags = np.zeros(len(values), dtype=np.int64)
    if letters is not None:
        tags = np.where(letters > 0, letters - FIRST_LETTER + 1, 0)
    patterns[missing] = (gap + tags[missing] * step).astype(patterns.dtype)
    return patterns.view(stored)


def _check_range(variable: Variable, found: NDArray[Any], missing: NDArray[np.bool_]) -> None:
    """No number is so large that Stata would take it for a missing value."""
    _, stored, gap, _ = TYPES[variable.storage]
    first = np.array([gap], dtype=PATTERNS.get(stored, stored)).view(stored)[0]
    if bool(np.any(np.abs(found[~missing]) >= first)):
        rule, got = "of numbers that Stata can hold", "one that is too large"
        remedy = "write a .csv or .parquet file"
        said = must_be(f"column {variable.name!r}", rule, got, remedy=remedy)
        raise OutputError(said)


def _long_texts(variables: Sequence[Variable], kinds: Sequence[_Kind]) -> bytes:
    parts = [b"<strls>"]
    for number, (variable, kind) in enumerate(zip(variables, kinds, strict=True), start=1):
        if kind.code == LONG_TEXT:
            for row, text in enumerate(variable.texts, start=1):
                if text:
                    data = text.encode("utf-8") + b"\0"
                    parts.append(b"GSO" + struct.pack("<IQBI", number, row, 130, len(data)) + data)
    return b"".join((*parts, b"</strls>"))


def label_sets(variables: Sequence[Variable]) -> dict[str, tuple[dict[int, str], list[int]]]:
    """Sets of value labels by name, each with the places of the variables that it labels.

    Variables that shared a set still do; a set that differs from its namesake gets another name.
    """
    sets: dict[str, tuple[dict[int, str], list[int]]] = {}
    for place, variable in enumerate(variables):
        labels = {} if variable.is_text else _stata_labels(variable.value_labels)
        if not labels:
            continue
        name = variable.label_set or variable.name
        while name in sets and sets[name][0] != labels:
            name = f"{name}_" if len(name) < 32 else f"labels{place}"
        sets.setdefault(name, (labels, []))[1].append(place)
    return sets


def _stata_labels(labels: Mapping[Any, str]) -> dict[int, str]:
    """Labels of whole numbers and of letters, as Stata has no others."""
    found: dict[int, str] = {}
    _, _, gap, step = TYPES["int32"]
    for value, label in labels.items():
        if isinstance(value, str):
            if len(value) == 1 and "a" <= value <= "z":
                found[gap + (ord(value) - FIRST_LETTER + 1) * step] = label
        elif float(value).is_integer() and abs(value) < gap:
            found[int(value)] = label
    return dict(sorted(found.items()))


def _value_labels(variables: Sequence[Variable]) -> bytes:
    parts = []
    for name, (labels, _) in label_sets(variables).items():
        texts = [label.encode("utf-8") + b"\0" for label in labels.values()]
        n, ends = len(texts), np.cumsum([0, *map(len, texts)])
        table = struct.pack("<II", n, int(ends[-1]))
        table += struct.pack(f"<{n}I", *ends[:-1].tolist()) + struct.pack(f"<{n}i", *labels)
        table += b"".join(texts)
        parts.append(b"<lbl>" + struct.pack("<I", len(table)) + _padded(name, 129) + bytes(3))
        parts.append(table + b"</lbl>")
    return _marked("value_labels", b"".join(parts))


def _marked(name: str, content: bytes) -> bytes:
    return b"<%b>%b</%b>" % (name.encode(), content, name.encode())


def _padded(text: str, width: int) -> bytes:
    return cut_text(text, width - 1).ljust(width, b"\0")
