"""A population file held against the cells of a sample."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from discreet.data.coding import Coding
from discreet.data.records import Records
from discreet.engines.contract import PopulationCells, PopulationTotals, Request
from discreet.engines.duckdb_keys import Column
from discreet.engines.key_space import KeyLevels, KeySpace
from discreet.engines.record_checks import check_population
from discreet.engines.spark.coding import UNKNOWN, RecordCoder
from discreet.engines.spark.naming import NO_LEVEL, Levels, named_levels
from discreet.engines.spark.source import Source, open_source
from discreet.engines.spark.values import distinct_values
from discreet.engines.spark.work import Work, mapped


def count_population(
    work: Work, records: Records, request: Request, space: KeySpace
) -> tuple[Any, PopulationTotals]:
    """A frame of codes and how many (n) have each, for the combinations that the sample may have
    too, and the totals.

    The file has the keys under the same names; values are compared by their labels. Records that
    lack a key are left out where the policy leaves them out of the sample, and refused where it
    refuses them.
    """
    from pyspark.sql import functions as F  # noqa: N812

    named = request.codes.values(request.keys, records.value_labels)
    source = open_source(work, records, records.find("keys", request.keys), named)
    levels = _levels(work, source, records, request)
    coder = _coder(source, records, levels, space.keys, space.coding)
    words = [f"w{i}" for i in range(space.coding.n_words)]
    coded = mapped(source.frame, coder.batches, coder.schema([]))
    grouped = coded.groupBy(*words, "incomplete").agg(F.count("*").alias("n"))
    found = work.written("counting the population", grouped, "population")
    n, absent = F.col("n"), F.col("incomplete")
    sums = found.agg(F.sum(n), F.sum(F.when(absent, n)))
    total, n_incomplete = (
        int(x or 0) for x in work.run("counting the population", sums.collect)[0]
    )
    check_population(request, records.name, total, n_incomplete)
    left_out = 0 if request.missing.is_a_level else n_incomplete
    totals = PopulationTotals(
        total=total - left_out, n_incomplete=n_incomplete, n_left_out=left_out
    )
    return found.where("w0 IS NOT NULL").select(*words, "n"), totals


def population_cells(
    work: Work, records: Records, request: Request, most: int
) -> PopulationCells | None:
    """The combinations of keys in a population file, by the labels of their values; None where
    there are more than `most` of them."""
    from pyspark.sql import functions as F  # noqa: N812

    named = request.codes.values(request.keys, records.value_labels)
    source = open_source(work, records, records.find("keys", request.keys), named)
    levels = _levels(work, source, records, request)
    coding = Coding.of_sizes([len(own.labels) + 1 for own in levels])
    coder = RecordCoder(
        name=records.name,
        coding=coding,
        keys=tuple(levels),
        missing=tuple(len(own.labels) for own in levels),
        starts=source.starts,
    )
    words = [f"w{i}" for i in range(coding.n_words)]
    coded = mapped(source.frame, coder.batches, coder.schema([]))
    grouped = coded.groupBy(*words).agg(F.count("*").alias("n")).limit(most + 1)
    found = work.run("counting the population", grouped.toArrow)
    if len(found) > most:
        return None
    codes = np.stack([found[name].to_numpy() for name in words], axis=1)
    places = coding.decode(codes)
    for key, own in enumerate(levels):
        places[places[:, key] == len(own.labels), key] = -1
    return PopulationCells(
        values=tuple(own.labels for own in levels), levels=places, counts=found["n"].to_numpy()
    )


def _levels(work: Work, source: Source, records: Records, request: Request) -> list[Levels]:
    """The levels of the keys in the population file."""
    found = distinct_values(work, source.values, request.keys) or []
    levels = []
    for key, kind, values in zip(request.keys, source.types, found, strict=False):
        labels = {
            **request.records.value_labels.get(key, {}),
            **records.value_labels.get(key, {}),
        }
        column = Column.of_key("v", kind, key, request.codes, request.missing, labels)
        levels.append(named_levels(column, values, records.name))
    return levels


def _coder(
    source: Source,
    records: Records,
    levels: Sequence[Levels],
    keys: Sequence[KeyLevels],
    coding: Coding,
) -> RecordCoder:
    """Codes the population by the levels of the sample."""
    return RecordCoder(
        name=records.name,
        coding=coding,
        keys=tuple(_in_sample(own, key) for own, key in zip(levels, keys, strict=False)),
        missing=tuple(key.values.index(None) if None in key.values else NO_LEVEL for key in keys),
        starts=source.starts,
    )


def _in_sample(levels: Levels, key: KeyLevels) -> Levels:
    at = {value: level for level, value in enumerate(key.values)}
    own = np.array([*(at.get(label, UNKNOWN) for label in levels.labels), NO_LEVEL], np.int64)
    return replace(levels, places=own[levels.places])
