"""Records with missing key values: what they match, under which policy, and what is refused."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.engines.matching import MatchedCells, matched_cells
from discreet.errors import InputError, Interrupted, WeightError
from discreet.numerics.arrays import FloatArray, IntArray

MISSING = 9


def counts(levels, records=None, *, policy="wildcard", missing=MISSING, **options) -> list[float]:
    """Sample counts of cells of one record each, unless said, with one missing code for all."""
    levels = np.array(levels)
    records = np.ones(len(levels), dtype=int) if records is None else np.array(records)
    codes = [missing] * levels.shape[1]
    return list(matched_cells(levels, codes, records, policy=policy, **options).sample_count)


STATUS = [[0, 0], [0, 1], [0, MISSING]]  # one region; single, married, unknown


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"policy": "wildcard"}, [3, 3, 5]),
        ({"policy": "conservative"}, [2, 2, 5]),
        ({"policy": "wildcard", "missing_weight": 0.4}, [2.4, 2.4, 2.6]),
        ({"policy": "wildcard", "missing_weight": 0}, [2, 2, 1]),
    ],
)
def test_two_single_two_married_one_unknown(options, expected):
    # The example in the comments of sdcMicro's tests/testthat/test_freqCalc.R: its methods 1 and 2
    # have the first two answers, its method 3 has 2.4 for complete records (and leaves it open
    # what an incomplete one counts).
    assert counts(STATUS, [2, 2, 1], **options) == pytest.approx(expected, rel=1e-15)


def test_matching_is_not_transitive():
    assert counts([[0, MISSING], [MISSING, MISSING], [1, MISSING]]) == [2, 3, 2]


def test_incomplete_records_of_one_cell_need_what_they_lack():
    assert counts([[0, MISSING]], [4]) == [4]
    assert counts([[0, MISSING]], [4], missing_weight=0.5) == [2.5]
    assert counts([[0, MISSING]], [4], policy="conservative") == [1]


def test_record_that_lacks_everything_matches_everyone():
    levels = [[0, 0], [1, 2], [MISSING, 4], [MISSING, MISSING]]
    assert counts(levels, [3, 1, 2, 1]) == [4, 2, 3, 7]
    assert counts(levels, [3, 1, 2, 1], policy="conservative") == [3, 1, 1, 5]


def test_all_records_lack_everything():
    assert counts([[MISSING, MISSING]], [6]) == [6]
    assert counts([[MISSING, MISSING]], [6], policy="conservative") == [1]


def test_one_record_counts_itself():
    assert counts([[3]]) == [1]
    assert counts([[MISSING]], policy="conservative") == [1]


def test_no_cells_no_counts():
    found = matched_cells(np.zeros((0, 2), int), [0, -1], np.zeros(0, int), [], policy="wildcard")
    assert found.sample_count.shape == (0,)
    assert found.weight_total is not None
    assert found.weight_total.shape == (0,)


def test_missing_level_is_a_level_of_its_key_alone():
    levels = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    found = matched_cells(levels, [1, -1], np.ones(4, int), policy="wildcard")
    assert found.sample_count.tolist() == [2, 2, 2, 2]
    found = matched_cells(levels, [-1, -1], np.ones(4, int), policy="wildcard")
    assert found.sample_count.tolist() == [1, 1, 1, 1]
    found = matched_cells(levels, [5, 2**62], np.ones(4, int), policy="wildcard")
    assert found.sample_count.tolist() == [1, 1, 1, 1]


def test_level_codes_may_be_huge():
    top = 2**63 - 1
    levels = np.array([[top, 2**62], [top, top - 1], [5, 2**62], [0, 2**62]])
    found = matched_cells(levels, [0, top - 1], np.ones(4, int), policy="wildcard")
    assert found.sample_count.tolist() == [3, 3, 2, 4]


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.uint64])
def test_any_whole_number_type(dtype):
    levels = np.array(STATUS, dtype)
    found = matched_cells(levels, [9, 9], np.array([2, 2, 1], dtype), policy="wildcard")
    assert found.sample_count.tolist() == [3, 3, 5]


def test_counts_are_exact_up_to_2_to_53():
    half = 2**52
    assert counts([[0], [1], [MISSING]], [half - 1, half - 5, 1]) == [half, half - 4, 2**53 - 5]


def test_weight_total_of_an_incomplete_cell_is_the_mean_over_its_records():
    found = matched_cells(
        np.array(STATUS), [9, 9], [2, 2, 3], [10.0, 20.0, 12.0],
        policy="wildcard", missing_weight=0.5,
    )  # fmt: skip
    assert found.weight_total is not None
    assert found.weight_total.tolist() == [10 + 6, 20 + 6, 4 + 0.5 * (8 + 30)]
    found = matched_cells(
        np.array(STATUS), [9, 9], [2, 2, 3], [10.0, 20.0, 12.0], policy="conservative"
    )
    assert found.weight_total is not None
    assert found.weight_total.tolist() == [10, 20, 4 + 30]


def test_without_weights_there_is_no_weight_total():
    assert matched_cells([[0]], [-1], [1], policy="wildcard").weight_total is None


def test_results_are_read_only():
    found = matched_cells([[0]], [-1], [1], [2.5], policy="wildcard")
    assert found.weight_total is not None
    for array in (found.sample_count, found.weight_total):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


Sample = tuple[IntArray, IntArray, FloatArray]


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    """Distinct cells with records and weights of very different size."""
    n_keys = draw(st.integers(1, 4))
    row = st.tuples(*[st.sampled_from([0, 1, 2, MISSING])] * n_keys)
    rows = draw(st.lists(row, min_size=1, max_size=40, unique=True))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    weights = 10.0 ** rng.uniform(-8, 8, len(rows))
    return np.array(rows), rng.integers(1, 6, len(rows)), weights


def wildcard(sample: Sample, w: float = 1.0) -> MatchedCells:
    """The sample matched with wildcards."""
    levels, records, weights = sample
    codes = [MISSING] * levels.shape[1]
    return matched_cells(levels, codes, records, weights, policy="wildcard", missing_weight=w)


def conservative(sample: Sample) -> MatchedCells:
    """The sample matched with care."""
    levels, records, weights = sample
    return matched_cells(levels, [9] * levels.shape[1], records, weights, policy="conservative")


def totals(found: MatchedCells) -> FloatArray:
    """The weight totals, which are there."""
    assert found.weight_total is not None
    return found.weight_total


@settings(max_examples=100)
@given(samples(), st.sampled_from([0.0, 0.3, 0.5, 1.0]), st.randoms(use_true_random=False))
def test_the_order_of_cells_changes_no_bit(sample, w, random):
    levels, records, weights = sample
    order = list(range(len(levels)))
    random.shuffle(order)
    found, shuffled = (
        wildcard(sample, w),
        wildcard((levels[order], records[order], weights[order]), w),
    )
    assert shuffled.sample_count.tolist() == found.sample_count[order].tolist()
    assert totals(shuffled).tolist() == totals(found)[order].tolist()


@settings(max_examples=100)
@given(samples(), st.randoms(use_true_random=False))
def test_neither_the_order_of_keys_nor_the_codes_matter(sample, random):
    levels, records, weights = sample
    keys = list(range(levels.shape[1]))
    random.shuffle(keys)
    relabelled = np.array([7, 0, 2**40, -1, -1, -1, -1, -1, -1, 3])[levels[:, keys]]
    found = wildcard(sample)
    again = matched_cells(relabelled, [3] * len(keys), records, weights, policy="wildcard")
    assert again.sample_count.tolist() == found.sample_count.tolist()
    assert totals(again) == pytest.approx(totals(found), rel=1e-14)


@settings(max_examples=100)
@given(samples())
def test_wildcard_counts_at_least_the_own_cell_and_what_the_conservative_counts(sample):
    _, records, weights = sample
    found, careful = wildcard(sample), conservative(sample)
    assert (found.sample_count >= records).all()
    assert (found.sample_count >= careful.sample_count).all()
    assert (totals(found) >= weights).all()
    assert (totals(found) >= totals(careful) * (1 - 1e-14)).all()
    assert (careful.sample_count >= 1).all()


@settings(max_examples=100)
@given(samples())
def test_counts_grow_with_the_weight_of_a_match(sample):
    steps = [wildcard(sample, w).sample_count for w in (0.0, 0.25, 0.5, 1.0)]
    assert all((b >= a).all() for a, b in pairwise(steps))
    assert steps[2] == pytest.approx((steps[0] + steps[3]) / 2)


@settings(max_examples=60)
@given(samples())
def test_matching_is_symmetric(sample):
    levels, _, _ = sample
    matched = relation(levels)
    assert (matched == matched.T).all()
    assert matched.diagonal().all()


def relation(levels: IntArray) -> NDArray[np.bool_]:
    """Which cells match which: whose count shows that one cell has become very large."""
    n = len(levels)
    rows = []
    for j in range(n):
        records = np.ones(n, dtype=np.int64)
        records[j] += 2**20
        rows.append(counts(levels, records))
    return np.array(rows) >= 2**20


@settings(max_examples=60)
@given(samples())
def test_pairs_that_match_are_counted_from_both_sides(sample):
    levels, records, _ = sample
    found = wildcard(sample).sample_count
    alone = wildcard((levels, np.ones_like(records), np.ones(len(levels)))).sample_count
    assert (records * alone).sum() == found.sum()


def test_progress_rises_from_nought_to_one():
    told: list[float | None] = []
    rng = np.random.default_rng(0)
    levels = np.unique(
        np.where(rng.random((500, 4)) < 0.2, 9, rng.integers(0, 4, (500, 4))), axis=0
    )
    matched_cells(
        levels, [9] * 4, np.ones(len(levels), int),
        policy="wildcard", progress=lambda step, fraction: told.append(fraction),
    )  # fmt: skip
    fractions = [fraction for fraction in told if fraction is not None]
    assert fractions[0] == 0
    assert fractions[-1] == 1
    assert len(fractions) > 10
    assert fractions == sorted(fractions)


def test_progress_may_stop_the_work():
    def stop(step: str, fraction: float | None) -> None:
        if fraction:
            raise Interrupted("stopped")

    with pytest.raises(Interrupted):
        matched_cells(STATUS, [9, 9], [1, 1, 1], policy="wildcard", progress=stop)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"policy": "brave"}, "policy must be wildcard or conservative, got 'brave'"),
        ({"missing_weight": 1.5}, "missing_weight must be from 0 to 1, got 1.5"),
        ({"missing_weight": float("nan")}, "missing_weight must be from 0 to 1, got nan"),
        (
            {"policy": "conservative", "missing_weight": 0.5},
            "missing_weight must be 1 for conservative, got 0.5; only wildcard has a use for it",
        ),
        ({"levels": [0, 1]}, "levels must be a matrix of fewer than .* got the shape"),
        ({"levels": np.zeros((3, 0), int), "missing": []}, "levels must be a matrix"),
        ({"levels": [[0.0, 1.0]] * 3}, "levels must be whole-number codes, got the type float64"),
        ({"levels": [[0, -1], [0, 1], [0, 2]]}, "levels must be codes from 0 to 2"),
        ({"levels": [[0, 1], [1, 1], [0, 1]]}, "levels must be distinct cells.* at rows 0 and 2"),
        ({"levels": [[0, 9], [1, 1], [0, 9]]}, "levels must be distinct cells.* at rows 0 and 2"),
        ({"missing": [9]}, r"missing must be 2 codes, one a key, or -1, got \[9\]"),
        ({"missing": [9, -2]}, r"missing must be 2 codes, one a key, or -1, got \[9, -2\]"),
        ({"missing": [9.0, 9.0]}, "missing must be whole-number codes, got the type float64"),
        ({"records": [1, 1]}, "records must be 3 whole numbers, one a cell, got the shape"),
        ({"records": [1.0, 1.0, 1.0]}, "records must be 3 whole numbers.* type float64"),
        ({"records": [1, 0, 1]}, "records must be at least 1 in each cell, got fewer at row 1"),
        ({"records": [2**52, 2**52, 1]}, "records must be fewer than 2.*53 in all, got more"),
        ({"records": [2**62, 2**62, 2**62]}, "records must be fewer than 2.*53 in all, got more"),
    ],
)
def test_what_cannot_be_matched_is_refused(change, message):
    given_: dict[str, object] = {
        "levels": STATUS, "missing": [9, 9], "records": [1, 1, 1], "policy": "wildcard"
    } | change  # fmt: skip
    with pytest.raises(InputError, match=message):
        matched_cells(**given_)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], "weights must be 3 numbers, one a cell, got the shape"),
        ([1.0, 0.0, 1.0], "weights must be positive and finite, got another at row 1"),
        ([1.0, 1.0, -1.0], "weights must be positive and finite, got another at row 2"),
        ([float("nan"), 1.0, 1.0], "weights must be positive and finite, got another at row 0"),
        ([float("inf"), 1.0, 1.0], "weights must be positive and finite, got another at row 0"),
        ([1e308, 1e308, 1e308], "weights must be numbers with a finite sum, got larger ones"),
    ],
)
def test_weights_that_cannot_be_are_refused(weights, message):
    with pytest.raises(WeightError, match=message):
        matched_cells(STATUS, [9, 9], [1, 1, 1], weights, policy="wildcard")


@pytest.mark.parametrize(("weight", "records"), [(0.29, 100), (0.07, 100), (0.1, 30), (0.57, 100)])
def test_a_count_that_is_whole_but_for_rounding_is_whole(weight, records):
    """0.29 · 100 is 28.999999999999996 in floats, and 30 records are not fewer than 30."""
    found = counts([[0, 0], [0, MISSING]], [1, records], missing_weight=weight)
    assert found[0] == 1 + round(weight * records)


def test_a_match_that_hardly_counts_is_one_all_the_same():
    assert counts([[0, 0], [0, MISSING]], missing_weight=1e-12)[0] > 1
