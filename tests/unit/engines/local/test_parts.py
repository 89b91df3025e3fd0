"""Columns of cells in memory and in files."""

import errno
import resource
from pathlib import Path

import numpy as np
import pytest

from discreet.engines.local.parts import Part, Shelf, write
from discreet.errors import OutputError

NAMES = ["a/b", "..", "", "日本", "a\0b", "x" * 300, "0", 'it\'s "odd"']


def shelf(folder, most_held=1, at_once=3):
    return Shelf(folder, most_held, at_once)


@pytest.mark.parametrize("on_disk", [False, True])
def test_columns_of_any_name_and_kind_are_read_as_they_were_put(tmp_path, on_disk):
    rng = np.random.default_rng(1)
    columns = {name: rng.random(7) for name in NAMES}
    columns |= {"words": rng.integers(0, 9, (7, 3)), "n": np.arange(7)}
    part = shelf(tmp_path).part(columns, on_disk=on_disk)
    assert len(part) == 7
    part.put({"later": np.arange(7) / 2, "n": np.arange(7) + 0.5})  # another kind, the same name
    columns |= {"later": np.arange(7) / 2, "n": np.arange(7) + 0.5}
    for name, values in columns.items():
        assert name in part
        assert part.read(name).dtype == values.dtype
        assert part.read(name).tolist() == values.tolist()
    assert "none" not in part
    files = {path for path in tmp_path.rglob("*") if path.is_file()}
    assert bool(files) == on_disk
    assert all(path.parent.parent == tmp_path for path in files)
    part.remove()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("n", "parts"), [(0, 1), (5, 1), (6, 2), (7, 3), (300, 100)])
def test_cells_are_one_part_while_they_are_few(tmp_path, n, parts):
    assert shelf(tmp_path, most_held=5, at_once=3).n_parts(n) == parts


def test_rows_go_to_their_parts_in_their_order(tmp_path):
    rng = np.random.default_rng(2)
    number, value = rng.integers(0, 5, 200).astype(np.uint16), np.arange(200)
    number[number == 3] = 4  # none for the fourth part
    rows = ((number[i : i + 30], {"v": value[i : i + 30]}) for i in range(0, 200, 30))
    found = shelf(tmp_path).scattered(rows, 5)
    assert [part.read("v").tolist() for part in found] == [
        value[number == at].tolist() for at in range(5)
    ]
    assert len(found[3]) == 0


def test_one_part_is_in_memory(tmp_path):
    rows = [
        (np.zeros(2, np.uint16), {"v": np.arange(2)}),
        (np.zeros(1, np.uint16), {"v": np.arange(1)}),
    ]
    (part,) = shelf(tmp_path).scattered(rows, 1)
    assert part.read("v").tolist() == [0, 1, 0]
    assert list(tmp_path.iterdir()) == []


class TestAFullDisk:
    MESSAGE = "temporary folder must be writable, got .*; free some space, or name another folder"

    @pytest.fixture
    def full(self, monkeypatch):
        """Nothing more can be written, whoever writes it."""

        def fail(*_, **__):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(Path, "open", fail)
        monkeypatch.setattr(Path, "mkdir", fail)

    def test_in_putting_a_column(self, tmp_path, monkeypatch, request):
        part = shelf(tmp_path).part({"v": np.arange(3)}, on_disk=True)
        request.getfixturevalue("full")
        with pytest.raises(OutputError, match=self.MESSAGE):
            part.put({"w": np.arange(3)})

    def test_in_making_a_part(self, tmp_path, full):
        with pytest.raises(OutputError, match=self.MESSAGE):
            shelf(tmp_path).part({"v": np.arange(3)}, on_disk=True)

    def test_in_scattering_rows(self, tmp_path, full):
        with pytest.raises(OutputError, match=self.MESSAGE):
            shelf(tmp_path).scattered([(np.arange(2, dtype=np.uint16), {"v": np.arange(2)})], 2)

    def test_a_real_limit_of_size(self, tmp_path):
        """The process may write no more than a few kilobytes into a file."""
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        part = shelf(tmp_path).part({"v": np.arange(3)}, on_disk=True)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
        try:
            with pytest.raises(OutputError, match=self.MESSAGE):
                part.put({"w": np.arange(100_000)})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_more_parts_than_files_may_be_open(tmp_path):
    """A process may have some hundred files open, and parts times columns can be more."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    number, value = (np.arange(3000) % 150).astype(np.uint16), np.arange(3000)
    columns = {f"column {i}": value + i for i in range(8)}
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
    try:
        found = shelf(tmp_path).scattered([(number, columns), (number, columns)], 150)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    for at, part in enumerate(found):
        own = value[number == at].tolist() * 2
        assert part.read("column 0").tolist() == own
        assert part.read("column 7").tolist() == [n + 7 for n in own]


def test_a_part_without_rows(tmp_path):
    part = Part(0, tmp_path / "p")
    (tmp_path / "p").mkdir()
    part.put({"words": np.empty((0, 2), dtype=np.int64)})
    assert part.read("words").shape == (0, 2)


@pytest.mark.parametrize("length", [1, 500, 511, 513, 100_000])
def test_a_full_disk_is_told_whatever_is_left_to_write(length):
    with pytest.raises(OSError, match="No space left"), Path("/dev/full").open("wb") as file:
        write(file, np.zeros(length))


def test_a_file_that_was_cut_is_told(tmp_path):
    part = shelf(tmp_path).part({"n": np.arange(10)}, on_disk=True)
    (file,) = part.folder.iterdir()
    file.write_bytes(file.read_bytes()[:-8])
    assert part.read("n", 0, 9).tolist() == list(range(9))
    with pytest.raises(OutputError, match="temporary folder must be left alone"):
        part.read("n")


def test_a_part_that_nobody_holds_leaves_no_file(tmp_path):
    part = shelf(tmp_path).part({"n": np.arange(10)}, on_disk=True)
    assert list(tmp_path.iterdir())
    del part
    assert list(tmp_path.iterdir()) == []


def test_rows_that_come_some_at_a_time_are_gathered(tmp_path):
    rows = [{"n": np.arange(4), "x": np.arange(4) / 2}, {"n": np.arange(0), "x": np.zeros(0)}]
    part = shelf(tmp_path).gathered([*rows, {"n": np.arange(3), "x": np.zeros(3)}])
    assert part.read("n").tolist() == [0, 1, 2, 3, 0, 1, 2]
    assert part.read("x", 3, 5).tolist() == [1.5, 0]
