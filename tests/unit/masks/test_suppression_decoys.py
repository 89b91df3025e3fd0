"""What is drawn for a suppression: expected counts, chances, costs; and what is said of it."""

from dataclasses import replace
from math import exp, factorial

import numpy as np
import pytest

from discreet.choice.mask_names import make_again, mask_table
from discreet.data.table import Table
from discreet.errors import InputError
from discreet.masks.contract import Guarantee
from discreet.masks.solving import Budget
from discreet.masks.suppression import Rule, suppress
from discreet.masks.suppression_choice import pattern_around
from discreet.masks.suppression_decoys import (
    KAPPA,
    LEAST,
    LEAST_OF_SUMS,
    MOST,
    Drawing,
    Secret,
    expected_counts,
    secret_of,
)
from discreet.masks.suppression_figures import figures_of
from discreet.masks.suppression_pattern import Problem

COUNTS = np.array([[2, 3, 2], [3, 4, 3], [2, 2, 4]])
TABLE = Table.of_dense(COUNTS, names=["a", "b"])


def figures(counts, sets=None):
    table = Table.of_dense(np.asarray(counts))
    return figures_of(table, table.dense(), sets)


def flags(masked):
    return np.concatenate([~part.shown.ravel() for part in masked.published])


def test_a_cell_is_expected_to_be_as_its_margins_say():
    own = figures(COUNTS)
    expected = expected_counts(own, Rule(), own.counts)
    cells = np.outer(COUNTS.sum(axis=1), COUNTS.sum(axis=0)) / COUNTS.sum()
    assert expected[:9] == pytest.approx(cells.ravel())
    assert expected[9:12] == pytest.approx(COUNTS.sum(axis=1))


def test_small_margins_stand_for_their_mean():
    own = figures([[1, 0], [2, 0], [5, 9]])
    expected = expected_counts(own, Rule(small=2), own.counts)
    assert expected[0] == pytest.approx(expected[2]) == pytest.approx(1.5 * 8 / 17)


def test_without_one_way_tables_only_the_total_tells_what_to_expect():
    own = figures(COUNTS, [["v1", "v2"]])
    assert expected_counts(own, Rule(), own.counts) == pytest.approx(np.full(9, 25 / 9))


def test_nested_tables_tell_of_a_variable_as_far_as_the_finest():
    own = figures(COUNTS, [["v1", "v2"], ["v1"]])
    expected = expected_counts(own, Rule(), own.counts)
    assert expected[:9] == pytest.approx(np.repeat(COUNTS.sum(axis=1) / 3, 3))


@pytest.mark.parametrize(
    ("zeros", "small_from", "hidden_from"), [("shown", 1, 1), ("spare", 1, 0), ("sensitive", 0, 0)]
)
def test_chances_are_those_of_the_formula(zeros, small_from, hidden_from):
    own, rule = figures([[9, 1, 14], [30, 5, 11]]), Rule(small=2, zeros=zeros)
    drawing = Drawing.of(own, rule, own.counts)
    for figure in range(own.n):
        if figure == own.n - 1 or rule.is_sensitive(own.counts)[figure]:
            assert drawing.chance[figure] == 0
            continue
        e = drawing.expected[figure]
        terms = [exp(-e) * e**y / factorial(y) for y in range(3)]
        small, may = sum(terms[small_from:]), 1 - sum(terms[:hidden_from])
        pi = small / may
        least = LEAST if figure < 6 else LEAST_OF_SUMS
        wanted = min(max(KAPPA * pi / (1 - pi), least), MOST)
        assert drawing.chance[figure] == pytest.approx(wanted, rel=1e-6)


def test_costs_are_expected_counts_times_what_was_drawn():
    own = figures(COUNTS * 10)
    drawing, secret = Drawing.of(own, Rule(), own.counts), secret_of(1, own.n)
    costs = drawing.costs(secret, alike=False)
    wanted = drawing.expected * np.exp(secret.normal)
    assert costs / costs.sum() == pytest.approx(wanted / wanted.sum(), rel=1e-4)
    alike = drawing.costs(secret, alike=True)
    assert alike / alike.sum() == pytest.approx(
        np.exp(secret.normal) / np.exp(secret.normal).sum(), rel=1e-4
    )


def test_the_same_seed_makes_the_same_pattern_and_another_one_another():
    found = [flags(suppress(TABLE, seed=seed)) for seed in (3, 3, 4, 5, 6)]
    assert np.array_equal(found[0], found[1])
    assert len({one.tobytes() for one in found}) > 1


def test_every_hidden_figure_is_protected_not_only_small_ones():
    masked = suppress(TABLE, seed=2)
    assert len(masked.protection.names) == int(flags(masked).sum())
    assert masked.protection.guarantee is Guarantee.WHOLE
    assert np.all(masked.protection.attained_high - masked.protection.attained_low >= 2)
    assert "Each hidden figure has tables" in masked.effect


def test_a_decoy_that_nothing_can_protect_stays_shown():
    own, rule = figures([[7, 0]]), Rule()
    problem = Problem(
        figures=own,
        rule=rule,
        counts=np.array([7, 0]),
        sensitive=np.empty(0, dtype=np.int64),
        costs=np.ones(own.n, dtype=np.int64),
        budget=Budget(10.0),
    )
    decoys = np.arange(own.n) == 0
    pattern, _ = pattern_around(problem, decoys, exact=False)
    assert not pattern.hidden.any()


def test_all_hidden_at_once_is_the_pattern_whatever_it_costs():
    masked = suppress(TABLE, seed=1)
    hidden = flags(masked)
    own = figures(COUNTS)
    small = Rule().is_sensitive(own.counts)
    rng = np.random.default_rng(0)
    for _ in range(3):
        problem = Problem(
            figures=own,
            rule=Rule(),
            counts=COUNTS.ravel(),
            sensitive=np.flatnonzero(small),
            costs=rng.integers(1, 1000, own.n),
            budget=Budget(10.0),
        )
        pattern, _ = pattern_around(problem, hidden & ~small, exact=False)
        assert np.array_equal(pattern.hidden, hidden)


def test_names_make_decoys_unless_told_not_to_and_need_a_seed():
    with pytest.raises(InputError, match="seed must be given for decoys"):
        mask_table("suppression", TABLE)
    with pytest.raises(InputError, match="seed must be a whole number, at least 0"):
        suppress(TABLE, seed=-1)
    drawn, plain = (
        mask_table("suppression", TABLE, seed=3),
        mask_table("suppression:decoys=no", TABLE),
    )
    assert drawn.seed == 3
    assert drawn.record()["parameters"]["decoys"] is True
    assert "with decoys" in drawn.title
    assert plain.seed is None
    assert np.array_equal(flags(plain), flags(suppress(TABLE)))


def test_records_make_the_same_again_and_old_ones_have_no_decoys():
    drawn = mask_table("suppression", TABLE, seed=3)
    assert np.array_equal(flags(make_again(drawn.record(), TABLE)), flags(drawn))
    old = mask_table("suppression:decoys=no", TABLE).record()
    del old["parameters"]["decoys"]
    again = make_again(old, TABLE)
    assert again.seed is None
    assert np.array_equal(flags(again), flags(suppress(TABLE)))


def test_what_is_said_beyond_the_bounds():
    assert "With decoys he cannot" in suppress(TABLE).beyond
    assert "every table that fits could have led" in suppress(TABLE, seed=1).beyond
    wide = suppress(TABLE, rule=Rule(lower=1), seed=1)
    assert "can tell an intruder who repeats the choice" in wide.beyond


def test_a_secret_is_read_only():
    secret = secret_of(1, 3)
    with pytest.raises(ValueError, match="read-only"):
        secret.uniform[0] = 0.0
    assert not np.array_equal(secret.normal, replace(secret_of(2, 3)).normal)
    assert isinstance(secret, Secret)
