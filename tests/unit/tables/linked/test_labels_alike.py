"""Labels that are written in different ways and are of the same persons."""

from pathlib import Path

import pytest

from discreet import InputError, attack, audit_published, read_table


def files(folder: Path, *texts: str) -> list[str]:
    """A file of each text, its lines apart by blanks."""
    found = []
    for number, text in enumerate(texts):
        path = folder / f"t{number}.csv"
        path.write_text(text.replace(" | ", "\n") + "\n")
        found.append(str(path))
    return found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("under 5", "0-4"),
        ("<5", "0 to 4"),
        ("00-04", "0-4"),
        ("North-West", "North–West"),
        ("North West", "North\u00a0West"),
        ("Zürich", "Zu\u0308rich"),
        ("King's", "King’s"),
    ],
)
def test_a_label_is_the_same_however_it_is_written(tmp_path: Path, one: str, other: str) -> None:
    rest = "5 and over" if one[-1] in "45" else "South"
    both = files(
        tmp_path,
        f"place,count | {one},12 | {rest},60",
        f"place,sex,count | {other},M,11 | {other},F,x | {rest},M,30 | {rest},F,30",
    )
    found = attack(both)
    assert [(d.cell, d.lower) for d in found.derived] == [({"place": one, "sex": "F"}, 1)]


def test_bands_below_zero_leave_the_lowest_band_open(tmp_path: Path) -> None:
    both = files(
        tmp_path,
        "degrees,count | under 5,12 | 5 and over,60",
        "degrees,count | under 0,2 | 0-4,x | 5 and over,60",
    )
    found = attack(both)
    assert [(d.cell["degrees"], d.lower) for d in found.derived] == [("0-4", 10)]


def test_labels_of_one_table_that_differ_in_case_are_different(tmp_path: Path) -> None:
    (file,) = files(tmp_path, "grade,count | a,5 | A,x | b,9 | Total,15")
    assert [(d.cell["grade"], d.lower) for d in attack([file]).derived] == [("A", 1)]
    data = tmp_path / "data.csv"
    data.write_text("grade,count\na,5\nA,1\nb,9\n")
    read = read_table(data, count="count")
    assert [d.cell["grade"] for d in audit_published(read, [file]).derived] == ["A"]


def test_codes_with_zeros_in_front_stay_words_where_no_band_says_what_they_are(
    tmp_path: Path,
) -> None:
    (file,) = files(tmp_path, "day,count | 01-02,5 | 01-03,x | 05-09,9")
    assert attack([file]).linked.universe.domains[0].parts == ("01-02", "01-03", "05-09")


def test_words_in_one_table_and_bands_in_the_other_are_asked_about(tmp_path: Path) -> None:
    both = files(
        tmp_path,
        "age,count | child,12 | adult,60",
        "age,sex,count | 0-17,M,11 | 0-17,F,x | 18+,M,30 | 18+,F,30",
    )
    with pytest.raises(InputError, match="labels of age must be the same words in all tables, got "
                       "'child' and others in t0.csv, '0-17' and others in t1.csv"):  # fmt: skip
        attack(both)
    found = attack(both, labels=["age:child=0-17", "age:adult=18+"])
    assert [d.lower for d in found.derived] == [1]


def test_a_group_of_a_tree_is_no_total_whatever_it_is_called(tmp_path: Path) -> None:
    tree = tmp_path / "tree.csv"
    tree.write_text(
        "leaf,group,root\nfull,Total employed,all\npart,Total employed,all\nnone,Other,all\n"
    )
    (file,) = files(tmp_path, "work,count | full,30 | part,x | none,7 | Total employed,32")
    found = attack([file], trees={"work": tree})
    assert [(d.cell["work"], d.lower) for d in found.derived] == [("part", 2)]


def test_a_total_may_stand_before_a_comma(tmp_path: Path) -> None:
    (file,) = files(tmp_path, 'age,count | 0-14,5 | 15+,x | "Total, all ages",7')
    assert [(d.cell["age"], d.lower) for d in attack([file]).derived] == [("15+", 2)]


@pytest.mark.parametrize(
    ("sexes", "total"),
    [("MF", "Total"), ("MF", "Both sexes"), (("Male", "Female"), "All"), ("MW", "T")],
)
def test_t_is_the_total_of_the_sexes_whatever_it_is_called_elsewhere(
    tmp_path: Path, sexes: tuple[str, str], total: str
) -> None:
    one, other = sexes
    both = files(
        tmp_path,
        f"area,sex,count | A,{one},5 | A,{other},x | A,T,6",
        f"sex,count | {one},30 | {other},20 | {total},50",
    )
    found = attack(both)
    assert ({"area": "A", "sex": other}, 1) in [(d.cell, d.lower) for d in found.derived]
