"""What must not change the verdict on a release of tables: variables that nothing tells of."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from discreet.choice.candidates import margin_proposal, margin_proposals
from discreet.choice.choice import Standing
from discreet.choice.measures import Measure
from discreet.choice.options import ChooseOptions
from discreet.choice.risk_utility import risk_utility
from discreet.data.table import Table
from discreet.flows.audit import audit
from discreet.policy.verdict import Ruling
from discreet.tables.refused_margin import RiskMeasure

few = settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
LIMITS = {
    RiskMeasure.CELLS: (0.0, 0.3),
    RiskMeasure.TABLE: (0.01, 0.3),
    RiskMeasure.BOUNDS: (-3.0, -1.0),
}
SETS = ([("a", "b")], [("a",), ("b",)], [("a", "b"), ("b", "c")], [("a",), ("b", "c")],
        [("a", "b"), ("b", "c"), ("a", "c")])  # fmt: skip


def tables(*shape, most=7):
    counts = hnp.arrays(np.int64, shape, elements=st.integers(0, most))
    return counts.filter(lambda found: found.sum() > 0)


def split(counts, draw_shares):
    """The same persons by one variable more, which nothing in the table tells of."""
    first = np.floor(counts * draw_shares).astype(np.int64)
    return np.stack([first, counts - first], axis=-1)


def rulings(found):
    return [(judged.rule, judged.ruling, judged.value) for judged in found.verdict.rules]


@few
@given(tables(2, 3, 2), st.sampled_from(SETS), st.sampled_from(list(LIMITS)), st.data())
def test_an_unreleased_variable_never_changes_the_verdict_of_an_audit(counts, sets, policy, data):
    shares = data.draw(hnp.arrays(np.float64, counts.shape, elements=st.floats(0, 1)))
    limit = data.draw(st.sampled_from(LIMITS[policy]))
    small, wide = (
        audit(Table.of_dense(own, names), sets, measure=policy, max_risk=limit)
        for own, names in ((counts, list("abc")), (split(counts, shares), list("abcd")))
    )
    assert rulings(small) == rulings(wide)
    assert small.n_tables == wide.n_tables
    assert wide.release.left_out[-1] == "d"


@few
@given(tables(2, 3), st.sampled_from(list(LIMITS)), st.data())
def test_an_unreleased_variable_never_changes_how_a_candidate_stands(counts, policy, data):
    shares = data.draw(hnp.arrays(np.float64, counts.shape, elements=st.floats(0, 1)))
    limit = data.draw(st.sampled_from(LIMITS[policy]))
    asked = ChooseOptions(max_risk=limit, measure=Measure(kind=policy), seed=1)
    found = []
    for own, names in ((counts, "ab"), (split(counts, shares), "abc")):
        table = Table.of_dense(own, list(names))
        proposals = [margin_proposal(table, sets) for sets in ([(0,)], [(0,), (1,)], [(0, 1)])]
        one = risk_utility(table, proposals, asked)
        found.append([(c.title, c.risk, s) for c, s in zip(one.candidates, one.choice.standings)])
    assert found[0] == found[1]


SPARSE = hnp.arrays(np.int64, (2, 2, 3), elements=st.sampled_from([0, 0, 1, 3, 4, 5, 9]))
# many persons in few cells, so that one variable often determines another
ASSOCIATED = hnp.arrays(np.int64, (2, 2, 3), elements=st.sampled_from([0, 0, 0, 0, 9, 12, 30]))
STANDS = {
    Ruling.KEPT: Standing.WITHIN,
    Ruling.BROKEN: Standing.ABOVE,
    Ruling.UNDECIDED: Standing.UNKNOWN,
}


def by_words(counts):
    """A table whose levels have names that show nothing of each other."""
    levels = [["ash", "birch"], ["no", "yes"], ["f", "m", "x"]]
    return Table.of_dense(counts, list("abc"), levels)


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(
    (SPARSE | ASSOCIATED).filter(lambda t: t.sum() > 0),
    st.sampled_from(list(LIMITS)),
    st.sampled_from([None, ("c",), ("a", "b")]),
    st.data(),
)
def test_an_audit_and_a_choice_agree_on_the_same_margins(counts, policy, targets, data):
    """Everything is exact here, so that each set is within the limit or above it, or what nesting
    excuses is open, for both; groups that are only probable count for both where they are sought.

    An audit takes a target among its variables even where nothing tells of it: those are left out.
    """
    table = by_words(counts)
    limit = data.draw(st.sampled_from(LIMITS[policy]))
    sure = data.draw(st.sampled_from([0.6, 0.9]))
    every = margin_proposals(table)
    chosen = data.draw(st.lists(st.sampled_from(range(len(every))), min_size=3, max_size=3))
    measure = Measure(kind=policy)
    asked = ChooseOptions(max_risk=limit, measure=measure, seed=1, targets=targets, sure=sure)
    found = risk_utility(table, [every[i] for i in chosen], asked)
    for one, standing in list(zip(found.candidates, found.choice.standings, strict=True))[1:]:
        sets = [names.split() for names in one.title.strip("[]").split("][")]
        if not set(targets or ()) <= {name for names in sets for name in names}:
            continue
        judged = audit(
            table, sets, measure=policy, max_risk=limit, targets=targets, sure=sure
        ).verdict
        assert STANDS[judged.ruling] is standing, (one.title, one.risk, judged)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(
    ASSOCIATED.filter(lambda t: t.sum() > 0),
    st.sampled_from(SETS),
    st.sampled_from([RiskMeasure.BOUNDS, RiskMeasure.TABLE]),
    st.data(),
)
def test_nesting_that_the_data_alone_show_lets_nothing_out(counts, sets, policy, data):
    """What is allowed with it is allowed without it: it only rules tables out, which narrows bounds
    and makes the true table more probable, and a group that it would excuse is open.

    Not so by the share of cells found: who knows more may guess worse.
    """
    limit = data.draw(st.sampled_from(LIMITS[policy]))
    found, bare = (
        audit(by_words(counts), sets, measure=policy, max_risk=limit, nesting=nesting).verdict
        for nesting in (True, False)
    )
    assert bare.allows or not found.allows, (found, bare)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(ASSOCIATED.filter(lambda t: t.sum() > 0), st.sampled_from(SETS))
def test_groups_are_kept_with_nesting_only_where_they_are_without(counts, sets):
    found, bare = (
        next(one for one in judged.verdict.rules if one.rule == "groups")
        for judged in (
            audit(by_words(counts), sets, max_risk=1.0, nesting=nesting)
            for nesting in (True, False)
        )
    )
    assert bare.ruling is Ruling.KEPT or found.ruling is not Ruling.KEPT


@pytest.mark.parametrize("small", [1, 2, 5])
@few
@given(counts=tables(2, 3, 2))
def test_what_prints_a_small_count_never_goes_out(counts, small):
    table = Table.of_dense(counts, list("abc"))
    asked = ChooseOptions(max_risk=0.5, measure=Measure(small=small), seed=1)
    found = risk_utility(table, margin_proposals(table), asked)
    for one, standing in zip(found.candidates, found.choice.standings, strict=True):
        shown = [t.counts for t in one.masked.published]
        if any(((t > 0) & (t <= small)).any() for t in shown):
            assert standing is Standing.ABOVE
