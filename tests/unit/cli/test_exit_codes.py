"""One clear line and an exit code for everything that can go wrong."""

import click
import pytest

from discreet.cli.exit_codes import run_and_report
from discreet.errors import FileError, Interrupted, OutputError


def run(error):
    @click.command()
    def command():
        if error is not None:
            raise error

    return run_and_report(command, [])


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (None, 0, ""),
        (FileError("s.csv must be x, got y"), 2, "discreet: s.csv must be x, got y\n"),
        (OutputError("r must be x, got y"), 2, "discreet: r must be x, got y\n"),
        (click.UsageError("No such option: --x."), 2, "discreet: No such option: --x\n"),
        (click.BadParameter("must be x"), 2, "discreet: Invalid value: must be x\n"),
        (KeyboardInterrupt(), 130, "discreet: stopped; nothing was left half-written\n"),
        (Interrupted("stopped"), 130, "discreet: stopped; nothing was left half-written\n"),
        (click.Abort(), 130, "discreet: stopped; nothing was left half-written\n"),
        (click.exceptions.Exit(3), 3, ""),
        (FileError("a\nb\x1b[2J"), 2, "discreet: a\\nb\\x1b[2J\n"),
        (click.UsageError("a\nb"), 2, "discreet: a\\nb\n"),
    ],
)
def test_each_failure_has_its_code_and_line(capfd, error, code, line):
    assert run(error) == code
    out, err = capfd.readouterr()
    assert (out, err) == ("", line)


def test_an_unforeseen_error_shows_its_place_and_never_its_data(capfd, monkeypatch):
    monkeypatch.delenv("DISCREET_TRACEBACK", raising=False)
    assert run(RuntimeError("secret value 42")) == 1
    err = capfd.readouterr().err
    assert len(err.splitlines()) == 1
    assert "fault of ours (RuntimeError at test_exit_codes.py:" in err
    assert "secret" not in err


def test_the_traceback_is_shown_on_request(capfd, monkeypatch):
    monkeypatch.setenv("DISCREET_TRACEBACK", "1")
    assert run(RuntimeError("details")) == 1
    assert "RuntimeError: details" in capfd.readouterr().err
