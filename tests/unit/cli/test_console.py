"""Progress on stderr and text on stdout, each only where it belongs."""

import io
import json
import sys
from types import SimpleNamespace

import pytest

from discreet.cli import console
from discreet.clock import COMPILING, FIRST_USE


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_json_is_one_object_and_nothing_else(capsys):
    console.print_json({"é": [1, 2**80, None], "x": "a\nb"})
    out, err = capsys.readouterr()
    assert json.loads(out) == {"é": [1, 2**80, None], "x": "a\nb"}
    assert err == ""


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_json_never_holds_what_is_no_number(number):
    with pytest.raises(ValueError, match="not JSON compliant"):
        console.print_json({"x": number})


def test_messages_go_to_stderr(capsys):
    console.say("written: x")
    assert capsys.readouterr() == ("", "written: x\n")


def test_without_a_terminal_one_line_tells_of_compiling_and_nothing_else_is_said(capsys):
    with console.progress_bar() as progress:
        progress("counting", 0.5)
    assert capsys.readouterr() == ("", "")
    with console.progress_bar() as progress:
        progress(COMPILING, None)
        progress("counting", 0.5)
        progress(COMPILING, None)
    assert capsys.readouterr() == ("", FIRST_USE + "\n")


def test_without_a_terminal_long_work_tells_a_line_now_and_then(capsys, monkeypatch):
    clock = iter([0.0, 299.0, 301.0, 400.0, 660.0])
    monkeypatch.setattr(console, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    with console.progress_bar() as progress:
        progress("counting", 0.1)
        progress("counting", 0.25)
        progress("scoring", None)
        progress("scoring", None)
    expected = "after 5 min: counting, 25% of it done\nafter 11 min: scoring\n"
    assert capsys.readouterr() == ("", expected)


def test_progress_shows_on_a_terminal_after_a_while(monkeypatch):
    monkeypatch.setattr(console, "PATIENCE", 0.0)
    terminal, page = Terminal(), io.StringIO()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(sys, "stdout", page)
    monkeypatch.setenv("TERM", "xterm")
    with console.progress_bar() as progress:
        for fraction in (None, 0.0, 0.5, 1.0):
            progress("counting the cells", fraction)
    assert "counting the cells" in terminal.getvalue()
    assert page.getvalue() == ""


def test_quick_work_shows_no_bar(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with console.progress_bar() as progress:
        progress("counting", 0.5)
    assert "counting" not in terminal.getvalue()


def test_the_page_is_eighty_columns_wide_when_it_is_no_terminal(capsys):
    assert console.stdout_console().width == 80
