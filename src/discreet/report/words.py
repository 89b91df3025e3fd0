"""Numbers and names as people read them: no powers of ten, no digits that mean nothing.

A number other than 0 that is below SMALL is only said to be so: "< 0.001". Counts from 100 on are
whole, with thousands marked; those beyond all reading are told by their power of ten.
"""

import math
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from discreet.figures import Figure, How, Outcome, Unavailable

if TYPE_CHECKING:
    from discreet.fiber.sums.counting import Count

LONG = 26  # characters of a number that still reads
SMALL = 0.001
SCIENTIFIC = re.compile(r"(?<![\w.])\d+(?:\.\d+)?e[+-]\d+(?![\w.])")


def count(number: float) -> str:
    """A whole number with thousands marked; a huge one by its power of ten."""
    if number != int(number):
        return expected(number)
    whole = int(number)
    if abs(whole) < 10 ** (LONG * 3 // 4):
        return f"{whole:,}"
    return f"about 10^{math.floor(math.log10(abs(whole)))}"


def share(part: float, whole: float) -> str:
    """A percentage that never rounds to a misleading 0 % or 100 %."""
    if whole == 0:
        return "–"
    percent = 100 * part / whole
    if part == 0 or part == whole:
        return f"{percent:.0f} %"
    if percent < 0.1:
        return "< 0.1 %"
    return "> 99.9 %" if percent > 99.9 else f"{percent:.1f} %"


def probability(value: float) -> str:
    """A number in [0, 1] with two or three digits that carry meaning."""
    if value == 0 or value == 1:
        return f"{value:.0f}"
    if value < SMALL:
        return f"< {SMALL}"
    return "> 0.999" if value > 0.999 else f"{value:.3f}"


def expected(value: float) -> str:
    """An expected count, or any other number that need not be whole."""
    if value == int(value):
        return count(value)
    if value < 0:
        shown = expected(-value)
        return shown.replace("< ", "> -") if shown.startswith("<") else f"-{shown}"
    if value < SMALL:
        return f"< {SMALL}"
    if value >= 99.95:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.3g}"


def sentence(text: str) -> str:
    """A sentence made elsewhere, with the powers of ten in it written out or said to be small."""

    def plain(found: re.Match[str]) -> str:
        return expected(float(found[0])).replace("<", "below")

    return SCIENTIFIC.sub(plain, text)


def outcome(result: Outcome) -> str:
    """A figure with its limits, or the reason why there is none."""
    if isinstance(result, Unavailable):
        return f"not available: {sentence(result.reason)}"
    if result.how is How.EXACT and result.value is not None:
        return expected(result.value)
    limits = _limits(result)
    return limits if result.value is None else f"{expected(result.value)} {limits}".rstrip()


def _limits(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return f"± {expected(figure.standard_error)}" if figure.standard_error else ""
    between = f"{expected(figure.low)} to {expected(figure.high)}"
    return between if figure.value is None else f"({between})"


def tables(number: "Count") -> str:
    """A number of tables with how it was got, or why it is not known."""
    if number.value is None:
        at_least = f", at least {count(number.at_least)}" if number.at_least else ""
        note = sentence(number.note)
        return note if note.startswith("about ") else f"not known{at_least}: {note}"
    if number.how is How.EXACT:
        return f"{count(number.value)} (exact)"
    error = 100 * (number.standard_error or 0.0) / max(number.value, 1)
    percent = f"{error:.0f}" if error >= 1 else f"{error:.1g}"
    shown = count(number.value).removeprefix("about ")
    return f"about {shown} (estimate, standard error {percent} %)"


def listed(names: Sequence[str]) -> str:
    """The names as a sentence has them: a, b and c."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def plural(number: float, noun: str, several: str = "") -> str:
    """The number and the noun in the right number: 1 record, 2 records."""
    return f"{count(number)} {noun if number == 1 else several or noun + 's'}"


def by_number(number: float, one: str, several: str) -> str:
    """The word for one or for several: lacks, lack."""
    return one if number == 1 else several


def full(text: str) -> str:
    """A clause made elsewhere as a whole sentence, from a capital to a full stop."""
    said = sentence(text)
    return f"{said[:1].upper()}{said[1:]}".rstrip(".") + "."


def by_reason(reasons: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Names by the reason that they share, in the order of their first mention."""
    found: dict[str, list[str]] = {}
    for name, reason in reasons:
        names = found.setdefault(reason, [])
        if name not in names:
            names.append(name)
    return found
