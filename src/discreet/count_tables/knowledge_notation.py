"""What an intruder knows, as people write it: 'max=4, nozeros, 2=5..9, decreasing, n=40..60'."""

import re
from typing import Any

from discreet.count_tables.knowledge import Knowledge, Shape
from discreet.errors import InputError, must_be

WORDS = (
    "max=J, max=LOW..HIGH, nozeros, zero=C, VALUE=C, VALUE=LOW..HIGH, decreasing, increasing, "
    "unimodal, peak=VALUE or n=LOW..HIGH"
)
_RANGE = re.compile(r"(\d{0,18})(\.\.)?(\d{0,18})")


def parse_knowledge(text: str) -> Knowledge:
    """Knowledge from words separated by commas.

    - `max=4`, `max=3..6`: the largest value that occurs;
    - `nozeros`, the same as `zero=0` and `0=0`: nobody has value 0;
    - `2=5`, `2=5..9`, `2=5..`, `2=..9`: the count of a value; `zero=15` is `0=15`;
    - `decreasing`, `increasing`, `unimodal`, and `peak=1` for a unimodal table's largest count;
    - `n=40..60`: the number of observations, where it is withheld.

    Raises InputError for other words, for a thing said twice, and for contradictions within.
    """
    said: dict[str, Any] = {}
    cells: dict[int, tuple[int, int | None]] = {}
    for word in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = (piece.strip().lower() for piece in word.partition("="))
        name = {"zero": "0", "zeros": "0", "j": "max"}.get(name, name)
        if name.isdecimal() and equals:
            _add_once(cells, int(name), _limits(word, value), word)
        else:
            _add_once(said, *_meant(word, name, equals, value), word)
    if cells.get(0) == (0, 0):
        _add_once(said, "no_zeros", True, "zero=0")
        del cells[0]
    if "peak" in said:
        said.setdefault("shape", Shape.UNIMODAL)
    return Knowledge(cells=cells, **said)


def _meant(word: str, name: str, equals: str, value: str) -> tuple[str, Any]:
    """The parameter of `Knowledge` that a word sets, and to what."""
    if name == "nozeros" and not equals:
        return "no_zeros", True
    if name in tuple(Shape) and not equals:
        return "shape", Shape(name)
    if name == "peak" and value.isdecimal():
        return "peak", int(value)
    if name in ("max", "n") and equals:
        return {"max": "largest", "n": "n"}[name], _closed(word, value)
    raise InputError(must_be("knowledge", WORDS, repr(word)))


def _closed(word: str, value: str) -> tuple[int, int]:
    low, high = _limits(word, value)
    if high is None:
        raise InputError(must_be("knowledge", "a range with both ends", repr(word)))
    return low, high


def _limits(word: str, value: str) -> tuple[int, int | None]:
    """The limits of '5', '5..9', '5..' or '..9'."""
    found = _RANGE.fullmatch(value.replace(" ", ""))
    low, dots, high = found.groups() if found else ("", None, "")
    if not (low or high):
        rule = "a count such as 2=5 or a range such as 2=5..9"
        raise InputError(must_be("knowledge", rule, repr(word)))
    if dots is None:
        return int(low + high), int(low + high)
    return int(low or 0), int(high) if high else None


def _add_once(said: dict[Any, Any], name: Any, meant: Any, word: str) -> None:
    if name in said:
        raise InputError(
            must_be("knowledge", "said once of each thing", f"{word!r} beside another")
        )
    said[name] = meant
