"""Special uniques of cells that are not held at once, against those of cells that are."""

import json
from itertools import combinations

import numpy as np
import pytest
from tests.agreement.test_cells_in_parts import ENGINES, assessed, check, of_one_part
from tests.oracles.cells_beside import cells_of_levels, column, space_of
from tests.oracles.scattered_engine import MemoryShelf, ScatteredCells

from discreet.engines.local.cells import LocalCells
from discreet.engines.local.parts import Shelf
from discreet.errors import InputError
from discreet.progress import silent
from discreet.survey.suda.key_sets import served
from discreet.survey.suda.special import special_figures

SIZES = (3, 40, 5, 2, 12, 4, 30)
TABLES = {"in tables": 1 << 20, "together": 0, "some of each": 60}
WAYS = ("one part", "parts on disk", "scattered")


def people(seed=4, n=400, sizes=SIZES):
    """Cells, most of them of one record, some levels common and others rare."""
    rng = np.random.default_rng(seed)
    columns = [rng.choice(size, n, p=rng.dirichlet(np.full(size, 0.5))) for size in sizes]
    levels = np.unique(np.stack(columns, axis=1), axis=0)
    return levels, rng.choice([1, 2, 3], len(levels), p=[0.8, 0.15, 0.05])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("held")


@pytest.fixture
def made(tmp_path):
    """Makes cells in one of the ways."""

    def make(way, levels, records, *, sizes=SIZES, limit=2**62):
        space = space_of(sizes, limit=limit)
        order = np.random.default_rng(1).permutation(len(levels))
        shelf = {
            "one part": None,
            "parts on disk": Shelf(tmp_path, 1, 20),
            "scattered": MemoryShelf(None, 1, 20),
        }[way]
        cells = cells_of_levels(levels[order], records[order], space, shelf=shelf)
        if way == "scattered":
            cells = ScatteredCells.of(cells, np.random.default_rng(2))
        assert (len(cells.parts) > 1) == (way != "one part")
        return cells

    return make


@pytest.fixture
def lying(monkeypatch):
    """Figures of cells none of which may be held."""

    def figures(cells, max_size, **more):
        with monkeypatch.context() as patched:
            patched.setattr("discreet.survey.suda.special.MOST_HELD", 0)
            patched.setattr(LocalCells, "held", None)
            patched.setattr(ScatteredCells, "held", None)
            return special_figures(cells, max_size, progress=silent, **more)

    return figures


def assert_alike(made, lying, max_size, way, levels, records, **kind):
    """The figures and the columns beside the cells are the same either way."""
    asked = {"sampling_fraction": 0.2, "limits": (0.01, 0.1, 0.5)}
    cells, others = made("one part", levels, records, **kind), made(way, levels, records, **kind)
    expected = special_figures(cells, max_size, progress=silent, **asked)
    found = lying(others, max_size, **asked)
    for name in ("max_size", "n_scored", "n_unscored", "dis", "above", "columns", "example_text"):
        assert getattr(found, name) == getattr(expected, name), name
    assert found.largest_dis == pytest.approx(expected.largest_dis, rel=1e-12)
    assert [one.key for one in found.keys] == [one.key for one in expected.keys]
    for one, other in zip(found.keys, expected.keys, strict=True):
        assert (one.shared, one.involved) == pytest.approx((other.shared, other.involved))
    for name in expected.columns:
        theirs, ours = column(others, name), column(cells, name)
        if name.startswith("suda"):
            assert theirs.tolist() == ours.tolist()
        assert theirs == pytest.approx(ours, rel=1e-12)
    return expected


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("in_table", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("max_size", [1, 3, 4])
def test_the_figures_are_those_of_the_search(made, lying, monkeypatch, way, in_table, max_size):
    monkeypatch.setattr("discreet.survey.suda.key_sets.MOST_IN_TABLE", in_table)
    monkeypatch.setattr("discreet.survey.suda.key_sets.MOST_IN_TABLES", max(2 * in_table, 1))
    found = assert_alike(made, lying, max_size, way, *people())
    assert found.n_scored > 0
    if max_size == 4:
        assert found.n_scored > 100
        assert len(found.example.msus) >= 5


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(4))
def test_all_sizes_and_codes_of_several_words(made, lying, monkeypatch, seed, way):
    """A few cells are taken apart at a time, and cells are brought together by keys of many kinds."""
    rng = np.random.default_rng(seed)
    sizes = tuple(int(n) for n in rng.integers(2, 9, 5))
    levels, records = people(seed, 120, sizes)
    monkeypatch.setattr("discreet.survey.suda.key_sets.MOST_IN_TABLE", int(rng.integers(0, 30)))
    monkeypatch.setattr("discreet.survey.suda.key_sets.MOST_TOGETHER", int(rng.integers(0, 80)))
    monkeypatch.setattr("discreet.survey.suda.alone.MOST_LOOKED_UP", 20)
    monkeypatch.setattr("discreet.survey.suda.alone.AT_HAND", 100)
    monkeypatch.setattr("discreet.survey.suda.alone.BITS", 3)
    assert_alike(made, lying, 5, way, levels, records, sizes=sizes, limit=60)


@pytest.mark.parametrize("levels", [[[0, 1]], [[0, 0], [0, 1], [1, 0], [1, 1]], [[2, 1], [0, 1]]])
@pytest.mark.parametrize("records", [1, 2])
@pytest.mark.parametrize("in_table", TABLES.values(), ids=TABLES)
def test_files_of_hardly_any_cells(made, lying, monkeypatch, levels, records, in_table):
    monkeypatch.setattr("discreet.survey.suda.key_sets.MOST_IN_TABLE", in_table)
    levels = np.array(levels)
    held = np.full(len(levels), records)
    assert_alike(made, lying, 2, "one part", levels, held, sizes=(3, 2))


def test_many_keys_spread_the_dis_by_shares(made, lying):
    sizes = (3,) * 28
    levels, records = people(5, 60, sizes)
    found = assert_alike(made, lying, 2, "parts on disk", levels, records, sizes=sizes)
    assert found.columns[2] == "dis_suda_share"


@pytest.mark.parametrize("kind", ENGINES)
def test_whole_assessments(kind, folder, tmp_path, monkeypatch):
    expected, records = of_one_part("everything", folder)
    monkeypatch.setattr("discreet.survey.suda.special.MOST_HELD", 0)
    found, other = assessed("everything", tmp_path, ENGINES[kind]())
    check(json.loads(json.dumps(expected)), found)
    for name in ("suda_score", "suda_score_guide", "dis_suda_odds"):
        assert np.allclose(records[name], other[name], rtol=1e-9, atol=0)


def test_sets_are_served_by_the_key_that_most_of_them_hold():
    sets = list(combinations(range(4), 2))
    assert list(served(sets, frozenset({1, 3}))) == [
        ((1,), [(0, 1), (1, 2), (1, 3)]),
        ((3,), [(0, 3), (2, 3)]),
        ((0, 2), [(0, 2)]),
    ]
    assert list(served([], frozenset({1}))) == []


def test_what_would_take_too_long_or_too_much_room(made, lying, monkeypatch):
    levels, records = people()
    cells = made("one part", levels, records)
    n = len(levels)
    monkeypatch.setattr("discreet.survey.suda.special.MOST_SETS", 63)
    with pytest.raises(
        InputError, match=rf"suda must be at most 3 here, got 4, .* {n} cells; take"
    ):
        lying(cells, 4, sampling_fraction=None)
    lying(cells, 3, sampling_fraction=None)
    monkeypatch.setattr("discreet.survey.suda.special.MOST_STEPS", 28 * n)
    with pytest.raises(InputError, match="at most 2 here, got 3, which takes 63 sets of keys"):
        lying(cells, 3, sampling_fraction=None)
    monkeypatch.setattr("discreet.survey.suda.special.MOST_STEPS", n)
    with pytest.raises(InputError, match="left out here, got 3, .*; take fewer or coarser keys"):
        lying(cells, 3, sampling_fraction=None)
