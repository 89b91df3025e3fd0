"""What the name of a level says: is it a total?"""

from enum import Enum, auto


class Telling(Enum):
    """What speaks for a level being a total, before its counts are looked at."""

    TOTAL = auto()  # no level of persons is named so
    OFTEN = auto()  # usually a total, but a level may have this name
    SOMETIMES = auto()  # T for treatment, both for mother and father
    MISSING = auto()  # no value: unknown, or what GROUP BY ROLLUP leaves
    SHARED = auto()  # a name that says nothing, with matching sums in several variables
    NOTHING = auto()


TOTAL_NAMES = frozenset(
    (
        "total", "totals", "_t", "tot", "grand total", "subtotal", "sub-total", "overall",
        "both sexes", "all persons", "all people", "all ages", "all sexes", "gesamt", "insgesamt",
        "summe", "zwischensumme", "totale", "totaal", "totalt", "i alt", "suma", "razem", "ogółem",
        "celkem", "yhteensä", "összesen", "всего", "итого", "合計", "总计",
    )
)  # fmt: skip
FIRST_WORDS = frozenset(("total", "subtotal", "gesamt", "grand"))  # of a longer name
OFTEN_NAMES = frozenset(
    (
        "all", "sum", "persons", "people", "everyone", "everybody", "population", "m+f", "f+m",
        "alle", "zusammen", "personen", "ensemble", "tous", "toutes", "todos", "tutti",
    )
)  # fmt: skip
SOMETIMES_NAMES = frozenset(("t", "both", "whole", "combined", "any", "mf", "beide"))
OFTEN_FIRST = frozenset(("all", "both", "alle", "tous", "toutes", "todos", "tutti"))


def telling(label: str) -> Telling:
    """What the name alone says: by a word for a total, or by one that begins it (`All ages`)."""
    name = " ".join(label.casefold().split())
    first, _, more = name.partition(" ")
    first = first.rstrip(",:;")
    if name in TOTAL_NAMES or (more and first in FIRST_WORDS):
        return Telling.TOTAL
    if name in OFTEN_NAMES or (more and first in OFTEN_FIRST):
        return Telling.OFTEN
    return Telling.SOMETIMES if name in SOMETIMES_NAMES else Telling.NOTHING
