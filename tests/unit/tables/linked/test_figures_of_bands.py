"""Figures of bands that another table cuts: withheld or rounded, and known all the same."""

from pathlib import Path

from discreet import attack
from discreet.report.attack.document import attack_document

ROUNDED = """age,sex,area,count
0-3,F,a,9
0-3,F,b,6
0-3,M,a,18
0-3,M,b,9
4+,F,a,3
4+,F,b,3
4+,M,a,12
4+,M,b,3
4+,Both sexes,a,12
"""
FINER = "age,sex,count\n0-3,F,15\n0-3,M,27\n4,F,x\n4,M,10\n5+,F,x\n5+,M,5\n"


def test_a_rounded_figure_of_a_band_that_another_table_cuts_is_found(tmp_path: Path) -> None:
    """Men of 4+ in a are 11 to 13, women 2 to 4, both 11 to 13: so 11 and 2."""
    (tmp_path / "rounded.csv").write_text(ROUNDED)
    (tmp_path / "finer.csv").write_text(FINER)
    found = attack(
        [f"{tmp_path / 'rounded.csv'} | rounded(3,nearest)", f"{tmp_path / 'finer.csv'}"]
    )
    told = {tuple(one.cell.values()): one.lower for one in found.derived}
    assert told["4+", "F", "a"] == 2
    assert told["4+", "M", "a"] == 11
    assert not found.verdict.allows


def test_a_table_of_one_figure_tells_no_more(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("count\n5\n")
    found = attack(tmp_path / "t.csv")
    assert (found.n_derived, found.verdict.allows, found.n_tables.value) == (0, True, 1)
    page = "".join(attack_document(found).scope)
    assert page == "1 table with 1 figure; it tells 1 cell apart"


def test_a_figure_that_leaves_out_many_cells_is_named_shortly(tmp_path: Path) -> None:
    rows = [f"{a},{b},{3 if a == b else 'x'}" for a in "pqrstu" for b in "pqrstu"]
    (tmp_path / "t.csv").write_text("\n".join(["one,other,count", *rows, "Total,Total,50"]))
    words = [one.words for one in attack(tmp_path / "t.csv").derived]
    assert any(one.endswith("; and 2 more cells") and one.count(";") == 4 for one in words)
