"""Published tables of real data: the audit of published tables says what the older audit of plain
margins says, which builds its statements on another path; and what closed forms say.
"""

from pathlib import Path

import numpy as np
import pytest

from discreet.data.table import Table
from discreet.flows.audit import audit
from discreet.flows.audit_published import audit_published

CENSUS = Path(__file__).resolve().parents[2] / "examples" / "census.csv"
FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data"
shared = pytest.mark.skipif(not FOLDER.exists(), reason="no shared data beside the project")


def both(source, sets, **keywords):
    """The two audits of the same margins; neither with what one variable determines of another."""
    plain = audit(source, sets, nesting=False, seconds=None, **keywords)
    published = audit_published(source, (), [list(one) for one in sets], seconds=None, **keywords)
    return plain, published


def bounds_of(plain):
    """The bounds of the cells, by the levels of the variables that are out."""
    table = plain.release.table
    levels = list(zip(table.names, table.levels, strict=True))
    return {
        frozenset((name, own[i]) for (name, own), i in zip(levels, cell.levels, strict=True)): (
            cell.lower,
            cell.upper,
        )
        for cell in plain.cells
    }


def assert_same(plain, published):
    found = {frozenset(one.cell.items()): (one.lower, one.upper) for one in published.cells}
    assert found == bounds_of(plain)
    assert published.n_tables.value == plain.n_tables.value
    assert published.n_small == plain.n_small
    [measures] = plain.measures.values()
    for name in ("small_cells_identified", "expected_identified", "true_table"):
        one, two = getattr(measures, name), getattr(published.measures, name)
        assert getattr(two, "value", None) == pytest.approx(getattr(one, "value", None), rel=1e-9)


@pytest.mark.parametrize(
    "sets",
    [
        [("gender", "race"), ("race", "income"), ("gender", "income")],
        [("race",), ("gender",)],
        [("gender", "race"), ("gender",)],
    ],
)
def test_plain_margins_of_the_census(sets):
    assert_same(*both(CENSUS, sets, count="count"))


@shared
@pytest.mark.parametrize(
    ("file", "sets"),
    [
        ("HairEyeColor.csv", [("Hair", "Eye"), ("Eye", "Sex")]),
        ("Titanic.csv", [("Class", "Sex"), ("Sex", "Age")]),
        ("UCBAdmissions.csv", [("Admit", "Gender"), ("Gender", "Dept")]),
    ],
)
def test_plain_margins_of_known_tables(file, sets):
    plain, published = both(FOLDER / file, sets, count="Freq", small=1)
    found = {frozenset(one.cell.items()): (one.lower, one.upper) for one in published.cells}
    assert found == bounds_of(plain)
    assert published.n_tables.value == plain.n_tables.value


@shared
def test_merged_levels_are_a_table_of_the_merged_levels():
    """Where all tables merge the same levels, the data might as well have had the merged ones."""
    rule = "Hair:merge(Black,Brown,into=dark)"
    published = audit_published(
        FOLDER / "HairEyeColor.csv", (), [f"{rule},Sex", f"{rule},Eye"], count="Freq", seconds=None
    )
    counts = hair_eye_sex()
    merged = np.stack([counts[0] + counts[1], counts[2], counts[3]])
    levels = [["dark", "Red", "Blond"], EYES, ["Male", "Female"]]
    table = Table.of_dense(merged, ["Hair", "Eye", "Sex"], levels)
    plain = audit(table, [("Hair", "Sex"), ("Hair", "Eye")], nesting=False, seconds=None)
    assert bounds_of(plain) == {
        frozenset(named(one.cell).items()): (one.lower, one.upper) for one in published.cells
    }
    assert published.n_tables.value == plain.n_tables.value


def named(cell):
    """A cell with the name that the merged level has."""
    return {name: {"Black + Brown": "dark"}.get(level, level) for name, level in cell.items()}


@shared
def test_two_ways_to_merge_leave_what_frechet_says():
    """Dark, red and blond by sex; black, brown and light in all: of black and brown by sex the
    margins of a two-way table are known."""
    found = audit_published(
        FOLDER / "HairEyeColor.csv",
        (),
        ["Hair:merge(Black,Brown,into=dark),Sex", "Hair:merge(Red,Blond,into=light)"],
        count="Freq",
        seconds=None,
    )
    counts = hair_eye_sex().sum(axis=1)  # hair × sex
    dark = counts[:2]
    rows, columns, total = dark.sum(axis=1), dark.sum(axis=0), dark.sum()
    bounds = {frozenset(one.cell.items()): (one.lower, one.upper) for one in found.cells}
    for h, hair in enumerate(("Black", "Brown")):
        for s, sex in enumerate(("Male", "Female")):
            low, high = bounds[frozenset({"Hair": hair, "Sex": sex}.items())]
            assert low == max(0, rows[h] + columns[s] - total)
            assert high == min(rows[h], columns[s])
    free = min(rows[0], columns[0]) - max(0, rows[0] + columns[0] - total) + 1
    assert found.n_tables.value == free


EYES = ["Brown", "Blue", "Hazel", "Green"]


def hair_eye_sex():
    """The counts of the file, hair × eye × sex."""
    hair = ["Black", "Brown", "Red", "Blond"]
    counts = np.zeros((4, 4, 2), dtype=np.int64)
    for line in (FOLDER / "HairEyeColor.csv").read_text().splitlines()[1:]:
        h, e, s, n = (one.strip('"') for one in line.split(","))
        counts[hair.index(h), EYES.index(e), ["Male", "Female"].index(s)] += int(n)
    return counts
