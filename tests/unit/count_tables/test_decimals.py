"""A rounded S2: which factorisations fit, and what that leaves to the intruder."""

from decimal import Decimal

import numpy as np
import pytest

from discreet.count_tables import decimals as module
from discreet.count_tables.decimals import reconstruct_truncated
from discreet.count_tables.factorisation_search import cell_limits, factorisations
from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.rebuilding import Effort
from discreet.count_tables.statistics import CountStatistics, DecimalLog, decimal_log
from discreet.errors import InputError
from discreet.figures import How, Unavailable

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
    risks = [one.distributions["proper"].truth_probability.value for one in found]
    assert risks == sorted(risks, reverse=True)
    assert risks[0] == pytest.approx(0.363, abs=5e-4)


def test_knowledge_takes_tables_away():
    every = reconstruct_truncated(51, 61, released(0))
    fewer = reconstruct_truncated(51, 61, released(0), Knowledge(largest=4), truth=DISASTERS)
    assert fewer.count < every.count
    assert fewer.knowledge == ("the largest value is 4",)


def test_many_tables_are_weighed_without_a_list(monkeypatch):
    listed = reconstruct_truncated(51, 61, released(1), truth=DISASTERS)
    monkeypatch.setattr(module, "MOST_LISTED", 10)
    mixed = reconstruct_truncated(51, 61, released(1), truth=DISASTERS)
    assert mixed.count == listed.count
    for name, distribution in listed.distributions.items():
        other = mixed.distributions[name]
        assert other.entropy.value == pytest.approx(distribution.entropy.value, abs=1e-9)
        assert other.truth_probability.value == pytest.approx(distribution.truth_probability.value)
        assert other.best_guess_probability.value == pytest.approx(
            distribution.best_guess_probability.value
        )
    assert [b.tolist() for b in mixed.bounds] == [b.tolist() for b in listed.bounds]


def test_the_dispersion_matters_within_wide_intervals_only():
    for decimals, tolerance in ((6, 1e-9), (1, 0.05)):
        low, high = (
            reconstruct_truncated(51, 61, released(decimals), dispersion=nu, truth=DISASTERS)
            for nu in (0.0, 2.0)
        )
        first, second = (one.distributions["proper"].truth_probability.value for one in (low, high))
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
    monkeypatch.setattr(module, "MOST_FACTORISATIONS", 3)
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
    assert found.distributions["proper"].entropy.value == 0


def test_knowledge_that_contradicts_is_blamed_and_not_the_decimal():
    released = decimal_log(STATISTICS, 2, truncate=False)
    cells = {0: (15, 15), 1: (20, 20), 2: (9, 9), 3: (5, 5), 4: (1, 1)}
    with pytest.raises(InputError) as caught:
        reconstruct_truncated(51, 61, released, Knowledge(cells=cells))
    assert str(caught.value).startswith("knowledge must be true of a table with these statistics")
    assert "the statistics alone allow 7 tables" in str(caught.value)
    assert "no product of factorials" not in str(caught.value)
    assert "not all that is known in one" in str(caught.value)
    with pytest.raises(InputError, match="none of them with what is known of f1"):
        reconstruct_truncated(51, 61, released, Knowledge(cells={0: (15, 15), 1: (19, 19)}))
    with pytest.raises(InputError, match="add up to 60 or more, and n is 51"):
        reconstruct_truncated(51, 61, released, Knowledge(cells={0: (60, None)}))
    with pytest.raises(InputError, match="have a total of 80 or more, and S1 is 61"):
        reconstruct_truncated(51, 61, released, Knowledge(cells={2: (40, None)}))
    nowhere = DecimalLog(Decimal("21.5533"), 4)
    with pytest.raises(InputError, match="no product of factorials lies near it"):
        reconstruct_truncated(51, 61, nowhere, Knowledge(cells={0: (15, 15)}))


def test_contradictions_of_the_figures():
    with pytest.raises(InputError, match="total must be above zero where S2 is, got 0; counts"):
        reconstruct_truncated(3, 0, DecimalLog(Decimal("2.08"), 2))
    released = decimal_log(STATISTICS, 2, truncate=False)
    with pytest.raises(InputError, match="known range of n must be one that holds the released n"):
        reconstruct_truncated(51, 61, released, Knowledge(n=(40, 50)))


@pytest.mark.parametrize(
    "knowledge", [Knowledge(), Knowledge(shape="unimodal"), Knowledge(cells={0: (10, 16)})]
)
def test_draws_agree_with_the_list_of_all_tables(monkeypatch, knowledge):
    released = decimal_log(STATISTICS, 0, truncate=False)
    exact = reconstruct_truncated(51, 61, released, knowledge, truth=DISASTERS, dispersion=1.0)
    monkeypatch.setattr("discreet.count_tables.decimals.MOST_FACTORISATIONS", 0)
    effort = Effort(rng=np.random.default_rng(5))
    drawn = reconstruct_truncated(
        51, 61, released, knowledge, truth=DISASTERS, dispersion=1.0, effort=effort
    )
    assert drawn.how is How.ESTIMATE
    assert exact.how is How.EXACT
    assert abs(drawn.number.value - exact.count) < 4 * drawn.number.standard_error + 1
    for name in ("proper", "all_equal"):
        one, other = exact.distributions[name], drawn.distributions[name]
        for part in ("entropy", "truth_probability"):
            true, got = getattr(one, part).value, getattr(other, part)
            assert abs(got.value - true) < 4 * got.standard_error
        assert other.best_guess_limit.value * 1.1 > one.best_guess_probability.value
        for mine, theirs in zip(one.cells, other.cells, strict=False):
            true = DISASTERS.get(mine.cell, 0)
            p, error = mine.probability(true), theirs.probability_error(true)
            assert abs(theirs.probability(true) - p) < 4.5 * error + 1e-3
            assert theirs.probability_upper(true) > p - 2 * error


def test_without_draws_or_n_there_is_a_remedy(monkeypatch):
    monkeypatch.setattr("discreet.count_tables.decimals.MOST_FACTORISATIONS", 0)
    released = decimal_log(STATISTICS, 0, truncate=False)
    assert "no draws asked for" in reconstruct_truncated(51, 61, released).reason
    hidden = reconstruct_truncated(None, 61, released, effort=Effort(rng=np.random.default_rng(1)))
    assert "state more decimals, the largest value" in hidden.reason


def test_bounds_by_corners_hold_for_every_table():
    rng = np.random.default_rng(8)
    for _ in range(12):
        counts = dict(enumerate(rng.integers(1, 7, size=int(rng.integers(3, 6))).tolist()))
        statistics = CountStatistics.of_counts(counts)
        for decimals in (0, 1, 3):
            released = decimal_log(statistics, decimals, truncate=False)
            found = reconstruct_truncated(statistics.n, statistics.total, released)
            exact = found.bounds
            low, high = cell_limits(statistics.n, statistics.total, released, len(exact[0]) - 1)
            assert np.all(low <= exact[0])
            assert np.all(high >= exact[1])
            assert high[0] < statistics.n
