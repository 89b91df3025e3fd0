"""Swapping: records, or whole households, exchange their area with others that are like them.

Dalenius and Reiss (1982); for households Fienberg and McIntyre (2004) and the targeted swapping of
censuses. Partners agree on the keys `within` and `keeping`; households do in how many members have
each combination of them. So these tables keep every count exactly: all tables without the area, and
those of the area by any of the keys `within` and `keeping`.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.errors import InputError, must_be
from discreet.masks.records.combinations import alone, combinations_of, missing_level
from discreet.masks.records.contract import CodedRecords
from discreet.masks.records.households import compositions
from discreet.masks.records.parameters import (
    check_names,
    check_share,
    check_yes_or_no,
    need_households,
    percent,
    place_of,
    said,
)
from discreet.masks.records.swap_partners import Pairs, has_partner, paired
from discreet.numerics.arrays import BoolArray, IntArray, read_only
from discreet.numerics.rounding import whole_below


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """Exchange the values of `key`, an area, between records, or `households`, that agree on all
    keys `within` (a larger area, say) and `keeping` and lie in different areas.

    At most the `share` of the units is changed, both of a pair counted. Risky ones come first:
    those alone in their cell, or those given when it is applied; a household is risky if a member
    is. If there are more than the share allows, chance decides; if there are fewer, chance adds
    others. A unit without an area keeps none, and is no partner.

    Checked: names are keys, each with one task; members of a household are in the same area.
    Trusted: the household numbers tell households apart.
    """

    name: ClassVar[str] = "swap"
    key: str
    share: float
    within: tuple[str, ...] = ()
    keeping: tuple[str, ...] = ()
    households: bool = False

    def __post_init__(self) -> None:
        check_share("share", self.share, zero=True)
        check_names("within", self.within)
        check_names("keeping", self.keeping)
        check_yes_or_no("households", self.households)
        for name, other in (("within", {self.key}), ("keeping", {self.key, *self.within})):
            twice = [key for key in getattr(self, name) if key in other]
            if twice:
                raise InputError(must_be(name, "keys without another task", twice[0]))

    @property
    def in_words(self) -> str:
        """What it does, as an instruction."""
        units = "households" if self.households else "records"
        within = f" within {said(self.within)}" if self.within else ""
        like = f" that are alike in {said(self.keeping)}" if self.keeping else ""
        return (
            f"swap {self.key}{within} between {units}{like}, the risky ones first, for at most "
            f"{percent(self.share)} of them"
        )

    @property
    def still_possible(self) -> str:
        """What an intruder can still do, in a sentence."""
        return (
            f"All values but {self.key} are true, and most records are still where they were; a "
            f"person who is unique without {self.key} can be recognised as before."
        )

    def applied(
        self,
        records: CodedRecords,
        rng: np.random.Generator,
        targets: BoolArray | None = None,
    ) -> CodedRecords:
        """The changed records; the records given stay as they are."""
        return self.swapped(records, rng, targets).records

    def swapped(
        self,
        records: CodedRecords,
        rng: np.random.Generator,
        targets: BoolArray | None = None,
    ) -> "Swapped":
        """The changed records with what became of the risky ones; `targets` says which records are
        risky, by default those alone in their cell."""
        risky = alone(records) if targets is None else _checked_targets(targets, len(records))
        units = self._units(records, risky)
        pairs = paired(units.unit_class, units.area, units.risky, rng)
        chosen = self._chosen(pairs, units, rng)
        area = units.area.copy()
        area[chosen.one], area[chosen.other] = units.area[chosen.other], units.area[chosen.one]
        moved = area != units.area
        levels = records.levels[:, records.place(self.key)].copy()
        there = units.unit >= 0
        levels[there] = area[units.unit[there]]
        return _swapped(records.with_levels(self.key, levels), units, pairs, moved)

    def _chosen(self, pairs: Pairs, units: "_Units", rng: np.random.Generator) -> Pairs:
        """The pairs that swap: those with a risky unit first, in random order."""
        n = whole_below(self.share * len(units.area)) // 2
        risky = units.risky[pairs.one] | units.risky[pairs.other]
        order = np.lexsort((rng.permutation(len(risky)), ~risky))[:n]
        return Pairs(one=pairs.one[order], other=pairs.other[order])

    def _units(self, records: CodedRecords, risky: BoolArray) -> "_Units":
        place = place_of(records, "key", self.key)
        like = [place_of(records, "within", key) for key in self.within]
        like += [place_of(records, "keeping", key) for key in self.keeping]
        _, kind = combinations_of(records, like)
        level = records.levels[:, place]
        known = level != missing_level(records.keys[place])
        if self.households:
            return _households(self.key, need_households(records), kind, level, known, risky)
        unit = np.where(known, np.cumsum(known) - 1, -1)
        return _Units(unit=unit, unit_class=kind[known], area=level[known], risky=risky[known])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Units:
    """What swaps: `unit` says which one each record belongs to, −1 for none; the others say the
    class, the area and the risk of each unit."""

    unit: IntArray
    unit_class: IntArray
    area: IntArray
    risky: BoolArray


def _checked_targets(targets: BoolArray, n: int) -> BoolArray:
    if targets.shape != (n,) or targets.dtype != np.bool_:
        rule = "True or False for each record"
        raise InputError(must_be("targets", rule, f"{targets.dtype} of shape {targets.shape}"))
    return targets


def _households(
    key: str,
    household: IntArray,
    kind: IntArray,
    level: IntArray,
    known: BoolArray,
    risky: BoolArray,
) -> _Units:
    """The households with an area, classed by who lives in them."""
    found, number = np.unique(household, return_inverse=True)
    area = np.zeros(len(found), dtype=np.int64)
    area[number] = level
    if np.any(area[number] != level):
        remedy = "swap records, or correct the file"
        rule = "the same for all members of a household"
        raise InputError(must_be(key, rule, "several values in one", remedy=remedy))
    there = np.zeros(len(found), dtype=np.bool_)
    there[number] = known
    risk = np.bincount(number, risky, len(found)) > 0
    unit = np.where(there, np.cumsum(there) - 1, -1)[number]
    like = compositions(number, kind, len(found))
    return _Units(unit=unit, unit_class=like[there], area=area[there], risky=risk[there])


@dataclass(frozen=True, slots=True, kw_only=True)
class Swapped:
    """The records after a swap.

    `moved` says which records changed their area, `movable` which could have: somebody of their
    class was elsewhere. Of `n_units` records or households with an area `n_moved` were changed. Of
    `n_targets` risky ones `n_without_partner` were left as no partner could be found, and
    `n_beyond_share` because the share was used up.
    """

    records: CodedRecords
    moved: BoolArray
    movable: BoolArray
    n_units: int
    n_moved: int
    n_targets: int
    n_without_partner: int
    n_beyond_share: int

    def __post_init__(self) -> None:
        read_only(self.moved)
        read_only(self.movable)


def _swapped(records: CodedRecords, units: _Units, pairs: Pairs, moved: BoolArray) -> Swapped:
    partnered = np.zeros(len(units.area), dtype=np.bool_)
    partnered[pairs.one] = partnered[pairs.other] = True
    movable = has_partner(units.unit_class, units.area)
    return Swapped(
        records=records,
        moved=np.append(moved, False)[units.unit],
        movable=np.append(movable, False)[units.unit],
        n_units=len(units.area),
        n_moved=int(moved.sum()),
        n_targets=int(units.risky.sum()),
        n_without_partner=int((units.risky & ~partnered).sum()),
        n_beyond_share=int((units.risky & partnered & ~moved).sum()),
    )
