"""Keys that tell the cluster, by how often their levels meet."""

import numpy as np
import pytest

from discreet.survey.headline.nested_in_clusters import telling

ALL = 200  # clusters of the population


def small_areas(drawn, strays=0.0, seed=1, persons=25):
    """Units of persons in four small areas of each cluster and a key that says nothing; some have
    a small area of another cluster."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(drawn), persons)
    own = np.where(rng.random(len(cluster)) < strays, rng.integers(0, ALL, len(cluster)), cluster)
    level = own * 4 + rng.choice(4, len(cluster), p=[0.5, 0.3, 0.15, 0.05])
    levels = np.stack([level, rng.integers(0, 40, len(cluster))], axis=1)
    return levels, np.asarray(cluster, dtype=np.int64)


def told_by(areas):
    levels, cluster = areas
    return telling(levels, cluster, ALL)


@pytest.mark.parametrize("drawn", [10, 20, 40])
def test_levels_that_never_meet_tell_the_cluster(drawn):
    told = told_by(small_areas(drawn))
    assert told.weight > 0.9
    assert told.strays < 0.15
    assert told.alone(0.5).mean() > 0.9


def test_the_fewer_clusters_the_less_is_sure():
    weights = [told_by(small_areas(drawn)).weight for drawn in (3, 5, 10, 20)]
    assert weights == sorted(weights)
    assert 0.5 < weights[0] < 0.8


@pytest.mark.parametrize("share", [0.01, 0.03])
def test_strays_are_counted(share):
    found = [told_by(small_areas(60, share, seed)) for seed in range(10)]
    assert min(told.weight for told in found) > 0.9
    assert share / 2 < np.mean([told.strays for told in found]) < 2.5 * share
    levels, cluster = small_areas(60, share)
    away = levels[:, 0] // 4 != cluster
    assert found[1].stray[away].mean() > 3 * found[1].stray[~away].mean()


def test_a_key_whose_levels_meet_tells_nothing():
    levels, cluster = small_areas(30)
    assert telling(levels[:, 1:], cluster, ALL) is None
    assert telling(levels // 12, cluster, ALL) is None  # each three clusters have the same levels


def test_a_region_for_each_cluster_proves_nothing():
    """Ten clusters of as many regions: other clusters of these were just not drawn."""
    cluster = np.repeat(np.arange(10), 30)
    levels = np.stack([cluster, np.arange(300) % 40], axis=1)
    told = telling(levels, cluster, ALL)
    assert told is None or told.weight < 0.05


def test_levels_that_are_seen_once_prove_nothing():
    """Dates of birth."""
    cluster = np.repeat(np.arange(30), 10)
    levels = np.random.default_rng(1).choice(30_000, (300, 1), replace=False)
    assert telling(levels, cluster, ALL) is None


def test_households_in_small_areas_are_not_told_by_them():
    rng = np.random.default_rng(2)
    home = np.repeat(np.arange(250), 2)
    levels = rng.integers(0, 800, 250)[home][:, None]
    assert telling(levels, home, 26_000) is None


def test_whoever_is_a_stray_is_alone_as_others_of_another_cluster():
    told = told_by(small_areas(60, 0.03))
    assert np.all(told.alone(1.0) == 1)
    assert np.all(told.alone(0.4)[told.stray == 1] == pytest.approx(0.4))
    assert np.all(told.alone(0.4, 3.0) <= told.alone(0.4))
    assert np.all(told.alone(0.4, 0.0) == 1)


def test_a_household_of_strays_in_few_clusters_leaves_it_open():
    levels, cluster = small_areas(4, persons=150)
    levels[:4, 0] = levels[-1, 0]
    told = telling(levels, cluster, ALL)
    assert told.weight == pytest.approx(0.5)
    assert told.strays <= 0.1
