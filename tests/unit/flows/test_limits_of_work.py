"""Limits are on work: the same answer in any thread and at any pace."""

import threading
from functools import cache

import numpy as np
import pytest

import discreet
from discreet import clock

LARGER = discreet.Table.of_dense(
    np.random.default_rng(5).poisson(1.2, (3, 3, 3, 2)), names=list("abcd")
)
TABLE = discreet.Table.of_dense(np.random.default_rng(5).poisson(1.2, (2, 2, 3)), names=list("abc"))
CIRCLE = [["a", "b"], ["b", "c"], ["a", "c"]]


def audit():
    return discreet.audit(TABLE, CIRCLE, max_risk=0.2, seconds=30.0, seed=1).to_json()


def larger_audit():
    sets = [*CIRCLE, ["c", "d"]]
    model = "no-highest-interaction"
    found = discreet.audit(
        LARGER, sets, max_risk=0.2, models=[model], draws=60, seconds=1.0, seed=1
    )
    return found.to_json()


def choose():
    masks = "margins,rounding:base=3"
    return discreet.choose(LARGER, masks, max_risk=0.3, seconds=1.0, seed=1).to_json()


def counts():
    table = {0: 15, 1: 20, 2: 9, 3: 5, 4: 2, 6: 1}
    return discreet.counts(table, max_risk=0.2, seconds=30.0, seed=1).to_json()


FLOWS = [audit, larger_audit, choose, counts]


@cache
def usual(flow):
    """What it answers by itself, while the watch never ends it."""
    return flow()


@pytest.fixture
def patient(monkeypatch):
    """Waits for the work, however busy this machine is: the watch never ends it."""
    monkeypatch.setattr(clock, "PATIENCE", 1e9)


@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.usefixtures("patient")
def test_threads_side_by_side_give_one_answer(flow):
    found = []
    workers = [threading.Thread(target=lambda: found.append(flow())) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(found) == 4
    assert found == [usual(flow)] * 4


@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.usefixtures("patient")
def test_a_slow_machine_gives_the_same_answer(flow, monkeypatch):
    """Every look at the watch takes a moment that is not there, but no guard is due."""
    expected, hands = usual(flow), [0.0]

    def slow():
        hands[0] += 1e-3
        return hands[0]

    monkeypatch.setattr(clock, "monotonic", slow)
    assert flow() == expected


@pytest.mark.parametrize("flow", FLOWS)
def test_an_answer_says_that_the_clock_ended_the_work(flow, monkeypatch):
    """Every look at the watch takes hours."""
    hands = [0.0]

    def slow():
        hands[0] += 1e4
        return hands[0]

    monkeypatch.setattr(clock, "monotonic", slow)
    told = flow()
    notes = [*told.get("notes", []), *told.get("warnings", [])]
    assert any("stopped by the clock" in note for note in notes)
