"""Made-up census areas and what is printed of them."""

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.fiber.system.linear_system import system_of
from discreet.synthetic.census_areas import (
    BANDS,
    census_area,
    census_areas,
    census_layouts,
    statements_of,
)


def test_an_area_depends_on_its_number_and_the_seed():
    one, other = list(census_areas(3, seed=5)), list(census_areas(2, seed=5))
    assert [name for name, _ in one] == ["area 1", "area 2", "area 3"]
    for (_, first), (_, second) in zip(one, other):
        assert np.array_equal(first.cells, second.cells)
        assert np.array_equal(first.counts, second.counts)
    assert one[0][1].total != one[1][1].total
    assert all(10 <= table.total <= 500 for _, table in one)


def test_one_race_mostly_prevails():
    tables = [table for _, table in census_areas(60, seed=1, least=100)]
    shares = [table.margin([2]).max() / table.total for table in tables]
    assert np.median(shares) > 0.7
    assert min(shares) < 0.6


def test_what_is_printed_is_true_of_the_area():
    table = census_area(200, rng=np.random.default_rng(1))
    layouts = census_layouts(table)
    assert len(BANDS) == 23
    assert len(layouts) == 17
    n_cells, statements = statements_of(layouts)
    # 20 single years, then the 18 bands from 20 on: cells as coarse as the tables allow.
    assert n_cells == 2 * 38 * 7 * 2
    ages = np.concatenate([np.arange(20), np.searchsorted(BANDS, np.arange(20, 110), "right") + 14])
    hidden = np.zeros((2, 38, 7, 2), dtype=np.int64)
    np.add.at(
        hidden, (table.cells[:, 0], ages[table.cells[:, 1]], *table.cells[:, 2:].T), table.counts
    )
    system = system_of(n_cells, statements)
    assert system.holds(system.completed(hidden.ravel()))
    names = [statement.name for statement in statements]
    assert names[0] == "[total]"
    assert "[sex by age] Female, 85 and over" in names
    assert "[sex by year under 20] Male, 19" in names
    assert len(names) == len(set(names))


def test_sizes_must_make_sense():
    with pytest.raises(InputError, match="size must be at least 1, got 0"):
        census_area(0, rng=np.random.default_rng(1))
    with pytest.raises(InputError, match="least must be from 1 to most"):
        next(census_areas(1, seed=1, least=9, most=8))
