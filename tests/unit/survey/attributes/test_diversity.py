"""Diversity of the sensitive values of a cell: worked examples, absent cells, refusals."""

import dataclasses
import itertools
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.figures import Unavailable
from discreet.survey.attributes.diversity import (
    SensitiveCounts,
    concentration,
    distinct_diversity,
    entropy_diversity,
    recursive_diversity,
    rows_by,
)


def table(*cells: dict[int, int], sample_count: np.ndarray | None = None) -> SensitiveCounts:
    """Counts from one mapping of value to records for each cell."""
    rows = [(k, v, n) for k, cell in enumerate(cells) for v, n in sorted(cell.items())]
    cell, value, records = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    return SensitiveCounts(
        cell=cell,
        value=value,
        records=records,
        n_cells=len(cells),
        n_values=int(value.max()) + 1,
        sample_count=sample_count,
    )


HOSPITAL = table({0: 1, 1: 1, 2: 2}, {0: 1, 1: 2, 2: 1}, {2: 4})
"""Three cells of four patients; heart disease, viral infection, cancer."""


HALF: Any = 2.5


def test_distinct_values_of_each_cell():
    found = distinct_diversity(HOSPITAL)
    assert found.value.tolist() == [3, 3, 1]
    assert (found.worst, found.worst_cell) == (1, 2)
    failing = found.failing(2)
    assert failing.cell.tolist() == [False, False, True]
    assert (failing.cells, failing.records) == (1, 4)
    assert (failing.cell_share, failing.record_share) == (1 / 3, 1 / 3)
    assert (failing.absent_cells, failing.absent_records) == (0, 0)
    assert failing.meaning == (
        "1 of 3 cells, with 4 of 12 records, break the rule: at least 2 different sensitive values"
    )


def test_entropy_is_the_number_of_equally_frequent_values():
    found = entropy_diversity(HOSPITAL)
    assert found.value[0] == pytest.approx(2**1.5, rel=1e-15)
    assert found.value[2] == 1
    assert found.worst_cell == 2
    assert found.failing(2.8).cell.tolist() == [False, False, True]
    assert found.failing(2.83).cell.tolist() == [True, True, True]


@pytest.mark.parametrize("n", [2, 3, 5, 6, 7, 10, 49, 1000])
@pytest.mark.parametrize("each", [1, 3, 10**9 + 7])
def test_equal_counts_are_exactly_as_diverse_as_they_are_many(n, each):
    found = entropy_diversity(table(dict.fromkeys(range(n), each)))
    assert found.value.tolist() == [n]
    assert found.failing(n).cells == 0


def test_entropy_that_meets_the_threshold_without_equal_counts_passes():
    counts = table({0: 4, 1: 1, 2: 1, 3: 1, 4: 1})  # exp(H) = 2^(1/2) · 8^(1/2) = 4
    assert entropy_diversity(counts).failing(4).cells == 0
    assert entropy_diversity(counts).failing(4.000001).cells == 1


def test_entropy_of_a_nearly_certain_value_stays_at_or_above_one():
    value = entropy_diversity(table({0: 2**52, 1: 1})).value[0]
    assert 1 <= value < 1 + 1e-13


def test_recursive_ratio_drops_the_most_frequent_values():
    counts = table({0: 5, 1: 3, 2: 2, 3: 1}, {0: 1, 3: 7})
    assert recursive_diversity(counts, 1).value.tolist() == [5 / 11, 7 / 8]
    assert recursive_diversity(counts, 2).value.tolist() == [5 / 6, 7]
    third = recursive_diversity(counts, 3)
    assert third.value.tolist() == [5 / 3, None]
    assert third.too_few.tolist() == [False, True]
    assert third.worst_cell == 1
    assert third.worst == Unavailable(
        "no c is large enough: fewer than 3 sensitive values in 1 of the cells"
    )
    assert recursive_diversity(counts, 2).worst == 7
    assert recursive_diversity(counts, 2).worst_cell == 1


def test_recursive_diversity_is_strict():
    counts = table({0: 3, 1: 1})
    assert recursive_diversity(counts, 2).failing(3).cells == 1
    assert recursive_diversity(counts, 2).failing(3.0001).cells == 0
    assert recursive_diversity(table({0: 1, 1: 10}), 1).failing(10 / 11).cells == 1


def test_cells_with_too_few_values_fail_for_every_c():
    failing = recursive_diversity(HOSPITAL, 2).failing(1e300)
    assert failing.cell.tolist() == [False, False, True]
    assert failing.judged_cells == 3
    assert recursive_diversity(HOSPITAL, 10**30).failing(1).cells == 3


def test_alpha_and_k_both_count():
    found = concentration(table({0: 3, 1: 7}, {0: 1, 1: 1}, {0: 5, 1: 5}))
    assert found.value.tolist() == [0.7, 0.5, 0.5]
    assert (found.worst, found.worst_cell) == (0.7, 0)
    assert found.failing(0.7, 1).cells == 0
    assert found.failing(0.69, 1).cell.tolist() == [True, False, False]
    assert found.failing(0.69, 3).cell.tolist() == [True, True, False]
    assert found.failing(1, 11).records == 22


@pytest.mark.parametrize("n", [2, 5, 10, 20, 25, 40, 100, 1000])
def test_a_share_equal_to_alpha_in_decimals_passes(n):
    for top in range((n + 1) // 2, n):
        alpha = float(str(Decimal(top) / Decimal(n)))
        assert concentration(table({0: top, 1: n - top})).failing(alpha, 1).cells == 0
        assert concentration(table({0: top + 1, 1: n - top})).failing(alpha, 1).cells == 1


EVERY = [
    distinct_diversity,
    entropy_diversity,
    concentration,
    lambda counts: recursive_diversity(counts, 1),
]


@pytest.mark.parametrize("measure", EVERY)
def test_a_cell_without_a_value_has_no_measure(measure):
    counts = table({}, {0: 2, 1: 1}, {}, sample_count=np.array([4, 3, 1]))
    found = measure(counts)
    assert found.value.mask.tolist() == [True, False, True]
    assert found.worst_cell == 1
    assert found.per_record([0, 1, 1, 2]).mask.tolist() == [True, False, False, True]
    whole = measure(table({0: 2, 1: 1}))
    assert found.value[1] == whole.value[0]
    assert found.worst == whole.worst


@pytest.mark.parametrize(
    "fail",
    [
        lambda counts: distinct_diversity(counts).failing(9),
        lambda counts: entropy_diversity(counts).failing(9),
        lambda counts: recursive_diversity(counts, 9).failing(1),
        lambda counts: recursive_diversity(counts, 1).failing(0.01),
        lambda counts: concentration(counts).failing(0.01, 1),
    ],
)
def test_totals_say_what_could_not_be_judged(fail):
    known = fail(table({}, {0: 2, 1: 1}, {}, sample_count=np.array([4, 5, 1])))
    assert known.cell.tolist() == [False, True, False]
    assert (known.cells, known.records, known.judged_cells, known.judged_records) == (1, 5, 1, 5)
    assert (known.absent_cells, known.absent_records) == (2, 5)
    assert "2 more have no sensitive value" in known.meaning
    unknown = fail(table({}, {0: 2, 1: 1}, {}))
    assert (unknown.records, unknown.absent_cells) == (3, 2)
    assert isinstance(unknown.absent_records, Unavailable)


def test_a_small_cell_without_a_value_still_breaks_k():
    counts = table({}, {0: 2, 1: 2}, {}, sample_count=np.array([1, 4, 6]))
    failing = concentration(counts).failing(0.5, 3)
    assert failing.cell.tolist() == [True, False, False]
    assert (failing.judged_cells, failing.absent_cells, failing.absent_records) == (2, 1, 6)


def test_missing_counts_as_a_value_only_where_it_is_coded_as_one():
    for missing, distinct in ((-1, 1), (1, 2)):
        counts = SensitiveCounts.of_records([0, 0], [0, missing], n_cells=1, n_values=2)
        assert distinct_diversity(counts).value.tolist() == [distinct]


def test_counting_records():
    counts = SensitiveCounts.of_records(
        [2, 0, 2, 2, 1, 0], [1, 0, 0, 1, -1, -1], n_cells=3, n_values=2
    )
    assert counts.cell.tolist() == [0, 2, 2]
    assert counts.value.tolist() == [0, 0, 1]
    assert counts.records.tolist() == [1, 1, 2]
    assert counts.sample_count is not None
    assert counts.sample_count.tolist() == [2, 1, 3]
    assert (counts.n_records, counts.known.tolist()) == (4, [0, 2])


def test_each_record_has_the_figure_of_its_cell():
    assert distinct_diversity(HOSPITAL).per_record([2, 0, 2]).tolist() == [1, 3, 1]
    with pytest.raises(InputError, match="cell must be below 3, got 3 at row 1"):
        distinct_diversity(HOSPITAL).per_record([0, 3])
    with pytest.raises(InputError, match="cell must be at least 0, got -1 at row 0"):
        distinct_diversity(HOSPITAL).per_record([-1])


@pytest.mark.parametrize("measure", EVERY)
def test_results_cannot_be_changed(measure):
    found = measure(HOSPITAL)
    with pytest.raises(ValueError, match="read-only"):
        found.value[0] = 5
    with pytest.raises(ValueError, match="read-only"):
        found.value[0] = np.ma.masked
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.value = found.value
    assert isinstance(found.meaning, str)


def test_flags_and_counts_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        distinct_diversity(HOSPITAL).failing(2).cell[0] = True
    with pytest.raises(ValueError, match="read-only"):
        recursive_diversity(HOSPITAL, 2).too_few[0] = True
    with pytest.raises(ValueError, match="read-only"):
        HOSPITAL.records[0] = 2


def test_the_arrays_of_the_caller_stay_writable():
    cell = np.array([0, 1])
    SensitiveCounts(cell=cell, value=cell, records=cell + 1, n_cells=2, n_values=2)
    distinct_diversity(HOSPITAL).per_record(cell)
    cell[0] = 1


def test_order_of_rows_is_the_same_when_codes_are_too_large_to_pack():
    cell, value = np.array([0, 0, 5, 5, 5]), np.array([1, 2, 0, 1, 2])
    key = np.array([7, 3, 2, 9, 0])
    few = SensitiveCounts(cell=cell, value=value, records=value + 1, n_cells=6, n_values=3)
    many = dataclasses.replace(few, n_cells=2**62)
    assert rows_by(few, key).tolist() == rows_by(many, key).tolist() == [1, 0, 4, 2, 3]


def test_huge_counts_stay_exact():
    top = 2**51
    counts = table({0: top, 1: top - 1, 2: 1})
    assert recursive_diversity(counts, 2).value.tolist() == [1]
    assert recursive_diversity(counts, 2).failing(1).cells == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: distinct_diversity(HOSPITAL).failing(0), "l must be a whole number of at least 1"),
        (lambda: distinct_diversity(HOSPITAL).failing(HALF), "l must be a whole number .*got 2.5"),
        (lambda: entropy_diversity(HOSPITAL).failing(0.5), "l must be a number of at least 1"),
        (lambda: entropy_diversity(HOSPITAL).failing(math.nan), "l must be .*got nan"),
        (lambda: entropy_diversity(HOSPITAL).failing(math.inf), "l must be .*got inf"),
        (lambda: recursive_diversity(HOSPITAL, 0), "l must be a whole number of at least 1, got 0"),
        (lambda: recursive_diversity(HOSPITAL, 2).failing(0), "c must be a number above 0, got 0"),
        (lambda: concentration(HOSPITAL).failing(0, 2), "alpha must be above 0 and at most 1"),
        (lambda: concentration(HOSPITAL).failing(1.1, 2), "alpha must be .*got 1.1"),
        (lambda: concentration(HOSPITAL).failing(0.5, 0), "k must be a whole number of at least 1"),
    ],
)
def test_thresholds_that_make_no_sense_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


GOOD = {
    "cell": np.array([0, 0, 1]),
    "value": np.array([0, 1, 1]),
    "records": np.array([3, 1, 2]),
    "n_cells": 2,
    "n_values": 2,
}
EMPTY = np.array([], dtype=np.int64)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cell": np.array([0, 1, 0])}, "rows must be each pair .* ascending, got .* at row 2"),
        ({"value": np.array([1, 1, 1])}, "rows must be each pair of cell and value once"),
        ({"cell": np.array([0, 0, 2])}, "cell must be below 2, got 2 at row 2"),
        ({"value": np.array([0, 2, 1])}, "value must be below 2, got 2 at row 1"),
        ({"cell": np.array([-1, 0, 1])}, "cell must be at least 0, got -1 at row 0"),
        ({"records": np.array([3, 0, 2])}, "records must be at least 1, got 0 at row 1"),
        ({"records": np.array([3, 1])}, r"records must be as long as cell \(3\), got 2"),
        ({"records": np.array([3.0, 1, 2])}, "records must be a row of whole numbers, got float64"),
        ({"records": np.full(3, 2**62)}, r"records must be fewer than 2\^53 in all"),
        ({"cell": EMPTY, "value": EMPTY, "records": EMPTY}, "variable must be known for some"),
        ({"order": np.array(["a", "b"])}, "order must be numbers, for a distance .*got type <U1"),
        ({"order": np.array([1.0])}, "order must be one number for each of 2 values"),
        ({"sample_count": np.array([4])}, "sample_count must be one for each of 2 cells, got 1"),
        ({"sample_count": np.array([3, 2])}, "sample_count must be .*got fewer at cell 0"),
        ({"sample_count": np.array([4, 0])}, "sample_count must be at least 1, got 0 at row 1"),
    ],
)
def test_counts_that_cannot_be_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        SensitiveCounts(**(GOOD | change))


@pytest.mark.parametrize(
    ("cell", "value", "sizes", "message"),
    [
        ([0], [0, 1], (1, 2), r"value must be as long as cell \(1\), got 2"),
        ([2], [0], (2, 2), "cell must be below 2, got 2"),
        ([0], [2], (2, 2), "value must be below 2, got 2"),
        ([0], [-2], (2, 2), "value must be at least -1, got -2"),
        ([0], [-1], (1, 0), "sensitive variable must be known for some record, got none"),
        ([0], [0], (2**40, 2**40), r"cells times values must be below 2\^63"),
    ],
)
def test_records_that_cannot_be_counted_are_refused(cell, value, sizes, message):
    with pytest.raises(InputError, match=message):
        SensitiveCounts.of_records(
            np.array(cell), np.array(value), n_cells=sizes[0], n_values=sizes[1]
        )


@pytest.mark.parametrize("bits", [-3, 0, 3])
def test_of_cells_that_are_equally_bad_the_first_is_named_whatever_the_last_bits(bits):
    cells = [dict(enumerate(order)) for order in itertools.permutations((1, 2, 4, 7))]
    found = entropy_diversity(table({0: 1, 1: 1, 2: 1, 3: 1}, *cells))
    assert found.worst_cell == 1
    value = found.value.copy()
    value[2] *= 1 + bits * 2.0**-52
    assert dataclasses.replace(found, value=value).worst_cell == 1
    assert found.worst == found.value.min()
