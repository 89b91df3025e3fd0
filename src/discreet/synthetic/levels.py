"""The levels of the ten key variables of the synthetic population.

The variables and their numbers of levels are those of the census example of takemura section 3
(14 · 2 · 91 · 5 · 14 · 7 · 2 · 5 · 2 · 10 = 249,704,000 possible cells); the wording is our own.
Each level stands with its code and label in one place, so the two cannot drift apart.
"""

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Self

TOP_AGE = 90  # this level means 90 and over
ADULT = 18
OLDEST_UNDER_15 = 14


class Level(IntEnum):
    """A level of a key: a code from 0 on, and the words for it."""

    label: str

    def __new__(cls, code: int, label: str) -> Self:
        """The level with this code and label."""
        level = int.__new__(cls, code)
        level._value_ = code
        level.label = label
        return level


class Relationship(Level):
    """To the householder; persons of a household are listed in this order."""

    HOUSEHOLDER = 0, "Householder"
    SPOUSE = 1, "Spouse"
    CHILD = 2, "Child"
    STEPCHILD = 3, "Stepchild"
    GRANDCHILD = 4, "Grandchild"
    PARENT = 5, "Parent"
    SIBLING = 6, "Brother or sister"
    OTHER_RELATIVE = 7, "Other relative"
    FOSTER_CHILD = 8, "Foster child"
    UNMARRIED_PARTNER = 9, "Unmarried partner"
    HOUSEMATE = 10, "Housemate"
    ROOMER_OR_BOARDER = 11, "Roomer or boarder"
    RESIDENT_OF_AN_INSTITUTION = 12, "Resident of an institution"
    RESIDENT_OF_OTHER_GROUP_QUARTERS = 13, "Resident of other group quarters"


class Sex(Level):
    """Sex."""

    MALE = 0, "Male"
    FEMALE = 1, "Female"


class MaritalStatus(Level):
    """Marital status; separated persons are not counted as married."""

    NEVER_MARRIED = 0, "Never married"
    MARRIED = 1, "Married"
    SEPARATED = 2, "Separated"
    DIVORCED = 3, "Divorced"
    WIDOWED = 4, "Widowed"


class Birthplace(Level):
    """Place of birth, in broad groups seen from the home region."""

    HOME_REGION = 0, "Home region"
    NEIGHBOURING_REGION = 1, "Neighbouring region"
    INLAND_REGIONS = 2, "Inland regions"
    SOUTHERN_REGIONS = 3, "Southern regions"
    EASTERN_REGIONS = 4, "Eastern regions"
    ISLAND_TERRITORIES = 5, "Island territories"
    NORTHERN_NEIGHBOUR_COUNTRY = 6, "Northern neighbour country"
    LATIN_AMERICA = 7, "Latin America"
    WESTERN_EUROPE = 8, "Western Europe"
    EASTERN_EUROPE = 9, "Eastern Europe"
    EAST_ASIA = 10, "East Asia"
    SOUTH_AND_WEST_ASIA = 11, "South and West Asia"
    AFRICA = 12, "Africa"
    OCEANIA_OR_AT_SEA = 13, "Oceania or at sea"


class SpouseStatus(Level):
    """Whether a spouse lives in the household, and if not, why."""

    UNDER_15_YEARS = 0, "Under 15 years"
    SPOUSE_PRESENT = 1, "Married, spouse present"
    SPOUSE_ABSENT = 2, "Married, spouse absent"
    WIDOWED = 3, "Widowed"
    DIVORCED = 4, "Divorced"
    SEPARATED = 5, "Separated"
    NEVER_MARRIED = 6, "Never married"


class OwnChild(Level):
    """Whether a child of the person, of any age, lives in the household."""

    NO_OWN_CHILD_PRESENT = 0, "No own child present"
    OWN_CHILD_PRESENT = 1, "Own child present"


class OwnChildAge(Level):
    """Ages of the person's own children in the household; adults count only where no minor is."""

    NO_OWN_CHILD = 0, "No own child"
    UNDER_6_ONLY = 1, "Under 6 only"
    FROM_6_TO_17_ONLY = 2, "6 to 17 only"
    UNDER_6_AND_6_TO_17 = 3, "Under 6 and 6 to 17"
    ADULTS_ONLY = 4, "18 and over only"


class RelatedChild(Level):
    """Whether another relative under 18 (not householder or spouse) lives in the same family."""

    NO_RELATED_CHILD_PRESENT = 0, "No related child present"
    RELATED_CHILD_PRESENT = 1, "Related child present"


class HouseholdType(Level):
    """Detailed type of the household."""

    PERSON_ALONE = 0, "Person alone"
    MARRIED_COUPLE_WITHOUT_MINOR_CHILDREN = 1, "Married couple, no child under 18"
    MARRIED_COUPLE_WITH_MINOR_CHILDREN = 2, "Married couple, child under 18"
    LONE_FATHER = 3, "Lone father"
    LONE_MOTHER = 4, "Lone mother"
    UNMARRIED_COUPLE_WITHOUT_CHILDREN = 5, "Unmarried couple, no child"
    UNMARRIED_COUPLE_WITH_CHILDREN = 6, "Unmarried couple, child"
    SEVERAL_GENERATIONS = 7, "Several generations"
    OTHER_PERSONS_SHARING = 8, "Other persons sharing"
    GROUP_QUARTERS = 9, "Group quarters"


def labels_of(levels: type[Level]) -> tuple[str, ...]:
    """The label of each level, in the order of the codes."""
    return tuple(level.label for level in levels)


def age_labels() -> tuple[str, ...]:
    """Completed years, the last level open."""
    return (*(str(age) for age in range(TOP_AGE)), f"{TOP_AGE} and over")


KEY_LABELS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "relationship": labels_of(Relationship),
        "sex": labels_of(Sex),
        "age": age_labels(),
        "marital_status": labels_of(MaritalStatus),
        "birthplace": labels_of(Birthplace),
        "spouse_status": labels_of(SpouseStatus),
        "own_child": labels_of(OwnChild),
        "own_child_age": labels_of(OwnChildAge),
        "related_child": labels_of(RelatedChild),
        "household_type": labels_of(HouseholdType),
    }
)
