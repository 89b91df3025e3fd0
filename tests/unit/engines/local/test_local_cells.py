"""Cells in one part and in many, against comparing and counting them one by one."""

import math
import pickle
from collections import Counter
from dataclasses import dataclass
from itertools import combinations, count

import numpy as np
import pytest
from tests.oracles.cells_beside import attach, cells_of_levels, column, space_of, whole

from discreet.data.summary import SizeIndices
from discreet.engines.contract import Small
from discreet.engines.key_space import KeyLevels
from discreet.engines.local import cells as module
from discreet.engines.local.cells import LocalCells
from discreet.engines.local.parts import Shelf

SIZES = (4, 3, 5, 2, 6)


def any_cells(rng):
    return SIZES, np.unique(rng.integers(0, SIZES, (300, 5)), axis=0)


def skewed_cells(rng):
    """All agree on most keys: no part can be cut by these."""
    levels = np.zeros((200, 5), dtype=np.int64)
    levels[:, 4] = np.arange(200)
    levels[:20, 0] = rng.integers(0, 2, 20)
    return (2, 1, 1, 1, 200), levels


def two_keys(rng):
    return (30, 20), np.unique(rng.integers(0, (30, 20), (300, 2)), axis=0)


def one_key(rng):
    return (90,), np.arange(90)[:, None]


def few_cells(rng):
    """So few that with a part for each some parts have none."""
    return (2, 3, 3), np.unique(rng.integers(0, (2, 3, 3), (14, 3)), axis=0)


KINDS = {
    "any": any_cells,
    "skewed": skewed_cells,
    "two keys": two_keys,
    "one key": one_key,
    "few": few_cells,
}
WAYS = {"one part": (1 << 62, 1 << 22), "many parts": (1, 20), "a cell each": (1, 1)}
CASES = [("few", "a cell each")]
CASES += [(kind, way) for kind in KINDS for way in ("one part", "many parts") if kind != "few"]


@dataclass
class Given:
    """Cells and what they are made of; levels are in the order of the codes."""

    cells: LocalCells
    sizes: tuple[int, ...]
    levels: np.ndarray
    records: np.ndarray
    weight: np.ndarray

    def grouped(self, keys):
        """Records by the levels of these keys, counted one by one."""
        held: Counter[tuple[int, ...]] = Counter()
        for row, n in zip(self.levels[:, list(keys)].tolist(), self.records.tolist(), strict=True):
            held[tuple(row)] += n
        return held


@pytest.fixture
def made(tmp_path):
    """Makes cells of a kind in one of the ways, in any order."""
    folders = count()

    def make(kind="any", way="many parts", limit=2**62):
        rng = np.random.default_rng(5)
        sizes, levels = KINDS[kind](rng)
        space = space_of(sizes, limit=limit)
        words = space.coding.encode(levels)
        levels = levels[np.lexsort(words.T[::-1])]
        records = rng.integers(1, 9, len(levels))
        weight = rng.integers(1, 99, len(levels)) / 4
        folder = tmp_path / str(next(folders))
        folder.mkdir()
        order = rng.permutation(len(levels))
        shelf = Shelf(folder, *WAYS[way])
        cells = cells_of_levels(levels[order], records[order], space, weight[order], shelf)
        assert (len(cells.parts) > 1) == (way != "one part")
        return Given(cells, tuple(sizes), levels, records, weight)

    return make


@pytest.fixture(params=CASES, ids=" in ".join)
def given(request, made):
    return made(*request.param)


def told(sizes: SizeIndices):
    return dict(zip(sizes.sizes.tolist(), sizes.cells.tolist(), strict=True))


def test_all_of_them_in_the_order_of_their_codes(given):
    held = whole(given.cells)
    assert (held.levels() == given.levels).all()
    assert held.n_records.tolist() == given.records.tolist()
    assert held.weight_total.tolist() == given.weight.tolist()
    n = len(given.records)
    assert given.cells.held(n - 1) is None
    assert (given.cells.n_cells, given.cells.n_records) == (n, given.records.sum())
    assert given.cells.weighted
    assert told(given.cells.size_indices()) == Counter(given.records.tolist())


def test_neighbours_are_those_of_comparing_all_pairs(given):
    sizes = given.cells.without_each_key()
    differ = (given.levels[:, None, :] != given.levels[None, :, :]).sum(axis=2)
    expected = ((differ == 1) * given.records).sum(axis=1)
    assert column(given.cells, "neighbours").tolist() == expected.tolist()
    n_keys = len(given.sizes)
    for key, own in enumerate(sizes):
        rest = [j for j in range(n_keys) if j != key]
        assert told(own) == Counter(given.grouped(rest).values())
    assert given.cells.without_each_key()[0].to_json() == sizes[0].to_json()
    assert column(given.cells, "neighbours").tolist() == expected.tolist()


@pytest.mark.parametrize("way", ["one part", "many parts"])
@pytest.mark.parametrize("limit", [40, 7])
def test_neighbours_by_codes_of_several_words(made, way, limit):
    given = made("any", way, limit)
    assert given.cells.coding.n_words > 1
    test_neighbours_are_those_of_comparing_all_pairs(given)


def test_neighbours_in_blocks_of_a_part(made, monkeypatch):
    monkeypatch.setattr(module, "FEWEST_BITS", 3)
    monkeypatch.setattr(module, "MOST_BITS", 4)
    given = made("any", "one part")
    assert len(given.cells._blocks(whole(given.cells).words, frozenset({0, 1}))) > 5
    test_neighbours_are_those_of_comparing_all_pairs(given)


@pytest.mark.parametrize("k", [2, 9])
def test_small_cells_under_views_of_any_keys(given, k):
    n_keys = len(given.sizes)
    sets = [keys for r in range(1, n_keys + 1) for keys in combinations(range(n_keys), r)]
    views = [given.cells.space.itself().of_keys(keys) for keys in sets]
    expected = []
    for keys in sets:
        held = given.grouped(keys).values()
        expected.append(Small(sum(n for n in held if n < k), sum(n == 1 for n in held)))
    assert given.cells.small(views, k) == expected
    assert given.cells.small(views[::-1], k) == expected[::-1]
    assert (whole(given.cells).levels() == given.levels).all()


def test_coarser_cells_and_what_they_hand_back(given):
    n_keys, last = len(given.sizes), given.sizes[-1]
    labels = tuple(map(str, range(-(-last // 2))))
    named = KeyLevels(name="coarser", values=labels, labels=labels, n_missing=0)
    view = given.cells.space.itself().recoded(n_keys - 1, np.arange(last) // 2, named)
    keys = list(range(n_keys))[-3:]
    view = view.of_keys(keys)
    coarser = given.cells.seen_through(view)
    rows = given.levels.copy()
    rows[:, -1] //= 2
    names = [tuple(row) for row in rows[:, keys].tolist()]
    records: Counter[tuple[int, ...]] = Counter()
    weight: dict[tuple[int, ...], list[float]] = {}
    for name, n, w in zip(names, given.records.tolist(), given.weight.tolist(), strict=True):
        records[name] += n
        weight.setdefault(name, []).append(w)
    held = whole(coarser)
    found = [tuple(row) for row in held.levels().tolist()]
    assert len(set(found)) == len(found)
    assert dict(zip(found, held.n_records.tolist(), strict=True)) == records
    sums = {name: math.fsum(own) for name, own in weight.items()}
    assert dict(zip(found, held.weight_total.tolist(), strict=True)) == pytest.approx(sums)
    attach(coarser, score=np.arange(len(found)) + 0.5)
    score = dict(zip(found, (np.arange(len(found)) + 0.5).tolist(), strict=True))
    given.cells.take(coarser, view, {"score": "of the coarser", "records": "shared by"})
    assert column(given.cells, "of the coarser").tolist() == [score[name] for name in names]
    assert column(given.cells, "shared by").tolist() == [records[name] for name in names]
    assert (whole(coarser).levels() == held.levels()).all()
    test_counts_come_some_at_a_time_and_those_of_no_cell_are_left_out(given)
    given.cells.take(coarser, view, {"score": "of the coarser"})
    test_values_of_a_variable_in_each_cell(given)
    given.cells.take(coarser, view, {"score": "of the coarser"})
    test_neighbours_are_those_of_comparing_all_pairs(given)


def test_counts_come_some_at_a_time_and_those_of_no_cell_are_left_out(given):
    rng = np.random.default_rng(8)
    levels = rng.integers(0, given.sizes, (500, len(given.sizes)))
    n = rng.integers(1, 5, 500)
    words = given.cells.coding.encode(levels)
    rows = ({"words": words[i : i + 70], "n": n[i : i + 70]} for i in range(0, 500, 70))
    given.cells.put_counts("population_count", rows)
    held: Counter[tuple[int, ...]] = Counter()
    for row, own in zip(levels.tolist(), n.tolist(), strict=True):
        held[tuple(row)] += own
    expected = [held[tuple(row)] for row in given.levels.tolist()]
    assert column(given.cells, "population_count").tolist() == expected
    given.cells.put_counts("population_count", [{"words": words[:0], "n": n[:0]}])
    assert column(given.cells, "population_count").tolist() == [0] * len(expected)


@dataclass(frozen=True)
class Mode:
    """The most frequent value of each cell, and all records that have one."""

    gives: tuple[str, ...] = ("mode", "known")

    def of(self, batch, values):
        table = np.zeros((len(batch), len(values.labels)))
        table[values.cell, values.value] = values.records
        return {"mode": table.argmax(axis=1) * 1.0, "known": table.sum(axis=1)}, int(table.sum())

    def joined(self, one, other):
        return one + other


def test_values_of_a_variable_in_each_cell(given):
    rng = np.random.default_rng(9)
    n = len(given.records)
    cell, value = rng.integers(0, n, 700), rng.integers(0, 3, 700)
    words = given.cells.coding.encode(given.levels)
    rows = (
        {"words": words[cell[i::7]], "value": value[i::7], "records": np.ones(100, dtype=np.int64)}
        for i in range(7)
    )
    total = given.cells.measure_values("s", rows, ("x", "y", "z"), Mode())
    table = np.zeros((n, 3))
    np.add.at(table, (cell, value), 1)
    assert total == 700
    assert column(given.cells, "known").tolist() == table.sum(axis=1).tolist()
    assert column(given.cells, "mode").tolist() == table.argmax(axis=1).tolist()


@pytest.mark.parametrize("most", [1, 30, 10**9])
def test_cells_are_chosen_by_their_codes_whatever_the_parts(made, most):
    chosen = [made("any", way).cells.sampled(most) for way in ("one part", "many parts")]
    for one in chosen[1:]:
        assert one.words.tolist() == chosen[0].words.tolist()
        assert one.n_records.tolist() == chosen[0].n_records.tolist()
    held = whole(made("any").cells)
    codes = held.words[:, 0].tolist()
    assert set(chosen[0].words[:, 0].tolist()) <= set(codes)
    assert chosen[0].words.tolist() == sorted(chosen[0].words.tolist())
    if most >= len(codes):
        assert chosen[0].words.tolist() == held.words.tolist()


def test_the_share_that_is_chosen_is_near_what_was_asked_for():
    """Of 100,000 cells in order: ten thousand within five standard errors, and spread out."""
    space = space_of((1000, 100))
    cells = LocalCells.of_arrays(np.arange(100_000)[:, None], np.ones(100_000, np.int64), space)
    codes = cells.sampled(10_000).words[:, 0]
    assert len(codes) == pytest.approx(10_000, abs=5 * math.sqrt(9_000))
    tenths = np.bincount(codes // 10_000, minlength=10)
    assert np.abs(tenths - 1000).max() < 5 * math.sqrt(900)
    for key, levels in ((0, 1000), (1, 100)):
        held = np.bincount(space.coding.level(codes[:, None], key), minlength=levels)
        mean = 10_000 / levels
        chi = ((held - mean) ** 2 / mean).sum()
        assert abs(chi - levels) < 6 * math.sqrt(2 * levels)


def test_margins_are_those_of_counting(given):
    n_keys = len(given.sizes)
    sets = [*((j,) for j in range(n_keys)), tuple(range(n_keys))[-2:]]
    found = given.cells.margins(sets)
    for keys in sets:
        expected = np.zeros([given.sizes[key] for key in keys], dtype=np.int64)
        np.add.at(expected, tuple(given.levels[:, list(keys)].T), given.records)
        assert (found[keys] == expected).all()


@dataclass(frozen=True)
class Codes:
    """The records by code."""

    reads: tuple[str, ...] = ("half",)

    def of(self, batch):
        assert (batch.extra["half"] == batch.n_records / 2).all()
        codes = map(tuple, batch.words.tolist())
        return Counter(dict(zip(codes, batch.n_records.tolist(), strict=True)))

    def joined(self, one, other):
        return one + other


@dataclass(frozen=True)
class Half:
    """Half the records of each cell, and the greatest of the counts."""

    reads: tuple[str, ...] = ()
    gives: tuple[str, ...] = ("half",)

    def of(self, batch):
        return {"half": batch.n_records / 2}, int(batch.n_records.max())

    def joined(self, one, other):
        return max(one, other)


@pytest.mark.parametrize("size", [3, 1 << 18])
def test_every_cell_is_looked_at_once(given, monkeypatch, size):
    monkeypatch.setattr(module, "BATCH_CELLS", size)
    assert given.cells.add(Half()) == given.records.max()
    words = map(tuple, given.cells.coding.encode(given.levels).tolist())
    expected = dict(zip(words, given.records.tolist(), strict=True))
    assert given.cells.fold(Codes()) == expected
    given.cells.exchange(frozenset({0}))
    assert given.cells.fold(Codes()) == expected


@dataclass(frozen=True)
class Agreeing:
    """How many records agree with a cell on some keys, of those that are looked at with it."""

    keys: tuple[int, ...]
    reads: tuple[str, ...] = ("half",)
    gives: tuple[str, ...] = ("agreeing",)

    def of(self, batch):
        assert (batch.extra["half"] == batch.n_records / 2).all()
        rows = [tuple(row) for row in batch.levels()[:, list(self.keys)].tolist()]
        held: Counter[tuple[int, ...]] = Counter()
        for row, n in zip(rows, batch.n_records.tolist(), strict=True):
            held[row] += n
        return {"agreeing": np.array([float(held[row]) for row in rows])}, len(batch)

    def joined(self, one, other):
        return one + other


@pytest.mark.parametrize("few", [False, True])
def test_cells_that_agree_are_looked_at_together(given, monkeypatch, few):
    if few:  # blocks of a few cells of a part
        monkeypatch.setattr(module, "FEWEST_BITS", 3)
        monkeypatch.setattr(module, "MOST_BITS", 3)
    n_keys = len(given.sizes)
    given.cells.add(Half())
    for keys in [(0,), (n_keys - 1,), tuple(range(n_keys)), tuple(range(n_keys))[1:] or (0,)]:
        assert given.cells.add_together(Agreeing(keys), keys[:1]) == len(given.records)
        held = given.grouped(keys)
        expected = [held[tuple(row)] for row in given.levels[:, list(keys)].tolist()]
        assert column(given.cells, "agreeing").tolist() == expected
    given.cells.exchange(frozenset({0}))  # nothing need move for more keys than these
    parts = given.cells.parts
    assert given.cells.add_together(Half(), range(n_keys)) == given.records.max()
    assert given.cells.parts is parts or given.cells.together == set(range(n_keys))


def test_cells_that_agree_on_the_keys_they_are_placed_by_are_in_one_part(made):
    given = made("any", "many parts")
    for by in ({0}, {1, 3}, {0, 1, 2, 3, 4}):
        given.cells.exchange(frozenset(by))
        place: dict[tuple[int, ...], set[int]] = {}
        for number, part in enumerate(given.cells.parts):
            for row in given.cells.coding.decode(part.read("words"))[:, sorted(by)].tolist():
                place.setdefault(tuple(row), set()).add(number)
        assert all(len(parts) == 1 for parts in place.values())
        assert len({next(iter(parts)) for parts in place.values()}) > 1


def test_neither_an_exchange_nor_coarser_cells_leave_a_file_behind(made, tmp_path):
    given = made("any", "many parts")
    attach(given.cells, score=np.arange(len(given.records)))
    n = len(list(tmp_path.rglob("part-*")))
    for by in ({0}, {1, 3}, {2}):
        given.cells.exchange(frozenset(by))
    assert len(list(tmp_path.rglob("part-*"))) == n
    view = given.cells.space.itself().of_keys([0, 1, 2, 4])
    coarser = given.cells.seen_through(view)
    assert len(coarser.parts) > 1
    given.cells.take(coarser, view, {"records": "shared by"})
    assert len(list(tmp_path.rglob("part-*"))) == n + len(coarser.parts)
    assert column(given.cells, "score").tolist() == list(range(len(given.records)))


def test_some_parts_are_empty(made):
    """With one part a cell some have none, and all questions are answered all the same."""
    given = made("few", "a cell each")
    assert min(map(len, given.cells.parts)) == 0


def test_missing_values_that_match_anything(tmp_path):
    levels = [[0, 0], [0, 1], [1, 0], [2, 0], [2, 1]]  # level 2 of the first key is missing
    space = space_of((3, 2), missing=[0], policy="wildcard")
    records, weight = [1, 2, 3, 4, 5], [1.0, 2.0, 3.0, 4.0, 5.0]
    for shelf in (None, Shelf(tmp_path, 1, 2)):
        cells = cells_of_levels(levels, records, space, weight, shelf).matched()
        held = whole(cells)
        at = [held.levels().tolist().index(row) for row in levels]
        assert held.n_records[at].tolist() == records
        assert held.sample_count[at].tolist() == [5, 7, 7, 8, 7]
        assert held.weight_total[at].tolist() == [5, 7, 7, 8, 7]
        assert held.extra["weight"][at].tolist() == weight
        sizes = cells.size_indices()
        assert not sizes.disjoint
        assert sizes.sample_size == 15


def test_steps_can_be_sent_elsewhere():
    from discreet.engines.steps import ByCode

    step = ByCode(np.array([[1], [4]]), {"x": np.array([0.5, 1.5])})
    again = pickle.loads(pickle.dumps(step))
    assert again.gives == ("x",)
    assert again.columns["x"].tolist() == [0.5, 1.5]


@pytest.mark.parametrize("sizes", [(2, 400), (1, 400), (2, 400, 1), (400, 1)])
def test_no_part_has_nearly_all_cells_for_long(sizes, tmp_path):
    """Where the keys that cells are placed by have few levels, they are placed by all keys."""
    levels = np.stack([np.arange(400) % size for size in sizes], axis=1)
    space = space_of(sizes)
    rows = [{"words": space.coding.encode(levels), "records": np.ones(400, dtype=np.int64)}]
    cells = LocalCells.of_rows(rows, 400, space, Shelf(tmp_path, 5, 20))
    assert max(map(len, cells.parts)) <= 80
    cells.without_each_key()
    assert max(map(len, cells.parts)) <= 80
    assert cells.n_cells == 400
    alike = 400 * 400 // math.prod(sizes)  # who agree on all keys but the long one
    assert set(column(cells, "neighbours").tolist()) == {alike - 1}
