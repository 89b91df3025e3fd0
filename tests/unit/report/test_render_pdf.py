"""PDF: printed offline by what is at hand, whole or not at all, and told before any work if not."""

import os
import signal
import time
from pathlib import Path

import pytest

from discreet.errors import OutputError
from discreet.report import render_pdf as module
from discreet.report.document import Document, Section, Text
from discreet.report.render_html import check_page, page_of, write_page

WITHOUT = "neither Chromium nor WeasyPrint is installed here"
DOCUMENT = Document(
    title="Title", blocks=(Section("Closed", (Text("A line that paper shows."),), collapsed=True),)
)


@pytest.mark.skipif(not module.has_printer(), reason=WITHOUT)
def test_a_page_is_printed_and_nothing_is_left(tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    path = tmp_path / "r.pdf"
    write_page(DOCUMENT, path)
    assert path.read_bytes()[:5] == b"%PDF-"
    assert list(temporary.iterdir()) == []
    assert sorted(one.name for one in tmp_path.iterdir()) == ["r.pdf", "temporary"]


def test_what_is_closed_on_the_screen_is_open_on_paper():
    assert "<details>" in page_of(DOCUMENT)
    assert "<details open>" in page_of(DOCUMENT, opened=True)
    assert "details::details-content" in page_of(DOCUMENT)  # for those who print the page


def browser(tmp_path, script):
    path = tmp_path / "browser"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 7", "exit code 7 of the browser"),
        ("exit 0", "no file from the browser"),
        ('for a; do case "$a" in --print-to-pdf=*) echo x > "${a#*=}";; esac; done', "is a PDF"),
    ],
)
def test_a_browser_that_fails_leaves_what_was_there(tmp_path, monkeypatch, script, said):
    monkeypatch.setattr(module, "_browser", lambda: browser(tmp_path, script))
    path = tmp_path / "r.pdf"
    path.write_text("old")
    with pytest.raises(OutputError, match=said):
        write_page(DOCUMENT, path)
    assert path.read_text() == "old"


def test_a_browser_that_does_not_end_is_ended_with_all_that_it_started(tmp_path, monkeypatch):
    seen = tmp_path / "child"
    script = f"sleep 600 & echo $! > {seen}; wait"
    monkeypatch.setattr(module, "_browser", lambda: browser(tmp_path, script))
    monkeypatch.setattr(module, "SECONDS", 1.0)
    with pytest.raises(OutputError, match="no end within 1 seconds"):
        write_page(DOCUMENT, tmp_path / "r.pdf")
    assert not (tmp_path / "r.pdf").exists()
    assert _is_gone(int(seen.read_text()))


def _is_gone(pid):
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
            return True
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    return False


def test_the_browser_stays_offline_and_in_its_sandbox(tmp_path, monkeypatch):
    given = tmp_path / "given"
    script = (
        f'echo "$HOME $*" > {given}; '
        'for a; do case "$a" in --print-to-pdf=*) echo %PDF-1.7 > "${a#*=}";; esac; done'
    )
    monkeypatch.setattr(module, "_browser", lambda: browser(tmp_path, script))
    for user, sandboxed in ((0, False), (1000, True)):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        write_page(DOCUMENT, tmp_path / "r.pdf")
        said = given.read_text()
        assert "MAP * ~NOTFOUND" in said
        assert ("--no-sandbox" not in said) is sandboxed
        assert str(Path.home()) not in said.split(" ", 1)[0]


def test_without_a_printer_it_says_how_to_print_before_any_work(discreet, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_browser", lambda: None)
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    said = discreet("assess", "no-such-file.csv", "--keys", "a", "--report", tmp_path / "r.pdf")
    assert "--report must be a file that ends in .html" in said.complaint()
    assert "open it in a browser and print it to PDF there" in said.complaint()
    assert "no-such-file" not in said.err  # told before the file was looked for
    with pytest.raises(OutputError, match="print it to PDF there"):
        write_page(DOCUMENT, tmp_path / "r.pdf")


@pytest.mark.parametrize("name", ["r.html", "r.HTM"])
def test_pages_need_no_printer(monkeypatch, name):
    monkeypatch.setattr(module, "has_printer", lambda: False)
    check_page("report", Path(name))
    with pytest.raises(OutputError, match=r"ends in .html or .pdf, got 'r.txt'"):
        check_page("report", Path("r.txt"))
