"""The verbs of cells on Spark against those of one machine, in many partitions."""

import numpy as np
import pytest
from tests.unit.engines.spark_agreement import Column, parquet, request_of, send_with_its_module

from discreet.engines.duckdb import DuckDBEngine
from discreet.engines.key_space import KeyLevels
from discreet.engines.spark.engine import SparkEngine
from discreet.progress import silent
from discreet.survey.suda.special import special_figures
from discreet.survey.suda.subsets import subset_uniques


@pytest.fixture(params=["one word", "several words"])
def stores(request, spark, tmp_path, monkeypatch):
    """The same cells on Spark and on one machine."""
    send_with_its_module(Column)
    monkeypatch.setattr("discreet.engines.spark.cells.PART_CELLS", 40)
    rng = np.random.default_rng(5)
    wide = 1 if request.param == "one word" else 3000
    sizes = [3, 7, 4, 5 * wide, 2 * wide, 3 * wide, 2 * wide, wide]
    columns = {f"k{j}": rng.integers(0, size, 250) for j, size in enumerate(sizes)}
    if wide > 1:  # most levels occur, so that the code is long
        for name in ("k3", "k4", "k5", "k6", "k7"):
            columns[name] = np.where(rng.random(250) < 0.5, 0, columns[name])
    columns["w"] = rng.lognormal(2, 1, 250)
    asked = request_of(parquet(tmp_path, columns), [f"k{j}" for j in range(8)], weight="w")
    on_spark = SparkEngine(session=spark, most_near=0).count(asked)
    with on_spark as theirs, DuckDBEngine().count(asked) as ours:
        yield theirs.cells, ours.cells


def sizes_of(found):
    return [one.to_json() for one in found]


def test_the_cells_without_each_key(stores):
    theirs, ours = stores
    assert sizes_of(theirs.without_each_key()) == sizes_of(ours.without_each_key())
    assert theirs.fold(Column("neighbours")) == ours.fold(Column("neighbours"))


@pytest.mark.parametrize("stores", ["one word"], indirect=True)
def test_coarser_cells(stores):
    theirs, ours = stores
    view = ours.space.itself()
    band = KeyLevels(name="k1", values=("a", "b"), labels=("a", "b"), n_missing=0)
    size = ours.space.coding.sizes[1]
    views = [
        view.of_keys([0, 2, 5]),
        view.of_keys([0, 1, 2, 4, 5, 6, 7]),
        view.recoded(1, (np.arange(size) > 2).astype(np.int64), band),
        view.flattened(3),
    ]
    for k in (2, 3):
        assert theirs.small(views, k) == ours.small(views, k)
    for one in views[:1]:
        coarser = [cells.seen_through(one) for cells in stores]
        held = [cells.held(1000) for cells in coarser]
        assert held[0].words.tolist() == held[1].words.tolist()
        assert held[0].records.tolist() == held[1].records.tolist()
        assert held[0].weight_total == pytest.approx(held[1].weight_total, rel=1e-14)
        for cells, own in zip(stores, coarser, strict=True):
            own.without_each_key()
            cells.take(own, one, {"neighbours": "taken, so to say"})
        taken = Column("taken, so to say")
        assert theirs.fold(taken) == ours.fold(taken)


@pytest.mark.parametrize("stores", ["one word"], indirect=True)
def test_summaries_and_samples(stores):
    theirs, ours = stores
    sets = [(0,), (1, 2), (0, 1, 2)]
    found, expected = theirs.margins(sets), ours.margins(sets)
    assert all(np.array_equal(found[axes], expected[axes]) for axes in sets)
    assert theirs.size_indices().to_json() == ours.size_indices().to_json()
    assert theirs.sampled(60).words.tolist() == ours.sampled(60).words.tolist()
    assert theirs.held(10) is None
    words = ours.held(1000).words
    rows = [{"words": np.concatenate([words[:5], words[:2]]), "n": np.arange(7)}]
    for cells in stores:
        cells.put_counts("n", rows)
    assert theirs.fold(Column("n")) == ours.fold(Column("n"))


class Agreeing:
    """How many cells agree with a cell on some keys, of those that are looked at with it."""

    reads = ()
    gives = ("agreeing",)

    def __init__(self, keys):
        self.keys = keys

    def of(self, batch):
        rows = batch.levels()[:, self.keys]
        _, place, n = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
        return {"agreeing": n[place.ravel()].astype(float)}, len(batch)

    def joined(self, one, other):
        return one + other


def test_cells_that_agree_are_looked_at_together(stores):
    theirs, ours = stores
    for keys in ([3], [1, 2, 7]):
        found = [cells.add_together(Agreeing(keys), keys[:1]) for cells in stores]
        assert found == [ours.n_cells] * 2
        assert theirs.fold(Column("agreeing")) == ours.fold(Column("agreeing"))
        assert max(ours.fold(Column("agreeing")).values()) > 1


@pytest.mark.parametrize("stores", ["one word"], indirect=True)
def test_special_uniques_and_sets_of_keys(stores, monkeypatch):
    theirs, ours = stores
    expected = special_figures(ours, 3, sampling_fraction=0.1, progress=silent, limits=(0.05,))
    sets = subset_uniques(ours, 2)
    monkeypatch.setattr("discreet.survey.suda.key_sets.MOST_IN_TABLE", 60)
    monkeypatch.setattr("discreet.survey.suda.special.MOST_HELD", 0)
    found = special_figures(theirs, 3, sampling_fraction=0.1, progress=silent, limits=(0.05,))
    for name in ("n_scored", "n_unscored", "dis", "above", "columns", "example_text"):
        assert getattr(found, name) == getattr(expected, name), name
    assert expected.n_scored > 50
    for one, other in zip(found.keys, expected.keys, strict=True):
        assert one.key == other.key
        assert (one.shared, one.involved) == pytest.approx((other.shared, other.involved))
    for name in expected.columns:
        assert theirs.fold(Column(name)) == pytest.approx(ours.fold(Column(name)), rel=1e-12)
    assert subset_uniques(theirs, 2) == sets
    monkeypatch.setattr("discreet.survey.suda.subsets.MOST_HELD", 0)
    assert subset_uniques(theirs, 2) == sets
