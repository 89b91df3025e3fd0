"""The most probable tables: those of a plain search, and drawn ones with their probabilities."""

import numpy as np
import pytest

from discreet.count_tables import likely_tables as module
from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.likely_tables import likely_tables
from discreet.count_tables.rebuilding import Effort
from discreet.count_tables.release import attack, release_of
from discreet.count_tables.statistics import CountStatistics
from discreet.figures import Unavailable

DISASTERS = dict(enumerate([15, 20, 9, 5, 2]))
STATISTICS = CountStatistics.of_counts(DISASTERS)


def test_all_tables_of_the_disasters():
    release = release_of(STATISTICS)
    got = likely_tables(release, attack(release))
    assert got.complete
    assert got.tables[:2].tolist() == [[16, 17, 11, 6, 1], [15, 20, 9, 5, 2]]
    assert got.probability[:4] == pytest.approx([0.470, 0.363, 0.103, 0.062], abs=1e-3)
    assert got.probability.sum() == pytest.approx(1)
    assert not likely_tables(release, attack(release), most=3).complete


@pytest.mark.parametrize(
    ("how", "known"),
    [({"decimals": 1}, None), ({"withhold_n": True}, Knowledge(n=(45, 52))), ({}, None)],
)
def test_probabilities_are_those_of_the_distribution(how, known):
    release = release_of(STATISTICS, **how)
    found = attack(release, known)
    distribution = next(iter(found.distributions.values()))
    got = likely_tables(release, found, known)
    assert tuple(got.tables[0]) == distribution.best_guess
    assert got.probability[0] == pytest.approx(distribution.best_guess_probability.value)
    entropy = -np.sum(got.probability * np.log2(got.probability))
    assert entropy == pytest.approx(distribution.entropy.value)


def test_drawn_where_they_are_too_many(monkeypatch):
    monkeypatch.setattr(module, "MOST_LISTED", 3)
    release = release_of(STATISTICS)
    found = attack(release)
    effort = Effort(rng=np.random.default_rng(1))
    got = likely_tables(release, found, effort=effort)
    assert not got.complete
    assert got.tables[0].tolist() == [16, 17, 11, 6, 1]
    assert got.probability[:2] == pytest.approx([0.470, 0.363], abs=1e-3)
    assert "none were drawn" in likely_tables(release, found, draw=False, effort=effort).reason


def test_none_without_an_answer():
    release = release_of(STATISTICS, decimals=1, withhold_n=True)
    assert likely_tables(release, Unavailable("why")).reason == "why"


@pytest.mark.parametrize("seed", range(3))
def test_tables_as_probable_keep_their_order(seed):
    noise = np.random.default_rng(seed).integers(-3, 4, 6) * 2.0**-50
    logs = np.array([-3.0, -2.0, -3.0, -2.0, -2.0, -3.0]) + noise
    tables = np.arange(6)[:, None]
    assert module._first(tables, logs, 5).tables.ravel().tolist() == [1, 3, 4, 0, 2]
