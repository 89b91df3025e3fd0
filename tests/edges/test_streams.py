"""The streams of a real process: full disks, readers that leave, terminals that cannot show it all."""

import json
import os
import resource
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

QUICK = ("--models", "sample_frequency")
COMMAND = [sys.executable, "-c", "from discreet.cli import main; main()"]


@pytest.fixture
def survey(tmp_path):
    (tmp_path / "s.csv").write_text("å,b\né,1\né,2\nz,\n", encoding="utf-8")
    return tmp_path / "s.csv"


def run(*arguments, **options):
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.run([*COMMAND, *map(str, arguments)], check=False, **given)


def test_a_full_disk_behind_stdout(survey):
    with open("/dev/full", "wb") as full:
        found = run("assess", survey, "--keys", "å", "--json", *QUICK, stdout=full)
    assert found.returncode == 2
    lines = found.stderr.decode().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("discreet: ")
    assert lines[0] == "discreet: stdout must be writable, got No space left on device"


def test_a_reader_that_leaves_is_no_error(survey):
    read, write = os.pipe()
    os.close(read)
    try:
        found = run("assess", survey, "--keys", "å", *QUICK, stdout=write)
    finally:
        os.close(write)
    assert (found.returncode, found.stderr) == (0, b"")


def test_a_terminal_that_cannot_show_every_character(survey):
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    found = run("assess", survey, "--keys", "å", *QUICK, env=environment)
    assert (found.returncode, found.stderr) == (0, b"")
    wrong = run("assess", survey, "--keys", "ö", *QUICK, env=environment)
    assert wrong.returncode == 2
    assert len(wrong.stderr.splitlines()) == 1


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    path = tmp_path_factory.mktemp("wide") / "s.parquet"
    numbers = np.random.default_rng(0).integers(0, 10**9, (60_000, 2))
    pq.write_table(pa.table({"a": numbers[:, 0], "b": numbers[:, 1]}), path)
    return path


def test_an_output_that_does_not_fit_leaves_what_was_there(wide, tmp_path):
    def little():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    output = tmp_path / "r.parquet"
    output.write_text("old")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    found = run(
        "assess", wide, "--keys", "a,b", *QUICK, "--risks", output, "--json",
        preexec_fn=little, env=os.environ | {"TMPDIR": str(temporary)},
    )  # fmt: skip
    assert found.returncode == 2
    message = found.stderr.decode()
    assert message.startswith(f"discreet: {json.loads(found.stdout)['problem']['what']}")
    assert b"s.parquet" not in found.stdout
    assert len(message.splitlines()) == 1
    assert message.startswith("discreet: ")
    assert "s.parquet" not in message
    assert output.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.parquet", "temporary"]
    assert list(temporary.iterdir()) == []
