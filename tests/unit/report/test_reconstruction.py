"""What can be rebuilt, in words."""

import numpy as np
import pytest
from tests.unit.report.showing import terminal_words

from discreet.fiber.reconstruction.areas import Area, AreaRebuilt, rebuild_areas
from discreet.fiber.reconstruction.rebuilt import rebuilt_table
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.figures import Figure, How
from discreet.report.document import Document
from discreet.report.reconstruction import areas_section, areas_sentence, rebuilt_section


def area(name, *sums):
    statements = [
        Statement(cells=np.array(cells), low=value, high=value, name="sum") for cells, value in sums
    ]
    return Area(name=name, n_cells=2, statements=statements)


@pytest.fixture
def found():
    areas = [
        area("North", ([0, 1], 3)),
        area("South", ([0, 1], 3), ([0], 1)),
        area("West", ([0], 1)),
    ]
    return list(rebuild_areas(areas))


def words_of(section):
    document = Document(title="t", scope=("x",), blocks=(section,))
    return " ".join(terminal_words(document).split())


def test_areas_in_a_sentence_and_a_table(found):
    assert areas_sentence(found) == (
        "1 of 2 areas is rebuilt whole (50.0 %); of 6 persons 50.0 % are certain."
    )
    shown = words_of(areas_section(found))
    assert "North 3 0 3 100 % no" in shown
    assert "South 3 3 0 0 % yes" in shown
    assert "West – – – – not known" in shown
    assert "West: Cells must be limited from above" in shown


def test_what_is_not_proved_is_at_least(found):
    gap = Figure(value=None, how=How.BOUND, low=1, high=2)
    share = Figure(value=None, how=How.BOUND, low=1 / 3, high=2 / 3)
    unsure = AreaRebuilt(
        name="East",
        persons=Figure(value=3, how=How.EXACT),
        certain=gap,
        distance=gap,
        variability=share,
        n_tables=gap,
        is_whole=None,
    )
    assert areas_sentence([unsure]).startswith("At least 0 of 1 area are rebuilt whole (0 %)")
    assert "East 3 1 to 2 1 to 2 33.3 % to 66.7 % not known" in words_of(areas_section([unsure]))


def test_a_table_as_a_whole():
    one = Statement(cells=np.array([0, 1]), low=3, high=3, name="total")
    shown = words_of(rebuilt_section(rebuilt_table(system_of(2, [one]))))
    assert "0 of 3 records stand in every table that fits; two such tables can differ in 3" in shown
    known = Statement(cells=np.array([0]), low=1, high=1, name="cell")
    whole = words_of(rebuilt_section(rebuilt_table(system_of(2, [one, known]))))
    assert "One table fits: every record is certain" in whole
