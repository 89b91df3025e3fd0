"""Distributions from draws: as many draws as are needed are enough, whatever rounding does."""

from types import SimpleNamespace

import numpy as np
import pytest

from discreet.belief.draws import count_draws
from discreet.count_tables import decimal_draws
from discreet.count_tables.rebuilding import hidden_counts
from discreet.count_tables.statistics import CountStatistics
from discreet.figures import Unavailable

SYSTEM = hidden_counts(CountStatistics.of_counts({0: 15, 1: 20, 2: 9, 3: 5, 4: 2})).parts[0].system


@pytest.mark.parametrize("bits", [-4, -1, 0, 1])
def test_draws_that_are_just_enough_give_a_distribution(monkeypatch, bits):
    drawn = SimpleNamespace(effective_draws=100.0 * (1 + bits * 2**-52), warning="", n_tried=100)
    monkeypatch.setattr(count_draws, "_drawn_in_time", lambda *_: drawn)
    found = count_draws._draws(SYSTEM, "uniform", 100, np.random.default_rng(1), None, None)
    assert not isinstance(found, Unavailable)


@pytest.mark.parametrize("n", [100, 103, 107, 149])
def test_kept_draws_that_are_just_enough_give_a_distribution(monkeypatch, n):
    """Equal weights: n draws are n effective ones, or n less a last bit."""
    monkeypatch.setattr(decimal_draws, "LEAST_KEPT", n)
    prior = decimal_draws.Tilted(np.zeros(2), False, -1.0, 0.0)
    tables = np.tile([[1, 1], [0, 2]], (n, 1))[:n]
    drawn = decimal_draws._Draws(tables, np.zeros(n), 4000, prior, 0.0)
    limits = SimpleNamespace(lower=np.zeros(2, np.int64), upper=np.full(2, 2))
    question = SimpleNamespace(system=limits)
    assert not isinstance(decimal_draws._distribution(question, drawn, None), Unavailable)
