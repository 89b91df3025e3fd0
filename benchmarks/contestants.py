"""How contestants are started: our command, a job of ours, a job where the rivals are installed."""

import json
import sys
from collections.abc import Callable
from typing import Any

from benchmarks.comparing import Contestant
from benchmarks.measuring import DISCREET, RIVALS, Start

JOBS = ("-m", "benchmarks.jobs")
VERDICTS = (0, 3, 4)  # kept, broken, undecided


def our_command(name: str, *arguments: str, **how: Any) -> Contestant:
    """`discreet …` from the shell."""
    return Contestant(
        name=name, start=Start.PROCESS, command=(DISCREET, *arguments), codes=VERDICTS, **how
    )


def as_process(name: str, *job: str, rivals: bool = False, **how: Any) -> Contestant:
    """A job timed from the start of Python; it prints its answer last."""
    python = str(RIVALS) if rivals else sys.executable
    how.setdefault("answer", last_line)
    return Contestant(name=name, start=Start.PROCESS, command=(python, *JOBS, *job), **how)


def in_process(name: str, *job: str, rivals: bool = False, **how: Any) -> Contestant:
    """A job that times itself once its data are loaded."""
    python = str(RIVALS) if rivals else sys.executable
    return Contestant(name=name, start=Start.IN_PROCESS, command=(python, *JOBS, *job), **how)


def last_line(printed: str) -> str:
    """What was printed last."""
    return (printed.strip().splitlines() or [""])[-1]


def of_json(*path: str) -> Callable[[str], object]:
    """The value at this path of the JSON that our commands print."""

    def answer(printed: str) -> object:
        found: Any = json.loads(printed)
        for name in path:
            found = found[name]
        return found

    return answer
