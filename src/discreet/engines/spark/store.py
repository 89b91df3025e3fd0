"""The records of one request on Spark, beside their cells.

Few cells are brought to the driver, where all that is asked of them is computed as on one machine.
Many stay where they lie, and no list of them ever reaches the driver.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.data.records import Records
from discreet.engines.contract import (
    ClassLimits,
    HouseholdTotals,
    IdleCode,
    PopulationCells,
    PopulationTotals,
    Request,
    State,
    ValuesOfCells,
    WeightCheck,
)
from discreet.engines.duckdb_errors import translated as duckdb_translated
from discreet.engines.duckdb_labels import read_labels
from discreet.engines.key_space import KeyLevels, View
from discreet.engines.local.cells import LocalCells
from discreet.engines.spark.cells import SparkCells, coded_frame
from discreet.engines.spark.errors import translated
from discreet.engines.spark.households import gathered, household_totals
from discreet.engines.spark.lookups import carried, rows_in
from discreet.engines.spark.naming import connected
from discreet.engines.spark.population import count_population, population_cells
from discreet.engines.spark.sensitive import sensitive_pairs
from discreet.engines.spark.work import Work
from discreet.engines.spark.writing import Written, known, risk_class, write
from discreet.engines.sql import word_columns
from discreet.numerics.arrays import IntArray

AnyCells = LocalCells | SparkCells


@dataclass(kw_only=True)
class SparkStore:
    """The cells of one request and its records.

    `staged` has for each record its row, its code (NULL for one that is left out), weight,
    household, sensitive variables (s0, …) and columns to carry (x0, …).
    """

    work: Work
    request: Request
    n_records: int
    n_dropped: int
    n_incomplete: int
    weights: WeightCheck | None
    sensitive_labels: tuple[tuple[str, ...], ...]
    carried_types: tuple[str, ...]
    idle_codes: tuple[IdleCode, ...]
    staged: Any
    cells: AnyCells
    households: Any = None
    household_risks: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[KeyLevels, ...]:
        """The keys and their levels."""
        return self.cells.space.keys

    @property
    def _words(self) -> list[str]:
        return word_columns(self.cells.coding)

    def read_labels(self, records: Records) -> dict[str, list[str | None]]:
        """Every column of a small table as text, by the rule that names levels; None is missing."""
        with connected() as con, duckdb_translated(records.name):
            return read_labels(con, records, self.work.folder)

    def rows_in(self, words: IntArray, most: int) -> list[tuple[int, ...]]:
        """The first rows, from 1 in the order of the file, of the records in each of the cells with
        these codes, `most` of a cell at most."""
        return rows_in(self.work, self.staged, words, most)

    def carried(self, rows: Sequence[int]) -> list[tuple[str, ...]]:
        """What these rows, from 1, hold in the columns to carry, as text; empty where nothing."""
        return carried(self.work, self.staged, rows, self.carried_types)

    def sensitive_totals(self, name: str) -> tuple[tuple[str, ...], IntArray]:
        """The values of a sensitive variable, and how many records that are counted have each."""
        place = self.request.sensitive.index(name)
        labels = self.sensitive_labels[place]
        known_values = self.staged.where(f"w0 IS NOT NULL AND s{place} < {len(labels)}")
        rows = self.work.run(
            "counting the values", known_values.groupBy(f"s{place}").count().collect
        )
        counts = np.zeros(len(labels), dtype=np.int64)
        for value, n in rows:
            counts[value] = n
        return labels, counts

    def measure_values(
        self,
        name: str,
        step: ValuesOfCells[State],
        coarser: tuple[AnyCells, View] | None = None,
    ) -> State:
        """Look at a sensitive variable of the request in every cell, or in every coarser cell."""
        place = self.request.sensitive.index(name)
        labels = self.sensitive_labels[place]
        pairs = sensitive_pairs(self.staged, self._words, place, len(labels))
        cells: AnyCells = self.cells
        if coarser is not None:
            cells, view = coarser
            pairs = coded_frame(pairs, view)
        if isinstance(cells, SparkCells):
            return cells.measure_values(name, pairs, labels, step)
        return cells.measure_values(name, self._fetched(pairs, cells), labels, step)

    def _fetched(self, pairs: Any, cells: LocalCells) -> Iterator[dict[str, Any]]:
        """Rows about cells that are few, brought to the driver."""
        found = self.work.run("fetching the values", pairs.toArrow)
        words = [found[name].to_numpy() for name in word_columns(cells.coding)]
        columns = {name: found[name].to_numpy() for name in ("value", "records")}
        yield {"words": np.stack(words, axis=1), **columns}

    def count_population(self, records: Records) -> PopulationTotals:
        """Count a population file with the same keys; puts `population_count` beside the cells."""
        with translated(records.name, self.work.folder):
            counted, totals = count_population(self.work, records, self.request, self.cells.space)
            if isinstance(self.cells, SparkCells):
                self.cells.join_counts("population_count", counted)
            else:
                own = self._scored(()).select(*self._words)
                near = counted.join(own.hint("merge"), self._words)
                found = self.work.run("counting the population", near.toArrow)
                words = np.stack([found[name].to_numpy() for name in self._words], axis=1)
                rows = [{"words": words, "n": found["n"].to_numpy()}]
                self.cells.put_counts("population_count", rows)
        return totals

    def population_cells(self, records: Records, most: int) -> PopulationCells | None:
        """The combinations of the same keys in a population file; None for more than `most`."""
        with translated(records.name, self.work.folder):
            return population_cells(self.work, records, self.request, most)

    def household_totals(self, risks: Sequence[str]) -> HouseholdTotals:
        """Households, and their risk from each column `risks` of their members' cells."""
        self.household_risks = tuple(risks)
        scored = self._scored(risks)
        plain = [f"c{i}" for i in range(len(risks))]
        self.households = gathered(self.work, self.staged, scored, self._words, plain)
        return household_totals(self.work, self.households, dict(zip(plain, risks, strict=True)))

    def _scored(self, columns: Sequence[str]) -> Any:
        """A frame of the cells: code, sample_count, weight_total, and columns as c0, c1, …"""
        if isinstance(self.cells, SparkCells):
            own = [*self._words, "records AS sample_count"]
            own += ["weight_total"] if self.weights else []
            held = self.cells.added
            own += [f"`{held[name]}` AS c{i}" for i, name in enumerate(columns)]
            return self.cells.frame.selectExpr(*own)
        return self.work.frame_of(_table(self.cells, columns))

    def write_records(
        self,
        path: Path,
        columns: Sequence[str],
        first: Sequence[str] = (),
        limits: ClassLimits | None = None,
    ) -> None:
        """One row a record, in the records' order, as CSV or Parquet by the ending of the name, or
        as a folder of Parquet files where the path is a folder or ends in '/'."""
        from pyspark.sql import functions as F  # noqa: N812

        joined = self.staged.join(self._scored(columns).hint("merge"), self._words, "left")
        plain = {name: F.col(f"c{i}") for i, name in enumerate(columns)}
        shown = [Written("row", F.col("row"))]
        shown += [Written(name, known(plain[name])) for name in first]
        shown += [] if limits is None else [Written("class", risk_class(plain["risk"], limits))]
        held = zip(self.request.carry, self.carried_types, strict=True)
        shown += [Written(n, F.col(f"x{i}"), kind) for i, (n, kind) in enumerate(held)]
        totals = ["sample_count", *(["weight_total"] if self.weights else [])]
        shown += [Written(name, F.col(name)) for name in totals]
        shown += [Written(name, known(own)) for name, own in plain.items() if name not in first]
        if self.households is not None:
            named = {f"household_{r}": f"h{i}" for i, r in enumerate(self.household_risks)}
            own = [F.col(f"c{i}").alias(f"h{i}") for i in range(len(named))]
            by_household = self.households.select("household", *own)
            joined = joined.join(by_household.hint("merge"), "household", "left")
            shown += [Written(name, F.col(own)) for name, own in named.items()]
        write(self.work, joined, shown, path)


def _table(cells: LocalCells, columns: Sequence[str]) -> Any:
    """Few cells as a table of Arrow."""
    import pyarrow as pa

    tables = []
    for batch in cells.batches(columns):
        words = word_columns(cells.coding)
        own = {name: pa.array(batch.words[:, i]) for i, name in enumerate(words)}
        own["sample_count"] = pa.array(batch.sample_count)
        if batch.weight_total is not None:
            own["weight_total"] = pa.array(batch.weight_total)
        own |= {
            f"c{i}": pa.array(batch.extra[name], from_pandas=False)
            for i, name in enumerate(columns)
        }
        tables.append(pa.table(own))
    return pa.concat_tables(tables)
