"""Post-randomisation: matrices, what they keep on average, and draws that follow them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2
from tests.oracles.made_up_records import column, drawn_records, records_of

from discreet.errors import ColumnError, InputError
from discreet.masks.records.pram import Pram

LIMITS = 1e-4, 1 - 1e-4  # of a p-value: too far from the chances, or too near to be drawn


def rng(seed=1):
    return np.random.default_rng(seed)


def same_as(records, other):
    return np.array_equal(records.levels, other.levels)


def shares(levels, n):
    return np.bincount(levels, minlength=n) / len(levels)


levels_and_strata = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=40
)


@given(levels_and_strata, st.floats(0, 1))
def test_expected_margins_stay_in_every_stratum(pairs, retention):
    records = records_of(
        {"a": [a for a, _ in pairs], "s": [s for _, s in pairs]}, sizes={"a": 5, "s": 3}
    )
    fitted = Pram(key="a", retention=retention, strata=("s",)).fitted(records)
    assert fitted.n_strata == len({s for _, s in pairs})
    for number, (stratum,) in enumerate(fitted.combinations):
        p = shares([a for a, s in pairs if s == stratum], 5)
        P = fitted.matrix(number)
        assert P.sum(axis=1) == pytest.approx(np.ones(5), abs=1e-12)
        assert p @ P == pytest.approx(p, abs=1e-12)
        assert P.min() >= 0
        # The share that stays is what was asked for, or that of values drawn anew.
        assert p @ np.diag(P) == pytest.approx(max(retention, p @ p), abs=1e-12)


def test_the_matrix_by_hand():
    """p = (3/4, 1/4), c = 10/16: θ = (.8 − .625)/.375 = 7/15, P = θI + (1 − θ)1pᵀ."""
    fitted = Pram(key="a", retention=0.8).fitted(records_of({"a": [0, 0, 0, 1]}))
    assert fitted.matrix() == pytest.approx(np.array([[13, 2], [6, 9]]) / 15)
    assert fitted.retention == pytest.approx(0.8)


def test_the_retention_of_all_strata():
    """One stratum keeps what is asked for, one of a single level all: (4·.6 + 2)/6."""
    records = records_of({"a": [0, 1, 0, 1, 2, 2], "s": [0, 0, 0, 0, 1, 1]})
    fitted = Pram(key="a", retention=0.6, strata=("s",)).fitted(records)
    assert fitted.retention == pytest.approx((4 * 0.6 + 2) / 6)


def fit_of(observed, expected):
    """The p-value of counts against those expected, where any are expected."""
    there = expected > 0
    assert not observed[~there].any()
    statistic = ((observed - expected)[there] ** 2 / expected[there]).sum()
    rows = (expected > 0).sum(axis=1)
    return chi2.sf(statistic, (rows - 1)[rows > 0].sum())


def transitions(before, after, n):
    found = np.zeros((n, n))
    np.add.at(found, (before, after), 1)
    return found


@pytest.mark.parametrize("retention", [0.3, 0.8])
def test_draws_follow_the_matrices(retention):
    made = rng(5)
    stratum = made.integers(0, 2, 200_000)
    level = np.minimum(made.geometric(0.4, len(stratum)) - 1 + stratum, 5)
    records = records_of({"a": level.tolist(), "s": stratum.tolist()})
    pram = Pram(key="a", retention=retention, strata=("s",))
    after = pram.applied(records, made)
    assert np.array_equal(after.levels[:, 1], stratum)
    fitted = pram.fitted(records)
    for number in range(2):
        here = stratum == number
        seen = transitions(level[here], after.levels[here, 0], 6)
        expected = seen.sum(axis=1, keepdims=True) * fitted.matrix(number)
        assert LIMITS[0] < fit_of(seen, expected) < LIMITS[1]


def test_margins_stay_on_average():
    """Over 2,000 draws the mean count of each level is within 4 standard errors of the count, which
    an expected margin that is off by 0.1 standard deviations of one draw would not be."""
    records = records_of({"a": [0] * 60 + [1] * 30 + [2] * 10})
    fitted = Pram(key="a", retention=0.7).fitted(records)
    made = rng(8)
    counts = np.array(
        [np.bincount(fitted.drawn(records, made).levels[:, 0], minlength=3) for _ in range(2000)]
    )
    P = fitted.matrix()
    variance = np.array([60, 30, 10]) @ (P * (1 - P))
    error = (counts.mean(axis=0) - [60, 30, 10]) / np.sqrt(variance / 2000)
    assert np.abs(error).max() < 4
    assert counts.var(axis=0) == pytest.approx(variance, rel=0.15)


def test_missing_stays_missing_and_is_a_stratum_of_its_own():
    records = records_of({"a": [0, None, 1, None, 2, 3], "s": [0, 0, 0, None, None, None]})
    pram = Pram(key="a", retention=0, strata=("s",))
    assert pram.fitted(records).n_strata == 2
    seen = [column(pram.applied(records, rng(i)), "a") for i in range(50)]
    assert {tuple(level is None for level in one) for one in seen} == {
        (False, True, False, True, False, False)
    }
    assert {one[0] for one in seen} == {0, 1}
    assert {one[5] for one in seen} == {2, 3}


@pytest.mark.parametrize(
    "records",
    [
        records_of({"a": [0]}),
        records_of({"a": [0, 0, 0]}),
        records_of({"a": [None, None]}),
        records_of({"a": []}, sizes={"a": 3}),
        records_of({"a": [None, 2, None]}),
    ],
    ids=["one record", "one level", "all missing", "none", "one known"],
)
@pytest.mark.parametrize("retention", [0, 0.5, 1])
def test_what_has_no_other_value_stays(records, retention):
    pram = Pram(key="a", retention=retention)
    assert same_as(pram.applied(records, rng()), records)
    assert pram.fitted(records).retention == 1


def test_keeping_all_changes_nothing():
    records = drawn_records(500, {"a": 7, "b": 2}, rng(2))
    assert same_as(Pram(key="a", retention=1).applied(records, rng()), records)


def test_ten_thousand_levels():
    records = drawn_records(20_000, {"a": 10_000}, rng(3))
    pram = Pram(key="a", retention=0.8)
    fitted = pram.fitted(records)
    assert fitted.retention == pytest.approx(0.8)
    kept = np.mean(fitted.drawn(records, rng(4)).levels == records.levels)
    assert kept == pytest.approx(0.8, abs=4 * np.sqrt(0.16 / 20_000))


def test_the_same_seed_the_same_file_and_the_records_given_stay():
    records = drawn_records(300, {"a": 5, "s": 4}, rng(6))
    before = records.levels.copy()
    pram = Pram(key="a", retention=0.5, strata=("s",))
    assert same_as(pram.applied(records, rng(9)), pram.applied(records, rng(9)))
    assert not same_as(pram.applied(records, rng(9)), pram.applied(records, rng(10)))
    assert np.array_equal(records.levels, before)


MATRIX = {"a0": {"a0": 0.7, "a1": 0.3}, "a2": {"a0": 0.2, "a1": 0.0, "a2": 0.5, "a3": 0.3}}


def test_a_given_matrix():
    records = records_of({"a": [0, 1, 2, 3, None]})
    fitted = Pram(key="a", matrix=MATRIX).fitted(records)
    assert fitted.matrix() == pytest.approx(
        np.array([[0.7, 0.3, 0, 0], [0, 1, 0, 0], [0.2, 0, 0.5, 0.3], [0, 0, 0, 1]])
    )
    assert fitted.retention == pytest.approx((0.7 + 1 + 0.5 + 1) / 4)


def test_draws_follow_a_given_matrix():
    level = rng(1).integers(0, 4, 100_000)
    records = records_of({"a": [*level.tolist(), None]})
    pram = Pram(key="a", matrix=MATRIX)
    after = column(pram.applied(records, rng(2)), "a")
    assert after[-1] is None
    seen = transitions(level, np.array(after[:-1]), 4)
    expected = seen.sum(axis=1, keepdims=True) * pram.fitted(records).matrix()
    assert LIMITS[0] < fit_of(seen, expected) < LIMITS[1]


def test_an_empty_matrix_changes_nothing():
    records = drawn_records(20, {"a": 3}, rng())
    assert same_as(Pram(key="a", matrix={}).applied(records, rng()), records)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"retention": 1.1}, "retention must be a number from 0 to 1, got 1.1"),
        ({"retention": float("nan")}, "retention must be a number from 0 to 1, got nan"),
        ({"retention": True}, "retention must be a number from 0 to 1, got True"),
        ({"retention": "0.5"}, "retention must be a number from 0 to 1, got '0.5'"),
        ({"strata": "region"}, "strata must be a tuple of names, each once, got 'region'"),
        ({"strata": ("s", "s")}, "strata must be a tuple of names, each once"),
        ({"strata": ("a",)}, "strata must be other keys than the one that changes, got a"),
        (
            {"retention": 0.5, "matrix": {}},
            "retention must be left out beside a matrix, got 0.5",
        ),
        (
            {"matrix": {"x": {"x": 1.5}}},
            "a probability in the row 'x' of the matrix must be a number from 0 to 1, got 1.5",
        ),
        (
            {"matrix": {"x": {"x": 0.5, "y": 0.4}}},
            "the sum of the row 'x' of the matrix must be 1, got 0.9",
        ),
    ],
)
def test_what_no_pram_can_be(options, message):
    with pytest.raises(InputError) as complaint:
        Pram(key="a", **options)
    assert message in str(complaint.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"key": "b"}, "key must be one of the keys a, s, got 'b'"),
        ({"key": "a", "strata": ("t",)}, "strata must be one of the keys a, s, got 't'"),
    ],
)
def test_keys_that_are_not_there(options, message):
    with pytest.raises(ColumnError) as complaint:
        Pram(**options).fitted(records_of({"a": [0], "s": [0]}))
    assert message in str(complaint.value)


@pytest.mark.parametrize("matrix", [{"b": {"a0": 1}}, {"a0": {"b": 1}}])
def test_values_that_are_not_there(matrix):
    with pytest.raises(
        InputError, match="names in the matrix must be values of the key a, got 'b'"
    ):
        Pram(key="a", matrix=matrix).fitted(records_of({"a": [0]}))


def test_words():
    assert Pram(key="a", retention=0.75).in_words == (
        "change a by chance, so that 75 % of the values stay"
    )
    assert Pram(key="a", matrix={}, strata=("s", "t")).in_words == (
        "change a by chance within s and t, with the given probabilities"
    )
    assert "value of a is the true one" in Pram(key="a").still_possible
    assert Pram.name == "pram"
