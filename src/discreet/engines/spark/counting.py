"""From a request to its cells on Spark.

1. Read the distinct values of keys and sensitive variables, all in one pass, and name them in the
   driver (see `naming`).
2. Stage each record as its row, its code, its weight and what else was asked for (see `coding`).
3. Group the staged records by their code.
4. Where records were left out, drop the levels that no other record has.

The records are read twice. Nothing that grows with records or cells reaches the driver.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.data.coding import Coding
from discreet.engines.contract import Request, WeightCheck
from discreet.engines.duckdb_codes import check_codes, idle_codes
from discreet.engines.duckdb_keys import Column
from discreet.engines.key_levels import key_levels, labels_at
from discreet.engines.key_space import KeyLevels, KeySpace
from discreet.engines.local.cells import LocalCells
from discreet.engines.record_checks import (
    BAD_WEIGHTS,
    bad_weights,
    check_accepted,
    check_any,
    check_kept,
    check_types,
    check_weight_total,
    shift_of_weights,
    without_household,
)
from discreet.engines.spark.cells import OF_WEIGHTS, SparkCells
from discreet.engines.spark.coding import RecordCoder, WeightColumn
from discreet.engines.spark.naming import NO_LEVEL, Levels, named_levels
from discreet.engines.spark.recoding import Recoder, occurring_levels
from discreet.engines.spark.source import open_source
from discreet.engines.spark.store import SparkStore
from discreet.engines.spark.units import BITS, PIECES, number_of, pieces_of
from discreet.engines.spark.values import distinct_values
from discreet.engines.spark.work import Work, mapped
from discreet.engines.weight_units import in_numbers, sql_squares
from discreet.errors import InputError, must_be
from discreet.numerics.arrays import IntArray

if TYPE_CHECKING:
    pass


class Counter:
    """Counts the records of one request in one session; cells come to the driver while they are no
    more than `most_near`."""

    def __init__(self, work: Work, request: Request, most_near: int) -> None:
        self.work = work
        self.request = request
        self.most_near = most_near
        records = request.records
        self.names = (*request.keys, *request.sensitive)
        positions = request.positions
        given = {"weight": request.weight, "household": request.household}
        beside = [role for role, name in given.items() if name is not None]
        self.at = {role: len(self.names) + place for place, role in enumerate(beside)}
        self.carry_at = range(len(positions) - len(request.carry), len(positions))
        named = request.codes.values(self.names, records.value_labels)
        self.source = open_source(work, records, positions, named)
        types = self.source.types
        self.weight_type = types[self.at["weight"]] if "weight" in self.at else None
        self.columns = _columns(request, types)

    def cells(self) -> SparkStore:
        """Count: the cells, and `staged`, each record's code."""
        request = self.request
        check_types(request, self.source.types[: len(self.names)], self.weight_type)
        keys, sensitive, n_all = self._levels()
        coder = self._coder(keys, sensitive)
        staged = self._staged(coder)
        seen = self._seen(staged)
        self._check_records(seen, n_all, keys)
        n_kept = seen["n_kept"]
        weights, shift = self._check_weights(seen)
        counted = self._counted(staged, coder.coding, weights, shift)
        n_cells, total = self._totals(counted, shift)
        by_column = zip(self.names, (*keys, *sensitive), strict=True)
        coded = {name: levels.by_code for name, levels in by_column}
        check_codes(request.codes, coded, request.records.value_labels)
        kept = [np.arange(size) for size in coder.coding.sizes]
        coding = coder.coding
        if n_kept < n_all:
            kept = occurring_levels(self.work, counted, coding)
            coding = Coding.of_sizes(list(map(len, kept)))
        if coding != coder.coding:
            recoder = Recoder(coder.coding, coding, tuple(kept))
            staged, counted = (recoder.frame(self.work, frame) for frame in (staged, counted))
        if weights is not None:
            check_weight_total(request, total)
            weights = replace(weights, total=total)
        space = KeySpace(
            keys=self._key_levels(keys, kept),
            coding=coding,
            policy=request.missing,
            missing_weight=request.missing_weight,
        )
        own = dict(OF_WEIGHTS) if weights is not None else {}
        cells = SparkCells(self.work, space, counted, n_cells, n_kept, shift, own)
        return SparkStore(
            work=self.work,
            request=request,
            n_records=n_kept,
            n_dropped=n_all - n_kept,
            n_incomplete=seen["n_incomplete"],
            weights=weights,
            sensitive_labels=tuple(levels.labels for levels in sensitive),
            carried_types=tuple(self.source.types[at] for at in self.carry_at),
            idle_codes=idle_codes(request.codes, coded, request.records.value_labels),
            staged=staged,
            cells=self._near(cells),
        )

    def _near(self, cells: SparkCells) -> SparkCells | LocalCells:
        """The cells in the driver if they are few, where they may also match each other."""
        held = cells.held(self.most_near, tuple(cells.added))
        if held is not None:
            near = LocalCells.of_arrays(
                held.words,
                held.n_records,
                cells.space,
                held.weight_total,
                squares=held.extra.get("squares"),
            )
            return near.matched(self.work.progress)
        if cells.space.overlap:
            rule = f"category, drop or error on Spark where there are over {self.most_near:,} cells"
            got = repr(self.request.missing.name)
            raise InputError(must_be("missing", rule, got))
        return cells

    def _levels(self) -> tuple[list[Levels], list[Levels], int]:
        """The levels of the keys and of the sensitive variables, and the number of records."""
        frame = self.source.frame.select(*(f"c{j}" for j in range(len(self.names))))
        found = distinct_values(self.work, frame, self.names)
        n_all = 0 if found is None else found[0].n_records
        check_any(self.request, n_all)
        assert found is not None
        name = self.request.records.name
        levels = [named_levels(c, v, name) for c, v in zip(self.columns, found, strict=True)]
        n_keys = len(self.request.keys)
        return levels[:n_keys], levels[n_keys:], n_all

    def _coder(self, keys: Sequence[Levels], sensitive: Sequence[Levels]) -> RecordCoder:
        as_level = self.request.missing.is_a_level
        lacks = [bool(as_level and levels.n_missing) for levels in keys]
        sizes = [max(len(v.labels) + lack, 1) for v, lack in zip(keys, lacks, strict=True)]
        weight = None
        if self.weight_type is not None:
            place = f"c{self.at['weight']}"
            weight = WeightColumn(place, self.weight_type, self.request.decimal)
        return RecordCoder(
            name=self.request.records.name,
            coding=Coding.of_sizes(sizes),
            keys=tuple(keys),
            missing=tuple(
                len(levels.labels) if lack else NO_LEVEL
                for levels, lack in zip(keys, lacks, strict=True)
            ),
            sensitive=tuple(sensitive),
            weight=weight,
            household=f"c{self.at['household']}" if "household" in self.at else None,
            carry=tuple(f"c{at}" for at in self.carry_at),
            starts=self.source.starts,
        )

    def _staged(self, coder: RecordCoder) -> Any:
        from pyspark.sql import functions as F  # noqa: N812

        frame = self.source.frame
        if coder.household is not None:
            text = F.col(coder.household).cast("string")
            frame = frame.withColumn(coder.household, F.nullif(text, F.lit("")))
        carried = [frame.schema[name].dataType for name in coder.carry]
        staged = mapped(frame, coder.batches, coder.schema(carried))
        return self.work.written("coding the records", staged, "staged")

    def _seen(self, staged: Any) -> dict[str, Any]:
        """What the checks need to know of the staged records, from one pass."""
        wanted = {
            "n_all": "count(*)",
            "n_kept": "count(w0)",
            "n_incomplete": "count_if(incomplete)",
        }
        if self.request.household is not None:
            wanted["n_households"] = "count(household)"
            wanted["first_without"] = "min(CASE WHEN household IS NULL THEN row END)"
        if self.request.weight is not None:
            either = " OR ".join(BAD_WEIGHTS.values())
            wanted["below"] = "count_if(weight < 1 AND w0 IS NOT NULL)"
            wanted |= {"smallest": "min(weight)", "largest": "max(weight)"}
            wanted["first_bad"] = f"min(CASE WHEN {either} THEN row END)"
            wanted |= {kind: f"count_if({test})" for kind, test in BAD_WEIGHTS.items()}
        return self._row(staged, wanted)

    def _check_records(self, seen: Mapping[str, Any], n_all: int, keys: Sequence[Levels]) -> None:
        if seen["n_all"] != n_all:
            raise RuntimeError(f"records must be {n_all} as before, got {seen['n_all']}")
        absent = [levels.n_missing for levels in keys]
        check_accepted(self.request, n_all, seen["n_kept"], absent)
        check_kept(self.request, n_all, seen["n_kept"])
        lacking = n_all - seen.get("n_households", n_all)
        if lacking:
            raise without_household(self.request, lacking, seen["first_without"])

    def _check_weights(self, seen: Mapping[str, Any]) -> tuple[WeightCheck | None, int | None]:
        """What is seen of the weights but for their sum, and the units they are summed in."""
        if self.request.weight is None:
            return None, None
        by_kind = {kind: seen[kind] for kind in BAD_WEIGHTS}
        if any(by_kind.values()):
            raise bad_weights(self.request, self.weight_type, by_kind, seen["first_bad"])
        smallest, largest = seen["smallest"], seen["largest"]
        shift = shift_of_weights(self.request, smallest, largest, seen["n_kept"])
        check = WeightCheck(
            total=0.0, smallest=smallest, largest=largest, n_below_one=seen["below"]
        )
        return check, shift

    def _row(self, frame: Any, wanted: Mapping[str, str]) -> dict[str, Any]:
        """The one row of these aggregates, by name."""
        from pyspark.sql import functions as F  # noqa: N812

        found = frame.agg(*map(F.expr, wanted.values()))
        row = self.work.run("checking the records", found.collect)[0]
        return dict(zip(wanted, row, strict=True))

    def _counted(
        self, staged: Any, coding: Coding, weights: WeightCheck | None, shift: int | None
    ) -> Any:
        """The cells: their code, records, and with weights their sum and that of their squares."""
        from pyspark.sql import functions as F  # noqa: N812

        words = [f"w{i}" for i in range(coding.n_words)]
        sums = [] if shift is None else pieces_of("weight", shift)
        if weights is not None:
            squares = sql_squares("weight", weights.largest)
            sums += [f"{squares} AS {OF_WEIGHTS['squares']}"]
        counts = staged.where("w0 IS NOT NULL").groupBy(*words)
        grouped = counts.agg(F.expr("count(*)").alias("records"), *map(F.expr, sums))
        if shift is not None:
            grouped = grouped.withColumn("weight_total", F.expr(number_of(shift)))
        return self.work.written("counting the cells", grouped, "cells")

    def _totals(self, counted: Any, shift: int | None) -> tuple[int, float]:
        """How many cells there are, and the sum of all weights."""
        sums = {} if shift is None else {piece: f"sum({piece})" for piece in PIECES}
        found = self._row(counted, {"n": "count(*)", **sums})
        if shift is None:
            return found["n"], 0.0
        units = sum(int(found[piece]) << (BITS * i) for i, piece in enumerate(PIECES))
        return found["n"], in_numbers(units, shift)

    def _key_levels(
        self, keys: Sequence[Levels], kept: Sequence[IntArray]
    ) -> tuple[KeyLevels, ...]:
        return tuple(
            key_levels(
                self.request,
                name,
                self.columns[j],
                labels_at(keys[j].labels, kept[j].tolist()),
                keys[j].n_missing,
                keys[j].by_code,
            )
            for j, name in enumerate(self.request.keys)
        )


def _columns(request: Request, types: Sequence[str]) -> list[Column]:
    """Keys and sensitive variables, whose values are called v, with what their codes mean."""
    labels, codes = request.records.value_labels, request.codes
    keys = [
        Column.of_key("v", kind, name, codes, request.missing, labels.get(name, {}))
        for name, kind in zip(request.keys, types, strict=False)
    ]
    return keys + [
        Column.of_sensitive("v", kind, name, codes, labels.get(name, {}))
        for name, kind in zip(request.sensitive, types[len(keys) :], strict=False)
    ]
