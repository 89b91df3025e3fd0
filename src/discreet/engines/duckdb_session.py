"""One DuckDB connection: statements that tell how far they are and stop when the user says so."""

import threading
from typing import Any

import duckdb

from discreet.progress import Progress

POLL_SECONDS = 0.1


class Session:
    """Runs statements one at a time, tells how far they are, and stops when the user says so."""

    def __init__(self, con: duckdb.DuckDBPyConnection, progress: Progress) -> None:
        self.con = con
        self.progress = progress
        self.names = 0

    def new_name(self, stem: str) -> str:
        """A name that nothing in this connection has yet."""
        self.names += 1
        return f"{stem}_{self.names}"

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """All rows of a query whose answer is small."""
        return self.con.execute(statement).fetchall()

    def row(self, statement: str) -> tuple[Any, ...]:
        """The one row of a query that has one."""
        return self.rows(statement)[0]

    def run(self, step: str, statement: str) -> None:
        """A statement that may take long, in a thread of its own so that Ctrl-C is heard."""
        failure: list[BaseException] = []
        done = threading.Event()

        def work() -> None:
            try:
                self.con.execute(statement)
            except BaseException as error:
                failure.append(error)
            finally:
                done.set()

        try:
            threading.Thread(target=work, name="discreet-duckdb").start()
            while not done.wait(POLL_SECONDS):
                self.progress(step, max(self.con.query_progress(), 0.0) / 100)
        except BaseException:
            self._stop(done)
            raise
        if failure:
            raise failure[0]

    def _stop(self, done: threading.Event) -> None:
        """Interrupt until the statement ends: one that has only begun may miss the first time.

        An event tells, not the thread: one whose join is interrupted is taken for ended (Python
        3.11).
        """
        while not done.wait(POLL_SECONDS):
            self.con.interrupt()
