"""The choice for tables that are named: judged as one set, with what is out, and written."""

import csv
import json

import numpy as np
import pytest

from discreet import choose
from discreet.choice.publication import publication_of, write_release
from discreet.data.hierarchy import Hierarchy
from discreet.data.table import Table
from discreet.errors import InputError

LEAVES = [("a", "P", "all"), ("b", "P", "all"), ("c", "Q", "all"), ("d", "Q", "all")]
TREES = {"region": Hierarchy.of_table(LEAVES)}
COUNTS = np.array([[[7, 9], [1, 8]], [[6, 5], [9, 12]], [[8, 4], [7, 6]], [[9, 7], [5, 11]]])
TABLE = Table.of_dense(
    COUNTS, ["region", "age", "sex"], [list("abcd"), ["young", "old"], ["F", "M"]]
)
TABLES = ["region:tree(all),age+total | sex=F", "region:tree(1),sex"]


def chosen(**keywords):
    given = {"tables": TABLES, "trees": TREES, "max_risk": 0.5, "seed": 1, "seconds": 20}
    return choose(TABLE, **(given | keywords))


@pytest.fixture(scope="module")
def found():
    return chosen(masks="margins,suppression,controlled-rounding:base=3")


def test_exact_tables_are_above_the_limit_and_what_they_print_is_named(found):
    margins = found.candidates[1]
    assert margins.title == "margins"
    assert margins.risk.value == 1
    assert "prints 1 count from 1 to 2 in [region:tree(all),age+total | sex=F]" in margins.method


def test_the_set_is_suppressed_and_chosen(found):
    suppressed = found.candidates[2]
    assert suppressed.masked is not None
    assert suppressed.masked.protection.guarantee == "whole"
    assert len(suppressed.masked.published) == 2
    assert found.verdict.allows


def test_a_figure_that_is_out_is_not_hidden_and_counts():
    found = chosen(masks="suppression", out=["region,age | sex=F", ("sex",)])
    assert found.candidates[1].risk.value == 1  # the small count is out already
    assert found.verdict.ruling == "broken"
    assert all(one.shown.all() for one in found.candidates[1].masked.published)


def test_rules_on_printed_and_worked_out_counts_are_applied():
    masks = "margins,controlled-rounding:base=3,random"
    found = chosen(policy="statsnz-rr3", masks=masks)
    exact, rounded = found.candidates[1:3]
    assert any("no multiple" in one for one in exact.breaks)
    assert not any("no multiple" in one for one in rounded.breaks)


def test_tables_are_written_with_their_categories_and_their_part(found, tmp_path):
    suppressed = found.candidates[2]
    files = write_release(publication_of(suppressed, found.table), tmp_path / "out")
    rows = list(csv.reader(files[0].read_text(encoding="utf-8").splitlines()))
    assert rows[0] == ["sex", "region", "age", "count"]
    assert rows[1][:3] == ["F", "a", "young"]
    assert [row[1] for row in rows[1::3]] == ["a", "b", "c", "d", "P", "Q", "all"]
    by_name = {tuple(row[1:3]): row[3] for row in rows[1:]}
    assert by_name["a", "old"] == ""  # the count of 1
    assert by_name["all", "Total"] == str(COUNTS[:, :, 0].sum())
    record = json.loads(files[-1].read_text(encoding="utf-8"))
    assert record["parameters"]["tables"] == [[text] for text in TABLES]
    assert record["tables"][1]["table"] == "region:tree(1),sex"


def test_the_same_seed_gives_the_same_tables(found):
    again = chosen(masks="margins,suppression,controlled-rounding:base=3")
    for one, other in zip(found.candidates, again.candidates, strict=True):
        if one.masked is None or other.masked is None:
            assert one.masked is other.masked
            continue
        pairs = zip(one.masked.published, other.masked.published, strict=True)
        for first, second in pairs:
            assert (first.counts == second.counts).all()


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        (
            {"masks": "rounding:base=3"},
            "margins, suppression, controlled-rounding where the tables",
        ),
        ({"masks": "suppression[region]"}, "without sets"),
        ({"requests": [(("age",), 1.0)]}, "left out where the tables are named"),
        ({"tables": ["region:tree(all)"], "trees": {}}, "give the tree of 'region'"),
        ({"tables": [], "out": ["age:bands(5)"]}, "age:bands"),
    ],
)
def test_what_does_not_go_with_named_tables_is_refused(keywords, message):
    with pytest.raises(InputError, match=message):
        chosen(**keywords)


def test_too_many_small_sums_leave_the_other_masks(monkeypatch):
    monkeypatch.setattr("discreet.masks.suppression_unions.MOST_UNIONS", 0)
    table = Table.of_dense(np.array([[1, 1, 5], [8, 7, 5]]), "ab", [list("xy"), list("uvw")])
    given = {"tables": ["a+total,b+total"], "max_risk": 1.0, "seed": 1}
    found = choose(table, "suppression,controlled-rounding:base=3", **given)
    assert "small sums of hidden figures must be at most 0" in str(found.candidates[1].risk)
    assert found.candidates[2].masked is not None
