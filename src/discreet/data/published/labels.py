"""What the labels of a published table say by themselves: a total, a band of numbers, or a word.

Bands are intervals of whole numbers, both ends within: `15-19`, `15 to below 20` and `[15,20)` are
the same band, `85+` has no end above. Words that merely hold digits (`NUTS1`, `23-Bremen`), codes
with a zero in front (`01-02`, and with it the month of `2020-01`) and bands with ends between whole
numbers (`1.5 to below 2`) stay words. A variable is read as numbers only as a whole: see `numeric`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from discreet.data.total_names import Telling, telling


@dataclass(frozen=True, slots=True)
class Whole:
    """A word for all levels together."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Whole numbers from `low` to `high`, both within; None where the end is open."""

    low: int | None
    high: int | None

    def holds(self, number: int) -> bool:
        """Whether a number lies in it."""
        below = self.low is not None and number < self.low
        return not below and not (self.high is not None and number > self.high)


@dataclass(frozen=True, slots=True)
class Word:
    """A name that says nothing by itself."""


Meaning = Whole | Interval | Word
TOTALS = (Telling.TOTAL, Telling.OFTEN)
SEXES = frozenset(  # whose total statistical codes call T
    ("m", "f", "w", "h", "male", "female", "males", "females", "men", "women")
)

NUMBER = r"[-−]?(?:[1-9]\d{0,2}(?:,\d{3})+|0|[1-9]\d{0,14})(?:\.0+)?"
UNIT = (
    r"(?:(?:full |completed )?years?(?: old| of age)?|year[- ]olds?|yrs?|y|y\.?o\.?|"
    r"persons?|people|members?|children|child|rooms?|jahren?|ans?|años?|anni|jaar|år|vuotta)"
)
BEFORE = r"(?:aged?|ages|alter|im alter von|years)"
TO = r"(?: ?(?:-|–|—|−|‐|‑|\.\.+|…) ?| (?:to|through|thru|bis|à|al?|till|tot) )"
MORE = (
    r"(?:and|or|und|et|y|o|e|en|och|&) ?"
    r"(?:over|above|older|more|up|upwards?|mehr|älter|darüber|plus|más|oltre|più|ouder|meer|äldre)"
)
LESS = (
    r"(?:and|or|und|et|y|o|e|en|och|&) ?"
    r"(?:under|below|younger|less|fewer|weniger|jünger|darunter|moins|menos|meno|minder|jonger)"
)
AT_LEAST = r"(?:(?:>=|=>|≥) ?|(?:at least|from|min\.?|mindestens|ab|au moins) )"
ABOVE = r"(?:> ?|(?:over|above|more than|older than|greater than|über|mehr als|plus de|más de) )"
AT_MOST = r"(?:(?:<=|=<|≤) ?|(?:up to|at most|max\.?|höchstens|bis|jusqu'à) )"
BELOW = (
    r"(?:< ?|(?:under|below|less than|fewer than|younger than|unter|weniger als|bis unter|moins de|"
    r"menos de|meno di|onder) )"
)
TO_BELOW = r"(?: ?(?:-|–) ?| (?:to|bis) )(?:< ?|(?:below|under|less than|before|unter) )"

# Each form with the ends that it gives: how far its numbers are from the first and the last within.
FORMS: tuple[tuple[re.Pattern[str], int | None, int | None], ...] = tuple(
    (re.compile(f"{pattern}(?: ?{UNIT})?", re.IGNORECASE), first, last)
    for pattern, first, last in (
        (f"(?P<low>{NUMBER})(?: ?{UNIT})?{TO_BELOW}(?P<high>{NUMBER})", 0, -1),
        (f"(?P<low>{NUMBER})(?: ?{UNIT})?{TO}(?P<high>{NUMBER})", 0, 0),
        (f"between (?P<low>{NUMBER}) and (?P<high>{NUMBER})", 0, 0),
        (f"(?P<low>{NUMBER})(?: ?{UNIT})? ?(?:\\+|{MORE})", 0, None),
        (f"{AT_LEAST}(?P<low>{NUMBER})", 0, None),
        (f"{ABOVE}(?P<low>{NUMBER})", 1, None),
        (f"(?P<high>{NUMBER})(?: ?{UNIT})? ?{LESS}", None, 0),
        (f"{AT_MOST}(?P<high>{NUMBER})", None, 0),
        (f"{BELOW}(?P<high>{NUMBER})", None, -1),
        # as interval notation and statistical codes have them
        (rf"\[ ?(?P<low>{NUMBER}) ?[,;] ?(?P<high>{NUMBER}) ?\]", 0, 0),
        (rf"\[ ?(?P<low>{NUMBER}) ?[,;] ?(?P<high>{NUMBER}) ?[)\[]", 0, -1),
        (rf"[(\]] ?(?P<low>{NUMBER}) ?[,;] ?(?P<high>{NUMBER}) ?\]", 1, 0),
        (rf"[(\]] ?(?P<low>{NUMBER}) ?[,;] ?(?P<high>{NUMBER}) ?[)\[]", 1, -1),
        (rf"\[ ?(?P<low>{NUMBER}) ?[,;] ?\+?(?:inf|infinity|∞) ?[)\]\[]", 0, None),
        (rf"\( ?(?P<low>{NUMBER}) ?[,;] ?\+?(?:inf|infinity|∞) ?[)\]\[]", 1, None),
        (rf"[(\[\]] ?[-−](?:inf|infinity|∞) ?[,;] ?(?P<high>{NUMBER}) ?\]", None, 0),
        (rf"[(\[\]] ?[-−](?:inf|infinity|∞) ?[,;] ?(?P<high>{NUMBER}) ?[)\[]", None, -1),
        (f"Y(?P<low>{NUMBER})(?:-|T)(?P<high>{NUMBER})", 0, 0),
        (f"Y_GE(?P<low>{NUMBER})", 0, None),
        (f"Y_GT(?P<low>{NUMBER})", 1, None),
        (f"Y_LE(?P<high>{NUMBER})", None, 0),
        (f"Y_LT(?P<high>{NUMBER})", None, -1),
    )
)
SINGLE = re.compile(f"Y?(?P<one>{NUMBER})(?: ?{UNIT})?", re.IGNORECASE)
LED = re.compile(f"{BEFORE}:? (?P<rest>.+)", re.IGNORECASE)
GROUPED = re.compile(r"(?<=\d)[ '’](?=\d{3}(?!\d))")


def meaning(label: str) -> Meaning:
    """What a label says by itself: a word for a total, an interval of whole numbers, or a word."""
    name = " ".join(label.split())
    if telling(name) in TOTALS:
        return Whole()
    plain = GROUPED.sub("", name)
    found = _interval(plain)
    led = LED.fullmatch(plain)
    if found is None and led:
        found = _interval(led["rest"])
    return found or Word()


def meanings(labels: Sequence[str]) -> tuple[Meaning, ...]:
    """What each label of a variable says beside the others.

    Given are all its labels, over all tables. Numbers and bands are told only where the variable is
    `numeric`. A word for a total counts as one only where there are other labels too; among M and F
    (or names of the sexes) the code T is one.
    """
    plain = tuple(meaning(label) for label in labels)
    whole = [_is_total(label, labels) for label in labels]
    if all(whole):
        return tuple(Word() for _ in labels)
    numbers = numeric(labels)
    return tuple(
        Whole() if total else one if numbers and isinstance(one, Interval) else Word()
        for one, total in zip(plain, whole, strict=True)
    )


def numeric(labels: Iterable[str]) -> bool:
    """Whether the labels of a variable, totals aside, are all numbers or bands of numbers.

    Bands that meet in one number (`15-20` and `20-25`) are not: which of the two holds it is not
    said.
    """
    found = {meaning(label) for label in labels} - {Whole()}
    bands = [one for one in found if isinstance(one, Interval)]
    return bool(bands) and len(bands) == len(found) and not _meet(bands)


def stated_range(mark: str) -> tuple[int, int | None] | None:
    """The counts that a mark states for a withheld figure, such as `<5` or `1-4`; None for others.

    Whether `<5` may stand for a zero too is not said by the mark, so the range begins at 0.
    """
    found = meaning(mark)
    if not isinstance(found, Interval) or found.low == found.high:
        return None
    low = 0 if found.low is None else found.low
    if low < 0 or (found.high is not None and found.high < low):
        return None
    return low, found.high


def _interval(name: str) -> Interval | None:
    single = SINGLE.fullmatch(name)
    if single:
        number = _number(single["one"])
        return Interval(number, number)
    for form, first, last in FORMS:
        found = form.fullmatch(name)
        if found:
            low = None if first is None else _number(found["low"]) + first
            high = None if last is None else _number(found["high"]) + last
            upside_down = low is not None and high is not None and low > high
            return None if upside_down else Interval(low, high)
    return None


def _number(text: str) -> int:
    return int(text.partition(".")[0].replace(",", "").replace("−", "-"))


def _is_total(label: str, labels: Sequence[str]) -> bool:
    if isinstance(meaning(label), Whole):
        return True
    if label.strip().casefold() != "t":
        return False
    named = {other.casefold().strip() for other in labels if not isinstance(meaning(other), Whole)}
    return bool(named - {"t"}) and named - {"t"} <= SEXES


def _meet(bands: Sequence[Interval]) -> bool:
    """Whether a band ends with the number with which another begins."""
    ends = {one.high for one in bands if one.high is not None and one.low != one.high}
    return any(one.low in ends for one in bands if one.low is not None and one.low != one.high)
