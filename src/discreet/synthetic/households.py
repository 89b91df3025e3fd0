"""Made-up households: how people live together, how many there are of each, and how old.

Every rate here is invented; together they give a population that looks like a census: frequencies
are skewed, members of a household resemble each other, and many combinations cannot occur.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.numerics.arrays import FloatArray, IntArray
from discreet.synthetic import levels as of
from discreet.synthetic.levels import KEY_LABELS, TOP_AGE

AGES = np.arange(TOP_AGE + 1)
YOUNGEST_PARENT, OLDEST_PARENT = 18, 45  # at a birth
STEPCHILD_SHARE = 0.07
MOST = 5  # further members of one kind
Curve = tuple[tuple[float, float, float], ...]  # bells, each with a share, a centre and a spread


@dataclass(frozen=True, slots=True)
class Arrangement:
    """How a household lives together.

    Its share, the ages of householders, the share of women among young and among old ones, the role
    of the second person, children against those of a couple, and the mean number of further members
    at the householder's age that is likeliest to have them.
    """

    share: float
    ages: Curve
    women: tuple[float, float]
    second: int | None = None
    children: float = 0.0
    others: dict[int, float] = field(default_factory=dict)
    head: int = of.HEAD


KIN = {of.GRANDCHILD: 0.5, of.PARENT: 0.5, of.SIBLING: 0.7, of.OTHER_RELATIVE: 0.35}
GUESTS = {of.GRANDCHILD: 0.04, of.PARENT: 0.025, of.SIBLING: 0.02}
GUESTS |= {of.OTHER_RELATIVE: 0.015, of.BOARDER: 0.015, of.FOSTER_CHILD: 0.006}
ARRANGEMENTS = (
    Arrangement(
        *(0.53, ((0.55, 38, 9), (0.30, 58, 10), (0.15, 72, 7)), (0.05, 0.03), of.SPOUSE, 1.0),
        others=GUESTS,
    ),
    Arrangement(  # lone mothers
        *(0.08, ((0.75, 33, 8), (0.25, 55, 14)), (1.0, 1.0), of.CHILD, 0.8),
        others=GUESTS | {of.GRANDCHILD: 0.25, of.SIBLING: 0.05, of.HOUSEMATE: 0.05},
    ),
    Arrangement(  # lone fathers
        *(0.02, ((0.75, 38, 9), (0.25, 58, 12)), (0.0, 0.0), of.CHILD, 0.6),
        others=GUESTS | {of.GRANDCHILD: 0.12, of.SIBLING: 0.05, of.HOUSEMATE: 0.06},
    ),
    Arrangement(
        *(0.04, ((0.85, 29, 7), (0.15, 48, 13)), (0.35, 0.3), of.PARTNER, 0.35),
        others={of.SIBLING: 0.02, of.OTHER_RELATIVE: 0.02, of.HOUSEMATE: 0.06, of.BOARDER: 0.02},
    ),
    Arrangement(0.22, ((0.35, 32, 10), (0.20, 52, 11), (0.45, 75, 9)), (0.42, 0.8)),
    Arrangement(0.025, ((0.5, 28, 8), (0.5, 55, 16)), (0.5, 0.7), of.SIBLING, others=KIN),
    Arrangement(
        *(0.025, ((0.85, 26, 6), (0.15, 48, 15)), (0.42, 0.55), of.HOUSEMATE),
        others={of.HOUSEMATE: 0.5, of.BOARDER: 0.25, of.SIBLING: 0.05},
    ),
    Arrangement(
        *(0.025, ((0.45, 29, 8), (0.10, 50, 12), (0.45, 83, 7)), (0.1, 0.72)), head=of.INSTITUTION
    ),
    Arrangement(0.035, ((0.80, 20, 2.2), (0.20, 36, 12)), (0.42, 0.5), head=of.QUARTERS),
)
# The householder's age at which further members are likeliest, and how far around it.
BEST_AGE = {
    of.GRANDCHILD: (57, 8),
    of.PARENT: (44, 8),
    of.SIBLING: (27, 12),
    of.OTHER_RELATIVE: (45, 40),
    of.FOSTER_CHILD: (42, 9),
    of.HOUSEMATE: (26, 10),
    of.BOARDER: (45, 40),
}
# Age of a member: whether it follows the householder's, then mean, spread, least and most of it, or
# of the difference. Siblings are at most 10 years off, so that parents are of an age for them too.
MEMBER_AGES = {
    of.SPOUSE: (1, 0, 4, -20, 20),
    of.GRANDCHILD: (1, -54, 8, -75, -2 * YOUNGEST_PARENT),
    of.PARENT: (1, 31, 3, YOUNGEST_PARENT + 10, OLDEST_PARENT - 10),
    of.SIBLING: (1, -1, 5, -10, 10),
    of.OTHER_RELATIVE: (0, 25, 18, 0, TOP_AGE),
    of.FOSTER_CHILD: (0, 11, 5, 0, 17),
    of.PARTNER: (1, 0, 5, -25, 25),
    of.HOUSEMATE: (1, 0, 6, -25, 25),
    of.BOARDER: (0, 30, 12, 16, TOP_AGE),
}


def bell(at: NDArray[Any], centre: float, spread: float) -> FloatArray:
    """A bell of height 1 around `centre`."""
    height: FloatArray = np.exp(-0.5 * ((at - centre) / spread) ** 2)
    return height


def rise(at: NDArray[Any], centre: float, spread: float) -> FloatArray:
    """A smooth step from 0 to 1 around `centre`."""
    height: FloatArray = 1.0 / (1.0 + np.exp(-(at - centre) / spread))
    return height


def pick(weights: FloatArray, condition: NDArray[Any], *, rng: np.random.Generator) -> IntArray:
    """A column of `weights` for each condition, with probabilities as the row `condition` has them.

    The distribution functions of all rows lie end to end on one line, row c on [c, c + 1), so that
    one binary search serves draws under many conditions at once.
    """
    sums = weights.cumsum(axis=1)
    shares = sums / np.maximum(sums[:, -1:], 1e-300)  # a row of zeros is never asked for
    line = (shares + np.arange(len(weights))[:, None]).ravel()
    below_next = np.nextafter(condition + 1.0, 0.0)  # the sum may round up into the next row
    points = np.minimum(rng.random(len(condition)) + condition, below_next)
    rows = condition.astype(np.int64) * weights.shape[1]
    found: IntArray = np.searchsorted(line, points, side="right") - rows
    return found


def children_at_home() -> FloatArray:
    """Mean number of children of each age (columns) at home for a couple of each age (rows).

    Two children over a life, born to parents of 18 to 45 years, who leave home from 18 on. One
    table gives their number and their ages, so that the two agree.
    """
    gap = AGES[:, None] - AGES[None, :]
    born = bell(gap, 27.5, 5.5) * ((gap >= YOUNGEST_PARENT) & (gap <= OLDEST_PARENT))
    stays = np.where(AGES < 18, 1.0, 0.02 + 0.68 * np.exp(-(AGES - 18) / 4.0))
    rates: FloatArray = 2.15 * born / bell(AGES, 27.5, 5.5).sum() * stays
    return rates


CHILDREN_AT_HOME = children_at_home()


@dataclass(frozen=True, slots=True)
class Households:
    """The number of an arrangement, the householder's age, and the members by their role."""

    arrangement: IntArray
    head_age: IntArray
    members: NDArray[np.int8]  # households × relationships


def draw_households(size: int, *, rng: np.random.Generator) -> Households:
    """Households with exactly `size` persons: as many as fit, then single persons."""
    n = size // 2 + 20  # the mean is above two persons, so nearly always enough
    shares = np.array([[one.share for one in ARRANGEMENTS]])
    some = compose(pick(shares, np.zeros(n, np.int64), rng=rng), rng=rng)
    ends = some.members.sum(axis=1, dtype=np.int64).cumsum()
    fitting = int(np.searchsorted(ends, size, side="right"))
    left = size - (int(ends[fitting - 1]) if fitting else 0)
    alone = next(i for i, one in enumerate(ARRANGEMENTS) if one.head == of.HEAD and not one.others)
    rest = compose(np.full(left, alone), rng=rng)
    return Households(
        np.concatenate([some.arrangement[:fitting], rest.arrangement]),
        np.concatenate([some.head_age[:fitting], rest.head_age]),
        np.concatenate([some.members[:fitting], rest.members]),
    )


def compose(arrangement: IntArray, *, rng: np.random.Generator) -> Households:
    """Households of these arrangements: the householder's age, then who lives with him or her."""
    curves = [sum(w / s * bell(AGES, at, s) for w, at, s in one.ages) for one in ARRANGEMENTS]
    head_age = pick(np.stack(curves) * (AGES >= YOUNGEST_PARENT), arrangement, rng=rng)
    rows = np.arange(len(arrangement))
    members = np.zeros((len(arrangement), len(KEY_LABELS["relationship"])), dtype=np.int8)
    members[rows, _each(one.head for one in ARRANGEMENTS)[arrangement]] = 1
    mean = _each(one.children for one in ARRANGEMENTS)[arrangement]
    children = np.minimum(rng.poisson(mean * CHILDREN_AT_HOME.sum(axis=1)[head_age]), 2 * MOST)
    members[:, of.STEPCHILD] = rng.binomial(children, STEPCHILD_SHARE)
    members[:, of.CHILD] = children - members[:, of.STEPCHILD]
    for role, (best, around) in BEST_AGE.items():
        mean = _each(one.others.get(role, 0.0) for one in ARRANGEMENTS)[arrangement]
        number = rng.poisson(mean * _may_have(role, head_age) * bell(head_age, best, around))
        members[:, role] = np.minimum(number, 1 if role == of.PARENT else MOST)
    second = _each(-1 if one.second is None else one.second for one in ARRANGEMENTS)[arrangement]
    two = second >= 0
    members[two, second[two]] = np.maximum(members[two, second[two]], 1)
    return Households(arrangement, head_age, members)


def _each(values: Any) -> NDArray[Any]:
    return np.array(list(values))


def _may_have(role: int, head_age: IntArray) -> NDArray[np.bool_]:
    """Whether a householder of an age can have a member of a role at all."""
    if role == of.GRANDCHILD:
        return head_age >= 2 * YOUNGEST_PARENT
    return (head_age <= TOP_AGE - MEMBER_AGES[of.PARENT][3]) | (role != of.PARENT)
