"""Telling whoever waits how far the work is, and letting them stop it.

Work that takes long is given a `Progress`; it calls it with the name of the step and the fraction
done, or None when the fraction is not known. The library never prints. Whatever a `Progress` raises
ends the work: from another thread, one that raises `Interrupted` once a flag is set.

A public function listens to its `Progress` throughout: steps that are not given it, such as those
that only look at the clock, call `heed`, which tells once more what was told last.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Protocol

HEED_EVERY = 0.05  # seconds; more often would cost a slow listener more than it gains


class Progress(Protocol):
    """Receives the step under way and the fraction of it that is done."""

    def __call__(self, step: str, fraction: float | None) -> None: ...


def silent(step: str, fraction: float | None) -> None:
    """Tells nobody."""


class Listener:
    """A Progress that remembers what was told last, to tell it again."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._last: tuple[str, float | None] = ("beginning", None)
        self._told = monotonic()

    def __call__(self, step: str, fraction: float | None) -> None:
        self._last, self._told = (step, fraction), monotonic()
        self._progress(step, fraction)

    def again(self) -> None:
        """What was told last, unless that was a moment ago."""
        if monotonic() - self._told >= HEED_EVERY:
            self(*self._last)


_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_ends_all: ContextVar[bool] = ContextVar("ends_all", default=False)


@contextmanager
def listening(progress: Progress, *, keeps_parts: bool = False) -> Iterator[Progress]:
    """One whole piece of work: what `heed` tells goes to `progress`, which may end it by raising.

    It is given what to tell its steps to. Where nobody listens, whoever did before still does.
    Ctrl-C ends all of it too, and no step returns what it has so far, unless it `keeps_parts`.
    """
    found = None if progress is silent else Listener(progress)
    listener = _listener.set(found or _listener.get())
    ends = _ends_all.set(not keeps_parts)
    try:
        yield found or silent
    finally:
        _listener.reset(listener)
        _ends_all.reset(ends)


def heed() -> None:
    """A moment at which the work can be stopped; all that takes long calls it now and then."""
    found = _listener.get()
    if found is not None:
        found.again()


def interruption_ends_all() -> bool:
    """Whether Ctrl-C is to end the whole work, of which this is a step; else a step that can makes
    do with what it has."""
    return _ends_all.get()
