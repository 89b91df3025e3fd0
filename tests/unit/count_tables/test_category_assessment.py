"""Sets of statistics by category: each alone, and all jointly with what follows from margins."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from discreet.belief.count_belief import exact
from discreet.count_tables import category_assessment
from discreet.count_tables.category_assessment import Margin
from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.measures import CellRisk, interval_risk
from discreet.count_tables.rebuilding import hidden_counts
from discreet.count_tables.statistics import CountStatistics
from discreet.count_tables.verdict import plain_policy
from discreet.errors import InputError
from discreet.figures import Unavailable
from discreet.flows.counts import assess_categories, assess_counts
from discreet.policy.policy import judge
from discreet.policy.rule import Subject
from discreet.policy.verdict import Ruling, worst

TABLES = {
    "north": dict(enumerate([15, 20, 9, 5, 2])),
    "south": dict(enumerate([8, 9, 6, 3, 1])),
}
SETS = {name: CountStatistics.of_counts(table) for name, table in TABLES.items()}


def joint_by_hand(with_totals):
    north, south = (list(hidden_counts(one).tables()) for one in SETS.values())
    whole = np.array([23, 29, 15, 8, 3])
    pairs = [
        np.concatenate([a, b])
        for a, b in itertools.product(north, south)
        if not with_totals or np.array_equal(a + b, whole)
    ]
    logs = np.array([-sum(math.lgamma(c + 1) for c in pair) for pair in pairs])
    w = np.exp(logs - logs.max())
    return np.array(pairs), w / w.sum()


@pytest.mark.parametrize("totals", [False, True])
def test_joint_risk(totals):
    found = assess_categories(TABLES, totals=totals, max_risk=0.3)
    pairs, w = joint_by_hand(totals)
    joint = found.joint
    assert joint.count.value == len(pairs)
    assert joint.best_guess_probability.value == pytest.approx(w.max(), rel=1e-9)
    truth = np.array([c for table in TABLES.values() for c in table.values()])
    own = w[(pairs == truth).all(axis=1)].sum()
    assert joint.truth_probability.value == pytest.approx(own, rel=1e-9)
    exact = [w[pairs[:, j] == truth[j]].sum() for j in range(10)]
    assert joint.worst_cell.probability == pytest.approx(max(exact), rel=1e-9)
    got = [cell.truth_probability for name in found.names for cell in found.joint_cells[name]]
    assert got == pytest.approx(exact, rel=1e-9)
    possible = [cell.possible_counts for name in found.names for cell in found.joint_cells[name]]
    assert possible == [len(set(pairs[:, j])) for j in range(10)]
    assert found.verdict.ruling is Ruling.BROKEN
    counted = next(one for one in found.verdict.rules if one.rule == "count_risk")
    assert counted.value.value == pytest.approx(max(exact), rel=1e-9)
    assert counted.ruling is Ruling.BROKEN
    named = [f"value {j % 5} of {'north' if j < 5 else 'south'}" for j in range(10)]
    assert list(counted.concerns) == [one for one, p in zip(named, exact) if p > 0.3]
    alone = hidden_counts(SETS["north"]).distribution(truth=TABLES["north"])
    got = found.alone["north"].truth_probability.value
    assert got == pytest.approx(alone.truth_probability.value)


def test_a_withheld_set_follows_from_the_others():
    margin = Margin(categories=("north", "south"), statistics=SETS["north"])
    found = assess_categories(TABLES, withhold=["south"], margins={"all": margin}, max_risk=0.9)
    assert found.derived == ("south",)
    assert found.statistics["south"] == SETS["south"]
    assert "the set of south follows from the others by subtraction" in found.warnings
    assert found.verdict.allows


def test_an_intruder_sees_no_truth():
    both = CountStatistics.of_counts(dict(enumerate([23, 29, 15, 8, 3])))
    margin = Margin(categories=("north", "south"), statistics=both)
    found = assess_categories(sets={"north": SETS["north"]}, margins={"all": margin})
    assert found.derived == ("south",)
    assert not found.is_holder
    assert found.joint.truth_probability is None
    assert found.joint.worst_cell is None
    assert found.verdict is None
    assert all(cell.truth_probability is None for cell in found.joint_cells["south"])


def test_sets_that_do_not_follow_rest_on_an_assumption():
    both = CountStatistics.of_counts(dict(enumerate([2, 3, 1, 1])))
    margin = Margin(categories=("a", "b"), statistics=both)
    found = assess_categories(sets={}, margins={"both": margin})
    assert isinstance(found.alone["a"], Unavailable)
    assert "a, b" in found.assumptions[1]


def test_a_category_of_zeros_is_given_away():
    found = assess_categories(TABLES | {"east": {0: 7}}, totals=True)
    assert found.certain == ("east",)
    assert found.names == ("north", "south")
    assert "all counts of east are zero, which S1 = 0 gives away" in found.warnings


def test_a_category_of_zeros_may_not_go_out():
    found = assess_categories(TABLES | {"east": {0: 7}}, max_risk=0.9)
    broken = found.verdict.those(Ruling.BROKEN)
    assert [(one.rule, one.concerns) for one in broken] == [
        ("best_guess", ("east",)),
        ("count_risk", ("east",)),
    ]
    assert broken[0].words.startswith("S1 = 0 gives away all counts of east")
    assert len(found.verdict.those(Ruling.KEPT)) == 3  # all of the others may go out


def all_together(tables, statistics):
    return {"all": Margin(categories=tuple(tables), statistics=statistics)}


def test_zeros_that_are_withheld_beside_others_do_not_follow():
    tables = {"a": {1: 3, 2: 3}, "b": {0: 1}, "c": {1: 1, 2: 1}}
    whole = CountStatistics.of_counts({0: 1, 1: 4, 2: 4})
    margins = all_together(tables, whole)
    found = assess_categories(tables, withhold=["b", "c"], margins=margins)
    assert found.certain == ()
    assert found.derived == ()
    assert found.joint.count.value == 8  # f0, f1 and f2 of b and c together, split in 2 ways each
    one = assess_categories(tables, withhold=["b"], margins=margins)
    assert one.certain == ("b",)
    both = {"a": {1: 3, 2: 3}, "b": {0: 1}, "c": {0: 2}}
    margins = all_together(both, CountStatistics.of_counts({0: 3, 1: 3, 2: 3}))
    assert assess_categories(both, withhold=["b", "c"], margins=margins).certain == ("b", "c")


def test_two_withheld_have_no_value_that_their_rest_cannot_have():
    tables = {"a": {0: 1, 1: 1, 2: 1, 4: 1, 5: 1}, "b": {4: 1}, "c": {0: 1, 2: 1}}
    whole = CountStatistics.of_counts({0: 2, 1: 1, 2: 2, 4: 2, 5: 1})
    found = assess_categories(tables, withhold=["b", "c"], margins=all_together(tables, whole))
    # a has two tables (the other is of 0, 2, 2, 2, 6); b and c together have 0, 2 and 4
    assert found.joint.count.value == 2 * 2**3
    assert all(cell.interval.upper == 0 for cell in found.joint_cells["b"][5:])


def test_a_table_that_is_guessed_surely_is_not_hidden_by_others():
    sure = {0: 1, 1: 5, 3: 1, 4: 1}  # a best guess with probability 0.88, though a wrong one
    wide = dict(enumerate([20, 25, 18, 9, 6, 3, 1]))
    found = assess_categories({"sure": sure, "wide": wide}, max_risk=0.5)
    assert found.joint.best_guess_probability.value < 0.5
    assert found.joint.worst_cell.probability < 0.5
    assert found.alone["sure"].best_guess_probability.value == pytest.approx(15 / 17)
    broken = found.verdict.those(Ruling.BROKEN)
    assert len(broken) == 1
    assert "of the table of sure is right with probability 0.882" in broken[0].words


def test_knowledge_of_a_category_counts():
    known = {"north": Knowledge(cells={4: (2, 2)})}
    found = assess_categories(TABLES, knows=known)
    assert found.joint.count.value < assess_categories(TABLES).joint.count.value


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "either the tables of a holder or the sets of an intruder, got neither"),
        ({"sets": SETS, "totals": True}, "for the holder, who has the tables"),
        ({"sets": {}}, "categories must be at least one"),
        (
            {"tables": TABLES, "withhold": ["west"]},
            "withhold must be one of 'north', 'south', got 'west'",
        ),
        ({"tables": {"a": {0: 2}}}, "some observation is above zero"),
        ({"tables": TABLES, "max_risk": 2}, "max_risk must be between 0 and 1"),
    ],
)
def test_what_cannot_be_meant(given, words):
    with pytest.raises(InputError, match=words):
        assess_categories(**given)


def cell(value, probability):
    return CellRisk(
        value=value,
        interval=interval_risk(0, 3),
        best_guess=0,
        best_guess_probability=probability,
        entropy=1.0,
        truth_probability=probability,
        truth_upper=probability,
    )


@pytest.mark.parametrize("noise", [-1e-11, -(2**-53), 0.0, 2**-53, 1e-11])
def test_rounding_decides_nothing_about_categories(noise):
    tables = {"a": {0: 1, 1: 1}, "b": {0: 1, 1: 1}}
    cells = {"a": (cell(0, 0.5), cell(1, 0.5 + noise)), "b": (cell(0, 0.5 - noise), cell(1, 0.5))}
    worst = category_assessment._worst(cells, tables)
    assert (worst.category, worst.value) == ("a", 0)
    risk = replace(
        assess_categories(TABLES).joint,
        best_guess_probability=exact(0.5 - noise),
        worst_cell=replace(worst, probability=0.5 + noise, upper=0.5 + noise),
    )
    alone = {
        name: replace(risk, best_guess_probability=exact(p))
        for name, p in (("a", 0.5), ("b", 0.5 + noise))
    }
    findings = category_assessment._findings(risk, alone, cells, tables, {})
    rules = judge(plain_policy(0.5), Subject.COUNTS, findings).rules
    assert {one.ruling for one in rules} == {Ruling.KEPT}
    assert "of the table of a" in rules[1].words
    assert rules[2].words.startswith("the true count of value 0 of a has")
    assert rules[2].concerns == ()


@pytest.mark.parametrize("max_risk", [0.3, 0.45, 0.6, 0.9])
def test_each_category_is_judged_as_if_it_were_alone(max_risk):
    tables = TABLES | {"zero": {0: 4}, "few": {0: 3, 1: 4, 2: 1}}
    found = assess_categories(tables, max_risk=max_risk)
    assert set(found.verdicts) == set(tables)
    assert found.verdicts["zero"].ruling is Ruling.BROKEN
    for name in ("north", "south", "few"):
        alone = assess_counts(tables[name], max_risk=max_risk)
        assert found.verdicts[name].ruling is alone.verdict.ruling, name
        wanted = [rule.value.value for rule in alone.verdict.rules]
        got = [rule.value.value for rule in found.verdicts[name].rules]
        assert got == pytest.approx(wanted, rel=1e-9)
        if alone.verdict.ruling is Ruling.BROKEN:
            assert found.advice[name].decision is alone.advice.decision
            assert found.advice[name].decimals == alone.advice.decimals
        else:
            assert name not in found.advice
    assert found.verdict.ruling is worst(one.ruling for one in found.verdicts.values())


def test_counts_of_a_category_are_judged_with_all_that_is_out():
    found = assess_categories(TABLES, totals=True, max_risk=0.5)
    assert found.advice == {}  # decimals of one set are not all that is out
    for name, verdict in found.verdicts.items():
        held = [one for one in found.joint_cells[name] if TABLES[name][one.value] > 0]
        surest = max(one.truth_probability for one in held)
        assert verdict.rules[-1].value.value == pytest.approx(surest)


def test_a_table_that_is_known_alone_breaks_the_limit_though_all_together_are_not_known(
    monkeypatch,
):
    lost = Unavailable("no time")
    monkeypatch.setattr(
        category_assessment,
        "_joint_risk",
        lambda *_: lost,
    )
    found = assess_categories(TABLES, max_risk=0.1)
    assert found.verdict.ruling is Ruling.BROKEN
