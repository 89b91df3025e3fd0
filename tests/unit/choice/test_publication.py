"""The chosen release on disk: tables as CSV, a record that makes it again, no hidden count."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from discreet.choice.choice import Candidate
from discreet.choice.mask_names import make_again, mask_table
from discreet.choice.publication import RECORD, check_folder, publication_of, write_release
from discreet.data.published.reading import read_published
from discreet.data.published.writing import Format
from discreet.data.table import Table
from discreet.errors import InputError, OutputError
from discreet.figures import Figure, How
from discreet.masks.margins import release_margins

TABLE = Table.of_dense(
    np.array([[70, 1], [8, 20], [31, 40]]), ["place, of birth", "count"], [["x", "y", "z"], "01"]
)
KNOWN = Figure(value=0.0, how=How.EXACT)


def candidate(masked=None, margins=()):
    return Candidate(title="t", risk=KNOWN, utility=KNOWN, masked=masked, margins=margins)


def rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_margins(tmp_path):
    masked = release_margins(TABLE, [["place, of birth"], ["count"]])
    files = write_release(publication_of(candidate(masked), TABLE), tmp_path / "new")
    assert [path.name for path in files] == [
        "table_1_place_of_birth.csv", "table_2_count.csv", RECORD
    ]  # fmt: skip
    assert rows(files[0]) == [["place, of birth", "count_"], ["x", "71"], ["y", "28"], ["z", "71"]]
    assert rows(files[1])[0] == ["count", "count_"]


def test_the_record_makes_it_again_and_warns_of_the_seed(tmp_path):
    masked = mask_table("rounding:base=5,random", TABLE, seed=3)
    files = write_release(publication_of(candidate(masked), TABLE), tmp_path)
    record = json.loads(files[-1].read_text())
    assert record["seed"] == 3
    assert "can undo it" in record["warning"]
    again = make_again(record, TABLE)
    assert np.array_equal(again.published[0].counts, masked.published[0].counts)


def test_hidden_figures_are_left_empty_everywhere(tmp_path):
    masked = mask_table("suppression:small=2", TABLE, seed=1)
    files = write_release(publication_of(candidate(masked), TABLE), tmp_path)
    full = rows(files[0])
    hidden = [row for row in full[1:] if row[-1] == ""]
    shown = masked.published[0].shown
    assert len(hidden) == int((~shown).sum()) > 0
    truth = dict(zip([("x", "0"), ("x", "1"), ("y", "0"), ("y", "1"), ("z", "0"), ("z", "1")],
                     TABLE.dense().ravel().tolist(), strict=True))  # fmt: skip
    for *cell, figure in full[1:]:
        assert figure in ("", str(truth[tuple(cell)]))
    assert json.loads(files[-1].read_text())["tables"][0]["hidden"] == len(hidden)


def test_margins_of_a_table_too_large_for_a_mask(tmp_path):
    found = publication_of(candidate(margins=(("count",),)), TABLE)
    files = write_release(found, tmp_path)
    assert rows(files[0])[1:] == [["0", "109"], ["1", "61"]]
    assert json.loads(files[1].read_text())["mask"] == "margins"
    with pytest.raises(InputError, match="candidate must be one that publishes something"):
        publication_of(candidate(), TABLE)


@pytest.mark.parametrize("format", Format)
def test_every_format_says_the_same_and_no_hidden_figure(tmp_path, format):
    masked = mask_table("suppression:small=2", TABLE, seed=1)
    plain = write_release(publication_of(candidate(masked), TABLE), tmp_path / "csv")
    files = write_release(publication_of(candidate(masked), TABLE), tmp_path / "own", [format])
    assert len(files) == len(plain)
    for csv_file, own in zip(plain[:-1], files[:-1], strict=True):
        assert own.name == csv_file.stem + format.ending
        (expected,), (found,) = read_published(csv_file), read_published(own)
        if expected.variables:  # PX has no table without a variable
            assert found.variables == expected.variables
            assert found.labels == expected.labels
            assert found.places.tolist() == expected.places.tolist()
        assert found.printed == expected.printed
    assert "" in read_published(files[0])[0].printed
    record = json.loads(files[-1].read_text())
    assert [one["file"] for one in record["tables"]] == [path.name for path in files[:-1]]
    assert "also" not in record["tables"][0]


def test_a_folder_in_use_is_left_alone(tmp_path):
    (tmp_path / "kept.txt").write_text("mine")
    with pytest.raises(OutputError, match="which holds files"):
        check_folder(tmp_path)
    with pytest.raises(OutputError, match="which is no folder"):
        check_folder(tmp_path / "kept.txt")
    with pytest.raises(OutputError, match="whose parent does not exist"):
        check_folder(tmp_path / "a" / "b")
    check_folder(tmp_path / "new")


def test_all_files_or_none(tmp_path, monkeypatch):
    found = publication_of(candidate(margins=(("count",), ("place, of birth",))), TABLE)
    write_bytes = Path.write_bytes

    def full_disk(path, data):
        if path.name == "record.internal.json":
            raise OSError(28, "No space left on device")
        return write_bytes(path, data)

    monkeypatch.setattr(Path, "write_bytes", full_disk)
    with pytest.raises(OutputError, match="writable, got No space left on device"):
        write_release(found, tmp_path / "new")
    assert not (tmp_path / "new").exists()
    (tmp_path / "old").mkdir()
    with pytest.raises(OutputError, match="No space left"):
        write_release(found, tmp_path / "old")
    assert list((tmp_path / "old").iterdir()) == []


def test_an_interruption_leaves_nothing(tmp_path, monkeypatch):
    found = publication_of(candidate(margins=(("count",), ("place, of birth",))), TABLE)
    rename = Path.rename

    def stopped(path, target):
        if target.name == "record.internal.json":
            raise KeyboardInterrupt
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", stopped)
    with pytest.raises(KeyboardInterrupt):
        write_release(found, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_may_not_be_written_to(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(OutputError, match="write must be in a folder you may write to"):
        check_folder(tmp_path / "new")
