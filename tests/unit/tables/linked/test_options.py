"""What may be asked of an attack and of an audit of published tables."""

import pytest

from discreet.data.hierarchy import Hierarchy
from discreet.errors import InputError
from discreet.tables.linked.audit import PublishedAuditOptions
from discreet.tables.linked.options import AttackOptions

BOTH = pytest.mark.parametrize("options", [AttackOptions, PublishedAuditOptions])


@BOTH
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"absent": "none"}, "absent must be unknown or zero, got 'none'"),
        ({"small": 0}, "small must be at least 1, got 0"),
        ({"most": -1}, "most must be at least 0, got -1"),
        ({"seconds": 0}, "seconds must be above 0 and finite, got 0"),
        ({"seconds": float("inf")}, "seconds must be above 0 and finite"),
        ({"area_seconds": 0}, "area_seconds must be above 0 and finite"),
        ({"labels": 7}, "labels must be"),
        ({"policy": "nonsense"}, "policy"),
    ],
)
def test_what_cannot_be_asked(options, given, message):
    with pytest.raises(InputError, match=message):
        options(**given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"confidence": 1.0}, "confidence must be from 0 to below 1, got 1"),
        ({"confidence": -0.1}, "confidence must be from 0 to below 1"),
        ({"measure": "beauty"}, "measure must be"),
        ({"max_risk": 2.0}, "max_risk must be from 0 to 1 for the measure cells, got 2"),
        ({"max_risk": 1.0, "measure": "bounds"}, "max_risk must be 0 or below for the measure"),
        ({"others": ("sex",)}, r"others must be left out where the data are given, got \('sex',\)"),
        ({"areas": "region"}, "areas must be left out where the data are given, got 'region'"),
    ],
)
def test_what_cannot_be_asked_where_there_are_data(given, message):
    with pytest.raises(InputError, match=message):
        _ = PublishedAuditOptions(**given).policies


def test_trees_are_read_from_files(tmp_path):
    path = tmp_path / "tree.csv"
    path.write_text("level,group,root\na,P,all\nb,Q,all\n")
    tree = Hierarchy.of_table([("a", "P", "all"), ("b", "Q", "all")])
    found = AttackOptions(trees={"x": path, "y": tree}).read_trees()
    assert found["x"].leaves == ("a", "b")
    assert found["y"] is tree


@BOTH
def test_without_a_policy_no_small_count_may_follow(options):
    [policy] = options(small=5).policies
    assert [(rule.name, rule.limit) for rule in policy.rules] == [("derived_counts", 6)]
    assert options().most_small == 2


def test_a_limit_is_judged_besides():
    [own] = PublishedAuditOptions(max_risk=-2, measure="bounds").policies
    assert [rule.name for rule in own.rules] == [
        "bounds", "printed_counts", "groups", "derived_counts",
    ]  # fmt: skip


def test_a_policy_says_what_is_small():
    options = AttackOptions(policy="ons-10-5")
    assert options.most_small > 2
    assert len(options.policies) == 1
    assert len(AttackOptions(policy="ons-10-5", small=2).policies) == 2
