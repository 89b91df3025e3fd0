"""Stopping a function while it works: by its progress, from another thread, by Ctrl-C."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet import progress as heard
from discreet.belief.exact.listing import listed_within
from discreet.clock import Clock, working_seconds
from discreet.count_tables import factorisation_search
from discreet.count_tables.decimal_draws import RoundedQuestion, drawn_distributions
from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.options import CountOptions
from discreet.count_tables.statistics import CountStatistics, DecimalLog, decimal_log
from discreet.data.table import Table
from discreet.fiber.sums import enumeration
from discreet.progress import heed, interruption_ends_all, listening, silent
from discreet.tables.release import released

RNG = np.random.default_rng(0)
TABLE = Table.of_dense(RNG.poisson(1.5, (3, 3, 3)), names=list("abc"))
RECORDS = pa.table({"age": RNG.integers(0, 30, 300), "sex": RNG.integers(0, 2, 300)})
COUNTS = {0: 15, 1: 20, 2: 9, 3: 5, 4: 2}
MANY = {0: 150, 1: 200, 2: 90, 3: 50, 4: 20, 5: 7, 6: 3}
CIRCLE = [["a", "b"], ["b", "c"], ["a", "c"]]
FLOWS: dict[str, Callable[[Any], Any]] = {
    "assess": lambda p: discreet.assess(RECORDS, ["age", "sex"], population=3000, progress=p),
    "compare_policies": lambda p: discreet.compare_policies(RECORDS, ["age", "sex"], progress=p),
    "audit": lambda p: discreet.audit(TABLE, CIRCLE, draws=200, progress=p),
    "audit average": lambda p: discreet.audit(
        TABLE, CIRCLE, draws=200, models="average", seconds=20, progress=p
    ),
    "audit_sequence": lambda p: discreet.audit_sequence(TABLE, CIRCLE[:2], progress=p),
    "choose": lambda p: discreet.choose(
        TABLE, "margins[a b][c],suppression", max_risk=0.1, seed=1, progress=p
    ),
    "best_margins": lambda p: discreet.best_margins(TABLE, seconds=10, progress=p),
    "counts": lambda p: discreet.counts(COUNTS, max_risk=0.2, progress=p),
    "statistics": lambda p: discreet.counts(n=51, s1=61, s2="21.55", progress=p),
    "categories": lambda p: discreet.counts({"x": COUNTS, "y": {0: 6, 1: 1}}, progress=p),
    "backtest": lambda p: discreet.backtest(
        RECORDS, ["age", "sex"], repeats=2, fractions=[0.1], progress=p
    ),
}


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Who listens is told each time, however short a time ago that was."""
    monkeypatch.setattr(heard, "HEED_EVERY", 0.0)


class Stop:
    """A progress that raises when it has been called so many times, and from then on."""

    def __init__(self, after, error=discreet.Interrupted):
        self.after, self.error, self.n = after, error, 0

    def __call__(self, step, fraction):
        assert isinstance(step, str)
        assert fraction is None or 0 <= fraction <= 1 + 1e-9
        self.n += 1
        if self.n >= self.after:
            raise self.error("stopped")


def stopped(name, stop):
    """Whether the work ended where it was stopped, and was not asked again; or was over by then:
    how often it tells something depends on what is compiled, and on solvers beside it."""
    try:
        FLOWS[name](stop)
    except stop.error:
        return stop.n == stop.after
    return stop.n < stop.after


@pytest.mark.parametrize("name", FLOWS)
def test_a_progress_that_raises_ends_the_work_whenever_it_does(name):
    whole = Stop(float("inf"))
    FLOWS[name](whole)
    assert whole.n > 0
    for after in sorted({1, 2, *(int(whole.n * share) for share in (0.3, 0.6, 0.9))} - {0}):
        assert stopped(name, Stop(after))


@pytest.mark.parametrize("name", sorted(set(FLOWS) - {"backtest", "best_margins"}))
def test_an_interruption_ends_all_of_the_work(name):
    whole = Stop(float("inf"))
    FLOWS[name](whole)
    for after in (1, whole.n // 2 + 1, int(0.9 * whole.n) + 1):
        assert stopped(name, Stop(after, KeyboardInterrupt))


def test_an_interrupted_backtest_returns_what_is_done():
    found = FLOWS["backtest"](_after_the_first_sample())
    assert len(found.trials) == 1
    assert not found.complete


def _after_the_first_sample():
    done = []

    def progress(step, fraction):
        done.append(fraction)
        if fraction == 0.5:
            raise KeyboardInterrupt

    return progress


def test_another_thread_can_stop_it():
    stop, begun, ended = threading.Event(), threading.Event(), []

    def progress(step, fraction):
        begun.set()
        if stop.wait(60):  # as long as nobody has stopped it
            raise discreet.Interrupted("from outside")

    def work():
        try:
            discreet.audit(TABLE, CIRCLE, progress=progress)
        except discreet.Interrupted as reason:
            ended.append(str(reason))

    worker = threading.Thread(target=work)
    worker.start()
    assert begun.wait(60)
    stop.set()
    worker.join(60)
    assert ended == ["from outside"]


def rounded(table, decimals):
    statistics = CountStatistics.of_counts(table)
    return statistics, decimal_log(statistics, decimals, truncate=False)


def test_the_search_for_factorisations_listens():
    statistics, released_log = rounded(MANY, 2)
    stop = Stop(3)
    with listening(stop), pytest.raises(discreet.Interrupted):
        list(factorisation_search.factorisations(statistics.n, statistics.total, released_log))
    assert stop.n == 3


def test_drawn_decimals_listen():
    statistics, released_log = rounded({0: 40, 1: 50, 2: 22, 3: 12, 4: 5, 5: 2}, 1)
    assert isinstance(released_log, DecimalLog)
    question = RoundedQuestion(
        n=statistics.n,
        total=statistics.total,
        released=released_log,
        knowledge=Knowledge(),
        largest=8,
    )
    whole = Stop(float("inf"))
    with listening(whole):
        drawn_distributions(question, 1.0, rng=np.random.default_rng(1), seconds=None)
    assert whole.n >= 2 * (8 - 1) + 2  # each layer of two distributions, each batch of draws
    for after in (1, whole.n // 2, whole.n):
        with listening(Stop(after)), pytest.raises(discreet.Interrupted):
            drawn_distributions(question, 1.0, rng=np.random.default_rng(1), seconds=None)


def test_listing_tables_listens_and_keeps_its_limit(monkeypatch):
    monkeypatch.setattr(enumeration, "MOST_COLUMNS", 0)  # few tables are listed in a moment
    system = released(TABLE, CIRCLE).system()
    stop = Stop(5)
    with listening(stop), pytest.raises(discreet.Interrupted):
        listed_within(system, most=10**6, seconds=None, rng=np.random.default_rng(1))


def test_a_look_at_the_clock_is_a_chance_to_stop():
    for look in (working_seconds, lambda: Clock(None).left(), lambda: Clock(None).is_over, heed):
        with listening(Stop(1)), pytest.raises(discreet.Interrupted):
            look()
    heed()  # nobody listens any more


def test_what_was_told_last_is_told_again():
    told = []
    with listening(lambda *said: told.append(said)) as progress:
        heed()
        progress("counting", 0.25)
        heed()
    assert told == [("beginning", None), ("counting", 0.25), ("counting", 0.25)]


def test_a_listener_is_not_called_too_often(monkeypatch):
    monkeypatch.setattr(heard, "HEED_EVERY", 1000.0)
    stop = Stop(1)
    with listening(stop):
        for _ in range(1000):
            heed()
    assert stop.n == 0


def test_inner_work_that_nobody_listens_to_is_heard_by_the_outer():
    stop = Stop(2)
    with listening(stop), listening(silent):
        heed()
        with pytest.raises(discreet.Interrupted):
            heed()


def test_only_whole_works_end_with_an_interruption():
    assert not interruption_ends_all()
    with listening(silent):
        assert interruption_ends_all()
        with listening(silent, keeps_parts=True):
            assert not interruption_ends_all()
    assert not interruption_ends_all()


def test_options_are_checked_before_any_work():
    with pytest.raises(discreet.InputError):
        discreet.counts(COUNTS, CountOptions(), seconds="x", progress=Stop(1))
