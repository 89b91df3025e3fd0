"""Who lives together in the synthetic population, checked person by person."""

from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np
import pytest

from discreet.numerics.arrays import IntArray
from discreet.synthetic.households import OLDEST_PARENT, YOUNGEST_PARENT
from discreet.synthetic.levels import (
    Birthplace,
    HouseholdType,
    MaritalStatus,
    OwnChildAge,
    Relationship,
    SpouseStatus,
)
from discreet.synthetic.population import Population, census_population

R = Relationship
UNRELATED = {R.FOSTER_CHILD, R.UNMARRIED_PARTNER, R.HOUSEMATE, R.ROOMER_OR_BOARDER}
Person = dict[str, int]
Homes = dict[int, list[Person]]


@pytest.fixture(scope="module")
def city() -> Population:
    return census_population(200_000, rng=np.random.default_rng(6))


@pytest.fixture(scope="module")
def town() -> Population:
    return census_population(20_000, rng=np.random.default_rng(7))


@pytest.fixture(scope="module")
def homes(town: Population) -> Homes:
    return listed(town, np.arange(len(town)))


def listed(population: Population, rows: IntArray) -> Homes:
    """Household number → its persons among these rows, each a dict of codes."""
    columns = {key: codes[rows].tolist() for key, codes in population.codes.items()}
    homes: Homes = defaultdict(list)
    for place, home in enumerate(population.household[rows].tolist()):
        homes[home].append({key: column[place] for key, column in columns.items()})
    return homes


def of_role(persons: list[Person], *roles: Relationship) -> list[Person]:
    return [person for person in persons if person["relationship"] in roles]


class TestHouseholds:
    def test_households_are_numbered_from_0_and_stand_together(self, town: Population) -> None:
        steps = np.diff(town.household)
        assert town.household[0] == 0
        assert set(steps.tolist()) == {0, 1}

    def test_every_household_has_one_householder_or_is_one_person_of_group_quarters(
        self, homes: Homes
    ) -> None:
        quarters = {R.RESIDENT_OF_AN_INSTITUTION, R.RESIDENT_OF_OTHER_GROUP_QUARTERS}
        for persons in homes.values():
            roles = [person["relationship"] for person in persons]
            if quarters & set(roles):
                assert len(roles) == 1
            else:
                assert roles[0] == R.HOUSEHOLDER
                assert roles.count(R.HOUSEHOLDER) == 1
                assert roles.count(R.SPOUSE) + roles.count(R.UNMARRIED_PARTNER) <= 1

    def test_children_are_18_to_45_years_younger_than_the_householder(self, homes: Homes) -> None:
        for persons in homes.values():
            for child in of_role(persons, R.CHILD, R.STEPCHILD):
                gap = persons[0]["age"] - child["age"]
                assert YOUNGEST_PARENT <= gap <= OLDEST_PARENT

    def test_parents_are_18_to_45_years_older_than_the_householder_and_siblings(
        self, city: Population
    ) -> None:
        with_parents = city.household[city.codes["relationship"] == R.PARENT]
        rows = np.flatnonzero(np.isin(city.household, with_parents))
        siblings = 0
        for persons in listed(city, rows).values():
            siblings += len(of_role(persons, R.SIBLING))
            for parent in of_role(persons, R.PARENT):
                for child in of_role(persons, R.HOUSEHOLDER, R.SIBLING):
                    assert YOUNGEST_PARENT <= parent["age"] - child["age"] <= OLDEST_PARENT
        assert siblings > 0

    def test_grandchildren_have_room_for_a_parent_between(self, homes: Homes) -> None:
        for persons in homes.values():
            for grandchild in of_role(persons, R.GRANDCHILD):
                assert persons[0]["age"] - grandchild["age"] >= 2 * YOUNGEST_PARENT
                for parent in of_role(persons, R.CHILD)[:1]:
                    gap = parent["age"] - grandchild["age"]
                    assert YOUNGEST_PARENT <= gap <= OLDEST_PARENT

    def test_spouses_are_close_in_age(self, homes: Homes) -> None:
        gaps = [
            persons[0]["age"] - spouse["age"]
            for persons in homes.values()
            for spouse in of_role(persons, R.SPOUSE)
        ]
        assert np.abs(gaps).mean() < 5
        assert np.quantile(np.abs(gaps), 0.95) < 15

    def test_birthplaces_are_skewed_and_run_in_households(
        self, town: Population, homes: Homes
    ) -> None:
        shares = np.bincount(town.codes["birthplace"], minlength=14) / len(town)
        assert shares[Birthplace.HOME_REGION] > 0.5
        assert np.sort(shares)[:3].sum() < 0.01
        pairs = [
            (persons[0]["birthplace"], spouse["birthplace"])
            for persons in homes.values()
            for spouse in of_role(persons, R.SPOUSE)
        ]
        heads, spouses = (np.array(places) for places in zip(*pairs, strict=True))
        by_chance = sum((heads == place).mean() * (spouses == place).mean() for place in Birthplace)
        assert (heads == spouses).mean() > by_chance + 0.1

    def test_household_type_is_what_the_members_make_it(self, homes: Homes) -> None:
        for persons in homes.values():
            assert {person["household_type"] for person in persons} == {expected_type(persons)}


def expected_type(persons: list[Person]) -> HouseholdType:
    roles = {person["relationship"] for person in persons}
    children = of_role(persons, R.CHILD, R.STEPCHILD)
    young = any(child["age"] < 18 for child in children)
    if R.HOUSEHOLDER not in roles:
        return HouseholdType.GROUP_QUARTERS
    if len(persons) == 1:
        return HouseholdType.PERSON_ALONE
    if roles & {R.GRANDCHILD, R.PARENT}:
        return HouseholdType.SEVERAL_GENERATIONS
    if R.SPOUSE in roles and young:
        return HouseholdType.MARRIED_COUPLE_WITH_MINOR_CHILDREN
    if R.SPOUSE in roles:
        return HouseholdType.MARRIED_COUPLE_WITHOUT_MINOR_CHILDREN
    if R.UNMARRIED_PARTNER in roles and children:
        return HouseholdType.UNMARRIED_COUPLE_WITH_CHILDREN
    if R.UNMARRIED_PARTNER in roles:
        return HouseholdType.UNMARRIED_COUPLE_WITHOUT_CHILDREN
    if children:
        lone = (HouseholdType.LONE_FATHER, HouseholdType.LONE_MOTHER)
        return lone[persons[0]["sex"]]
    return HouseholdType.OTHER_PERSONS_SHARING


class TestMarriage:
    def test_nobody_under_15_has_been_married(self, city: Population) -> None:
        young = city.codes["age"] < 15
        assert (city.codes["marital_status"][young] == MaritalStatus.NEVER_MARRIED).all()
        assert np.array_equal(city.codes["spouse_status"] == SpouseStatus.UNDER_15_YEARS, young)

    def test_spouse_status_agrees_with_marital_status_from_15_on(self, city: Population) -> None:
        possible = {
            MaritalStatus.NEVER_MARRIED: {SpouseStatus.NEVER_MARRIED},
            MaritalStatus.MARRIED: {SpouseStatus.SPOUSE_PRESENT, SpouseStatus.SPOUSE_ABSENT},
            MaritalStatus.SEPARATED: {SpouseStatus.SEPARATED},
            MaritalStatus.DIVORCED: {SpouseStatus.DIVORCED},
            MaritalStatus.WIDOWED: {SpouseStatus.WIDOWED},
        }
        grown = city.codes["age"] >= 15
        for marital, statuses in possible.items():
            rows = grown & (city.codes["marital_status"] == marital)
            assert set(np.unique(city.codes["spouse_status"][rows]).tolist()) == statuses

    def test_persons_with_a_spouse_present_come_in_pairs(self, homes: Homes) -> None:
        present = SpouseStatus.SPOUSE_PRESENT
        for persons in homes.values():
            married = [person for person in persons if person["spouse_status"] == present]
            roles = Counter(person["relationship"] for person in married)
            assert roles[R.HOUSEHOLDER] == roles[R.SPOUSE] == len(of_role(persons, R.SPOUSE))
            assert roles[R.PARENT] == (2 if len(of_role(persons, R.PARENT)) == 2 else 0)
            assert set(roles) <= {R.HOUSEHOLDER, R.SPOUSE, R.PARENT}

    def test_two_parents_are_a_man_and_a_woman(self, homes: Homes) -> None:
        couples = [of_role(persons, R.PARENT) for persons in homes.values()]
        couples = [couple for couple in couples if len(couple) == 2]
        assert couples
        assert all({parent["sex"] for parent in couple} == {0, 1} for couple in couples)


class TestChildren:
    def test_own_child_is_present_where_it_has_an_age(self, city: Population) -> None:
        has_age = city.codes["own_child_age"] != OwnChildAge.NO_OWN_CHILD
        assert np.array_equal(city.codes["own_child"] == 1, has_age)

    def test_own_children_are_those_of_the_household(self, homes: Homes) -> None:
        seen: Counter[OwnChildAge] = Counter()
        for persons in homes.values():
            for person, own in own_children(persons):
                level = expected_ages(own)
                assert person["own_child_age"] == level
                seen[level] += 1
        assert set(seen) == set(OwnChildAge)

    def test_related_child_is_another_relative_under_18(self, homes: Homes) -> None:
        for persons in homes.values():
            family = [person for person in persons if person["relationship"] not in UNRELATED]
            kin = range(R.CHILD, R.OTHER_RELATIVE + 1)
            for person in persons:
                others = [
                    other
                    for other in family
                    if other is not person and other["relationship"] in kin and other["age"] < 18
                ]
                in_family = person["relationship"] not in UNRELATED
                assert person["related_child"] == (in_family and bool(others))


def own_children(persons: list[Person]) -> Iterator[tuple[Person, list[Person]]]:
    """Each person with the list of his or her own children, by the roles in the household."""
    children = of_role(persons, R.CHILD, R.STEPCHILD)
    heirs = of_role(persons, R.CHILD)
    for person in persons:
        if person["relationship"] in (R.HOUSEHOLDER, R.SPOUSE):
            yield person, children
        elif person["relationship"] == R.PARENT:
            yield person, of_role(persons, R.HOUSEHOLDER, R.SIBLING)
        elif heirs and person is heirs[0]:
            yield person, of_role(persons, R.GRANDCHILD)
        else:
            yield person, []


def expected_ages(own: list[Person]) -> OwnChildAge:
    infants = any(child["age"] < 6 for child in own)
    pupils = any(6 <= child["age"] < 18 for child in own)
    if infants and pupils:
        return OwnChildAge.UNDER_6_AND_6_TO_17
    if infants:
        return OwnChildAge.UNDER_6_ONLY
    if pupils:
        return OwnChildAge.FROM_6_TO_17_ONLY
    return OwnChildAge.ADULTS_ONLY if own else OwnChildAge.NO_OWN_CHILD
