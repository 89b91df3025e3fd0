"""What every engine does: count records into cells, and give risks back to records.

All work that grows with the number of records happens behind this contract. An engine reads
`Records`, codes the keys (see `discreet.data.coding`), and returns a `CellStore`; everything above
it sees cells, a few summaries, and batches.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from discreet.data.arrays import FloatArray, IntArray
from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.data.missing import MissingPolicy
from discreet.data.records import Records
from discreet.data.summary import SizeIndices

MISSING_LABEL = "(missing)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to count: which records by which keys, with which weight, under which policy.

    `for_records` asks the engine to remember each record's cell, so that risks can be joined back.
    """

    records: Records
    keys: tuple[str, ...]
    weight: str | None = None
    missing: MissingPolicy
    for_records: bool = False
    decimal: str = "."


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyLevels:
    """One key as it was found: its levels in order, the missing level last if it is one.

    `values` are the levels as the file writes them (None for missing), `labels` as they are shown:
    the same, but for files with value labels. `n_missing` counts the records without a value.
    """

    name: str
    values: tuple[str | None, ...]
    labels: tuple[str, ...]
    n_missing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightCheck:
    """What was seen of the weights, all of them positive and finite."""

    total: float
    smallest: float
    largest: float
    n_below_one: int


class CellStore(Protocol):
    """The cells of one request; close it (or leave its `with`) to free what it holds."""

    @property
    def n_records(self) -> int:
        """Records that were counted."""

    @property
    def n_dropped(self) -> int:
        """Records that the missing policy left out."""

    @property
    def n_incomplete(self) -> int:
        """Records that lack the value of one key or more."""

    @property
    def n_cells(self) -> int:
        """Occupied cells."""

    @property
    def keys(self) -> tuple[KeyLevels, ...]:
        """The keys and their levels."""

    @property
    def coding(self) -> Coding:
        """How levels make up the code of a cell."""

    @property
    def weights(self) -> WeightCheck | None:
        """What was seen of the weights, None for a file without."""

    def size_indices(self) -> SizeIndices:
        """How many cells hold exactly j records."""

    def margins(self, order: int) -> Mapping[tuple[int, ...], IntArray]:
        """Every margin of that many keys as a dense table, all from one pass over the cells."""

    def read_labels(self, records: Records) -> dict[str, list[str | None]]:
        """Every column of a small table as text, by the rule that names levels; None is missing."""

    def words(self) -> tuple[IntArray, IntArray]:
        """Codes (cells × words) and sample counts of all cells, in the order of the codes."""

    def batches(self) -> Iterator[CellBatch]:
        """All cells in the order of their codes, some at a time."""

    def write_record_scores(
        self, scores: Iterable[Mapping[str, FloatArray]], columns: Sequence[str], path: Path
    ) -> None:
        """One Parquet row a record, in the records' order: row, sample_count, weight_total, scores.

        `scores` yields the named columns for each batch of `batches()`, in the same order. A record
        that the missing policy drops gets empty values.
        """


class Engine(Protocol):
    """Counts records into cells."""

    def count(self, request: Request) -> AbstractContextManager[CellStore]:
        """The cells of the request; raises InputError for records that cannot be counted."""
