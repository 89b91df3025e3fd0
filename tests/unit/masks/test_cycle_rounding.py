"""Rounding along cycles: every branch of every choice followed, with its probability."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.data.table import Table
from discreet.masks import cycle_rounding as module
from discreet.masks.controlled_rounding import round_controlled
from discreet.masks.cycle_rounding import cycle_rounding, goes_forward


def outcomes(counts, base, monkeypatch):
    """All roundings that can come out, each with its exact probability."""
    found, waiting = [], [()]
    while waiting:
        script = waiting.pop()
        chances = []

        def choose(forward, back, rng, script=script, chances=chances):
            ahead = Fraction(back, forward + back)
            goes = script[len(chances)] if len(chances) < len(script) else True
            chances.append(ahead if goes else 1 - ahead)
            return goes

        monkeypatch.setattr(module, "goes_forward", choose)
        rounded = cycle_rounding(counts, base, rng=None)
        chance = Fraction(1)
        for one in chances:
            chance *= one
        found.append((rounded, chance))
        for place in range(len(script), len(chances)):
            waiting.append((*script, *[True] * (place - len(script)), False))
    return found


@pytest.mark.parametrize("base", [2, 3, 5])
def test_every_figure_has_its_count_as_mean_exactly(base, monkeypatch):
    rng = np.random.default_rng(base)
    for shape in [(1, 3), (2, 2), (2, 3), (3, 3)] * 2:
        counts = rng.integers(0, 9, shape)
        distribution = outcomes(counts, base, monkeypatch)
        assert sum(chance for _, chance in distribution) == 1
        for i, j in np.ndindex(*shape):
            assert sum(int(r[i, j]) * chance for r, chance in distribution) == counts[i, j]
        for rounded, _ in distribution:
            for axis in (0, 1, (0, 1), ()):
                figure, truth = rounded.sum(axis=axis), counts.sum(axis=axis)
                assert np.all(figure % base == 0)
                assert np.all(np.abs(figure - truth) < base)
                assert np.all((figure == truth) | (truth % base != 0))


def test_choices_have_the_stated_chance():
    rng = np.random.default_rng(1)
    drawn = [goes_forward(1, 3, rng) for _ in range(20_000)]
    assert abs(np.mean(drawn) - 0.75) < 5 * np.sqrt(0.75 * 0.25 / 20_000)


@pytest.mark.parametrize("shape", [(7,), (6, 5), (30, 20)])
def test_it_is_what_controlled_rounding_at_random_uses(shape):
    counts = np.random.default_rng(3).poisson(4, shape)
    masked = round_controlled(Table.of_dense(counts), base=3, seed=2)
    assert "right on average" in masked.effect
    full = masked.published[0].counts
    for part in masked.published:
        others = tuple(i for i in range(counts.ndim) if i not in part.axes)
        assert np.array_equal(full.sum(axis=others), part.counts)
        assert np.all(np.abs(part.counts - counts.sum(axis=others)) < 3)
