"""What the labels of a variable mean in all tables together: sets of its *parts*.

A part is a set of values that no table tells apart: between the bands 15-19 and 16-19 lie the parts
15 and 16-19. Every label of every table is a union of parts, so that a figure for a combination of
labels is a sum over cells of the table of all parts.

Without the data nobody says which values a variable can have. Where a table lists at least two
labels beside a total, the labels of all tables are taken to be all there is. Where none does (only
"women"), or where the user says so, there is one more part: whoever is in none of them.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, pairwise

import numpy as np

from discreet.data.columns import near_match
from discreet.data.hierarchy import Hierarchy
from discreet.data.published.labels import Interval, Whole, meaning, meanings
from discreet.errors import InputError, must_be
from discreet.numerics.arrays import BoolArray, IntArray, read_only

ALIKE = str.maketrans(dict.fromkeys("–—−‐‑", "-") | {"’": "'"})
ZEROS_IN_FRONT = re.compile(r"(?<![\d.,])0+(?=\d)")
MOST_JOINED = 4  # parts that are named one by one in the name of a set of them
Ends = tuple[int | None, int | None]  # of a band: its first and its last whole number


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """A variable with its parts, and the parts that each label holds.

    `ends` are the first and last number of each part where the variable is a number. `part_of`
    gives the part of each level of the data, where there are data; −1 for one that no label holds.
    """

    name: str
    parts: tuple[str, ...]
    sets: Mapping[str, BoolArray]
    ends: tuple[Ends | None, ...]
    part_of: IntArray | None = None
    others: bool = False

    @property
    def size(self) -> int:
        """Parts."""
        return len(self.parts)

    def name_of(self, held: BoolArray) -> str | None:
        """What to call a set of parts; None where it holds all."""
        if held.all():
            return None
        for label, own in self.sets.items():
            if np.array_equal(own, held):
                return label
        places = np.flatnonzero(held).tolist()
        band = self._band(places)
        if band is not None:
            return band
        named = [self.parts[place] for place in places[:MOST_JOINED]]
        more = len(places) - len(named)
        return " + ".join(named) + (f" and {more} more" if more else "")

    def _band(self, places: Sequence[int]) -> str | None:
        """The band that neighbouring parts make, if they are numbers without a gap."""
        found = [ends for place in places if (ends := self.ends[place]) is not None]
        if len(found) < len(places):
            return None
        found.sort(key=lambda ends: (ends[0] is not None, ends[0] or 0))
        for (_, last), (first, _) in pairwise(found):
            if last is None or first is None or first != last + 1:
                return None
        return band_name((found[0][0], found[-1][1]))


@dataclass(frozen=True, slots=True)
class Label:
    """A label with the table in which it stands, by number, and the levels of the data that it
    holds where these are known."""

    text: str
    table: int
    held: BoolArray | None = None


@dataclass(slots=True)
class _Points:
    """The smallest pieces of a variable that are told apart, before alike ones are joined."""

    names: list[str]
    ends: list[Ends | None]
    sets: dict[str, BoolArray] = field(default_factory=dict)


def domain_of(
    name: str,
    labels: Sequence[Label],
    tables: Sequence[str],
    *,
    levels: Sequence[str] | None = None,
    tree: Hierarchy | None = None,
    others: bool = False,
) -> Domain:
    """The parts of a variable, from its labels in all tables (whose names are `tables`).

    `levels` are those of the data, `tree` says which levels are in which group, `others` that there
    are levels that no table lists. Raises InputError for a label that no level, band or group of
    the data matches, naming the nearest, and for bands of one table that meet in a number.
    """
    texts = list(dict.fromkeys(label.text for label in labels))
    told = zip(texts, meanings(texts), strict=True)
    totals = {text for text, one in told if Whole() in (one, meaning(text))}
    if levels is not None:
        totals -= set(levels)
    if tree is not None:
        totals -= {text for text in totals if _key(text) in _groups(tree, _key)}
    totals -= {label.text for label in labels if label.held is not None}
    own = [label for label in labels if label.text not in totals]
    known = levels if levels is not None else () if tree is None else tree.leaves
    reading = _Reading(name, own, tables, _bands(own, levels, tree), known)
    reading.check_bands()
    if levels is None and tree is None and not others:
        reading.check_words()
    if levels is not None:
        points = _of_levels(reading, levels, tree)
    elif tree is not None:
        points = _of_tree(reading, tree)
    else:
        points = _of_labels(reading)
    closed = tree is not None or levels is not None or _is_closed(own, points)
    if levels is None and points.names and (others or not closed):
        points, others = _with_others(points), True
    if not points.names:
        points = _Points(["all"], [None])
    for text in totals:
        points.sets[text] = np.ones(len(points.names), dtype=np.bool_)
    return _joined(name, points, is_data=levels is not None, others=others)


@dataclass(frozen=True)
class _Reading:
    """The labels of a variable but for totals, and the bands that some of them are."""

    name: str
    labels: Sequence[Label]
    tables: Sequence[str]
    bands: Mapping[str, Interval]
    known: Sequence[str] = ()  # levels of the data, or leaves of the tree

    @property
    def texts(self) -> list[str]:
        """Each label once."""
        return list(dict.fromkeys(label.text for label in self.labels))

    def check_bands(self) -> None:
        """Raises InputError for bands of one table that meet in a number which both hold.

        Where another band ends before that number, they may well be of two sets of bands.
        """
        for number, title in enumerate(self.tables):
            own = {label.text: self.bands.get(label.text) for label in self.labels
                   if label.table == number}  # fmt: skip
            wide = {text: one for text, one in own.items() if one and one.low != one.high}
            ends = {one.high: text for text, one in wide.items()}
            for text, one in wide.items():
                if one.low is not None and one.low in ends and one.low - 1 not in ends:
                    got = f"{ends[one.low]!r} and {text!r}, which both hold {one.low}"
                    remedy = "write bands by their first and last number, as 15-19"
                    what = f"bands of {self.name}"
                    raise InputError(must_be(what, "apart", got, where=title, remedy=remedy))

    def check_words(self) -> None:
        """Raises InputError for two tables that list several words each, and none in common, or
        words in one and bands in the other: they are other names for the same, unless somebody says
        that they are not."""
        listed: dict[int, dict[str, str]] = {}
        for label in self.labels:
            listed.setdefault(label.table, {})[self.key(label.text)] = label.text
        several = {table: own for table, own in listed.items() if len(own) > 1}
        for one, other in combinations(several, 2):
            if self._are_other_names(several[one], several[other]):
                first, second = (self._first_word(several[i]) for i in (one, other))
                got = f"{first!r} and others in {self.tables[one]}, {second!r} and others in "
                remedy = (
                    f"say which are the same, '{self.name}:{second}={first}' (labels), which "
                    "belong together (trees), or that no table lists all levels (others)"
                )
                what, rule = f"labels of {self.name}", "the same words in all tables"
                raise InputError(must_be(what, rule, got + self.tables[other], remedy=remedy))

    def _are_other_names(self, one: Mapping[str, str], other: Mapping[str, str]) -> bool:
        """Whether two tables, told by their labels, seem to call the same things differently."""
        words = [[key for key, text in own.items() if text not in self.bands]
                 for own in (one, other)]  # fmt: skip
        if set(words[0]) & set(words[1]):
            return False
        only_words = len(words[0]) == len(one) or len(words[1]) == len(other)
        return min(map(len, words)) > 1 or (only_words and max(map(len, words)) > 1)

    def _first_word(self, listed: Mapping[str, str]) -> str:
        """The first label of a table that is no band, or the first."""
        words = (text for text in listed.values() if text not in self.bands)
        return next(words, next(iter(listed.values())))

    def key(self, text: str) -> str:
        """What labels for the same have in common: but for case, blanks and kinds of dashes they
        are alike, unless one table, the data or the tree tells both apart."""
        return text if _key(text) in self._apart else _key(text)

    @cached_property
    def _apart(self) -> frozenset[str]:
        """Keys that several labels of one table, or several levels, would share."""
        listed = {(label.table, label.text) for label in self.labels}
        listed |= {(-1, level) for level in self.known}
        keys = Counter((table, _key(text)) for table, text in listed)
        return frozenset(key for (_, key), n in keys.items() if n > 1)

    def check_same(self, label: Label, held: BoolArray, before: BoolArray | None) -> None:
        """Raises InputError for a label that holds other levels in another table."""
        if before is not None and not np.array_equal(before, held):
            what = f"label {label.text!r} of {self.name}"
            rule = "of the same levels in all tables"
            where = self.tables[label.table]
            raise InputError(must_be(what, rule, "of others in an earlier one", where=where))

    def unmatched(self, label: Label, known: Sequence[str], of: str) -> InputError:
        """The complaint about a label that is nothing in the data or the tree."""
        near = near_match(label.text, known)
        meant = f"did you mean {near!r}? " if near else ""
        remedy = f"{meant}say what it is called there, '{self.name}:{label.text}=LEVEL' (labels)"
        what, where = f"label {label.text!r} of {self.name}", self.tables[label.table]
        rule = f"a level, band or group of {of}"
        return InputError(must_be(what, rule, "none of them", where=where, remedy=remedy))


def _bands(
    labels: Sequence[Label], levels: Sequence[str] | None, tree: Hierarchy | None
) -> dict[str, Interval]:
    """The labels that are numbers or bands, where the variable is a number: some label is a band of
    several numbers, or all are numbers. Codes among words are words."""
    if tree is not None:
        return {}
    texts = dict.fromkeys([*(label.text for label in labels), *(levels or ())])
    found = {text: one for text in texts if isinstance(one := meaning(text), Interval)}
    found |= _with_zeros_in_front([text for text in texts if text not in found], found)
    several = any(one.low != one.high for one in found.values())
    return _from_zero(found) if several or len(found) == len(texts) else {}


def _with_zeros_in_front(
    words: Sequence[str], found: Mapping[str, Interval]
) -> dict[str, Interval]:
    """Bands such as 05-09, where another label says that they are bands: 5-9."""
    plain = {text: meaning(ZEROS_IN_FRONT.sub("", text)) for text in words}
    bands = {
        text: one
        for text, one in plain.items()
        if isinstance(one, Interval) and ZEROS_IN_FRONT.search(text)
    }
    return bands if set(bands.values()) & set(found.values()) else {}


def _from_zero(bands: Mapping[str, Interval]) -> dict[str, Interval]:
    """The bands, those without a lower end from 0 where another band begins there and none tells of
    numbers below: under 5 are 0-4."""
    ends = [end for one in bands.values() for end in (one.low, one.high) if end is not None]
    if min(ends, default=1) != 0 or 0 not in {one.low for one in bands.values()}:
        return dict(bands)
    return {
        text: Interval(0, one.high) if one.low is None and one.high is not None else one
        for text, one in bands.items()
    }


def _of_labels(reading: _Reading) -> _Points:
    """Pieces between the ends of all bands; words (also beside bands: not stated) are pieces too.

    Words are the same but for their case, spaces and kinds of dashes, unless one table tells such
    words apart.
    """
    bands = {text: reading.bands[text] for text in reading.texts if text in reading.bands}
    pieces, held = _pieces(list(bands.values()))
    known: dict[str, int] = {}
    names = [band_name(piece) for piece in pieces]
    for text in reading.texts:
        if text not in bands and reading.key(text) not in known:
            known[reading.key(text)] = len(names)
            names.append(text)
    points = _Points(names, [*pieces, *[None] * len(known)])
    for text, own in zip(bands, held, strict=True):
        points.sets[text] = np.concatenate([own, np.zeros(len(known), dtype=np.bool_)])
    for text in reading.texts:
        if text not in bands:
            points.sets[text] = np.arange(len(names)) == known[reading.key(text)]
    return points


def _pieces(bands: Sequence[Interval]) -> tuple[list[Ends], list[BoolArray]]:
    """The pieces between the ends of all bands that lie in some band, and which are in each."""
    if not bands:
        return [], []
    ends = {one.low for one in bands} | {None if b.high is None else b.high + 1 for b in bands}
    cuts = sorted(cut for cut in ends if cut is not None)
    pieces: list[Ends] = []
    if any(one.low is None for one in bands):
        pieces.append((None, cuts[0] - 1 if cuts else None))
    pieces += [(a, b - 1) for a, b in pairwise(cuts)]
    if cuts and any(one.high is None for one in bands):
        pieces.append((cuts[-1], None))
    held = [np.array([_within(piece, one) for piece in pieces]) for one in bands]
    used = np.any(held, axis=0)
    return [p for p, some in zip(pieces, used, strict=True) if some], [own[used] for own in held]


def _within(piece: Ends, band: Interval) -> bool:
    """Whether a piece lies in a band; pieces never cross the end of one."""
    above = band.low is None or (piece[0] is not None and piece[0] >= band.low)
    below = band.high is None or (piece[1] is not None and piece[1] <= band.high)
    return above and below


def band_name(ends: Ends) -> str:
    """A band as it is written: 15, 15-19, 85+, under 5."""
    low, high = ends
    if low is None:
        return "all numbers" if high is None else f"under {high + 1}"
    if high is None:
        return f"{low}+"
    if low == high:
        return str(low)
    return f"{low}-{high}" if low >= 0 else f"{low} to {high}"


def _key(text: str) -> str:
    """A label but for its case, blanks, kinds of dashes and apostrophes, and how letters with
    accents are written."""
    plain = unicodedata.normalize("NFC", text).translate(ALIKE)
    return re.sub(" ?- ?", "-", " ".join(plain.casefold().split()))


def _of_tree(reading: _Reading, tree: Hierarchy) -> _Points:
    """The leaves of the tree; a label is a leaf or a group."""
    groups = _groups(tree, reading.key)
    points = _Points(list(tree.leaves), [None] * len(tree.leaves))
    for label in reading.labels:
        if reading.key(label.text) not in groups:
            raise reading.unmatched(label, list(groups), "the tree")
        points.sets[label.text] = groups[reading.key(label.text)]
    return points


def _groups(tree: Hierarchy, key: Callable[[str], str]) -> dict[str, BoolArray]:
    """The leaves of every node of a tree, by its name."""
    found: dict[str, BoolArray] = {}
    for height in range(tree.height, -1, -1):
        for group, node in enumerate(tree.names[height]):
            found[key(node)] = tree.groups[height] == group
    return found


def _of_levels(reading: _Reading, levels: Sequence[str], tree: Hierarchy | None) -> _Points:
    """The levels of the data, and which of them each label holds."""
    key = reading.key
    own = {key(level): np.arange(len(levels)) == i for i, level in enumerate(levels)}
    if tree is not None:
        place = {key(leaf): i for i, leaf in enumerate(tree.leaves)}
        at = np.array([place.get(key(level), -1) for level in levels])
        for node, leaves in _groups(tree, key).items():
            own.setdefault(node, np.where(at >= 0, leaves[at], False))
    known = [reading.bands.get(level) for level in levels]
    ends: list[Ends | None] = [None if one is None else (one.low, one.high) for one in known]
    points = _Points(list(levels), ends)
    for label in reading.labels:
        text = label.text
        if label.held is not None:
            reading.check_same(label, label.held, points.sets.get(text))
            points.sets[text] = label.held
        elif text in points.sets:
            continue
        elif key(text) in own:
            points.sets[text] = own[key(text)]
        elif text in reading.bands:
            points.sets[text] = _levels_within(reading, label, levels)
        else:
            raise reading.unmatched(label, list(levels), "the data")
    return points


def _levels_within(reading: _Reading, label: Label, levels: Sequence[str]) -> BoolArray:
    """The levels that lie in a band; one that lies half in it cannot be told apart."""
    band = reading.bands[label.text]
    held = np.zeros(len(levels), dtype=np.bool_)
    for i, level in enumerate(levels):
        own = reading.bands.get(level)
        if own is None:
            continue
        held[i] = _within((own.low, own.high), band)
        before = band.low is not None and own.high is not None and own.high < band.low
        after = band.high is not None and own.low is not None and own.low > band.high
        if not held[i] and not before and not after:
            what, where = f"label {label.text!r} of {reading.name}", reading.tables[label.table]
            got = f"one that holds a part of {level!r}"
            raise InputError(must_be(what, "a union of levels of the data", got, where=where))
    return held


def _is_closed(labels: Sequence[Label], points: _Points) -> bool:
    """Whether some table lists two labels that have nobody in common."""
    by_table: dict[int, list[BoolArray]] = {}
    for label in labels:
        if label.text in points.sets:
            by_table.setdefault(label.table, []).append(points.sets[label.text])
    pairs = (pair for own in by_table.values() for pair in combinations(own, 2))
    return any(not np.any(one & other) for one, other in pairs)


def _with_others(points: _Points) -> _Points:
    name = "others" if "others" not in map(_key, points.names) else "all others"
    found = _Points(names=[*points.names, name], ends=[*points.ends, None])
    for text, own in points.sets.items():
        found.sets[text] = np.append(own, False)
    return found


def _joined(name: str, points: _Points, *, is_data: bool, others: bool) -> Domain:
    """Points that no label tells apart become one part."""
    labels = list(points.sets)
    told = [text for text in labels if not points.sets[text].all()]
    if told:
        marks = np.array([points.sets[text] for text in told])
        _, first, part_of = np.unique(marks, axis=1, return_index=True, return_inverse=True)
    else:
        first, part_of = np.zeros(1, dtype=np.int64), np.zeros(len(points.names), dtype=np.int64)
    order = np.argsort(first, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    part_of = place[part_of.ravel()]
    members: list[list[int]] = [[] for _ in order]
    for point, part in enumerate(part_of.tolist()):
        members[part].append(point)
    sets = {text: read_only(points.sets[text][[m[0] for m in members]]) for text in labels}
    ends = [_ends_of([points.ends[i] for i in own]) for own in members]
    names = [
        _part_name([points.names[i] for i in own], end)
        for own, end in zip(members, ends, strict=True)
    ]
    return Domain(
        name=name,
        parts=tuple(names),
        sets=sets,
        ends=tuple(ends),
        part_of=read_only(part_of) if is_data else None,
        others=others,
    )


def _ends_of(ends: Iterable[Ends | None]) -> Ends | None:
    """The band that some bands make, if they are without a gap."""
    found = list(ends)
    if any(one is None for one in found):
        return None
    known = sorted(
        (one for one in found if one is not None), key=lambda e: (e[0] is not None, e[0] or 0)
    )
    for (_, last), (first, _) in pairwise(known):
        if last is None or first != last + 1:
            return None
    return known[0][0], known[-1][1]


def _part_name(names: Sequence[str], ends: Ends | None) -> str:
    if ends is not None:
        return band_name(ends)
    if len(names) <= MOST_JOINED:
        return " + ".join(names)
    return f"{' + '.join(names[:MOST_JOINED])} and {len(names) - MOST_JOINED} more"
