"""The propensity score mean square, against a plain fit on single records."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import minimize
from tests.oracles.transitions import changes, transition

from discreet.figures import Figure, Unavailable
from discreet.protection import propensity as module
from discreet.protection.key_tables import key_columns
from discreet.protection.propensity import RIDGE, propensity


def scored(change, **more):
    names = [key.name for key in change.keys_before]
    return propensity(key_columns(change), names, change.records, **more)


def plain(case, *, two_way=False):
    """pMSE of a dense ridge fit on records, and the rank of its design."""
    names, before, after, recode, records = case
    by = [tuple(recode.get(n, {}).get(v, v) for n, v in zip(names, row)) for row in before]
    rows = [row for side in (by, after) for row, n in zip(side, records) for _ in range(n)]
    y = np.repeat([0.0, 1.0], sum(records))
    sets = [(j,) for j in range(len(names))]
    sets += itertools.combinations(range(len(names)), 2) if two_way else []
    columns = [np.ones(len(rows))]
    for s in sets:
        own = [tuple(row[j] for j in s) for row in rows]
        if len(set(own)) > 1:
            columns += [np.array([float(v == u) for v in own]) for u in dict.fromkeys(own)]
    x = np.stack(columns, axis=1)
    ridge = np.full(x.shape[1], RIDGE)
    ridge[0] = 0

    def loss(b):
        eta = x @ b
        p = 1 / (1 + np.exp(-eta))
        return np.logaddexp(0, eta).sum() - y @ eta + ridge @ b**2 / 2, x.T @ (p - y) + ridge * b

    b = minimize(loss, np.zeros(x.shape[1]), jac=True, tol=1e-13, options={"maxiter": 5000}).x
    p = 1 / (1 + np.exp(-x @ b))
    return np.mean((p - 0.5) ** 2), np.linalg.matrix_rank(x)


@pytest.mark.parametrize("two_way", [False, True])
@settings(max_examples=40)
@given(changes())
def test_the_same_as_a_plain_fit_on_records(two_way, case):
    names, before, after, recode, records = case
    found = scored(
        transition(names, before, after, recode=recode, records=records), two_way=two_way
    )
    pmse, rank = plain(case, two_way=two_way)
    assert found.pmse.value == pytest.approx(pmse, abs=1e-6)
    assert found.coefficients == rank - 1
    assert 0 <= found.pmse.value <= 0.25


def swapped(n, share, rng):
    """Two keys of n records, a share of which swapped values of the second at random."""
    one, two = rng.integers(0, 3, n), rng.integers(0, 4, n)
    new = two.copy()
    who = np.flatnonzero(rng.random(n) < share)
    new[who] = rng.permutation(two[who])
    words = lambda a, b: [(f"a{i}", f"b{j}") for i, j in zip(a, b)]  # noqa: E731
    return transition(["one", "two"], words(one, two), words(one, new))


def test_identical_files_are_exactly_0():
    found = scored(swapped(300, 0.0, np.random.default_rng(1)), two_way=True)
    assert found.pmse.value == 0
    assert found.ratio.value == 0
    assert found.coefficients == 2 + 3 + 6


def test_swapping_keeps_each_key_and_changes_pairs():
    change = swapped(2000, 0.5, np.random.default_rng(2))
    assert scored(change).pmse.value == pytest.approx(0, abs=1e-15)
    assert scored(change, two_way=True).pmse.value > 1e-5


def test_a_file_drawn_anew_has_a_ratio_about_1():
    """Records drawn from what the original ones show: mean and spread of pMSE as they are said."""
    rng = np.random.default_rng(3)
    n, repeats = 1500, 120
    old = [(f"a{i}", f"b{j}") for i, j in zip(rng.integers(0, 4, n), rng.integers(0, 5, n))]
    values = []
    for _ in range(repeats):
        new = [old[i] for i in rng.integers(0, n, n)]
        found = scored(transition(["one", "two"], old, new))
        values.append(found.pmse.value)
    assert found.coefficients == 7
    assert found.expected.value == pytest.approx(7 / 8 / (2 * n))
    assert found.standard_deviation.value == pytest.approx(14**0.5 / 8 / (2 * n))
    error = found.standard_deviation.value / repeats**0.5
    assert np.mean(values) == pytest.approx(found.expected.value, abs=4 * error)
    assert np.std(values) == pytest.approx(found.standard_deviation.value, rel=0.35)


def test_a_suppressed_level_gives_the_protected_records_away():
    rows = [("a",), ("b",)] * 500
    after = [(None,) if i < 200 else row for i, row in enumerate(rows)]
    found = scored(transition(["one"], rows, after))
    # 200 of 2000 records are known for protected, the others have p = 800/1800.
    truth = (200 * 0.25 + 1800 * (800 / 1800 - 0.5) ** 2) / 2000
    assert found.pmse.value == pytest.approx(truth, rel=2e-3)


def test_what_cannot_be_had():
    assert isinstance(propensity([], [], np.array([3])).pmse, Unavailable)
    one = scored(transition(["one"], [("a",)] * 2, [("a",)] * 2))
    assert one.pmse == Figure(value=0.0, how=one.pmse.how)
    assert isinstance(one.ratio, Unavailable)


def test_bounds(monkeypatch):
    change = swapped(50, 0.5, np.random.default_rng(4))
    monkeypatch.setattr(module, "MOST_WORK", 1)
    assert "too long" in scored(change, two_way=True).pmse.reason
    monkeypatch.setattr(module, "MOST_COLUMNS", 18)
    assert "up to 19 coefficients, more than 18" in scored(change, two_way=True).pmse.reason
    monkeypatch.setattr(module, "MOST_COLUMNS", 4)  # one level of each key is kept free
    assert scored(change).left_out == ("two",)
    monkeypatch.setattr(module, "MOST_COLUMNS", 3)
    assert isinstance(scored(change).pmse, Unavailable)
    monkeypatch.undo()
    monkeypatch.setattr(module, "MOST_STEPS", 1)
    assert "did not converge" in scored(change, two_way=True).pmse.reason
