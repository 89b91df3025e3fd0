"""Progress on stderr and text on stdout, each only where it belongs."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from discreet.cli.exit_codes import answered, writing_stdout
from discreet.clock import said_once, telling_of_compiling
from discreet.progress import Progress as Listener
from discreet.report.render_json import as_text
from discreet.report.render_terminal import WIDTH, print_part

PATIENCE = 1.0  # seconds before a bar appears
BETWEEN_LINES = 300.0  # seconds from one line of a log to the next


@contextmanager
def progress_bar() -> Iterator[Listener]:
    """A bar on stderr for work of over a second; without a terminal a line every five minutes, for
    a log, and one while compiling."""
    if not sys.stderr.isatty():
        listener = _Lines()
        with telling_of_compiling(listener):
            yield listener
        return
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    shown = _Bar(bar)
    try:
        with telling_of_compiling(shown):
            yield shown
    finally:
        bar.stop()


class _Lines:
    """Turns steps and fractions into a line now and then."""

    def __init__(self) -> None:
        self.compiling = said_once(say)
        self.begun = self.told = time.monotonic()

    def __call__(self, step: str, fraction: float | None) -> None:
        self.compiling(step, fraction)
        now = time.monotonic()
        if now - self.told >= BETWEEN_LINES:
            self.told = now
            share = "" if fraction is None else f", {fraction:.0%} of it done"
            say(f"after {(now - self.begun) / 60:.0f} min: {step}{share}")


class _Bar:
    """Turns steps and fractions into one bar that starts late."""

    def __init__(self, bar: Progress) -> None:
        self.bar = bar
        self.task: TaskID | None = None
        self.begun = time.monotonic()

    def __call__(self, step: str, fraction: float | None) -> None:
        if self.task is None:
            if time.monotonic() - self.begun < PATIENCE:
                return
            self.bar.start()
            self.task = self.bar.add_task(step, total=1.0)
        total = None if fraction is None else 1.0
        self.bar.update(self.task, description=step, completed=fraction or 0.0, total=total)


class _Console(Console):
    """Prints without blanks at the ends of lines."""

    def print(self, *objects: Any, **options: Any) -> None:
        if options or not objects:
            with writing_stdout():
                super().print(*objects, **options)
            return
        for part in objects:
            print_part(self, part)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def stdout_console() -> Console:
    """A console of at most 80 columns; plain text when stdout is no terminal."""
    console = _Console(highlight=False, emoji=False, markup=False)
    console.width = min(console.width, WIDTH) if sys.stdout.isatty() else WIDTH
    return console


def print_json(value: Any) -> None:
    """One JSON object on stdout."""
    with writing_stdout():
        click.echo(as_text(value))
    answered()


def say(message: str) -> None:
    """A message to the user on stderr."""
    click.echo(message, err=True)
