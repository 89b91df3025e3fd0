"""Risks of the count policy: printed, without holes, the policy of bounds, and verdicts."""

import math
from dataclasses import replace

import numpy as np
import pytest

from discreet.count_tables.measures import (
    bounded_risk,
    count_risk,
    global_risk,
    holder_risk,
    interval_policy,
    interval_risk,
)
from discreet.count_tables.rebuilding import hidden_counts, reconstruct
from discreet.count_tables.release import attack, release_of
from discreet.count_tables.statistics import CountStatistics
from discreet.errors import InputError
from discreet.figures import Figure, How, Unavailable

DISASTERS = dict(enumerate([15, 20, 9, 5, 2]))
STATISTICS = CountStatistics.of_counts(DISASTERS)


def test_printed_interval_risk_and_its_holes():
    assert interval_risk(11, 17).printed.value == pytest.approx(1 / math.log2(6))
    assert "only two counts" in interval_risk(0, 1).printed.reason
    assert "known exactly" in interval_risk(4, 4).printed.reason


def test_measures_without_holes_rise_as_bounds_close():
    risks = [interval_risk(0, upper) for upper in (100, 6, 1, 0)]
    for name in ("blind_guess", "bounded"):
        values = [getattr(risk, name) for risk in risks]
        assert values == sorted(values)
        assert values[-1] == 1
    assert risks[2].blind_guess == 0.5


@pytest.mark.parametrize(("lower", "upper"), [(3, 2), (-1, 4)])
def test_bounds_in_order(lower, upper):
    with pytest.raises(InputError, match="bounds must be from zero on and in order"):
        interval_risk(lower, upper)


def test_global_risk():
    assert global_risk(7).value == pytest.approx(0.356, abs=5e-4)
    assert "it is known" in global_risk(1).reason
    with pytest.raises(InputError, match="at least 1"):
        global_risk(0)


def test_bounded_risk_of_an_estimate_has_an_error():
    got = bounded_risk(Figure(value=3.0, how=How.ESTIMATE, standard_error=0.4))
    assert got.value == 0.25
    assert got.standard_error == pytest.approx(0.4 / 16)
    assert bounded_risk(Unavailable("no")).reason == "no"


def test_risk_under_both_distributions():
    found = reconstruct(STATISTICS, truth=DISASTERS)
    right, printed = count_risk(found), count_risk(found, distribution="uniform")
    assert right.distribution == "multinomial"
    assert right.printed == printed.printed
    assert right.reciprocal_entropy.value > 1.6 * printed.reciprocal_entropy.value
    assert right.bounded.value == pytest.approx(1 / 2.6488, abs=1e-4)
    with pytest.raises(InputError, match="distribution must be multinomial or uniform"):
        count_risk(found, distribution="proper")


def test_cells_for_the_holder():
    found = reconstruct(STATISTICS, truth=DISASTERS)
    cells = holder_risk(found, DISASTERS).cells
    assert [cell.value for cell in cells] == [0, 1, 2, 3, 4]
    assert cells[4].truth_probability == pytest.approx(0.363, abs=5e-4)
    assert cells[4].best_guess == 1
    assert cells[1].interval.upper == 32
    assert count_risk(found).cells[0].truth_probability is None


def test_zeros_have_no_risk_where_they_are_not_identified():
    found = attack(release_of(STATISTICS, withhold_n=True))
    assert [cell.value for cell in count_risk(found).cells] == [1, 2, 3, 4]


def test_no_risk_of_what_was_not_found():
    assert count_risk(Unavailable("why")).reason == "why"
    assert holder_risk(Unavailable("why"), DISASTERS).reason == "why"


def test_the_policy_of_bounds_leaves_more_tables():
    """Four cells within bounds fix the fifth: counted by a plain loop."""
    bounds = reconstruct(STATISTICS).bounds
    got = interval_policy(51, bounds.lower, bounds.upper)
    ranges = [range(a, b + 1) for a, b in zip(bounds.lower, bounds.upper, strict=True)]
    counted = sum(
        51 - a - b - c - d in ranges[4]
        for a in ranges[0]
        for b in ranges[1]
        for c in ranges[2]
        for d in ranges[3]
    )
    assert got.count.value == counted
    assert got.distributions["multinomial"].entropy.value > 7
    assert got.cells[0].printed.value == pytest.approx(0.39, abs=0.005)


def test_possible_counts_are_fewer_than_the_bounds_are_wide():
    """Seven tables of the disasters: of the counts 14 to 32 of value 1 only seven are possible."""
    risk = holder_risk(attack(release_of(STATISTICS), truth=DISASTERS), DISASTERS)
    tables = np.array(list(hidden_counts(STATISTICS).tables()))
    for cell in risk.cells:
        different = len(set(tables[:, cell.value].tolist()))
        assert cell.possible_counts == different
        assert cell.blind_guess_possible == pytest.approx(1 / different)
        assert cell.bounded_possible == pytest.approx(1 / (1 + math.log2(different)))
    first = risk.cells[1]
    assert (first.interval.lower, first.interval.upper, first.possible_counts) == (14, 32, 7)


@pytest.mark.parametrize("decimals", [1, 0])
def test_possible_counts_of_a_rounded_release(decimals):
    release = release_of(STATISTICS, decimals=decimals)
    found = attack(release)
    tables = [
        f.tolist()
        for one in found.sets
        for f in hidden_counts(CountStatistics(51, 61, one.factorisation)).tables()
    ]
    for cell in count_risk(found).cells:
        counts = {f[cell.value] if cell.value < len(f) else 0 for f in tables}
        assert cell.possible_counts == len(counts)


def test_no_number_of_possible_counts_where_the_distribution_is_an_estimate():
    found = attack(release_of(STATISTICS))
    rough = replace(found.distributions["uniform"], how=How.ESTIMATE)
    risk = count_risk(replace(found, distributions={**found.distributions, "uniform": rough}))
    assert all(cell.possible_counts is None for cell in risk.cells)
    assert all(cell.bounded_possible is None for cell in risk.cells)
