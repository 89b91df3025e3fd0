"""The same work on many things in several processes, results in the order given.

Processes are started afresh (spawn), so that libraries with threads of their own are safe. Few
things are under way at a time, so memory does not grow with their number. A process that the system
ends takes no result with it: what was under way is done again one by one, and only the thing at
fault has none.
"""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

from discreet.errors import Interrupted
from discreet.progress import heed, listening

Thing = TypeVar("Thing")
Found = TypeVar("Found")

AHEAD = 4  # things under way for each process
CALM = 0.05  # seconds between looks for an interruption


class _Stop:
    """Whether the work is to end, told to every process."""

    event: Any = None


def in_processes(
    do: Callable[[Thing], Found],
    things: Iterable[Thing],
    workers: int,
    lost: Callable[[Thing], Found],
) -> Generator[Found, None, None]:
    """What `do` finds of each thing, in order; `lost` where its process was ended by the system.

    `do` is a function of a module, and does not raise. However the iteration ends, so do the
    processes, at the next moment at which their work can be stopped.
    """
    waiting = iter(things)
    while batch := list(islice(waiting, workers * AHEAD)):
        with _pool(workers) as pool:
            unfinished = yield from _stream(pool, do, batch, waiting)
        for thing in unfinished:
            with _pool(1) as pool:
                try:
                    found = _result(pool.submit(do, thing))
                except BrokenProcessPool:
                    found = lost(thing)
            yield found


def _stream(
    pool: ProcessPoolExecutor,
    do: Callable[[Thing], Found],
    batch: list[Thing],
    waiting: Iterator[Thing],
) -> Generator[Found, None, list[Thing]]:
    """Results in order; returns the things that were under way when a process was lost."""
    under_way = deque((thing, _sent(pool, do, thing)) for thing in batch)
    while under_way:
        try:
            found = _result(under_way[0][1])
        except BrokenProcessPool:
            break
        under_way.popleft()
        yield found
        under_way.extend((thing, _sent(pool, do, thing)) for thing in islice(waiting, 1))
    return [thing for thing, _ in under_way]


def _sent(pool: ProcessPoolExecutor, do: Callable[[Thing], Found], thing: Thing) -> "Future[Found]":
    try:
        return pool.submit(do, thing)
    except BrokenProcessPool as broken:
        failed: Future[Found] = Future()
        failed.set_exception(broken)
        return failed


def _result(future: "Future[Found]") -> Found:
    """The result of a task, with a moment to stop every now and then."""
    while not wait([future], timeout=CALM).done:
        heed()
    return future.result()


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that end with the context, whatever ends it."""
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    pool = ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(stop,))
    try:
        yield pool
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)


def _begin(stop: Any) -> None:
    """In a new process: Ctrl-C is for the parent to hear, without which there is nothing to do."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _Stop.event = stop
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: Any) -> None:
    parent.join()
    os._exit(1)


@contextmanager
def heeding_the_parent() -> Iterator[None]:
    """Work in a process of a pool that ends where the parent has stopped."""
    with listening(_raise_if_stopped):
        yield


def _raise_if_stopped(step: str, fraction: float | None) -> None:
    if _Stop.event is not None and _Stop.event.is_set():
        raise Interrupted("stopped")
