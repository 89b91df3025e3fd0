"""What was taken for granted of labels is told."""

from pathlib import Path

import pytest

from discreet import FileError, attack


def notes(folder: Path, *texts: str, **options: object) -> str:
    """What an attack notes of files with these texts, lines apart by bars."""
    files = []
    for number, text in enumerate(texts):
        path = folder / f"t{number}.csv"
        path.write_text(text.replace(" | ", "\n") + "\n")
        files.append(str(path))
    return " ".join(attack(files, **options).notes)


def test_labels_that_only_one_of_two_tables_has_may_be_the_same(tmp_path: Path) -> None:
    both = ("area,count | Mill Town,12 | South,20", "area,sex,count | Mill,M,11 | South,M,9")
    said = notes(tmp_path, *both)
    assert (
        "area 'Mill Town' is in t0.csv only and 'Mill' in t1.csv only: taken as different. If they "
        "are the same, say so with a label, 'area:Mill=Mill Town'."
    ) in said
    assert "taken as different" not in notes(tmp_path, *both, labels=["area:Mill=Mill Town"])


def test_a_table_that_lists_fewer_labels_is_no_doubt(tmp_path: Path) -> None:
    both = ("area,count | A,12 | B,20 | C,7", "area,sex,count | A,M,11 | C,M,6")
    assert "taken as different" not in notes(tmp_path, *both)


@pytest.mark.parametrize("figures", [("50", "20", "70"), ("50", "x", "72")])
def test_a_label_with_the_sum_of_all_others_may_be_a_total(
    tmp_path: Path, figures: tuple[str, ...]
) -> None:
    text = "area,count | North,{} | South,{} | England,{}".format(*figures)
    assert "area 'England' in t0.csv may be the total of the others" in notes(tmp_path, text)
    assert "may be the total" not in notes(tmp_path, text, labels=["area:England=Total"])


def test_a_label_that_is_the_sum_in_one_row_only_is_none(tmp_path: Path) -> None:
    text = "area,sex,count | A,F,5 | B,F,4 | C,F,9 | A,M,5 | B,M,4 | C,M,8"
    assert "may be the total" not in notes(tmp_path, text)


def test_what_a_word_was_taken_for_is_told(tmp_path: Path) -> None:
    said = notes(tmp_path, "work,count | full,30 | part,x | Total employed,32")
    assert "work 'Total employed' is taken for the total of all." in said
    assert "taken for the total" not in notes(tmp_path, "age,count | 0-4,3 | 5+,x | All ages,9")


def test_a_band_or_a_group_of_others_is_no_total(tmp_path: Path) -> None:
    assert "may be the total" not in notes(tmp_path, "age,count | 0-4,3 | 5-9,6 | 10+,9")
    tree = tmp_path / "tree.csv"
    tree.write_text("leaf,group,root\na,P,all\nb,P,all\nc,Q,all\n")
    text = "area,count | a,3 | b,6 | P,9 | Q,4"
    assert "may be the total" not in notes(tmp_path, text, trees={"area": tree})


def test_the_variable_without_a_name_of_a_crosstab_can_be_named(tmp_path: Path) -> None:
    files = ("age,M,F | 0-14,9,1 | 15+,30,31", "sex,count | M,39 | F,32")
    said = notes(tmp_path, *files)
    assert "nothing ties it to those of other tables" in said
    found = attack([tmp_path / "t0.csv", tmp_path / "t1.csv"], labels=["columns of t0.csv=sex"])
    assert [domain.name for domain in found.linked.universe.domains] == ["age", "sex"]


def test_how_a_file_is_read_stands_behind_the_bar(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_bytes("area,count\nZürich,1.234\nBern,9\n".encode("latin-1"))
    with pytest.raises(FileError, match=r"'t.csv \| encoding=latin-1'"):
        attack(f"{file}")
    with pytest.raises(FileError, match=r"'t.csv \| decimal=,'"):
        attack(f"{file} | encoding=latin-1")
    found = attack(f"{file} | encoding=latin-1 | decimal=,")
    assert found.linked.universe.tables[0].printed == ("1234", "9")
    assert found.linked.universe.domains[0].parts == ("Zürich", "Bern")
