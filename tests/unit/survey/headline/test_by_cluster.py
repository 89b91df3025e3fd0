"""The estimate within and between clusters, held against counting by hand and known populations."""

import math
from itertools import combinations

import numpy as np
import pytest

from discreet.data.coding import Coding
from discreet.data.missing import POLICIES
from discreet.engines.key_space import KeyLevels, KeySpace
from discreet.engines.local.cells import LocalCells
from discreet.engines.local.grouping import distinct_rows
from discreet.figures import How
from discreet.survey.headline import by_cluster
from discreet.survey.headline.by_cluster import recommend_by_cluster
from discreet.survey.headline.likeness import LEAST_OTHERS
from discreet.survey.headline.rate_index import LEAST, Others
from discreet.survey.headline.recommendation import recommend_cells
from discreet.survey.headline.record_risk import POPULATION_UNIQUE, RISK

SIZES = (2, 5, 4, 6)


def cells_of(rows):
    """Cells of records, one row each, with the numbers as the values of the keys."""
    found = [np.unique(column, return_inverse=True) for column in np.asarray(rows).T]
    coding = Coding.of_sizes([len(values) for values, _ in found])
    codes = coding.encode(np.stack([place for _, place in found], axis=1))
    words, at = distinct_rows(codes, coding.n_combinations)
    keys = tuple(
        KeyLevels(name=f"key {j}", values=(own := tuple(map(str, values))), labels=own, n_missing=0)
        for j, (values, _) in enumerate(found)
    )
    space = KeySpace(keys=keys, coding=coding, policy=POLICIES["category"])
    return LocalCells.of_arrays(words, np.bincount(at), space)


def population(seed=1, n=20_000, areas=80, drift=0.6):
    """Persons with four keys, each area with a composition of its own."""
    rng = np.random.default_rng(seed)
    area = np.sort(rng.integers(0, areas, n))
    columns = []
    for size in SIZES:
        shares = np.exp(rng.standard_normal(size) + drift * rng.standard_normal((areas, size)))
        reached = np.cumsum(shares / shares.sum(axis=1, keepdims=True), axis=1)[area]
        columns.append((reached < rng.random((n, 1))).sum(axis=1).clip(0, size - 1))
    return np.stack(columns, axis=1), area


def drawn(rows, area, several, within, seed):
    """Some areas, and a share of the persons of each."""
    rng = np.random.default_rng(seed)
    some = rng.choice(area.max() + 1, several, replace=False)
    return np.flatnonzero(np.isin(area, some) & (rng.random(len(area)) < within))


def counts_of(rows):
    _, at, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    return counts[at.ravel()]


def estimate(rows, area, size, n_clusters, **options):
    return recommend_by_cluster(
        cells_of(np.column_stack([rows, area])),
        population_size=size,
        n_clusters=n_clusters,
        n_table_cells=math.prod(SIZES),
        **options,
    )


@pytest.fixture(scope="module")
def people():
    return population()


def test_what_is_known_of_a_cell_is_counted_in_other_clusters():
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 3, (60, 3))
    cluster = rng.integers(0, 5, 60)
    units = by_cluster._Units.of(cells_of(np.column_stack([rows, cluster])))
    known = units._known()
    every = [tuple(unit) for unit in np.unique(np.column_stack([rows, cluster]), axis=0).tolist()]
    n = len(every)
    for place, word in enumerate(units.coding.decode(units.words).tolist()):
        found = []
        for *own, g in (unit for unit in every if list(unit[:3]) == word):
            others = [unit for unit in every if unit[3] != g and list(unit[:3]) != own]
            scale = n / sum(unit[3] != g for unit in every)

            def share(keys, others=others, own=own, scale=scale):
                return scale * sum(all(unit[j] == own[j] for j in keys) for unit in others)

            differ = [sum(x != y for x, y in zip(unit, own, strict=False)) for unit in others]
            logs = [math.log(share([j]) + LEAST) for j in range(3)]
            pairs = sum(
                math.log(share(both) + LEAST) - logs[both[0]] - logs[both[1]] + math.log(n)
                for both in combinations(range(3), 2)
            )
            half = [math.log((share([j]) + LEAST_OTHERS) / n) for j in range(3)]
            found.append(
                [
                    math.log(scale * differ.count(1) + LEAST),
                    sum(logs) - 2 * math.log(n),
                    pairs / 2,
                    sum(half) + math.log(n),
                ]
            )
        covariates = known.covariates[place]
        here = [covariates[0], covariates[2], covariates[3], known.independent[place]]
        assert here == pytest.approx(np.mean(found, axis=0))


def test_the_own_cluster_has_no_part_in_the_kernel():
    """Records of a cluster that is far from all others are like nobody."""
    rows = np.repeat(np.random.default_rng(4).integers(0, 4, (100, 3)), 2, axis=0)
    cluster = np.arange(200) % 5
    far = cluster == 2
    rows[far] += 10
    units = by_cluster._Units.of(cells_of(np.column_stack([rows, cluster])))
    density = units._density([Others(np.full(len(units.cluster), 1e-3)) for _ in range(3)])
    alone = units.cluster == 2
    assert np.ptp(density[alone]) < 1e-12 * density[alone].max()  # no reference agrees on any key
    assert density[alone].max() < density[~alone].min()


@pytest.mark.parametrize(("several", "within", "given"), [(16, 1.0, False), (30, 0.4, True)])
def test_the_sums_over_the_records_are_the_headlines(people, several, within, given):
    rows, area = people
    at = drawn(rows, area, several, within, 7)
    found = estimate(rows[at], area[at], len(rows), 80 if given else None)
    cells = cells_of(rows[at])
    cells.add(found.risks)
    held = cells.held(10**6, (RISK, POPULATION_UNIQUE))
    risk, unique = held.extra[RISK], held.extra[POPULATION_UNIQUE]
    led = found.recommended
    assert led.expected_correct_matches.value == pytest.approx(held.n_records @ risk)
    assert led.expected_population_uniques.value == pytest.approx(unique.sum())
    assert np.all((unique == 0) | (held.n_records == 1))
    assert np.all(unique <= risk)
    assert np.all(risk * held.n_records <= 1 + 1e-12)
    assert led.expected_population_uniques.how is How.ESTIMATE
    assert "within the clusters and between them" in led.why


@pytest.mark.parametrize("seed", range(4))
def test_clusters_taken_whole_that_a_key_tells_apart_are_counted(people, seed):
    rows, area = people
    at = drawn(rows, area, 6, 1.0, seed)
    keys = np.column_stack([rows, area])
    found = recommend_by_cluster(
        cells_of(np.column_stack([keys[at], area[at]])),
        population_size=len(rows),
        n_clusters=None,
        n_table_cells=80 * math.prod(SIZES),
    )
    F = counts_of(keys)[at]
    led = found.recommended
    assert led.expected_population_uniques.how is How.EXACT
    assert led.expected_population_uniques.value == (F == 1).sum()
    assert led.expected_correct_matches.value == pytest.approx((1 / F).sum())


def test_a_few_clusters_that_differ_in_a_key_do_not_tell_that_all_do(people):
    rows, area = people
    at = np.flatnonzero(np.isin(area, [3, 30, 60]))
    region = (area[at] >= 40).astype(int) + (area[at] >= 20)  # three of them, each seen once
    keys = np.column_stack([rows[at], region])
    found = recommend_by_cluster(
        cells_of(np.column_stack([keys, area[at]])),
        population_size=len(rows),
        n_clusters=None,
        n_table_cells=3 * math.prod(SIZES),
    )
    alone = (counts_of(keys) == 1).sum()
    assert found.recommended.expected_population_uniques.how is How.ESTIMATE
    assert found.recommended.expected_population_uniques.value < 0.9 * alone


def test_neither_the_order_of_records_nor_the_names_of_clusters_change_anything(people):
    rows, area = people
    at = drawn(rows, area, 12, 0.5, 9)
    one = estimate(rows[at], area[at], len(rows), 80).recommended
    mixed = np.random.default_rng(1).permutation(at)
    other = estimate(rows[mixed], area[mixed], len(rows), 80).recommended
    assert one == other
    renamed = estimate(rows[at], 79 - area[at], len(rows), 80).recommended
    assert renamed.expected_population_uniques.value == pytest.approx(
        one.expected_population_uniques.value, rel=0.02
    )


def test_the_persons_of_singletons_are_the_plain_estimate(people):
    """Clusters of one record each: nothing is drawn together."""
    rows, _ = people
    at = np.random.default_rng(2).choice(len(rows), 800, replace=False)
    found = estimate(rows[at], np.arange(800), len(rows), None).recommended
    plain = recommend_cells(
        cells_of(rows[at]), population_size=len(rows), n_table_cells=math.prod(SIZES)
    ).recommended
    one, other = found.expected_population_uniques, plain.expected_population_uniques
    assert one.value == pytest.approx(other.value, rel=0.05)
    assert one.low <= other.low * 1.05
    assert one.high >= other.high * 0.95


def test_two_of_a_cluster_who_never_agree_leave_persons_drawn_singly():
    rng = np.random.default_rng(8)
    rows = rng.integers(0, 8, (120, 3))
    area = np.arange(120) // 2
    rows[1::2, 0] = (rows[::2, 0] + 1) % 8  # the two differ
    found = estimate(rows, area, 50_000, 2_000)
    note = found.recommended.expected_population_uniques.note
    assert "no two records of the same of the clusters agree" in note or found.risks is not None


def test_the_whole_population_is_counted_and_an_unknown_one_is_not(people):
    rows, area = people
    counted = estimate(rows, area, len(rows), None).recommended
    assert counted.expected_population_uniques.value == (counts_of(rows) == 1).sum()
    assert counted.expected_population_uniques.how is How.EXACT
    unknown = estimate(rows[:500], area[:500], None, None).recommended
    assert unknown.expected_population_uniques.how is How.BOUND
    assert "size of the population" in unknown.why


@pytest.fixture(scope="module")
def in_small_areas():
    """Persons in households in small areas, four of each of 200 areas, with an age and a sex."""
    rng = np.random.default_rng(21)
    homes = 26_000
    area = rng.choice(200, homes, p=rng.dirichlet(np.full(200, 2.0)))
    small = 4 * area + rng.choice(4, homes, p=[0.5, 0.3, 0.15, 0.05])
    home = np.repeat(np.arange(homes), rng.choice([1, 2, 3, 4], homes, p=[0.3, 0.35, 0.15, 0.2]))
    age = np.clip(rng.normal(45, 20, homes)[home] + rng.normal(0, 14, len(home)), 0, 99).astype(int)
    return np.stack([small[home], age, rng.integers(0, 2, len(home))], axis=1), area[home], home


def limits_and_truth(rows, at, together, n_clusters):
    found = recommend_by_cluster(
        cells_of(np.column_stack([rows[at], together[at]])),
        population_size=len(rows),
        n_clusters=n_clusters,
        n_table_cells=math.prod(len(np.unique(column)) for column in rows[at].T),
    )
    alone = counts_of(rows[at]) == 1
    truth = int((alone & (counts_of(rows)[at] == 1)).sum())
    return found.recommended.expected_population_uniques, truth


@pytest.mark.parametrize(("several", "within", "given"), [(20, 0.1, True), (6, 1.0, False)])
def test_small_areas_of_few_clusters(in_small_areas, several, within, given):
    """None of the levels is in two of the clusters, nor of all others."""
    rows, area, _ = in_small_areas
    at = drawn(rows, area, several, within, 3)
    uniques, truth = limits_and_truth(rows, at, area, 200 if given else None)
    assert uniques.low <= truth <= uniques.high
    assert 0.7 * truth < uniques.value < 1.3 * truth


@pytest.mark.parametrize("share", [0.01, 0.03])
def test_small_areas_with_a_few_persons_of_other_clusters(in_small_areas, share):
    rows, area, home = in_small_areas
    rng = np.random.default_rng(5)
    away = rng.random(home.max() + 1) < share
    other = rng.integers(0, 800, len(away))
    spilt = rows.copy()
    spilt[:, 0] = np.where(away[home], other[home], rows[:, 0])
    at = drawn(spilt, area, 35, 0.17, 3)
    uniques, truth = limits_and_truth(spilt, at, area, 200)
    assert uniques.low <= truth <= uniques.high
    assert 0.7 * truth < uniques.value < 1.3 * truth


@pytest.mark.parametrize("fraction", [0.01, 0.03])
def test_small_areas_of_few_households(in_small_areas, fraction):
    """Members of a household share its small area, which does not make it a frequent one."""
    rows, _, home = in_small_areas
    trials = []
    for seed in (4, 5, 6):
        some = np.random.default_rng(seed).random(home.max() + 1) < fraction
        trials.append(limits_and_truth(rows, np.flatnonzero(some[home]), home, None))
    assert sum(uniques.low <= truth <= uniques.high for uniques, truth in trials) >= 2
    ratio = sum(uniques.value for uniques, _ in trials) / sum(truth for _, truth in trials)
    assert 0.75 < ratio < 1.35


def test_weights_that_have_nothing_to_do_with_the_keys_change_little(in_small_areas):
    """Households at rates of their own: the weights of the households that share keys differ, and
    that is seen in the step between them too."""
    rows, _, home = in_small_areas
    rng = np.random.default_rng(6)
    keys = np.column_stack([rows[:, 0] // 90, rows[:, 1], rows[:, 2]])
    rate = np.exp(rng.standard_normal(home.max() + 1))
    chance = np.minimum(0.05 * rate / rate.mean(), 0.9)
    at = np.flatnonzero((rng.random(len(rate)) < chance)[home])
    together = np.column_stack([keys[at], home[at]])
    plain = cells_of(together)
    weight = 1 / chance[home[at]]
    codes = plain.space.coding.encode(
        np.stack([np.unique(column, return_inverse=True)[1] for column in together.T], axis=1)
    )
    words, place = distinct_rows(codes, plain.space.coding.n_combinations)
    sums, squares = (np.bincount(place, own) for own in (weight, weight**2))
    weighted = LocalCells.of_arrays(words, np.bincount(place), plain.space, sums, squares=squares)
    asked = {"population_size": len(rows), "n_clusters": None, "n_table_cells": 9 * 100 * 2}
    one, other = (
        recommend_by_cluster(cells, **asked).recommended.expected_population_uniques
        for cells in (plain, weighted)
    )
    alone = counts_of(keys[at]) == 1
    truth = int((alone & (counts_of(keys)[at] == 1)).sum())
    assert other.low <= truth <= other.high
    assert other.value < 1.25 * one.value


def test_a_few_whole_clusters_tell_little_of_regions():
    """Ten areas of nine regions: how many others of the country share a region rests on the few
    pairs that do."""
    rows, area = population(3, drift=0.9)
    keys = np.column_stack([rows, area % 9])
    at = drawn(keys, area, 10, 1.0, 5)
    found = estimate(keys[at], area[at], len(keys), None)
    without = estimate(rows[at], area[at], len(rows), None)
    wide, usual = (
        math.log(one.recommended.expected_population_uniques.high + 1)
        - math.log(one.recommended.expected_population_uniques.low + 1)
        for one in (found, without)
    )
    assert wide > 1.2 * usual
    alone = counts_of(keys[at]) == 1
    truth = int((alone & (counts_of(keys)[at] == 1)).sum())
    uniques = found.recommended.expected_population_uniques
    assert uniques.low <= truth <= uniques.high
