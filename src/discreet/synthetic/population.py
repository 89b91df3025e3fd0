"""A made-up population: persons in households whose ten keys have the sizes of takemura section 3.

Real populations are never known in full, so how good an estimate of risk is can only be seen on a
population like this one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.coding import Coding
from discreet.errors import InputError, must_be
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray, read_only
from discreet.synthetic import levels as of
from discreet.synthetic.households import (
    AGES,
    ARRANGEMENTS,
    CHILDREN_AT_HOME,
    MEMBER_AGES,
    Households,
    draw_households,
    pick,
    rise,
)
from discreet.synthetic.levels import KEY_LABELS, TOP_AGE

if TYPE_CHECKING:
    import pyarrow as pa

SmallInts = NDArray[np.int8]
LARGEST_SIZE = 2**31 - 1  # household numbers are 32-bit
SAME_SEX = {of.SPOUSE: 0.006, of.PARTNER: 0.06}
INFANT, PUPIL, GROWN = 1, 2, 4  # bits: some child is under 6, from 6 to 17, 18 or over
# Of each birthplace the share among householders of 40, and by how much its logarithm changes over
# 40 years of age.
ORIGINS = np.array(
    [
        *((0.725, -0.25), (0.14, 0.0), (0.05, 0.8), (0.025, 0.3), (0.014, 0.3), (0.0015, -0.3)),
        *((0.007, 0.7), (0.012, -1.3), (0.007, 1.2), (0.0015, 1.0), (0.011, -0.7), (0.003, -0.8)),
        *((0.0015, -0.7), (0.0015, 0.0)),
    ]
)
# Chances that a member was born where the householder was, and in the home region as such, for the
# relationships from spouse to boarder; else wherever householders of 40 were.
NEARNESS = (
    *((0.45, 0.10), (0.16, 0.74), (0.25, 0.55), (0.10, 0.82), (0.55, 0.0), (0.65, 0.10)),
    *((0.45, 0.20), (0.10, 0.60), (0.35, 0.10), (0.10, 0.0), (0.10, 0.0)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """Persons in households: `codes[key][i]` is the level of person i, named by `labels[key]`.

    Persons of a household stand together; `household` ascends from 0.
    """

    codes: Mapping[str, SmallInts]
    labels: Mapping[str, tuple[str, ...]]
    household: NDArray[np.int32]

    def __post_init__(self) -> None:
        read_only(self.household)
        for codes in self.codes.values():
            read_only(codes)

    def __len__(self) -> int:
        return len(self.household)

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the key variables."""
        return tuple(self.codes)

    @property
    def coding(self) -> Coding:
        """The code of a combination of all keys."""
        return Coding.of_sizes([len(self.labels[key]) for key in self.keys])

    def cell_codes(self) -> IntArray:
        """One number for each person that tells in which cell of the ten-way table he or she is."""
        levels = np.array([self.codes[key] for key in self.keys], dtype=np.int64).T
        return self.coding.encode(levels)[:, 0]

    def to_arrow(self, positions: IntArray | None = None) -> "pa.Table":
        """These persons (all of them unless positions are given): the keys, then `household`.

        Keys are dictionary-encoded labels, age is a number of years.
        """
        import pyarrow as pa

        rows = slice(None) if positions is None else positions
        columns = {key: pa.array(codes[rows]) for key, codes in self.codes.items()}
        for key in set(self.keys) - {"age"}:
            labels = pa.array(self.labels[key])
            columns[key] = pa.DictionaryArray.from_arrays(columns[key], labels)
        return pa.table(columns | {"household": pa.array(self.household[rows])})


def census_population(size: int = 2_000_000, *, rng: np.random.Generator) -> Population:
    """A census-like population of exactly `size` persons in households, all of it made up.

    The ten keys have 14, 2, 91, 5, 14, 7, 2, 5, 2 and 10 levels (takemura section 3); in a small
    population some of them do not occur. Checked: size is from 1 to 2³¹ − 1.
    """
    if not 1 <= size <= LARGEST_SIZE:
        raise InputError(must_be("size", f"from 1 to {LARGEST_SIZE}", size))
    people = _People.of(draw_households(size, rng=rng))
    sex = people.sexes(rng=rng)
    age = people.ages(sex, rng=rng)
    marital_status = people.marital_statuses(sex, age, rng=rng)
    own_child_age = people.own_child_ages(age)
    codes: dict[str, NDArray[Any]] = {
        "relationship": people.role,
        "sex": sex,
        "age": age,
        "marital_status": marital_status,
        "birthplace": people.birthplaces(rng=rng),
        "spouse_status": people.spouse_statuses(age, marital_status),
        "own_child": own_child_age > 0,
        "own_child_age": own_child_age,
        "related_child": people.related_children(age),
        "household_type": people.household_types(sex, age),
    }
    small = {key: codes[key].astype(np.int8) for key in KEY_LABELS}
    return Population(codes=small, labels=KEY_LABELS, household=people.home)


@dataclass(frozen=True, slots=True)
class _People:
    """Everyone in the households, household by household in order of relationship."""

    households: Households
    home: NDArray[np.int32]
    role: SmallInts
    heads: IntArray  # the row of the first person of each household

    @classmethod
    def of(cls, households: Households) -> "_People":
        """Those of some households."""
        n, n_roles = households.members.shape
        sizes = households.members.sum(axis=1, dtype=np.int64)
        roles = np.tile(np.arange(n_roles, dtype=np.int8), n)
        return cls(
            households,
            np.repeat(np.arange(n, dtype=np.int32), sizes),
            np.repeat(roles, households.members.ravel()),
            sizes.cumsum() - sizes,
        )

    def rows(self, *roles: int) -> IntArray:
        """Everyone of some roles."""
        return np.flatnonzero(np.isin(self.role, roles))

    def sexes(self, *, rng: np.random.Generator) -> SmallInts:
        """Householders by arrangement and age, spouses and partners mostly of the opposite sex."""
        sex = rng.integers(0, 2, len(self.home), dtype=np.int8)
        young, old = np.array([one.women for one in ARRANGEMENTS])[self.households.arrangement].T
        share = young + (old - young) * rise(self.households.head_age, 60, 6)
        sex[self.heads] = rng.random(len(share)) < share
        for role, same in SAME_SEX.items():
            rows = self.rows(role)
            sex[rows] = sex[self.heads[self.home[rows]]] ^ (rng.random(len(rows)) >= same)
        return sex

    def ages(self, sex: SmallInts, *, rng: np.random.Generator) -> IntArray:
        """The householder's, and those of all others given that."""
        age = self.households.head_age[self.home]
        rows = self.rows(of.CHILD, of.STEPCHILD)
        age[rows] = pick(CHILDREN_AT_HOME, age[rows], rng=rng)
        for role, (follows, mean, spread, least, most) in MEMBER_AGES.items():
            rows = self.rows(role)
            drawn = np.clip(np.rint(rng.normal(mean, spread, len(rows))), least, most)
            age[rows] = follows * age[rows] + drawn.astype(np.int64)
        rows = self.rows(of.SPOUSE, of.PARTNER)
        age[rows] += np.where(sex[rows] == of.MALE, 2, -2)
        rows = self.rows(of.SPOUSE, of.PARTNER, of.HOUSEMATE)
        age[rows] = np.maximum(age[rows], 16)
        return np.clip(age, 0, TOP_AGE)

    @property
    def with_spouse(self) -> BoolArray:
        """Whoever's spouse lives in the household."""
        couples = self.households.members[:, of.SPOUSE] > 0
        return couples[self.home] & (self.role <= of.SPOUSE)

    def marital_statuses(
        self, sex: SmallInts, age: IntArray, *, rng: np.random.Generator
    ) -> IntArray:
        """Married with a spouse in the household, else by sex and age, and whether a child there.

        Nobody under 15 has ever been married.
        """
        at_home = np.isin(self.role, (of.CHILD, of.STEPCHILD, of.GRANDCHILD))
        tables = []
        for boost in (1.0, 5.0):  # children who live with their parents have seldom married
            for survivors in (0.9, 2.6):  # widowers, widows
                never = boost * (0.08 + 0.92 * rise(-AGES, -34, 4.5))
                apart = rise(AGES, 34, 4.5) * (AGES >= 15)
                widowed = survivors * rise(AGES, 66, 6) * (AGES >= 15)
                tables.append(
                    np.column_stack([never, 0.05 * apart, 0.1 * apart, 0.85 * apart, widowed])
                )
        group = (2 * at_home + sex) * len(AGES) + age
        drawn = pick(np.concatenate(tables), group, rng=rng)
        return np.where(self.with_spouse, of.MARRIED, drawn)

    def spouse_statuses(self, age: IntArray, marital_status: IntArray) -> IntArray:
        """Marital status in other words, with the spouse present or absent; not under 15 years."""
        status = np.array([6, 2, 5, 4, 3])[marital_status]
        return np.where(age < 15, 0, np.where(self.with_spouse, of.SPOUSE_PRESENT, status))

    def birthplaces(self, *, rng: np.random.Generator) -> IntArray:
        """The householder's by age, all others' given the householder's."""
        share, trend = ORIGINS.T
        by_age = share * np.exp(trend * (AGES[:, None] - 40) / 40)
        place = pick(by_age, self.households.head_age, rng=rng)[self.home]
        for role, (same, home) in enumerate(NEARNESS, start=of.SPOUSE):
            rows = self.rows(role)
            weights: FloatArray = same * np.eye(len(share)) + (1 - same - home) * share
            weights[:, 0] += home
            place[rows] = pick(weights, place[rows], rng=rng)
        return place

    def ages_present(self, age: IntArray, *roles: int) -> IntArray:
        """For each household which of the bits INFANT, PUPIL, GROWN persons of these roles set."""
        bits = np.zeros(len(self.heads), dtype=np.int64)
        for bit, low, high in ((INFANT, 0, 6), (PUPIL, 6, 18), (GROWN, 18, TOP_AGE + 1)):
            rows = self.rows(*roles)
            bits[self.home[rows[(age[rows] >= low) & (age[rows] < high)]]] |= bit
        return bits

    def own_child_ages(self, age: IntArray) -> IntArray:
        """Children and stepchildren are the couple's own, householder and siblings the parent's."""
        bits = np.zeros(len(self.home), dtype=np.int64)
        of_couple = self.ages_present(age, of.CHILD, of.STEPCHILD)
        of_parent = self.ages_present(age, of.HEAD, of.SIBLING)
        for role, own in ((of.HEAD, of_couple), (of.SPOUSE, of_couple), (of.PARENT, of_parent)):
            bits[self.rows(role)] = own[self.home[self.rows(role)]]
        minors = bits & (INFANT | PUPIL)
        return np.where(minors > 0, minors, bits)  # GROWN alone is the level of adults only

    def related_children(self, age: IntArray) -> BoolArray:
        """Whether another relative under 18, not householder or spouse, lives in the family."""
        in_family = self.role <= of.OTHER_RELATIVE
        is_child = in_family & (self.role >= of.CHILD) & (age < 18)
        number = np.bincount(self.home[is_child], minlength=len(self.heads))
        others: BoolArray = in_family & (number[self.home] > is_child)
        return others

    def household_types(self, sex: SmallInts, age: IntArray) -> IntArray:
        """The type of each person's household: the first rule that fits it."""
        members = self.households.members
        young = self.ages_present(age, of.CHILD, of.STEPCHILD) & (INFANT | PUPIL) > 0
        children = members[:, of.CHILD] + members[:, of.STEPCHILD] > 0
        married, partners = members[:, of.SPOUSE] > 0, members[:, of.PARTNER] > 0
        rules = (
            (members[:, of.HEAD] == 0, 9),
            (members.sum(axis=1) == 1, 0),
            (members[:, of.GRANDCHILD] + members[:, of.PARENT] > 0, 7),
            (married & young, 2),
            (married, 1),
            (partners & children, 6),
            (partners, 5),
            (children & (sex[self.heads] == of.MALE), 3),
            (children, 4),
        )
        fits, kinds = zip(*rules, strict=True)
        types: IntArray = np.select(fits, kinds, 8)
        return types[self.home]
