"""Cells by DuckDB, out of core, on all cores.

The records are read for the range of whole-number keys, once for the values of all text keys, and
once to code them; policies that leave records out read once more to count what is missing. A CSV
file is parsed once for all of these. Cost grows linearly with the records, and with the cells for
what follows.
Weights are summed as decimals, so that no figure depends on the order of rows or of threads.
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
from discreet.engines.contract import CellStore, ColumnOrder, Request
from discreet.engines.duckdb_counting import Counter
from discreet.engines.duckdb_errors import translated
from discreet.engines.duckdb_order import column_orders
from discreet.engines.duckdb_session import Session
from discreet.engines.workspace import workspace
from discreet.errors import InputError, must_be
from discreet.progress import Progress, silent

MOST_MEMORY = 4 << 30  # unless more is given; what does not fit goes to the private workspace
SIZE = r"([0-9]+(?:\.[0-9]+)?) *(?:([KMGT])(i?))?B"
SHARE = 0.5  # of the memory, for DuckDB: the rest holds the cells in Python, and what DuckDB takes
# beside the limit it is given


@dataclass(frozen=True, slots=True)
class DuckDBEngine:
    """Counts records in this process, within `memory`: '8GB' or so, by default 4 GiB or less.

    It holds for the whole process, which also keeps some hundred bytes for each cell; what does not
    fit goes to the private workspace.
    """

    memory: str | None = None
    threads: int | None = None
    temporary: Path | None = None
    progress: Progress = silent

    @contextmanager
    def count(self, request: Request) -> Iterator[CellStore]:
        """The cells of the request, as long as the `with` lasts."""
        with (
            workspace(self.temporary) as folder,
            self._connect(folder) as con,
            translated(request.records.name),
        ):
            yield Counter(Session(con, self.progress), request, folder).cells()

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

    def _connect(self, folder: Path) -> duckdb.DuckDBPyConnection:
        config: dict[str, Any] = {
            "temp_directory": str(folder / "spill"),
            "memory_limit": f"{int(self._bytes() * SHARE)}B",
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        if self.threads is not None:
            config["threads"] = self.threads
        try:
            con = duckdb.connect(config=config)
            con.execute("SET TimeZone = 'UTC'")  # a moment has one name wherever it is read
            con.execute("SET enable_progress_bar_print = false")  # stdout is for the answer alone
            return con
        except (duckdb.Error, RuntimeError) as error:
            got = repr(self.threads)
            raise InputError(must_be("threads", "a number of at least 1", got)) from error


def _physical_memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
