"""A rounded S2: which factorisations fit, and what that leaves to the snooper."""

from decimal import Decimal

import pytest

from discreet.compoisson import truncation
from discreet.compoisson.factorisation_search import factorisations
from discreet.compoisson.knowledge import Knowledge
from discreet.compoisson.statistics import CountStatistics, DecimalLog, decimal_log
from discreet.compoisson.truncation import reconstruct_truncated
from discreet.errors import InputError
from discreet.figures import Unavailable

DISASTERS = dict(enumerate([15, 20, 9, 5, 2]))
STATISTICS = CountStatistics.of_counts(DISASTERS)


def released(decimals, truncate=False):
    return decimal_log(STATISTICS, decimals, truncate=truncate)


@pytest.mark.parametrize("truncate", [True, False])
@pytest.mark.parametrize("decimals", [0, 1, 2, 6, 40])
def test_the_true_factorisation_is_always_found(decimals, truncate):
    found = list(factorisations(51, 61, released(decimals, truncate)))
    assert dict(STATISTICS.factorisation) in found


def test_many_decimals_are_as_good_as_all():
    assert list(factorisations(51, 61, released(40))) == [dict(STATISTICS.factorisation)]


def test_fewer_decimals_leave_more_tables():
    found = [reconstruct_truncated(51, 61, released(d), truth=DISASTERS) for d in (6, 1, 0)]
    assert [one.count for one in found] == [7, 41, 461]
    risks = [one.laws["proper"].truth_probability.value for one in found]
    assert risks == sorted(risks, reverse=True)
    assert risks[0] == pytest.approx(0.363, abs=5e-4)


def test_knowledge_takes_tables_away():
    every = reconstruct_truncated(51, 61, released(0))
    fewer = reconstruct_truncated(51, 61, released(0), Knowledge(largest=4), truth=DISASTERS)
    assert fewer.count < every.count
    assert fewer.knowledge == ("the largest value is 4",)


def test_many_tables_are_weighed_without_a_list(monkeypatch):
    listed = reconstruct_truncated(51, 61, released(1), truth=DISASTERS)
    monkeypatch.setattr(truncation, "MOST_LISTED", 10)
    mixed = reconstruct_truncated(51, 61, released(1), truth=DISASTERS)
    assert mixed.count == listed.count
    for name, law in listed.laws.items():
        other = mixed.laws[name]
        assert other.entropy.value == pytest.approx(law.entropy.value, abs=1e-9)
        assert other.truth_probability.value == pytest.approx(law.truth_probability.value)
        assert other.best_guess_probability.value == pytest.approx(law.best_guess_probability.value)
    assert [b.tolist() for b in mixed.bounds] == [b.tolist() for b in listed.bounds]


def test_the_dispersion_matters_within_wide_intervals_only():
    for decimals, tolerance in ((6, 1e-9), (1, 0.05)):
        low, high = (
            reconstruct_truncated(51, 61, released(decimals), dispersion=nu, truth=DISASTERS)
            for nu in (0.0, 2.0)
        )
        first, second = (one.laws["proper"].truth_probability.value for one in (low, high))
        assert first == pytest.approx(second, abs=tolerance)


def test_no_table_near_a_decimal():
    with pytest.raises(InputError, match="no product of factorials lies near it"):
        reconstruct_truncated(51, 61, DecimalLog(Decimal("21.550000"), 6))


@pytest.mark.parametrize(
    ("n", "total", "words"), [(0, 61, "n must be at least 1"), (51, 0, "total must be above zero")]
)
def test_impossible_sizes(n, total, words):
    with pytest.raises(InputError, match=words):
        reconstruct_truncated(n, total, released(2))


def test_truth_with_other_statistics():
    with pytest.raises(InputError, match="one with the released statistics"):
        reconstruct_truncated(51, 61, released(2), truth={0: 1, 1: 3})


def test_a_search_that_does_not_fit(monkeypatch):
    monkeypatch.setattr(truncation, "MOST_FACTORISATIONS", 3)
    got = reconstruct_truncated(51, 61, released(0))
    assert isinstance(got, Unavailable)
    assert "more than 3 factorisations" in got.reason
    big = CountStatistics.of_counts({0: 900, 1: 500, 2: 100, 400: 1})
    got = reconstruct_truncated(big.n, big.total, decimal_log(big, 2, truncate=False))
    assert isinstance(got, Unavailable)
    assert "state the largest value" in got.reason


def test_ones_only():
    ones = CountStatistics.of_counts({0: 3, 1: 4})
    found = reconstruct_truncated(7, 4, decimal_log(ones, 3, truncate=False))
    assert found.count == 1
    assert found.laws["proper"].entropy.value == 0
