"""What stands in a cell of figures: a figure, a mark of a withheld one, or something else.

A figure is kept as text with its decimals, `.` for the decimal mark and nothing between thousands.
Whether a comma or a point is the decimal mark is told by all figures of a column together.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from math import isfinite
from typing import Any

from discreet.data.published.labels import stated_range
from discreet.data.whole_numbers import LARGEST
from discreet.errors import one_line

MARKS = frozenset(
    (
        "", "x", "c", "s", "d", "*", "**", "***", ".", "..", "...", "....", ".....", "......", "…",
        ":", "#", "/", "?", "na", "n/a", "n.a.", "nan", "null", "confidential",
        "suppressed", "withheld", "hidden", "geheim", ":c", ": c", "..c",
    )
)  # fmt: skip
BRACKETED = re.compile(r"[\[(](?:x|c|s|d|z|w|low|conf|\*+|\.+)[\])]", re.IGNORECASE)
DASHES = frozenset("-–—−‐‑")
MOST_SHOWN = 40  # characters of a cell in a message
EXACT_DIGITS = 12  # of a number that a program computed, the rest may be rounding errors

FOOTNOTE = re.compile(
    r"(?a)(?P<number>.*\d) ?"
    r"(?P<sign>[*†‡§#¹²³⁰⁴-⁹ᵃ-ᶻ]+|\[[\w*]{1,3}\]|\([A-Za-z*]{1,2}\)|[abcdefinprsuzABCDEFINPRSUZ])"
)  # a letter that may stand for thousands or millions is no footnote
SCIENTIFIC = re.compile(r"(?a)-?\d(?:\.\d+)?[eE][+-]?\d{1,3}")
PLAIN = {
    ".": re.compile(r"(?a)-?(?:\d+|\d{1,3}(?:[ '’,]\d{3})+)(?:\.\d+)?|-?\.\d+"),
    ",": re.compile(r"(?a)-?(?:\d+|\d{1,3}(?:[ '’.]\d{3})+)(?:,\d+)?|-?,\d+"),
}
_SURELY = (  # with D for the decimal mark and T for the other one, which parts thousands
    r"(?a)-?(?:\d+D(?:\d{1,2}|\d{4,})|0\d*D\d+|\d{4,}D\d+|D\d+|\d+(?:T\d{3})+D\d+"
    r"|\d{1,3}(?: \d{3})+D\d+|\d{1,3}(?:T\d{3}){2,})"
)
SURELY = {
    ".": re.compile(_SURELY.replace("D", "\\.").replace("T", ",")),
    ",": re.compile(_SURELY.replace("D", ",").replace("T", "\\.")),
}
UNSURE = re.compile(r"(?a)-?[1-9]\d{0,2}[.,]\d{3}")  # thousands or decimals?
FEWEST_ROUNDED = 15  # digits from which on a figure with decimals is taken for a computed one


@dataclass(frozen=True, slots=True)
class Cell:
    """What was read: a figure as `printed`, or "" and the `mark` of one that is withheld.

    `sign` is a footnote sign beside the figure, `is_dash` says that the mark is a lone dash, and
    `is_percent` that the figure has a percent sign.
    """

    printed: str
    mark: str = ""
    sign: str = ""
    is_dash: bool = False
    is_percent: bool = False


@dataclass(frozen=True, slots=True)
class NoFigure:
    """A cell that holds no figure: what it must be instead, and what it holds."""

    rule: str
    got: str


@dataclass(frozen=True, slots=True)
class Percentage:
    """A number of a workbook that it shows as a percentage, in percent."""

    value: Decimal


Figure = int | float | Decimal | Percentage  # cells that need no reading


def plain_text(text: str) -> str:
    """The text with every run of blanks and line breaks as one space, none at its ends."""
    return " ".join(text.split())


def is_blank(value: Any) -> bool:
    """Whether a cell is empty, or holds only blanks."""
    return value is None or (isinstance(value, str) and not value.strip())


def is_number(value: Any) -> bool:
    """Whether a cell holds a figure, whatever the decimal mark."""
    if isinstance(value, str):
        return any(_parts(plain_text(value), decimal) is not None for decimal in PLAIN)
    return isinstance(value, Figure) and not isinstance(value, bool)


def is_mark(value: Any) -> bool:
    """Whether a cell that is not empty marks a withheld figure."""
    return isinstance(value, str) and not is_blank(value) and _mark(plain_text(value)) is not None


def read_cell(value: Any, decimal: str, *, negative: bool = False) -> Cell | NoFigure:
    """What a cell holds, given the decimal mark; `negative` figures are refused unless allowed."""
    if isinstance(value, Figure) and not isinstance(value, bool):
        return _checked(Cell(_of_number(value), is_percent=isinstance(value, Percentage)), negative)
    text = plain_text("" if value is None else str(value))
    if len(text) < FEWEST_ROUNDED and text.isascii() and text.isdigit():  # most cells, and quick
        return Cell(text.lstrip("0") or "0")
    found = _mark(text)
    if found is None:
        found = _parts(text, decimal)
        if found is None:
            return NoFigure("a figure from 0 or the mark of a withheld one", shown(text))
    return _checked(found, negative)


def decimal_of(values: Iterable[Any]) -> str | tuple[str, str] | None:
    """The decimal mark that the figures of a column tell; two figures that tell different ones;
    None where none tells."""
    told: dict[str, str] = {}
    for value in values:
        if isinstance(value, str):
            text = plain_text(value).rstrip("% ")
            for mark, surely in SURELY.items():
                if mark not in told and surely.fullmatch(text):
                    told[mark] = value
    if len(told) == 2:
        return told["."], told[","]
    return next(iter(told), None)


def is_unsure(value: Any) -> bool:
    """Whether a figure reads differently with another decimal mark (`1.234`)."""
    return isinstance(value, str) and UNSURE.fullmatch(plain_text(value)) is not None


def shown(text: str) -> str:
    """The text of a cell as a message shows it."""
    plain = one_line(text)
    return f"'{plain if len(plain) <= MOST_SHOWN else plain[: MOST_SHOWN - 1] + '…'}'"


def _mark(text: str) -> Cell | None:
    """A withheld figure, where the text marks one."""
    if text in DASHES and text:
        return Cell("", mark=text, is_dash=True)
    known = text.casefold() in MARKS or BRACKETED.fullmatch(text) is not None
    return Cell("", mark=text) if known or stated_range(text) is not None else None


def _parts(text: str, decimal: str) -> Cell | None:
    """The number in a text, and a percent sign or a footnote sign behind it."""
    percent = text.endswith("%")
    number = _plain_number(text.removesuffix("%").rstrip(), decimal)
    if number is not None:
        return Cell(number, is_percent=percent)
    found = FOOTNOTE.fullmatch(text)
    number = _plain_number(found["number"], decimal) if found else None
    return Cell(number, sign=found["sign"]) if found and number is not None else None


def _plain_number(text: str, decimal: str) -> str | None:
    """A number as figures are kept."""
    text = text.replace("−", "-")
    if SCIENTIFIC.fullmatch(text):
        return _tidied(format(Decimal(text), "f"))
    if not PLAIN[decimal].fullmatch(text):
        return None
    for between in " '’" + ("," if decimal == "." else "."):
        text = text.replace(between, "")
    return _tidied(text.replace(",", "."))


def _tidied(text: str) -> str:
    """Without zeros in front and a sign before nought."""
    sign = "-" if text.startswith("-") else ""
    whole, point, rest = text.removeprefix("-").partition(".")
    plain = (whole.lstrip("0") or "0") + point + rest
    return plain if not plain.strip("0.") else sign + plain


def _of_number(value: Figure) -> str:
    """A number as figures are kept; a float in the fewest digits that give it back."""
    if isinstance(value, Percentage):
        return _tidied(format(value.value, "f"))
    if isinstance(value, float):
        if not isfinite(value):
            return str(value)
        value = int(value) if value.is_integer() else Decimal(repr(value))
    return _tidied(format(value, "f") if isinstance(value, Decimal) else str(value))


def _checked(cell: Cell, negative: bool) -> Cell | NoFigure:
    """A figure in range, without digits that only show how a computer rounds."""
    if not cell.printed:
        return cell
    if cell.printed.strip("-0123456789."):
        return NoFigure("a figure from 0 or the mark of a withheld one", shown(cell.printed))
    if cell.printed.startswith("-") and not negative:
        return NoFigure("a figure from 0", shown(cell.printed))
    number = Decimal(cell.printed)
    if abs(number) >= LARGEST:
        return NoFigure("a figure below 2**53", shown(cell.printed))
    digits = len(number.as_tuple().digits)
    if "." in cell.printed and digits >= FEWEST_ROUNDED:
        rounded = Context(prec=EXACT_DIGITS).create_decimal(number).normalize()
        return replace(cell, printed=_tidied(format(rounded, "f")))
    return cell
