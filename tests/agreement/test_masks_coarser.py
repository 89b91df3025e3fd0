"""A coarser release never leaves tighter bounds: fewer margins, a larger base, more hidden."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data.table import Table
from discreet.masks.after_publication import intruders_bounds
from discreet.masks.margins import release_margins
from discreet.masks.rounding import round_at_random, round_conventionally
from discreet.masks.suppression import Rule, audit_pattern

COUNTS = st.lists(st.integers(0, 9), min_size=12, max_size=12).filter(any)
SETS = st.lists(st.sets(st.sampled_from("abc"), max_size=2).map(sorted), min_size=1, max_size=4)


def table_of(counts):
    return Table.of_dense(np.array(counts).reshape(2, 3, 2), names=["a", "b", "c"])


def widths(masked):
    bounds = intruders_bounds(masked)
    assert bounds.complete
    return bounds.upper - bounds.lower


@settings(max_examples=25)
@given(counts=COUNTS, sets=SETS, more=SETS)
def test_fewer_margins_never_narrow_a_cell(counts, sets, more):
    table = table_of(counts)
    few, many = release_margins(table, sets), release_margins(table, [*sets, *more])
    wide, narrow = intruders_bounds(few), intruders_bounds(many)
    assert np.all(wide.lower <= narrow.lower)
    assert np.all(wide.upper >= narrow.upper)


@settings(max_examples=25)
@given(counts=COUNTS, base=st.integers(2, 6), times=st.integers(2, 4), seed=st.integers(0, 99))
def test_a_multiple_of_the_base_never_narrows_a_cell(counts, base, times, seed):
    """Of figures by themselves: ranges of different bases need not lie in one another, so that the
    total beside them may cut either."""
    table = table_of(counts)
    fine = round_conventionally(table, base=base, total_known=False)
    coarse = round_conventionally(table, base=base * times, total_known=False)
    assert np.all(widths(coarse) >= widths(fine))
    drawn = [
        round_at_random(table, base=b, seed=seed, total_known=False) for b in (base, base * times)
    ]
    assert np.all(widths(drawn[1]) >= widths(drawn[0]))


@settings(max_examples=25)
@given(
    counts=st.lists(st.integers(0, 9), min_size=9, max_size=9).filter(any),
    hidden=st.lists(st.booleans(), min_size=15, max_size=15),
    more=st.lists(st.booleans(), min_size=15, max_size=15),
    known=st.booleans(),
)
def test_hiding_more_never_exposes_more(counts, hidden, more, known):
    table = Table.of_dense(np.array(counts).reshape(3, 3))
    rule = Rule(small=3, rule_known=known)
    figures = np.concatenate([table.dense().ravel(), table.margin((0,)), table.margin((1,))])
    few = ~(np.array(hidden) & (figures > 0))
    fewer_shown = few & ~(np.array(more) & (figures > 0))
    if rule.is_sensitive(np.array([table.total]))[0]:
        return
    audits = []
    for shown in (few, fewer_shown):
        parts = [shown[:9].reshape(3, 3), shown[9:12], shown[12:], np.array(True)]
        audits.append(audit_pattern(table, parts, rule=rule))
    first, second = (audit.protection.bounds for audit in audits)
    assert np.all(second.lower <= first.lower)
    assert np.all(second.upper >= first.upper)
    assert set(audits[1].exposed) <= set(audits[0].exposed)
