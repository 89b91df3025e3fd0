"""What everybody knows: closures, zeros, and which lessons are no news."""

import numpy as np
import pytest

from discreet.data.nesting import Nested
from discreet.data.table import Table
from discreet.flows.audit import audit
from discreet.policy.verdict import Ruling
from discreet.tables.groups import Learned
from discreet.tables.knowledge import parse_knowledge
from discreet.tables.ruled_out import is_common, ruled_out

ROWS = {("N", "N1"): (20, 5), ("N", "N2"): (12, 4), ("S", "S1"): (30, 6), ("W", "W1"): (0, 1)}


def nested():
    counts = np.zeros((3, 4, 2), dtype=np.int64)
    regions, districts = ["N", "S", "W"], ["N1", "N2", "S1", "W1"]
    for (region, district), own in ROWS.items():
        counts[regions.index(region), districts.index(district)] = own
    levels = [regions, districts, ["no", "yes"]]
    return Table.of_dense(counts, ["region", "district", "ill"], levels)


def test_the_table_of_the_issue_has_ten_tables_and_may_not_go_out():
    found = audit(nested(), [["region", "ill"], ["district"]], max_risk=0.25)
    assert found.n_tables.value == 10
    assert found.verdict.ruling is Ruling.BROKEN
    assert found.release.asked == ((0, 2), (1,))
    assert found.release.sets == ((0, 1), (0, 2))
    without = audit(nested(), [["region", "ill"], ["district"]], nesting=False)
    assert without.n_tables.value == 4_245_290


def test_closures_and_the_number_ruled_out():
    out = ruled_out(nested())
    assert out.pairs == (Nested(1, 0),)
    assert out.closed([1]) == (0, 1)
    assert out.closed([0, 2]) == (0, 2)
    assert out.n_combinations(out.pairs[0]) == 8
    assert ruled_out(nested(), nesting=False).pairs == ()


def test_a_target_is_determined_by_nothing():
    assert ruled_out(nested(), secret=[0]).pairs == ()
    found = audit(nested(), [["district"], ["region"]], targets=["region"], max_risk=1.0)
    assert found.release.nested.pairs == ()


def test_zeros_are_said_only_where_no_margin_says_them():
    out = ruled_out(nested())
    assert list(out.zeros(("region", "district", "ill"), [(0, 1)])) == []
    zeros = list(out.zeros(("region", "district", "ill"), [(0, 2)]))
    assert len(zeros) == 8
    assert {zero.high for zero in zeros} == {0}


def lesson(group, levels, target, level):
    return Learned(group=group, group_levels=levels, target=target, level=level, persons=1,
                   probability=1.0)  # fmt: skip


@pytest.mark.parametrize(
    ("learned", "common"),
    [
        (lesson((1,), (0,), 0, 0), True),  # the region of a district
        (lesson((0,), (2,), 1, 3), True),  # the only district of a region
        (lesson((0,), (0,), 1, 0), False),  # a region of two districts
        (lesson((0,), (2,), 2, 1), False),  # an illness
    ],
)
def test_what_follows_from_nesting_is_no_news(learned, common):
    table = nested()
    assert is_common(learned, table, ruled_out(table), ()) is common


def test_what_the_user_says_is_known_is_no_news():
    table = nested()
    known = [parse_knowledge("region=W,ill=no:0", table)]
    one = lesson((0,), (2,), 2, 1)
    assert is_common(one, table, ruled_out(table), known)
    assert not is_common(lesson((0,), (0,), 2, 1), table, ruled_out(table), known)
    few = [parse_knowledge("region=W,ill=no:0..3", table)]
    assert not is_common(one, table, ruled_out(table), few)


def test_a_variable_of_one_level_is_no_news():
    table = Table.of_dense(np.array([[5, 7]]), ["year", "sex"])
    found = audit(table, [["year", "sex"]], max_risk=0.1)
    assert found.learned == ()
    assert found.verdict.ruling is Ruling.KEPT
