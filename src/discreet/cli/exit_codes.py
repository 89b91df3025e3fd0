"""One clear line on stderr, and the exit code, for everything that can go wrong.

With --json the same is one JSON object on stdout: {"problem": {"what", "where", "remedy"}}.
"""

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from discreet.errors import (
    Complaint,
    DiscreetError,
    Interrupted,
    OutputError,
    Problem,
    must_be,
    one_line,
    problem_of,
)

if TYPE_CHECKING:
    from discreet.policy.verdict import Verdict

DONE, FAULT, BAD_INPUT, BROKEN, UNDECIDED, STOPPED = 0, 1, 2, 3, 4, 130
OF_RULING = {"kept": DONE, "broken": BROKEN, "undecided": UNDECIDED}
TYPED = "discreet.typed"  # in the context of a command: the arguments as they were typed
ANSWERED = "discreet.answered"  # and whether its JSON object is out
STOP = Problem("stopped; nothing was left half-written")
REPORT_IT = "set DISCREET_TRACEBACK=1 to see it in full, and please report it"


def leave_with(verdict: "Verdict | None") -> None:
    """End the command with the exit code of a verdict: 3 broken, 4 undecided; else go on."""
    code = DONE if verdict is None else OF_RULING[verdict.ruling]
    if code != DONE:
        raise click.exceptions.Exit(code)


def run_and_report(command: click.Command, arguments: list[str]) -> int:
    """Run a command; the exit code. An unforeseen error shows its place and never its data."""
    said: dict[str, bool] = {}
    try:
        _run(command, arguments, said)
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except BrokenPipeError:
        ignore_stdout()
        return DONE
    except BaseException as error:
        if isinstance(error, SystemExit | GeneratorExit):
            raise
        problem, code = _problem_of(error)
        as_json = "--json" in arguments and not said.get(ANSWERED)
        return _complain(problem, code, as_json=as_json)
    return DONE


def _run(command: click.Command, arguments: list[str], said: dict[str, bool]) -> None:
    with command.make_context("discreet", list(arguments)) as context:
        context.meta[TYPED] = tuple(arguments)
        context.meta[ANSWERED] = said
        command.invoke(context)
    with writing_stdout():
        sys.stdout.flush()


@contextmanager
def writing_stdout() -> Iterator[None]:
    """What cannot be written to stdout is said of stdout; a reader that left is no error."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        ignore_stdout()
        raise OutputError(must_be("stdout", "writable", error.strerror or "an error")) from error


def answered() -> None:
    """The JSON object of this command is on stdout: what goes wrong from now on is said on stderr
    alone."""
    context = click.get_current_context(silent=True)
    if context is not None and ANSWERED in context.meta:
        context.meta[ANSWERED][ANSWERED] = True


def _problem_of(error: BaseException) -> tuple[Problem, int]:
    """What went wrong, in its parts, and the exit code."""
    match error:
        case click.Abort() | KeyboardInterrupt() | Interrupted():
            return STOP, STOPPED
        case click.ClickException():
            return problem_of(error.format_message().rstrip(".")), BAD_INPUT
        case DiscreetError():
            return problem_of(error.args[0] if error.args else ""), BAD_INPUT
        case OSError():
            return _unreadable(error), BAD_INPUT
        case _:
            return _unforeseen(error), FAULT


def _unreadable(error: OSError) -> Problem:
    """A file that the system would not hand over. What is written goes through `written_whole` or
    `writing_stdout`, whose complaints name the output, so this was to be read."""
    name = error.filename
    shown = "a file" if name is None else f"file {Path(os.fsdecode(name)).name!r}"
    return Problem(f"{shown} must be readable, got {error.strerror or 'an error'}")


def ignore_stdout() -> None:
    """Nobody can read what is left in the buffer of stdout, so let its flush at exit succeed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(problem: Problem, code: int, *, as_json: bool) -> int:
    click.echo(f"discreet: {one_line(Complaint.of(problem))}", err=True)
    if as_json:
        from discreet.report.render_json import as_text

        parts = {name: one_line(getattr(problem, name)) for name in ("what", "where", "remedy")}
        with suppress(OSError):  # the line is on stderr, and the exit code says the rest
            click.echo(as_text({"problem": parts}))
            sys.stdout.flush()
    return code


def _unforeseen(error: BaseException) -> Problem:
    """Kind and place only: the message of an unforeseen error may hold confidential values."""
    if os.environ.get("DISCREET_TRACEBACK"):
        traceback.print_exception(error)
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}:{place.lineno}"
    return Problem(f"this is a fault of ours ({type(error).__name__})", where, REPORT_IT)
