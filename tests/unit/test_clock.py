"""The clock of limits: work alone advances it, and a watch guards it; whoever waits is told."""

import subprocess
import sys
import threading

import pytest
from numba import njit
from numba.core import event

from discreet import clock
from discreet.clock import (
    COMPILING,
    Clock,
    guarded,
    listen_to_numba,
    said_once,
    standing_still,
    stopped_by_watch,
    telling_of_compiling,
    threads,
    watch_left,
    work,
    working_seconds,
)
from discreet.numerics import kernels


@pytest.fixture(scope="module", autouse=True)
def numba_is_heard():
    if not kernels._heard:
        kernels._heard.append(True)
        listen_to_numba()


@pytest.fixture
def now(monkeypatch):
    """A watch that is set by hand."""
    hands = [1000.0]
    monkeypatch.setattr(clock, "monotonic", lambda: hands[0])
    return hands


def test_only_work_advances_the_clock(now):
    limit = Clock(2.0)
    now[0] += 1e6
    assert not limit.is_over
    assert limit.left() == 2.0
    work(1.5)
    assert limit.left() == pytest.approx(0.5)
    work(0.5 + 1e-9)  # sums of floats begin anywhere
    assert limit.is_over
    assert limit.left() == clock.LEAST_SECONDS


def test_a_part_of_what_is_left_is_never_nothing():
    limit = Clock(2.0)
    work(1.0)
    assert limit.share(0.5) == pytest.approx(0.5)
    assert limit.share(0.5, 0.3) == 0.3
    work(5.0)
    assert limit.share(0.5) == clock.LEAST_SECONDS
    assert Clock(None).share(0.5, 7.0) == 7.0


def test_the_watch_stops_the_work_after_twice_its_seconds_and_says_so(now):
    with guarded(3.0):
        limit, later = Clock(3.0), Clock(100.0)
        now[0] += 6.9
        assert not limit.is_over
        assert stopped_by_watch() == ""
        assert watch_left() == pytest.approx(0.1)
        now[0] += 0.2
        assert limit.is_over
        assert later.is_over
        assert "stopped by the clock after 7 s" in stopped_by_watch()
        # What begins now still gets a moment, which its own work uses up.
        rest = Clock(later.left())
        assert not rest.is_over
        assert later.share(0.5) == clock.LEAST_BY_WATCH
        work(1.01 * clock.LEAST_BY_WATCH)
        assert rest.is_over
    assert stopped_by_watch() == ""
    assert watch_left() == float("inf")


def test_work_within_work_is_guarded_by_the_first_watch(now):
    with guarded(3.0), guarded(100.0):
        now[0] += 8
        assert Clock(50.0).left() == 50.0
        assert watch_left() == 0
        assert stopped_by_watch() != ""


def test_without_a_limit_there_is_no_watch(now):
    with guarded(None):
        now[0] += 1e9
        assert watch_left() == float("inf")


def test_each_thread_has_a_clock_of_its_own():
    limit, seen = Clock(1.0), []

    def other():
        own = Clock(1.0)
        work(50.0)
        seen.append(own.is_over)

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert seen == [True]
    assert not limit.is_over


class SlowCompiler(event.Listener):
    """Makes every compilation last 1,000 seconds of the watch set by hand."""

    def __init__(self, hands):
        self.hands, self.n_compiled = hands, 0

    def on_start(self, happened):
        self.hands[0] += 1000
        self.n_compiled += 1

    def on_end(self, happened):
        pass


def test_the_watch_stands_still_while_this_work_compiles(now):
    slow = SlowCompiler(now)
    with guarded(5.0):
        before = watch_left()
        with event.install_listener("numba:compile", slow):
            assert njit(lambda x: x + 1)(1) == 2
        assert slow.n_compiled > 0
        assert watch_left() == pytest.approx(before)
        now[0] += 3
        assert watch_left() == pytest.approx(before - 3)


def test_compiling_in_another_thread_does_not_stop_this_watch(now):
    def other():
        with guarded(5.0), standing_still():
            inside.set()
            leave.wait(10)

    inside, leave = threading.Event(), threading.Event()
    thread = threading.Thread(target=other)
    thread.start()
    inside.wait(10)
    with guarded(5.0):
        now[0] += 4
        assert watch_left() == pytest.approx(7.0)
    leave.set()
    thread.join()


def test_the_watch_stands_still_while_a_library_is_loaded(now):
    with guarded(5.0):
        with standing_still():
            now[0] += 1000
            with standing_still():
                now[0] += 1000
            now[0] += 1000
            assert watch_left() == pytest.approx(11.0)
        assert watch_left() == pytest.approx(11.0)
        now[0] += 2
        assert watch_left() == pytest.approx(9.0)


def test_no_work_is_done_by_waiting():
    before = working_seconds()
    threading.Event().wait(0.05)
    assert working_seconds() == before


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


def test_threads_tell_whoever_waits_for_the_one_that_made_them(now):
    heard = []
    with guarded(5.0), telling_of_compiling(lambda *said: heard.append(said)), threads(2) as pool:
        assert pool.submit(njit(lambda x: x + 5), 1).result() == 6
        assert pool.submit(watch_left).result() == pytest.approx(11.0)
    assert set(heard) == {(COMPILING, None)}


SMALL_QUESTION = """
import sys
import numpy as np
from discreet.fiber.system.margins import margins_of
from discreet.fiber.system.linear_system import system_of
from discreet.belief.exact.listing import listed_within

counts = [96, 72, 161, 10, 7, 6, 1, 1, 2, 186, 127, 51, 11, 7, 3, 0, 1, 0]
margins = margins_of(np.array(counts).reshape(2, 3, 3), [(1, 2), (0, 2)])
system = system_of(18, margins.statements())
found = listed_within(system, most=1000, seconds=1.5, rng=np.random.default_rng(1))
print(found and found.n_tables, "numba" in sys.modules)
"""


def test_a_small_question_needs_nothing_compiled():
    """The 44 · 45 · 30 tables of the paper's example."""
    command = [sys.executable, "-c", SMALL_QUESTION]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["59400", "False"]
