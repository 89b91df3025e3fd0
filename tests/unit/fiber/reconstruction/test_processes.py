"""Work shared by processes."""

import multiprocessing
import threading

import pytest

from discreet.clock import work
from discreet.errors import Interrupted
from discreet.fiber.reconstruction import processes
from discreet.fiber.reconstruction.processes import heeding_the_parent, in_processes
from discreet.progress import HEED_EVERY

END = "__import__('os')._exit(1)"  # a process that the system ends


def test_a_lost_process_loses_its_own_thing_only():
    things = ["1 + 1", "2 + 2", END, "3 + 3"]
    found = in_processes(eval, things, 2, lambda thing: f"lost: {thing}")
    assert list(found) == [2, 4, f"lost: {END}", 6]


def test_processes_end_with_the_iteration():
    found = in_processes(eval, iter(["1 + 1"] * 20), 1, str)
    assert next(found) == 2
    assert multiprocessing.active_children()
    found.close()
    assert not multiprocessing.active_children()


def test_work_in_a_process_ends_where_its_parent_has_stopped(monkeypatch):
    stop = threading.Event()
    monkeypatch.setattr(processes._Stop, "event", stop)
    monkeypatch.setattr("discreet.progress.HEED_EVERY", -HEED_EVERY)
    with heeding_the_parent():
        work(0)
        stop.set()
        with pytest.raises(Interrupted, match="stopped"):
            work(0)
