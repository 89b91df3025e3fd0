"""What every engine does: count records into cells, and give risks back to records.

All work that grows with the number of records happens behind this contract. An engine reads
`Records`, codes the keys (see `discreet.data.coding`), and returns a `CellStore`; everything above
it sees cells, a few summaries, and batches.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from discreet.data.cells import CellBatch
from discreet.data.missing import MissingCodes, MissingPolicy
from discreet.data.records import Records
from discreet.data.summary import SizeIndices
from discreet.engines.key_space import KeyLevels, KeySpace, View
from discreet.figures import Unavailable
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

    @property
    def positions(self) -> tuple[int, ...]:
        """Where the columns are: keys, sensitive variables, weight and household where there is
        one, columns to carry; ColumnError names one that is not there."""
        weight = () if self.weight is None else (self.weight,)
        household = () if self.household is None else (self.household,)
        roles = {
            "keys": self.keys,
            "sensitive": self.sensitive,
            "weight": weight,
            "household": household,
            "carry": self.carry,
        }
        found = (self.records.find(role, names) for role, names in roles.items())
        return tuple(at for positions in found for at in positions)


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
class PopulationTotals:
    """Records of a population file in all.

    `n_incomplete` records of the file lack a key; `n_left_out` of them, all or none as the missing
    policy says, are not in `total`.
    """

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
    neighbours with equal values, and the serial correlation of the ranks of the values; and whether
    all records with one value stand together, as where the file was put in order by it."""

    name: str
    n_records: int
    like_neighbours: float
    like_ranks: float
    in_order: bool = False

    @property
    def most(self) -> float:
        """The larger of both, whatever its sign."""
        return max(abs(self.like_neighbours), abs(self.like_ranks))


State = TypeVar("State")


class Fold(Protocol[State]):
    """A summary of all cells, made of some at a time and put together exactly, in any order.

    Picklable and pure: it runs where the cells lie. What it keeps does not grow with the cells.
    """

    @property
    def reads(self) -> Sequence[str]:
        """Columns beside the cells that it looks at."""

    def of(self, batch: CellBatch) -> State:
        """The summary of some cells."""

    def joined(self, one: State, other: State) -> State:
        """The summary of the cells of both."""


class Scoring(Protocol[State]):
    """Columns to be put beside the cells, from what is there of each, and a summary of them.

    Picklable and pure, as a `Fold` is.
    """

    @property
    def reads(self) -> Sequence[str]:
        """Columns beside the cells that it looks at."""

    @property
    def gives(self) -> Sequence[str]:
        """Names of the columns it makes, all of them floats."""

    def of(self, batch: CellBatch) -> tuple[Mapping[str, FloatArray], State]:
        """The columns and the summary of some cells."""

    def joined(self, one: State, other: State) -> State:
        """The summary of the cells of both."""


@dataclass(frozen=True, slots=True)
class Small:
    """Records in cells of fewer than k records, and those that are alone in theirs."""

    below: int
    uniques: int

    def joined(self, other: "Small") -> "Small":
        """Of the cells of both."""
        return Small(self.below + other.below, self.uniques + other.uniques)


class Cells(Protocol):
    """Occupied cells, wherever they lie. They have no order, and none of these hands over more than
    a bounded number of them. With weights the column `squares` lies beside them: the sum of the
    squares of the weights of each."""

    @property
    def space(self) -> KeySpace:
        """The keys and how their levels make up a code."""

    @property
    def n_cells(self) -> int:
        """Occupied cells."""

    @property
    def n_records(self) -> int:
        """Records that were counted."""

    @property
    def weighted(self) -> bool:
        """Whether the records have weights."""

    def size_indices(self) -> SizeIndices:
        """How many cells hold exactly j records."""

    def margins(self, sets: Sequence[tuple[int, ...]]) -> Mapping[tuple[int, ...], IntArray]:
        """The records by the levels of each set of keys, as dense tables from one pass; raises
        InputError where they would be too large."""

    def fold(self, step: Fold[State]) -> State:
        """A summary of all cells."""

    def add(self, step: Scoring[State]) -> State:
        """Put columns beside the cells."""

    def add_together(self, step: Scoring[State], keys: Sequence[int]) -> State:
        """The same, where the step sees all cells that agree on these keys, of which there is one
        at least, in one batch."""

    def without_each_key(self) -> tuple[SizeIndices, ...]:
        """The sizes of the cells without each key in turn. Puts the column `neighbours` beside the
        cells: how many records differ from a cell in exactly one key."""

    def small(self, views: Sequence[View], k: int) -> list[Small]:
        """Records in small cells, under each view of the keys."""

    def seen_through(self, view: View) -> "Cells":
        """The coarser cells of a view."""

    def take(self, coarser: Any, view: View, columns: Mapping[str, str]) -> None:
        """Put columns of the coarser cells of a view beside the cells, under these new names."""

    def put_counts(self, name: str, rows: Iterable[Mapping[str, IntArray]]) -> None:
        """A column of whole numbers that come as `words` and `n`, some at a time; 0 for a cell that
        none comes for, and what comes for no cell is left out."""

    def held(self, most: int, reads: Sequence[str] = ()) -> CellBatch | None:
        """All cells at once in the order of their codes, None if there are more than `most`, with
        the columns beside them that are asked for."""

    def sampled(self, most: int, reads: Sequence[str] = ()) -> CellBatch:
        """Cells chosen by a hash of their codes, in the order of these, `most` of them or a few
        more; all where there are no more. `reads` are columns beside them that are asked for."""


@dataclass(frozen=True, slots=True)
class CodedRows:
    """Some records in the order of the file: the codes of their cells (rows × words), and their
    values in the columns to carry, as an Arrow table with these names."""

    words: IntArray
    carried: Any


class ValuesOfCells(Protocol[State]):
    """What a sensitive variable is in each cell: columns to put beside the cells, and a summary.

    Picklable and pure, as a `Fold` is.
    """

    @property
    def gives(self) -> Sequence[str]:
        """Names of the columns it makes."""

    def of(
        self, batch: CellBatch, values: SensitiveValues
    ) -> tuple[Mapping[str, FloatArray], State]:
        """The columns and the summary of some cells, whose values are all among `values`; there
        `cell` is the place of a cell in the batch."""

    def joined(self, one: State, other: State) -> State:
        """The summary of the cells of both."""


class CellStore(Protocol):
    """The cells of one request, and what is asked of their records; close it (or leave its `with`)
    to free what it holds."""

    @property
    def cells(self) -> Cells:
        """The occupied cells."""

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

    def rows_in(self, words: IntArray, most: int) -> list[tuple[int, ...]]:
        """The first rows, from 1 in the order of the file, of the records in each of the cells with
        these codes, `most` of a cell at most."""

    def carried(self, rows: Sequence[int]) -> list[tuple[str, ...]]:
        """What these rows, from 1, hold in the columns to carry, as text; empty where nothing."""

    def sensitive_totals(self, name: str) -> tuple[tuple[str, ...], IntArray]:
        """The values of a sensitive variable, and how many records that are counted have each."""

    def measure_values(
        self,
        name: str,
        step: ValuesOfCells[State],
        coarser: tuple[Any, View] | None = None,
    ) -> State:
        """Look at a sensitive variable of the request in every cell, or in every one of the coarser
        cells of a view."""

    def count_population(self, records: Records) -> PopulationTotals:
        """Count a population file with the same keys; puts the column `population_count`, how many
        of its records lie in each cell, beside the cells."""

    def population_cells(self, records: Records, most: int) -> PopulationCells | None:
        """The combinations of the same keys in a population file; None for more than `most`."""

    def household_totals(self, risks: Sequence[str]) -> HouseholdTotals:
        """Households, and their risk from each column `risks` of their members' cells."""

    def write_records(
        self,
        path: Path,
        columns: Sequence[str],
        first: Sequence[str] = (),
        limits: ClassLimits | None = None,
    ) -> None:
        """One row a record, in the records' order, as CSV or Parquet by the ending of the name.

        Columns: row, those named `first` and with `limits` the class of the risk, the columns to
        carry, sample_count, weight_total, the other `columns` of the cells, and each risk that was
        asked for households. A record that the missing policy drops gets empty values.
        """


class RowStore(CellStore, Protocol):
    """Cells whose records can be had one by one, so that the file can be written anew."""

    def coded_rows(self, columns: Sequence[str]) -> Iterator[CodedRows]:
        """All records in their order, some at a time, with some of the columns to carry. Trusted:
        the missing policy left none out."""

    def rows_at(self, rows: IntArray, columns: Sequence[str]) -> Iterator[Any]:
        """Some of the columns to carry of these rows, from 0, in this order, as Arrow tables some
        at a time."""

    def sensitive_pairs(self, name: str) -> Iterator[Mapping[str, IntArray]]:
        """The occupied pairs of a cell and a value, some at a time: `words`, `value`, `records`."""


class RowEngine(Protocol):
    """Counts records into cells, and gives the records back."""

    def count(self, request: Request) -> AbstractContextManager[RowStore]:
        """The cells of the request; raises InputError for records that cannot be counted."""


class Engine(Protocol):
    """Counts records into cells."""

    def count(self, request: Request) -> AbstractContextManager[CellStore]:
        """The cells of the request; raises InputError for records that cannot be counted."""

    def orders(
        self, records: Records, names: Sequence[str]
    ) -> tuple[ColumnOrder, ...] | Unavailable:
        """How alike neighbours are in each of the columns, or why that is not told."""
