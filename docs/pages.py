"""The examples in the pages, run: what a page shows is what the commands print.

In a ```console block each line that begins with `$ discreet` or `$ python` is run (in a folder that
holds a copy of examples/), and what follows must be its output; a line `…` stands for any lines.
```python blocks with `>>>` are doctests that share one namespace a page.

Run `.venv/bin/python docs/pages.py [PAGE …]` to write the true output into the pages.
"""

import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
PROMPT = "$ "
SKIPPED = "…"
PLAIN = {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}  # what a terminal is taken for
RUN = r"^(\$ (\.venv/bin/)?(discreet|python)|>>>) "
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Shown:
    """One command of a page and the output that the page shows of it."""

    command: str
    lines: tuple[str, ...]


def pages() -> list[Path]:
    """Every page whose examples are run: the README, the start, guides and tutorials.

    The examples of the methods pages are of data that the repository does not hold.
    """
    docs = ROOT / "docs"
    found = [ROOT / "README.md", docs / "start.md"]
    found += sorted([*(docs / "guide").glob("*.md"), *(docs / "tutorials").glob("*.md")])
    return [page for page in found if any(_is_run(m) for m in BLOCK.finditer(page.read_text()))]


def _is_run(block: re.Match[str]) -> bool:
    return bool(re.search(RUN, block[2], re.MULTILINE))


def shown(block: str) -> Iterator[Shown]:
    """The commands of a console block, each with its output."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *lines = part.rstrip("\n").split("\n")
        while command.endswith("\\"):
            command = command[:-1] + lines.pop(0).strip()
        yield Shown(command, tuple(lines))


def output(command: str, folder: Path) -> list[str]:
    """What a command prints, run in a folder, without blanks at the ends of lines.

    `discreet` runs in this process, where all is loaded already, and `python` in one of its own.
    """
    program, *words = shlex.split(command.split("  #", maxsplit=1)[0])
    run = _run_here if Path(program).name == "discreet" else _run_python
    code, out, err = run(words, folder)
    text = out if code in (0, 3, 4) else out + err
    return [line.rstrip() for line in text.rstrip("\n").split("\n")]


def _run_here(words: list[str], folder: Path) -> tuple[int, str, str]:
    from discreet.cli import cli
    from discreet.cli.exit_codes import run_and_report

    out, err = io.StringIO(), io.StringIO()
    before = dict(os.environ)
    try:
        os.environ.update(PLAIN)
        with (
            contextlib.chdir(folder),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = run_and_report(cli, words)
    finally:
        os.environ.clear()
        os.environ.update(before)
    return code, out.getvalue(), err.getvalue()


def _run_python(words: list[str], folder: Path) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, **PLAIN},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def fits(expected: tuple[str, ...], printed: list[str]) -> bool:
    """Whether the lines are those printed, `…` standing for any."""
    parts = [re.escape(line.rstrip()) if line != SKIPPED else None for line in expected]
    pattern = "\n".join(r"(?:.*\n?)*?" if part is None else part for part in parts)
    pattern = pattern.replace("(?:.*\\n?)*?\n", "(?:.*\\n)*?")
    return re.fullmatch(pattern, "\n".join(printed)) is not None


def differences(page: Path, folder: Path) -> Iterator[str]:
    """What a page shows and its commands do not print; what its doctests do not give."""
    copy_examples(folder)
    text = page.read_text()
    for block in BLOCK.finditer(text):
        if block[1] == "console" and _is_run(block):
            for one in shown(block[2]):
                printed = output(one.command, folder) if re.match(RUN, PROMPT + one.command) else []
                if one.lines and not fits(one.lines, printed):
                    yield "\n".join([PROMPT + one.command, *printed])
    yield from _doctest_failures(page.name, text, folder)


def _doctest_failures(name: str, text: str, folder: Path) -> Iterator[str]:
    blocks = [b[2] for b in BLOCK.finditer(text) if b[1] == "python" and ">>>" in b[2]]
    if not blocks:
        return
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, name, None, 0)
    told = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    with contextlib.chdir(folder):
        runner.run(test, out=told.write)
    if runner.failures:
        yield told.getvalue()


def copy_examples(folder: Path) -> None:
    """The files that examples read."""
    shutil.copytree(ROOT / "examples", folder / "examples", dirs_exist_ok=True)


def refresh(page: Path, folder: Path) -> None:
    """Write what the commands print into the page; cut where the page cuts."""
    copy_examples(folder)

    def renewed(block: re.Match[str]) -> str:
        if block[1] != "console" or not _is_run(block):
            return block[0]
        return block[0].replace(block[2], "".join(_renewed(block[2], folder)))

    page.write_text(BLOCK.sub(renewed, page.read_text()))


def _renewed(block: str, folder: Path) -> Iterator[str]:
    for part in re.split(r"^(?=\$ )", block, flags=re.MULTILINE):
        if not part.startswith(PROMPT):
            yield part
            continue
        one = next(shown(part))
        yield part[: len(part) - sum(len(line) + 1 for line in one.lines)]
        if re.match(RUN, PROMPT + one.command):
            printed = output(one.command, folder)
            yield from (line + "\n" for line in (_cut(one.lines, printed) if one.lines else []))


def _cut(before: tuple[str, ...], printed: list[str]) -> list[str]:
    """What the page shows already if it fits; as many lines if it leaves out the end; else all."""
    if fits(before, printed):
        return list(before)
    if before[-1] == SKIPPED and len(printed) >= len(before):
        return [*printed[: len(before) - 1], SKIPPED]
    return printed


def main() -> None:
    """Refresh the named pages, or all."""
    for page in [Path(name).resolve() for name in sys.argv[1:]] or pages():
        with TemporaryDirectory() as folder:
            refresh(page, Path(folder))
            print(page.relative_to(ROOT))


if __name__ == "__main__":
    main()
