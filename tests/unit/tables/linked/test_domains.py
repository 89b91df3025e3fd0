"""What labels mean together: parts of bands, words, trees and levels of data."""

import numpy as np
import pytest

from discreet.data.hierarchy import Hierarchy
from discreet.errors import InputError
from discreet.tables.linked.domains import Label, band_name, domain_of

TREE = Hierarchy.of_table([("a", "P", "Land"), ("b", "P", "Land"), ("c", "Q", "Land")])


def domain(*tables, **more):
    """A variable from the labels of each table."""
    labels = [Label(text, i) for i, own in enumerate(tables) for text in own]
    return domain_of("x", labels, [f"t{i}" for i in range(len(tables))], **more)


def parts_of(found, label):
    return {part for part, inside in zip(found.parts, found.sets[label], strict=True) if inside}


def test_parts_lie_between_the_ends_of_all_bands():
    found = domain(["15-19", "20-24"], ["16-19", "15", "20+"])
    assert found.parts == ("15", "16-19", "20-24", "25+")
    assert parts_of(found, "15-19") == {"15", "16-19"}
    assert parts_of(found, "20+") == {"20-24", "25+"}


def test_bands_that_overlap_leave_the_pieces():
    found = domain(["0-10", "5-15"])
    assert found.parts == ("0-4", "5-10", "11-15", "others")  # none are apart: there may be others
    assert parts_of(found, "5-15") == {"5-10", "11-15"}


def test_words_beside_bands_are_parts():
    found = domain(["0-17", "18+", "not stated"], ["Not  Stated", "0-17"])
    assert found.parts == ("0-17", "18+", "not stated")
    assert parts_of(found, "Not  Stated") == {"not stated"}


def test_a_gap_between_bands_is_no_part():
    assert domain(["0-9", "20-29"]).parts == ("0-9", "20-29")
    assert domain(["0-9", "20-29"], ["0-29"]).parts == ("0-9", "10-19", "20-29")


def test_codes_among_words_are_words():
    assert domain(["1", "2", "unknown"]).parts == ("1", "2", "unknown")
    assert domain(["NUTS1", "23-Bremen"]).parts == ("NUTS1", "23-Bremen")


def test_totals_hold_all_parts_and_are_none():
    found = domain(["F", "M", "Total"])
    assert found.parts == ("F", "M")
    assert found.sets["Total"].all()
    assert domain(["Total"]).parts == ("all",)


def test_a_word_for_a_total_that_is_a_level_of_the_data_is_a_level():
    found = domain(["All", "Some"], levels=["All", "Some"])
    assert parts_of(found, "All") == {"All"}


@pytest.mark.parametrize(
    ("tables", "has_others"),
    [
        ([["F"]], True),
        ([["F", "M"]], False),
        ([["F"], ["M"]], True),  # no table lists both
        ([["F", "Total"]], True),
        ([["0-10", "5-15"]], True),
        ([["15-64", "15-24", "25-64"]], False),  # a subtotal first
        ([["25-64", "15-24", "15-64"]], False),
        ([["Total"]], False),
    ],
)
def test_whether_labels_are_all_there_is(tables, has_others):
    found = domain(*tables)
    assert found.others is has_others
    assert ("others" in found.parts) is has_others


def test_others_that_a_user_knows_of():
    assert domain(["F", "M"], others=True).parts == ("F", "M", "others")
    found = domain(["F", "others"], others=True)
    assert found.parts == ("F", "others", "all others")
    assert parts_of(found, "others") == {"others"}


def test_names_are_the_same_but_for_case_and_spaces():
    found = domain(["North East", "South"], ["NORTH  EAST", "south "])
    assert found.parts == ("North East", "South")


def test_names_that_one_table_tells_apart_are_different():
    found = domain(["f", "F", "M"], ["f"])
    assert found.parts == ("f", "F", "M")
    assert parts_of(found, "F") == {"F"}
    found = domain(["f", "F"], levels=["f", "F", "m"])
    assert [parts_of(found, text) for text in "fF"] == [{"f"}, {"F"}]


def test_the_leaves_of_a_tree_are_told_apart_where_some_label_does():
    found = domain(["P", "c"], tree=TREE)
    assert found.parts == ("a + b", "c")
    found = domain(["P", "Q"], ["a", "land"], tree=TREE)
    assert found.parts == ("a", "b", "c")
    assert found.sets["land"].all()


def test_a_tree_says_which_levels_there_are():
    found = domain(["a"], tree=TREE)
    assert found.parts == ("a", "b + c")
    assert not found.others
    assert domain(["a"], tree=TREE, others=True).others


def test_a_label_that_the_tree_does_not_have():
    with pytest.raises(InputError, match=r"label 'd' of x must be a level, band or group of the "
                       r"tree, got none of them at t1; .*'x:d=LEVEL' \(labels\)"):  # fmt: skip
        domain(["a"], ["d"], tree=TREE)


LEVELS = ["0", "1", "2", "3", "4"]


def test_levels_of_the_data_are_joined_where_no_label_tells_them_apart():
    found = domain(["0-1", "2-4"], ["1-4"], levels=LEVELS)
    assert found.parts == ("0", "1", "2-4")
    assert found.part_of.tolist() == [0, 1, 2, 2, 2]
    assert domain(["Total"], levels=LEVELS).part_of.tolist() == [0] * 5


def test_a_tree_over_the_levels_of_the_data():
    found = domain(["P"], levels=["c", "b", "a"], tree=TREE)
    assert found.parts == ("c", "b + a")
    assert parts_of(found, "P") == {"b + a"}


def test_levels_that_a_label_was_made_of_need_not_match_by_text():
    held = np.array([True, False, True, False, False])
    labels = [Label("some", 0, held), Label("some", 1, held)]
    found = domain_of("x", labels, ["t0", "t1"], levels=LEVELS)
    assert found.part_of.tolist() == [0, 1, 0, 1, 1]
    with pytest.raises(InputError, match="label 'some' of x must be of the same levels in all "
                       "tables, got of others in an earlier one at t1"):  # fmt: skip
        domain_of("x", [labels[0], Label("some", 1, ~held)], ["t0", "t1"], levels=LEVELS)


@pytest.mark.parametrize(
    ("tables", "levels", "message"),
    [
        ([["north"]], ["North", "Soth"], None),
        ([["Nroth"]], ["North", "South"], "got none of them at t0; did you mean 'North'"),
        ([["0-2"]], ["0-1", "2-3"], "label '0-2' of x must be a union of levels of the data, got "
         "one that holds a part of '2-3' at t0"),
        ([["15-20", "20-25"]], None, "bands of x must be apart, got '15-20' and '20-25', which "
         "both hold 20 at t0; write bands by their first and last number, as 15-19"),
    ],
)  # fmt: skip
def test_labels_that_cannot_be_understood(tables, levels, message):
    if message is None:
        assert domain(*tables, levels=levels).size == 2
    else:
        with pytest.raises(InputError, match=message):
            domain(*tables, levels=levels)


def test_sets_of_bands_that_meet_may_be_two_sets():
    found = domain(["0-19", "20+", "0-20", "21+"])
    assert found.parts == ("0-19", "20", "21+")


@pytest.mark.parametrize(
    ("held", "name"),
    [
        ([1, 1, 0, 0], "15-19"),
        ([0, 1, 1, 0], "16-24"),
        ([0, 0, 1, 1], "20+"),
        ([1, 0, 1, 0], "15 + 20-24"),
        ([1, 1, 1, 1], None),
    ],
)
def test_sets_of_parts_have_short_names(held, name):
    found = domain(["15-19", "20-24"], ["16-19", "15", "20+"])
    assert found.name_of(np.array(held, dtype=bool)) == name


def test_long_names_are_cut():
    found = domain(["a", "b", "c", "d", "e", "f", "g"])
    assert found.name_of(np.array([True] * 6 + [False])) == "a + b + c + d and 2 more"
    tree = Hierarchy.of_table([(c, "P" if c < "g" else "Q", "all") for c in "abcdefg"])
    assert domain(["P"], tree=tree).parts == ("a + b + c + d and 2 more", "g")


@pytest.mark.parametrize(
    ("ends", "name"),
    [
        ((15, 19), "15-19"), ((15, 15), "15"), ((85, None), "85+"), ((None, 4), "under 5"),
        ((None, None), "all numbers"), ((-5, -1), "-5 to -1"),
    ],
)  # fmt: skip
def test_bands_as_they_are_written(ends, name):
    assert band_name(ends) == name
