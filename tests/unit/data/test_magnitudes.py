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
        ([9_000, 9_999, 10_000], False),
        ([9_000, 10_001, 20_000], True),
        ([3, 5, 9_000_000_000], False),
        ([3, 5, 10_000_000_001], True),
        ([0, 0, 0, 10_001], True),  # rows without anybody say nothing
    ],
)
def test_sizes_on_both_sides_of_what_persons_may_be(values, doubtful):
    assert bool(doubts("count", values)) is doubtful


@pytest.mark.parametrize(
    ("rows", "n_combinations", "doubtful"), [([4], 2, True), ([4], 3, False), ([1], 1, False)]
)
def test_several_large_rows_of_one_combination(rows, n_combinations, doubtful):
    assert bool(doubts("n", [1_500], rows, n_combinations)) is doubtful
    assert not doubts("n", [900], rows, n_combinations)


def test_names_speak_for_or_against():
    assert doubts("RESREVENUE", [1, 2])
    assert doubts("income", [1, 2])
    assert doubts("w_x", [1_500])
    assert not doubts("w_x", [900])
    assert not doubts("Freq", [1_500])
    assert is_count_name("n_persons")
    assert not is_count_name("turn")


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
