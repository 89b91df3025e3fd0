"""A file is written whole or not at all, and never over something else."""

import os
import signal
import stat
import subprocess
import sys

import pytest

from discreet.data.writing import check_outputs, written_whole
from discreet.errors import OutputError


def test_what_was_written_takes_the_place_of_what_was_there(tmp_path):
    path = tmp_path / "r.html"
    path.write_text("old")
    with written_whole(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt()])
def test_a_failure_leaves_everything_as_it_was(tmp_path, error):
    path = tmp_path / "r.html"
    path.write_text("old")
    with pytest.raises(type(error)), written_whole(path) as temporary:
        temporary.write_text("half")
        raise error
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_no_space_is_said_in_our_words(tmp_path):
    with pytest.raises(OutputError) as caught, written_whole(tmp_path / "r.html") as temporary:
        temporary.write_text("half")
        raise OSError(28, "No space left on device")
    assert "r.html must be writable, got No space left on device" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(OutputError, match="must be writable"), written_whole(tmp_path / "x" / "r"):
        pass


def test_it_is_private_while_it_is_written_and_then_as_others_are(tmp_path):
    path = tmp_path / "r.html"
    before = os.umask(0o027)
    try:
        with written_whole(path) as temporary:
            assert stat.S_IMODE(temporary.stat().st_mode) == 0o600
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_the_longest_name_can_be_written(tmp_path):
    path = tmp_path / ("x" * 250 + ".html")
    with written_whole(path) as temporary:
        temporary.write_text("whole")
    assert path.read_text() == "whole"


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path):
    path = tmp_path / "r.html"
    script = (
        "import os, signal, sys; from pathlib import Path\n"
        "from discreet.data.writing import written_whole\n"
        "with written_whole(Path(sys.argv[1])) as temporary:\n"
        "    temporary.write_text('confidential'); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    with written_whole(path) as temporary:
        temporary.write_text("new")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "ending"), [("a.b.csv.gz", ".csv.gz"), ("a.b.csv", ".csv"), ("a.gz", ".gz"), ("a", "")]
)
def test_the_temporary_name_tells_the_kind_of_file(tmp_path, name, ending):
    with written_whole(tmp_path / name) as temporary:
        assert "".join(temporary.suffixes) == ending


class TestCheckOutputs:
    def test_new_files_in_folders_that_exist_are_fine(self, tmp_path):
        old = tmp_path / "old.html"
        old.touch()
        check_outputs([tmp_path / "a.html", tmp_path / "b.html", old], [tmp_path / "in.csv"])
        check_outputs([], [])

    def test_an_input_is_never_an_output_however_it_is_spelled(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        source = tmp_path / "in.csv"
        source.touch()
        (tmp_path / "folder").mkdir()
        (tmp_path / "link.csv").symlink_to(source)
        for name in ("in.csv", "folder/../in.csv", "link.csv", str(source)):
            with pytest.raises(OutputError, match="which is in use already"):
                check_outputs([tmp_path / name], [source])

    def test_two_outputs_must_differ(self, tmp_path):
        with pytest.raises(OutputError, match="r.html', which is in use already"):
            check_outputs([tmp_path / "r.html", tmp_path / "r.html"], [])

    @pytest.mark.parametrize("name", ["folder", "nowhere/r.html", "file/r.html", "x" * 300])
    def test_places_where_nothing_can_be_written(self, tmp_path, name):
        (tmp_path / "folder").mkdir()
        (tmp_path / "file").touch()
        with pytest.raises(OutputError):
            check_outputs([tmp_path / name], [])

    def test_a_device_or_pipe_is_not_replaced(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(OutputError):
            check_outputs([tmp_path / "pipe"], [])
