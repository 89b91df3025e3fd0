"""Made-up persons: age, sex, marital status and birthplace of everyone in given households.

A person's age follows from the householder's, a birthplace from the householder's birthplace, so
members of a household resemble each other. Whoever lives with a spouse is married to a person of
the same household; nobody under 15 has ever been married.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.numerics.arrays import BoolArray, FloatArray, IntArray, read_only
from discreet.synthetic.draws import Conditional
from discreet.synthetic.households import (
    AGES,
    CHILDREN_AT_HOME,
    OLDEST_PARENT,
    PATTERNS,
    YOUNGEST_PARENT,
    Arrangement,
    Households,
    bump,
    rise,
)
from discreet.synthetic.levels import (
    ADULT,
    OLDEST_UNDER_15,
    TOP_AGE,
    Birthplace,
    MaritalStatus,
    Relationship,
    Sex,
)

R = Relationship
SmallInts = NDArray[np.int8]
SAME_SEX_SPOUSES = 0.006
SAME_SEX_PARTNERS = 0.06
WOMEN_AMONG_LONE_PARENTS_OF_HEADS = 0.78
NEVER_MARRIED_BOOST_AT_HOME = 5.0


@dataclass(frozen=True, slots=True)
class Roster:
    """Everyone in the households, household by household in order of relationship."""

    households: Households
    household: NDArray[np.int32]
    relationship: SmallInts
    heads: IntArray

    def __post_init__(self) -> None:
        for column in (self.household, self.relationship, self.heads):
            read_only(column)

    def __len__(self) -> int:
        return len(self.household)

    def positions(self, relationship: Relationship) -> IntArray:
        """Rows of all persons with this relationship."""
        return np.flatnonzero(self.relationship == relationship)

    def first_in(self, households: IntArray, relationship: Relationship) -> IntArray:
        """Row of the first person with this relationship in each of these households.

        Trusted: every one of the households has such a person.
        """
        before = self.households.members[households, :relationship].sum(axis=1, dtype=np.int64)
        rows: IntArray = self.heads[households] + before
        return rows


def enrol(households: Households) -> Roster:
    """The roster of these households."""
    sizes, n_roles = households.sizes, len(Relationship)
    roles = np.tile(np.arange(n_roles, dtype=np.int8), len(households))
    return Roster(
        households,
        np.repeat(np.arange(len(households), dtype=np.int32), sizes),
        np.repeat(roles, households.members.ravel()),
        sizes.cumsum() - sizes,
    )


def draw_sexes(roster: Roster, *, rng: np.random.Generator) -> SmallInts:
    """Sex of everyone; spouses and partners are mostly, two parents always of opposite sex."""
    sex = rng.integers(0, 2, len(roster), dtype=np.int8)
    sex[roster.heads] = draw_head_sexes(roster.households, rng=rng)
    for role, share in ((R.SPOUSE, SAME_SEX_SPOUSES), (R.UNMARRIED_PARTNER, SAME_SEX_PARTNERS)):
        rows = roster.positions(role)
        same = rng.random(len(rows)) < share
        sex[rows] = sex[roster.heads[roster.household[rows]]] ^ ~same
    rows = roster.positions(R.PARENT)
    sex[rows] = rng.random(len(rows)) < WOMEN_AMONG_LONE_PARENTS_OF_HEADS
    couples = parent_couples(roster)
    sex[couples] = Sex.FEMALE
    sex[couples + 1] = Sex.MALE
    return sex


def draw_head_sexes(households: Households, *, rng: np.random.Generator) -> BoolArray:
    """True for each household headed by a woman; more of them where the householder is old."""
    women = np.array([PATTERNS[kind].women for kind in Arrangement])[households.arrangement]
    share = women[:, 0] + (women[:, 1] - women[:, 0]) * rise(households.head_age, 60, 6)
    headed: BoolArray = rng.random(len(households)) < share
    return headed


def parent_couples(roster: Roster) -> IntArray:
    """Row of the first of two parents of a householder; the second stands right after."""
    both = np.flatnonzero(roster.households.members[:, R.PARENT] == 2)
    return roster.first_in(both, R.PARENT)


def draw_ages(roster: Roster, sex: SmallInts, *, rng: np.random.Generator) -> SmallInts:
    """Age of everyone given the householder's."""
    age = roster.households.head_age[roster.household]
    for role, weights in age_weights().items():
        rows = roster.positions(role)
        age[rows] = Conditional(weights).draw(age[rows], rng=rng)
    for role in (R.SPOUSE, R.UNMARRIED_PARTNER):
        rows = roster.positions(role)
        condition = sex[rows].astype(np.int64) * len(AGES) + age[rows]
        age[rows] = Conditional(partner_age_weights()).draw(condition, rng=rng)
    match_second_parents(roster, age, rng=rng)
    fit_siblings(roster, age)
    place_grandchildren(roster, age, rng=rng)
    return age


def age_weights() -> dict[Relationship, FloatArray]:
    """Weight of each age of a member (columns) by age of the householder (rows)."""
    own = np.tile(AGES, (len(AGES), 1))
    lead = own - AGES[:, None]
    may_be_parent = (lead >= YOUNGEST_PARENT) & (lead <= OLDEST_PARENT)
    return {
        R.CHILD: CHILDREN_AT_HOME,
        R.STEPCHILD: CHILDREN_AT_HOME,
        R.PARENT: bump(lead, 26.0, 5.5) * may_be_parent,
        R.SIBLING: bump(lead, -1.0, 5.0) + 0.02 * bump(lead, 0.0, 14.0),
        R.OTHER_RELATIVE: 0.6 * bump(own, 20, 12) + 0.3 * bump(own, 45, 20) + 0.05,
        R.FOSTER_CHILD: (0.4 + bump(own, 12, 5)) * (own < ADULT),
        R.HOUSEMATE: (bump(lead, 0.0, 4.0) + 0.08 * bump(lead, 0.0, 16.0)) * (own >= 16),
        R.ROOMER_OR_BOARDER: (bump(own, 27, 9) + 0.15 * bump(own, 50, 18)) * (own >= 16),
    }


def partner_age_weights() -> FloatArray:
    """Weight of each age of a partner (columns) by the partner's sex and the householder's age.

    Rows are sex · 91 + age; wives are on average two years younger than their husbands.
    """
    lead = AGES[None, :] - AGES[:, None]
    tables = []
    for mean in (2.0, -2.0):  # the partner is a man, a woman
        close = bump(lead, mean, 2.6) + 0.09 * bump(lead, 1.5 * mean, 7.5)
        tables.append(close * (AGES >= 16))
    return np.concatenate(tables)


def match_second_parents(roster: Roster, age: SmallInts, *, rng: np.random.Generator) -> None:
    """Set the second parent's age within four years of the first, still a parent's age."""
    first = parent_couples(roster)
    head = roster.households.head_age[roster.household[first]].astype(np.int64)
    near = age[first] + rng.integers(-4, 5, len(first))
    oldest = np.minimum(head + OLDEST_PARENT, TOP_AGE)
    age[first + 1] = np.clip(near, head + YOUNGEST_PARENT, oldest)


def fit_siblings(roster: Roster, age: SmallInts) -> None:
    """Pull siblings' ages to where all parents in the household can be their parents."""
    number = roster.households.members[:, R.PARENT].astype(np.int64)
    homes = np.flatnonzero(number)
    first = roster.first_in(homes, R.PARENT)
    last = first + number[homes] - 1
    floor, ceiling = np.zeros((2, len(number)), dtype=np.int8)
    ceiling += TOP_AGE
    floor[homes] = np.maximum(np.maximum(age[first], age[last]) - OLDEST_PARENT, 0)
    ceiling[homes] = np.minimum(age[first], age[last]) - YOUNGEST_PARENT
    rows = roster.positions(R.SIBLING)
    home = roster.household[rows]
    age[rows] = np.clip(age[rows], floor[home], ceiling[home])


def subfamily_parents(roster: Roster) -> IntArray:
    """Row of the first child of each household that has both a child and a grandchild.

    That child is the parent of all grandchildren there.
    """
    members = roster.households.members
    three = np.flatnonzero((members[:, R.CHILD] > 0) & (members[:, R.GRANDCHILD] > 0))
    return roster.first_in(three, R.CHILD)


def place_grandchildren(roster: Roster, age: SmallInts, *, rng: np.random.Generator) -> None:
    """Set ages of grandchildren, and of their parent among the householder's children.

    The parent is an adult child of the householder, present or not, and the grandchildren are to
    the parent what children are to a householder.
    """
    rows = roster.positions(R.GRANDCHILD)
    homes = np.unique(roster.household[rows])
    adult = CHILDREN_AT_HOME * (AGES >= YOUNGEST_PARENT)
    parent_age = np.zeros(len(roster.households), dtype=np.int64)
    parent_age[homes] = Conditional(adult).draw(roster.households.head_age[homes], rng=rng)
    present = subfamily_parents(roster)
    age[present] = parent_age[roster.household[present]]
    age[rows] = Conditional(CHILDREN_AT_HOME).draw(parent_age[roster.household[rows]], rng=rng)


def with_spouse(roster: Roster) -> BoolArray:
    """True for everyone whose spouse lives in the household: both of each married pair."""
    present: BoolArray = roster.relationship == R.SPOUSE
    present[roster.heads[roster.households.members[:, R.SPOUSE] > 0]] = True
    couples = parent_couples(roster)
    present[couples] = present[couples + 1] = True
    return present


def draw_marital_statuses(
    roster: Roster, sex: SmallInts, age: SmallInts, present: BoolArray, *, rng: np.random.Generator
) -> SmallInts:
    """Marital status: married for all with a spouse `present`, else by sex, age and role."""
    at_home = np.isin(roster.relationship, (R.CHILD, R.STEPCHILD, R.GRANDCHILD))
    group = at_home.astype(np.int64) * 2 + sex
    drawn = Conditional(marital_weights()).draw(group * len(AGES) + age, rng=rng)
    return np.where(present, MaritalStatus.MARRIED, drawn).astype(np.int8)


def marital_weights() -> FloatArray:
    """Weight of each status for persons without a spouse in the household.

    Rows are (at home with parents, sex, age) in mixed radix.
    """
    tables = []
    for boost in (1.0, NEVER_MARRIED_BOOST_AT_HOME):
        for survivors in (0.9, 2.6):  # widowers, widows
            never = boost * (0.08 + 0.92 * rise(-AGES, -34, 4.5))
            apart = rise(AGES, 34, 4.5)
            widowed = survivors * rise(AGES, 66, 6)
            table = np.column_stack([never, 0.05 * apart, 0.1 * apart, 0.85 * apart, widowed])
            table[: OLDEST_UNDER_15 + 1, MaritalStatus.NEVER_MARRIED + 1 :] = 0.0
            tables.append(table)
    return np.concatenate(tables)


# Share among householders of 40, and by how much the log of it changes over 40 years of age.
ORIGINS: Mapping[Birthplace, tuple[float, float]] = {
    Birthplace.HOME_REGION: (0.725, -0.25),
    Birthplace.NEIGHBOURING_REGION: (0.14, 0.0),
    Birthplace.INLAND_REGIONS: (0.050, 0.8),
    Birthplace.SOUTHERN_REGIONS: (0.025, 0.3),
    Birthplace.EASTERN_REGIONS: (0.014, 0.3),
    Birthplace.ISLAND_TERRITORIES: (0.0015, -0.3),
    Birthplace.NORTHERN_NEIGHBOUR_COUNTRY: (0.007, 0.7),
    Birthplace.LATIN_AMERICA: (0.012, -1.3),
    Birthplace.WESTERN_EUROPE: (0.007, 1.2),
    Birthplace.EASTERN_EUROPE: (0.0015, 1.0),
    Birthplace.EAST_ASIA: (0.011, -0.7),
    Birthplace.SOUTH_AND_WEST_ASIA: (0.003, -0.8),
    Birthplace.AFRICA: (0.0015, -0.7),
    Birthplace.OCEANIA_OR_AT_SEA: (0.0015, 0.0),
}
# Chances that a member was born where the householder was, and in the home region as such; with
# the rest of the chance, wherever householders of 40 were born.
NEARNESS: Mapping[Relationship, tuple[float, float]] = {
    R.SPOUSE: (0.45, 0.10),
    R.CHILD: (0.16, 0.74),
    R.STEPCHILD: (0.25, 0.55),
    R.GRANDCHILD: (0.10, 0.82),
    R.PARENT: (0.55, 0.0),
    R.SIBLING: (0.65, 0.10),
    R.OTHER_RELATIVE: (0.45, 0.20),
    R.FOSTER_CHILD: (0.10, 0.60),
    R.UNMARRIED_PARTNER: (0.35, 0.10),
    R.HOUSEMATE: (0.10, 0.0),
    R.ROOMER_OR_BOARDER: (0.10, 0.0),
}


def draw_birthplaces(roster: Roster, *, rng: np.random.Generator) -> SmallInts:
    """Birthplace of everyone: the householder's by age, all others' given the householder's."""
    origin = Conditional(origin_weights()).draw(roster.households.head_age, rng=rng)
    place = origin.astype(np.int8)[roster.household]
    for role in NEARNESS:
        rows = roster.positions(role)
        place[rows] = Conditional(birthplace_weights(role)).draw(place[rows], rng=rng)
    return place


def origin_weights() -> FloatArray:
    """Weight of each birthplace (columns) by age of the householder (rows)."""
    share, trend = np.array(list(ORIGINS.values())).T
    weights: FloatArray = share * np.exp(trend * (AGES[:, None] - 40) / 40)
    return weights


def birthplace_weights(role: Relationship) -> FloatArray:
    """Weight of each birthplace of a member (columns) by the householder's birthplace (rows)."""
    same, home = NEARNESS[role]
    anywhere = np.array([share for share, _ in ORIGINS.values()])
    weights: FloatArray = (
        same * np.eye(len(Birthplace)) + (1 - same - home) * anywhere / anywhere.sum()
    )
    weights[:, Birthplace.HOME_REGION] += home
    return weights
