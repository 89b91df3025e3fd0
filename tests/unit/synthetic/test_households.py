"""Who lives together in the synthetic population, checked person by person."""

from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np
import pytest

from discreet.numerics.arrays import IntArray
from discreet.synthetic import levels as of
from discreet.synthetic.households import OLDEST_PARENT, YOUNGEST_PARENT
from discreet.synthetic.population import Population, census_population

UNRELATED = {of.FOSTER_CHILD, of.PARTNER, of.HOUSEMATE, of.BOARDER}
UNDER_15, PRESENT, ABSENT, WIDOWED, DIVORCED, SEPARATED, NEVER = range(7)  # spouse status
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


def of_role(persons: list[Person], *roles: int) -> list[Person]:
    return [person for person in persons if person["relationship"] in roles]


class TestHouseholds:
    def test_households_are_numbered_from_0_and_stand_together(self, town: Population) -> None:
        steps = np.diff(town.household)
        assert town.household[0] == 0
        assert set(steps.tolist()) == {0, 1}

    def test_every_household_has_one_householder_or_is_one_person_of_group_quarters(
        self, homes: Homes
    ) -> None:
        quarters = {of.INSTITUTION, of.QUARTERS}
        for persons in homes.values():
            roles = [person["relationship"] for person in persons]
            if quarters & set(roles):
                assert len(roles) == 1
            else:
                assert roles[0] == of.HEAD
                assert roles.count(of.HEAD) == 1
                assert roles.count(of.SPOUSE) + roles.count(of.PARTNER) <= 1

    def test_children_are_18_to_45_years_younger_than_the_householder(self, homes: Homes) -> None:
        for persons in homes.values():
            for child in of_role(persons, of.CHILD, of.STEPCHILD):
                gap = persons[0]["age"] - child["age"]
                assert YOUNGEST_PARENT <= gap <= OLDEST_PARENT

    def test_parents_are_18_to_45_years_older_than_the_householder_and_siblings(
        self, city: Population
    ) -> None:
        with_parents = city.household[city.codes["relationship"] == of.PARENT]
        rows = np.flatnonzero(np.isin(city.household, with_parents))
        siblings = 0
        for persons in listed(city, rows).values():
            siblings += len(of_role(persons, of.SIBLING))
            for parent in of_role(persons, of.PARENT):
                for child in of_role(persons, of.HEAD, of.SIBLING):
                    assert YOUNGEST_PARENT <= parent["age"] - child["age"] <= OLDEST_PARENT
        assert siblings > 0

    def test_grandchildren_have_room_for_a_parent_between(self, homes: Homes) -> None:
        for persons in homes.values():
            for grandchild in of_role(persons, of.GRANDCHILD):
                assert persons[0]["age"] - grandchild["age"] >= 2 * YOUNGEST_PARENT

    def test_spouses_are_close_in_age(self, homes: Homes) -> None:
        gaps = [
            persons[0]["age"] - spouse["age"]
            for persons in homes.values()
            for spouse in of_role(persons, of.SPOUSE)
        ]
        assert np.abs(gaps).mean() < 5
        assert np.quantile(np.abs(gaps), 0.95) < 15

    def test_birthplaces_are_skewed_and_run_in_households(
        self, town: Population, homes: Homes
    ) -> None:
        shares = np.bincount(town.codes["birthplace"], minlength=14) / len(town)
        assert shares[0] > 0.5
        assert np.sort(shares)[:3].sum() < 0.01
        pairs = [
            (persons[0]["birthplace"], spouse["birthplace"])
            for persons in homes.values()
            for spouse in of_role(persons, of.SPOUSE)
        ]
        heads, spouses = (np.array(places) for places in zip(*pairs, strict=True))
        by_chance = sum((heads == place).mean() * (spouses == place).mean() for place in range(14))
        assert (heads == spouses).mean() > by_chance + 0.1

    def test_household_type_is_what_the_members_make_it(self, homes: Homes) -> None:
        for persons in homes.values():
            assert {person["household_type"] for person in persons} == {expected_type(persons)}


def expected_type(persons: list[Person]) -> int:
    roles = {person["relationship"] for person in persons}
    children = of_role(persons, of.CHILD, of.STEPCHILD)
    young = any(child["age"] < 18 for child in children)
    if of.HEAD not in roles:
        return 9
    if len(persons) == 1:
        return 0
    if roles & {of.GRANDCHILD, of.PARENT}:
        return 7
    if of.SPOUSE in roles and young:
        return 2
    if of.SPOUSE in roles:
        return 1
    if of.PARTNER in roles and children:
        return 6
    if of.PARTNER in roles:
        return 5
    if children:
        lone = (3, 4)
        return lone[persons[0]["sex"]]
    return 8


class TestMarriage:
    def test_nobody_under_15_has_been_married(self, city: Population) -> None:
        young = city.codes["age"] < 15
        assert (city.codes["marital_status"][young] == of.NEVER_MARRIED).all()
        assert np.array_equal(city.codes["spouse_status"] == UNDER_15, young)

    def test_spouse_status_agrees_with_marital_status_from_15_on(self, city: Population) -> None:
        possible = {
            0: {NEVER},
            1: {PRESENT, ABSENT},
            2: {SEPARATED},
            3: {DIVORCED},
            4: {WIDOWED},
        }
        grown = city.codes["age"] >= 15
        for marital, statuses in possible.items():
            rows = grown & (city.codes["marital_status"] == marital)
            assert set(np.unique(city.codes["spouse_status"][rows]).tolist()) == statuses

    def test_persons_with_a_spouse_present_come_in_pairs(self, homes: Homes) -> None:
        present = PRESENT
        for persons in homes.values():
            married = [person for person in persons if person["spouse_status"] == present]
            roles = Counter(person["relationship"] for person in married)
            assert roles[of.HEAD] == roles[of.SPOUSE] == len(of_role(persons, of.SPOUSE))
            assert set(roles) <= {of.HEAD, of.SPOUSE}


class TestChildren:
    def test_own_child_is_present_where_it_has_an_age(self, city: Population) -> None:
        has_age = city.codes["own_child_age"] != 0
        assert np.array_equal(city.codes["own_child"] == 1, has_age)

    def test_own_children_are_those_of_the_household(self, homes: Homes) -> None:
        seen: Counter[int] = Counter()
        for persons in homes.values():
            for person, own in own_children(persons):
                level = expected_ages(own)
                assert person["own_child_age"] == level
                seen[level] += 1
        assert set(seen) == set(range(5))

    def test_related_child_is_another_relative_under_18(self, homes: Homes) -> None:
        for persons in homes.values():
            family = [person for person in persons if person["relationship"] not in UNRELATED]
            kin = range(of.CHILD, of.OTHER_RELATIVE + 1)
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
    children = of_role(persons, of.CHILD, of.STEPCHILD)
    for person in persons:
        if person["relationship"] in (of.HEAD, of.SPOUSE):
            yield person, children
        elif person["relationship"] == of.PARENT:
            yield person, of_role(persons, of.HEAD, of.SIBLING)
        else:
            yield person, []


def expected_ages(own: list[Person]) -> int:
    infants = any(child["age"] < 6 for child in own)
    pupils = any(6 <= child["age"] < 18 for child in own)
    if infants and pupils:
        return 3
    if infants:
        return 1
    if pupils:
        return 2
    return 4 if own else 0
