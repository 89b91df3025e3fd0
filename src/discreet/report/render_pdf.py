"""A page as PDF, printed by a browser or by WeasyPrint where one is at hand, always offline.

Chromium runs without a window, in a home of its own that is removed again, resolves no name, and is
stopped with all that it started when its time is over.
"""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from discreet.data.writing import written_whole
from discreet.errors import OutputError, must_be

BROWSERS = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
    "microsoft-edge",
)  # fmt: skip
SECONDS = 120.0  # that a browser may take; a report of hundreds of pages takes a few
QUIET = (  # no window, no network, nothing kept, no first-run page, no header with the path
    "--headless", "--disable-gpu", "--no-first-run", "--no-default-browser-check",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-extensions", "--disable-crash-reporter", "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--no-pdf-header-footer",
)  # fmt: skip
NO_PRINTER = (
    "write .html, open it in a browser and print it to PDF there; or install Chromium, or "
    "WeasyPrint with pip install 'discreet[pdf]'"
)


def has_printer() -> bool:
    """Is there a program that prints PDF?"""
    return _browser() is not None or find_spec("weasyprint") is not None


def write_pdf(page: str, path: Path) -> None:
    """Print the page, whole or not at all; OutputError where nothing can, or where it fails."""
    browser = _browser()
    with written_whole(path) as temporary:
        if browser is not None:
            _print_by_browser(browser, page, temporary)
        elif find_spec("weasyprint") is not None:
            _print_by_weasyprint(page, temporary)
        else:
            raise OutputError(must_be(path.name, "an .html file", "a PDF", remedy=NO_PRINTER))
        if temporary.read_bytes()[:5] != b"%PDF-":
            raise _not_printed("nothing that is a PDF")


def _browser() -> str | None:
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


def _print_by_browser(browser: str, page: str, path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="discreet-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        source, printed = home / "report.html", home / "report.pdf"
        source.write_text(page, encoding="utf-8", errors="backslashreplace")
        # Chromium will not sandbox what runs as root; everybody else keeps the sandbox.
        root = ("--no-sandbox",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()
        _run(
            [browser, *QUIET, *root, f"--user-data-dir={home / 'profile'}",
             f"--print-to-pdf={printed}", source.as_uri()],
            os.environ | dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"), folder),
        )  # fmt: skip
        if not printed.is_file():
            raise _not_printed("no file from the browser")
        shutil.copyfile(printed, path)


def _run(command: list[str], environment: Mapping[str, str]) -> None:
    """Run a browser in a session of its own, so that its children end with it."""
    try:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise _not_printed(error.strerror or "an error") from error
    try:
        code = process.wait(timeout=SECONDS)
    except subprocess.TimeoutExpired as error:
        raise _not_printed(f"no end within {SECONDS:g} seconds") from error
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)  # the session that was started above
        process.wait()
    if code != 0:
        raise _not_printed(f"exit code {code} of the browser")


def _print_by_weasyprint(page: str, path: Path) -> None:
    import weasyprint

    def offline(url: str, *_: Any, **__: Any) -> Any:
        raise ValueError("a report fetches nothing")

    weasyprint.HTML(string=page, url_fetcher=offline).write_pdf(str(path))


def _not_printed(got: str) -> OutputError:
    remedy = "write .html, open it in a browser and print it there"
    return OutputError(must_be("PDF", "printed", got, remedy=remedy))
