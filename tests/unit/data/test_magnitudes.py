"""A column of amounts is not taken for counts of persons without a word."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from discreet.data.magnitudes import doubts_about, is_count_name
from discreet.engines.table_reading import read_table

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"


def doubts(name, values, rows=None, n_combinations=None):
    own = np.array(values)
    times = np.ones_like(own) if rows is None else np.array(rows)
    return doubts_about(name, own, times, n_combinations or int(times.sum()))


@pytest.mark.parametrize(
    ("values", "doubtful"),
    [
        ([900_000, 999_999, 1_000_000], False),
        ([900_000, 1_000_001, 2_000_000], True),
        ([3, 5, 9_000_000_000], False),
        ([3, 5, 10_000_000_001], True),
        ([0, 0, 0, 1_000_001], True),  # rows without anybody say nothing
    ],
)
def test_sizes_on_both_sides_of_what_persons_may_be(values, doubtful):
    assert bool(doubts("count", values)) is doubtful


@pytest.mark.parametrize(
    ("rows", "n_combinations", "doubtful"), [([4], 2, True), ([4], 3, False), ([1], 1, False)]
)
def test_several_large_rows_of_one_combination(rows, n_combinations, doubtful):
    assert bool(doubts("total", [1_500], rows, n_combinations)) is doubtful
    assert not doubts("total", [900], rows, n_combinations)
    assert not doubts("population", [1_500], rows, n_combinations)  # of smaller places


@pytest.mark.parametrize(
    "name",
    [
        "population", "pop2020", "POP_TOTAL", "Einwohner", "inhabitants", "nPersons", "employees",
        "total_population", "Bevölkerung", "households",
    ],
)  # fmt: skip
def test_municipalities_are_tables_of_persons(name):
    assert not doubts(name, [12_000, 55_000, 3_700_000, 80_000_000])


@pytest.mark.parametrize("name", ["count", "Freq", "n", "N", "number", "n_low_income", "obs"])
def test_counts_of_a_census_are_not_doubted(name):
    assert not doubts(name, [12, 5_000, 250_000, 700_000])


@pytest.mark.parametrize(
    "name",
    [
        "RESREVENUE", "income", "payroll", "total_payroll", "gdp", "GDP_2020", "sales", "tax",
        "export_eur", "rent", "persons (thousands)", "pop_million", "cost_per_person",
        "income_total", "Bruttolohn",
    ],
)  # fmt: skip
def test_amounts_are_doubted_by_their_names_alone(name):
    assert doubts(name, [1, 2])


@pytest.mark.parametrize("name", ["OBS_VALUE", "value", "w_x", "measure", "turn"])
def test_names_that_say_nothing_are_doubted_where_numbers_are_large(name):
    assert doubts(name, [1_500])
    assert not doubts(name, [900])
    assert not is_count_name(name)


def test_a_table_carries_the_doubt_until_it_is_confirmed():
    source = pa.table({"a": ["x", "y"], "revenue": [90_000_000, 3_000]})
    assert len(read_table(source, count="revenue").doubts) == 2
    assert read_table(source, count="revenue", persons=True).doubts == ()


@pytest.mark.skipif(not DATA.exists(), reason="the shared tables are not here")
@pytest.mark.parametrize("path", sorted(DATA.glob("*.csv")), ids=lambda path: path.stem)
def test_real_tables_of_persons_raise_no_doubt(path):
    header = path.read_text().splitlines()[0].replace('"', "").replace(";", ",").split(",")
    names = [name for name in header if is_count_name(name)]
    for name in names[-1:]:
        table = read_table(path, count=name)
        assert (table.doubts, table.notes) == ((), ())
