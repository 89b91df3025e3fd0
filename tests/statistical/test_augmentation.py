"""Data augmentation, listed and walked, against enumeration for all hierarchical models."""

from dataclasses import dataclass

import numpy as np
import pytest

from discreet.belief.draws.augmentation import Effort, augmented
from discreet.belief.draws.table_steps import ListedStep, WalkStep
from discreet.belief.exact.exact_distribution import exact_distribution
from discreet.belief.exact.listed_fiber import listed_fiber
from discreet.belief.models.generators import models_containing
from discreet.errors import InputError
from discreet.fiber.draws.moves import connecting_moves
from discreet.fiber.draws.starts import starting_points
from discreet.fiber.sums import marginals
from discreet.fiber.system.linear_system import system_of
from discreet.fiber.system.margins import margins_of

TABLE = np.array([[[1, 2], [0, 1], [2, 0]], [[1, 0], [3, 1], [0, 1]]])
RELEASED = [(0, 1), (2,)]
ALPHA = np.random.default_rng(1).uniform(0.4, 1.2, TABLE.shape)
CELLS = np.arange(TABLE.size)
MARGINS = margins_of(TABLE, RELEASED)
SYSTEM = system_of(TABLE.size, MARGINS.statements())
EXACT = [
    m for m in models_containing(3, RELEASED) if exact_distribution(MARGINS, m, ALPHA) is not None
]


def walked(rng):
    moves = connecting_moves(SYSTEM, MARGINS)
    starts = starting_points(SYSTEM, 4, rng=rng)
    return WalkStep.of(SYSTEM, moves, starts, CELLS, thin=60, rng=rng)


def listed(rng):
    return ListedStep.of(listed_fiber(SYSTEM, most=50_000), CELLS)


@pytest.mark.parametrize("way", [listed, walked])
@pytest.mark.parametrize("model", EXACT, ids=lambda m: m.name("abc"))
def test_against_the_exact_distribution(model, way):
    distribution = exact_distribution(MARGINS, model, ALPHA)
    right = marginals.posterior(distribution.system, distribution.prior)
    rng = np.random.default_rng(6)
    effort = Effort(n_chains=4, n_draws=1500 if way is listed else 2500)
    found = augmented(way(rng), model, ALPHA, CELLS, effort=effort, rng=rng)
    for cell in CELLS:
        for q, p in found.distributions[cell].items():
            assert abs(p - right.probability(int(cell), q)) < 5 * found.errors[cell][q] + 2e-3


@dataclass(frozen=True)
class Roughened:
    """A step whose probabilities are off by a few last bits, as on another processor, in a way
    that depends on where its chain is."""

    step: ListedStep
    rng: np.random.Generator

    def __getattr__(self, name):
        return getattr(self.step, name)

    def take(self, log_theta, *, rng):
        taken = self.step.take(log_theta, rng=rng)
        slow = np.round(log_theta[:, :1] % 1) + self.rng.integers(-1, 2, taken.seen.shape)
        return taken._replace(seen=taken.seen * (1 + 100 * slow * np.finfo(float).eps))


def test_probabilities_that_do_not_depend_on_theta_rest_on_all_draws():
    """Under the model that is released, Pr(F | R, θ) is the same for all θ: what varies is noise."""
    model = next(
        m
        for m in EXACT
        if {frozenset(g) for g in m.generators} == {frozenset({0, 1}), frozenset({2})}
    )
    rng = np.random.default_rng(3)
    step = Roughened(listed(rng), np.random.default_rng(4))
    found = augmented(step, model, ALPHA, CELLS, effort=Effort(n_chains=4, n_draws=400), rng=rng)
    assert not found.diagnostics.varied.any()
    assert found.effective_draws == 1600
    assert found.rounding < 1e-9
    assert {e for errors in found.errors for e in errors.values()} == {found.rounding}
    distribution = exact_distribution(MARGINS, model, ALPHA)
    right = marginals.posterior(distribution.system, distribution.prior)
    for cell in CELLS:
        for q, p in found.distributions[cell].items():
            assert abs(p - right.probability(int(cell), q)) <= found.rounding


def test_time_that_runs_out_leaves_what_there_is():
    rng = np.random.default_rng(2)
    effort = Effort(n_draws=10_000_000, burn_in=1e-6, seconds=0.3)
    found = augmented(listed(rng), EXACT[0], ALPHA, CELLS[:2], effort=effort, rng=rng)
    assert not found.complete
    assert 8 <= found.tables.shape[1] < 10_000_000


def test_an_interruption_leaves_what_there_is():
    rng = np.random.default_rng(2)

    def stops(step, fraction):
        if fraction > 0.5:
            raise KeyboardInterrupt

    found = augmented(
        listed(rng), EXACT[0], ALPHA, CELLS[:2], effort=Effort(n_draws=100), rng=rng, progress=stops
    )
    assert not found.complete
    assert found.tables.shape[1] < 100


@pytest.mark.parametrize("options", [{"n_chains": 1}, {"n_draws": 3}])
def test_effort_that_is_none(options):
    with pytest.raises(InputError, match="effort must be at least 2 chains of 8 draws"):
        Effort(**options)
