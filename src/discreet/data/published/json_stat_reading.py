"""Published tables in JSON-stat 2.0: one dataset, a cube of values with a status for some.

Format: https://json-stat.org/full/. A value that is null or has a status instead is withheld; one
that an object of values does not list has no figure. Where a dimension of measures is told
(`role.metric`), each of its categories is a table of its own.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

from discreet.data.csv_dialect import open_bytes, readable
from discreet.data.excel_files import MOST_BYTES
from discreet.data.published.cube import Cube, Dimension, cube_tables
from discreet.data.published.figures_in_cells import Cell, NoFigure, plain_text, read_cell, shown
from discreet.data.published.gathering import MOST_FIGURES, Kind
from discreet.data.published.headings import UNITS
from discreet.data.published.published_table import PublishedTable, Statistic
from discreet.errors import FileError, must_be

PLACE = re.compile(r"[0-9]{1,15}")


class NumberText(str):
    """A number of the file, as it stands there."""

    __slots__ = ()


def read_json_stat(path: Path) -> list[PublishedTable]:
    """The tables of a dataset."""
    found = _parsed(path)
    if not isinstance(found, dict) or found.get("class") != "dataset":
        remedy = "save the dataset itself"
        what = f"class {shown(str(found['class']))}" if _has_class(found) else "something else"
        rule = 'JSON-stat 2.0 of class "dataset"'
        raise FileError(must_be(path.name, rule, what, remedy=remedy))
    reader = _Dataset(path.name, found)
    dimensions = reader.dimensions()
    cells = reader.cells(prod(len(one.labels) for one in dimensions))
    cube = Cube(
        file=path.name,
        dimensions=tuple(dimensions),
        cells=cells,
        kind=reader.kind(),
        where=lambda place: f"value[{place}]",
    )
    return cube_tables(cube)


def _has_class(found: Any) -> bool:
    return isinstance(found, dict) and "class" in found


def _parsed(path: Path) -> Any:
    with readable(path, "utf-8"), open_bytes(path) as file:
        data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise FileError(must_be(path.name, f"of at most {MOST_BYTES >> 20:,} MB", "more"))
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    try:
        return json.loads(
            text,
            parse_int=NumberText,
            parse_float=NumberText,
            parse_constant=_constant,
            object_pairs_hook=_object,
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise FileError(must_be(path.name, "JSON", "text that is none", where=where)) from error
    except RecursionError as error:
        raise FileError(must_be(path.name, "JSON of a few levels", "too many")) from error
    except _TwiceError as error:
        got = f"{shown(str(error))} twice in one object"
        raise FileError(must_be(path.name, "JSON without doubt", got)) from error


class _TwiceError(ValueError):
    """A name that an object has twice, or a constant that JSON does not have."""


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise _TwiceError(next(name for i, name in enumerate(names) if name in names[:i]))
    return found


def _constant(name: str) -> NumberText:
    """NaN and the like, which are no figures; told where the figure is."""
    return NumberText(name)


@dataclass(frozen=True, slots=True)
class _Dataset:
    file: str
    found: Mapping[str, Any]

    def dimensions(self) -> list[Dimension]:
        """The dimensions in their order. Checked: ids, sizes and categories fit each other."""
        ids, sizes = self._list("id"), self._list("size")
        own = self.found.get("dimension")
        if not isinstance(own, dict) or len(ids) != len(sizes):
            raise self._bad("one size and one dimension for each id", "others")
        roles = self.found.get("role")
        metric = roles.get("metric") if isinstance(roles, dict) else None
        by_name = [name for name in ids if name.casefold() in UNITS]
        metrics = metric if isinstance(metric, list) else by_name
        return [
            self._dimension(name, size, own.get(name), name in metrics)
            for name, size in zip(ids, sizes, strict=True)
        ]

    def _dimension(self, name: str, size: str, found: Any, is_metric: bool) -> Dimension:
        category = found.get("category") if isinstance(found, dict) else None
        if not isinstance(category, dict):
            raise self._bad(f"a category for dimension {shown(name)}", "none")
        codes = self._codes(name, category)
        if str(len(codes)) != size:
            raise self._bad(f"{size} categories in dimension {shown(name)}", len(codes))
        told = category.get("label")
        labels = [str(told.get(code, code)) if isinstance(told, dict) else code for code in codes]
        label = found.get("label")
        return Dimension(
            name=plain_text(label)
            if isinstance(label, str) and label.strip()
            else plain_text(name),
            code=plain_text(name),
            labels=tuple(map(plain_text, labels)),
            codes=tuple(map(plain_text, codes)),
            units=_units(category, codes),
            is_metric=is_metric,
        )

    def _codes(self, name: str, category: Mapping[str, Any]) -> list[str]:
        """The categories in their order; of one category the label tells its code."""
        index = category.get("index")
        if isinstance(index, list):
            return [str(one) for one in index]
        if isinstance(index, dict):
            places = sorted(index, key=lambda code: _place(index[code]))
            if [_place(index[code]) for code in places] == list(range(len(places))):
                return places
            raise self._bad(f"places from 0 on in dimension {shown(name)}", "others")
        label = category.get("label")
        if isinstance(label, dict) and len(label) == 1:
            return list(label)
        raise self._bad(f"an index of categories in dimension {shown(name)}", "none")

    def cells(self, size: int) -> dict[int, Cell]:
        """The figures by their place in the cube, withheld ones with their mark."""
        if size > MOST_FIGURES:
            rule = f"a table of at most {MOST_FIGURES:,} figures"
            raise FileError(must_be(self.file, rule, "more", remedy="give smaller tables"))
        values, status = self._sparse("value", size), self._status(size)
        if values is None:
            raise self._bad("a list or an object of values", "neither")
        found = {}
        for place in sorted(values.keys() | status.keys()):
            mark = status.get(place, "")
            cell = self._cell(values.get(place), place)
            withheld = not cell.printed
            found[place] = (
                replace(cell, mark=cell.mark or mark) if withheld else (replace(cell, sign=mark))
            )
        return found

    def _cell(self, value: Any, place: int) -> Cell:
        where = f"value[{place}]"
        if not (value is None or isinstance(value, str)):
            name, got = f"figure in {self.file}", "something else"
            raise FileError(must_be(name, "a number, a mark or null", got, where=where))
        cell = read_cell(None if value is None else str(value), ".", negative=True)
        if isinstance(cell, NoFigure):
            raise FileError(must_be(f"figure in {self.file}", cell.rule, cell.got, where=where))
        return cell

    def _sparse(self, name: str, size: int) -> dict[int, Any] | None:
        """Values by place, from a list of all or an object of some."""
        found = self.found.get(name)
        if isinstance(found, list):
            if len(found) != size:
                raise self._bad(f"{size:,} entries in {name!r}", f"{len(found):,}")
            return dict(enumerate(found))
        if not isinstance(found, dict):
            return None
        places = {_place(key): value for key, value in found.items()}
        if any(not 0 <= place < size for place in places) or len(places) < len(found):
            raise self._bad(f"places from 0 to {size - 1:,} in {name!r}", "others")
        return places

    def _status(self, size: int) -> dict[int, str]:
        """The status of values that have one; a single one is that of all."""
        found = self.found.get("status")
        if isinstance(found, str):
            return dict.fromkeys(range(size), found) if found else {}
        if isinstance(found, list) and len(found) == 1 and size > 1:
            return {place: str(found[0]) for place in range(size)}
        own = self._sparse("status", size) or {}
        return {place: plain_text(str(one)) for place, one in own.items() if one not in (None, "")}

    def kind(self) -> Kind | None:
        """What an extension of ours says the figures are."""
        extension = self.found.get("extension")
        told = extension.get("statistic") if isinstance(extension, dict) else None
        of = extension.get("of", []) if isinstance(extension, dict) else []
        if told in set(Statistic) and isinstance(of, list):
            return Kind(statistic=Statistic(told), of=tuple(plain_text(str(one)) for one in of))
        return None

    def _list(self, name: str) -> list[str]:
        found = self.found.get(name)
        if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
            raise self._bad(f"a list {name!r}", "none")
        return found

    def _bad(self, rule: str, got: object) -> FileError:
        return FileError(must_be(self.file, f"JSON-stat with {rule}", got))


def _place(text: Any) -> int:
    """A place in the cube, -1 for what is none."""
    return int(text) if isinstance(text, str) and PLACE.fullmatch(text) else -1


def _units(category: Mapping[str, Any], codes: Sequence[str]) -> tuple[str, ...]:
    """The unit of each category of a dimension of measures, as far as it is told."""
    told = category.get("unit")
    if not isinstance(told, dict):
        return ("",) * len(codes)
    units = (told.get(code) for code in codes)
    return tuple(
        str(one.get("label") or one.get("base") or "") if isinstance(one, dict) else ""
        for one in units
    )
