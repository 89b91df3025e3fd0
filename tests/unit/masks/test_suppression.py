"""Suppression: the rule, the verdict on bad patterns, and what is said of good ones."""

import numpy as np
import pytest

from discreet.data.table import Table
from discreet.errors import InputError
from discreet.figures import Unavailable
from discreet.masks.after_publication import intruders_bounds
from discreet.masks.suppression import Rule, audit_pattern, suppress

COUNTS = np.array([[20, 1, 9], [8, 12, 10], [7, 6, 30]])
TABLE = Table.of_dense(COUNTS, names=["town", "age"], levels=[["x", "y", "z"], ["a", "b", "c"]])
SETS = [["town", "age"], ["town"], ["age"], []]


def all_shown():
    return [np.ones(shape, dtype=bool) for shape in [(3, 3), (3,), (3,), ()]]


def test_hiding_the_small_count_alone_gives_it_away_and_the_audit_names_it():
    shown = all_shown()
    shown[0][0, 1] = False
    audit = audit_pattern(TABLE, shown, SETS)
    assert not audit.is_safe
    assert audit.exposed == ("town=x, age=b",)
    assert "town=x, age=b" in audit.words
    assert (audit.protection.bounds.lower[0], audit.protection.bounds.upper[0]) == (1, 1)


def test_two_in_a_row_are_caught_by_their_columns():
    shown = all_shown()
    shown[0][0, :2] = False
    assert audit_pattern(TABLE, shown, SETS).exposed == ("town=x, age=b",)


def test_a_sensitive_figure_that_is_shown_is_exposed():
    assert audit_pattern(TABLE, all_shown(), SETS).exposed == ("town=x, age=b",)


def test_four_at_the_corners_of_a_rectangle_are_safe():
    shown = all_shown()
    shown[0][np.ix_([0, 1], [1, 2])] = False
    audit = audit_pattern(TABLE, shown, SETS)
    assert audit.is_safe
    assert (audit.protection.bounds.lower[0], audit.protection.bounds.upper[0]) == (1, 9)
    assert "safe" in audit.words


def test_knowing_that_zeros_are_shown_narrows_a_hidden_figure():
    shown = all_shown()
    shown[0][np.ix_([0, 1], [1, 2])] = False
    unknown = audit_pattern(TABLE, shown, SETS, rule=Rule(rule_known=False))
    assert (unknown.protection.bounds.lower[0], unknown.protection.bounds.upper[0]) == (0, 10)


def test_a_rectangle_can_be_safe_only_while_the_rule_is_unknown():
    counts = np.array([[1, 2, 9], [2, 1, 9], [9, 9, 9]])
    table = Table.of_dense(counts)
    shown = all_shown()
    shown[0][:2, :2] = False
    known = audit_pattern(table, shown, rule=Rule(small=2, protect=2))
    unknown = audit_pattern(table, shown, rule=Rule(small=2, protect=2, rule_known=False))
    assert not known.is_safe
    assert unknown.is_safe
    assert (known.protection.bounds.lower[0], known.protection.bounds.upper[0]) == (1, 2)
    assert (unknown.protection.bounds.lower[0], unknown.protection.bounds.upper[0]) == (0, 3)


def test_the_pattern_of_least_count_is_found_and_proved():
    masked = suppress(TABLE, SETS)
    hidden = ~masked.published[0].shown
    assert hidden.sum() == 4
    assert COUNTS[hidden].sum() == min(
        COUNTS[0, 1] + COUNTS[0, j] + COUNTS[i, 1] + COUNTS[i, j] for i in (1, 2) for j in (0, 2)
    )
    assert "no safe pattern hides less (proved)" in masked.effect
    assert masked.protection.bounds.complete
    assert np.all(masked.published[0].counts[hidden] == 0)


def test_what_is_known_gives_the_bounds_that_were_proved():
    masked = suppress(TABLE, SETS)
    bounds = intruders_bounds(masked, cells=np.array([1]))
    assert (bounds.lower[0], bounds.upper[0]) == (
        masked.protection.bounds.lower[0],
        masked.protection.bounds.upper[0],
    )
    system = masked.system()
    assert system.holds(system.completed(COUNTS.ravel()))


def test_the_estimate_keeps_what_is_shown_and_adds_up():
    masked = suppress(TABLE, SETS)
    shown = masked.published[0].shown
    assert np.array_equal(masked.estimate[shown], COUNTS[shown])
    np.testing.assert_allclose(masked.estimate.sum(axis=0), COUNTS.sum(axis=0), rtol=1e-6)
    np.testing.assert_allclose(masked.estimate.sum(axis=1), COUNTS.sum(axis=1), rtol=1e-6)


def test_without_small_counts_everything_is_shown():
    masked = suppress(Table.of_dense(np.array([[5, 6], [7, 8]])))
    assert all(part.shown.all() for part in masked.published)
    assert len(masked.protection.names) == 0


def test_margins_alone_hide_their_own_small_figures():
    table = Table.of_dense(np.array([[[1, 5], [0, 4]], [[0, 9], [0, 8]]]))
    masked = suppress(table, [["v1"], ["v3"]], rule=Rule(small=1))
    v3 = masked.published[1]
    assert v3.counts.tolist() == [0, 0]
    assert v3.shown.tolist() == [False, False]
    assert masked.protection.bounds.upper[0] > 2


def test_a_table_nothing_can_protect_is_refused_with_the_figure_named():
    found = suppress(Table.of_dense(np.array([[1, 0], [0, 2]]), names=["a", "b"]))
    assert isinstance(found, Unavailable)
    assert "no pattern of suppression is safe" in found.reason
    assert "[a=2, b=2]" in found.reason
    few = suppress(Table.of_dense(np.array([[1, 0], [0, 0]])))
    assert "[total]" in few.reason


def test_three_ways_need_more_than_a_rectangle():
    rng = np.random.default_rng(0)
    table = Table.of_dense(rng.integers(3, 20, (3, 3, 2)))
    counts = table.dense().copy()
    counts[0, 0, 0] = 1
    masked = suppress(Table.of_dense(counts))
    assert (~masked.published[0].shown).sum() >= 4
    assert masked.protection.bounds.complete
    assert masked.protection.attained_high[0] - masked.protection.attained_low[0] >= 2


def test_more_width_never_hides_less():
    hidden = []
    for width in (1, 2, 8, 12, 20):
        masked = suppress(TABLE, SETS, rule=Rule(protect=width), least="figures")
        hidden.append(sum(int((~part.shown).sum()) for part in masked.published))
    assert hidden == sorted(hidden)
    assert hidden[0] < hidden[-1]


def test_huge_counts_are_protected_too():
    huge = COUNTS * 2**40
    huge[0, 1] = 1
    masked = suppress(Table.of_dense(huge))
    assert masked.protection.attained_high[0] - masked.protection.attained_low[0] >= 2


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"small": 0}, "small must be a whole number from 1"),
        ({"protect": 0}, "protect must be a whole number from 1"),
        ({"lower": -1}, "lower must be a whole number from 0"),
        ({"upper": 1.5}, "upper must be a whole number from 0"),
        ({"zeros": "gone"}, "zeros must be one of shown, spare, sensitive, got 'gone'"),
    ],
)
def test_bad_rules_are_refused(bad, words):
    with pytest.raises(InputError, match=words):
        Rule(**bad)


def test_other_bad_input_is_refused():
    with pytest.raises(InputError, match="least must be one of counts, figures"):
        suppress(TABLE, least="cells")
    with pytest.raises(InputError, match="work must be a number above 0"):
        suppress(TABLE, work=0)
    with pytest.raises(InputError, match="shown must be one array of flags for each table"):
        audit_pattern(TABLE, all_shown()[:2], SETS)
    zero = Table.of_dense(np.array([[0, 5], [5, 5]]))
    shown = [np.ones(s, dtype=bool) for s in [(2, 2), (2,), (2,), ()]]
    shown[0][0, 0] = False
    with pytest.raises(InputError, match="shown must be true for every zero"):
        audit_pattern(zero, shown)


def test_without_work_there_is_no_pattern_and_it_says_so():
    rng = np.random.default_rng(3)
    table = Table.of_dense(rng.poisson(3, (7, 7, 3)))
    found = suppress(table, work=1e-9, exact=False)
    assert isinstance(found, Unavailable)
    assert "within the work" in found.reason


def test_a_search_stopped_early_keeps_a_safe_pattern_and_states_its_gap():
    rng = np.random.default_rng(0)
    table = Table.of_dense(rng.poisson(rng.gamma(1, 6, size=(6, 6))))
    masked = suppress(table, exact=True, work=0.02)
    assert "% at most" in masked.effect or "(proved)" in masked.effect
    needs = [Rule().needs(int(count)) for count in masked.protection.counts]
    ends = zip(masked.protection.attained_low, masked.protection.attained_high)
    assert all(one.met(int(low), int(high)) for one, (low, high) in zip(needs, ends))


def test_searching_ends_with_the_time_allowed_and_without_a_pattern():
    found = suppress(TABLE, SETS, seconds=0)
    assert isinstance(found, Unavailable)
    assert found.reason.endswith("within 0 s; allow more")


def test_what_is_not_wide_enough_is_not_said_to_be_worked_out():
    found = suppress(TABLE, SETS, rule=Rule(protect=1000))
    assert "known more closely than asked" in found.reason


def test_a_least_pattern_of_huge_counts_is_proved_up_to_their_rounding():
    huge = COUNTS * 2**44
    huge[0, 1] = 1
    masked = suppress(Table.of_dense(huge), exact=True)
    assert "(proved up to the rounding of huge counts)" in masked.effect


@pytest.mark.parametrize(
    ("rule", "title"),
    [
        (Rule(small=3), "counts 1 to 3 suppressed"),
        (Rule(small=1), "counts of 1 suppressed"),
        (Rule(small=1, zeros="sensitive"), "counts 0 to 1 suppressed"),
    ],
)
def test_the_title_says_which_counts_are_sensitive(rule, title):
    assert suppress(TABLE, SETS, rule=rule).title.startswith(title)


def test_huge_counts_beside_small_ones_do_not_make_a_program_turn_in_circles():
    """Without a limit on its iterations the linear program of this table did not end."""
    large = 10**9
    counts = np.array(
        [
            [[[large, 40], [2, 0]], [[large, 40], [3, 2]]],
            [[[1, 1], [large, 1]], [[0, large], [40, large]]],
        ]
    )
    rule = Rule(small=2, above_small=True, rule_known=False)
    found = suppress(Table.of_dense(counts), rule=rule, seconds=1.0)
    assert not isinstance(found, Unavailable)
