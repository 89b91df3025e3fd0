"""What an intruder knows beside the release: a cell, a subtotal, a range, who cannot exist.

Written as `race=Chinese,gender=male:0..2`: the persons with these levels, whatever their other
variables, are at least 0 and at most 2. `:1` is an exact figure, `:..3` an upper and `:2..` a lower
limit, `:0` says that nobody has this combination.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.fiber.system.linear_system import Statement

RANGE = re.compile(r"(?P<low>\d+)?(?P<dots>\.\.)?(?P<high>\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The number of persons with these levels (axis to level) is from `low` to `high`."""

    levels: Mapping[int, int]
    low: int
    high: int | None
    text: str

    def statement(self, sizes: Sequence[int]) -> Statement:
        """As a statement about the cells of the full table, numbered in C order."""
        cells = np.arange(int(np.prod(sizes)), dtype=np.int64).reshape(tuple(sizes))
        place = tuple(self.levels.get(axis, slice(None)) for axis in range(len(sizes)))
        chosen = np.ravel(cells[place])
        return Statement(cells=chosen, low=self.low, high=self.high, name=f"knowledge {self.text}")


def parse_knowledge(text: str, table: Table) -> Known:
    """What a text in the form `variable=level,…:range` says of the table.

    A name or level that holds a comma, a colon or an equals sign goes in double quotes. Raises
    InputError for a variable or level that the table does not have, naming the nearest one.
    """
    pairs, low, high = parts_of(text)
    levels: dict[int, int] = {}
    for name, level in pairs:
        [axis] = table.axes([name])
        if axis in levels:
            raise InputError(must_be("knows", "about different variables", f"{name!r} twice"))
        levels[axis] = table.level(name, level)
    return Known(levels=levels, low=low, high=high, text=text)


def parts_of(text: str) -> tuple[list[tuple[str, str]], int, int | None]:
    """The variables with their levels, and the range, as they are written."""
    pairs, colon, limits = text.rpartition(":")
    if not colon:
        raise InputError(_not_understood(text))
    low, high = _limits(limits.strip(), text)
    return _pairs(pairs, text), low, high


def _limits(text: str, whole: str) -> tuple[int, int | None]:
    match = RANGE.fullmatch(text)
    if match is None or not text or text == "..":
        raise InputError(_not_understood(whole))
    low, high = match["low"], match["high"]
    if match["dots"] is None:
        return int(text), int(text)
    limits = int(low or 0), None if high is None else int(high)
    if limits[1] is not None and limits[1] < limits[0]:
        raise InputError(must_be("knows", "a range from low to high", repr(whole)))
    return limits


def _pairs(text: str, whole: str) -> list[tuple[str, str]]:
    part = r"(?:\"([^\"]*)\"|([^,=\":]+))"
    pair = re.compile(rf"\s*{part}\s*=\s*{part}\s*")
    found, place = [], 0
    while place < len(text):
        match = pair.match(text, place)
        if match is None:
            raise InputError(_not_understood(whole))
        name, level = (match[1] or match[2] or "", match[3] or match[4] or "")
        found.append((name.strip(), level.strip()))
        place = match.end()
        if place < len(text):
            if text[place] != ",":
                raise InputError(_not_understood(whole))
            place += 1
    return found


def _not_understood(text: str) -> str:
    rule = "levels, a colon and a number or range, as in 'a=1,b=2:0..3'"
    return must_be("knows", rule, repr(text))
