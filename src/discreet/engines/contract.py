"""What every engine does: count records into cells, and give risks back to records.

All work that grows with the number of records happens behind this contract. An engine reads
`Records`, codes the keys (see `discreet.data.coding`), and returns a `CellStore`; everything above
it sees cells, a few summaries, and batches.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.data.missing import MissingCodes, MissingPolicy
from discreet.data.records import Records
from discreet.data.summary import SizeIndices
from discreet.numerics.arrays import FloatArray, IntArray

MISSING_LABEL = "(missing)"
SUPPRESSED_LABEL = "(suppressed)"
NOT_APPLICABLE_LABEL = "(not applicable)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to count: which records by which keys, with which weight, under which policy.

    `missing_weight` is what a match counts that needs a missing value, under wildcard matching.
    `sensitive` and `household` are columns to keep beside the keys, `carry` those that go into the
    file of records as they are.
    """

    records: Records
    keys: tuple[str, ...]
    weight: str | None = None
    missing: MissingPolicy
    missing_weight: float = 1.0
    codes: MissingCodes = field(default_factory=MissingCodes)
    sensitive: tuple[str, ...] = ()
    household: str | None = None
    carry: tuple[str, ...] = ()
    decimal: str = "."


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyLevels:
    """One key as it was found: its levels in order, the missing level last if it is one.

    `values` are the levels as the file writes them (None for missing), `labels` as they are shown:
    the same, but for files with value labels. `n_missing`, `n_suppressed` and
    `n_not_applicable` count the records without a value, by the reason.
    """

    name: str
    values: tuple[str | None, ...]
    labels: tuple[str, ...]
    n_missing: int
    n_suppressed: int = 0
    n_not_applicable: int = 0

    @property
    def n_known(self) -> int:
        """Levels other than missing, at least 1."""
        return max(sum(value is not None for value in self.values), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleCode:
    """A code (missing, suppressed or not applicable) that no record has in `column`, or, where that
    is '*', in any."""

    kind: str
    column: str
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightCheck:
    """What was seen of the weights, all of them positive and finite."""

    total: float
    smallest: float
    largest: float
    n_below_one: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitiveValues:
    """How the values of a sensitive variable are spread over the cells.

    One row for each occupied pair of a cell and a value, by cell, then by value: `records` of
    `cell` have `value`, whose label is `labels[value]`. Records without a value are not among them.
    """

    name: str
    labels: tuple[str, ...]
    cell: IntArray
    value: IntArray
    records: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationCounts:
    """Records of a population file in each cell of the sample, and in all.

    `n_incomplete` records of the file lack a key; `n_left_out` of them, all or none as the missing
    policy says, are not in `total`.
    """

    counts: IntArray
    total: int
    n_incomplete: int = 0
    n_left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationCells:
    """The combinations of keys in a population file: `counts` records have `levels` (combinations ×
    keys), which are places among the `values` of each key, −1 for a value that is missing."""

    values: tuple[tuple[str, ...], ...]
    levels: IntArray
    counts: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassLimits:
    """From which risk on a record is of the class `some` or `high`: above it, not at it."""

    some: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HouseholdTotals:
    """Households of the file: how many share a pattern of members, and how many would be found.

    `pattern_sizes` counts patterns by the households that have them, `several` those of households
    with several members in the file alone; `expected_found` is the sum of the household risk for
    each column of scores.
    """

    n_households: int
    pattern_sizes: SizeIndices
    several: SizeIndices
    expected_found: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnOrder:
    """How alike neighbours are in one column, in standard errors from what random order makes:
    neighbours with equal values, and the serial correlation of the ranks of the values."""

    name: str
    n_records: int
    like_neighbours: float
    like_ranks: float

    @property
    def most(self) -> float:
        """The larger of both, whatever its sign."""
        return max(abs(self.like_neighbours), abs(self.like_ranks))


class CountedCells(Protocol):
    """Occupied cells and the summaries of them that models are fitted on."""

    @property
    def n_records(self) -> int:
        """Records that were counted."""

    @property
    def coding(self) -> Coding:
        """How levels make up the code of a cell."""

    def size_indices(self) -> SizeIndices:
        """How many cells hold exactly j records."""

    def margins(self, order: int) -> Mapping[tuple[int, ...], IntArray]:
        """Every margin of that many keys as a dense table, all from one pass over the cells."""

    def batches(self) -> Iterator[CellBatch]:
        """All cells in the order of their codes, some at a time."""


class CellStore(CountedCells, Protocol):
    """The cells of one request; close it (or leave its `with`) to free what it holds."""

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
    def idle_codes(self) -> tuple[IdleCode, ...]:
        """Codes that were given and never occur."""

    @property
    def weights(self) -> WeightCheck | None:
        """What was seen of the weights, None for a file without."""

    def read_labels(self, records: Records) -> dict[str, list[str | None]]:
        """Every column of a small table as text, by the rule that names levels; None is missing."""

    def words(self) -> tuple[IntArray, IntArray]:
        """Codes (cells × words) and records of all cells, in the order of the codes."""

    def own_weights(self) -> FloatArray | None:
        """Sum of the weights of the records that lie in each cell, None for a file without."""

    def rows_in(self, cells: Sequence[int], most: int) -> list[tuple[int, ...]]:
        """The first rows, from 1 in the order of the file, of the records in each of these cells,
        `most` of a cell at most."""

    def carried(self, rows: Sequence[int]) -> list[tuple[str, ...]]:
        """What these rows, from 1, hold in the columns to carry, as text; empty where nothing."""

    def sensitive_values(self, name: str) -> SensitiveValues:
        """How a sensitive variable of the request is spread over the cells."""

    def count_population(self, records: Records) -> PopulationCounts:
        """How many records of a population file, with the same keys, lie in each cell."""

    def population_cells(self, records: Records, most: int) -> PopulationCells | None:
        """The combinations of the same keys in a population file; None for more than `most`."""

    def attach_scores(
        self, scores: Iterable[Mapping[str, FloatArray]], columns: Sequence[str]
    ) -> None:
        """Keep the named columns of scores, which come batch by batch in the order of the cells."""

    def household_totals(self, risks: Sequence[str]) -> HouseholdTotals:
        """Households, and their risk from each attached column `risks` of their members."""

    def write_records(
        self, path: Path, first: Sequence[str] = (), limits: ClassLimits | None = None
    ) -> None:
        """One row a record, in the records' order, as CSV or Parquet by the ending of the name.

        Columns: row, the attached scores named `first` and with `limits` the class of the risk, the
        columns to carry, sample_count, weight_total, the other scores, and each risk that was
        asked for households. A record that the missing policy drops gets empty values.
        """


class Engine(Protocol):
    """Counts records into cells."""

    def count(self, request: Request) -> AbstractContextManager[CellStore]:
        """The cells of the request; raises InputError for records that cannot be counted."""

    def orders(self, records: Records, names: Sequence[str]) -> tuple[ColumnOrder, ...]:
        """How alike neighbours are in each of the columns."""
