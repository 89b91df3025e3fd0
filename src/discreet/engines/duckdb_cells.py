"""Counted cells in the tables of one DuckDB connection."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.data.arrays import FloatArray, IntArray, read_only
from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.data.summary import SizeIndices
from discreet.engines import sql
from discreet.engines.contract import KeyLevels, WeightCheck
from discreet.engines.duckdb_session import Session
from discreet.errors import InputError, must_be

BATCH_CELLS = 1 << 20
MARGIN_LIMIT = 1 << 26  # cells of one dense margin


def _integers(column: Any) -> IntArray:
    return np.asarray(column, dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class DuckDBCells:
    """The cells of one request, in tables of one connection."""

    session: Session
    n_records: int
    n_dropped: int
    n_incomplete: int
    n_cells: int
    keys: tuple[KeyLevels, ...]
    coding: Coding
    weights: WeightCheck | None

    def size_indices(self) -> SizeIndices:
        """How many cells hold exactly j records."""
        rows = self.session.con.execute(
            "SELECT sample_count, count(*) AS n FROM cells GROUP BY sample_count ORDER BY 1"
        ).fetchnumpy()
        return SizeIndices(_integers(rows["sample_count"]), _integers(rows["n"]))

    def margins(self, order: int) -> Mapping[tuple[int, ...], IntArray]:
        """Every margin of that many keys as a dense table, all from one pass over the cells."""
        sets = list(combinations(range(len(self.keys)), order))
        sizes = self.coding.sizes
        for axes in sets:
            self._check_margin(axes)
        margins = {axes: np.zeros([sizes[axis] for axis in axes], dtype=np.int64) for axes in sets}
        for axes, index, counts in self._margin_rows(sets):
            margins[axes][index] = counts
        return {axes: read_only(margin) for axes, margin in margins.items()}

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

    def _margin_rows(
        self, sets: Sequence[tuple[int, ...]]
    ) -> Iterator[tuple[tuple[int, ...], tuple[IntArray, ...], IntArray]]:
        n = len(self.keys)
        columns = [f"l{j}" for j in range(n)]
        levels = ", ".join(
            f"{level} AS {column}"
            for level, column in zip(sql.level_expressions(self.coding), columns, strict=True)
        )
        grouping = sql.grouping_sets([[columns[axis] for axis in axes] for axes in sets])
        masks = {sum(1 << axis for axis in axes): axes for axes in sets}
        identity = " + ".join(f"(1 - grouping({c})) * {1 << j}" for j, c in enumerate(columns))
        found = self.session.con.execute(
            f"SELECT {identity} AS margin, {', '.join(columns)}, "
            f"CAST(sum(sample_count) AS BIGINT) AS n "
            f"FROM (SELECT {levels}, sample_count FROM cells) GROUP BY {grouping}"
        ).fetchnumpy()
        for mask, axes in masks.items():
            here = np.flatnonzero(_integers(found["margin"]) == mask)
            index = tuple(np.asarray(found[columns[a]][here]) for a in axes)
            yield axes, index, _integers(found["n"][here])

    def words(self) -> tuple[IntArray, IntArray]:
        """Codes (cells × words) and sample counts of all cells, in the order of the codes."""
        columns = sql.word_columns(self.coding)
        found = self.session.con.execute(
            f"SELECT {', '.join(columns)}, sample_count FROM cells ORDER BY rowid"
        ).fetchnumpy()
        words = np.stack([_integers(found[c]) for c in columns], axis=1)
        return words, _integers(found["sample_count"])

    def batches(self) -> Iterator[CellBatch]:
        """All cells in the order of their codes, BATCH_CELLS at a time."""
        columns = sql.word_columns(self.coding)
        total = ", CAST(weight_total AS DOUBLE) AS weight_total" if self.weights else ""
        for first in range(0, self.n_cells, BATCH_CELLS):
            found = self.session.con.execute(
                f"SELECT {', '.join(columns)}, sample_count{total} FROM cells "
                f"WHERE rowid >= {first} AND rowid < {first + BATCH_CELLS} ORDER BY rowid"
            ).fetchnumpy()
            words = np.stack([_integers(found[c]) for c in columns], axis=1)
            yield CellBatch(
                coding=self.coding,
                words=words,
                sample_count=_integers(found["sample_count"]),
                weight_total=np.asarray(found["weight_total"]) if self.weights else None,
            )

    def write_record_scores(
        self, scores: Iterable[Mapping[str, FloatArray]], columns: Sequence[str], path: Path
    ) -> None:
        """One Parquet row a record, in the records' order."""
        declared = ", ".join(["cell BIGINT", *(f"{sql.quoted(c)} DOUBLE" for c in columns)])
        con = self.session.con
        con.execute(f"CREATE OR REPLACE TABLE scores ({declared})")
        first = 0
        for batch in scores:
            n = len(batch[columns[0]])
            table = pa.table(
                {"cell": np.arange(first, first + n), **{c: batch[c] for c in columns}}
            )
            con.register("batch_scores", table)
            con.execute("INSERT INTO scores SELECT * FROM batch_scores")
            con.unregister("batch_scores")
            first += n
        self.session.run("writing the risks", self._copy_statement(columns, path))

    def _copy_statement(self, columns: Sequence[str], path: Path) -> str:
        words = sql.word_columns(self.coding)
        on = " AND ".join(f"staged.{word} = scored.{word}" for word in words)
        total = "weight_total, " if self.weights else ""
        shown = "CAST(weight_total AS DOUBLE) AS weight_total, " if total else ""
        scored = (
            f"SELECT {', '.join(words)}, sample_count, {total}scores.* EXCLUDE (cell) "
            "FROM cells POSITIONAL JOIN scores"
        )
        return (
            f"COPY (SELECT staged.rowid + 1 AS row, sample_count, {shown}"
            f"{', '.join(sql.quoted(column) for column in columns)} "
            f"FROM staged LEFT JOIN ({scored}) AS scored ON {on} ORDER BY staged.rowid) "
            f"TO {sql.text_literal(str(path))} (FORMAT parquet, COMPRESSION zstd)"
        )
