"""Samples of a file: whom they hold, and what their weights stand for."""

import numpy as np
import pytest
from scipy.stats import chi2
from tests.oracles.made_up_records import records_of

from discreet.errors import InputError
from discreet.masks.records.sampling import Subsample


def rng(seed=1):
    return np.random.default_rng(seed)


def file_of(n, **beside):
    return records_of({"a": list(range(n))}, **beside)


def test_weights_stand_for_the_file():
    sample = Subsample(size=4).applied(file_of(10, weight=range(1, 11)), rng())
    assert len(sample) == 4
    assert (np.diff(sample.rows) > 0).all()
    assert sample.weight.tolist() == ((sample.rows + 1) * 10 / 4).tolist()
    assert np.array_equal(sample.levels[:, 0], sample.rows)


def test_the_total_is_kept_on_average():
    """The mean of the estimated total over 4,000 samples is within 4 standard errors, and its
    variance is N²(1 − n/N)S²/n (Cochran 1977, theorem 2.2)."""
    weight = np.array([1.0, 2, 4, 8, 16, 32])
    records, made = file_of(6, weight=weight), rng(3)
    totals = [Subsample(size=3).applied(records, made).weight.sum() for _ in range(4000)]
    variance = 36 * (1 - 3 / 6) * weight.var(ddof=1) / 3
    assert abs(np.mean(totals) - 63) < 4 * np.sqrt(variance / 4000)
    assert np.var(totals) == pytest.approx(variance, rel=0.1)


def test_every_sample_is_as_probable():
    n, made = 4000, rng(2)
    seen = np.zeros(32)
    for _ in range(n):
        rows = Subsample(size=2).applied(file_of(5), made).rows
        seen[(1 << rows).sum()] += 1
    open_to = [s for s in range(32) if s.bit_count() == 2]
    assert seen[open_to].sum() == n
    statistic = ((seen[open_to] - n / 10) ** 2 / (n / 10)).sum()
    assert 1e-4 < chi2.sf(statistic, 9) < 1 - 1e-4


def test_whole_households():
    records = file_of(6, household=[3, 3, 9, 5, 5, 5], weight=[1] * 6)
    seen = set()
    for seed in range(30):
        sample = Subsample(size=2, households=True).applied(records, rng(seed))
        seen.add(tuple(sample.rows))
        assert set(sample.weight) == {1.5}
    assert seen == {(0, 1, 2), (0, 1, 3, 4, 5), (2, 3, 4, 5)}


def test_households_of_one():
    one = Subsample(share=0.3).applied(file_of(50), rng(4))
    other = Subsample(share=0.3, households=True).applied(file_of(50, household=range(50)), rng(4))
    assert np.array_equal(one.rows, other.rows)


@pytest.mark.parametrize(
    ("share", "n", "drawn"), [(1, 7, 7), (0.001, 7, 1), (0.1, 30, 3), (0.5, 7, 4), (0.2, 0, 0)]
)
def test_a_share_is_rounded_up(share, n, drawn):
    sample = Subsample(share=share).applied(file_of(n, sizes={"a": 100}, weight=[2] * n), rng())
    assert len(sample) == drawn
    if drawn:
        assert sample.weight.tolist() == [2 * n / drawn] * drawn


def test_all_of_a_file_is_the_file():
    records = file_of(9, weight=np.linspace(0.1, 3, 9))
    sample = Subsample(size=9).applied(records, rng())
    assert np.array_equal(sample.rows, records.rows)
    assert sample.weight == pytest.approx(records.weight, rel=1e-15)


def test_a_file_without_weights_has_none_afterwards():
    assert Subsample(size=1).applied(file_of(3), rng()).weight is None


def test_the_same_seed_the_same_sample():
    one, same, other = (Subsample(share=0.5).applied(file_of(99), rng(s)).rows for s in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "a sample must be given by either share or size, got neither"),
        ({"share": 0.1, "size": 3}, "a sample must be given by either share or size, got both"),
        ({"share": 0}, "share must be a number above 0, at most 1, got 0"),
        ({"share": 1.01}, "share must be a number above 0, at most 1, got 1.01"),
        ({"size": 0}, "size must be a whole number of at least 1, got 0"),
        ({"size": 2.0}, "size must be a whole number of at least 1, got 2.0"),
        ({"size": True}, "size must be a whole number of at least 1, got True"),
        ({"size": 1, "households": "no"}, "households must be True or False, got 'no'"),
    ],
)
def test_what_no_sample_can_be(options, message):
    with pytest.raises(InputError) as complaint:
        Subsample(**options)
    assert str(complaint.value) == message


@pytest.mark.parametrize(("households", "units"), [(False, "records"), (True, "households")])
def test_more_than_there_are(households, units):
    records = file_of(3, household=[0, 1, 2])
    with pytest.raises(InputError, match=f"size must be at most the number of {units}, got 4"):
        Subsample(size=4, households=households).applied(records, rng())


def test_a_file_without_households():
    with pytest.raises(InputError, match="households must be known for every record, got none"):
        Subsample(size=1, households=True).applied(file_of(3), rng())


def test_words():
    assert Subsample(share=0.125).in_words == "keep a random 12.5 % of the records"
    assert Subsample(size=2000, households=True).in_words == (
        "keep 2,000 households drawn at random"
    )
    assert "with a chance of 12.5 %" in Subsample(share=0.125).still_possible
    assert "with a chance of the share drawn" in Subsample(size=3).still_possible
