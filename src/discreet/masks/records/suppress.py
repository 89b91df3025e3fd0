"""Local suppression as a step of a recipe: what is asked, by the names of keys and variables."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from discreet.errors import InputError, must_be
from discreet.masks.records.suppression import MEANING, Guarantee

STILL = {
    Guarantee.STRICT: "Whoever knows a person's keys finds at least {k} records that show what he "
    "knows as far as they show anything, and cannot tell from the keys which is the one.",
    Guarantee.CANDIDATES: "Whoever knows a person's keys finds records that at least {k} persons "
    "of the file fit. A record that shows an unusual pattern may still be the only one that does.",
    Guarantee.WILDCARD: "Whoever asks which records show all that he knows may find a single one: "
    "others match it only because values of theirs are gone.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppress:
    """Single values are taken out, so that at least k records belong together.

    `importance` is the price of a value of a key (1 where none is given); `never` are keys of which
    none is taken out; `most` how many values of a key may be. `diverse` wants so many different
    values of sensitive variables in each group. With `records` whole records lose all their keys.
    With `above` only records with an estimated risk above it are helped, else all that fewer than k
    share.
    """

    name: ClassVar[str] = "suppress"
    k: int
    guarantee: str = Guarantee.STRICT.value
    importance: Mapping[str, float] = field(default_factory=dict)
    never: tuple[str, ...] = ()
    most: Mapping[str, int] = field(default_factory=dict)
    diverse: Mapping[str, int] = field(default_factory=dict)
    records: bool = False
    above: float | None = None

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InputError(must_be("k", "at least 1", self.k))
        if self.guarantee not in set(Guarantee):
            rule = f"one of {', '.join(Guarantee)}"
            raise InputError(must_be("guarantee", rule, repr(self.guarantee)))
        for key, price in self.importance.items():
            if not 0 < price < 1e9:
                raise InputError(must_be(f"importance of {key!r}", "above 0", price))
        for key, number in self.most.items():
            if number < 0:
                name = f"most values of {key!r} to suppress"
                raise InputError(must_be(name, "0 or more", number))
        for name, number in self.diverse.items():
            if number < 1:
                raise InputError(must_be(f"values of {name!r} in each group", "1 or more", number))

    @property
    def in_words(self) -> str:
        """What it does, as an instruction."""
        what = "whole records" if self.records else "single values"
        means = MEANING[Guarantee(self.guarantee)].format(k=self.k)
        who = "" if self.above is None else f" of records with a risk above {self.above:g}"
        return f"suppress {what}{who}, so that {means}"

    @property
    def still_possible(self) -> str:
        """What an intruder can still do."""
        return STILL[Guarantee(self.guarantee)].format(k=self.k)
