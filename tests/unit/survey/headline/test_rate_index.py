"""What is known of cells, the weights of it, and the index: against loops and an optimiser."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.oracles.cells_beside import column

from discreet.data.coding import Coding
from discreet.engines.local.cells import cells_at_hand
from discreet.survey.headline import likeness, rate_index
from discreet.survey.headline.rate_index import (
    RATE_INDEX,
    RIDGE,
    TYPICAL_RATE,
    Covariates,
    regression,
)
from discreet.survey.headline.rate_shapes import LARGEST_SIZE

SIZES = (3, 5, 4)


def cells(seed=1, n=400):
    rng = np.random.default_rng(seed)
    levels = np.column_stack([rng.choice(s, n, p=rng.dirichlet(np.ones(s))) for s in SIZES])
    rows, records = np.unique(levels, axis=0, return_counts=True)
    coding = Coding.of_sizes(SIZES)
    found = cells_at_hand(coding.encode(rows), records, coding)
    found.without_each_key()
    return found, rows, records


def test_covariates_are_what_loops_count_of_the_other_records():
    found, rows, records = cells()
    batch = found.sampled(10**6, ("neighbours",))
    known = Covariates.of_cells(found).of(batch)
    n, n_keys = int(records.sum()), len(SIZES)
    for place, (x, f) in enumerate(zip(batch.levels(), batch.n_records, strict=True)):

        def agreeing(keys, x=x, f=f):
            return int(records[(rows[:, keys] == x[list(keys)]).all(axis=1)].sum() - f)

        near = sum(int(r) for y, r in zip(rows, records, strict=True) if (y != x).sum() == 1)
        one = [agreeing((j,)) for j in range(n_keys)]
        alone = sum(math.log(m + 0.3) for m in one) - (n_keys - 1) * math.log(n)
        pairs = sum(
            math.log((agreeing(p) + 0.3) * n / ((one[p[0]] + 0.3) * (one[p[1]] + 0.3)))
            for p in itertools.combinations(range(n_keys), 2)
        )
        shares = [(m + 0.5) / n for m in one]
        independent = n * math.prod(shares)
        expected = sum(independent / share for share in shares)
        beyond = math.log(independent) + math.log(near + 0.3) - math.log(expected + 0.3)
        assert known.covariates[place, [0, 2, 3]] == pytest.approx(
            [math.log(near + 0.3), alone, pairs / (n_keys - 1)]
        )
        assert known.independent[place] == pytest.approx(math.log(independent))
        assert known.beyond[place] == pytest.approx(beyond)


def test_a_pair_with_too_many_combinations_says_nothing(monkeypatch):
    found, _, _ = cells()
    batch = found.sampled(10**6, ("neighbours",))
    monkeypatch.setattr(rate_index, "MOST_OF_PAIR", 15)
    small = Covariates.of_cells(found)
    assert sorted(small.two) == [(0, 1), (0, 2)]
    monkeypatch.setattr(rate_index, "MOST_OF_PAIR", 1)
    assert np.all(Covariates.of_cells(found).of(batch).covariates[:, 3] == 0)


def test_weights_are_those_of_the_penalised_likelihood():
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(300, 3)) * (1, 3, 0.2) + (0, 5, -1)
    surplus = rng.geometric(1 / (1 + np.exp(0.4 * rows[:, 0] - 0.6))) - 1.0
    prior = np.array([0.5, 0.1, -0.3])
    scale = rows.std(axis=0)

    start = rate_index._start(rows @ prior - rows.mean(axis=0) @ prior, surplus)

    def loss(weights):
        index = weights[0] + rows @ weights[1:]
        fit = surplus @ index - (surplus + 1) @ np.logaddexp(0, index)
        constant = weights[0] + rows.mean(axis=0) @ weights[1:] - start
        return -fit + 0.5 * RIDGE * np.sum(((weights[1:] - prior) * scale) ** 2) + 0.5 * constant**2

    best = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-8})
    found = regression(rows, surplus, prior)
    assert loss(found) <= best.fun + 1e-7
    assert found == pytest.approx(best.x, abs=1e-4)


@pytest.mark.parametrize("surplus", [np.zeros(50), np.eye(50)[0], np.full(50, 14.0)])
def test_weights_stay_sane_where_the_sample_says_next_to_nothing(surplus):
    rng = np.random.default_rng(6)
    rows = np.column_stack([rng.normal(size=50) * 9, np.full(50, 3.0)])
    prior = np.array([0.5, 0.1])
    found = regression(rows, surplus, prior)
    index = found[0] + rows @ found[1:]
    assert np.all(np.isfinite(found))
    assert np.abs(index).max() < 40
    assert found[2] == pytest.approx(prior[1], abs=1e-6)  # a key that does not vary says nothing
    assert 0 < found[1] < 1


def whole_batch(found):
    return found.sampled(10**6, ("neighbours",))


def test_the_columns_and_the_surplus():
    found, _, records = cells()
    index = rate_index.rate_index(found, Covariates.of_cells(found))
    surplus = found.add(index)
    typical = column(found, TYPICAL_RATE)
    assert surplus.seen == int((np.minimum(records, LARGEST_SIZE) - 1).sum())
    expected = np.minimum(np.exp(typical), LARGEST_SIZE - 1).sum()
    assert surplus.log_ratio == pytest.approx(math.log((surplus.seen + 3) / (expected + 3)))
    batch = whole_batch(found)
    known = index.covariates.of(batch)
    terms = np.column_stack([np.ones(len(batch)), known.covariates])
    by_hand = terms @ index.weights
    assert column(found, RATE_INDEX) == pytest.approx(by_hand)


def test_many_cells_go_without_the_kernel_and_without_a_typical_rate(monkeypatch):
    monkeypatch.setattr(likeness, "MOST_CELLS", 10)
    found, _, _ = cells()
    index = rate_index.rate_index(found, Covariates.of_cells(found))
    assert index.covariates.likeness is None
    assert index.gives == (RATE_INDEX,)
    found.add(index)
    assert np.isfinite(column(found, RATE_INDEX)).all()


def test_the_index_ranks_cells_by_what_they_hold():
    """Cells of a made-up file whose rates are known: the index goes with their logarithm."""
    rng = np.random.default_rng(9)
    logs = sum(
        np.expand_dims(rng.normal(size=s), [a for a in range(3) if a != k])
        for k, s in enumerate((12, 15, 10))
    )
    chance = np.exp(logs).ravel() / np.exp(logs).sum()
    records = rng.multinomial(1500, chance)
    seen = np.flatnonzero(records)
    coding = Coding.of_sizes((12, 15, 10))
    words = coding.encode(np.column_stack(np.unravel_index(seen, (12, 15, 10))))
    found = cells_at_hand(words, records[seen], coding)
    found.without_each_key()
    found.add(rate_index.rate_index(found, Covariates.of_cells(found)))
    index = column(found, RATE_INDEX)
    known = np.log(chance[seen])[np.argsort(words[:, 0])]
    assert np.corrcoef(index, known)[0, 1] > 0.9


def test_a_key_that_all_records_share_changes_nothing():
    found, rows, records = cells(n=900)
    coding = Coding.of_sizes((3, 1, 5, 4))
    wider = np.insert(rows, 1, 0, axis=1)
    more = cells_at_hand(coding.encode(wider), records, coding)
    more.without_each_key()
    for each in (found, more):
        each.add(rate_index.rate_index(each, Covariates.of_cells(each)))
    order, other = (
        np.argsort(c.encode(r)[:, 0]) for c, r in ((Coding.of_sizes(SIZES), rows), (coding, wider))
    )
    assert column(more, RATE_INDEX)[np.argsort(other)] == pytest.approx(
        column(found, RATE_INDEX)[np.argsort(order)]
    )


def test_nothing_is_known_where_no_key_tells_records_apart():
    coding = Coding.of_sizes((1, 1))
    found = cells_at_hand(np.zeros((1, 1), dtype=np.int64), np.array([300]), coding)
    found.without_each_key()
    found.add(rate_index.rate_index(found, Covariates.of_cells(found)))
    assert np.isfinite(column(found, RATE_INDEX)).all()
