"""One clear line on stderr, and the exit code, for everything that can go wrong."""

import os
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

import click

from discreet.errors import DiscreetError, Interrupted, one_line

if TYPE_CHECKING:
    from discreet.policy.verdict import Verdict

DONE, FAULT, BAD_INPUT, BROKEN, UNDECIDED, STOPPED = 0, 1, 2, 3, 4, 130
OF_RULING = {"kept": DONE, "broken": BROKEN, "undecided": UNDECIDED}


def leave_with(verdict: "Verdict | None") -> None:
    """End the command with the exit code of a verdict: 3 broken, 4 undecided; else go on."""
    code = DONE if verdict is None else OF_RULING[verdict.ruling]
    if code != DONE:
        raise click.exceptions.Exit(code)


def run_and_report(command: click.Command, arguments: list[str]) -> int:
    """Run a command; the exit code. An unforeseen error shows its place and never its data."""
    try:
        with command.make_context("discreet", arguments) as context:
            command.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.ClickException as error:
        return _complain(error.format_message().rstrip("."), BAD_INPUT)
    except (click.Abort, KeyboardInterrupt, Interrupted):
        return _complain("stopped; nothing was left half-written", STOPPED)
    except DiscreetError as error:
        return _complain(str(error), BAD_INPUT)
    except BrokenPipeError:
        _ignore_stdout()
        return DONE
    except OSError as error:
        _ignore_stdout()
        return _complain(f"output must be writable, got {error.strerror}", BAD_INPUT)
    except Exception as error:  # the last resort of the program: nothing may traceback at a user
        return _complain(_unforeseen(error), FAULT)
    return DONE


def _ignore_stdout() -> None:
    """Nobody can read what is left in the buffer of stdout, so let its flush at exit succeed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(message: str, code: int) -> int:
    click.echo(f"discreet: {one_line(message)}", err=True)
    return code


def _unforeseen(error: Exception) -> str:
    """Kind and place only: the message of an unforeseen error may hold confidential values."""
    if os.environ.get("DISCREET_TRACEBACK"):
        traceback.print_exc()
    place = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"this is a fault of ours ({type(error).__name__} at {Path(place.filename).name}:"
        f"{place.lineno}); set DISCREET_TRACEBACK=1 to see it in full, and please report it"
    )
