"""Dobra, Fienberg and Trottini: the bounds of Table 1, and of a table their methods are known for."""

import csv
from pathlib import Path

import numpy as np
import pytest
from tests.oracles.certificates import certify

from discreet.fiber.bounds.by_frechet import bounds_by_frechet
from discreet.fiber.bounds.by_programming import bounds_by_programming
from discreet.fiber.bounds.by_shuttle import bounds_by_shuttle
from discreet.fiber.bounds.cell_bounds import Proof, bounds
from discreet.fiber.system.decomposable import ClosedForm
from discreet.fiber.system.linear_system import system_of
from discreet.fiber.system.margins import all_margins, margins_of
from discreet.fiber.system.structure import presolve

# Gender × race × income, 1990 census, one tract (Table 1), with the printed bounds.
CENSUS = np.array([[[96, 72, 161], [10, 7, 6], [1, 1, 2]], [[186, 127, 51], [11, 7, 3], [0, 1, 0]]])
LOWER = [[[85, 64, 158], [0, 0, 0], [0, 0, 0]], [[175, 119, 43], [0, 0, 0], [0, 0, 0]]]
UPPER = [[[107, 80, 169], [21, 14, 9], [1, 2, 2]], [[197, 135, 54], [21, 14, 9], [1, 2, 2]]]
MARGINS = margins_of(CENSUS, [(1, 2), (2, 0)], ["gender", "race", "income"])
LEVELS = np.argwhere(np.ones(CENSUS.shape))


@pytest.mark.parametrize(
    "method",
    [
        lambda: bounds(MARGINS),
        lambda: ClosedForm(MARGINS).bounds(LEVELS),
        lambda: bounds_by_frechet(MARGINS, LEVELS),
        lambda: bounds_by_shuttle(MARGINS),
        lambda: bounds_by_programming(system_of(18, MARGINS.statements())),
    ],
    ids=["bounds", "decomposable", "frechet", "shuttle", "programming"],
)
def test_table_1(method):
    found = method()
    assert found.lower.reshape(2, 3, 3).tolist() == LOWER
    assert found.upper.reshape(2, 3, 3).tolist() == UPPER


def test_table_1_is_exact_by_closed_form():
    found = bounds(MARGINS)
    assert found.complete
    assert {found.how(i) for i in range(18)} == {(Proof.CLOSED_FORM, Proof.CLOSED_FORM)}


def test_table_1_splits_by_income():
    found = presolve(system_of(18, MARGINS.statements()))
    incomes = [{int(cell) % 3 for cell in block.columns} for block in found.blocks]
    assert incomes == [{0}, {1}, {2}]
    assert [block.system.n_rows for block in found.blocks] == [4, 4, 4]


AUTOWORKERS = Path(__file__).parents[3] / "shared/data/czech_autoworkers_2x6.csv"
# Edwards and Havránek 1985; bounds of the four cells of at most two (counts 1, 2, 0, 2).
KNOWN = {
    2: [(0, 95), (0, 95), (0, 99), (0, 103)],
    3: [(0, 21), (0, 21), (0, 21), (0, 25)],
    4: [(0, 10), (0, 9), (0, 9), (0, 9)],
    5: [(0, 1), (2, 3), (0, 1), (1, 2)],
}


@pytest.fixture(scope="module")
def autoworkers():
    if not AUTOWORKERS.exists():
        pytest.skip("the table is not here")
    with AUTOWORKERS.open(encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    levels = [sorted({row[axis] for row in rows}, reverse=True) for axis in range(6)]
    table = np.zeros((2,) * 6, dtype=np.int64)
    for *row, count in rows:
        table[tuple(levels[axis].index(level) for axis, level in enumerate(row))] = int(count)
    return table


@pytest.mark.parametrize("order", KNOWN)
def test_czech_autoworkers(autoworkers, order):
    found = bounds(margins_of(autoworkers, all_margins(6, order)))
    small = np.flatnonzero(autoworkers.ravel() <= 2)
    got = [(int(found.lower[i]), int(found.upper[i])) for i in small]
    assert autoworkers.ravel()[small].tolist() == [1, 2, 0, 2]
    assert got == KNOWN[order]
    assert found.complete


def test_czech_autoworkers_where_the_linear_maximum_is_no_whole_number(autoworkers):
    """The linear maximum is 95 2/3; the dual, over thirds, proves 95, and a table attains it."""
    system = system_of(64, margins_of(autoworkers, all_margins(6, 2)).statements())
    cell = int(np.flatnonzero(autoworkers.ravel() == 1)[0])
    found = certify(system, cell, "upper")
    assert found.value == 95
    assert found.holds(system)
    assert found.proof is Proof.DUAL
    assert found.dual.denominator % 3 == 0
