"""Files as offices publish them, which were read as something else."""

from pathlib import Path

import pytest

from discreet import FileError
from discreet.data.published.reading import read_published

PX = """AXIS-VERSION="2013";
UNITS="{}";
STUB="region";
HEADING="sex";
VALUES("region")="North","South";
VALUES("sex")="Men","Women";
CONTENTS="Population";
DATA=
12 6
20 ".."
;
"""


def test_a_second_table_below_the_first_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "two.csv"
    file.write_text(
        "Region,Men,Women\nNorth,5,6\nSouth,7,8\n\nRegion,0-14,15+\nNorth,3,8\nSouth,5,9\n"
    )
    match = (
        "two.csv must be a sheet with one table, got its heading 'Region' again at row 5, column 1"
    )
    with pytest.raises(FileError, match=match):
        read_published(file)


@pytest.mark.parametrize("unit", ["1000 persons", "thousands", "1 000 personer", "Mio. persons"])
def test_figures_in_thousands_are_no_counts(tmp_path: Path, unit: str) -> None:
    file = tmp_path / "t.px"
    file.write_text(PX.format(unit))
    with pytest.raises(FileError, match="t.px must be"):
        read_published(file)
    file.write_text(PX.format("persons"))
    assert read_published(file)[0].printed == ("12", "6", "20", "")


def test_a_column_of_counts_has_its_name_in_other_languages_too(tmp_path: Path) -> None:
    for name in ("Anzahl", "Effectif", "Antal", "Número"):
        file = tmp_path / "t.csv"
        file.write_text(f"Alter;Geschlecht;{name}\nunter 15 Jahre;m;12\n15 Jahre und mehr;w;.\n")
        (table,) = read_published(file)
        assert table.variables == ("Alter", "Geschlecht")
