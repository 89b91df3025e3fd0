"""Areas, strata and households: who belongs together, and how alike those are."""

from collections.abc import Sequence

import numpy as np

from benchmarks.populations.dependence import level_effects
from discreet.numerics.arrays import FloatArray, IntArray

SMALLEST_AREA, LARGEST_AREA = 75, 1_700  # persons aimed at; some per cent more or less come out
HOUSEHOLD_SIZES = (0.30, 0.32, 0.16, 0.14, 0.05, 0.02, 0.01)  # of 1, 2, … 7 members
TRIED, ROUNDS = 3_000, 30  # persons and rounds that settle the sizes of groups
TOGETHER = 8_000_000  # numbers held at once


def area_sizes(persons: int, kind: str, rng: np.random.Generator) -> FloatArray:
    """Shares of the areas that `persons` fall into, each of 75 to 1,700 persons.

    `lognormal` areas have a median of 250; `zipf` ones fall with the 0.7th power of their rank.
    """
    if kind == "zipf":
        number = max(round(persons / 300), 2)
        sizes = np.arange(1, number + 1) ** -0.7
        sizes *= persons / sizes.sum()
    else:
        sizes = 250 * np.exp(0.7 * rng.standard_normal(max(round(persons / 300), 2)))
    sizes = np.clip(sizes, SMALLEST_AREA, LARGEST_AREA)
    shares: FloatArray = sizes / sizes.sum()
    return shares


def regions_of(areas: int, regions: int) -> IntArray:
    """The region of each area: neighbouring numbers are of one region."""
    return np.arange(areas) * regions // areas


def effects(
    levels: Sequence[int],
    groups: int,
    drift: float,
    rng: np.random.Generator,
    region: IntArray | None = None,
) -> list[FloatArray]:
    """Random effects of standard deviation `drift` on the log shares of levels: for each key a
    table of groups by levels. Half of the variance is common to a region, where there are some."""
    found = []
    for size in levels:
        own = np.stack([level_effects(rng, size, drift) for _ in range(groups)])
        if region is not None:
            common = [level_effects(rng, size, drift) for _ in range(int(region.max()) + 1)]
            own = np.sqrt(0.5) * (own + np.stack(common)[region])
        found.append(own)
    return found


def allotted(
    people: IntArray,
    shares: FloatArray,
    by_level: Sequence[FloatArray],
    rng: np.random.Generator,
) -> IntArray:
    """The group of each person.

    A person falls into a group in proportion to exp(its effects on the person's levels), times a
    factor for each group that makes groups as large as `shares` want them. So the composition
    differs between groups while the population as a whole is as it was drawn.
    """
    tried = _log_weights(people[:: max(len(people) // TRIED, 1)], by_level)
    factor = np.log(shares)
    for _ in range(ROUNDS):
        factor += np.log(shares) - np.log(_shares(tried + factor).mean(axis=0))
    found = []
    step = max(TOGETHER // len(shares), 1)
    for start in range(0, len(people), step):
        chance = _shares(_log_weights(people[start : start + step], by_level) + factor)
        ends = np.cumsum(chance, axis=1)
        found.append((ends < rng.random((len(ends), 1)) * ends[:, -1:]).sum(axis=1))
    return np.concatenate(found)


def _log_weights(people: IntArray, by_level: Sequence[FloatArray]) -> FloatArray:
    """Persons by groups: the sum of a group's effects on the levels of a person."""
    total: FloatArray = by_level[0].T[people[:, 0]]
    for key in range(1, len(by_level)):
        total = total + by_level[key].T[people[:, key]]
    return total


def _shares(logs: FloatArray) -> FloatArray:
    weight = np.exp(logs - logs.max(axis=1, keepdims=True))
    shares: FloatArray = weight / weight.sum(axis=1, keepdims=True)
    return shares


def households(
    people: IntArray, area: IntArray, shared: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """An order of the persons and, in that order, the household of each.

    The persons are as they were drawn; households put together those of one area with the same
    levels of the first `shared` keys, who stand next to each other by a noisy score of the others.
    So members share these keys, are alike in the others, and no combination is new. Households have
    1 to 7 members; where the persons alike come to an end the last one is smaller.
    """
    others = people[:, shared:].astype(float)
    spread = np.maximum(others.std(axis=0), 1e-9)
    score = ((others - others.mean(axis=0)) / spread)[:, :2].sum(axis=1)
    score += rng.standard_normal(len(people))
    alike = (area, *(people[:, key] for key in range(shared)))
    order: IntArray = np.lexsort((score, *alike))
    sizes = rng.choice(len(HOUSEHOLD_SIZES), len(people), p=HOUSEHOLD_SIZES) + 1
    starts = np.zeros(len(people), dtype=bool)
    ends = np.cumsum(sizes)
    starts[ends[ends < len(people)]] = True
    for column in alike:
        starts[1:] |= np.diff(column[order]) != 0
    starts[0] = True
    return order, np.cumsum(starts) - 1
