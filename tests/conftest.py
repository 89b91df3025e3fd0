"""What several tests share: the command line run in this process, and records counted by engine."""

import json
import os
import signal
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass

import pytest
import scipy.linalg  # noqa: F401 - so that its BLAS is there to be limited
from hypothesis import settings
from threadpoolctl import threadpool_limits

from discreet import clock
from discreet.cli import main
from discreet.data.missing import missing_policy
from discreet.data.records import open_records
from discreet.engines.contract import Request
from discreet.engines.duckdb import DuckDBEngine
from discreet.errors import Complaint, Problem

# The same examples on every machine, however busy; HYPOTHESIS_PROFILE=explore looks for new ones.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=500, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))

# As in the commands: BLAS threads that wait for each other would cost more than all else.
threadpool_limits(limits=1, user_api="blas")

# Limits of time are about the work of this process, so that a busy machine changes no answer.
clock.monotonic = time.process_time  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Run:
    """What a command left: its exit code and the text on its two streams."""

    code: int
    out: str
    err: str
    as_json: bool = False

    def complaint(self):
        """The one line that bad input earns, without the name of the program; with --json the same
        is an object on stdout."""
        assert self.code == 2, self
        if self.as_json:
            told = Problem(**json.loads(self.out)["problem"])
            assert self.err == f"discreet: {Complaint.of(told)}\n"
        else:
            assert self.out == ""
        assert self.err.startswith("discreet: ")
        assert self.err.endswith("\n")
        assert len(self.err.splitlines()) == 1, self.err
        assert "fault of ours" not in self.err
        return self.err.removeprefix("discreet: ").rstrip("\n")


@pytest.fixture
def discreet(monkeypatch, capfd):
    """Runs the command line with the given arguments."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["discreet", *map(str, arguments)])
        capfd.readouterr()
        with pytest.raises(SystemExit) as leaving:
            main()
        out, err = capfd.readouterr()
        err = err.replace(clock.FIRST_USE + "\n", "")  # said by whichever test compiles first
        return Run(int(leaving.value.code or 0), out, err, "--json" in arguments)

    return run


@pytest.fixture
def engine():
    """What counts records; tests/unit/engines asks the same of every engine."""
    return DuckDBEngine()


@pytest.fixture
def count(engine):
    """Counts the records of a source by some keys; the cells stay open until the test ends."""
    with ExitStack() as stack:

        def run(source, keys, *, missing="category", csv=None, **options):
            request = Request(
                records=open_records(source, csv),
                keys=tuple(keys),
                missing=missing_policy(missing),
                **options,
            )
            return stack.enter_context(engine.count(request))

        yield run


@pytest.fixture
def heeding_ctrl_c():
    """Ctrl-C raises KeyboardInterrupt even where the tests run in the background, whose processes
    are started with the signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
