"""What follows from who lives together: spouse status, own and related children, household type.

Nothing here is random: the levels are read off the composition of each household.
"""

import numpy as np
from numpy.typing import NDArray

from discreet.numerics.arrays import BoolArray
from discreet.synthetic.levels import (
    ADULT,
    OLDEST_UNDER_15,
    HouseholdType,
    MaritalStatus,
    OwnChildAge,
    Relationship,
    Sex,
    SpouseStatus,
)
from discreet.synthetic.persons import Roster, subfamily_parents

R = Relationship
SmallInts = NDArray[np.int8]
SCHOOL_AGE = 6
INFANT, PUPIL, GROWN = 1, 2, 4  # bits: some child is under 6, from 6 to 17, 18 or over

STATUS_WITHOUT_SPOUSE = np.zeros(len(MaritalStatus), dtype=np.int8)
STATUS_WITHOUT_SPOUSE[MaritalStatus.NEVER_MARRIED] = SpouseStatus.NEVER_MARRIED
STATUS_WITHOUT_SPOUSE[MaritalStatus.MARRIED] = SpouseStatus.SPOUSE_ABSENT
STATUS_WITHOUT_SPOUSE[MaritalStatus.SEPARATED] = SpouseStatus.SEPARATED
STATUS_WITHOUT_SPOUSE[MaritalStatus.DIVORCED] = SpouseStatus.DIVORCED
STATUS_WITHOUT_SPOUSE[MaritalStatus.WIDOWED] = SpouseStatus.WIDOWED


def spouse_statuses(age: SmallInts, marital_status: SmallInts, present: BoolArray) -> SmallInts:
    """Spouse status of everyone; under 15 years it does not apply."""
    status = STATUS_WITHOUT_SPOUSE[marital_status]
    status[present] = SpouseStatus.SPOUSE_PRESENT
    status[age <= OLDEST_UNDER_15] = SpouseStatus.UNDER_15_YEARS
    return status


def ages_present(roster: Roster, age: SmallInts, roles: tuple[Relationship, ...]) -> SmallInts:
    """For each household which of the bits INFANT, PUPIL, GROWN persons with these roles set."""
    bits = np.zeros(len(roster.households), dtype=np.int8)
    for role in roles:
        rows = roster.positions(role)
        home, years = roster.household[rows], age[rows]
        bits[home[years < SCHOOL_AGE]] |= INFANT
        bits[home[(years >= SCHOOL_AGE) & (years < ADULT)]] |= PUPIL
        bits[home[years >= ADULT]] |= GROWN
    return bits


def own_child_ages(roster: Roster, age: SmallInts) -> SmallInts:
    """Ages of each person's own children in the household.

    Children and stepchildren are the couple's own; grandchildren are the first child's own where
    the householder has a child at home; the householder and siblings are the parents' own.
    """
    bits = np.zeros(len(roster), dtype=np.int8)
    of_couple = ages_present(roster, age, (R.CHILD, R.STEPCHILD))
    of_child = ages_present(roster, age, (R.GRANDCHILD,))
    of_parents = ages_present(roster, age, (R.HOUSEHOLDER, R.SIBLING))
    for role, own in ((R.HOUSEHOLDER, of_couple), (R.SPOUSE, of_couple), (R.PARENT, of_parents)):
        rows = roster.positions(role)
        bits[rows] = own[roster.household[rows]]
    rows = subfamily_parents(roster)
    bits[rows] = of_child[roster.household[rows]]
    minors = bits & (INFANT | PUPIL)
    return np.where((minors == 0) & (bits == GROWN), OwnChildAge.ADULTS_ONLY, minors).astype(
        np.int8
    )


def related_children(roster: Roster, age: SmallInts) -> BoolArray:
    """True for members of a family in which another relative under 18 lives.

    The family is the householder and all relatives; householder and spouse never count as children.
    """
    in_family = roster.relationship <= R.OTHER_RELATIVE
    is_child = in_family & (roster.relationship >= R.CHILD) & (age < ADULT)
    per_household = np.bincount(roster.household[is_child], minlength=len(roster.households))
    others: BoolArray = per_household[roster.household] > is_child
    return in_family & others


def household_types(roster: Roster, sex: SmallInts, age: SmallInts) -> SmallInts:
    """Type of each person's household: the first rule that fits it."""
    members, head_sex = roster.households.members, sex[roster.heads]
    young = (ages_present(roster, age, (R.CHILD, R.STEPCHILD)) & (INFANT | PUPIL)) > 0
    children = members[:, R.CHILD] + members[:, R.STEPCHILD] > 0
    married = members[:, R.SPOUSE] > 0
    partners = members[:, R.UNMARRIED_PARTNER] > 0
    kind = HouseholdType
    rules = (
        (members[:, R.HOUSEHOLDER] == 0, kind.GROUP_QUARTERS),
        (roster.households.sizes == 1, kind.PERSON_ALONE),
        (members[:, R.GRANDCHILD] + members[:, R.PARENT] > 0, kind.SEVERAL_GENERATIONS),
        (married & young, kind.MARRIED_COUPLE_WITH_MINOR_CHILDREN),
        (married, kind.MARRIED_COUPLE_WITHOUT_MINOR_CHILDREN),
        (partners & children, kind.UNMARRIED_COUPLE_WITH_CHILDREN),
        (partners, kind.UNMARRIED_COUPLE_WITHOUT_CHILDREN),
        (children & (head_sex == Sex.MALE), kind.LONE_FATHER),
        (children, kind.LONE_MOTHER),
    )
    fits, kinds = zip(*rules, strict=True)
    types = np.select(fits, [np.int8(k) for k in kinds], np.int8(kind.OTHER_PERSONS_SHARING))
    return types.astype(np.int8)[roster.household]
