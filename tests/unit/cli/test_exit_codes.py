"""One clear line and an exit code for everything that can go wrong."""

import json

import click
import pytest

from discreet.cli.console import print_json
from discreet.cli.exit_codes import run_and_report
from discreet.errors import FileError, Interrupted, OutputError, must_be


def run(error, *arguments, answer=None):
    @click.command()
    @click.option("--json", "as_json", is_flag=True)
    @click.option("--k", type=int)
    def command(as_json, k):
        if answer is not None:
            print_json(answer)
        if error is not None:
            raise error

    return run_and_report(command, list(arguments))


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
    assert "fault of ours (RuntimeError) at test_exit_codes.py:" in err
    assert "secret" not in err


def test_the_traceback_is_shown_on_request(capfd, monkeypatch):
    monkeypatch.setenv("DISCREET_TRACEBACK", "1")
    assert run(RuntimeError("details")) == 1
    assert "RuntimeError: details" in capfd.readouterr().err


TOLD = must_be("k", "at least 2", "'1; at 3'", where="row 3 of 'a; b'", remedy="give more (k)")


@pytest.mark.parametrize(
    ("error", "code", "problem"),
    [
        (
            FileError(TOLD),
            2,
            ("k must be at least 2, got '1; at 3'", "row 3 of 'a; b'", "give more (k)"),
        ),
        (FileError("k must be 2, got 'a; b'; do c"), 2, ("k must be 2, got 'a; b'", "", "do c")),
        (OutputError("r must be x, got y"), 2, ("r must be x, got y", "", "")),
        (click.UsageError("No such option: --x."), 2, ("No such option: --x", "", "")),
        (KeyboardInterrupt(), 130, ("stopped; nothing was left half-written", "", "")),
        (Interrupted("stopped"), 130, ("stopped; nothing was left half-written", "", "")),
        (FileError("a\nb"), 2, ("a\\nb", "", "")),
        (
            IsADirectoryError(21, "Is a directory", "/secret/place/fold"),
            2,
            ("file 'fold' must be readable, got Is a directory", "", ""),
        ),
        (
            OSError(5, "Input/output error"),
            2,
            ("a file must be readable, got Input/output error", "", ""),
        ),
    ],
)
def test_with_json_a_problem_is_one_object_and_the_line_and_code_stay(capfd, error, code, problem):
    assert run(error, "--json") == code
    out, err = capfd.readouterr()
    assert json.loads(out) == {"problem": dict(zip(("what", "where", "remedy"), problem))}
    assert err.startswith("discreet: ")
    assert len(err.splitlines()) == 1
    assert run(error) == code
    plain, again = capfd.readouterr()
    assert (plain, again) == ("", err)


def test_an_error_of_usage_is_an_object_too(capfd):
    assert run(None, "--json", "--k", "x") == 2
    out, err = capfd.readouterr()
    assert "--k" in json.loads(out)["problem"]["what"]
    assert len(err.splitlines()) == 1


def test_a_fault_of_ours_is_an_object_with_its_place_and_never_its_data(capfd, monkeypatch):
    monkeypatch.delenv("DISCREET_TRACEBACK", raising=False)
    assert run(RuntimeError("secret value 42"), "--json") == 1
    out, _ = capfd.readouterr()
    told = json.loads(out)["problem"]
    assert told["where"].startswith("test_exit_codes.py:")
    assert "RuntimeError" in told["what"]
    assert "secret" not in out


def test_stdout_never_holds_two_objects(capfd):
    assert run(OutputError("r must be x, got y"), "--json", answer={"n": 1}) == 2
    out, err = capfd.readouterr()
    assert json.loads(out) == {"n": 1}
    assert err == "discreet: r must be x, got y\n"
