"""What a printed figure says of the true count, by the rule that it was printed by.

| rule | a printed y says of the count x |
|---|---|
| `exact` | x = y |
| `rounded(b)` | y − b < x < y + b, whichever way it was rounded |
| `rounded(b,nearest)` | y − b/2 ≤ x ≤ y + b/2 |
| `rounded(b,down)`, `rounded(b,up)` | y ≤ x < y + b, y − b < x ≤ y |
| `perturbed(d)` | y − d ≤ x ≤ y + d |
| `withheld(1..4)` | of what is withheld: 1 ≤ x ≤ 4; without it, 0 ≤ x |
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

from discreet.data.published.labels import stated_range
from discreet.data.published.published_table import PublishedTable, Statistic
from discreet.errors import InputError, must_be
from discreet.fiber.system.linear_system import LARGEST

BY_CHANCE = 1e-6  # chance that so many figures are multiples of a base by accident
BASES = (1000, 100, 50, 25, 20, 10, 5, 4, 3)
CALL = re.compile(r"(exact|rounded|perturbed|withheld)\s*(?:\((.*)\))?", re.IGNORECASE)
RANGE = re.compile(r"(\d+)?\s*(\.\.|-)\s*(\d+)?")
FORMS = "exact, rounded(5), rounded(5,nearest), perturbed(4) or withheld(1..4)"


class Way(StrEnum):
    """How figures were rounded."""

    UNKNOWN = "unknown"
    NEAREST = "nearest"
    DOWN = "down"
    UP = "up"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How the figures of a table were printed.

    `base` and `way` of rounding (base 1: none), `most` the largest deviation of a perturbation,
    `withheld` the range of what is not shown. `stated` says that somebody gave the rule: without,
    figures that are all multiples of one number are taken as rounded.
    """

    base: int = 1
    way: Way = Way.UNKNOWN
    most: int = 0
    withheld: tuple[int, int | None] = (0, None)
    stated: bool = False

    @property
    def is_exact(self) -> bool:
        """Whether printed figures are the counts."""
        return self.base == 1 and self.most == 0

    @property
    def words(self) -> str:
        """It in a few words."""
        if self.most:
            return f"each off by at most {self.most}"
        if self.base > 1:
            how = {"unknown": "", "nearest": " to the nearest", "down": " down", "up": " up"}
            return f"rounded to {self.base}{how[self.way]}"
        return "exact"

    def range_of(self, printed: str, mark: str) -> tuple[int, int | None]:
        """The least and the greatest count behind a figure; the greatest is None without limit."""
        if not printed:
            stated = stated_range(mark) if mark else None
            return self.withheld if stated is None else stated
        figure = int(Fraction(printed))
        if self.most:
            return max(0, figure - self.most), max(0, figure + self.most)
        if self.base == 1:
            return figure, figure
        low, high = self._rounded(figure)
        return max(0, low), max(0, high)

    def _rounded(self, figure: int) -> tuple[int, int]:
        off = self.base - 1
        ways = {
            Way.UNKNOWN: (figure - off, figure + off),
            Way.NEAREST: (figure - self.base // 2, figure + self.base // 2),
            Way.DOWN: (figure, figure + off),
            Way.UP: (figure - off, figure),
        }
        return ways[self.way]


def rule_of(sections: Sequence[str]) -> tuple[Rule, list[str]]:
    """The rule that sections of a text such as `rounded(5)` say, and the sections that say none."""
    rule, others, named = Rule(), [], ""
    for section in sections:
        found = CALL.fullmatch(section.strip())
        if found is None:
            others.append(section.strip())
            continue
        name = found[1].lower()
        if named and name != "withheld":
            got = f"{named!r} and {section.strip()!r}"
            raise InputError(must_be("rule of figures", "one beside withheld", got))
        named = named if name == "withheld" else section.strip()
        rule = _with(rule, name, (found[2] or "").strip(), section)
    return rule, others


def _with(rule: Rule, name: str, inside: str, section: str) -> Rule:
    if name == "withheld":
        return replace(rule, withheld=_range(inside, section))
    if rule.stated:
        wanted = "one of exact, rounded and perturbed"
        raise InputError(must_be("the rule of figures", wanted, f"{section.strip()!r} too"))
    if name == "exact":
        return replace(rule, stated=True)
    parts = [part.strip() for part in inside.split(",")]
    number = parts[0].removeprefix("base=").removeprefix("most=")
    least = 2 if name == "rounded" else 1
    if not number.isdecimal() or not least <= int(number) <= 10**6:
        what = f"a whole number from {least} to 1,000,000 in brackets"
        raise InputError(must_be(name, f"given {what}", repr(section), remedy=f"such as {FORMS}"))
    if name == "perturbed":
        return replace(rule, most=int(number), stated=True)
    way = parts[1].lower() if len(parts) > 1 else "unknown"
    if way not in list(Way) or len(parts) > 2:
        way = ",".join(parts[1:])
        raise InputError(must_be("way of rounding", f"one of {', '.join(Way)}", repr(way)))
    return replace(rule, base=int(number), way=Way(way), stated=True)


def _range(inside: str, section: str) -> tuple[int, int | None]:
    found = RANGE.fullmatch(inside)
    if found is None or (found[1] is None and found[3] is None):
        rule = "given a range, as in withheld(1..4) or withheld(1..)"
        raise InputError(must_be("withheld", rule, repr(section)))
    low, high = int(found[1] or 0), None if found[3] is None else int(found[3])
    if high is not None and high < low:
        raise InputError(must_be("withheld", "a range from low to high", repr(section)))
    return low, high


def guessed(table: PublishedTable, rule: Rule) -> tuple[Rule, str]:
    """The rule, or where none was stated and all figures are multiples of one number, rounding to
    it, with a note that says so."""
    if rule.stated or table.statistic is not Statistic.COUNT:
        return rule, ""
    figures = [int(Fraction(text)) for text in table.printed if text]
    positive = [figure for figure in figures if figure > 0]
    for base in BASES:
        chance = float(base) ** -len(positive)
        if chance < BY_CHANCE and all(figure % base == 0 for figure in positive):
            note = (
                f"All {len(figures)} figures of {table.name} are multiples of {base}: taken as "
                f"rounded to {base}, whichever way. If they are true counts, say "
                f"'{table.name} | exact'."
            )
            return replace(rule, base=base), note
    return rule, ""


def check_figures(table: PublishedTable) -> None:
    """Raises InputError for a table without figures, for a figure of a table of counts that is no
    count, and for one of percentages that is none."""
    if not table.n_figures:
        raise InputError(must_be(f"table {table.name}", "one with figures", "none"))
    if table.statistic is Statistic.MEAN:
        return
    is_share = table.statistic is Statistic.PERCENT
    rule = "from 0 to 100" if is_share else "whole numbers from 0, below 2**53"
    for place, text in enumerate(table.printed):
        if text and not (_is_share(text) if is_share else _is_count(text)):
            where = f"{table.name}, {table.where[place]}" if table.where else table.name
            what = "percentages" if is_share else "figures"
            raise InputError(must_be(what, rule, repr(text), where=where))


def _is_count(text: str) -> bool:
    figure = Fraction(text)
    return figure.denominator == 1 and 0 <= figure < LARGEST


def _is_share(text: str) -> bool:
    return 0 <= Fraction(text) <= 100
