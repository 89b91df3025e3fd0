"""Figures are held against the data before anything is worked out."""

from pathlib import Path

import pytest

from discreet import InputError, audit_published, read_table

DATA = "age,sex,region,count\n15,F,N,1\n16,F,N,5\n17,M,N,7\n15,M,S,4\n16,F,S,2\n17,F,S,9\n"


@pytest.fixture
def table(tmp_path: Path):
    (tmp_path / "data.csv").write_text(DATA)
    return read_table(tmp_path / "data.csv", count="count")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("age,count\n15,6\n16,7\n17,16\n", "t.csv: age 15 at row 2"),
        ("age,sex,count\n15,F,2\n15,M,x\n16,F,x\n", "t.csv: age 15, sex F at row 2"),
    ],
)
def test_a_figure_that_is_not_true_is_named(
    tmp_path: Path, table: object, text: str, named: str
) -> None:
    (tmp_path / "t.csv").write_text(text)
    match = f"published figures must be true of the data, got 1 that are not: {named}; is the"
    with pytest.raises(InputError, match=match):
        audit_published(table, [tmp_path / "t.csv"])


def test_a_mean_that_is_not_true_is_named(tmp_path: Path, table: object) -> None:
    (tmp_path / "t.csv").write_text("region,mean age\nN,16.0\nS,16.3\n")
    with pytest.raises(InputError, match="true of the data, got 1 that are not: t.csv: region N"):
        audit_published(table, [tmp_path / "t.csv"], ["age,region"])


def test_sums_of_small_cells_are_bounded_beside_the_data(table: object) -> None:
    """The two cells of 14-15 in the North, 1 and 0, printed as 0 and 0: together 0 to 4."""
    found = audit_published(table, [], ["age:bands(2),sex | region=N | rounded(5)"])
    assert [(one.cell, one.lower, one.upper) for one in found.unions] == [
        ({"age": "14-15", "region": "N"}, 0, 4)
    ]
    assert found.verdict.allows


def test_two_rules_for_the_same_figures_are_refused(table: object) -> None:
    match = "rule of figures must be one beside withheld, got 'exact' and 'rounded\\(5\\)'"
    with pytest.raises(InputError, match=match):
        audit_published(table, [], ["age | exact | rounded(5)"])
    found = audit_published(table, [], ["age | withheld(1..6) | rounded(5)"])
    assert found.linked.universe.tables[0].printed == ("", "5", "15")
