"""Patterns by elimination against the same method in exact fractions, and what they guarantee."""

import numpy as np
import pytest
from tests.oracles.gauss_suppression import figures_of, follow, gauss_pattern

from discreet.data.table import Table
from discreet.figures import Unavailable
from discreet.masks.contract import Guarantee
from discreet.masks.suppression import suppress


def flags(masked):
    return np.concatenate([~part.shown.ravel() for part in masked.published])


def sparse(seed, shape, mean=2.0):
    rng = np.random.default_rng(seed)
    return rng.poisson(rng.gamma(0.4, mean / 0.4, size=shape))


SHAPES = [(3, 4), (5, 5), (6, 4), (3, 3, 3), (2, 4, 3), (2, 2, 2, 2)]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_no_sensitive_figure_follows_and_no_more_is_hidden_than_by_the_plain_method(shape, seed):
    counts = sparse(seed, shape)
    masked = suppress(
        Table.of_dense(counts), guarantee="not-derivable", exact=False, time_limit=0.2
    )
    oracle = gauss_pattern(counts, 2)
    values = np.array([int(counts.ravel()[cells].sum()) for cells in figures_of(counts)])
    small = np.flatnonzero((values >= 1) & (values <= 2))
    if isinstance(masked, Unavailable):
        assert follow(counts, np.arange(len(values)) < len(values) - 1, small.tolist())
        return
    hidden = flags(masked)
    assert masked.protection.guarantee in list(Guarantee)
    assert masked.protection.guarantee.words in masked.effect or not len(small)
    assert np.all(hidden[small])
    assert follow(counts, hidden, small.tolist()) == []
    assert values[hidden].sum() <= values[oracle].sum()


@pytest.mark.soak
def test_a_sparse_three_way_table_hides_no_more_than_by_the_plain_method():
    counts = sparse(0, (9, 10, 11))
    masked = suppress(Table.of_dense(counts), guarantee="not-derivable", seconds=5, time_limit=0.2)
    oracle = gauss_pattern(counts, 2)
    values = np.array([int(counts.ravel()[cells].sum()) for cells in figures_of(counts)])
    hidden = flags(masked)
    assert len(values) == 1320
    small = np.flatnonzero((values >= 1) & (values <= 2))
    assert np.all(hidden[small])
    assert follow(counts, hidden, small.tolist()) == []
    assert values[hidden].sum() <= values[oracle].sum()
    assert hidden.sum() <= oracle.sum()
