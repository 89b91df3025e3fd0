"""Limits on work: a clock that only work advances, and a watch that guards it.

`--seconds` is a limit on work. Each loop that may take long says how much it has done (nodes,
moves, states, pivots), times what one of them takes on an ordinary processor: `work(seconds)`.
Clocks and deadlines read that sum and nothing else, so a question gets the same kind of answer on a
slow machine, on a busy one and with any number of threads. Compiling and loading are no work.

A public function guards itself by the watch on the wall: `guarded(seconds)` ends the work a second
after twice its seconds, whatever was counted, and `stopped_by_watch` then says so. That watch
stands still while this piece of work compiles or loads something, which happens once in a process.
Each look at a clock is a moment at which the work can be stopped.
"""

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from discreet.progress import Progress, heed

COMPILING = "compiling (first use only)"
FIRST_USE = "compiling what this question needs; it is kept, so the next such run is quicker"
LEAST_SECONDS = 0.2  # what a step gets even when the time is over, to give some answer,
LEAST_BY_WATCH = 0.02  # and when the watch has stopped the work
PATIENCE = 2.0  # times its seconds of work, a piece of work may take by the watch,
TO_BEGIN = 1.0  # and a second more, without which short limits would be the watch's alone
PROCESSORS = 2  # of an ordinary machine, among which threads share their work
OVER = 1e9  # seconds by which every clock is ahead once the watch has stopped the work


class _Meter:
    """What one piece of work has done so far, in seconds of an ordinary processor."""

    __slots__ = ("done",)

    def __init__(self) -> None:
        self.done = 0.0


_meter: ContextVar[_Meter | None] = ContextVar("meter", default=None)


def _own_meter() -> _Meter:
    found = _meter.get()
    if found is None:
        found = _Meter()
        _meter.set(found)
    return found


def work(seconds: float) -> None:
    """So much has been done, told by whoever did it: steps times what one of them takes."""
    _own_meter().done += float(seconds)
    heed()


def working_seconds() -> float:
    """Seconds of work done, from no given origin; far ahead once the watch has stopped it."""
    heed()
    guard = _guard.get()
    late = guard is not None and guard.is_over
    return _own_meter().done + (OVER if late else 0.0)


def watch_left() -> float:
    """Seconds until the watch stops the work, for programs that only know the time of day."""
    guard = _guard.get()
    return float("inf") if guard is None else guard.left


@dataclass(frozen=True, slots=True)
class Clock:
    """What is left of some seconds of work since it was made; None where there is no limit."""

    seconds: float | None
    began: float = field(default_factory=working_seconds)

    def left(self) -> float | None:
        """Seconds, never quite nothing, or None where there is no limit."""
        heed()
        if self.seconds is None:
            return None
        return max(self.seconds - (working_seconds() - self.began), _least())

    def share(self, part: float, most: float | None = None) -> float | None:
        """A part of what is left, and never more than `most` seconds."""
        left = self.left()
        if left is None:
            return most
        own = max(part * left, _least())
        return own if most is None else min(own, most)

    @property
    def is_over(self) -> bool:
        """Whether the time is over."""
        heed()
        return self.seconds is not None and working_seconds() - self.began >= self.seconds


class _Guard:
    """The watch on one piece of work; it stands still while some thread of it compiles or loads."""

    def __init__(self, seconds: float) -> None:
        self.seconds = PATIENCE * seconds + TO_BEGIN
        self.has_stopped = False
        self._lock = threading.Lock()
        self._began, self._still = monotonic(), 0.0
        self._under_way, self._since = 0, 0.0

    def pause(self) -> None:
        """A thread enters the compiler, perhaps from within it."""
        with self._lock:
            if self._under_way == 0:
                self._since = monotonic()
            self._under_way += 1

    def go_on(self) -> None:
        """A thread leaves the compiler."""
        with self._lock:
            if self._under_way == 1:
                self._still += monotonic() - self._since
            self._under_way = max(self._under_way - 1, 0)

    @property
    def left(self) -> float:
        with self._lock:
            now = self._since if self._under_way else monotonic()
            return max(0.0, self.seconds - (now - self._began - self._still))

    @property
    def is_over(self) -> bool:
        if not self.has_stopped and self.left <= 0:
            self.has_stopped = True
        return self.has_stopped


_guard: ContextVar[_Guard | None] = ContextVar("guard", default=None)


def _least() -> float:
    """Seconds that a step gets in any case."""
    guard = _guard.get()
    return LEAST_BY_WATCH if guard is not None and guard.is_over else LEAST_SECONDS


@contextmanager
def guarded(seconds: float | None) -> Iterator[None]:
    """One whole piece of work of at most so many seconds, which the watch ends a second after twice
    that.

    Within another that is guarded, that one's watch holds. Without a limit there is no watch.
    """
    if seconds is None or _guard.get() is not None:
        yield
        return
    kept = _guard.set(_Guard(seconds)), _meter.set(_Meter())
    try:
        yield
    finally:
        _guard.reset(kept[0])
        _meter.reset(kept[1])


def stopped_by_watch() -> str:
    """What to tell where the watch has ended the work before its limit was reached, or nothing."""
    guard = _guard.get()
    if guard is None or not guard.has_stopped:
        return ""
    return (
        f"this machine was too slow or too busy for the work asked: stopped by the clock after "
        f"{guard.seconds:.3g} s, so other runs may get further"
    )


@contextmanager
def standing_still() -> Iterator[None]:
    """The watch stands still: for libraries that are loaded only where they are needed."""
    guard = _guard.get()
    if guard is None:
        yield
        return
    guard.pause()
    try:
        yield
    finally:
        guard.go_on()


@contextmanager
def telling_of_compiling(progress: Progress) -> Iterator[None]:
    """Tells `progress` of each kernel that has to be compiled while the context is open."""
    before = _told.set(progress)
    try:
        yield
    finally:
        _told.reset(before)


_told: ContextVar[Progress | None] = ContextVar("told", default=None)


def said_once(say: Callable[[str], None]) -> Progress:
    """For `telling_of_compiling` without a terminal: one line when compiling begins, no more."""
    told = False

    def listen(step: str, fraction: float | None) -> None:
        nonlocal told
        if step == COMPILING and not told:
            told = True
            say(FIRST_USE)

    return listen


def threads(most: int) -> ThreadPoolExecutor:
    """A pool of threads, no more than processors, which compile on behalf of this one.

    What they do is told by the thread that waits for them (`work`), in an order that does not
    depend on which of them was faster."""
    n = max(1, min(most, os.cpu_count() or 1))
    return ThreadPoolExecutor(n, initializer=_join, initargs=(_guard.get(), _told.get()))


def _join(guard: _Guard | None, told: Progress | None) -> None:
    _guard.set(guard)
    _told.set(told)


def listen_to_numba() -> None:
    """Hear of compiling from now on; for who loads Numba."""
    from numba.core import event

    class Entered(event.Listener):
        """Hears when the compiler's lock is taken: to compile, or to load what was compiled."""

        def on_start(self, happened: Any) -> None:
            guard = _guard.get()
            if guard is not None:
                guard.pause()

        def on_end(self, happened: Any) -> None:
            guard = _guard.get()
            if guard is not None:
                guard.go_on()

    class Compiled(event.Listener):
        """Hears of each function that was not found compiled."""

        def on_start(self, happened: Any) -> None:
            told = _told.get()
            if told is not None:
                told(COMPILING, None)

        def on_end(self, happened: Any) -> None:
            pass

    event.register("numba:compiler_lock", Entered())  # type: ignore[no-untyped-call]
    event.register("numba:compile", Compiled())  # type: ignore[no-untyped-call]
