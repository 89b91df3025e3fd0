"""Columns of two files as a model takes them: numbers where both have numbers, else categories."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.data.coding import Coding
from discreet.engines.local.grouping import distinct_rows
from discreet.errors import WeightError, must_be
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelColumn:
    """A column of several files: `values[f]` are numbers, or places among the `labels`, which all
    files share; where `known[f]` does not say so there is no value. `labels` is None for numbers.
    """

    name: str
    labels: tuple[str, ...] | None
    values: tuple[FloatArray, ...]
    known: tuple[BoolArray, ...]


def model_column(tables: Sequence[pa.Table], name: str, *, category: bool = False) -> ModelColumn:
    """The column of these files; as a `category`, or as numbers if all of them hold numbers."""
    columns = [table.column(name).combine_chunks() for table in tables]
    if not category and all(is_number(column.type) for column in columns):
        values = [_numbers(column) for column in columns]
        known = tuple(np.isfinite(own) for own in values)
        return ModelColumn(name=name, labels=None, values=tuple(values), known=known)
    texts = [_texts(column) for column in columns]
    labels = sorted({label for text in texts for label in pc.unique(text).to_pylist() if label})
    # An empty text is a value like any other.
    if any(pc.any(pc.equal(text, "")).as_py() for text in texts):
        labels = ["", *labels]
    places = [
        pc.index_in(text, value_set=pa.array(labels, type=pa.string())).to_numpy(
            zero_copy_only=False
        )
        for text in texts
    ]
    values = [np.asarray(place, dtype=np.float64) for place in places]
    return ModelColumn(
        name=name,
        labels=tuple(labels),
        values=tuple(np.nan_to_num(own, nan=-1.0) for own in values),
        known=tuple(np.isfinite(own) for own in values),
    )


def is_number(kind: pa.DataType) -> bool:
    """Whether a column of this type holds numbers."""
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def _numbers(column: pa.Array) -> FloatArray:
    """The numbers, NaN where there is none."""
    found = pc.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.array(found, dtype=np.float64)


def _texts(column: pa.Array) -> pa.Array:
    """The values as text: whole numbers without a point, so that 1 and 1.0 are one category."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if is_number(column.type):
        numbers = _numbers(column)
        whole = np.where(np.isfinite(numbers), numbers, 0.0)
        if np.all(whole == np.round(whole)) and np.all(np.abs(whole) < 2.0**53):
            column = pa.array(whole.astype(np.int64), mask=~np.isfinite(numbers))
        else:
            column = pa.array(numbers, mask=~np.isfinite(numbers))
    return pc.cast(column, pa.string())


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCells:
    """The records of one file that have all values, added up where their predictors are the same.

    `values[name]` of each cell, the sum of its weights, the mean of the response and the weighted
    sum of squares about that. Weights have the mean 1. `left_out` records lack a value.
    """

    values: Mapping[str, FloatArray]
    weight: FloatArray
    mean: FloatArray
    within: FloatArray
    n_records: int
    left_out: int
    effective: float

    def at(self, which: BoolArray) -> "ModelCells":
        """These cells alone; the numbers of records stay those of the file."""
        return replace(
            self,
            values={name: own[which] for name, own in self.values.items()},
            weight=self.weight[which],
            mean=self.mean[which],
            within=self.within[which],
        )


def model_cells(
    predictors: Sequence[ModelColumn],
    response: FloatArray,
    known: BoolArray,
    weight: FloatArray,
    file: int,
) -> ModelCells:
    """The cells of one file; records without a value, or of weight 0, are left out."""
    complete = known & (weight > 0)
    for column in predictors:
        complete = complete & column.known[file]
    values = {column.name: column.values[file][complete] for column in predictors}
    place, n_cells, first = _places(list(values.values()), int(complete.sum()))
    w, y = weight[complete], response[complete]
    w = w / (w.mean() if len(w) else 1.0)
    mass = np.bincount(place, weights=w, minlength=n_cells).astype(np.float64)
    mean = np.bincount(place, weights=w * y, minlength=n_cells) / mass
    within = np.bincount(place, weights=w * (y - mean[place]) ** 2, minlength=n_cells)
    return ModelCells(
        values={name: own[first] for name, own in values.items()},
        weight=mass,
        mean=mean,
        within=within.astype(np.float64),
        n_records=len(w),
        left_out=len(known) - len(w),
        effective=float(w.sum() ** 2 / (w @ w)) if len(w) else 0.0,
    )


def _places(values: Sequence[FloatArray], n: int) -> tuple[IntArray, int, IntArray]:
    """The cell of each record, how many there are, and one record of each."""
    if not values or not n:
        return np.zeros(n, dtype=np.int64), min(n, 1), np.arange(min(n, 1))
    found = [np.unique(own, return_inverse=True) for own in values]
    coding = Coding.of_sizes([len(distinct) for distinct, _ in found])
    words = coding.encode(np.stack([place for _, place in found], axis=1).astype(np.int64))
    cells, place = distinct_rows(words)
    first = np.zeros(len(cells), dtype=np.int64)
    first[place] = np.arange(n)
    return place, len(cells), first


def weights_of(table: pa.Table, name: str | None) -> FloatArray:
    """The weight of each record, 1 without a column; raises WeightError for what is no weight."""
    if name is None:
        return np.ones(table.num_rows)
    weight = _numbers(table.column(name).combine_chunks())
    if not np.all(np.isfinite(weight) & (weight >= 0)):
        raise WeightError(must_be("weight", "a number of 0 or more for every record", "another"))
    return weight
