"""The losses of a search over recodings: between 0 and 1, additive, and in order."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.protection.search_loss import (
    SEARCH_LOSSES,
    LevelLosses,
    SearchedKey,
    leaves_of,
    search_loss,
)

NAMES = list(SEARCH_LOSSES)


@st.composite
def recodings(draw):
    """A key, a recoding of it, and the shares of the levels after."""
    n = draw(st.integers(1, 6))
    records = np.array(draw(st.lists(st.integers(0, 20), min_size=n, max_size=n).filter(any)))
    to = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    missing = n > 1 and draw(st.booleans())
    known = n - missing
    shares = np.maximum(np.bincount(to[:known], minlength=3), 1) / known
    if missing:
        to, shares = np.append(to[:known], 3), np.append(shares, 1.0)
    return SearchedKey(records=records, leaves=known, missing=missing), to, shares


@pytest.mark.parametrize("name", NAMES)
@given(recodings())
def test_the_mean_over_records_is_from_0_to_1_and_suppression_costs_no_less(name, case):
    key, to, shares = case
    found = search_loss(name).of_key(key, to, shares)
    groups = np.bincount(to, weights=key.records, minlength=len(shares))
    for losses in (found.kept, found.suppressed):
        assert np.all(losses >= 0)
        assert groups @ losses / groups.sum() <= 1 + 1e-12
    held = groups > 0
    assert np.all(found.kept[held] <= found.suppressed[held] + 1e-12)


@given(recodings())
def test_entropy_against_a_sum_over_records(case):
    key, to, shares = case
    found = search_loss("entropy").of_key(key, to, shares)
    values = [v for v, n in enumerate(key.records) if key.known[v] for _ in range(n)]
    p = {v: values.count(v) / len(values) for v in values}
    h = -sum(x * math.log2(x) for x in p.values())
    for g in set(to[values].tolist()) if values else ():
        group = [v for v in values if to[v] == g]
        inside = np.mean([-math.log2(group.count(v) / len(group)) for v in group])
        gone = np.mean([-math.log2(p[v]) for v in group])
        assert found.kept[g] == pytest.approx(inside / h if h else 0, abs=1e-12)
        assert found.suppressed[g] == pytest.approx(gone / h if h else 0, abs=1e-12)


def test_each_of_them_by_hand():
    key = SearchedKey(records=np.array([2, 1, 1, 4]), leaves=5, missing=True)
    to, shares = np.array([0, 1, 1, 2]), np.array([0.2, 0.4, 1.0])
    arx = search_loss("arx").of_key(key, to, shares)
    assert arx.kept == pytest.approx([0, 0.25, 0])
    assert arx.suppressed == pytest.approx([1, 1, 0])
    entropy = search_loss("entropy").of_key(key, to, shares)  # H = 1.5 bits
    assert entropy.kept == pytest.approx([0, 2 / 3, 0])
    assert entropy.suppressed == pytest.approx([2 / 3, 4 / 3, 0])
    values = search_loss("values").of_key(key, to, shares)
    assert values.kept == pytest.approx([0, 1, 0])
    assert values.suppressed == pytest.approx([1, 1, 0])


@pytest.mark.parametrize("name", NAMES)
def test_a_finer_recoding_costs_no_more(name):
    key = SearchedKey(records=np.array([5, 3, 2, 1]), leaves=4)
    means = []
    for to in ([0, 1, 2, 3], [0, 1, 2, 2], [0, 0, 1, 1], [0, 0, 0, 0]):
        to = np.array(to)
        shares = np.bincount(to) / 4
        losses = search_loss(name).of_key(key, to, shares)
        means.append(np.bincount(to, weights=key.records) @ losses.kept / 11)
    assert means[0] == 0
    assert means[-1] == pytest.approx(1)
    assert means == sorted(means)


@pytest.mark.parametrize("name", NAMES)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=4), st.data())
def test_the_aggregate_rises_with_each_key(name, by_key, data):
    loss = search_loss(name)
    n = len(by_key)
    importance = np.array(data.draw(st.lists(st.floats(0.1, 5), min_size=n, max_size=n)))
    lower = np.array(by_key)
    upper = lower.copy()
    j = data.draw(st.integers(0, n - 1))
    upper[j] = data.draw(st.floats(lower[j], 1))
    one, other = loss.together(lower, importance), loss.together(upper, importance)
    assert 0 <= one <= other + 1e-15 <= 1 + 1e-12
    if upper[j] > lower[j] + 1e-6:
        assert one < other
    both = loss.together(np.stack([lower, upper]), importance)
    assert both == pytest.approx([float(one), float(other)])


def test_over_keys():
    by_key = np.array([0.0, 1.0, 0.5])
    assert search_loss("arx").together(by_key) == pytest.approx((2 * 1.5) ** (1 / 3) - 1)
    assert search_loss("values").together(by_key) == pytest.approx(0.5)
    assert search_loss("entropy").together(by_key, np.array([3.0, 1, 0])) == pytest.approx(0.25)
    assert search_loss("values").together(by_key, np.array([1e308, 1e308, 1e308])) == pytest.approx(
        0.5
    )
    assert search_loss("arx").together(by_key, np.array([0, 4, 4.0])) == pytest.approx(3**0.5 - 1)


def test_one_leaf_has_nothing_to_lose():
    key = SearchedKey(records=np.array([3]), leaves=1)
    for name in ("arx", "entropy"):
        found = search_loss(name).of_key(key, np.array([0]), np.array([1.0]))
        assert found.kept.tolist() == found.suppressed.tolist() == [0]


def test_losses_cannot_be_written_to():
    found = LevelLosses(kept=np.zeros(1), suppressed=np.ones(1))
    with pytest.raises(ValueError, match="read-only"):
        found.kept[0] = 1


@pytest.mark.parametrize(
    ("n_known", "shares", "leaves"),
    [
        (5, [0.2] * 5, 5),
        (3, [0.2, 0.2, 0.6], 5),  # leaves that no record has
        (72, [0.19, 0.2, 0.2, 0.2, 0.2], 100),  # ages 1 to 100 by twenties, 72 of them in the file
        (4, [1.0], 4),
        (0, [], 1),
        (7, [1 / math.pi], 7),  # no number of leaves fits
    ],
)
def test_leaves_of_a_domain(n_known, shares, leaves):
    assert leaves_of(n_known, np.array(shares)) == leaves


def test_an_unknown_name():
    with pytest.raises(InputError, match="loss must be one of arx, entropy, values, got 'bits'"):
        search_loss("bits")
