"""Public functions as pieces of work that can be stopped."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar

from discreet.clock import stopped_by_watch, telling_of_compiling
from discreet.errors import InputError, must_be
from discreet.option_types import a_kind
from discreet.progress import Progress, listening, silent

Flow = TypeVar("Flow", bound=Callable[..., Any])
Noted = TypeVar("Noted", bound=Any)  # a result with `notes` or `warnings`


def stoppable(flow: Flow) -> Flow:
    """The function, which its `progress` can stop at any time by raising, and Ctrl-C as a whole."""
    return _stoppable(flow, keeps_parts=False)


def stoppable_in_parts(flow: Flow) -> Flow:
    """The same for one that returns what is done when Ctrl-C is pressed."""
    return _stoppable(flow, keeps_parts=True)


def _stoppable(flow: Flow, *, keeps_parts: bool) -> Flow:
    @wraps(flow)
    def heard(*given: Any, **named: Any) -> Any:
        asked = named.pop("progress", silent)
        if not callable(asked):
            rule = "a function of the step and the fraction done"
            raise InputError(must_be("progress", rule, a_kind(asked)))
        with listening(asked, keeps_parts=keeps_parts) as progress, _told(progress):
            return flow(*given, progress=progress, **named)

    return heard  # type: ignore[return-value]


def with_the_clock_noted(found: Noted, place: str = "notes") -> Noted:
    """The result, which says so where the clock ended the work; within `guarded` only."""
    stopped = stopped_by_watch()
    return replace(found, **{place: (*getattr(found, place), stopped)}) if stopped else found


def _told(progress: Progress) -> AbstractContextManager[None]:
    return nullcontext() if progress is silent else telling_of_compiling(progress)
