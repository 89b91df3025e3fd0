"""Groups that a release proves to share a level, against every table that fits; large tables."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from discreet.data.table import Table
from discreet.fiber.system.margins import margins_of
from discreet.flows.audit import audit
from discreet.numerics.graphs import junction_tree
from discreet.policy.verdict import Ruling
from discreet.tables import shown_groups
from discreet.tables.groups import learned_from_bounds, learned_from_supports
from discreet.tables.shown_groups import possible_cells, proved_groups

TREES = ([(0, 1), (1, 2)], [(0, 2), (1, 2)], [(0, 1), (2,)], [(0,), (1,), (2,)], [(0, 1, 2)])
counts_of = hnp.arrays(np.int64, (2, 2, 3), elements=st.sampled_from([0, 0, 0, 1, 2]))
few = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])


def consistent(counts, sets):
    """Every table with these margins, filled cell by cell up to the least entry."""
    own = margins_of(counts, sets)
    limits = [
        range(min(int(t[tuple(c[a] for a in axes)]) for axes, t in own.tables.items()) + 1)
        for c in np.ndindex(counts.shape)
    ]
    for values in product(*limits):
        table = np.array(values).reshape(counts.shape)
        if all(
            np.array_equal(margins_of(table, sets).tables[axes], t)
            for axes, t in own.tables.items()
        ):
            yield table


def shares(counts, tables):
    """Each target of which some group with members is of one level in every table."""
    found = set()
    for target in range(counts.ndim):
        others = [axis for axis in range(counts.ndim) if axis != target]
        for size in range(len(others) + 1):
            for group in combinations(others, size):
                gone = tuple(a for a in others if a not in group)
                sums = [np.moveaxis(t, target, -1).sum(axis=tuple(
                    a - (a > target) for a in gone)) for t in tables]  # fmt: skip
                truth = np.moveaxis(counts, target, -1).sum(
                    axis=tuple(a - (a > target) for a in gone)
                )
                possible = (np.stack(sums) > 0).any(axis=0).sum(axis=-1)
                if ((possible == 1) & (truth.sum(axis=-1) > 0)).any():
                    found.add(target)
    return found


@few
@given(counts_of.filter(lambda t: 0 < t.sum() <= 6), st.sampled_from(TREES))
def test_supports_show_the_groups_that_every_consistent_table_shows(counts, sets):
    table = Table.of_dense(counts)
    tables = list(consistent(counts, sets))
    margins = margins_of(counts, sets)
    found, missed = proved_groups(table, margins, None, None, lambda _: True)
    assert missed == ""
    assert {one.target for one in found} == shares(counts, tables)
    by_cells, _ = proved_groups(table, margins, possible_cells(margins), None, lambda _: True)
    assert {one.target for one in by_cells} == {one.target for one in found}
    for one in found:
        place = dict(zip(one.group, one.group_levels, strict=True))
        other = [slice(None) if a not in place else place[a] for a in range(3)]
        for fitting in tables:
            whole = fitting[tuple(other)].sum()
            other_level = {**place, one.target: one.level}
            assert fitting[tuple(other_level.get(a, slice(None)) for a in range(3))].sum() == whole
        assert counts[tuple(other)].sum() == one.persons


def crossed():
    """x = 1 leaves t 1 or 2, y = 1 leaves it 2 or 3: only both together tell it."""
    counts = np.full((3, 3, 3), 5, dtype=np.int64)
    counts[0, :, 2] = counts[:, 0, 0] = 0
    return counts


def test_margins_together_show_what_none_shows_by_itself():
    table = Table.of_dense(crossed(), ["x", "y", "t"])
    [one] = learned_from_supports(table, [(0, 2), (1, 2)], [2])
    assert (one.group, one.group_levels, one.level, one.persons) == ((0, 1), (0, 0), 1, 5)


def large(counts, extra=6):
    """The table with variables of many levels, which share its persons evenly."""
    wide = np.broadcast_to(counts[..., None, None], (*counts.shape, 20, 20)) * extra
    return Table.of_dense(wide, ["x", "y", "t", "u", "v"])


def groups_of(found):
    return next(rule for rule in found.verdict.rules if rule.rule == "groups")


def test_groups_are_sought_in_large_tables_too():
    table = large(crossed())
    assert table.n_cells > 4096
    sets = [["x", "t"], ["y", "t"], ["u"], ["v"]]
    broken = groups_of(audit(table, sets, max_risk=1.0))
    assert broken.ruling is Ruling.BROKEN
    assert "x = 1 and y = 1" in broken.words
    kept = groups_of(audit(table, [["x", "t"], ["y"], ["u"], ["v"]], max_risk=1.0))
    assert kept.ruling is Ruling.KEPT


def test_what_was_not_sought_is_undecided_only_where_it_could_show_a_group():
    """A cycle of margins: decomposable ones that hold it may show a group, or prove that none is
    shown."""
    sets = [["x", "t"], ["y", "t"], ["x", "y"], ["u"], ["v"]]
    assert junction_tree([(0, 2), (1, 2), (0, 1)]) is None
    full = groups_of(audit(large(np.full((2, 2, 3), 5)), sets, max_risk=1.0))
    assert full.ruling is Ruling.KEPT
    counts = np.full((2, 2, 3), 5, dtype=np.int64)
    counts[0, 0, :2] = 0  # in no single margin a zero
    found = groups_of(audit(large(counts), sets, max_risk=1.0))
    assert found.ruling is Ruling.UNDECIDED
    assert "what they show together was not" in found.words
    assert "tree" in found.remedy


def test_groups_of_four_variables_are_found_and_named_as_widely_as_they_are_shown():
    """Each of four variables takes one level of the target away; the fifth says nothing."""
    counts = np.full((2, 2, 2, 2, 2, 5), 1, dtype=np.int64)
    for axis in range(4):
        counts[(slice(None),) * axis + (0,) + (slice(None),) * (4 - axis) + (axis,)] = 0
    found = learned_from_bounds(counts, counts, [5])
    assert [(one.group, one.level, one.persons) for one in found] == [((0, 1, 2, 3), 4, 2)]


def test_a_cover_that_is_too_large_proves_nothing(monkeypatch):
    monkeypatch.setattr(shown_groups, "DENSE_LIMIT", 5)
    table = Table.of_dense(np.full((2, 2, 3), 5))
    sets = [(0, 2), (1, 2), (0, 1)]
    margins = margins_of(table.dense(), sets)
    _, missed = proved_groups(table, margins, None, None, lambda _: True)
    assert missed == shown_groups.NOT_ALL


@pytest.mark.parametrize("plain", [True, False])
def test_what_else_is_known_of_a_large_table_is_not_left_out_in_silence(plain):
    table = Table.of_dense(np.full((2, 2), 5))
    margins = margins_of(table.dense(), [(0,), (1,)])
    _, missed = proved_groups(table, margins, None, None, lambda _: True, plain=plain)
    assert bool(missed) is not plain
