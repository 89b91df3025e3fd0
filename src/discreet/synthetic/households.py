"""Made-up households: how people live together, who belongs to each household.

Every rate here is invented; together they give a population that looks like a census. Children's
ages and the number of children at home come from one table, so they agree with each other.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.numerics.arrays import FloatArray, IntArray, read_only
from discreet.synthetic.draws import Conditional
from discreet.synthetic.levels import ADULT, TOP_AGE, Relationship

AGES = np.arange(TOP_AGE + 1)
YOUNGEST_PARENT, OLDEST_PARENT = 18, 45  # at a birth
FERTILITY = 2.15  # children per couple over a life
STEPCHILD_SHARE = 0.07


class Arrangement(IntEnum):
    """How the core of a household lives together; further members may join it."""

    COUPLE = 0
    LONE_MOTHER = 1
    LONE_FATHER = 2
    PARTNERS = 3
    ALONE = 4
    KIN = 5
    FRIENDS = 6
    INSTITUTION = 7
    OTHER_QUARTERS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """What is typical of an arrangement.

    `ages` of the householder are bumps (share, centre, spread) above `youngest`; `women` is the
    share of women among young and among old householders; `fertility` scales the children at home;
    `guests` is the mean number of further members at the best householder age for them.
    """

    share: float
    ages: tuple[tuple[float, float, float], ...]
    youngest: int
    women: tuple[float, float]
    fertility: float = 0.0
    guests: Mapping[Relationship, float] = field(default_factory=dict)


R = Relationship
PATTERNS: Mapping[Arrangement, Pattern] = {
    Arrangement.COUPLE: Pattern(
        share=0.53,
        ages=((0.55, 38, 9), (0.30, 58, 10), (0.15, 72, 7)),
        youngest=18,
        women=(0.05, 0.03),
        fertility=1.0,
        guests={
            R.GRANDCHILD: 0.035,
            R.PARENT: 0.025,
            R.SIBLING: 0.012,
            R.OTHER_RELATIVE: 0.012,
            R.FOSTER_CHILD: 0.006,
            R.ROOMER_OR_BOARDER: 0.01,
        },
    ),
    Arrangement.LONE_MOTHER: Pattern(
        share=0.08,
        ages=((0.75, 33, 8), (0.25, 55, 14)),
        youngest=18,
        women=(1.0, 1.0),
        fertility=0.8,
        guests={
            R.GRANDCHILD: 0.25,
            R.PARENT: 0.05,
            R.SIBLING: 0.05,
            R.OTHER_RELATIVE: 0.04,
            R.FOSTER_CHILD: 0.006,
            R.HOUSEMATE: 0.05,
            R.ROOMER_OR_BOARDER: 0.03,
        },
    ),
    Arrangement.LONE_FATHER: Pattern(
        share=0.02,
        ages=((0.75, 38, 9), (0.25, 58, 12)),
        youngest=19,
        women=(0.0, 0.0),
        fertility=0.6,
        guests={
            R.GRANDCHILD: 0.12,
            R.PARENT: 0.06,
            R.SIBLING: 0.05,
            R.OTHER_RELATIVE: 0.05,
            R.HOUSEMATE: 0.06,
            R.ROOMER_OR_BOARDER: 0.05,
        },
    ),
    Arrangement.PARTNERS: Pattern(
        share=0.04,
        ages=((0.85, 29, 7), (0.15, 48, 13)),
        youngest=18,
        women=(0.35, 0.3),
        fertility=0.35,
        guests={
            R.PARENT: 0.01,
            R.SIBLING: 0.02,
            R.OTHER_RELATIVE: 0.02,
            R.HOUSEMATE: 0.06,
            R.ROOMER_OR_BOARDER: 0.02,
        },
    ),
    Arrangement.ALONE: Pattern(
        share=0.22,
        ages=((0.35, 32, 10), (0.20, 52, 11), (0.45, 75, 9)),
        youngest=17,
        women=(0.42, 0.8),
    ),
    Arrangement.KIN: Pattern(
        share=0.025,
        ages=((0.5, 28, 8), (0.5, 55, 16)),
        youngest=17,
        women=(0.5, 0.7),
        guests={R.GRANDCHILD: 0.5, R.PARENT: 0.5, R.SIBLING: 0.7, R.OTHER_RELATIVE: 0.35},
    ),
    Arrangement.FRIENDS: Pattern(
        share=0.025,
        ages=((0.85, 26, 6), (0.15, 48, 15)),
        youngest=17,
        women=(0.42, 0.55),
        guests={R.HOUSEMATE: 0.9, R.ROOMER_OR_BOARDER: 0.25, R.SIBLING: 0.05},
    ),
    Arrangement.INSTITUTION: Pattern(
        share=0.025,
        ages=((0.45, 29, 8), (0.10, 50, 12), (0.45, 83, 7)),
        youngest=12,
        women=(0.1, 0.72),
    ),
    Arrangement.OTHER_QUARTERS: Pattern(
        share=0.035,
        ages=((0.80, 20, 2.2), (0.20, 36, 12)),
        youngest=16,
        women=(0.42, 0.5),
    ),
}
MOST: Mapping[Relationship, int] = {
    R.CHILD: 9,
    R.GRANDCHILD: 5,
    R.PARENT: 2,
    R.SIBLING: 4,
    R.OTHER_RELATIVE: 4,
    R.FOSTER_CHILD: 3,
    R.HOUSEMATE: 5,
    R.ROOMER_OR_BOARDER: 4,
}


def bump(at: NDArray[Any], centre: NDArray[Any] | float, spread: float) -> FloatArray:
    """A bell of height 1 around `centre`."""
    height: FloatArray = np.exp(-0.5 * ((at - centre) / spread) ** 2)
    return height


def rise(at: NDArray[Any], centre: float, spread: float) -> FloatArray:
    """A smooth step from 0 to 1 around `centre`."""
    height: FloatArray = 1.0 / (1.0 + np.exp(-(at - centre) / spread))
    return height


def children_at_home() -> FloatArray:
    """Mean number of children of each age (columns) at home for a couple of each age (rows).

    A parent is 18 to 45 years older than a child; children leave home from 18 on.
    """
    gap = AGES[:, None] - AGES[None, :]
    possible = (gap >= YOUNGEST_PARENT) & (gap <= OLDEST_PARENT)
    born = bump(gap, 27.5, 5.5) * possible
    stays = np.where(AGES < ADULT, 1.0, 0.02 + 0.68 * np.exp(-(AGES - ADULT) / 4.0))
    rates: FloatArray = FERTILITY * born / bump(AGES, 27.5, 5.5).sum() * stays
    return rates


CHILDREN_AT_HOME = children_at_home()


@dataclass(frozen=True, slots=True)
class Households:
    """Households in a row: the arrangement, the householder's age, the number of each member.

    `members[h, r]` persons of household h have relationship r. The person who stands for a unit of
    group quarters counts as its householder here, though not by relationship.
    """

    arrangement: NDArray[np.int8]
    head_age: NDArray[np.int8]
    members: NDArray[np.int8]

    def __post_init__(self) -> None:
        for column in (self.arrangement, self.head_age, self.members):
            read_only(column)

    def __len__(self) -> int:
        return len(self.arrangement)

    @property
    def sizes(self) -> IntArray:
        """Persons in each household."""
        sizes: IntArray = self.members.sum(axis=1, dtype=np.int64)
        return sizes

    def first(self, n: int) -> "Households":
        """The first n of them."""
        return Households(self.arrangement[:n], self.head_age[:n], self.members[:n])

    def then(self, others: "Households") -> "Households":
        """These households followed by others."""
        return Households(
            np.concatenate([self.arrangement, others.arrangement]),
            np.concatenate([self.head_age, others.head_age]),
            np.concatenate([self.members, others.members]),
        )


def draw_households(size: int, *, rng: np.random.Generator) -> Households:
    """Households with exactly `size` persons in all.

    Households are drawn until the next would not fit; single persons fill what is left.
    """
    n_drawn = size // 2 + 20  # mean size is above 2, so nearly always enough; singles fill the rest
    shares = np.array([[PATTERNS[arrangement].share for arrangement in Arrangement]])
    kinds = Conditional(shares).draw(np.zeros(n_drawn, dtype=np.int8), rng=rng)
    drawn = compose(kinds, rng=rng)
    ends = drawn.sizes.cumsum()
    fitting = int(np.searchsorted(ends, size, side="right"))
    left = size - (int(ends[fitting - 1]) if fitting else 0)
    singles = compose(np.full(left, Arrangement.ALONE, dtype=np.int64), rng=rng)
    return drawn.first(fitting).then(singles)


def compose(arrangement: IntArray, *, rng: np.random.Generator) -> Households:
    """Households with these arrangements: householders' ages, then who lives with them."""
    head_age = Conditional(head_age_weights()).draw(arrangement, rng=rng)
    members = np.zeros((len(arrangement), len(Relationship)), dtype=np.int8)
    members[:, R.RESIDENT_OF_AN_INSTITUTION] = arrangement == Arrangement.INSTITUTION
    members[:, R.RESIDENT_OF_OTHER_GROUP_QUARTERS] = arrangement == Arrangement.OTHER_QUARTERS
    members[:, R.HOUSEHOLDER] = arrangement < Arrangement.INSTITUTION
    members[:, R.SPOUSE] = arrangement == Arrangement.COUPLE
    members[:, R.UNMARRIED_PARTNER] = arrangement == Arrangement.PARTNERS
    add_children(members, arrangement, head_age, rng=rng)
    add_guests(members, arrangement, head_age, rng=rng)
    return Households(arrangement.astype(np.int8), head_age.astype(np.int8), members)


def head_age_weights() -> FloatArray:
    """Weight of each age of the householder (columns) in each arrangement (rows)."""
    rows = []
    for pattern in PATTERNS.values():
        curve = sum(share / spread * bump(AGES, at, spread) for share, at, spread in pattern.ages)
        rows.append(curve * (pattern.youngest <= AGES))
    return np.stack(rows)


def add_children(
    members: NDArray[np.int8],
    arrangement: IntArray,
    head_age: IntArray,
    *,
    rng: np.random.Generator,
) -> None:
    """Put children and stepchildren into `members`; a lone parent has at least one child."""
    fertility = np.array([PATTERNS[kind].fertility for kind in Arrangement])
    mean = fertility[arrangement] * CHILDREN_AT_HOME.sum(axis=1)[head_age]
    children = np.minimum(rng.poisson(mean), MOST[R.CHILD])
    lone = (arrangement == Arrangement.LONE_MOTHER) | (arrangement == Arrangement.LONE_FATHER)
    step = rng.binomial(children, np.where(lone, 0.0, STEPCHILD_SHARE))
    members[:, R.CHILD] = np.where(lone, np.maximum(children, 1), children - step)
    members[:, R.STEPCHILD] = step


def guest_ages() -> dict[Relationship, FloatArray]:
    """How likely each further member is by age of the householder, 1 at the best age."""
    return {
        R.GRANDCHILD: bump(AGES, 57, 10) * (AGES >= 2 * YOUNGEST_PARENT),
        R.PARENT: bump(AGES, 46, 13) * (AGES <= TOP_AGE - YOUNGEST_PARENT),
        R.SIBLING: bump(AGES, 27, 12) + 0.15 * bump(AGES, 70, 10),
        R.OTHER_RELATIVE: np.ones(len(AGES)),
        R.FOSTER_CHILD: bump(AGES, 42, 9),
        R.HOUSEMATE: 0.15 + 0.85 * bump(AGES, 26, 9),
        R.ROOMER_OR_BOARDER: np.ones(len(AGES)),
    }


def add_guests(
    members: NDArray[np.int8],
    arrangement: IntArray,
    head_age: IntArray,
    *,
    rng: np.random.Generator,
) -> None:
    """Put all further members into `members`; kin and friends share with at least one person."""
    for guest, by_age in guest_ages().items():
        rate = np.array([PATTERNS[kind].guests.get(guest, 0.0) for kind in Arrangement])
        mean = rate[arrangement] * by_age[head_age]
        members[:, guest] = np.minimum(rng.poisson(mean), MOST[guest])
    lonely = members.sum(axis=1) == 1
    members[lonely & (arrangement == Arrangement.KIN), R.SIBLING] = 1
    members[lonely & (arrangement == Arrangement.FRIENDS), R.HOUSEMATE] = 1
