"""The records of one request in the tables of a DuckDB connection, beside their cells.

Table `staged` has a row a record, in the order of the records, with its raw code. The cells lie in
parts of their own (see `discreet.engines.local`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from discreet.data.records import Records
from discreet.engines import sql
from discreet.engines.contract import (
    ClassLimits,
    CodedRows,
    HouseholdTotals,
    IdleCode,
    PopulationCells,
    PopulationTotals,
    Request,
    State,
    ValuesOfCells,
    WeightCheck,
)
from discreet.engines.duckdb_errors import translated
from discreet.engines.duckdb_households import household_totals, make_households
from discreet.engines.duckdb_labels import read_labels
from discreet.engines.duckdb_population import count_population, population_cells
from discreet.engines.duckdb_session import Session
from discreet.engines.key_space import KeyLevels, View
from discreet.engines.local.cells import LocalCells
from discreet.engines.local.raw_codes import RawCodes
from discreet.engines.local.records import columns_of_records
from discreet.errors import OutputError, must_be
from discreet.numerics.arrays import BoolArray, IntArray
from discreet.numerics.rounding import ALIKE

BATCH_RECORDS = 1 << 21
BATCH_PAIRS = 1 << 20
ROWS_AT_ONCE = 1 << 18  # records with all their columns


def integers(column: Any) -> IntArray:
    """A column of a query as 64-bit integers."""
    return np.asarray(column, dtype=np.int64)


def side_by_side(found: Any, names: Sequence[str]) -> IntArray:
    """Some columns of a query as the words of codes."""
    words = [integers(found[name]) for name in names]
    return words[0][:, None] if len(words) == 1 else np.stack(words, axis=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class DuckDBCells:
    """The cells of one request and its records, as long as the connection is open."""

    session: Session
    request: Request
    workspace: Path
    cells: LocalCells
    raw: RawCodes
    n_records: int
    n_dropped: int
    n_incomplete: int
    weights: WeightCheck | None
    sensitive_labels: tuple[tuple[str, ...], ...]
    idle_codes: tuple[IdleCode, ...] = ()
    household_risks: list[str] = field(default_factory=list)

    @property
    def keys(self) -> tuple[KeyLevels, ...]:
        """The keys and their levels."""
        return self.cells.space.keys

    def read_labels(self, records: Records) -> dict[str, list[str | None]]:
        """Every column of a small table as text, by the rule that names levels; None is missing."""
        with translated(records.name):
            return read_labels(self.session.con, records, self.workspace)

    def rows_in(self, words: IntArray, most: int) -> list[tuple[int, ...]]:
        """The first rows, from 1 in the order of the file, of the records in each of the cells with
        these codes, `most` of a cell at most."""
        if not len(words):
            return []
        raw = self.raw.of_cells(words)
        names = self.raw.names
        wanted = {name: raw[:, i].copy() for i, name in enumerate(names)}
        self.session.con.register("wanted", wanted | {"cell": np.arange(len(words))})
        rows = self.session.rows(
            "SELECT cell, list_slice(list_sort(list(staged.rowid + 1)), 1, "
            f"{most}) FROM staged JOIN wanted ON {self._same_code('wanted')} GROUP BY cell"
        )
        self.session.con.unregister("wanted")
        found = {cell: tuple(at) for cell, at in rows}
        return [found[cell] for cell in range(len(words))]

    def carried(self, rows: Sequence[int]) -> list[tuple[str, ...]]:
        """What these rows, from 1, hold in the columns to carry, as text; empty where nothing."""
        columns = [f"x{i}" for i in range(len(self.request.carry))]
        if not len(rows) or not columns:
            return [()] * len(rows)
        shown = ", ".join(f"coalesce(CAST({column} AS VARCHAR), '')" for column in columns)
        wanted = ", ".join(str(int(row) - 1) for row in rows)
        found = self.session.rows(f"SELECT rowid, {shown} FROM staged WHERE rowid IN ({wanted})")
        held = {at + 1: tuple(values) for at, *values in found}
        return [held[row] for row in rows]

    def coded_rows(self, columns: Sequence[str]) -> Iterator[CodedRows]:
        """All records in their order, some at a time, with some of the columns to carry."""
        wanted = ", ".join([*self.raw.names, *self._carry(columns)])
        for first in range(0, self.n_records, ROWS_AT_ONCE):
            found = self.session.con.sql(
                f"SELECT {wanted} FROM staged "
                f"WHERE rowid >= {first} AND rowid < {first + ROWS_AT_ONCE}"
            ).to_arrow_table()
            words = [found.column(i).to_numpy() for i in range(len(self.raw.names))]
            codes = self.raw.to_cells(np.stack(words, axis=1).astype(np.int64, copy=False))
            yield CodedRows(codes, found.select(list(columns)))

    def rows_at(self, rows: IntArray, columns: Sequence[str]) -> Iterator[Any]:
        """Some of the columns to carry of these rows, from 0, in this order, some at a time."""
        con, wanted = self.session.con, ", ".join(self._carry(columns)) or "place"
        for first in range(0, len(rows), ROWS_AT_ONCE):
            some = rows[first : first + ROWS_AT_ONCE]
            con.register("wanted_rows", {"at": some, "place": np.arange(len(some))})
            yield con.sql(
                f"SELECT {wanted} FROM staged JOIN wanted_rows ON staged.rowid = wanted_rows.at "
                "ORDER BY place"
            ).to_arrow_table()
            con.unregister("wanted_rows")

    def _carry(self, columns: Sequence[str]) -> list[str]:
        places = [self.request.carry.index(name) for name in columns]
        return [f"x{at} AS {sql.quoted(name)}" for at, name in zip(places, columns, strict=True)]

    def sensitive_pairs(self, name: str) -> Iterator[Mapping[str, IntArray]]:
        """The occupied pairs of a cell and a value, some at a time."""
        return self._pairs(name)

    def sensitive_totals(self, name: str) -> tuple[tuple[str, ...], IntArray]:
        """The values of a sensitive variable, and how many records that are counted have each."""
        place = self.request.sensitive.index(name)
        labels = self.sensitive_labels[place]
        counts = np.zeros(len(labels), dtype=np.int64)
        for value, n in self.session.rows(
            f"SELECT s{place}, count(*) FROM staged WHERE r0 IS NOT NULL "
            f"AND s{place} < {len(labels)} GROUP BY s{place}"
        ):
            counts[value] = n
        return labels, counts

    def measure_values(
        self,
        name: str,
        step: ValuesOfCells[State],
        coarser: tuple[LocalCells, View] | None = None,
    ) -> State:
        """Look at a sensitive variable of the request in every cell, or in every coarser cell."""
        pairs, cells = self._pairs(name), self.cells
        if coarser is not None:
            cells, view = coarser
            pairs = ({**rows, "words": view.words(rows["words"])} for rows in pairs)
        return cells.measure_values(name, pairs, self._labels(name), step)

    def _labels(self, name: str) -> tuple[str, ...]:
        return self.sensitive_labels[self.request.sensitive.index(name)]

    def _pairs(self, name: str) -> Iterator[dict[str, Any]]:
        """The occupied pairs of a cell and a value, some at a time."""
        place = self.request.sensitive.index(name)
        words = ", ".join(self.raw.names)
        self.session.run(
            "counting the sensitive values",
            f"CREATE OR REPLACE TABLE pairs AS SELECT {words}, s{place} AS value, "
            f"count(*) AS records FROM staged WHERE r0 IS NOT NULL "
            f"AND s{place} < {len(self._labels(name))} GROUP BY {words}, value",
        )
        (n,) = self.session.row("SELECT count(*) FROM pairs")
        for first in range(0, max(n, 1), BATCH_PAIRS):
            found = self.session.con.execute(
                f"SELECT * FROM pairs WHERE rowid >= {first} AND rowid < {first + BATCH_PAIRS}"
            ).fetchnumpy()
            yield {
                "words": self.raw.to_cells(side_by_side(found, self.raw.names)),
                "value": integers(found["value"]),
                "records": integers(found["records"]),
            }
        self.session.rows("DROP TABLE pairs")

    def count_population(self, records: Records) -> PopulationTotals:
        """Count a population file with the same keys; puts `population_count` beside the cells."""
        with translated(records.name):
            return count_population(self.session, records, self.request, self.cells, self.workspace)

    def population_cells(self, records: Records, most: int) -> PopulationCells | None:
        """The combinations of the same keys in a population file; None for more than `most`."""
        with translated(records.name):
            return population_cells(self.session, records, self.request, self.workspace, most)

    def household_totals(self, risks: Sequence[str]) -> HouseholdTotals:
        """Households, and their risk from each column `risks` of their members' cells."""
        con, names = self.session.con, self.raw.names
        declared = ", ".join(
            [*(f"{name} BIGINT" for name in names), *(f"{sql.quoted(r)} DOUBLE" for r in risks)]
        )
        con.execute(f"CREATE OR REPLACE TABLE scored ({declared})")
        for batch in self.cells.batches(risks):
            raw = self.raw.of_cells(batch.words)
            columns = {name: raw[:, i].copy() for i, name in enumerate(names)}
            con.register(
                "batch_scores", columns | {r: batch.extra[r] for r in risks}
            )  # NaN is no value
            con.execute("INSERT INTO scored SELECT * FROM batch_scores")
            con.unregister("batch_scores")
        make_households(self.session, names, risks)
        self.household_risks[:] = risks
        return household_totals(self.session, risks)

    def write_records(
        self,
        path: Path,
        columns: Sequence[str],
        first: Sequence[str] = (),
        limits: ClassLimits | None = None,
    ) -> None:
        """One row a record, in the records' order, as CSV or Parquet by the ending of the name."""
        try:
            self._give_to_records(columns)
            statement = self._copy_statement(path, columns, first, limits)
            self.session.run("writing the risks", statement)
            self.session.rows("DROP TABLE scored_records")
        except duckdb.IOException as error:
            problem = must_be("risks", "writable", "a disk that is full or failing")
            raise OutputError(problem) from error

    def _same_code(self, table: str) -> str:
        return " AND ".join(f"staged.{word} = {table}.{word}" for word in self.raw.names)

    def _give_to_records(self, columns: Sequence[str]) -> None:
        """Table `scored_records`: what each record has from its cell, in the order of the records.

        A join gives the records in any order, and to sort them with all their columns takes longer
        than all else. So they look up their cells, some records at a time.
        """
        con = self.session.con
        weight = ["weight_total"] if self.weights else []
        of_cells = ["sample_count", *weight, *columns]
        n_all = self.n_records + self.n_dropped
        made = False
        found = columns_of_records(self.cells, self.raw, of_cells, self._raw_codes(), n_all)
        for batch in found:
            con.register("batch_scores", batch)  # NaN is read as no value
            if made:
                con.execute("INSERT INTO scored_records SELECT * FROM batch_scores")
            else:
                con.execute("CREATE OR REPLACE TABLE scored_records AS FROM batch_scores")
                made = True
            con.unregister("batch_scores")

    def _raw_codes(self) -> Iterator[tuple[IntArray, BoolArray]]:
        """The raw codes of the records in their order, some at a time, and which of them are none,
        as the record was left out."""
        words = [f"coalesce({name}, -1) AS {name}" for name in self.raw.names]
        n_all = self.n_records + self.n_dropped
        for first in range(0, n_all, BATCH_RECORDS):
            self.session.progress("looking up the cells of the records", first / n_all)
            found = self.session.con.execute(
                f"SELECT {', '.join(words)} FROM staged "
                f"WHERE rowid >= {first} AND rowid < {first + BATCH_RECORDS}"
            ).fetchnumpy()
            codes = side_by_side(found, self.raw.names)
            yield codes, codes[:, 0] < 0

    def _copy_statement(
        self, path: Path, columns: Sequence[str], first: Sequence[str], limits: ClassLimits | None
    ) -> str:
        shown = ["staged.rowid + 1 AS row", *(f"scored.{sql.quoted(c)}" for c in first)]
        if limits is not None:
            shown.append(f"{_class('scored.risk', limits)} AS class")
        carried = enumerate(self.request.carry)
        shown += [f"staged.x{i} AS {sql.quoted(name)}" for i, name in carried]
        shown.append("nullif(sample_count, 0) AS sample_count")
        shown += ["weight_total"] if self.weights else []
        # A record that is left out has no count of any kind: whole numbers cannot be missing there.
        shown += [
            f"CASE WHEN scored.sample_count > 0 THEN scored.{sql.quoted(name)} END "
            f"AS {sql.quoted(name)}"
            for name in columns
            if name not in first
        ]
        joined, order = "staged POSITIONAL JOIN scored_records AS scored", ""
        if self.request.household is not None:
            shown += [
                f"households.{sql.quoted(c)} AS {sql.quoted('household_' + c)}"
                for c in self.household_risks
            ]
            joined += " LEFT JOIN households ON staged.household = households.household"
            order = "ORDER BY staged.rowid"
        csv = path.suffix.lower() == ".csv"
        form = "FORMAT csv, HEADER true" if csv else "FORMAT parquet"
        return (
            f"COPY (SELECT {', '.join(shown)} FROM {joined} {order}) "
            f"TO {sql.text_literal(str(path))} ({form}, USE_TMP_FILE false)"
        )


def _class(risk: str, limits: ClassLimits) -> str:
    """The class of a risk as SQL; what is at a limit but for rounding is not above it."""
    some, high = (repr(limit * (1 + ALIKE)) for limit in (limits.some, limits.high))
    return (
        f"CASE WHEN {risk} > {high} THEN 'high' WHEN {risk} > {some} THEN 'some' "
        f"WHEN {risk} IS NOT NULL THEN 'low' END"
    )
