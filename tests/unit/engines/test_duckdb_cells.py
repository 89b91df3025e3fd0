"""Counted cells: margins, batches and scores agree with brute force."""

import itertools
import stat
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.oracles.cells_beside import attach, whole

from discreet.data.coding import Coding
from discreet.data.records import open_records
from discreet.engines import duckdb_cells
from discreet.engines.contract import ClassLimits
from discreet.engines.local import cells as local_cells
from discreet.engines.local import records as local_records
from discreet.errors import ColumnError, FileError, InputError
from discreet.survey.projection import AllCells

SIZES = (3, 2, 4, 5)
NAMES = list("abcd")


@pytest.fixture(params=["one word", "several words"])
def packing(request, monkeypatch):
    """Codes in one word, and codes that need several."""
    if request.param == "several words":
        whole: Any = vars(Coding)["of_sizes"].__func__
        monkeypatch.setattr(
            Coding, "of_sizes", classmethod(lambda cls, sizes: whole(cls, sizes, max(*sizes, 2)))
        )
    return request.param


@pytest.fixture
def levels():
    return np.random.default_rng(5).integers(0, SIZES, (150, len(SIZES)))


def table(levels, **more):
    return pa.table({name: levels[:, j] for j, name in enumerate(NAMES)} | more)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_margins_agree_with_numpy(count, levels, packing, order):
    sets = list(itertools.combinations(range(4), order))
    margins = count(table(levels), NAMES).cells.margins(sets)
    assert list(margins) == sets
    for axes, margin in margins.items():
        expected = np.zeros([SIZES[axis] for axis in axes], dtype=np.int64)
        np.add.at(expected, tuple(levels[:, list(axes)].T), 1)
        assert (margin == expected).all()
        assert not margin.flags.writeable


def test_margins_of_many_keys(count):
    rng = np.random.default_rng(1)
    levels = rng.integers(0, 2, (40, 66))
    names = [f"k{j}" for j in range(66)]
    cells = count(pa.table({n: levels[:, j] for j, n in enumerate(names)}), names)
    sets = list(itertools.combinations(range(66), 2))
    pairs = cells.cells.margins(sets)
    assert len(pairs) == 66 * 65 // 2
    for (i, j), margin in pairs.items():
        expected = np.zeros((2, 2), dtype=np.int64)
        np.add.at(expected, (levels[:, i], levels[:, j]), 1)
        assert (margin == expected).all()


def test_a_margin_too_large_to_hold_is_refused(count):
    n = 9000
    cells = count(pa.table({"a": np.arange(n), "b": np.arange(n)}), ["a", "b"])
    with pytest.raises(InputError, match="margin 'a' × 'b' must be of at most 67,108,864 cells"):
        cells.cells.margins([(0,), (0, 1)])


def test_margins_too_large_together_are_refused(count):
    n = 8000
    source = pa.table({name: np.arange(n) for name in "abc"})
    with pytest.raises(InputError, match="at most 134,217,728 cells in all, got 192000000"):
        count(source, ["a", "b", "c"]).cells.margins([(0, 1), (0, 2), (1, 2)])


def test_cells_agree_with_a_counter(count, levels, packing):
    cells = count(table(levels), NAMES).cells
    expected = Counter(map(tuple, levels.tolist()))
    held = whole(cells)
    assert held.words.shape == (len(expected), cells.space.coding.n_words)
    assert (cells.space.coding.n_words > 1) == (packing == "several words")
    rows = map(tuple, held.levels().tolist())
    assert dict(zip(rows, held.n_records.tolist(), strict=True)) == expected
    assert held.words.tolist() == sorted(held.words.tolist())
    assert cells.n_cells == len(expected)
    sizes = Counter(expected.values())
    assert cells.size_indices().to_json() == {str(s): n for s, n in sorted(sizes.items())}


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_batches_hold_each_cell_once(count, levels, packing, size, monkeypatch):
    monkeypatch.setattr(local_cells, "BATCH_CELLS", size)
    weights = np.arange(1.0, 151.0)
    cells = count(table(levels, w=weights), NAMES, weight="w").cells
    batches = list(cells.batches())
    assert all(0 < len(batch) <= size for batch in batches)
    found = [row for batch in batches for row in map(tuple, batch.levels().tolist())]
    expected = Counter(map(tuple, levels.tolist()))
    assert sorted(found) == sorted(expected)
    counts = np.concatenate([batch.sample_count for batch in batches]).tolist()
    assert dict(zip(found, counts, strict=True)) == expected
    totals = dict.fromkeys(map(tuple, levels.tolist()), 0.0)
    for level, weight in zip(map(tuple, levels.tolist()), weights, strict=True):
        totals[level] += weight
    for batch in batches:
        for level, total in zip(batch.levels().tolist(), batch.weight_total, strict=True):
            assert total == totals[tuple(level)]


def test_rows_of_cells_in_the_order_of_the_file(count, levels, packing):
    cells = count(table(levels), NAMES)
    words = whole(cells.cells).words
    wanted = words[[len(words) - 1, 0, 3]]
    found = cells.rows_in(wanted, 2)
    codes = cells.cells.space.coding.encode(levels)
    for code, rows in zip(wanted, found, strict=True):
        own = np.flatnonzero((codes == code).all(axis=1)) + 1
        assert rows == tuple(own[:2].tolist())
    assert cells.rows_in(words[:0], 3) == []


def test_weights_of_a_cell_are_its_own_also_where_it_matches_others(count):
    source = pa.table({"a": ["x", "x", None, "y"], "w": [1.0, 2.0, 4.0, 8.0]})
    for policy in ("category", "wildcard"):
        cells = count(source, ["a"], missing=policy, weight="w")
        assert sorted(AllCells.of(cells.cells).weight.tolist()) == [3.0, 4.0, 8.0]
    assert AllCells.of(count(source, ["a"]).cells).weight is None


class TestRecords:
    def write(self, cells, path, columns=("score",)):
        attach(cells.cells, **dict.fromkeys(columns, whole(cells.cells).words[:, 0] + 0.5))
        cells.write_records(path, columns)
        return pq.read_table(path)

    @pytest.mark.parametrize("size", [7, 1000])
    def test_each_record_has_the_scores_of_its_cell(
        self, count, levels, packing, tmp_path, size, monkeypatch
    ):
        monkeypatch.setattr(local_cells, "BATCH_CELLS", size)
        monkeypatch.setattr(duckdb_cells, "BATCH_RECORDS", size)
        monkeypatch.setattr(local_records, "BATCH_RECORDS", size)
        monkeypatch.setattr(local_records, "SCATTERED", size)
        cells = count(table(levels), NAMES)
        found = self.write(cells, tmp_path / "r.parquet", ["score", 'it\'s "odd"'])
        expected = Counter(map(tuple, levels.tolist()))
        assert found.column_names == ["row", "sample_count", "score", 'it\'s "odd"']
        assert found.column("row").to_pylist() == list(range(1, 151))
        assert found.column("sample_count").to_pylist() == [
            expected[tuple(level)] for level in levels.tolist()
        ]
        codes = cells.cells.space.coding.encode(levels)[:, 0] + 0.5
        assert found.column("score").to_pylist() == codes.tolist()
        assert found.column('it\'s "odd"').to_pylist() == codes.tolist()

    def test_dropped_records_have_empty_values(self, count, packing, tmp_path):
        source = pa.table({"a": [1, None, 1, 2], "b": ["x", "x", "x", None], "w": [1.0] * 4})
        cells = count(source, ["a", "b"], missing="drop", weight="w")
        found = self.write(cells, tmp_path / "r.parquet")
        assert found.to_pydict() == {
            "row": [1, 2, 3, 4],
            "sample_count": [2, None, 2, None],
            "weight_total": [2.0, None, 2.0, None],
            "score": [0.5, None, 0.5, None],
        }

    def test_records_have_the_risk_of_their_household_beside_their_own(self, count, tmp_path):
        source = pa.table({"a": [1, 2, 1, 3], "home": ["x", "y", "x", "y"]})
        cells = count(source, ["a"], household="home")
        attach(cells.cells, risk=[0.5, 0.2, 1.0])
        totals = cells.household_totals(["risk"])
        assert totals.expected_found["risk"] == pytest.approx(0.75 + 1)
        cells.write_records(tmp_path / "r.parquet", ["risk"], ["risk"], self.LIMITS)
        found = pq.read_table(tmp_path / "r.parquet").to_pydict()
        assert found["row"] == [1, 2, 3, 4]
        assert found["risk"] == [0.5, 0.2, 0.5, 1.0]
        assert found["household_risk"] == pytest.approx([0.75, 1, 0.75, 1])

    LIMITS = ClassLimits(some=0.05, high=0.2)

    @pytest.mark.parametrize("ending", ["csv", "parquet"])
    def test_risks_come_first_then_their_class_and_what_is_carried(self, count, tmp_path, ending):
        source = pa.table(
            {"id": ["p,1", "q", "r", 's"4'], "a": [1, 1, 2, None], "n": [1.5, None, 2.5, 0.0]}
        )
        cells = count(source, ["a"], missing="drop", carry=("id", "n"))
        scores = {"other": [7.0, 8.0], "risk": [0.2, 0.051], "population_unique": [0.0, 0.5]}
        attach(cells.cells, **scores)
        path = tmp_path / f"r.{ending}"
        cells.write_records(path, tuple(scores), ("risk", "population_unique"), self.LIMITS)
        frame = pd.read_csv(path) if ending == "csv" else pd.read_parquet(path)
        assert list(frame) == [
            "row", "risk", "population_unique", "class", "id", "n", "sample_count", "other",
        ]  # fmt: skip
        assert frame["row"].tolist() == [1, 2, 3, 4]
        assert frame["id"].tolist() == ["p,1", "q", "r", 's"4']
        assert frame["n"].fillna(-1).tolist() == [1.5, -1, 2.5, 0.0]
        assert frame["risk"].fillna(-1).tolist() == [0.2, 0.2, 0.051, -1]
        assert frame["class"].fillna("").tolist() == ["some", "some", "some", ""]

    @pytest.mark.parametrize(
        ("risk", "name"),
        [
            (0.2 * (1 + 1e-12), "some"),
            (0.2001, "high"),
            (0.05, "low"),
            (1.0, "high"),
            (np.nan, None),
        ],
    )
    def test_what_is_at_a_limit_is_not_above_it(self, count, tmp_path, risk, name):
        cells = count(pa.table({"a": [1]}), ["a"])
        attach(cells.cells, risk=[risk])
        cells.write_records(tmp_path / "r.parquet", ["risk"], ["risk"], self.LIMITS)
        assert pq.read_table(tmp_path / "r.parquet").column("class").to_pylist() == [name]

    def test_many_records_keep_their_order_as_csv(self, count, tmp_path):
        a = np.random.default_rng(1).integers(0, 900, 300_000)
        cells = count(pa.table({"a": a, "id": np.arange(300_000)}), ["a"], carry=("id",))
        attach(cells.cells, risk=np.linspace(0, 1, 900))
        cells.write_records(tmp_path / "r.csv", ["risk"], ["risk"], self.LIMITS)
        frame = pd.read_csv(tmp_path / "r.csv")
        assert (frame["row"] == np.arange(1, 300_001)).all()
        assert (frame["id"] == np.arange(300_000)).all()
        assert np.allclose(frame["risk"], np.linspace(0, 1, 900)[a])

    def test_a_column_that_is_not_there_cannot_be_carried(self, count):
        with pytest.raises(ColumnError, match="carry must be a column of .*; did you mean 'a'"):
            count(pa.table({"a": [1]}), ["a"], carry=("A",))

    def test_no_score_at_all(self, count, tmp_path):
        found = self.write(count(pa.table({"a": [1, 2, 2]}), ["a"]), tmp_path / "r.parquet", [])
        assert found.to_pydict() == {"row": [1, 2, 3], "sample_count": [1, 2, 2]}

    def test_the_file_stays_as_private_as_it_was_made(self, count, tmp_path):
        path = tmp_path / "r.parquet"
        path.touch(mode=0o600)
        before = path.stat().st_ino
        self.write(count(pa.table({"a": [1, 2]}), ["a"]), path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert path.stat().st_ino == before
        assert [p.name for p in tmp_path.iterdir()] == ["r.parquet"]

    @pytest.mark.parametrize("name", ["it's.parquet", "a[1]*?.parquet", "x;y.parquet", "日本"])
    def test_the_file_may_have_any_name(self, count, tmp_path, name):
        found = self.write(count(pa.table({"a": [1, 2]}), ["a"]), tmp_path / name)
        assert found.num_rows == 2
        assert [p.name for p in tmp_path.iterdir()] == [name]


class TestLabels:
    """A small table as text, by the rule that names levels."""

    @pytest.fixture
    def read(self, count):
        cells = count(pa.table({"k": [1]}), ["k"])
        return lambda source: cells.read_labels(open_records(source))

    def test_every_source_gives_the_same_text(self, read, tmp_path):
        expected = {"a": ["1", None, "3"], "b": ["x", "y z", None]}
        text = 'a,b\n1,x\n,"y z"\n3,\n'
        (tmp_path / "t.csv").write_text(text)
        (tmp_path / "u.csv").write_bytes(text.replace("\n", "\r\n").encode("utf-16"))
        source = pa.table({"a": [1, None, 3], "b": ["x", "y z", None]})
        pq.write_table(source, tmp_path / "t.parquet")
        frame = pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "b": ["x", "y z", None]})
        for given in (source, frame, *(tmp_path / n for n in ("t.csv", "u.csv", "t.parquet"))):
            assert read(given) == expected

    @pytest.mark.parametrize("end", ["", "\n", "\n\n"])
    def test_blank_lines_are_no_rows(self, read, tmp_path, end):
        (tmp_path / "t.csv").write_text("a,b\n1,x" + end)
        assert read(tmp_path / "t.csv") == {"a": ["1"], "b": ["x"]}

    def test_a_header_alone_has_no_rows(self, read, tmp_path):
        (tmp_path / "t.csv").write_text("a,b\n")
        assert read(tmp_path / "t.csv") == {"a": [], "b": []}

    def test_a_name_that_occurs_twice_is_refused(self, read, tmp_path):
        (tmp_path / "t.csv").write_text("a,a\n1,2\n")
        with pytest.raises(ColumnError, match="'a' 2 times"):
            read(tmp_path / "t.csv")

    @pytest.mark.parametrize(
        ("content", "part"),
        [
            (b"a,b\n" + b"1,x\n" * 300_000 + b"1,\xff\n", "text in utf-8"),
            (b"a,b\n1,x\nsecret\n", "as many fields on each line as in the header"),
            (b'a,b\n"secret,x\n', "well quoted"),
        ],
        ids=["bytes", "ragged", "quote"],
    )
    def test_what_cannot_be_read_is_named(self, read, tmp_path, content, part):
        (tmp_path / "t.csv").write_bytes(content)
        with pytest.raises(FileError) as caught:
            read(tmp_path / "t.csv")
        assert str(caught.value).startswith("t.csv must be")
        assert part in str(caught.value)
        assert "secret" not in str(caught.value)

    def test_hive_folders_have_their_partition(self, read, tmp_path):
        for level in ("x", "y"):
            (tmp_path / f"b={level}").mkdir()
            pq.write_table(pa.table({"a": [1]}), tmp_path / f"b={level}" / "t.parquet")
        assert read(tmp_path) == {"a": ["1", "1"], "b": ["x", "y"]}
