"""Published tables held against the data."""

import re

import numpy as np
import pytest
from tests.unit.tables.linked.linking import source

from discreet.data.published.published_table import Statistic
from discreet.data.table import Table
from discreet.errors import InputError
from discreet.figures import Unavailable
from discreet.flows.audit_published import audit_published
from discreet.policy.policy import Policy
from discreet.policy.table_rules import Groups, SmallCellsIdentified, TrueTable
from discreet.policy.verdict import Ruling
from discreet.tables.linked import audit as module
from discreet.tables.linked.rules import Rule

AGES = ["15", "16", "17"]
TABLE = Table.of_dense(np.array([[11, 17], [12, 18], [13, 19]]), ["age", "sex"], [AGES, ["F", "M"]])
SMALL = Table.of_dense(np.array([[1, 17], [12, 18], [13, 2]]), ["age", "sex"], [AGES, ["F", "M"]])


def audited(table, *published, release=(), **keywords):
    return audit_published(table, list(published), release, seconds=None, **keywords)


def test_bands_that_differ_by_one_year():
    own = audited(SMALL, release=["age:merge(15,16,17,into=15-17),sex", "sex | age=16;17"])
    small = [one for one in own.derived if one.lower == 1]
    assert [one.cell for one in small] == [{"age": "15", "sex": "F"}]
    assert small[0].derivation.sentence.endswith("= 1")
    assert own.verdict.ruling is Ruling.BROKEN
    assert own.n_small == 1  # 17 is told apart from 16 by no table


def test_the_cells_are_those_that_the_tables_tell_apart():
    own = audited(SMALL, release=["age:breaks(16),sex"])
    assert {tuple(one.cell.values()): (one.lower, one.upper) for one in own.cells} == {
        ("below 16", "F"): (1, 1),
        ("below 16", "M"): (17, 17),
        ("16+", "F"): (25, 25),
        ("16+", "M"): (20, 20),
    }
    [small] = own.small_cells
    assert (small.count, small.bounds.lower, small.bounds.upper) == (1, 1, 1)
    assert small.chances == {1: pytest.approx(1.0)}
    assert own.measures.small_cells_identified.value == 1.0
    assert own.tightness.value == 0


def test_margins_hide_what_is_small():
    own = audited(SMALL, release=[["age"], ["sex"]])
    assert own.n_small == 2
    assert own.measures.small_cells_identified.value == 0.0
    assert own.tightness.value == -15  # men of 17, from 0 to 15
    assert own.derived == ()
    assert own.believed.startswith("exact")


def test_no_small_cell():
    own = audited(TABLE, release=[["age"], ["sex"]])
    assert own.n_small == 0
    assert isinstance(own.measures.small_cells_identified, Unavailable)
    assert isinstance(own.tightness, Unavailable)
    assert own.verdict.ruling is Ruling.KEPT


@pytest.mark.parametrize("limit", [0.4, 1.0])
def test_a_limit_on_the_share_of_small_cells(limit):
    own = audited(SMALL, release=["age,sex | withheld(1..2)", ["age"], ["sex"]], max_risk=limit)
    assert own.measures.small_cells_identified.value == 1.0
    [rule] = [one for one in own.verdict.rules if one.rule == "small_cells_identified"]
    assert rule.ruling is (Ruling.KEPT if limit == 1.0 else Ruling.BROKEN)


SECRETS = [17, 12, 18, 13, 31]  # true counts that nobody may read off a message


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (source("t", ["sex"], [("F", 25), ("M", 37)]),
         "published figures must be true of the data, got 1 that are not: t: sex F; is the table "
         "of other data"),
        (source("t", ["sex"], [("F", 25), ("M", 36)], where=("row 2", "row 3")),
         "got 2 that are not: t: sex F; t: sex M at row 2"),
        (source("t", ["sex"], [("F", 25), ("M", 40)], rule=Rule(base=5, stated=True)),
         None),
        (source("t", ["sex"], [("F", 20), ("M", 40)], rule=Rule(base=5, stated=True)),
         "got 1 that are not: t: sex F"),
        (source("t", ["sex"], [("F", None), ("M", None)], rule=Rule(withheld=(1, 4), stated=True)),
         "got 2 that are not: t: sex F; t: sex M"),
        (source("t", ["sex"], [("F", "41.3"), ("M", "58.7")], statistic=Statistic.PERCENT), None),
        (source("t", ["age", "sex"], [(a, s, 1) for a in AGES for s in "FM"]),
         "got 5 that are not: .*; t: age 17, sex M;"),
        (source("t", ["age", "sex"], [(a, s, 99) for a in AGES for s in "FM"]),
         "got 6 that are not: .* and 1 more;"),
    ],
)  # fmt: skip
def test_figures_that_are_not_true_are_named_without_their_counts(table, message):
    if message is None:
        audited(SMALL, table)
        return
    with pytest.raises(InputError) as raised:
        audited(SMALL, table)
    told = str(raised.value)
    assert re.search(message, told), told
    numbers = set(map(int, re.findall(r"\d+", told)))
    assert not numbers & {26, 37, 63, 12, 13, 18}


def test_shares_and_means_that_are_not_true():
    number = source("n", [], [(63,)])
    shares = source("s", ["sex"], [("F", "50.0"), ("M", "50.0")], statistic=Statistic.PERCENT)
    with pytest.raises(InputError, match="got 2 that are not: s: sex F; s: sex M"):
        audited(SMALL, shares, number)
    years = source("y", ["age"], [("15", 18), ("16", 30), ("17", 15)])
    mean = source("m", [], [("16.9",)], statistic=Statistic.MEAN, of=("age",))
    with pytest.raises(InputError, match="got 1 that are not: m: total"):
        audited(SMALL, mean, years)
    mean = source("m", [], [("16.0",)], statistic=Statistic.MEAN, of=("age",))
    assert audited(SMALL, mean, years).derived == ()


def test_knowledge_that_is_not_true():
    with pytest.raises(InputError, match="got 1 that are not: knowledge: sex F"):
        audited(SMALL, release=[["age"]], knows=["sex=F:3"])


def test_tables_of_other_data():
    with pytest.raises(InputError, match="variables of published tables must be those of the data, "
                       "got 'height' at t"):  # fmt: skip
        audited(SMALL, source("t", ["height"], [("1", 3)]))
    with pytest.raises(InputError, match="label 'old' of age must be a level, band or group of the "
                       "data, got none of them at t"):  # fmt: skip
        audited(SMALL, source("t", ["age"], [("15", 18), ("old", 3)]))
    with pytest.raises(InputError, match="got 1 that are not: t: age 18"):
        audited(SMALL, source("t", ["age"], [("15", 18), ("18", 3)]))
    # Nobody of an age that the data do not have is true of them.
    assert audited(SMALL, source("t", ["age"], [("15", 18), ("18", 0)])).n_small == 0


def test_something_is_published():
    with pytest.raises(InputError, match="published or release must be given, got none"):
        audited(SMALL)


NESTED = Table.of_dense(
    np.array([[[50, 0], [0, 0]], [[0, 0], [40, 30]]]),
    ["ward", "region", "state"],
    [["w1", "w2"], ["North", "South"], ["ill", "well"]],
)
GROUPS = Policy(name="groups", rules=(Groups(),))


def test_groups_that_share_a_level():
    own = audited(NESTED, release=[["region", "state"]], policy=GROUPS)
    found = own.findings["groups"]
    assert found.value.value == 2
    assert found.concerns == (
        "all of state well are region South", "all of region North are state ill",
    )  # fmt: skip
    assert own.verdict.ruling is Ruling.BROKEN


def test_nesting_that_the_data_alone_show_leaves_it_open():
    own = audited(NESTED, release=[["ward", "region"]], policy=GROUPS)
    found = own.findings["groups"]
    assert (found.value.value, found.value.low, found.value.high) == (None, 0, 4)
    assert "unless everybody knows that each" in found.found
    assert own.verdict.ruling is Ruling.UNDECIDED


def test_nesting_that_the_names_show_excuses_a_group():
    table = Table.of_dense(
        np.array([[50, 0], [30, 0], [0, 40], [0, 20]]),
        ["ward", "region"],
        [["N1", "N2", "S1", "S2"], ["N", "S"]],
    )
    own = audited(table, release=[["ward", "region"]], policy=GROUPS)
    found = own.findings["groups"]
    assert found.value.value == 0
    assert "that each ward has one region is taken as common knowledge" in found.found
    assert own.verdict.ruling is Ruling.KEPT


def test_no_group_shares_a_level():
    own = audited(SMALL, release=[["age", "sex"]], policy=GROUPS)
    assert own.findings["groups"].value.value == 0
    assert own.verdict.ruling is Ruling.KEPT


def test_rules_on_what_was_not_measured_are_open():
    policy = Policy(name="p", rules=(SmallCellsIdentified(limit=0.5, small=7),))
    own = audited(SMALL, release=[["age"], ["sex"]], policy=policy, small=2)
    [name] = [one for one in own.findings if one.startswith("small_cells_identified")]
    assert "measured for counts from 1 to 2" in own.findings[name].value.reason
    policy = Policy(name="p", rules=(SmallCellsIdentified(limit=0.5, confidence=0.9),))
    own = audited(SMALL, release=[["age"], ["sex"]], policy=policy)
    assert own.verdict.ruling is Ruling.UNDECIDED


def test_the_probability_of_the_true_table():
    policy = Policy(name="p", rules=(TrueTable(limit=0.5),))
    own = audited(SMALL, release=[["age", "sex"]], policy=policy)
    assert own.measures.true_table.value == pytest.approx(1.0)
    assert own.verdict.ruling is Ruling.BROKEN


def test_large_tables_are_not_weighed(monkeypatch):
    monkeypatch.setattr(module, "MOST_BELIEVED", 2)
    own = audited(SMALL, release=[["age"], ["sex"]])
    assert own.measures.small_cells_identified.reason == ("the tables tell more than 2 cells apart")


def test_cells_that_no_figure_limits_are_not_weighed():
    own = audited(SMALL, release=["sex | withheld(1..40)"], small=40)
    assert own.n_tables.value == 40 * 40
    own = audited(SMALL, source("t", ["sex"], [("F", None), ("M", 37)]), small=40)
    assert own.measures.small_cells_identified.reason == "some cells are limited by no figure"
