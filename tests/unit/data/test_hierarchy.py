"""The tree of levels: read from a table or from parents, and refused when it is no tree."""

import numpy as np
import pytest

from discreet.data.hierarchy import Hierarchy
from discreet.errors import InputError

TABLE = [
    ("flu", "infection", "respiratory", "*"),
    ("pneumonia", "infection", "respiratory", "*"),
    ("embolism", "vascular", "respiratory", "*"),
    ("gastritis", "stomach", "digestive", "*"),
]
PARENTS = {
    "flu": "infection",
    "pneumonia": "infection",
    "embolism": "vascular",
    "infection": "respiratory",
    "vascular": "respiratory",
    "gastritis": "stomach",
    "stomach": "digestive",
    "respiratory": "*",
    "digestive": "*",
}


def partitions(hierarchy: Hierarchy) -> list[set[frozenset[str]]]:
    """The sets of leaves that are together at each height."""
    return [
        {frozenset(np.array(hierarchy.leaves)[groups == code]) for code in groups}
        for groups in hierarchy.groups
    ]


def test_a_table_and_the_same_parents_are_the_same_tree():
    by_table, by_parents = Hierarchy.of_table(TABLE), Hierarchy.of_parents(PARENTS)
    assert by_table.height == by_parents.height == 3
    assert by_table.leaves == by_parents.leaves == ("flu", "pneumonia", "embolism", "gastritis")
    assert partitions(by_table) == partitions(by_parents)
    assert partitions(by_table) == [
        {frozenset({leaf}) for leaf in by_table.leaves},
        {frozenset({"flu", "pneumonia"}), frozenset({"embolism"}), frozenset({"gastritis"})},
        {frozenset({"flu", "pneumonia", "embolism"}), frozenset({"gastritis"})},
        {frozenset(by_table.leaves)},
    ]


def test_an_uneven_tree_counts_height_from_the_lowest_leaf():
    hierarchy = Hierarchy.of_parents({"a": "x", "b": "x", "x": "root", "c": "root", "d": "root"})
    assert hierarchy.height == 2
    assert partitions(hierarchy) == [
        {frozenset("a"), frozenset("b"), frozenset("c"), frozenset("d")},
        {frozenset("ab"), frozenset("c"), frozenset("d")},
        {frozenset("abcd")},
    ]


def test_a_node_high_above_its_children_waits():
    chain = {"a": "x", "x": "y", "b": "y", "y": "root", "c": "z", "d": "z", "z": "root"}
    hierarchy = Hierarchy.of_parents(chain)  # heights: x 1, y 2, z 1, root 3
    assert partitions(hierarchy) == [
        {frozenset("a"), frozenset("b"), frozenset("c"), frozenset("d")},
        {frozenset("a"), frozenset("b"), frozenset("cd")},
        {frozenset("ab"), frozenset("cd")},
        {frozenset("abcd")},
    ]


def test_groups_follow_the_order_of_the_levels_asked_for():
    groups = Hierarchy.of_table(TABLE).groups_of(["gastritis", "pneumonia", "flu"])
    assert groups.shape == (3, 3)
    assert len(set(groups[0])) == 3
    for height in (1, 2):
        assert groups[height, 1] == groups[height, 2] != groups[height, 0]


def test_a_row_may_stand_twice_and_entries_need_not_be_text():
    hierarchy = Hierarchy.of_table([(1, "low", "*"), (1, "low", "*"), (2, "low", "*")])
    assert hierarchy.leaves == ("1", "2")
    assert hierarchy.groups.tolist() == [[0, 1], [0, 0], [0, 0]]


def test_the_same_name_in_two_columns_is_two_nodes():
    hierarchy = Hierarchy.of_table([("other", "other", "*"), ("rest", "none", "*")])
    assert hierarchy.groups.tolist() == [[0, 1], [0, 1], [0, 0]]


def test_a_long_chain_is_no_trouble():
    hierarchy = Hierarchy.of_parents({str(i): str(i + 1) for i in range(3000)})
    assert (hierarchy.height, hierarchy.leaves) == (3000, ("0",))


def test_groups_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        Hierarchy.of_table(TABLE).groups[0, 0] = 1


def test_levels_without_a_leaf_are_named():
    hierarchy = Hierarchy.of_table(TABLE)
    with pytest.raises(InputError) as one:
        hierarchy.groups_of(["flu", "stomach"])
    assert str(one.value) == (
        "hierarchy must be a tree with a leaf for every level, got none for 'stomach'; "
        "add them; a level that is itself a group needs a leaf below the group"
    )
    with pytest.raises(InputError, match="none for 'a', 'b', 'c', 'd', 'e' and 2 more;"):
        hierarchy.groups_of(list("abcdefg"))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "hierarchy must be a row for each level, from level to root, got no rows"),
        ([("a",), ("b",)], "hierarchy must be a row for each level, .*got 1 columns"),
        ([("a", "*"), ("b", "x", "*")], "must be 2 entries in every row, got 3 at row 2"),
        ([("a", None)], "hierarchy must be filled in, got a missing entry at row 1"),
        ([("a", "*"), ("b", float("nan"))], "filled in, got a missing entry at row 2"),
        (
            [("a", "x", "*"), ("b", "x", "*"), ("a", "y", "*")],
            "'a' in column 1 of the hierarchy must be below one parent, got 'x' and 'y' at row 3",
        ),
        (
            [("a", "x", "p", "*"), ("b", "x", "q", "*")],
            "'x' in column 2 of the hierarchy must be below one parent, got 'p' and 'q' at row 2",
        ),
        (
            [("a", "x"), ("b", "y")],
            "last column of the hierarchy must be one root, got 2 different entries; add a column",
        ),
    ],
)
def test_tables_that_are_no_tree_are_refused(rows, message):
    with pytest.raises(InputError, match=message):
        Hierarchy.of_table(rows)


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ({}, "hierarchy must be a tree with one root, got none"),
        ({"a": "b", "b": "a"}, "hierarchy must be a tree with one root, got none"),
        ({"a": "x", "b": "y"}, "a tree with one root, got several: 'x', 'y'"),
        ({"a": "a", "b": "x"}, "hierarchy must be a tree, got a circle among 'a'"),
        ({"a": "x", "b": "c", "c": "b", "d": "c"}, "got a circle among 'b', 'c', 'd'"),
    ],
)
def test_parents_that_are_no_tree_are_refused(parents, message):
    with pytest.raises(InputError, match=message):
        Hierarchy.of_parents(parents)
