"""Counting by both engines, and what must be equal."""

import pickle
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.data.missing import MissingCodes, missing_policy
from discreet.data.records import open_records
from discreet.engines.contract import Request
from discreet.engines.duckdb import DuckDBEngine
from discreet.engines.spark.engine import SparkEngine
from discreet.errors import DiscreetError

PLAIN = ("n_records", "n_dropped", "n_incomplete", "keys", "weights", "idle_codes")


class Column:
    """A column of all cells by their codes: for small tables alone."""

    def __init__(self, name):
        self.reads = (name,)

    def of(self, batch):
        codes = map(tuple, batch.words.tolist())
        return dict(zip(codes, batch.extra[self.reads[0]].tolist(), strict=True))

    def joined(self, one, other):
        return one | other


def request_of(source, keys, missing="category", codes=None, **more):
    return Request(
        records=open_records(source),
        keys=tuple(keys),
        missing=missing_policy(missing),
        codes=MissingCodes(**(codes or {})),
        **more,
    )


def cells_of(engine, request):
    """Everything an engine says of a request, or its complaint."""
    try:
        with engine.count(request) as store:
            found = {name: getattr(store, name) for name in PLAIN}
            also = ("squares",) if store.cells.weighted else ()
            held, sizes = store.cells.held(10**6, also), store.cells.size_indices()
            weights = [None] * len(held) if held.weight_total is None else held.weight_total
            squares = held.extra.get("squares", weights)
            columns = map(tuple, held.words.tolist()), held.records.tolist(), weights, squares
            found["cells"] = list(zip(*columns, strict=True))
            found["sizes"] = [sizes.sizes.tolist(), sizes.cells.tolist(), sizes.records.tolist()]
            found["coding"] = store.cells.space.coding
            return pickle.loads(pickle.dumps(found))
    except DiscreetError as error:
        return {"complaint": (type(error).__name__, str(error))}


def send_with_its_module(step):
    """Send the class of a step to the workers as it is, since they cannot import the tests."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[step.__module__])


def assert_alike(spark, source, keys, most_near=0, **more):
    """Both engines say the same of the request; returns what they say."""
    request = request_of(source, keys, **more)
    theirs = cells_of(SparkEngine(session=spark, most_near=most_near), request)
    ours = cells_of(DuckDBEngine(), request)
    assert theirs == ours
    return theirs


def parquet(folder, columns, name="s.parquet"):
    """A Parquet file of these columns."""
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    pq.write_table(table, folder / name)
    return folder / name


def random_columns(rng):
    """Columns of all types with missing values of all kinds, and weights."""
    n = int(rng.integers(1, 60))

    def some(values):
        return [values[i] for i in rng.integers(0, len(values), n)]

    kinds = {
        "text": pa.array(some(["b", "a", "", None, "10", "9", "é", "日本", "-1", "x'y", 'q"'])),
        "whole": pa.array(some([3, -7, 100, 2**40, None, 0])),
        "short": pa.array(some([1, 2, 3, 4, None]), pa.int8()),
        "double": pa.array(some([0.1, -0.0, 0.0, 1e16, 1e300, 2.0, 1.5e-7, np.nan, None, np.inf])),
        "single": pa.array(some([0.1, 3.0, 1e20, None]), pa.float32()),
        "day": pa.array(some([0, 1, 18321, -5, None]), pa.int32()).cast(pa.date32()),
        "moment": pa.array(some([0, 1, 10**15, None]), pa.timestamp("us")),
        "zoned": pa.array(some([0, 1, 10**15, None]), pa.timestamp("us", "UTC")),
        "amount": pa.array(some(["1.50", "-2.25", None])).cast(pa.decimal128(9, 2)),
        "flag": pa.array(some([True, False, None])),
    }
    chosen = rng.choice(list(kinds), int(rng.integers(1, 6)), replace=False)
    columns = {name: kinds[name] for name in chosen}
    weight = {"w": pa.array(rng.lognormal(3, 2, n))}
    return pa.table(columns | weight), list(chosen)
