"""Cells by DuckDB, out of core, on all cores.

The records are read for the range of whole-number keys, once for the values of all text keys, and
once to code them; policies that leave records out read once more to count what is missing. A CSV
file is parsed once for all of these. Cost grows linearly with the records, and with the cells for
what follows.
Weights are summed in whole units, so that no figure depends on the order of rows or of threads.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from discreet.data.records import Records
from discreet.engines.contract import ColumnOrder, Request, RowStore
from discreet.engines.duckdb_counting import Counter
from discreet.engines.duckdb_errors import translated
from discreet.engines.duckdb_order import column_orders
from discreet.engines.duckdb_session import Session
from discreet.engines.kept import kept_folder, opened, tidied
from discreet.engines.local.parts import Shelf
from discreet.engines.workspace import workspace
from discreet.errors import InputError, must_be
from discreet.progress import Progress, silent

MOST_MEMORY = 4 << 30  # unless more is given; what does not fit goes to the private workspace
SIZE = r"([0-9]+(?:\.[0-9]+)?) *(?:([KMGT])(i?))?B"
SHARE = (
    0.5  # of the memory, for DuckDB: the rest is for the cells, and what DuckDB takes beside the
)
# limit it is given
HELD_BYTES = 160  # that a cell takes in memory while it is worked on, with its columns


@dataclass(frozen=True, slots=True)
class DuckDBEngine:
    """Counts records in this process, within `memory`: '8GB' or so, by default 4 GiB or less.

    It holds for the whole process; what does not fit goes to the private workspace. `cells_held`
    and `cells_at_once` say how many cells are kept in memory, and beyond that are looked at
    together; by default as many as the memory allows. In `keep`, a folder, the coded records and
    the counted cells of a file stay, so that the next run on the same file goes on from there.
    """

    memory: str | None = None
    threads: int | None = None
    cells_held: int | None = None
    cells_at_once: int | None = None
    temporary: Path | None = None
    keep: Path | None = None
    progress: Progress = silent

    @contextmanager
    def count(self, request: Request) -> Iterator[RowStore]:
        """The cells of the request, as long as the `with` lasts."""
        with (
            workspace(self.temporary) as folder,
            self._connect(folder, request) as con,
            translated(request.records.name),
        ):
            session, room = Session(con, self.progress), self._bytes() * (1 - SHARE)
            shelf = self._shelf(folder)
            yield Counter(session, request, folder, shelf, room, keep=self.keep).cells()
            if self.keep is not None:
                tidied(con)

    def _shelf(self, folder: Path) -> Shelf:
        """Cells stay in memory while they take no more than a part of what DuckDB leaves."""
        most = int(self._bytes() * (1 - SHARE) / HELD_BYTES)
        kept = folder / "cells"
        kept.mkdir()
        at_once = self.cells_at_once or max(most // 4, 1 << 16)
        return Shelf(kept, self.cells_held or most, at_once, self.progress)

    def orders(self, records: Records, names: Sequence[str]) -> tuple[ColumnOrder, ...]:
        """How alike neighbours are in each of the columns."""
        with (
            workspace(self.temporary) as folder,
            self._connect(folder) as con,
            translated(records.name),
        ):
            return column_orders(Session(con, self.progress), records, names, folder)

    def _bytes(self) -> float:
        """The memory that may be taken; raises InputError for what is no size."""
        if self.memory is None:
            return min(_physical_memory() * 6 // 10, MOST_MEMORY)
        found = re.fullmatch(SIZE, self.memory, re.IGNORECASE)
        if found is None:
            raise InputError(must_be("memory", "a size such as '4GB'", repr(self.memory)))
        number, unit, binary = found.groups()
        power = 0 if unit is None else "KMGT".index(unit.upper()) + 1
        unit_size: int = (1024 if binary else 1000) ** power
        return float(number) * unit_size

    def _connect(self, folder: Path, request: Request | None = None) -> duckdb.DuckDBPyConnection:
        """A connection within the memory; to what is kept of the request, where something is."""
        config: dict[str, Any] = {
            "temp_directory": str(folder / "spill"),
            "memory_limit": f"{int(self._bytes() * SHARE)}B",
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        if self.threads is not None:
            config["threads"] = self.threads
        try:
            if self.keep is None or request is None:
                con = duckdb.connect(config=config)
            else:
                con = opened(kept_folder(self.keep, request), config)
            con.execute("SET TimeZone = 'UTC'")  # a moment has one name wherever it is read
            con.execute("SET enable_progress_bar_print = false")  # stdout is for the answer alone
            return con
        except InputError:
            raise
        except (duckdb.Error, RuntimeError) as error:
            got = repr(self.threads)
            raise InputError(must_be("threads", "a number of at least 1", got)) from error


def _physical_memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
