"""Recodings: rules by which the values of a key become fewer.

A rule turns one value into the label of its group, so that it can be followed by hand, applies to
values that only the population has, and can be run again on next year's file. Rules that look at
the file first (quantiles, rare levels, the top so many records) are `fitted` to it, which gives a
rule that no longer does. Values in `stay`, such as a code for no answer, stay as they are, and so
does what a rule does not understand.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import ClassVar, Protocol

import numpy as np

from discreet.data.columns import near_match
from discreet.data.hierarchy import Hierarchy
from discreet.engines.key_space import KeyLevels
from discreet.errors import InputError, must_be
from discreet.numerics.arrays import FloatArray, IntArray

OTHER = "other"
ISO_DATE = re.compile(r"(?P<year>\d{4})-(?P<month>\d{2})-\d{2}(?:[ T].*)?")
DOTTED_DATE = re.compile(r"\d{1,2}\.(?P<month>\d{1,2})\.(?P<year>\d{4})")
SLASHED_DATE = re.compile(r"\d{1,2}/\d{1,2}/(?P<year>\d{4})")  # which of them is the month?
DATE_FORMS = (ISO_DATE, DOTTED_DATE, SLASHED_DATE)
MOST_NAMED = 5  # levels that are named one by one
TINY = 1e-9  # so that a number that is the edge of a band but for rounding is at it


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """The known levels of a key, as a rule is fitted to them: how many records have each, and how
    many of the population, where that is known."""

    key: KeyLevels
    records: IntArray
    population: FloatArray | None = None

    @property
    def known(self) -> list[tuple[int, str]]:
        """Places and values of the levels that are values."""
        return [(place, v) for place, v in enumerate(self.key.values) if v is not None]

    def numbers(self, stay: Sequence[str] = ()) -> tuple[FloatArray, FloatArray]:
        """The levels that are numbers, ascending, and the records of each; none may stay."""
        found = [(number_of(v), p) for p, v in self.known if v not in stay]
        told = sorted((number, place) for number, place in found if number is not None)
        places = [place for _, place in told]
        return np.array([number for number, _ in told]), self.records[places].astype(float)


class Recoding(Protocol):
    """A rule that makes one key coarser, or leaves it out."""

    name: ClassVar[str]

    @property
    def key(self) -> str:
        """The key that is recoded."""

    @property
    def in_words(self) -> str:
        """What it does, as an instruction."""

    @property
    def still_possible(self) -> str:
        """What an intruder can still do."""

    def fitted(self, levels: Levels) -> "Recoding":
        """The same rule for these levels, without looking at any file any more."""

    def group(self, value: str) -> str:
        """The label of the group of a value; raises ValueError for one it does not understand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """What all rules share."""

    name: ClassVar[str]
    still: ClassVar[str] = (
        "Whoever knows the value knows the group that it fell in, and still finds everybody in it."
    )
    key: str

    @property
    def still_possible(self) -> str:
        """What an intruder can still do."""
        return self.still

    def fitted(self, levels: Levels) -> "Recoding":
        """Most rules look at no file."""
        return self  # type: ignore[return-value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bands(_Rule):
    """Bands of one width; `start` is where one of them begins."""

    name: ClassVar[str] = "bands"
    width: float
    start: float = 0.0
    whole: bool = True
    stay: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not (math.isfinite(self.width) and self.width > 0 and math.isfinite(self.start)):
            raise InputError(must_be(f"width of the bands of {self.key!r}", "above 0", self.width))

    @property
    def in_words(self) -> str:
        """What it does, as an instruction."""
        return f"put {self.key} into bands of {self.width:g}"

    def fitted(self, levels: Levels) -> "Bands":
        """Bands of whole numbers are named by their first and last number."""
        numbers, _ = levels.numbers(self.stay)
        _check_numbers(self.key, numbers, levels)
        return replace(self, whole=_all_whole([*numbers, self.width, self.start]))

    def group(self, value: str) -> str:
        """The band of a number: 15-19, or 1.5 to below 2."""
        if value in self.stay:
            return value
        low = self.lowest(_number(value))
        return interval(low, low + self.width, whole=self.whole)

    def lowest(self, number: float) -> float:
        """Where the band of a number begins."""
        return self.start + self.width * math.floor((number - self.start) / self.width + TINY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaks(_Rule):
    """Bands between break points, each of which begins a band; open at both ends."""

    name: ClassVar[str] = "breaks"
    at: tuple[float, ...]
    whole: bool = True
    stay: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        ascending = all(a < b for a, b in zip(self.at, self.at[1:], strict=False))
        if not self.at or not ascending or not all(map(math.isfinite, self.at)):
            got = ", ".join(f"{at:g}" for at in self.at) or "none"
            raise InputError(must_be(f"break points of {self.key!r}", "ascending numbers", got))

    @property
    def in_words(self) -> str:
        """What it does, as an instruction."""
        return f"put {self.key} into bands that begin at {', '.join(f'{at:g}' for at in self.at)}"

    def fitted(self, levels: Levels) -> "Breaks":
        """Bands of whole numbers are named by their first and last number."""
        numbers, _ = levels.numbers(self.stay)
        _check_numbers(self.key, numbers, levels)
        return replace(self, whole=_all_whole([*numbers, *self.at]))

    def group(self, value: str) -> str:
        """The band of a number: below 18, 18-64, 65+."""
        if value in self.stay:
            return value
        place = bisect_right(self.at, _number(value) + TINY)
        if place == 0:
            return f"below {self.at[0]:g}"
        if place == len(self.at):
            return f"{self.at[-1]:g}+"
        return interval(self.at[place - 1], self.at[place], whole=self.whole)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles(_Rule):
    """Bands with about equally many records each."""

    name: ClassVar[str] = "quantiles"
    number: int
    stay: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.number < 2:
            raise InputError(must_be(f"quantiles of {self.key!r}", "at least 2", self.number))

    @property
    def in_words(self) -> str:
        """What it does, as an instruction."""
        return f"put {self.key} into {self.number} bands of about equally many records"

    def fitted(self, levels: Levels) -> "Recoding":
        """The break points that these quantiles are."""
        numbers, records = levels.numbers(self.stay)
        _check_numbers(self.key, numbers, levels)
        reached = np.cumsum(records) - records  # records below each number
        wanted = records.sum() * np.arange(1, self.number) / self.number
        edges = np.append(reached, records.sum())
        above = np.clip(np.searchsorted(edges, wanted - TINY), 1, len(edges) - 1)
        nearer = wanted - edges[above - 1] < edges[above] - wanted - TINY
        places = np.unique(above - nearer)
        at = tuple(float(numbers[p]) for p in places if 0 < p < len(numbers))
        if not at:
            rule = "of a key whose numbers can be parted"
            raise InputError(must_be(f"quantiles of {self.key!r}", rule, "one with a single band"))
        return Breaks(key=self.key, at=at, stay=self.stay).fitted(levels)

    def group(self, value: str) -> str:
        """Only after it was fitted."""
        raise TypeError("quantiles are fitted first")


@dataclass(frozen=True, slots=True, kw_only=True)
class _End(_Rule):
    """Numbers at one end as one level: from `at` on, or as many as hold at most a `share` or a
    `count` of the records, or a `population` of so many persons by estimate."""

    at: float | None = None
    share: float | None = None
    count: float | None = None
    population: float | None = None
    stay: tuple[str, ...] = ()
    end: ClassVar[str]
    upward: ClassVar[bool]

    def __post_init__(self) -> None:
        given = [v for v in (self.at, self.share, self.count, self.population) if v is not None]
        if len(given) != 1 or not math.isfinite(given[0]):
            rule = "one of a value, share, count and population"
            got = f"{len(given)} of them"
            raise InputError(must_be(f"{self.end} coding of {self.key!r}", rule, got))
        if self.share is not None and not 0 < self.share < 1:
            name = f"share of the {self.end} of {self.key!r}"
            raise InputError(must_be(name, "between 0 and 1", self.share))

    @property
    def in_words(self) -> str:
        """What it does, as an instruction."""
        if self.at is not None:
            return f"put all {self.key} {self._side} {self.at:g} together"
        if self.share is not None:
            return f"put the {self.end} {100 * self.share:g} % of {self.key} together"
        if self.count is not None:
            return (
                f"put {self.key} together from the {self.end} until {self.count:g} records have it"
            )
        return (
            f"put {self.key} together from the {self.end} until {self.population:g} persons have it"
        )

    @property
    def _side(self) -> str:
        return "from" if self.upward else "up to"

    def fitted(self, levels: Levels) -> "Recoding":
        """The value from which on numbers are one level."""
        if self.at is not None:
            return self
        numbers, records = levels.numbers(self.stay)
        _check_numbers(self.key, numbers, levels)
        held = records
        if self.population is not None:
            if levels.population is None:
                rule = "given with a population or weights"
                raise InputError(must_be(f"population at the {self.end}", rule, "a file without"))
            told = replace(levels, records=levels.population)  # type: ignore[arg-type]
            _, held = told.numbers(self.stay)
        enough = (
            self.share * held.sum() if self.share is not None else self.count or self.population
        )
        order = slice(None, None, -1) if self.upward else slice(None)
        reached = np.cumsum(held[order])
        place = int(np.searchsorted(reached, (enough or 0.0) - TINY))
        at = numbers[order][min(place, len(numbers) - 1)]
        return replace(self, at=float(at), share=None, count=None, population=None)

    def group(self, value: str) -> str:
        """The end as one level: 85+, or 17 or less; other values as they are."""
        if value in self.stay:
            return value
        assert self.at is not None
        number = _number(value)
        if self.upward:
            return f"{self.at:g}+" if number >= self.at - TINY else value
        return f"{self.at:g} or less" if number <= self.at + TINY else value


@dataclass(frozen=True, slots=True, kw_only=True)
class Top(_End):
    """Top coding."""

    name: ClassVar[str] = "top"
    end: ClassVar[str] = "top"
    upward: ClassVar[bool] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Bottom(_End):
    """Bottom coding."""

    name: ClassVar[str] = "bottom"
    end: ClassVar[str] = "bottom"
    upward: ClassVar[bool] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge(_Rule):
    """Some levels as one, by their values or their labels."""

    name: ClassVar[str] = "merge"
    levels: tuple[str, ...]
    into: str = OTHER

    def __post_init__(self) -> None:
        if not self.levels:
            raise InputError(must_be(f"levels of {self.key!r} to merge", "at least one", "none"))

    @property
    def in_words(self) -> str:
        """What it does, as an instruction."""
        if len(self.levels) <= MOST_NAMED:
            named = [f"'{one}'" if "," in one else one for one in self.levels]
            return f"merge {', '.join(named)} of {self.key} into {self.into!r}"
        return f"merge {len(self.levels):,} levels of {self.key} into {self.into!r}"

    def fitted(self, levels: Levels) -> "Merge":
        """Labels are turned into the values that they stand for."""
        of_label = dict(zip(levels.key.labels, levels.key.values, strict=True))
        values = {value for _, value in levels.known}
        strange = [one for one in self.levels if one not in values and one not in of_label]
        if strange and len(strange) == len(self.levels):
            rule, got = f"levels of {self.key!r}", repr(strange[0])
            raise InputError(must_be("what is merged", rule, got))
        named = (one if one in values else of_label.get(one, one) for one in self.levels)
        return replace(self, levels=tuple(one for one in named if one is not None))

    def group(self, value: str) -> str:
        """The merged level, or the value itself."""
        return self.into if value in self.levels else value


@dataclass(frozen=True, slots=True, kw_only=True)
class Rare(_Rule):
    """Levels that fewer than so many records have as one, or so many persons by estimate."""

    name: ClassVar[str] = "rare"
    below: float | None = None
    population: float | None = None
    into: str = OTHER
    stay: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.below is None) == (self.population is None):
            name = f"rare levels of {self.key!r}"
            raise InputError(must_be(name, "told by a count or a population", "neither or both"))

    @property
    def in_words(self) -> str:
        """What it does, as an instruction."""
        if self.below is not None:
            return f"merge levels of {self.key} that fewer than {self.below:g} records have"
        return f"merge levels of {self.key} that fewer than {self.population:g} persons have"

    def fitted(self, levels: Levels) -> "Recoding":
        """The levels that are to be merged."""
        held: FloatArray | IntArray = levels.records
        if self.population is not None:
            if levels.population is None:
                rule = "given with a population or weights"
                raise InputError(must_be("population of rare levels", rule, "a file without"))
            held = levels.population
        limit = self.below if self.below is not None else self.population
        assert limit is not None
        rare = [v for p, v in levels.known if held[p] < limit and v not in self.stay]
        if not rare:
            return Same(key=self.key)
        return Merge(key=self.key, levels=tuple(rare), into=self.into)

    def group(self, value: str) -> str:
        """Only after it was fitted."""
        raise TypeError("rare levels are fitted first")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree(_Rule):
    """The groups of a tree at a height; `groups` names that of each leaf, once it is fitted."""

    name: ClassVar[str] = "tree"
    height: int
    groups: Mapping[str, str] = field(default_factory=dict)
    tree: Hierarchy | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.tree is not None and not 0 < self.height <= self.tree.height:
            name = f"height in the tree of {self.key!r}"
            raise InputError(must_be(name, f"from 1 to {self.tree.height}", self.height))
        if self.tree is None and not self.groups:
            remedy = "give its tree (tree)"
            got = "a key without"
            raise InputError(must_be(f"{self.key!r}", "a key with a tree", got, remedy=remedy))
        if self.tree is not None:
            object.__setattr__(self, "groups", MappingProxyType(self.tree.at_height(self.height)))

    @property
    def in_words(self) -> str:
        """What it does, as an instruction."""
        return f"give {self.key} by level {self.height} of its tree"

    def fitted(self, levels: Levels) -> "Tree":
        """Checked: the tree has a leaf for every level."""
        of_label = dict(zip(levels.key.values, levels.key.labels, strict=True))
        groups = {
            value: self.groups[value] if value in self.groups else self.groups[of_label[value]]
            for _, value in levels.known
            if value in self.groups or of_label[value] in self.groups
        }
        strange = [value for _, value in levels.known if value not in groups]
        if strange:
            rule = "a tree with a leaf for every level"
            remedy = "add them; a level that is itself a group needs a leaf below the group"
            got = f"none for {len(strange)} of them"
            raise InputError(must_be(f"tree of {self.key!r}", rule, got, remedy=remedy))
        return replace(self, tree=None, groups=dict(self.groups) | groups)

    def group(self, value: str) -> str:
        """The group of a leaf."""
        if value not in self.groups:
            raise ValueError(value)
        return self.groups[value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dates(_Rule):
    """Dates by month, by year, or by bands of so many years."""

    name: ClassVar[str] = "dates"
    to: str = "year"
    years: int = 1
    stay: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.to not in ("month", "year") or self.years < 1:
            got = self.to if self.years == 1 else f"{self.years} years"
            raise InputError(must_be(f"dates of {self.key!r}", "by month or year", repr(got)))

    @property
    def in_words(self) -> str:
        """What it does, as an instruction."""
        if self.to == "month" or self.years == 1:
            return f"give {self.key} by {self.to}"
        return f"put the year of {self.key} into bands of {self.years}"

    def group(self, value: str) -> str:
        """1985-03, 1985 or 1985-1989."""
        if value in self.stay:
            return value
        found = next(filter(None, (form.fullmatch(value) for form in DATE_FORMS)), None)
        if found is None or (self.to == "month" and "month" not in found.groupdict()):
            raise ValueError(value)
        year = int(found["year"])
        if self.to == "month":
            return f"{year}-{int(found['month']):02}"
        first = year - year % self.years
        return interval(first, first + self.years, whole=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Leading(_Rule):
    """The first characters of a code; with `digits` after zeros are put before it up to so many,
    with `before_space` of the part before the space (then 0 characters are all of it)."""

    name: ClassVar[str] = "leading"
    characters: int
    digits: int = 0
    before_space: bool = False
    stay: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.characters < (0 if self.before_space else 1):
            name = f"leading characters of {self.key!r}"
            raise InputError(must_be(name, "at least 1", self.characters))

    @property
    def in_words(self) -> str:
        """What it does, as an instruction."""
        if not self.characters:
            return f"keep only the part of {self.key} before the space"
        kept = "character" if self.characters == 1 else f"{self.characters} characters"
        return f"keep only the first {kept} of {self.key}"

    def group(self, value: str) -> str:
        """The beginning of the code."""
        if value in self.stay:
            return value
        stem = value.split(" ", maxsplit=1)[0] if self.before_space else value.zfill(self.digits)
        return stem[: self.characters] if self.characters else stem


@dataclass(frozen=True, slots=True, kw_only=True)
class Same(_Rule):
    """The key as it is."""

    name: ClassVar[str] = "same"

    @property
    def in_words(self) -> str:
        """That nothing is done."""
        return f"leave {self.key} as it is"

    def group(self, value: str) -> str:
        """The value itself."""
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop(_Rule):
    """The key is left out of the file."""

    name: ClassVar[str] = "drop"
    still: ClassVar[str] = "Nobody learns this key from the file, or is found by it."

    @property
    def in_words(self) -> str:
        """What it does, as an instruction."""
        return f"leave out {self.key}"

    def group(self, value: str) -> str:
        """All values are one."""
        return ""


RECODINGS: dict[str, type[_Rule]] = {
    kind.name: kind
    for kind in (Bands, Breaks, Quantiles, Top, Bottom, Merge, Rare, Tree, Dates, Leading, Drop)
}


def check_levels(how: Merge, keys: Sequence[KeyLevels]) -> None:
    """What somebody merges by hand are levels of the key; a typo is told. Not asked of a recipe,
    whose levels need not all be there next year."""
    for key in keys:
        if key.name == how.key:
            known = [one for one in (*key.values, *key.labels) if one is not None]
            for level in how.levels:
                if level not in known:
                    near = near_match(level, known)
                    remedy = f"did you mean {near!r}?" if near else None
                    rule, got = f"levels of {key.name!r}", repr(level)
                    raise InputError(must_be("what is merged", rule, got, remedy=remedy))


def recodings_in(steps: Iterable[object]) -> list[Recoding]:
    """The steps of a recipe that are recodings."""
    return [step for step in steps if isinstance(step, _Rule)]  # type: ignore[misc]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recoded:
    """A key after a recoding: level i became level to[i] of `levels`."""

    how: Recoding
    to: IntArray
    levels: KeyLevels


def recoded(key: KeyLevels, how: Recoding) -> Recoded:
    """The levels of a key after a rule; a group of one level keeps that level's label.

    A value that the rule does not understand stays by itself. Groups come in the order of their
    first levels, a missing level stays the last.
    """
    groups = [_group_of(how, value) for value in key.values if value is not None]
    names = {group: place for place, group in enumerate(dict.fromkeys(groups))}
    shown: dict[str, str] = {}
    for group, value, label in zip(groups, key.values, key.labels, strict=False):
        shown[group] = label if group == value else group
    lacks = key.values[-1:] == (None,)
    to = [names[group] for group in groups] + ([len(names)] if lacks else [])
    levels = KeyLevels(
        name=key.name,
        values=(*names, None) if lacks else tuple(names),
        labels=(*(shown[g] for g in names), *(key.labels[-1:] if lacks else ())),
        n_missing=key.n_missing,
        n_suppressed=key.n_suppressed,
        n_not_applicable=key.n_not_applicable,
    )
    return Recoded(how=how, to=np.array(to, dtype=np.int64), levels=levels)


def dropped(key: KeyLevels, how: Recoding) -> Recoded:
    """A key that is left out: one level, which says nothing."""
    one = KeyLevels(name=key.name, values=("",), labels=("",), n_missing=0)
    return Recoded(how=how, to=np.zeros(max(len(key.values), 1), dtype=np.int64), levels=one)


def applied(levels: Levels, how: Recoding) -> Recoded:
    """A recoding fitted to the levels of a key, and these after it; Drop leaves one level."""
    own = how.fitted(levels)
    return dropped(levels.key, own) if isinstance(own, Drop) else recoded(levels.key, own)


def not_understood(key: KeyLevels, how: Recoding) -> list[str]:
    """The values that stay as they are because the rule does not understand them."""
    return [value for value in key.values if value is not None and not _understands(how, value)]


def _understands(how: Recoding, value: str) -> bool:
    try:
        how.group(value)
    except ValueError:
        return False
    return True


def _group_of(how: Recoding, value: str) -> str:
    try:
        return how.group(value)
    except ValueError:
        return value


def interval(low: float, high: float, *, whole: bool) -> str:
    """The name of a band from `low` to below `high`; whole numbers are named with their last."""
    if not whole:
        return f"{low:g} to below {high:g}"
    first, last = round(low), round(high) - 1
    if first == last:
        return str(first)
    return f"{first}-{last}" if first >= 0 else f"{first} to {last}"


def number_of(value: str) -> float | None:
    """The number that a value is, None for what is none."""
    try:
        found = float(value)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _number(value: str) -> float:
    found = number_of(value)
    if found is None:
        raise ValueError(value)
    return found


def _all_whole(numbers: Sequence[float]) -> bool:
    return all(float(number).is_integer() for number in numbers)


def _check_numbers(key: str, numbers: FloatArray, levels: Levels) -> None:
    if not len(numbers) and levels.known:
        raise InputError(must_be(f"{key!r}", "a key with numbers, to be put into bands", "none"))
