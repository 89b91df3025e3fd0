"""Nesting that the names of levels show: N1 lies in N, 23 in 20-24, code 0712 in 07.

That every ward of a table has one level of an illness may be an accident of these persons, or a
secret of theirs. That 23 lies in the band 20-24 anyone can read off the names.
"""

import re
from collections.abc import Iterable
from math import inf

from discreet.data.missing import MISSING_LABELS

NUMBER = r"(\d+(?:\.\d+)?)"
UNIT = r"(?:\s*[^\W\d_]+\.?)?"  # years, km
BAND = re.compile(rf"[\[(]?\s*{NUMBER}\s*(?:-|–|—|to|,|\.\.)\s*{NUMBER}\s*[\])]?{UNIT}")
ABOVE = re.compile(
    rf"(?:(?:>|≥|>=|over|above)\s*{NUMBER}{UNIT}"
    rf"|{NUMBER}\s*(?:\+|(?:years\s+)?(?:and|or)\s+(?:over|more|older|above)){UNIT})"
)
BELOW = re.compile(
    rf"(?:(?:<|≤|<=|under|below|up to)\s*{NUMBER}{UNIT}"
    rf"|{NUMBER}\s*(?:years\s+)?(?:and|or)\s+(?:under|less|younger|below){UNIT})"
)
SINGLE = re.compile(NUMBER + UNIT)


def shown_by_labels(pairs: Iterable[tuple[str, str]]) -> bool:
    """Whether each first level lies in the second one by their names, in all of the pairs.

    A name lies in another that it begins with and goes on from, unless a word goes on (north is not
    in no); a number or a band in a band that holds it. Equal names prove nothing (1 and 1 may be
    codes of anything), except that what is missing lies in what is missing.
    """
    told = [(first.strip(), second.strip()) for first, second in pairs]
    told = [one for one in told if one[0] != one[1] or one[0] not in MISSING_LABELS]
    if not told:
        return False
    return all(_begins(*one) for one in told) or all(_is_within(*one) for one in told)


def _begins(first: str, second: str) -> bool:
    if not second or len(first) <= len(second) or not first.startswith(second):
        return False
    return not (second[-1].isalpha() and first[len(second)].isalpha())


def _is_within(first: str, second: str) -> bool:
    """Whether a number or a band lies in a band."""
    inner, outer = range_of(first), range_of(second)
    if inner is None or outer is None or outer[0] == outer[1] or inner == outer:
        return False
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def range_of(label: str) -> tuple[float, float] | None:
    """The least and the greatest number of a level, where its name tells."""
    text = label.lower()
    if found := BAND.fullmatch(text):
        low, high = float(found[1]), float(found[2])
        return (low, high) if low <= high else None
    if found := ABOVE.fullmatch(text):
        return float(found[1] or found[2]), inf
    if found := BELOW.fullmatch(text):
        return -inf, float(found[1] or found[2])
    if found := SINGLE.fullmatch(text):
        return float(found[1]), float(found[1])
    return None
