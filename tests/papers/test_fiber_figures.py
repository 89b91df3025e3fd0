"""Numbers of consistent tables that the papers print, or that others computed from their data."""

import csv
from pathlib import Path

import numpy as np
import pytest

from discreet.fiber.sums.counting import count_exactly, count_tables
from discreet.fiber.sums.dynamic_programming import Budget
from discreet.fiber.sums.enumeration import tables
from discreet.fiber.sums.marginals import most_probable_table, posterior
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.fiber.system.margins import all_margins, margins_of
from discreet.fiber.system.priors import DirichletMultinomial, Multinomial, Uniform
from discreet.figures import How

SHARED = Path(__file__).parents[3] / "shared" / "data"

# Dobra, Fienberg and Trottini, Table 1: race × income × gender, 1990 census.
CENSUS = np.array(
    [
        [[96, 186], [72, 127], [161, 51]],
        [[10, 11], [7, 7], [6, 3]],
        [[1, 0], [1, 1], [2, 0]],
    ]
)
CENSUS_SYSTEM = system_of(CENSUS.size, margins_of(CENSUS, [(0, 1), (1, 2)]).statements())


def exponent_in_factorial(j, prime):
    """How often the prime divides j!."""
    total = 0
    while j:
        j //= prime
        total += j
    return total


def count_system(n, total, exponents, largest):
    """kadane (12), (13): number of observations, their sum, and one equation a prime."""
    cells = np.arange(largest + 1)
    found = [
        Statement(cells=cells, low=n, high=n, name="n"),
        Statement(cells=cells[1:], coefficients=cells[1:], low=total, high=total, name="S1"),
    ]
    for prime, exponent in exponents.items():
        powers = np.array([exponent_in_factorial(j, prime) for j in cells])
        inside = powers > 0
        found.append(
            Statement(
                cells=cells[inside],
                coefficients=powers[inside],
                low=exponent,
                high=exponent,
                name=f"exponent of {prime}",
            )
        )
    return system_of(largest + 1, found)


DISASTERS = count_system(51, 61, {2: 20, 3: 7}, 4)
POEM = count_system(117, 338, {2: 166, 3: 77, 5: 6}, 6)
INJURIES = count_system(10_000, 7_073, {2: 2000, 3: 585, 5: 87, 7: 20, 11: 1}, 12)


@pytest.mark.parametrize(
    ("system", "printed"), [(DISASTERS, 7), (POEM, 14), (INJURIES, 82_938_779)]
)
def test_solutions_of_count_systems(system, printed):
    """kadane, sections 4.1 to 4.3."""
    found = count_tables(system)
    assert found.value == printed
    assert found.how is How.EXACT


def test_disaster_solutions_between_the_printed_bounds():
    """kadane, Table 4."""
    found = np.array(list(tables(DISASTERS)))
    assert found.min(axis=0).tolist() == [11, 14, 1, 1, 0]
    assert found.max(axis=0).tolist() == [17, 32, 13, 7, 6]


def test_poem_solutions_between_the_printed_bounds():
    """kadane, Table 6."""
    found = np.array(list(tables(POEM)))
    assert found.min(axis=0).tolist() == [0, 0, 33, 49, 16, 0, 0]
    assert found.max(axis=0).tolist() == [2, 7, 45, 51, 22, 6, 6]


@pytest.mark.parametrize(
    ("system", "truth", "probability", "risk"),
    [
        (DISASTERS, [15, 20, 9, 5, 2], 0.363, 0.606),
        (POEM, [0, 7, 33, 49, 22, 6, 0], 0.479, 0.593),
    ],
)
def test_tables_weighted_by_their_orderings(system, truth, probability, risk):
    """A count table stands for n!/∏f! orderings, so Theorem 1 of kadane gives weight 1/∏f!."""
    found = posterior(system, Multinomial())
    assert found.table_probability(np.array(truth)) == pytest.approx(probability, abs=5e-4)
    assert 1 / found.entropy == pytest.approx(risk, abs=5e-4)


@pytest.mark.parametrize(("system", "risk"), [(DISASTERS, 0.356), (POEM, 0.263), (INJURIES, 0.04)])
def test_risk_of_equally_probable_tables(system, risk):
    """kadane (15), 1 / log2 of the number of solutions, is one over the entropy in bits."""
    assert 1 / posterior(system, Uniform()).entropy == pytest.approx(risk, abs=3e-3)


def test_likeliest_disaster_table():
    assert most_probable_table(DISASTERS, Multinomial()).tolist() == [16, 17, 11, 6, 1]


def test_census_tables():
    """dobra, Table 1 with the margins race × income and income × gender: 44 · 45 · 30."""
    assert count_exactly(CENSUS_SYSTEM) == 59_400


@pytest.mark.parametrize(
    ("prior", "income", "expected"),
    [
        (DirichletMultinomial(np.full(18, 0.5)), 0, [0.4994, 0.5006]),
        (DirichletMultinomial(np.full(18, 0.5)), 1, [0.3739, 0.2500, 0.3761]),
        (DirichletMultinomial(np.full(18, 0.5)), 2, [0.3777, 0.2500, 0.3723]),
        (Multinomial(), 0, [0.648, 0.352]),
        (Multinomial(), 1, [0.3932, 0.4695, 0.1374]),
        (Multinomial(), 2, [0.0578, 0.3687, 0.5735]),
    ],
)
def test_small_cells_of_the_census(prior, income, expected):
    """dobra, Tables 2 and 4, whose exact figures are known; the paper drew 500 tables."""
    cell = int(np.ravel_multi_index((2, income, 0), CENSUS.shape))
    found = posterior(CENSUS_SYSTEM, prior).probabilities[cell]
    np.testing.assert_allclose(found, expected, atol=6e-5 if len(expected) == 3 else 6e-4)


def shared_table(name, *variables):
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{name} is not here")
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    levels = {v: sorted({row[v] for row in rows}) for v in variables}
    table = np.zeros([len(levels[v]) for v in variables], dtype=np.int64)
    for row in rows:
        table[tuple(levels[v].index(row[v]) for v in variables)] += int(row["Freq"])
    return table


def test_eye_and_hair():
    """The published number of tables with the margins of Snee's eye × hair colours."""
    table = shared_table("HairEyeColor.csv", "Eye", "Hair")
    system = system_of(table.size, margins_of(table, [(0,), (1,)]).statements())
    assert count_exactly(system) == 1_225_914_276_768_514


def test_czech_autoworkers():
    """All five-way margins leave two tables."""
    variables = ("smoke", "mental", "phys", "systol", "protein", "family")
    table = shared_table("czech_autoworkers_2x6.csv", *variables)
    system = system_of(table.size, margins_of(table, all_margins(6, 5)).statements())
    assert count_exactly(system) == 2
    found = [row.tolist() for row in tables(system)]
    assert len(found) == 2
    assert table.ravel().tolist() in found


def test_three_way_table_by_latte():
    """LattE's `count`: 16,009,513,555 tables share these three two-way margins."""
    table = np.random.default_rng(1).integers(6, 21, (3, 3, 3))
    system = system_of(27, margins_of(table, all_margins(3, 2)).statements())
    assert count_exactly(system, budget=Budget()) == 16_009_513_555
