"""The private folder is private, goes when the work is done, and never outlives its process."""

import os
import signal
import stat
import subprocess
import sys

import pytest

from discreet.engines.workspace import PREFIX, workspace
from discreet.errors import OutputError


@pytest.fixture
def dead():
    """The number of a process that is no more."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def test_it_is_for_its_owner_alone_and_goes_with_what_is_in_it(tmp_path):
    with workspace(tmp_path) as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "spill").mkdir()
        (folder / "spill" / "records.csv").write_text("confidential")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_it_goes_when_the_work_fails(tmp_path, error):
    with pytest.raises(error), workspace(tmp_path) as folder:
        (folder / "x").write_text("confidential")
        raise error
    assert list(tmp_path.iterdir()) == []


def test_two_of_one_process_stand_side_by_side(tmp_path):
    with workspace(tmp_path) as one, workspace(tmp_path) as other:
        assert one != other
        assert one.is_dir()
        assert other.is_dir()


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path):
    script = (
        "import os, signal, sys; from pathlib import Path\n"
        "from discreet.engines.workspace import workspace\n"
        "with workspace(Path(sys.argv[1])) as folder:\n"
        "    (folder / 'x').write_text('confidential'); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 1
    with workspace(tmp_path) as folder:
        assert list(tmp_path.iterdir()) == [folder]


def test_only_what_is_surely_abandoned_is_removed(tmp_path, dead):
    abandoned = tmp_path / f"{PREFIX}{dead}-abc"
    elsewhere = tmp_path / "elsewhere"
    kept = [
        tmp_path / f"{PREFIX}{os.getpid()}-abc",
        tmp_path / f"{PREFIX}1-abc",
        tmp_path / f"{PREFIX}notes-abc",
        tmp_path / f"{PREFIX}{dead}",
        tmp_path / f"my-{PREFIX}{dead}-abc",
        elsewhere,
    ]
    for folder in (abandoned, *kept):
        folder.mkdir()
        (folder / "x").touch()
    link = tmp_path / f"{PREFIX}{dead}-link"
    link.symlink_to(elsewhere)
    with workspace(tmp_path):
        pass
    assert not abandoned.exists()
    assert all((folder / "x").exists() for folder in kept)
    assert link.is_symlink()


@pytest.mark.parametrize("name", ["nowhere", "file"])
def test_a_place_where_no_folder_can_be_made(tmp_path, name):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError), workspace(tmp_path / name):
        pass
