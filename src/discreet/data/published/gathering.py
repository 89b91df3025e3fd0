"""The figures of a table, put together one by one as they are read from a file."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.data.published.figures_in_cells import (
    Cell,
    NoFigure,
    decimal_of,
    is_unsure,
    read_cell,
    shown,
)
from discreet.data.published.published_table import PublishedTable, Statistic
from discreet.errors import FileError, must_be

MOST_FIGURES = 5_000_000
MOST_PLACES = 3  # that a note names


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What the figures of a table are, and of which variables."""

    statistic: Statistic = Statistic.COUNT
    of: tuple[str, ...] = ()


class Gathered:
    """The figures of one table as they come: the labels of each, what stands there, and where.

    Raises FileError where a cell holds no figure, a label is no text that can be shown, labels come
    twice with different figures, or there are too many figures. `decimal` is the decimal mark.
    """

    def __init__(
        self, file: str, name: str, variables: Sequence[str], kind: Kind, decimal: str = "."
    ) -> None:
        self.file, self.name, self.kind, self.decimal = file, name, kind, decimal
        self.variables = tuple(check_label(file, one, "a variable") for one in variables)
        _check_different(file, self.variables)
        self._codes: list[dict[str, int]] = [{} for _ in self.variables]
        self._known: dict[tuple[int, ...], int] = {}
        self._printed: list[str] = []
        self._where: list[str] = []
        self._marks: dict[int, str] = {}
        self._dashes: list[str] = []
        self._signs: list[str] = []
        self._repeated: list[str] = []

    def offer(self, variable: int, labels: Iterable[str]) -> None:
        """Labels of a variable in their order, before any figure needs them."""
        for label in labels:
            self._code(variable, label)

    def add(self, labels: Sequence[str], value: Any, where: str) -> None:
        """One cell of the file and the labels that it stands under."""
        cell = read_cell(value, self.decimal, negative=self.kind.statistic is Statistic.MEAN)
        if isinstance(cell, NoFigure):
            raise FileError(must_be(f"figure in {self.file}", cell.rule, cell.got, where=where))
        self._check_percent(cell, where)
        self.put(labels, cell, where)

    def put(self, labels: Sequence[str], cell: Cell, where: str) -> None:
        """One figure that was read, and the labels that it is for."""
        place = tuple(self._code(i, label) for i, label in enumerate(labels))
        before = self._known.setdefault(place, len(self._printed))
        if before < len(self._printed):
            self._check_repeated(before, cell, labels, where)
            return
        if before >= MOST_FIGURES:
            rule = f"a table of at most {MOST_FIGURES:,} figures"
            raise FileError(must_be(self.file, rule, "more", remedy="give smaller tables"))
        self._printed.append(cell.printed)
        self._where.append(where)
        if cell.mark:
            self._marks[before] = cell.mark
        if cell.is_dash:
            self._dashes.append(where)
        if cell.sign:
            self._signs.append(where)

    def table(self, notes: Sequence[str] = ()) -> PublishedTable:
        """The table. Checked: it has figures."""
        if not self._printed:
            raise FileError(must_be(self.name, "a table with figures", "none"))
        places = np.array(list(self._known), dtype=np.int64)
        return PublishedTable(
            name=self.name,
            variables=self.variables,
            labels=tuple(tuple(codes) for codes in self._codes),
            places=places.reshape(len(self._printed), len(self.variables)),
            printed=tuple(self._printed),
            statistic=self.kind.statistic,
            of=self.kind.of,
            marks=dict(self._marks),
            where=tuple(self._where),
            notes=(*notes, *self._own_notes()),
        )

    def _code(self, variable: int, label: str) -> int:
        codes = self._codes[variable]
        found = codes.get(label)
        if found is None:
            check_label(self.file, label, f"a label of {self.variables[variable]!r}")
            found = codes[label] = len(codes)
        return found

    def _check_percent(self, cell: Cell, where: str) -> None:
        if cell.is_percent and self.kind.statistic is not Statistic.PERCENT:
            rule = f"a {self.kind.statistic}"
            remedy = "name its column percent"
            got = "a percentage"
            raise FileError(
                must_be(f"figure in {self.file}", rule, got, where=where, remedy=remedy)
            )

    def _check_repeated(self, before: int, cell: Cell, labels: Sequence[str], where: str) -> None:
        first = self._where[before]
        if cell.printed != self._printed[before] or cell.mark != self._marks.get(before, ""):
            named = ", ".join(shown(label) for label in labels) or "the total"
            rule = f"one figure for {named}"
            got = "two that differ"
            raise FileError(must_be(self.file, rule, got, where=f"{first} and {where}"))
        self._repeated.append(f"{where} ({first})")

    def _own_notes(self) -> list[str]:
        """What was made of cells that could have meant something else."""
        return [
            note
            for note in (
                noted(self._dashes, "a lone dash, taken for a figure withheld"),
                noted(self._signs, "a sign of a footnote beside the figure, left out"),
                noted(self._repeated, "the same figure for the same labels again, left out"),
            )
            if note
        ]


def noted(places: Sequence[str], what: str) -> str:
    """What was found at so many places, the first of them named; empty for none."""
    if not places:
        return ""
    more = ", …" if len(places) > MOST_PLACES else ""
    return f"{len(places):,} × {what}: {', '.join(places[:MOST_PLACES])}{more}"


def check_label(file: str, label: str, what: str) -> str:
    """The label. Checked: it is not empty and holds no control character."""
    if not label:
        raise FileError(
            must_be(file, f"named throughout, each {what.split(' ', 1)[1]}", "an empty name")
        )
    if any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or 0xD800 <= ord(c) < 0xE000 for c in label):
        rule = f"text without control characters for {what}"
        raise FileError(must_be(f"name in {file}", rule, shown(label)))
    return label


@dataclass(frozen=True, slots=True, kw_only=True)
class DecimalMark:
    """What is known of the decimal mark before the figures are looked at.

    `asked` is what the user says (`,`, or `.` where he says nothing), `likely` what to take where
    a count such as 1.234 can only be a thousand and more.
    """

    asked: str = "."
    likely: str = "."


def decimal_for(
    file: str, told: Sequence[tuple[str, Any]], statistic: Statistic, mark: DecimalMark
) -> str:
    """The decimal mark of a column of figures, given where each stands that has a mark, and it.

    Raises FileError where the figures tell different ones, or a count has decimals by the point.
    """
    if mark.asked == ",":
        return ","
    found = decimal_of(value for _, value in told)
    if isinstance(found, tuple):
        by_value = {value: where for where, value in reversed(told)}
        got = " and ".join(shown(one) for one in found)
        where = " and ".join(by_value[one] for one in found)
        raise FileError(must_be(f"figures in {file}", "of one decimal mark", got, where=where))
    if found is not None:
        return found
    unsure = [(where, one) for where, one in told if is_unsure(one) and "." in one]
    if not unsure or statistic is not Statistic.COUNT:
        return "."
    if mark.likely == ",":
        return ","
    where, first = unsure[0]
    remedy = (
        "if the point stands between thousands, say that a comma marks decimals "
        f"('{file} | decimal=,')"
    )
    said = must_be(f"figure in {file}", "a count", shown(first), where=where, remedy=remedy)
    raise FileError(said)


def has_mark(value: Any) -> bool:
    """Whether a cell is text with a comma or a point."""
    return isinstance(value, str) and ("," in value or "." in value)


def _check_different(file: str, names: Sequence[str]) -> None:
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        rule = "of variables with different names"
        raise FileError(must_be(file, rule, f"{shown(twice)} twice"))
