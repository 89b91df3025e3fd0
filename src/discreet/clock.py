"""A clock that stands still while code is compiled or loaded, which happens once in a process.

Numerical kernels are compiled when first called and kept on disk. On a new machine that takes up to
a minute, on any other a moment to load them, as it does to load the libraries that a step needs.
Limits of time are about the work itself, so they are measured by this clock: the first call in a
process has as much time as any other. Whoever waits is told. Each look at the clock is a moment at
which the work can be stopped.
"""

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from time import monotonic
from typing import Any

from discreet.progress import Progress, heed

COMPILING = "compiling (first use only)"
FIRST_USE = "compiling what this needs (first time on this machine only, up to a minute)"
LEAST_SECONDS = 0.2  # what a step gets even when the time is over, to give some answer


def working_seconds() -> float:
    """Seconds on a clock of no given origin, without those in which code was compiled or loaded."""
    heed()
    return _stopwatch().working()


@contextmanager
def standing_still() -> Iterator[None]:
    """The clock stands still: for libraries that are loaded only where they are needed."""
    _watch.begin()
    try:
        yield
    finally:
        _watch.end()


@dataclass(frozen=True, slots=True)
class Clock:
    """What is left of some seconds since it was made; None where there is no limit.

    It stands still while code is compiled."""

    seconds: float | None
    began: float = field(default_factory=working_seconds)

    def left(self) -> float | None:
        """Seconds, never quite nothing, or None where there is no limit."""
        heed()
        if self.seconds is None:
            return None
        return max(self.seconds - (working_seconds() - self.began), LEAST_SECONDS)

    def share(self, part: float, most: float | None = None) -> float | None:
        """A part of what is left, and never more than `most` seconds."""
        left = self.left()
        if left is None:
            return most
        own = max(part * left, LEAST_SECONDS)
        return own if most is None else min(own, most)

    @property
    def is_over(self) -> bool:
        """Whether the time is over."""
        heed()
        return self.seconds is not None and working_seconds() - self.began >= self.seconds


@contextmanager
def telling_of_compiling(progress: Progress) -> Iterator[None]:
    """Tells `progress` of each kernel that this thread has to compile while the context is open.

    Numba is not loaded for it: whoever loads kernels, or asks for the time, begins to listen.
    """
    before = _told.progress
    _told.progress = progress
    try:
        yield
    finally:
        _told.progress = before


def hear_of_compiling() -> None:
    """Listen to Numba from now on; for who calls kernels without a limit of time."""
    _stopwatch()


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
    """A pool of threads, no more than processors, in which compiling is told of as in this one."""
    n = max(1, min(most, os.cpu_count() or 1))
    return ThreadPoolExecutor(n, initializer=_tell, initargs=(_told.progress,))


def is_compiling() -> bool:
    """Whether some thread is in the compiler now."""
    return _stopwatch().is_stopped


def _tell(progress: Progress | None) -> None:
    _told.progress = progress


class _Told(threading.local):
    """Who waits for the work of a thread."""

    progress: Progress | None = None


_told = _Told()


class _Stopwatch:
    """Adds up the time in which at least one thread was compiling."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way, self._since, self._compiled = 0, 0.0, 0.0

    def begin(self) -> None:
        """A thread enters the compiler, perhaps from within it."""
        with self._lock:
            if self._under_way == 0:
                self._since = monotonic()
            self._under_way += 1

    def end(self) -> None:
        """A thread leaves the compiler."""
        with self._lock:
            if self._under_way == 1:
                self._compiled += monotonic() - self._since
            self._under_way = max(self._under_way - 1, 0)

    @property
    def is_stopped(self) -> bool:
        """Whether some thread is in the compiler."""
        return self._under_way > 0

    def working(self) -> float:
        """The clock, standing still since the compiler was entered."""
        with self._lock:
            now = self._since if self._under_way else monotonic()
            return now - self._compiled


_watch = _Stopwatch()


@cache
def _stopwatch() -> _Stopwatch:
    """The one stopwatch, which Numba tells of entering and leaving its compiler."""
    from numba.core import event

    class Entered(event.Listener):
        """Hears when the compiler's lock is taken: to compile, or to load what was compiled."""

        def on_start(self, happened: Any) -> None:
            _watch.begin()

        def on_end(self, happened: Any) -> None:
            _watch.end()

    class Compiled(event.Listener):
        """Hears of each function that was not found compiled."""

        def on_start(self, happened: Any) -> None:
            if _told.progress is not None:
                _told.progress(COMPILING, None)

        def on_end(self, happened: Any) -> None:
            pass

    event.register("numba:compiler_lock", Entered())  # type: ignore[no-untyped-call]
    event.register("numba:compile", Compiled())  # type: ignore[no-untyped-call]
    return _watch
