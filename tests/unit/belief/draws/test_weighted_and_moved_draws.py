"""Weighted draws, walks from them and resampled data augmentation, against exact sums."""

import numpy as np
import pytest
from tests.oracles.named_cells import cell_distribution

from discreet.belief import ladder
from discreet.belief import posterior as posteriors
from discreet.belief.drawn_belief import DrawnBelief
from discreet.belief.draws import resample_move as moving
from discreet.belief.draws import weighted_draws as weighting
from discreet.belief.draws.augmentation import Effort, augmented
from discreet.belief.draws.resample_move import cube_moves, moved_distribution
from discreet.belief.draws.table_steps import ResamplingStep
from discreet.belief.draws.weighted_draws import weighted_belief
from discreet.belief.draws.weights import relative_error
from discreet.belief.exact.exact_distribution import exact_distribution
from discreet.belief.exact.matched_distribution import matched_distribution
from discreet.belief.intruder_priors import LogLinearPrior
from discreet.belief.models.generators import HierarchicalModel
from discreet.belief.models.model_averaging import released_evidence
from discreet.belief.models.model_search import search_models
from discreet.belief.posterior import Question, table_posterior
from discreet.clock import Clock
from discreet.fiber.draws.sequential import WeightedDraws
from discreet.fiber.sums.marginals import posterior
from discreet.fiber.system.margins import margins_of
from discreet.figures import Unavailable
from discreet.progress import silent

TABLE = np.array([[[3, 1, 2], [0, 2, 1]], [[1, 4, 0], [2, 1, 3]]])
TWO_WAY = [(0, 1), (0, 2), (1, 2)]
ALPHA = np.full(TABLE.shape, 0.5)
CELLS = np.arange(TABLE.size)


def asked(model, sets=TWO_WAY, **more):
    prior = LogLinearPrior(model, ALPHA)
    return Question(prior=prior, margins=margins_of(TABLE, sets), cells=CELLS, **more)


def exact(model, sets=TWO_WAY):
    distribution = exact_distribution(margins_of(TABLE, sets), model, ALPHA)
    return distribution, posterior(distribution.system, distribution.prior)


@pytest.mark.parametrize(
    "model", [HierarchicalModel.of(3, TWO_WAY), HierarchicalModel.saturated(3)]
)
def test_weighted_draws_and_walks_from_them(model):
    distribution, right = exact(model)
    rng = np.random.default_rng(5)
    margins = margins_of(TABLE, TWO_WAY)
    drawn = weighted_belief(distribution, margins=margins, clock=Clock(None), rng=rng)
    log_z, error = drawn.log_normaliser
    assert abs(log_z - right.log_normaliser) < 5 * error + 1e-9
    entropy = drawn.entropy()
    assert abs(entropy.value - right.entropy) < 5 * entropy.standard_error
    moved = moved_distribution(
        distribution, margins, drawn, CELLS, effort=Effort(n_draws=400), clock=Clock(None), rng=rng
    )
    for cell in CELLS.tolist():
        for distributions, errors in (
            (drawn.cell(cell), drawn.cell_error(cell)),
            (moved.distributions[cell], moved.errors[cell]),
        ):
            for q, p in distributions.items():
                assert abs(p - right.probability(cell, q)) < 5 * errors[q] + 1e-9


def test_cube_moves_change_no_margin():
    margins = margins_of(TABLE, TWO_WAY)
    moves = cube_moves(margins)
    assert moves.n_moves == 3  # pairs of the three levels
    for i in range(moves.n_moves):
        step = np.zeros(TABLE.size, dtype=np.int64)
        here = slice(moves.begin[i], moves.begin[i + 1])
        step[moves.cells[here]] = moves.steps[here]
        for axis in range(3):
            assert not step.reshape(TABLE.shape).sum(axis=axis).any()


def test_resampled_data_augmentation_agrees_with_the_saturated_distribution():
    model = HierarchicalModel.saturated(3)
    distribution, right = exact(model)
    step = ResamplingStep(distribution.system, CELLS, n_chains=4)
    effort = Effort(n_chains=4, n_draws=200)
    found = augmented(step, model, ALPHA, CELLS, effort=effort, rng=np.random.default_rng(2))
    for cell, distributions, errors in zip(
        CELLS.tolist(), found.distributions, found.errors, strict=True
    ):
        for q, p in distributions.items():
            assert abs(p - right.probability(cell, q)) < 5 * errors[q] + 5e-3


def test_bridged_constant_of_a_model_whose_margins_are_released():
    """For a decomposable model the whole marginal likelihood has a closed form."""
    sets = [(0, 1), (1, 2)]
    model = HierarchicalModel.of(3, sets)
    distribution, right = exact(model, sets)
    found = released_evidence(model, ALPHA, TABLE, 800, rng=np.random.default_rng(3))
    factorial = float(np.log(np.arange(1, TABLE.sum() + 1)).sum())
    whole = factorial + right.log_normaliser + found.log_probability
    assert abs(whole - right.log_normaliser - distribution.log_constant) < 5 * found.standard_error
    assert found.standard_error < 0.2


def test_matched_distribution_against_sums():
    sets = [(0, 1), (1, 2)]
    margins, model = margins_of(TABLE, sets), HierarchicalModel.of(3, sets)
    found = matched_distribution(margins, model)
    _, right = exact(model, sets)
    assert found.log_normaliser == pytest.approx(right.log_normaliser, abs=1e-9)
    assert found.entropy() == pytest.approx(right.entropy, abs=1e-9)
    for cell in CELLS.tolist():
        levels = np.array(np.unravel_index(cell, TABLE.shape))
        assert found.cell(levels.tolist()) == pytest.approx(
            cell_distribution(margins, levels), abs=1e-12
        )
        assert right.probability(cell, int(TABLE.ravel()[cell])) == pytest.approx(
            found.cell(levels.tolist())[int(TABLE.ravel()[cell])]
        )
    assert matched_distribution(margins, HierarchicalModel.saturated(3)) is None
    assert (
        matched_distribution(margins_of(TABLE, TWO_WAY), HierarchicalModel.of(3, TWO_WAY)) is None
    )


def test_a_distribution_too_large_to_sum_is_drawn(monkeypatch):
    monkeypatch.setattr(posteriors, "_exactly", lambda *_: None)
    model = HierarchicalModel.of(3, TWO_WAY)
    question = asked(model, truth=TABLE)
    found = table_posterior(question, rng=np.random.default_rng(1))
    assert "weighted draws" in found.method
    _, right = exact(model)
    truth = found.true_table
    assert abs(truth.value - right.table_probability(TABLE.ravel())) < 5 * truth.standard_error


def test_no_time_gives_a_reason_or_an_answer():
    effort = Effort(n_draws=2000, seconds=1e-3)
    model = HierarchicalModel.no_highest_interaction(3)
    question = asked(model, [(0, 1), (1, 2)], effort=effort)
    found = table_posterior(question, rng=np.random.default_rng(1))
    assert isinstance(found, Unavailable) or not found.complete


def test_a_search_finds_all_decomposable_models_when_they_are_alike():
    """61 graphs on four vertices are chordal; with one edge needed, half the pairs' worth of them
    remain, and flat evidence leads both searches through all."""
    found = search_models(4, [(0, 1)], lambda _: 0.0, most=1000)
    assert found.agrees
    assert len(found.models) == len(set(found.models))
    every = search_models(4, [(0,)], lambda _: 0.0, most=1000)
    assert len(every.models) == 61
    short = search_models(4, [(0,)], lambda _: 0.0, most=5)
    assert not short.agrees


def test_a_search_leaves_out_what_cannot_be_weighed():
    found = search_models(3, [(0, 1)], lambda model: None if model.is_saturated else -1.0)
    assert found.n_unweighed == 1
    assert all(not model.is_saturated for model in found.models)


EPSILON = 2.0**-52


def even_draws(n, seed=0, room=True):
    """So many draws of the table itself, whose weights are alike but for rounding."""
    noise = np.random.default_rng(seed).integers(-3, 4, n) * EPSILON
    return DrawnBelief(
        tables=np.tile(TABLE.ravel(), (n, 1)),
        log_ratios=np.log(3.0) * (1 + noise),
        log_weights=np.zeros(n),
        n_tried=n,
        lower=np.zeros(TABLE.size, dtype=np.int64),
        upper=np.full(TABLE.size, int(room)),
    )


def test_the_error_of_a_mean_weight_is_that_of_its_draws():
    weights = np.array([0.5, 2.0, 1.0, 0.0, 0.0, 3.1])
    own = np.log(weights[weights > 0] / weights.mean())
    found = relative_error(own, len(weights))
    assert found == pytest.approx(weights.std() / weights.mean() / np.sqrt(6), rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_draws_of_even_weights_are_neither_exact_nor_in_doubt(seed):
    _, error = even_draws(500, seed).log_normaliser
    assert 0 < error < 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_a_cell_without_room_is_certain_whatever_rounding_does(seed):
    certain = even_draws(300, seed, room=False).cell_error(0)
    assert set(certain.values()) == {0.0}
    open_ = even_draws(300, seed).cell_error(0)
    assert min(open_.values()) == pytest.approx(1 / 302)


@pytest.mark.parametrize("seed", range(5))
def test_draws_end_where_even_ones_are_enough(seed, monkeypatch):
    distribution, _ = exact(HierarchicalModel.of(3, TWO_WAY))

    def draws(system, prior, wanted, **_):
        own = even_draws(wanted, seed)
        return WeightedDraws(
            tables=own.tables, log_weights=own.log_ratios, n_tried=wanted, how="even"
        )

    monkeypatch.setattr(weighting, "weighted_draws", draws)
    monkeypatch.setattr(weighting, "ENOUGH", weighting.FIRST_ROUND)
    found = weighted_belief(
        distribution, margins=None, clock=Clock(None), rng=np.random.default_rng(1)
    )
    assert found.n_tried == weighting.FIRST_ROUND


@pytest.mark.parametrize("seed", range(5))
def test_what_even_draws_are_good_for_is_a_matter_of_their_number(seed, monkeypatch):
    model = HierarchicalModel.of(3, TWO_WAY)
    distribution, _ = exact(model)
    question = asked(model)
    tried = []

    def way(name, answer):
        return lambda *_, **__: tried.append(name) or answer

    def found(n):
        tried.clear()
        monkeypatch.setattr(ladder, "weighted_belief", lambda *_, **__: even_draws(n, seed))
        monkeypatch.setattr(posteriors, "moved_distribution", way("moved", None))
        monkeypatch.setattr(posteriors, "simulated", way("simulated", Unavailable("no")))
        climb = ladder.Climb(Clock(None), np.random.default_rng(1), silent)
        return posteriors._by_weighted_draws(question, distribution, climb)

    assert isinstance(found(19), Unavailable)
    assert not isinstance(found(20), Unavailable)
    assert "too few to trust" in found(49).evidence.reason
    assert found(50).evidence == posteriors.NO_CONSTANT
    assert (found(99), tried)[1] == ["moved", "simulated"]
    assert (found(100), tried)[1] == ["moved"]
    assert (found(2000), tried)[1] == []


@pytest.mark.parametrize("seed", range(5))
def test_walks_from_even_draws_are_warned_of_by_their_number(seed):
    assert "only 49.0 effective" in moving._warning("", even_draws(49, seed))
    assert moving._warning("", even_draws(50, seed)) == ""


@pytest.mark.parametrize("seed", range(5))
def test_rounding_does_not_say_which_model_comes_first(seed):
    """Evidence by the number of edges alone, so that most models are alike but for rounding."""

    def evidence(noise):
        return lambda model: -100.0 * (1 + len(model.generators)) * (1 + noise() * EPSILON)

    rng = np.random.default_rng(seed)
    right = search_models(4, [(0,)], evidence(lambda: 0), most=12)
    found = search_models(4, [(0,)], evidence(lambda: int(rng.integers(-3, 4))), most=12)
    assert found.models == right.models
