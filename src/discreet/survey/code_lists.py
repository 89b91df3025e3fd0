"""Codes of lists such as postcodes, ICD, NACE or ISCO, whose first characters are a coarser list.

A code is no number: 02139 and 02140 are neighbours because they begin alike, and a band of five
codes means nothing. Codes are known by how they are written, or by the name of their column.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

FEWEST_CODES = 8  # levels from which on it is worth looking at their beginnings
FEWEST_CHARACTERS = 3  # of the longest code, if it has digits alone
POSTAL = re.compile(r"zip|post_?code|postal|plz|fips", re.IGNORECASE)
LISTED = re.compile(
    r"icd|nuts|nace|isco|naics|(?<![a-z])(?:sic|soc|atc|cpt|drg|lau)(?![a-z])|code|diagnos|occupation",
    re.IGNORECASE,
)
DIGITS = re.compile(r"\d+")
WITH_DOTS = re.compile(r"\d+(?:\.\d+)*")
LETTERS_AND_DIGITS = re.compile(r"[A-Za-z]{1,4}[ -]?\d[\dA-Za-z.\- ]*")


def is_code(name: str, values: Sequence[str]) -> bool:
    """Whether the levels of a column are codes whose beginnings mean something.

    They are if all are letters followed by digits; if all are digits of one length and some begin
    with 0; and if all have digits and the column is named like a list of codes.
    """
    if len(values) < FEWEST_CODES:
        return False
    if all(LETTERS_AND_DIGITS.fullmatch(value) for value in values):
        return True
    if max(map(len, values)) < FEWEST_CHARACTERS:
        return False
    if all(DIGITS.fullmatch(value) for value in values):
        lengths = set(map(len, values))
        return _is_named(name) or (len(lengths) == 1 and any(v.startswith("0") for v in values))
    mixed = all(LETTERS_AND_DIGITS.fullmatch(v) or WITH_DOTS.fullmatch(v) for v in values)
    return _is_named(name) and mixed


def _is_named(name: str) -> bool:
    return bool(POSTAL.search(name) or LISTED.search(name))


def leading_parts(name: str, values: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What to keep of a code, in words and as the parameters of `Leading`, the longest part first.

    Postcodes of digits that were read as numbers have lost the zeros before them, which are put
    back. Of postcodes with a space, the part before it comes first.
    """
    postal = POSTAL.search(name) is not None
    digits = all(DIGITS.fullmatch(value) for value in values)
    spaced = postal and all(value.count(" ") == 1 for value in values)
    width = max(map(len, values)) if postal and digits else 0

    def stem(value: str) -> str:
        return value.split(" ", maxsplit=1)[0] if spaced else value.zfill(width)

    kept: dict[str, Any] = {"digits": width, "before_space": spaced}
    if spaced:
        yield f"the part of {name} before the space", kept | {"characters": 0}
    unit = "digit" if digits else "character"
    lost = any(len(value) < width for value in values)
    written = f", written with {width} digits" if lost else ""
    stems = [stem(value) for value in values]
    for length in range(max(map(len, stems)) - 1, 0, -1):
        if length > 1 and _n_starts(stems, length) == _n_starts(stems, length - 1):
            continue  # the last of these characters, such as a dot, tells nothing
        words = f"the first {unit}" if length == 1 else f"the first {length} {unit}s"
        yield f"{words} of {name}{written}", kept | {"characters": length}


def _n_starts(values: Sequence[str], length: int) -> int:
    return len({value[:length] for value in values})
