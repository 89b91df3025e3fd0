"""Cells by Spark: the same cells, levels, weights and complaints as DuckDB gives."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.data.records import Records
from discreet.engines.contract import CellStore, Request
from discreet.engines.spark.sessions import opened
from discreet.engines.spark.work import Work
from discreet.engines.workspace import workspace
from discreet.figures import Unavailable
from discreet.progress import Progress, silent


@dataclass(frozen=True)
class SparkEngine:
    """Counts records on Spark.

    `session` is one that exists, classic or Connect; else one is made with `master`, such as
    'local[2]', and stopped afterwards. `temporary` is the folder below which records and cells are
    written on the way, in a private folder that is removed afterwards; by default that of this
    system. On a cluster it must be a folder that the driver and all workers see under the same
    path, and so must be the files that are read; discreet must be installed on all of them. While
    there are no more than `most_near` occupied cells, they come to the driver.
    """

    session: Any = None
    master: str | None = None
    temporary: Path | str | None = None
    most_near: int = 1_000_000
    progress: Progress = silent

    @contextmanager
    def count(self, request: Request) -> Iterator[CellStore]:
        """The cells of the request, as long as the `with` lasts."""
        parent = None if self.temporary is None else Path(self.temporary)
        with workspace(parent) as folder, opened(self.session, self.master) as spark:
            from discreet.engines.spark.counting import Counter
            from discreet.engines.spark.errors import translated

            with translated(request.records.name, folder):
                work = Work(spark, folder, self.progress)
                yield Counter(work, request, self.most_near).cells()

    def orders(self, records: Records, names: Sequence[str]) -> Unavailable:
        """Nothing: which record stands beside which is not looked at on Spark."""
        return Unavailable("the order of the records is not looked at on Spark")
