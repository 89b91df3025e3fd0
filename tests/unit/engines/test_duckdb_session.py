"""Statements that take long tell how far they are, and stop when the user says so."""

import signal
import threading

import duckdb
import pytest

from discreet.engines.duckdb_session import Session
from discreet.progress import silent

ENDLESS = "CREATE TABLE t AS SELECT sum(a.i * b.i) FROM range(10_000_000) a(i), range(100_000) b(i)"


@pytest.fixture
def con():
    with duckdb.connect(config={"threads": 1}) as con:
        yield con
        for thread in workers():
            con.interrupt()
            thread.join()


def workers():
    return [thread for thread in threading.enumerate() if thread.name == "discreet-duckdb"]


def test_rows_and_statements(con):
    session = Session(con, silent)
    session.run("making", "CREATE TABLE t AS SELECT 7 AS i")
    assert session.rows("SELECT i, i + 1 FROM t") == [(7, 8)]


def test_an_error_in_the_statement_is_raised_here(con):
    with pytest.raises(duckdb.CatalogException):
        Session(con, silent).run("making", "CREATE TABLE t AS SELECT * FROM nowhere")


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_interruption_stops_the_statement(con, error):
    told = []

    def progress(step, fraction):
        told.append((step, fraction))
        raise error

    session = Session(con, progress)
    with pytest.raises(error):
        session.run("counting", ENDLESS)
    assert not workers()
    assert told[0][0] == "counting"
    assert 0 <= told[0][1] <= 1
    assert session.rows("SELECT 1") == [(1,)]


@pytest.mark.usefixtures("heeding_ctrl_c")
@pytest.mark.parametrize("seconds", [0.05, 0.15, 0.25])
def test_ctrl_c_stops_the_statement_before_it_is_heard_of(con, seconds):
    main = threading.main_thread().ident
    assert main is not None
    timer = threading.Timer(seconds, signal.pthread_kill, (main, signal.SIGINT))
    session = Session(con, silent)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        session.run("counting", ENDLESS)
    timer.join()
    assert session.rows("SELECT 1") == [(1,)]
