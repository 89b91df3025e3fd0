"""How tables are written: the shape that a text describes, and texts that describe none."""

import numpy as np
import pytest

from discreet.data.hierarchy import Hierarchy
from discreet.data.table import Table
from discreet.data.tree_file import read_hierarchy
from discreet.errors import ColumnError, InputError
from discreet.masks.layout_notation import is_section_of_layout, layout_of, parted

AGES = [str(age) for age in range(12)]
TABLE = Table.of_dense(
    np.arange(1, 97).reshape(12, 2, 4),
    names=["age", "sex", "region"],
    levels=[AGES, ["F", "M"], ["Ax", "Ay", "Bx", "City"]],
)
TREE_FILE = """municipality,province,country
Ax,A,All
Ay,A,All
Bx,B,All
City,City,All
"""


@pytest.fixture
def trees(tmp_path):
    path = tmp_path / "tree.csv"
    path.write_text(TREE_FILE, encoding="utf-8")
    return {"region": read_hierarchy(path)}


def held(layout, place=0):
    """The levels that each category of a variable holds, by name."""
    one = layout.variables[place]
    levels = TABLE.levels[one.axis]
    return {
        name: [level for level, is_in in zip(levels, row, strict=True) if is_in]
        for name, row in zip(one.categories, one.holds, strict=True)
    }


def test_variables_as_they_are_make_a_margin():
    layout = layout_of("sex,age", TABLE)
    assert layout.names() == ("sex", "age")
    assert layout.title == "sex,age"
    assert (layout.counts() == TABLE.dense().sum(axis=2).T).all()


def test_bands_breaks_top_and_merged_levels():
    assert list(held(layout_of("age:bands(5)", TABLE))) == ["0-4", "5-9", "10-14"]
    assert held(layout_of("age:breaks(3,10)", TABLE))["10+"] == ["10", "11"]
    assert list(held(layout_of("age:top(10)", TABLE)))[-1] == "10+"
    merged = held(layout_of("region:merge(Ax,City,into=rest)", TABLE))
    assert merged == {"rest": ["Ax", "City"], "Ay": ["Ay"], "Bx": ["Bx"]}


def test_a_total_of_one_variable_or_of_all():
    one = layout_of("age:bands(6)+total,sex", TABLE)
    assert one.shape == (3, 2)
    assert one.counts()[2].tolist() == TABLE.dense().sum(axis=(0, 2)).tolist()
    both = layout_of("age:bands(6),sex | totals", TABLE)
    assert both.shape == (3, 3)
    assert both.counts()[2, 2] == TABLE.total
    assert both.title == "age:bands(6),sex | totals"


def test_the_number_of_persons_of_a_part():
    layout = layout_of("total | sex=F, age=0-3", TABLE)
    assert layout.shape == ()
    assert int(layout.counts()) == TABLE.dense()[:4, 0].sum()


def test_levels_of_a_tree_by_name_and_height(trees):
    by_name, by_height = (
        held(layout_of(text, TABLE, trees)) for text in ("region:tree(province)", "region:tree(1)")
    )
    assert by_name == by_height == {"A": ["Ax", "Ay"], "B": ["Bx"], "City": ["City"]}


def test_all_nodes_of_a_tree_hold_subtotals_and_one_total(trees):
    found = held(layout_of("region:tree(all)+total", TABLE, trees))
    # The city is its own province: one figure, which the table has once.
    assert list(found) == ["Ax", "Ay", "Bx", "City", "A", "B", "All"]
    assert found["All"] == list(TABLE.levels[2])
    two = held(layout_of("region:tree(municipality,country)", TABLE, trees))
    assert list(two) == ["Ax", "Ay", "Bx", "City", "All"]


def test_a_node_named_as_another_with_other_levels_is_told_apart():
    tree = Hierarchy.of_table(
        [("Ax", "Ax", "r"), ("Ay", "Ax", "r"), ("Bx", "B", "r"), ("City", "B", "r")]
    )
    found = held(layout_of("region:tree(0,1)", TABLE, {"region": tree}))
    assert found["Ax"] == ["Ax"]
    assert found["Ax (2)"] == ["Ax", "Ay"]


@pytest.mark.parametrize(
    ("section", "axis", "levels"),
    [
        ("sex=F", 1, ["F"]),
        ("region=Ax;Bx", 2, ["Ax", "Bx"]),
        ("region=A", 2, ["Ax", "Ay"]),
        ("age=5-9", 0, ["5", "6", "7", "8", "9"]),
        ("age=10+", 0, ["10", "11"]),
        ("age=below 2", 0, ["0", "1"]),
        ("age=over 10", 0, ["11"]),
        ("age=<= 1;7", 0, ["0", "1", "7"]),
    ],
)
def test_a_part_by_level_node_band_and_range(trees, section, axis, levels):
    layout = layout_of(f"sex | {section}", TABLE, trees)
    kept = [
        name for name, is_in in zip(TABLE.levels[axis], layout.part[axis], strict=True) if is_in
    ]
    assert kept == levels


def test_a_part_may_be_a_category_of_the_table():
    layout = layout_of("age:breaks(3,10) | age=3-9", TABLE)
    assert layout.part[0].sum() == 7
    merged = layout_of("region:merge(Ax,City,into=rest) | region=rest", TABLE)
    assert merged.part[2].tolist() == [True, False, False, True]


@pytest.mark.parametrize(
    ("text", "categories"),
    [
        ("age:bands(5)+total | age=0-6", {"0-4": 5, "5-6": 2, "0-6": 7}),
        ("age:breaks(3,10) | age=3-9", {"3-9": 7}),
        ("age:bands(5) | age=0-5", {"0-4": 5, "5": 1}),
        ("age:bands(5),sex | age=1;7", {"0-4 of 1;7": 1, "5-9 of 1;7": 1}),
        ("region:tree(all) | region=A", {"Ax": 1, "Ay": 1, "A": 2}),
        ("region:tree(1)+total | region=Ax;Bx", {"A of Ax;Bx": 1, "B": 1, "Ax;Bx": 2}),
    ],
)
def test_categories_are_cut_to_a_part_of_their_variable_and_say_so(trees, text, categories):
    layout = layout_of(text, TABLE, trees)
    assert {name: len(levels) for name, levels in held(layout).items()} == categories
    counts = dict(zip(layout.variables[0].categories, layout.counts(), strict=True))
    axis = layout.variables[0].axis
    for name, levels in held(layout).items():
        at = [TABLE.levels[axis].index(level) for level in levels]
        assert counts[name].sum() == TABLE.margin((axis,))[at].sum()


def test_a_total_is_not_called_as_a_level_is():
    table = Table.of_dense(np.array([1, 2]), ["sex"], [["Total", "F"]])
    with pytest.raises(InputError, match="categories of 'sex' must be called other than 'Total'"):
        layout_of("sex+total", table)


def test_names_and_levels_with_marks_are_quoted():
    table = Table.of_dense(
        np.array([[1, 2], [3, 4]]), ["a,b", "x:y"], [["p;q", "r|s"], ["(missing)", "7"]]
    )
    layout = layout_of('"a,b",x:y:bands(5) | "a,b"="r|s"', table)
    assert layout.names() == ("a,b", "x:y")
    assert layout.part[0].tolist() == [False, True]
    # What is missing is in no band, and stays by itself.
    assert layout.variables[1].categories == ("(missing)", "5-9")


def test_sections_that_are_no_part_are_left_to_others():
    assert parted("age:bands(10), sex | rounded(5) | sex=F") == (
        "age:bands(10), sex",
        ("rounded(5)", "sex=F"),
    )
    assert not is_section_of_layout("rounded(base=5)", TABLE)
    assert is_section_of_layout("sexx=F", TABLE)
    assert is_section_of_layout("Totals", TABLE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("agee,sex", "did you mean 'age'"),
        ("age,age", "'age' twice"),
        ("age:bandz(5)", "did you mean 'bands'"),
        ("age:bands(5", "brackets that do not match"),
        ('"age', "an open quote"),
        ("", "a variable without a name"),
        ("age,,sex", "a variable without a name"),
        ("sex:bands(5)", "must be a key with numbers"),
        ("age:quantiles(4)", "does not look at the counts"),
        ("age:top(share=.1)", "does not look at the counts"),
        ("age:rare(3)", "does not look at the counts"),
        ("region:merge(Ax,Citi,into=b)", "did you mean 'City'"),
        ("region:tree(9)", "a height from 0 to 2, or one of municipality, province, country"),
        ("region:tree(provinse)", "did you mean 'province'"),
        ("region:tree", "given with a level"),
        ("sex:tree(1)", "give the tree of 'sex'"),
        ("sex | age", "a part is written as sex=F"),
        ("sex | age=0-3, F", "VARIABLE=LEVEL, got 'F'"),
        ("sex | sex=F, sex=M", "join its levels with a semicolon"),
        ("sex | sexx=F", "did you mean 'sex'"),
        ("sex | region=Citi", "did you mean 'City'"),
        ("sex | age=50-60", "a level of 'age' or a group of them"),
        ("sex | rounded(5)", "parts of the data behind"),
    ],
)
def test_what_describes_no_table_is_refused(trees, text, message):
    with pytest.raises((InputError, ColumnError), match=message):
        layout_of(text, TABLE, trees)


def test_a_level_that_a_rule_does_not_understand_is_refused_unless_it_stays():
    table = Table.of_dense(np.array([1, 2, 3]), ["age"], [["5", "17", "unknown"]])
    with pytest.raises(InputError, match="holds for every level of 'age', got 'unknown'"):
        layout_of("age:bands(10)", table)
    kept = layout_of("age:bands(10,stay=unknown)", table)
    assert kept.variables[0].categories == ("0-9", "10-19", "unknown")


def test_a_range_may_not_cut_a_band():
    table = Table.of_dense(np.array([1, 2, 3]), ["age"], [["0-4", "5-9", "10+"]])
    assert layout_of("total | age=0-9", table).part[0].tolist() == [True, True, False]
    with pytest.raises(InputError, match="cuts '5-9'"):
        layout_of("total | age=0-7", table)


def test_a_tree_without_a_leaf_for_a_level_is_refused():
    tree = Hierarchy.of_table([("Ax", "A", "r"), ("Ay", "A", "r"), ("Bx", "B", "r")])
    with pytest.raises(InputError, match="a leaf for every level"):
        layout_of("region:tree(1)", TABLE, {"region": tree})


def test_the_header_of_a_tree_names_its_levels(trees):
    assert trees["region"].columns == ("municipality", "province", "country")
