"""What everybody knows: closures, zeros, and which lessons are no news."""

import numpy as np
import pytest

from discreet.choice.choice import Standing
from discreet.data.nesting import Nested
from discreet.data.table import Table
from discreet.errors import InputError
from discreet.flows.audit import audit
from discreet.flows.choose import choose
from discreet.policy.verdict import Ruling
from discreet.tables.groups import Learned
from discreet.tables.knowledge import parse_knowledge
from discreet.tables.ruled_out import Ground, is_common, ruled_out

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


def wards(labels=("Ash", "Birch", "Cedar"), illness=("no", "yes")):
    """Everyone of a ward has the same level of an illness: by accident or not, nobody says."""
    counts = np.zeros((3, 2, 2), dtype=np.int64)
    counts[0, 0], counts[1, 1], counts[2, 0] = (20, 22), (14, 11), (30, 25)
    return Table.of_dense(counts, ["ward", "hiv", "sex"], [labels, illness, ["f", "m"]])


def groups_of(found):
    return next(rule for rule in found.verdict.rules if rule.rule == "groups")


def test_a_perfect_association_is_open_until_someone_says_what_it_is():
    rule = groups_of(audit(wards(), [["ward", "hiv"]], max_risk=0.25))
    assert rule.ruling is Ruling.UNDECIDED
    assert "each ward has one hiv" in rule.words
    assert "(nested ward:hiv)" in rule.remedy
    assert "(targets hiv)" in rule.remedy
    confirmed = audit(wards(), [["ward", "hiv"]], max_risk=0.25, nested="ward:hiv")
    assert confirmed.verdict.ruling is Ruling.KEPT
    secret = audit(wards(), [["ward", "hiv"]], max_risk=0.25, targets=["hiv"])
    assert groups_of(secret).ruling is Ruling.BROKEN
    assert groups_of(audit(wards(), [["ward", "hiv"]], max_risk=0.25, nesting=False)).ruling is (
        Ruling.BROKEN
    )


def test_what_a_release_does_not_cross_it_does_not_show():
    found = audit(wards(), [["ward"], ["hiv", "sex"]], max_risk=0.25)
    assert found.release.sets == ((0, 1), (1, 2))  # what cannot be is ruled out all the same
    assert groups_of(found).ruling is Ruling.KEPT


def test_a_secret_that_determines_excuses_nothing_either():
    """Of two wards each has its own level: either variable tells the other."""
    counts = np.array([[30, 0], [0, 25]])
    table = Table.of_dense(counts, ["ward", "hiv"], [["Ash", "Birch"], ["no", "yes"]])
    found = audit(table, [["ward", "hiv"]], max_risk=0.25, targets=["hiv"])
    assert groups_of(found).ruling is Ruling.BROKEN


def test_names_of_levels_and_what_follows_are_common_knowledge():
    grounds = ruled_out(wards(("n1", "y1", "n2"), ("n", "y"))).grounds
    assert list(grounds.values()) == [Ground.LABELS]
    counts = np.zeros((4, 3, 2), dtype=np.int64)
    for ward, (district, region) in enumerate([(0, 0), (0, 0), (1, 0), (2, 1)]):
        counts[ward, district, region] = 30
    table = Table.of_dense(counts, ["ward", "district", "region"])
    known = ruled_out(table, nested=["ward:district", "district:region"])
    assert known.grounds[Nested(0, 2)] is Ground.CONFIRMED
    assert ruled_out(table, nested=["ward:district"]).grounds[Nested(0, 2)] is Ground.DATA
    assert ruled_out(table).confirmed().pairs == ()


@pytest.mark.parametrize(
    ("nested", "more", "said"),
    [
        ("ward:sex", {}, "nested must be true of the table"),
        ("ward:age", {}, "nested must be two variables of the table"),
        ("ward", {}, "nested must be two variables of the table"),
        ("ward:hiv", {"nesting": False}, "nested must be left out where nesting is off"),
        ("ward:hiv", {"targets": ("hiv",)}, "nested must be about no variable that is secret"),
    ],
)
def test_what_cannot_be_confirmed_is_refused_by_name(nested, more, said):
    with pytest.raises(InputError, match=said):
        audit(wards(), [["ward", "hiv"]], nested=[nested], **more)
    with pytest.raises(InputError, match=said):
        choose(wards(), "margins", max_risk=0.2, nested=[nested], **more)


def test_a_pair_that_may_be_an_accident_can_be_confirmed():
    table = Table.of_dense(np.array([[3, 0], [0, 4]]), ["ward", "area"])
    assert ruled_out(table).pairs == ()
    assert ruled_out(table, nested=["ward:area"]).pairs == (Nested(0, 1),)


def test_a_choice_does_not_call_it_within_the_limit():
    asked = {"max_risk": 0.25, "seed": 1}
    found = choose(wards(), "margins[ward hiv]", **asked)
    [_, one] = found.candidates
    assert found.choice.standings[1] is Standing.UNKNOWN
    assert "each ward has one hiv" in one.doubts[0].words
    assert found.verdict.ruling is Ruling.UNDECIDED
    assert "(nested ward:hiv)" in found.verdict.rules[0].remedy
    assert choose(wards(), "margins[ward hiv]", nested="ward:hiv", **asked).verdict.allows
    secret = choose(wards(), "margins[ward hiv]", targets=("hiv",), **asked)
    assert secret.verdict.ruling is Ruling.BROKEN


def test_a_confirmed_pair_of_which_a_smaller_release_tells_nothing_is_passed_over():
    """What could go out instead is sought among the variables released."""
    counts = np.zeros((2, 3, 2), dtype=np.int64)
    counts[0, 0, 0], counts[0, 1], counts[1, 2] = 9, (6, 3), (1, 2)
    table = Table.of_dense(counts, ["region", "district", "ill"])
    found = audit(table, [("region", "ill")], max_risk=0.3, nested=["district:region"])
    assert not found.verdict.allows
