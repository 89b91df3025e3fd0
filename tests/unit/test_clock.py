"""The clock of limits: it stands still while kernels are compiled, and whoever waits is told."""

import os
import subprocess
import sys

import pytest
from numba import njit
from numba.core import event

from discreet import clock
from discreet.clock import (
    COMPILING,
    said_once,
    standing_still,
    telling_of_compiling,
    threads,
    working_seconds,
)


@pytest.fixture
def now(monkeypatch):
    """A clock that is set by hand."""
    hands = [1000.0]
    monkeypatch.setattr(clock, "monotonic", lambda: hands[0])
    return hands


class SlowCompiler(event.Listener):
    """Makes every compilation last 1,000 seconds of the clock set by hand."""

    def __init__(self, hands):
        self.hands, self.n_compiled = hands, 0

    def on_start(self, happened):
        self.hands[0] += 1000
        self.n_compiled += 1

    def on_end(self, happened):
        pass


def test_compiling_takes_no_time(now):
    begun = working_seconds()
    slow = SlowCompiler(now)
    with event.install_listener("numba:compile", slow):
        assert njit(lambda x: x + 1)(1) == 2
    assert slow.n_compiled > 0
    # Seconds are sums of floats, which depend on how much this process has compiled before.
    assert working_seconds() == pytest.approx(begun, abs=1e-6)
    now[0] += 3
    assert working_seconds() == pytest.approx(begun + 3, abs=1e-6)


def test_loading_a_library_takes_no_time(now):
    begun = working_seconds()
    with standing_still():
        now[0] += 1000
        assert working_seconds() == pytest.approx(begun, abs=1e-6)
    now[0] += 3
    assert working_seconds() == pytest.approx(begun + 3, abs=1e-6)


SLOW_LIBRARY = """
import sys, time
from discreet import clock

class Slow:  # a library whose loading takes 100 seconds
    def find_spec(self, name, path=None, target=None):
        if name in sys.argv[1:]:
            hands[0] += 100
        return None

hands = [1000.0]
clock.monotonic = lambda: hands[0]
sys.meta_path.insert(0, Slow())
import numpy as np, discreet
table = discreet.Table.of_dense(np.random.default_rng(0).poisson(1.5, (3, 3, 3)), names=list("abc"))
choose = discreet.choose
limit = clock.Clock(50.0)
choose(table, "suppression,margins[a b][b c][a c]", max_risk=0.5, seed=1)
late = [name for name in sys.argv[1:] if name in sys.modules]
print(*late, limit.is_over)
"""


def test_the_first_call_has_as_much_time_as_any_other():
    libraries = ["ortools.sat.python"]
    ran = subprocess.run(
        [sys.executable, "-c", SLOW_LIBRARY, *libraries],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert ran.stdout.split() == [*libraries, "False"]


def test_the_clock_stands_still_until_the_last_thread_has_left_the_compiler(now):
    watch = clock._Stopwatch()
    begun = watch.working()
    watch.begin()
    now[0] += 5
    watch.begin()
    now[0] += 5
    watch.end()
    assert watch.working() == begun
    now[0] += 5
    watch.end()
    assert watch.working() == begun
    now[0] += 2
    assert watch.working() == begun + 2


def test_whoever_waits_is_told_of_compiling_and_nobody_afterwards():
    heard = []
    inner = []
    with telling_of_compiling(lambda *said: heard.append(said)):
        njit(lambda x: x + 2)(1)
        with telling_of_compiling(lambda *said: inner.append(said)):
            njit(lambda x: x + 3)(1)
    assert set(heard) == set(inner) == {(COMPILING, None)}
    n_heard = len(heard)
    njit(lambda x: x + 4)(1)
    assert len(heard) == n_heard


def test_one_line_is_said_of_all_compiling():
    lines = []
    listen = said_once(lines.append)
    for step in ("walking", COMPILING, "walking", COMPILING):
        listen(step, None)
    assert lines == [clock.FIRST_USE]


def test_threads_tell_whoever_waits_for_the_one_that_made_them():
    heard = []
    with telling_of_compiling(lambda *said: heard.append(said)), threads(2) as pool:
        assert pool.submit(njit(lambda x: x + 5), 1).result() == 6
    assert set(heard) == {(COMPILING, None)}


FIRST_USE = """
import numpy as np
from discreet.fiber.system.margins import margins_of
from discreet.fiber.system.linear_system import system_of
from discreet.clock import telling_of_compiling
from discreet.belief.exact.listing import listed_within

counts = [96, 72, 161, 10, 7, 6, 1, 1, 2, 186, 127, 51, 11, 7, 3, 0, 1, 0]
margins = margins_of(np.array(counts).reshape(2, 3, 3), [(1, 2), (0, 2)])
system, heard = system_of(18, margins.statements()), []
with telling_of_compiling(lambda *said: heard.append(said)):
    found = listed_within(system, most=1000, seconds=1.5, rng=np.random.default_rng(1))
print(found and found.n_tables, "compiling (first use only)" in dict(heard))
"""


@pytest.mark.soak
def test_the_first_use_on_a_machine_lists_the_census_tables_in_a_second(tmp_path):
    """The 44 · 45 · 30 tables of the paper's example; compiling alone takes longer than the time."""
    run = subprocess.run(
        [sys.executable, "-c", FIRST_USE],
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == ["59400", "True"]
