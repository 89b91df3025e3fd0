"""The kernel over reference records, against loops that write out its formula."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from discreet.data.coding import Coding
from discreet.engines.local.cells import cells_at_hand
from discreet.survey.headline import likeness
from discreet.survey.headline.likeness import (
    DrawingReferences,
    Drawn,
    Likeness,
    n_references,
)

SIZES = (3, 4, 2)


def sample(seed=1, n=60):
    rng = np.random.default_rng(seed)
    levels = np.column_stack(
        [rng.choice(size, n, p=rng.dirichlet(np.ones(size))) for size in SIZES]
    )
    rows, records = np.unique(levels, axis=0, return_counts=True)
    return rows, records


def fitted(rows, records):
    coding = Coding.of_sizes(SIZES)
    margins = tuple(
        np.bincount(column, records, size).astype(np.int64)
        for column, size in zip(rows.T, SIZES, strict=True)
    )
    chance = np.random.default_rng(5).random(len(rows))
    drawn = Drawn(coding.encode(rows), records, records, chance)
    return Likeness.fitted(drawn, coding, (0, 1, 2), margins, int(records.sum()))


def kernel(x, r, shares, mixing):
    return np.prod(
        [(1 - m) * (a == b) + m * p[a] for a, b, p, m in zip(x, r, shares, mixing, strict=True)]
    )


def records_at(combinations, rows, records):
    known = {tuple(r): f for r, f in zip(rows.tolist(), records.tolist(), strict=True)}
    return np.array([known.get(tuple(x), 0) for x in combinations.tolist()])


def test_density_is_the_mean_kernel_over_the_records_of_other_cells():
    rows, records = sample()
    own = fitted(rows, records)
    n = records.sum()
    everywhere = np.array(list(itertools.product(*map(range, SIZES))))
    held = records_at(everywhere, rows, records)
    found = own.density(everywhere, own.others(everywhere, held))
    for x, f, density in zip(everywhere, held, found, strict=True):
        others = [(r, g) for r, g in zip(rows, records, strict=True) if tuple(r) != tuple(x)]
        shares = []
        for column, size, level in zip(rows.T, SIZES, x, strict=True):
            margin = np.bincount(column, records, size).astype(float)
            margin[level] = max(margin[level] - f, 0.5)
            shares.append(margin / n)
        total = sum(g * kernel(x, r, shares, own.mixing) for r, g in others)
        assert density == pytest.approx(total / sum(g for _, g in others), rel=1e-12)


def test_no_record_of_a_cell_has_a_part_in_its_density():
    """A cell with more records, and margins to match, has the same density; others do not."""
    one = fitted(*sample())
    rows, records = np.column_stack(one.levels), one.number.astype(np.int64)
    more = records + 4 * (np.arange(len(rows)) == 3)
    margins = tuple(
        np.bincount(column, more, size).astype(np.int64)
        for column, size in zip(rows.T, SIZES, strict=True)
    )
    other = Likeness(one.levels, more.astype(float), margins, one.n_records, one.mixing)
    change = other.density(rows, other.others(rows, more)) / one.density(
        rows, one.others(rows, records)
    )
    assert change[3] == pytest.approx(1.0, rel=1e-13)
    assert np.all(np.abs(np.delete(change, 3) - 1) > 1e-6)


def test_mixing_is_where_em_stays_and_likelihood_is_greatest():
    """EM never lowers the likelihood of the records held against all others; here it is run long,
    and then no λ can be moved to a better one."""
    rows, records = sample(seed=4, n=300)
    own = fitted(rows, records)

    def fit(mixing):
        return float(
            records @ np.log(replace(own, mixing=mixing).density(rows, own.others(rows, records)))
        )

    assert fit(own.mixing) > fit(np.full(3, likeness.FIRST_MIXING))
    best = own
    for _ in range(400):
        mixing = best._mixing_of(rows, records, records.astype(float))
        best = replace(best, mixing=mixing)
    top = fit(best.mixing)
    for key, step in itertools.product(range(3), (-0.02, 0.02)):
        moved = best.mixing.copy()
        moved[key] = np.clip(moved[key] + step, likeness.LEAST_MIXING, 1 - likeness.LEAST_MIXING)
        assert fit(moved) <= top + 1e-6


def test_keys_that_say_nothing_of_each_other_are_drawn_anew_and_tied_ones_are_kept():
    rng = np.random.default_rng(2)
    a = rng.integers(0, 3, 900)
    tied = np.where(rng.random(900) < 0.97, a, rng.integers(0, 3, 900))
    levels = np.column_stack([a, tied % 4, rng.integers(0, 2, 900)])
    rows, records = np.unique(levels, axis=0, return_counts=True)
    mixing = fitted(rows, records).mixing
    assert mixing[2] > 0.8
    assert mixing[:2].min() < 0.5


def test_references_are_a_share_of_the_records_in_whatever_order_they_come():
    rng = np.random.default_rng(3)
    coding, n = Coding.of_sizes((5000, 7)), 5000
    levels = np.column_stack([np.arange(n), rng.integers(0, 7, n)])
    records = rng.integers(1, 40, n)

    def drawn(share, order, keys=(0, 1)):
        turned = Coding.of_sizes([coding.sizes[k] for k in keys])
        margins = tuple(
            np.bincount(levels[:, k], records, coding.sizes[k]).astype(np.int64) for k in keys
        )
        words = turned.encode(levels[np.ix_(order, keys)])
        found = cells_at_hand(words, records[order], turned).fold(
            DrawingReferences(share, (0, 1), margins)
        )
        cells = turned.decode(found.words)[:, keys.index(0)]
        return dict(zip(cells.tolist(), found.number.tolist(), strict=True))

    number = drawn(0.1, np.arange(n))
    assert sum(number.values()) == pytest.approx(0.1 * records.sum(), rel=0.03)
    for cell, f in enumerate((records * 0.1).tolist()):
        assert number.get(cell, 0) in (int(f), int(f) + 1)
    assert drawn(0.1, rng.permutation(n)) == number
    assert drawn(0.1, np.arange(n), keys=(1, 0)) == number
    assert drawn(1.0, np.arange(n)) == dict(enumerate(records.tolist()))


def test_the_work_is_bounded_whatever_the_number_of_cells():
    for n_cells in (1, 10_000, 150_000, 200_000):
        assert 0 < n_references(n_cells) * n_cells <= max(likeness.MOST_PAIRS, n_cells)
    assert n_references(10_000_000) == 0


def test_the_order_of_the_references_changes_no_bit():
    rows, records = sample(seed=8)
    order = np.random.default_rng(1).permutation(len(rows))
    one = fitted(rows, records)
    coding = Coding.of_sizes(SIZES)
    chance = np.random.default_rng(5).random(len(rows))
    drawn = Drawn(coding.encode(rows), records, records, chance).part(order)
    other = Likeness.fitted(drawn, coding, (0, 1, 2), one.margins, one.n_records)
    others = one.others(rows, records)
    assert np.array_equal(one.density(rows, others), other.density(rows, others))
