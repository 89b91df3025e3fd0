"""Intruders and scientists: risk (1) and utility (2) from what each wants."""

import numpy as np
import pytest
from tests.oracles.posterior_counts import PosteriorCounts

from discreet.belief.belief import ListedBelief
from discreet.choice.actors import (
    Reading,
    Scientist,
    combined,
    data_utility,
    worth,
)
from discreet.choice.utility import CellCounts
from discreet.errors import InputError
from discreet.tables.attacks import bounds_scenario, cells_scenario, table_scenario
from discreet.tables.disclosure import Continuous, Discrete, Fixed, disclosure_risk

TRUTH = np.array([[3, 1], [0, 2]])
BLANK = np.full((2, 2), 1.5)
TABLES = np.array([[3, 1, 0, 2], [2, 2, 1, 1], [1, 3, 2, 0]])
BELIEF = ListedBelief(tables=TABLES, probabilities=np.array([0.5, 0.3, 0.2]))


def reading(estimate=TRUTH, belief=None):
    return Reading(estimate=np.array(estimate, dtype=float), blank=BLANK.copy(), belief=belief)


def scientist(study=None, **more):
    return Scientist(name="s", studies=[(1.0, study or CellCounts())], **more)


def test_utility_is_minus_the_loss():
    assert data_utility(scientist(), reading([[3, 0], [1, 2]]), TRUTH) == -2
    assert data_utility(scientist(), reading(), TRUTH) == 0


def test_who_gives_up_keeps_the_estimate_he_had():
    never = scientist(threshold=Fixed(-1))
    assert data_utility(never, reading(), TRUTH) == -np.abs(BLANK - TRUTH).sum() == -4


def test_equation_2_needs_a_j_in_both_places():
    """As printed, both terms hold a_1S: Pr(a_1) L(a_1) counted twice, giving up not at all."""
    half = scientist(threshold=Discrete((-1.0, 0.0), (0.5, 0.5)))
    seen = reading([[3, 0], [1, 2]])
    right = -(0.5 * 2 + 0.5 * 4)
    printed = -2 * (0.5 * 2)
    assert data_utility(half, seen, TRUTH) == right != printed
    sure = -sum(p * 2 for p in (1, 1))  # a scientist who always acts would lose 4 for an error of 2
    assert data_utility(scientist(), seen, TRUTH) != sure


def test_several_targets_are_averaged():
    rows, columns = CellCounts(margins=((0,),)), CellCounts(margins=((1,),))
    both = Scientist(name="s", studies=[(0.25, rows), (0.75, columns)])
    seen = reading([[3, 0], [1, 2]])
    alone = [data_utility(scientist(study), seen, TRUTH) for study in (rows, columns)]
    assert alone == [-2, -2]
    assert data_utility(both, seen, TRUTH) == pytest.approx(-2)


def test_a_bayesian_scientist_acts_on_his_own_uncertainty():
    study = PosteriorCounts()
    mean = BELIEF.probabilities @ TABLES
    variance = BELIEF.probabilities @ ((TABLES - mean) ** 2).sum(axis=1)
    guess = study.answer(reading(belief=BELIEF))
    assert guess.estimate == pytest.approx(mean)
    assert guess.uncertainty == pytest.approx(variance)
    acts = scientist(study, threshold=Fixed(variance + 1e-6))
    stops = scientist(study, threshold=Fixed(variance - 1e-6))
    seen = reading(belief=BELIEF)
    assert data_utility(acts, seen, TRUTH) == pytest.approx(-((mean - TRUTH.ravel()) ** 2).sum())
    assert data_utility(stops, seen, TRUTH) == pytest.approx(-((BLANK - TRUTH) ** 2).sum())


def test_a_distribution_for_the_threshold_mixes_the_two():
    study = PosteriorCounts()
    distribution = Continuous(lambda u: float(np.exp(-u)))
    uncertainty = study.answer(reading(belief=BELIEF)).uncertainty
    acts = np.exp(-uncertainty)
    ends = [
        data_utility(scientist(study, threshold=Fixed(t)), reading(belief=BELIEF), TRUTH)
        for t in (1e9, -1e9)
    ]
    mixed = data_utility(scientist(study, threshold=distribution), reading(belief=BELIEF), TRUTH)
    assert mixed == pytest.approx(acts * ends[0] + (1 - acts) * ends[1])


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [(bounds_scenario(), -2.0), (table_scenario(), 0.5), (cells_scenario(4), 0.0)],
    ids=["(3)", "1/M(T)", "(5)"],
)
def test_the_measures_of_the_paper_are_presets(scenario, expected):
    """Small cells 1 and 2: widths 2 and 2; both modes right, at exactly 1/2, which is not above."""
    assert disclosure_risk(scenario, BELIEF, TRUTH) == pytest.approx(expected)


def test_worth_puts_users_on_one_scale():
    assert worth(0.0, -4.0) == 1
    assert worth(-4.0, -4.0) == 0
    assert worth(-8.0, -4.0) == -1
    assert worth(0.0, 0.0) == 1
    assert worth(-1.0, 0.0) == -1
    assert combined({"a": 1.0, "b": 0.0}, {"a": 3.0, "b": 1.0}) == 0.75


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Scientist(name="s", studies=[(0.5, CellCounts())]), "studies of s must be"),
        (lambda: Scientist(name="s", studies=[]), "studies of s must be"),
        (lambda: scientist(weight=0.0), "weight of s must be above 0, got 0"),
        (lambda: scientist(weight=float("inf")), "weight of s must be above 0"),
    ],
)
def test_bad_actors(make, says):
    with pytest.raises(InputError, match=says.replace("(", r"\(")):
        make()
