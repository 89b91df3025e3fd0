"""Nesting that names of levels show, and what they do not."""

import pytest

from discreet.data.label_nesting import shown_by_labels


@pytest.mark.parametrize(
    "pairs",
    [
        [("N1", "N"), ("N2", "N"), ("S1", "S")],
        [("North East", "North"), ("South-West", "South")],
        [("0712", "07"), ("0713", "07"), ("1101", "11")],
        [("A01", "A"), ("B20", "B")],
        [("23", "20-24"), ("24", "20-24"), ("25", "25–29")],
        [("23", "20 to 24"), ("70", "65+"), ("5", "<18")],
        [("23", "[20, 30)"), ("35", "[30, 40)")],
        [("20-24", "20-29"), ("25-29", "20-29"), ("30-34", "30-39")],
        [("66 years", "65 and over"), ("64 years", "under 65")],
        [("90+", "85+"), ("81", "80-84")],
        [("23", "20-24"), ("30", "30-34"), ("(missing)", "(missing)")],
    ],
)
def test_names_show_where_a_level_lies(pairs):
    assert shown_by_labels(pairs)


@pytest.mark.parametrize(
    "pairs",
    [
        [],
        [("Ash", "no"), ("Birch", "yes")],
        [("1", "1"), ("2", "2")],  # codes of anything
        [("yes", "yes"), ("no", "no")],
        [("north", "no"), ("york", "y")],  # a word goes on
        [("N1", "N"), ("S1", "N")],
        [("23", "20-24"), ("30", "20-24")],
        [("1", "10-19"), ("12", "10-19")],
        [("20-24", "20-24"), ("25-29", "25-29")],
        [("23", "24"), ("25", "26")],
        [("x", ""), ("y", "")],
        [("(missing)", "(missing)")],
    ],
)
def test_other_names_show_nothing(pairs):
    assert not shown_by_labels(pairs)
