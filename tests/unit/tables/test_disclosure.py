"""Disclosure risk: the general formula, and that it gives the measures of the field."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from discreet.belief.belief import ListedBelief
from discreet.errors import InputError
from discreet.tables.attacks import (
    FiniteChoice,
    OneCell,
    WholeTable,
    bounds_scenario,
    cells_scenario,
    table_scenario,
)
from discreet.tables.disclosure import (
    Always,
    Continuous,
    Discrete,
    Fixed,
    Scenario,
    disclosure_risk,
    worst_risk,
)


@st.composite
def beliefs(draw):
    """A distribution over a few tables of four cells, and the position of the true one."""
    rows = draw(st.lists(st.tuples(*[st.integers(0, 4)] * 4), min_size=1, max_size=6, unique=True))
    weights = draw(hnp.arrays(np.float64, len(rows), elements=st.floats(0.1, 1)))
    belief = ListedBelief(tables=np.array(rows), probabilities=weights / weights.sum())
    return belief, np.array(rows[draw(st.integers(0, len(rows) - 1))])


@given(beliefs(), st.integers(1, 4))
def test_tight_bounds_are_measure_3(case, small):
    belief, truth = case
    widths = [
        int(u - low) for low, u, f in zip(belief.lower, belief.upper, truth) if 0 < f <= small
    ]
    expected = -min(widths) if widths else -truth.sum()
    assert disclosure_risk(bounds_scenario(small), belief, truth) == expected


@given(beliefs())
def test_the_whole_table_is_its_probability(case):
    belief, truth = case
    assert disclosure_risk(table_scenario(), belief, truth) == pytest.approx(
        belief.probability(truth).value
    )


@given(beliefs())
def test_a_uniform_prior_gives_one_over_the_number_of_tables(case):
    belief, truth = case
    m = len(belief.tables)
    uniform = ListedBelief(tables=belief.tables, probabilities=np.full(m, 1 / m))
    assert disclosure_risk(table_scenario(), uniform, truth) == pytest.approx(1 / m)


@given(beliefs(), st.sampled_from([0.0, 0.3, 0.5, 0.9]), st.integers(1, 4))
def test_cells_are_measure_5(case, confidence, small):
    belief, truth = case
    found, total = 0, 0
    for cell, count in enumerate(truth):
        if 0 < count <= small:
            total += 1
            distribution = belief.cell(cell)
            best = max(sorted(distribution), key=distribution.get)
            found += best == count and distribution[best] > confidence + 1e-12
    scenario = cells_scenario(4, small=small, confidence=confidence)
    risk = disclosure_risk(scenario, belief, truth)
    close = any(abs(max(belief.cell(c).values()) - confidence) < 1e-9 for c in range(4))
    if not close:  # at the very threshold rounding decides
        assert risk == pytest.approx(found / total if total else 0.0)


def test_the_threshold_weighs_harm():
    belief = ListedBelief(tables=np.array([[1, 0], [0, 1]]), probabilities=np.array([0.5, 0.5]))
    truth, h = np.array([1, 0]), math.log(2)
    for threshold, acts in (
        (Fixed(0.5), 0.0),
        (Fixed(h), 1.0),
        (Fixed(h, strictly=True), 0.0),
        (Discrete((0.1, 1.0), (0.3, 0.7)), 0.7),
        (Continuous(lambda u: math.exp(-u)), 0.5),
    ):
        scenario = Scenario(attacks=[(1.0, WholeTable())], threshold=threshold)
        assert disclosure_risk(scenario, belief, truth) == pytest.approx(0.5 * acts)


def test_a_measure_of_ones_own():
    """An intruder who must name the larger cell; the agency minds only if he is right."""
    larger = FiniteChoice(
        actions=[0, 1],
        loss=lambda action, table: float(table[action] < table[1 - action]),
        harm_of=lambda action, table: float(action is not None and table[action] > 2),
    )
    tables = np.array([[3, 0], [2, 1], [0, 3]])
    belief = ListedBelief(tables=tables, probabilities=np.array([0.5, 0.3, 0.2]))
    guess = larger.guess(belief)
    assert guess.estimate == 0
    assert guess.uncertainty == pytest.approx(0.2)
    scenario = Scenario(attacks=[(1.0, larger)])
    assert disclosure_risk(scenario, belief, tables[0]) == 1.0
    assert disclosure_risk(scenario, belief, tables[2]) == 0.0


def test_the_worst_of_several_intruders():
    belief = ListedBelief(tables=np.array([[1, 0], [0, 1]]), probabilities=np.array([0.7, 0.3]))
    scenarios = [table_scenario(), Scenario(attacks=[(1.0, OneCell(cell=0))])]
    assert worst_risk(scenarios, belief, np.array([1, 0])) == 2.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Scenario(attacks=[]), "attacks must be at least one"),
        (lambda: Scenario(attacks=[(0.4, WholeTable())]), "attacks must be .* got 0.4"),
        (lambda: Discrete((1.0,), (0.5,)), "threshold must be as many probabilities as limits"),
        (lambda: Continuous(lambda u: 2.0).acts(1.0), "threshold must be a probability"),
        (
            lambda: cells_scenario(4, confidence=1.0),
            "confidence must be from 0 to below 1, got 1.0",
        ),
        (lambda: worst_risk([], None, None), "scenarios must be at least one, got none"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_always_acts():
    assert Always().acts(math.inf) == 1.0


@pytest.mark.parametrize("bits", [-4, -1, 0, 1, 4])
@pytest.mark.parametrize("limit", [0.5, 1 / 3, math.log(2), 7.0])
def test_rounding_makes_nobody_act_or_give_up(limit, bits):
    uncertainty = limit * (1 + bits * 2**-52)
    assert Fixed(limit).acts(uncertainty) == 1
    assert Fixed(limit, strictly=True).acts(uncertainty) == 0
    assert Discrete((limit, 9.0), (0.25, 0.75)).acts(uncertainty) == 1
    assert Fixed(0.0).acts(abs(bits) * 2**-53) == 1  # 1 − a sum of probabilities that is 1


@pytest.mark.parametrize("noise", [-1e-16, 0.0, 1e-16])
def test_of_actions_that_are_as_good_the_first_is_taken(noise):
    tables = np.array([[0, 1], [1, 0], [1, 1]])
    belief = ListedBelief(tables=tables, probabilities=np.array([0.3, 0.3 + noise, 0.4 - noise]))
    choice = FiniteChoice(
        actions=["first", "second"],
        loss=lambda action, table: float(table[0 if action == "first" else 1] == 0),
        harm_of=lambda action, table: 0.0,
    )
    assert choice.guess(belief).estimate == "first"
