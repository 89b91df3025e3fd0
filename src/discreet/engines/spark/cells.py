"""Cells as Parquet files that Spark reads where they lie.

Whatever is computed of them is computed by the same functions as on one machine, of the cells of
one partition at a time: partitions take the place of parts (see `discreet.engines.local.cells`). No
list of cells reaches the driver but one of bounded length.

Each `add` writes the cells anew with more columns; `without_each_key` moves them twice, by some of
the keys and by others; `seen_through` groups them once; `take` joins them with coarser ones.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.data.summary import SizeIndices
from discreet.engines.contract import Fold, Scoring, Small, ValuesOfCells
from discreet.engines.key_space import KeySpace, View
from discreet.engines.local.cells import (
    HASH_BITS,
    NEIGHBOURS,
    MarginsOfCells,
    SizesOfCells,
    cells_in_order,
    check_margins,
    mixed,
    placement,
    serves,
    values_in_cells,
)
from discreet.engines.local.grouping import neighbours_without, places_among, small_groups
from discreet.engines.spark.folding import (
    fold,
    in_hand,
    joined_states,
    pickled,
    whole_partition,
)
from discreet.engines.spark.units import PIECES, number_of
from discreet.engines.spark.work import Work, mapped, without_warnings
from discreet.engines.sql import word_columns
from discreet.numerics.arrays import IntArray

if TYPE_CHECKING:
    import pyarrow as pa

State = TypeVar("State")
PART_CELLS = 1 << 20  # of a partition that is looked at as a whole
STATE = "_state"
OF_WEIGHTS = {"squares": "a0"}  # what lies beside the cells from the start
STATE_SCHEMA = f"`{STATE}` binary"
Tables = Iterator[Any]  # of record batches of Arrow


@dataclass(slots=True)
class SparkCells:
    """The cells of one request, or coarser ones of it.

    `frame` has the code (w0, w1, …), records, with weights weight_total and the pieces of its sum
    in units of 2^−shift, and the columns that were `added`, which have plain names there; with
    weights one of them from the start, the sum of their squares.
    """

    work: Work
    space: KeySpace
    frame: Any
    n_cells: int
    n_records: int
    shift: int | None = None
    added: dict[str, str] = field(default_factory=dict)

    @property
    def coding(self) -> Coding:
        """How levels make up the code of a cell."""
        return self.space.coding

    @property
    def words(self) -> list[str]:
        """Names of the columns that hold the code."""
        return word_columns(self.coding)

    @property
    def weighted(self) -> bool:
        """Whether the records have weights."""
        return self.shift is not None

    def size_indices(self) -> SizeIndices:
        """How many cells hold exactly j records."""
        return self.fold(SizesOfCells(True))

    def margins(self, sets: Sequence[tuple[int, ...]]) -> Mapping[tuple[int, ...], IntArray]:
        """The records by the levels of each set of keys, as dense tables from one pass."""
        check_margins(self.space, sets)
        return self.fold(MarginsOfCells(self.coding, tuple(sets)))

    def fold(self, step: Fold[State]) -> State:
        """A summary of all cells, made where they lie."""
        reader = self._reader(step.reads)
        frame = self.frame.select(*reader.columns)
        found: State = fold(self.work, "reading the cells", frame, step, reader)
        return found

    def add(self, step: Scoring[State]) -> State:
        """Put columns beside the cells."""
        return self._added(step, self.frame, in_hand)

    def add_together(self, step: Scoring[State], keys: Sequence[int]) -> State:
        """The same, where the step sees all cells that agree on these keys in one batch."""
        return self._added(step, self._placed(self.frame, keys), whole_partition)

    def _added(
        self,
        step: Scoring[State],
        frame: Any,
        tables: "Callable[[Tables], Iterator[pa.Table]]",
    ) -> State:
        reader = self._reader(step.reads)

        def scored(table: "pa.Table") -> tuple[Mapping[str, NDArray[Any]], State]:
            return step.of(reader(table))

        found: State = self._widened("scoring the cells", frame, scored, step, tables)
        return found

    def _widened(
        self,
        what: str,
        frame: Any,
        made: "Callable[[pa.Table], tuple[Mapping[str, NDArray[Any]], Any]]",
        step: Any,
        tables: "Callable[[Tables], Iterator[pa.Table]]",
        kind: str = "double",
    ) -> Any:
        """Write the cells anew with the columns that are made of each table, and put together what
        is made beside them."""
        new = {name: self._plain(name) for name in step.gives}
        kept = [name for name in self.frame.columns if name not in new.values()]

        def widened(batches: Tables) -> Tables:
            for table in tables(batches):
                columns, state = made(table)
                plain = {new[name]: values for name, values in columns.items()}
                yield from beside(table.select(kept), plain, state)

        fields = [*fields_of(self.frame, kept), *(f"`{n}` {kind}" for n in new.values())]
        written = self.work.written(
            what, mapped(frame, widened, ", ".join([*fields, STATE_SCHEMA])), "cells"
        )
        return self._state_of(written, step.joined)

    def _state_of(self, written: Any, joined: Callable[[Any, Any], Any]) -> Any:
        """What was made beside the cells, which are what else was written."""
        self.frame = written.drop(STATE)
        states = written.where(f"`{STATE}` IS NOT NULL").select(STATE)
        return joined_states(self.work, states, joined)

    def _plain(self, name: str) -> str:
        """The name of a column in the frame: its own may be anything."""
        return self.added.setdefault(name, f"a{len(self.added)}")

    def without_each_key(self) -> tuple[SizeIndices, ...]:
        """The sizes of the cells without each key in turn; puts `neighbours` beside them."""
        n_keys, coding = len(self.space.keys), self.coding
        if n_keys == 1:
            return self._without_only_key()
        found: dict[int, SizeIndices] = {}
        left = [frozenset({key}) for key in range(n_keys)]
        first = True
        while left:
            by = placement(left, n_keys)
            keys = [key for (key,) in (own for own in left if serves(by, own))]
            left = [own for own in left if not serves(by, own)]
            frame = self._placed(self.frame, by)
            reader = self._reader(() if first else (NEIGHBOURS,))
            step = _Neighbours(reader, coding, tuple(keys))
            sizes = self._widened(
                "counting near neighbours", frame, step.of, step, whole_partition, kind="bigint"
            )
            found |= dict(zip(keys, sizes, strict=True))
            first = False
        return tuple(found[key] for key in range(n_keys))

    def _without_only_key(self) -> tuple[SizeIndices, ...]:
        from pyspark.sql import functions as F  # noqa: N812

        others = F.lit(self.n_records) - F.col("records")
        self.frame = self.frame.withColumn(self._plain(NEIGHBOURS), others)
        return (SizeIndices.of_counts(np.array([self.n_records])),)

    def _placed(self, frame: Any, by: Iterable[int]) -> Any:
        """The cells with those in one partition that agree on the keys `by`."""
        from pyspark.sql import functions as F  # noqa: N812

        n_parts = -(-self.n_cells // PART_CELLS)
        levels = [F.expr(level_expression(self.coding, key)) for key in sorted(by)]
        return frame.repartition(n_parts, *levels) if levels else frame.repartition(1)

    def small(self, views: Sequence[View], k: int) -> list[Small]:
        """Records in small cells, under each view of the keys."""
        n_keys = len(self.space.keys)
        touched = [frozenset(range(n_keys)) - view.untouched for view in views]
        found: dict[int, Small] = {}
        for number, view in enumerate(views):  # what touches most keys is looked at by itself
            if 3 * len(touched[number]) > 2 * n_keys:
                sizes = self.seen_through(view).size_indices()
                found[number] = Small(sizes.records_below(k), sizes.sample_uniques)
        left = [number for number in range(len(views)) if number not in found]
        while left:
            by = placement([touched[number] for number in left], n_keys)
            here = [number for number in left if serves(by, touched[number])]
            left = [number for number in left if number not in here]
            reader = self._reader(())
            frame = self._placed(self.frame.select(*reader.columns), by)
            step = _SmallCells(tuple(views[number] for number in here), k)
            own = fold(self.work, "dropping keys", frame, step, reader, whole=True)
            found |= dict(zip(here, own, strict=True))
        return [found[number] for number in range(len(views))]

    def seen_through(self, view: View) -> "SparkCells":
        """The coarser cells of a view."""
        from pyspark.sql import functions as F  # noqa: N812

        added = OF_WEIGHTS if self.weighted else {}
        sums = ["records", *(PIECES if self.weighted else ()), *added.values()]
        reader, names = self._reader(()), word_columns(view.space.coding)

        def recoded(batches: Tables) -> Tables:
            for table in in_hand(batches):
                words = view.words(reader.words(table))
                yield from coded(table.select(sums), words, names)

        fields = [*fields_of(self.frame, sums), *(f"{name} bigint" for name in names)]
        frame = mapped(self.frame.select(*self.words, *sums), recoded, ", ".join(fields))
        grouped = frame.groupBy(*names).agg(*(F.sum(name).alias(name) for name in sums))
        if self.shift is not None:
            grouped = grouped.withColumn("weight_total", F.expr(number_of(self.shift)))
        written = self.work.written("seeing the cells coarser", grouped, "coarser")
        n_cells = self.work.run("counting the cells", written.count)
        own = dict(added)
        return SparkCells(self.work, view.space, written, n_cells, self.n_records, self.shift, own)

    def take(self, coarser: "SparkCells", view: View, columns: Mapping[str, str]) -> None:
        """Put columns of the coarser cells of a view beside the cells, under these new names."""
        reader, names = self._reader(()), [f"v{i}" for i in range(view.space.coding.n_words)]
        new = {name: self._plain(name) for name in columns.values()}
        kept = [name for name in self.frame.columns if name not in new.values()]

        def recoded(batches: Tables) -> Tables:
            for table in in_hand(batches):
                yield from coded(table.select(kept), view.words(reader.words(table)), names)

        fields = [*fields_of(self.frame, kept), *(f"{name} bigint" for name in names)]
        finer = mapped(self.frame, recoded, ", ".join(fields))
        pairs = zip(coarser.words, names, strict=True)
        own = [f"`{word}` AS `{name}`" for word, name in pairs]
        own += [f"`{coarser.added[old]}` AS `{new[name]}`" for old, name in columns.items()]
        joined = finer.join(coarser.frame.selectExpr(*own).hint("merge"), names).drop(*names)
        self.frame = self.work.written("seeing the cells coarser", joined, "cells")

    def put_counts(self, name: str, rows: Iterable[Mapping[str, IntArray]]) -> None:
        """A column of whole numbers that come as `words` and `n`, some at a time."""
        import pyarrow as pa

        tables = [
            pa.table(
                {w: pa.array(part["words"][:, i]) for i, w in enumerate(self.words)}
                | {"n": pa.array(part["n"])}
            )
            for part in rows
        ]
        self.join_counts(name, self.work.frame_of(pa.concat_tables(tables)))

    def join_counts(self, name: str, counts: Any) -> None:
        """A column of whole numbers from a frame of codes and `n`; 0 for a cell that has none."""
        from pyspark.sql import functions as F  # noqa: N812

        plain = self._plain(name)
        own = counts.groupBy(*self.words).agg(F.sum("n").alias(plain))
        frame = self.frame.drop(plain).join(own.hint("merge"), self.words, "left")
        self.frame = self.work.written("counting", frame.fillna(0, [plain]), "cells")

    def measure_values(
        self, name: str, pairs: Any, labels: tuple[str, ...], step: ValuesOfCells[State]
    ) -> State:
        """Look at the values of a variable in every cell; `pairs` is a frame of codes, `value` and
        `records`."""
        from pyspark.sql import functions as F  # noqa: N812

        n_parts, reader = -(-self.n_cells // PART_CELLS), self._reader(())
        new = {column: self._plain(column) for column in step.gives}
        kept = [column for column in self.frame.columns if column not in new.values()]
        place = F.pmod(F.hash(*self.words), F.lit(n_parts)).alias("_place")

        def measured(cells: "pa.Table", values: "pa.Table") -> "pa.Table":
            import pyarrow as pa

            batch = reader(cells)
            cell = places_among(batch.words, reader.words(values))
            held = (values[column].to_numpy() for column in ("value", "records"))
            columns, state = step.of(batch, values_in_cells(name, labels, cell, *held))
            plain = {new[column]: own for column, own in columns.items()}
            return pa.Table.from_batches(beside(cells.select(kept), plain, state))

        fields = [*fields_of(self.frame, kept), *(f"`{n}` double" for n in new.values())]
        own = self.frame.withColumn("_place", place).groupBy("_place")
        beside_them = pairs.withColumn("_place", place).groupBy("_place")
        with without_warnings():
            together = own.cogroup(beside_them).applyInArrow(
                measured, ", ".join([*fields, STATE_SCHEMA])
            )
        written = self.work.written("measuring the values", together, "cells")
        found: State = self._state_of(written, step.joined)
        return found

    def held(self, most: int, reads: Sequence[str] = ()) -> CellBatch | None:
        """All cells at once in the order of their codes, None if there are more than `most`."""
        if self.n_cells > most:
            return None
        reader = self._reader(reads)
        found = self.work.run("fetching the cells", self.frame.select(*reader.columns).toArrow)
        return cells_in_order([reader(found)])

    def sampled(self, most: int, reads: Sequence[str] = ()) -> CellBatch:
        """Cells chosen by a hash of their codes, in the order of these."""
        limit = int(min(most / self.n_cells, 1.0) * 2**HASH_BITS)
        reader = self._reader(reads)

        def chosen(batches: Tables) -> Tables:
            for table in in_hand(batches):
                yield from table.filter(mixed(reader.words(table)) < limit).to_batches()

        frame = self.frame.select(*reader.columns)
        schema = ", ".join(fields_of(frame, frame.columns))
        found = self.work.run("fetching some cells", mapped(frame, chosen, schema).toArrow)
        return cells_in_order([reader(found)])

    def _reader(self, reads: Sequence[str]) -> "Reader":
        return Reader(self.coding, self.weighted, {name: self.added[name] for name in reads})


@dataclass(frozen=True, slots=True)
class Reader:
    """Makes batches of cells from tables of them."""

    coding: Coding
    weighted: bool
    extra: Mapping[str, str]

    @property
    def columns(self) -> list[str]:
        """What it looks at."""
        weight = ["weight_total"] if self.weighted else []
        return [*word_columns(self.coding), "records", *weight, *self.extra.values()]

    def words(self, table: "pa.Table") -> IntArray:
        """The codes."""
        names = word_columns(self.coding)
        return np.stack([table[name].to_numpy() for name in names], axis=1)

    def __call__(self, table: "pa.Table") -> CellBatch:
        records = table["records"].to_numpy()
        return CellBatch(
            coding=self.coding,
            words=self.words(table),
            records=records,
            sample_count=records,
            weight_total=table["weight_total"].to_numpy() if self.weighted else None,
            extra={name: table[plain].to_numpy() for name, plain in self.extra.items()},
        )


@dataclass(frozen=True, slots=True)
class _Neighbours:
    """The sizes of the cells of a partition without some keys; adds to their neighbours."""

    reader: Reader
    coding: Coding
    keys: tuple[int, ...]
    gives: tuple[str, ...] = (NEIGHBOURS,)

    def of(self, table: "pa.Table") -> tuple[dict[str, IntArray], list[SizeIndices]]:
        batch = self.reader(table)
        before = batch.extra.get(NEIGHBOURS)
        total = np.zeros(len(batch), dtype=np.int64) if before is None else before.copy()
        sizes = []
        for key in self.keys:
            cells, others, left = neighbours_without(batch.words, batch.n_records, self.coding, key)
            total[cells] += others
            sizes.append(left)
        return {NEIGHBOURS: total}, sizes

    def joined(self, one: list[SizeIndices], other: list[SizeIndices]) -> list[SizeIndices]:
        return [a.joined(b) for a, b in zip(one, other, strict=True)]


@dataclass(frozen=True, slots=True)
class _SmallCells:
    """Records in small cells of a partition, under each view."""

    views: tuple[View, ...]
    k: int

    def of(self, batch: CellBatch) -> list[Small]:
        records = batch.n_records
        return [small_groups(view.words(batch.words), records, self.k) for view in self.views]

    def joined(self, one: list[Small], other: list[Small]) -> list[Small]:
        return [a.joined(b) for a, b in zip(one, other, strict=True)]


def level_expression(coding: Coding, key: int) -> str:
    """The level of a key, from the words of the code."""
    digit = coding.digits[key]
    return f"(w{digit.word} div {digit.stride}) % {digit.size}"


def fields_of(frame: Any, names: Sequence[str]) -> list[str]:
    """Some columns of a frame as a schema."""
    kinds = {field.name: field.dataType.simpleString() for field in frame.schema.fields}
    return [f"`{name}` {kinds[name]}" for name in names]


def beside(
    table: "pa.Table", columns: Mapping[str, NDArray[Any]], state: Any
) -> "list[pa.RecordBatch]":
    """A table with more columns, NaN staying what it is, and the state in its first row."""
    import pyarrow as pa

    for name, values in columns.items():
        kind = np.int64 if values.dtype.kind == "i" else np.float64
        table = table.append_column(name, pa.array(values.astype(kind), from_pandas=False))
    said = [None if state is None else pickled(state), *[None] * (len(table) - 1)]
    return list(table.append_column(STATE, pa.array(said, pa.binary())).to_batches())


def coded(table: "pa.Table", words: IntArray, names: Sequence[str]) -> "list[pa.RecordBatch]":
    """A table with the words of codes as more columns."""
    import pyarrow as pa

    for i, name in enumerate(names):
        table = table.append_column(name, pa.array(words[:, i]))
    return list(table.to_batches())


def coded_frame(pairs: Any, view: View) -> Any:
    """Rows about cells with the codes of a view in the place of theirs."""
    names = word_columns(view.space.coding)
    others = [name for name in pairs.columns if name not in word_columns(view.before)]

    def recoded(batches: Tables) -> Tables:
        for table in in_hand(batches):
            own = [table[name].to_numpy() for name in word_columns(view.before)]
            yield from coded(table.select(others), view.words(np.stack(own, axis=1)), names)

    fields = [*fields_of(pairs, others), *(f"{name} bigint" for name in names)]
    return mapped(pairs, recoded, ", ".join(fields))
