"""Every loss on a case with a known answer."""

import math

import numpy as np
import pytest
from tests.oracles.posterior_counts import PosteriorCounts

from discreet.belief.belief import ListedBelief
from discreet.choice.actors import Reading
from discreet.choice.users import PRESETS, scientists
from discreet.choice.utility import (
    Association,
    CellCounts,
    Deviance,
    Hellinger,
    Requests,
)
from discreet.errors import InputError
from discreet.masks.contract import PublishedTable

TRUTH = np.array([[4, 2], [1, 3]])


def lost(study, estimate, truth=TRUTH):
    estimate = np.asarray(estimate, dtype=float)
    reading = Reading(estimate=estimate, blank=np.zeros_like(estimate))
    return study.loss(study.answer(reading), truth)


def test_counts():
    estimate = [[3, 2], [1, 5]]
    assert lost(CellCounts(), estimate) == 3
    assert lost(CellCounts(error="squared"), estimate) == 5
    assert lost(CellCounts(margins=((0,),)), estimate) == 3  # rows 5, 6 for 6, 4
    assert lost(CellCounts(margins=((0,), (1,))), estimate) == 3 + 3  # columns 4, 7 for 5, 5
    assert lost(CellCounts(margins=((),)), estimate) == 1  # the total, 11 for 10


def test_association_is_a_quarter_of_the_log_odds_ratio_of_a_2_by_2_table():
    odds = math.log(4.5 * 3.5 / (2.5 * 1.5))
    assert lost(Association(), np.full((2, 2), 2.5)) == pytest.approx(odds / 4)


def test_association_is_untouched_by_margins_and_by_the_order_of_levels():
    rng = np.random.default_rng(3)
    truth = rng.integers(1, 9, (3, 4))
    scaled = (truth + 0.5) * np.array([[2], [5], [7]]) - 0.5
    assert lost(Association(), scaled, truth) == pytest.approx(0, abs=1e-12)
    other = rng.integers(1, 9, (3, 4))
    turned = lost(Association(), other[::-1, [2, 0, 3, 1]], truth[::-1, [2, 0, 3, 1]])
    assert turned == pytest.approx(lost(Association(), other, truth))


def test_association_of_named_pairs_and_of_one_variable():
    rng = np.random.default_rng(4)
    truth, estimate = rng.integers(1, 9, (2, 2, 2)), rng.integers(1, 9, (2, 2, 2))
    alone = lost(Association(), estimate.sum(axis=2), truth.sum(axis=2))
    assert lost(Association(pairs=((0, 1),)), estimate, truth) == pytest.approx(alone)
    assert lost(Association(), [1, 2], np.array([2, 1])) == 0


def test_deviance():
    y, e = TRUTH + 0.5, np.array([[1.5, 0.5], [2.5, 7.5]])
    by_hand = 2 * (y * np.log(y / e) - (y - e)).sum()
    assert lost(Deviance(), [[1, 0], [2, 7]]) == pytest.approx(by_hand)
    assert lost(Deviance(), np.zeros((2, 2))) > 0


def test_hellinger():
    truth = np.array([1, 1, 0, 0])
    assert lost(Hellinger(), [0, 0, 5, 5], truth) == 1
    assert lost(Hellinger(), [3, 3, 0, 0], truth) == 0
    half = lost(Hellinger(), [1, 1, 1, 1], truth)  # Σ √(p q) = 2 √(1/2 · 1/4)
    assert half == pytest.approx(math.sqrt(1 - 2 * math.sqrt(1 / 8)))
    assert lost(Hellinger(), [0, 0, 0, 0], truth) == 1


def test_requests_are_met_by_tables_that_tell_them():
    rows = PublishedTable(axes=(0,), counts=TRUTH.sum(axis=1))
    full = PublishedTable(axes=(0, 1), counts=TRUTH.copy())
    off = PublishedTable(axes=(0, 1), counts=np.array([[5, 1], [1, 3]]))
    hidden = PublishedTable(
        axes=(0, 1), counts=TRUTH.copy(), shown=np.array([[True, True], [False, True]])
    )
    study = Requests(margins=(((0,), 3.0), ((1,), 1.0)))

    def share(*published):
        blank = np.zeros((2, 2))
        reading = Reading(estimate=blank, blank=blank.copy(), published=published)
        return study.loss(study.answer(reading), TRUTH)

    assert share() == 1
    assert share(rows) == 0.25
    assert share(full) == 0
    assert share(hidden) == 1
    assert share(off) == 0.25  # its rows add up to the true ones, its columns do not


def test_posterior_medians():
    belief = ListedBelief(
        tables=np.array([[0, 3], [1, 2], [3, 0]]), probabilities=np.full(3, 1 / 3)
    )
    reading = Reading(estimate=np.zeros(2), blank=np.zeros(2), belief=belief)
    guess = PosteriorCounts(error="absolute").answer(reading)
    assert guess.estimate.tolist() == [1, 2]
    assert guess.uncertainty == pytest.approx((2 + 0 + 4) / 3)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_loses_nothing_by_the_truth_and_something_by_an_error(name):
    study = PRESETS[name].study
    assert lost(study, TRUTH) == pytest.approx(0, abs=1e-12)
    assert lost(study, [[2, 4], [3, 1]]) > 0


def test_users_by_name():
    assert [one.name for one in scientists(None)] == ["counts", "association", "shape"]
    assert [one.name for one in scientists(None, [((0,), 2.0)])] == ["requests"]
    assert [one.weight for one in scientists({"fit": 2.0, "shape": 1.0})] == [2, 1]


@pytest.mark.parametrize(
    ("weights", "requests", "says"),
    [
        ({"count": 1.0}, [], "did you mean 'counts'"),
        ({"requests": 1.0}, [], "request must be given where 'requests' are a user, got none"),
        ({"counts": 1.0}, [((0,), 1.0)], "request must be with 'requests' among the users"),
        (None, [((0,), 0.0)], "request must be at least one margin, with weights above 0"),
    ],
)
def test_bad_users(weights, requests, says):
    with pytest.raises(InputError, match=says):
        scientists(weights, requests)


@pytest.mark.parametrize("off", [-2, -1, 0, 1, 2])
def test_of_an_even_chance_the_median_is_the_lower_value(off):
    p = 0.5 + off * 2.0**-53
    belief = ListedBelief(tables=np.array([[0, 3], [1, 2]]), probabilities=np.array([p, 1 - p]))
    reading = Reading(estimate=np.zeros(2), blank=np.zeros(2), belief=belief)
    guess = PosteriorCounts(error="absolute").answer(reading)
    assert guess.estimate.tolist() == [0, 2]
