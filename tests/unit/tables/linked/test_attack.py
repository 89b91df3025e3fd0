"""What follows from tables, for somebody who holds nothing else."""

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.tables.linked.linking import SQUARE, TOLD, put_together, source

from discreet.data.hierarchy import Hierarchy
from discreet.errors import InputError
from discreet.figures import Unavailable
from discreet.flows.attack import attack
from discreet.policy.policy import Policy
from discreet.policy.table_rules import DerivedCounts, PrintedCounts
from discreet.policy.verdict import Ruling
from discreet.tables.linked import attack as module
from discreet.tables.linked.attack import nearly_known
from discreet.tables.linked.rules import Rule


def found(*sources, **keywords):
    return attack(list(sources), seconds=None, **keywords)


def test_a_figure_that_follows_has_a_name_a_value_and_a_reason():
    own = found(*TOLD)
    first, second = own.derived
    assert (first.cell, first.but, first.lower, first.upper) == (
        {"sex": "M", "age": "15"},
        (),
        1,
        1,
    )
    assert first.words == "sex M, age 15"
    assert first.derivation.sentence == (
        "30 (t1: sex M, age 15-19) − 29 (t2: sex M, age 16-19) = 1"
    )
    assert (second.cell, second.lower) == ({"sex": "F", "age": "15"}, 3)
    assert (own.n_derived, own.unproved, own.n_tables.value) == (2, 0, 1)
    assert own.rebuilt.rebuilt.to_json()["whole"] is True


def test_bounds_of_the_finest_cells():
    rows = [("F", None), ("M", None), ("Total", 3)]
    own = found(source("t", ["sex"], rows))
    assert [(one.cell["sex"], one.lower, one.upper) for one in own.cells] == [
        ("F", 0, 3),
        ("M", 0, 3),
    ]
    assert own.n_tables.value == 4
    assert own.narrow == ()
    own = found(source("t", ["sex"], rows, rule=Rule(withheld=(1, 9), stated=True)))
    assert [(one.lower, one.upper) for one in own.narrow] == [(1, 2), (1, 2)]


def test_without_a_policy_no_small_count_may_follow():
    assert found(SQUARE).verdict.ruling is Ruling.KEPT
    assert found(*TOLD).verdict.ruling is Ruling.BROKEN
    more = [replace(TOLD[0], table=replace(TOLD[0].table, printed=("33", "40"))), TOLD[1]]
    assert found(*more).verdict.ruling is Ruling.KEPT
    assert found(*more, small=11).verdict.ruling is Ruling.BROKEN


def test_policies_judge():
    strict = Policy(name="strict", rules=(PrintedCounts(limit=3), DerivedCounts(limit=3)))
    judged = found(SQUARE, policy=strict)
    assert judged.verdict.ruling is Ruling.BROKEN
    assert judged.findings["printed:2"].value.value == 2
    assert judged.findings["printed:2"].concerns == (
        "square: sex F, age 0-17", "square: sex M, age 0-17",
    )  # fmt: skip


def test_the_smallest_are_listed():
    own = found(*TOLD, most=1)
    assert [one.lower for one in own.derived] == [1]
    assert own.n_derived == 2
    assert found(*TOLD, most=0).derived == ()


def test_cells_that_nothing_limits():
    own = found(source("t", ["sex"], [("F", 5), ("M", None)]))
    assert [one.cell for one in own.cells] == [{"sex": "F"}]
    assert own.n_tables.value is None
    assert "no end of tables" in own.n_tables.note
    assert "1 cell is limited by no figure." in own.notes
    assert isinstance(own.rebuilt, Unavailable)


def test_what_somebody_knows_besides():
    rows = [("F", None), ("M", None), ("Total", 3)]
    own = found(source("t", ["sex"], rows), knows=["sex=F:1"])
    assert [one.lower for one in own.derived] == [2]
    assert own.derived[0].derivation.sentence == "3 (t: everybody) − 1 (knowledge: sex F) = 2"


def test_levels_that_no_table_lists():
    tables = [source("t", ["sex"], [("F", 3), ("M", 4)]), source("n", [], [(9,)])]
    with pytest.raises(InputError, match="n: total must be the sum of its parts in t"):
        found(*tables)
    own = found(*tables, others=("sex",))
    assert [(one.cell, one.lower) for one in own.derived] == [({"sex": "others"}, 2)]
    assert "Levels that no table lists are taken to exist of sex." in own.notes


@pytest.mark.parametrize(
    "options",
    [{"others": ("sax",)}, {"trees": {"sax": Hierarchy.of_table([("a", "P", "all")])}}],
)
def test_options_about_variables_that_no_table_has(options):
    [name] = options
    with pytest.raises(InputError, match=rf"{name} must be variables of the tables \(sex, age\), "
                       "got 'sax'"):  # fmt: skip
        found(*TOLD, **options)


def test_a_figure_that_is_no_cell_is_one_less_others():
    tables = [
        source(
            "t",
            ["sex", "age"],
            [("F", "0", 2), ("M", "0", None), ("F", "1", None), ("M", "1", None)],
        ),
        source("n", [], [(9,)]),
    ]
    [one] = found(*tables).derived
    assert (one.cell, one.but, one.lower) == ({}, ({"sex": "F", "age": "0"},), 7)
    assert one.words == "everybody but for sex F, age 0"


def test_a_proof_by_figures_in_another_order_names_the_whole_first():
    """The whole stands behind its part in the tables; what is left of it is no cell."""
    tables = [
        source("part", ["age"], [("2", 2)], part={"sex": "F"}),
        source("whole", ["age"], [("0-2", 9), ("3", 4)]),
        source("first", ["age"], [("0", 3)]),
    ]
    for order in (tables, tables[::-1]):
        wide = [one for one in found(*order).derived if one.but]
        assert {one.lower for one in wide} == {4}
        assert {(one.cell["age"], len(one.but)) for one in wide} == {("0-2", 2)}


def test_of_large_tables_those_nearly_known_are_bounded(monkeypatch):
    rows = [("F", None), ("M", None), ("Total", 3)]
    table = source("t", ["sex"], rows, rule=Rule(withheld=(1, 9), stated=True))
    own = put_together(table)
    assert nearly_known(own.seen, 2).tolist() == [0, 1]
    assert nearly_known(own.seen, 1).tolist() == []
    monkeypatch.setattr(module, "MOST_BOUNDED", 1)
    assert [(one.lower, one.upper) for one in found(table).narrow] == [(1, 2), (1, 2)]
    assert found(table, small=1).cells == ()


def test_areas():
    rows = [("N", "F", None), ("N", "M", None), ("N", "Total", 3), ("S", "F", 2), ("S", "M", 4)]
    own = found(source("t", ["region", "sex"], rows), areas="region")
    assert [(one.name, one.persons.value, one.is_whole) for one in own.areas] == [
        ("N", 3, False), ("S", 6, True),
    ]  # fmt: skip


def test_results_are_fixed_by_the_seed():
    one, two = found(*TOLD, seed=4), found(*TOLD, seed=4)
    assert [x.words for x in one.derived] == [x.words for x in two.derived]
    assert np.array_equal(one.derived[0].atoms, two.derived[0].atoms)
