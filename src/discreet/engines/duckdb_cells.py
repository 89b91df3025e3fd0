"""Counted cells in the tables of one DuckDB connection."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from discreet.data.cell_table import margins_of_cells
from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.data.records import Records
from discreet.data.summary import SizeIndices
from discreet.engines import sql
from discreet.engines.contract import (
    ClassLimits,
    HouseholdTotals,
    IdleCode,
    KeyLevels,
    PopulationCells,
    PopulationCounts,
    Request,
    SensitiveValues,
    WeightCheck,
)
from discreet.engines.duckdb_errors import translated
from discreet.engines.duckdb_households import household_totals, make_households
from discreet.engines.duckdb_population import count_population, population_cells
from discreet.engines.duckdb_scan import from_clause
from discreet.engines.duckdb_session import Session
from discreet.errors import InputError, OutputError, must_be
from discreet.numerics.arrays import FloatArray, IntArray, read_only
from discreet.numerics.rounding import ALIKE

BATCH_CELLS = 1 << 20
BATCH_RECORDS = 1 << 19  # so few that they are put in order within the cache of the processor
BEYOND = (1 << 63) - 1  # a code that no cell has
MARGIN_LIMIT = 1 << 26  # cells of one dense margin


def _integers(column: Any) -> IntArray:
    return np.asarray(column, dtype=np.int64)


def _side_by_side(found: Mapping[str, Any], columns: Sequence[str]) -> IntArray:
    words = [_integers(found[column]) for column in columns]
    return words[0][:, None] if len(words) == 1 else np.stack(words, axis=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class DuckDBCells:
    """The cells of one request, in tables of one connection.

    Table `cells` was made in the order of the codes, and a query without joins or sorts gives its
    rows in that order (`preserve_insertion_order`, which DuckDB keeps to unless told otherwise).
    """

    session: Session
    request: Request
    workspace: Path
    n_records: int
    n_dropped: int
    n_incomplete: int
    n_cells: int
    keys: tuple[KeyLevels, ...]
    coding: Coding
    raw_words: int
    one_way: tuple[tuple[int, ...], ...]
    weights: WeightCheck | None
    sensitive_labels: tuple[tuple[str, ...], ...]
    idle_codes: tuple[IdleCode, ...] = ()
    scores: dict[str, FloatArray] = field(default_factory=dict)

    def size_indices(self) -> SizeIndices:
        """How many cells hold exactly j records."""
        rows = self.session.con.execute(
            "SELECT sample_count, count(*) AS n, CAST(sum(records) AS BIGINT) AS records "
            "FROM cells GROUP BY sample_count ORDER BY 1"
        ).fetchnumpy()
        sizes = np.asarray(rows["sample_count"])
        disjoint = self.request.missing.matching is None or self.n_incomplete == 0
        return SizeIndices(sizes, _integers(rows["n"]), _integers(rows["records"]), disjoint)

    def margins(self, order: int) -> Mapping[tuple[int, ...], IntArray]:
        """Every margin of that many keys as a dense table, all from one pass over the cells."""
        if order == 1:
            return {(j,): read_only(_integers(counts)) for j, counts in enumerate(self.one_way)}
        sets = list(combinations(range(len(self.keys)), order))
        for axes in sets:
            self._check_margin(axes)
        return margins_of_cells(self.batches(), self.coding, sets)

    def _check_margin(self, axes: tuple[int, ...]) -> None:
        size = math.prod(self.coding.sizes[axis] for axis in axes)
        if size > MARGIN_LIMIT:
            names = " × ".join(repr(self.keys[axis].name) for axis in axes)
            remedy = "group the levels of these keys"
            raise InputError(
                must_be(
                    f"margin {names}", f"of at most {MARGIN_LIMIT:,} cells", size, remedy=remedy
                )
            )

    def read_labels(self, records: Records) -> dict[str, list[str | None]]:
        """Every column of a small table as text, by the rule that names levels; None is missing."""
        with translated(records.name):
            return self._read_labels(records)

    def _read_labels(self, records: Records) -> dict[str, list[str | None]]:
        positions = records.find("columns", records.column_names)
        source = from_clause(self.session.con, records.scan(positions), self.workspace)
        types = [sql.base_type(row[1]) for row in self.session.rows(f"DESCRIBE FROM {source}")]
        labels = []
        for i, sql_type in enumerate(types):
            key_type = sql.KeyType(sql_type)
            labels.append(key_type.label(f"({key_type.value(f'c{i}')})"))
        rows = self.session.rows(f"SELECT {', '.join(labels)} FROM {source}")
        columns = zip(*rows, strict=True) if rows else ([] for _ in labels)
        return {n: list(column) for n, column in zip(records.column_names, columns, strict=True)}

    def words(self) -> tuple[IntArray, IntArray]:
        """Codes (cells × words) and records of all cells, in the order of the codes."""
        columns = sql.word_columns(self.coding)
        found = self.session.con.execute(
            f"SELECT {', '.join(columns)}, records FROM cells"
        ).fetchnumpy()
        return _side_by_side(found, columns), _integers(found["records"])

    def batches(self) -> Iterator[CellBatch]:
        """All cells in the order of their codes, BATCH_CELLS at a time."""
        columns = sql.word_columns(self.coding)
        total = ", CAST(weight_total AS DOUBLE) AS weight_total" if self.weights else ""
        for first in range(0, self.n_cells, BATCH_CELLS):
            found = self.session.con.execute(
                f"SELECT {', '.join(columns)}, records, sample_count{total} FROM cells "
                f"WHERE rowid >= {first} AND rowid < {first + BATCH_CELLS}"
            ).fetchnumpy()
            words = _side_by_side(found, columns)
            yield CellBatch(
                coding=self.coding,
                words=words,
                records=_integers(found["records"]),
                sample_count=np.asarray(found["sample_count"]),
                weight_total=np.asarray(found["weight_total"]) if self.weights else None,
            )

    def own_weights(self) -> FloatArray | None:
        """Sum of the weights of the records that lie in each cell, None for a file without."""
        if self.weights is None:
            return None
        column = "own_weight" if "own_weight" in self._columns("cells") else "weight_total"
        found = self.session.con.execute(
            f"SELECT CAST({column} AS DOUBLE) AS weight FROM cells"
        ).fetchnumpy()
        return np.asarray(found["weight"], dtype=np.float64)

    def rows_in(self, cells: Sequence[int], most: int) -> list[tuple[int, ...]]:
        """The first rows, from 1 in the order of the file, of the records in each of these cells,
        `most` of a cell at most."""
        if not len(cells):
            return []
        self.session.con.register("wanted", {"cell": np.array(cells, dtype=np.int64)})
        raw = ", ".join(f"cells.{word}" for word in self._raw())
        rows = self.session.rows(
            f"WITH chosen AS (SELECT cell, {raw} FROM wanted JOIN cells ON cells.rowid = cell) "
            f"SELECT cell, list_slice(list_sort(list(staged.rowid + 1)), 1, {most}) "
            f"FROM staged JOIN chosen ON {self._same_cell('chosen')} GROUP BY cell"
        )
        self.session.con.unregister("wanted")
        found = {cell: tuple(at) for cell, at in rows}
        return [found[cell] for cell in cells]

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

    def sensitive_values(self, name: str) -> SensitiveValues:
        """How a sensitive variable of the request is spread over the cells."""
        place = self.request.sensitive.index(name)
        labels = self.sensitive_labels[place]
        found = self.session.con.execute(
            f"SELECT cells.rowid AS cell, s{place} AS value, count(*) AS n "
            f"FROM staged JOIN cells ON {self._same_cell('cells')} WHERE s{place} < {len(labels)} "
            "GROUP BY cell, value ORDER BY cell, value"
        ).fetchnumpy()
        return SensitiveValues(
            name=name,
            labels=labels,
            cell=_integers(found["cell"]),
            value=_integers(found["value"]),
            records=_integers(found["n"]),
        )

    def count_population(self, records: Records) -> PopulationCounts:
        """How many records of a population file, with the same keys, lie in each cell."""
        with translated(records.name):
            return count_population(
                self.session, records, self.request, self.keys, self.coding, self.workspace
            )

    def population_cells(self, records: Records, most: int) -> PopulationCells | None:
        """The combinations of the same keys in a population file; None for more than `most`."""
        with translated(records.name):
            return population_cells(self.session, records, self.request, self.workspace, most)

    def attach_scores(
        self, scores: Iterable[Mapping[str, FloatArray]], columns: Sequence[str]
    ) -> None:
        """Keep the named columns of scores, which come batch by batch in the order of the cells."""
        held: dict[str, FloatArray] = {column: np.empty(self.n_cells) for column in columns}
        first = 0
        for values in scores:
            n = len(values[columns[0]]) if columns else min(BATCH_CELLS, self.n_cells - first)
            if first + n <= self.n_cells:
                for column in columns:
                    held[column][first : first + n] = values[column]
            first += n
        if first != self.n_cells:
            raise ValueError(f"scores must be of {self.n_cells} cells, got {first}")
        self.scores.clear()
        self.scores.update(held)

    def household_totals(self, risks: Sequence[str]) -> HouseholdTotals:
        """Households, and their risk from each attached column `risks` of their members."""
        con = self.session.con
        cell = {"cell": np.arange(self.n_cells)}
        con.register("scores", cell | {risk: self.scores[risk] for risk in risks})
        con.execute(
            f"CREATE OR REPLACE TABLE scored AS SELECT {', '.join(self._raw())}, scores.* "
            "FROM cells POSITIONAL JOIN scores"  # NaN is read as no value
        )
        con.unregister("scores")
        make_households(self.session, self._raw(), risks)
        return household_totals(self.session, risks)

    def write_records(
        self, path: Path, first: Sequence[str] = (), limits: ClassLimits | None = None
    ) -> None:
        """One row a record, in the records' order, as CSV or Parquet by the ending of the name."""
        try:
            self._give_to_records()
            statement = self._copy_statement(path, first, limits)
            self.session.run("writing the risks", statement)
        except duckdb.IOException as error:
            problem = must_be("risks", "writable", "a disk that is full or failing")
            raise OutputError(problem) from error

    def _raw(self) -> list[str]:
        return [f"r{i}" for i in range(self.raw_words)]

    def _same_cell(self, table: str) -> str:
        return " AND ".join(f"staged.{word} = {table}.{word}" for word in self._raw())

    def _columns(self, table: str) -> list[str]:
        return [row[0] for row in self.session.rows(f"DESCRIBE {table}")]

    def _give_to_records(self) -> None:
        """Table `scored_records`: what each record has from its cell, in the order of the records.

        A join gives the records in any order, and to sort them with all their columns takes longer
        than all else. So they look up their cells, some records at a time; one that was left out
        looks behind the last cell, where there is nothing.
        """
        con = self.session.con
        of_cells = self._written_columns()
        kinds = ("DOUBLE" if v.dtype == np.float64 else "BIGINT" for v in of_cells.values())
        declared = zip(of_cells, kinds, strict=True)
        columns = ", ".join(f"{sql.quoted(name)} {kind}" for name, kind in declared)
        con.execute(f"CREATE OR REPLACE TABLE scored_records ({columns})")
        codes = self._raw_codes("cells", self.n_cells) if self.raw_words == 1 else None
        for first in range(0, self.n_records + self.n_dropped, BATCH_RECORDS):
            order, cells = self._by_cells(first, first + BATCH_RECORDS, codes)
            batch = {name: np.empty(len(cells), v.dtype) for name, v in of_cells.items()}
            for name, values in of_cells.items():
                batch[name][order] = values[cells]
            con.register("batch_scores", batch)  # NaN is read as no value
            con.execute("INSERT INTO scored_records SELECT * FROM batch_scores")
            con.unregister("batch_scores")

    def _written_columns(self) -> dict[str, Any]:
        """What is written of each cell, and of no cell behind the last: no value, or no records."""
        total = ", CAST(weight_total AS DOUBLE) AS weight_total" if self.weights else ""
        found = self.session.con.execute(f"SELECT sample_count{total} FROM cells").fetchnumpy()
        columns = {"sample_count": np.append(found["sample_count"], 0)}
        if self.weights:
            columns["weight_total"] = np.append(found["weight_total"], np.nan)
        return columns | {name: np.append(v, np.nan) for name, v in self.scores.items()}

    def _by_cells(self, first: int, end: int, codes: IntArray | None) -> tuple[IntArray, IntArray]:
        """The records from row `first` in the order of their cells, and the cell of each: the
        number of cells for one that was left out.

        Where a code is one word, the ordered `codes` of all cells are searched for it. In order
        each search begins where the one before ended, and the cache of the processor has it.
        """
        if codes is not None:
            wanted = self._raw_codes("staged", end, first)
            order = np.argsort(wanted)
            return order, np.searchsorted(codes, wanted[order])
        found = self.session.con.execute(
            f"SELECT coalesce(cells.rowid, {self.n_cells}) AS cell FROM (SELECT rowid AS row, * "
            f"FROM staged WHERE rowid >= {first} AND rowid < {end}) AS staged "
            f"LEFT JOIN cells ON {self._same_cell('cells')} ORDER BY row"
        ).fetchnumpy()
        cell = _integers(found["cell"])
        order = np.argsort(cell)
        return order, cell[order]

    def _raw_codes(self, table: str, end: int, first: int = 0) -> IntArray:
        """The raw codes of one word in these rows; beyond all others for a record left out."""
        found = self.session.con.execute(
            f"SELECT coalesce(r0, {BEYOND}) AS code FROM {table} "
            f"WHERE rowid >= {first} AND rowid < {end}"
        ).fetchnumpy()
        return _integers(found["code"])

    def _copy_statement(self, path: Path, first: Sequence[str], limits: ClassLimits | None) -> str:
        shown = ["staged.rowid + 1 AS row", *(f"scored.{sql.quoted(c)}" for c in first)]
        if limits is not None:
            shown.append(f"{_class('scored.risk', limits)} AS class")
        carried = enumerate(self.request.carry)
        shown += [f"staged.x{i} AS {sql.quoted(name)}" for i, name in carried]
        shown.append("nullif(sample_count, 0) AS sample_count")
        shown += ["weight_total"] if self.weights else []
        shown += [f"scored.{sql.quoted(name)}" for name in self.scores if name not in first]
        joined, order = "staged POSITIONAL JOIN scored_records AS scored", ""
        if self.request.household is not None:
            risks = self._columns("households")[3:]
            shown += [
                f"households.{sql.quoted(c)} AS {sql.quoted('household_' + c)}" for c in risks
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
