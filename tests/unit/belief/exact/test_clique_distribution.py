"""A decomposable model's own margins: summed, led up to and matched, against the full table."""

from itertools import combinations

import numpy as np
import pytest
from scipy.special import gammaln

from discreet.belief import ladder
from discreet.belief import posterior as posteriors
from discreet.belief.drawn_belief import LEAST_EFFECTIVE
from discreet.belief.draws.chain_frequencies import (
    counted_distribution,
    independent_distribution,
    warning_of,
)
from discreet.belief.draws.resample_move import cube_moves
from discreet.belief.draws.smc import annealed_distribution
from discreet.belief.exact.clique_distribution import clique_distribution, log_matchings
from discreet.belief.exact.exact_distribution import completed_points, exact_distribution
from discreet.belief.exact.matched_tables import matched_tables
from discreet.belief.exact.summed_cliques import summed_cliques
from discreet.belief.intruder_priors import LogLinearPrior
from discreet.belief.models.generators import HierarchicalModel, models_containing
from discreet.belief.posterior import Question, table_posterior
from discreet.clock import Clock
from discreet.fiber.sums.dynamic_programming import Budget
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.sums.marginals import posterior
from discreet.fiber.system.linear_system import system_of
from discreet.fiber.system.margins import margins_of
from discreet.fiber.system.priors import Multinomial
from discreet.figures import Unavailable
from discreet.numerics.graphs import junction_tree

TABLE = np.array([[[1, 2], [0, 1], [2, 0]], [[1, 0], [3, 1], [0, 1]]])
ALPHA = np.random.default_rng(1).uniform(0.4, 1.2, TABLE.shape)
LEVELS = np.argwhere(np.ones(TABLE.shape, dtype=bool))
RELEASES = ([(0, 1), (2,)], [(0,), (1,), (2,)], [(0, 1), (1, 2)], [(0, 1), (0, 2), (1, 2)], [(1,)])
CASES = [
    (sets, model)
    for sets in RELEASES
    for model in models_containing(3, sets)
    if junction_tree(model.generators) is not None
]


def right_of(sets, model, alpha=ALPHA):
    distribution = exact_distribution(margins_of(TABLE, sets), model, alpha)
    found = posterior(distribution.system, distribution.prior)
    return found, found.log_normaliser + distribution.log_constant


def asked(sets, model):
    prior = LogLinearPrior(model, ALPHA)
    return Question(prior=prior, margins=margins_of(TABLE, sets), cells=np.arange(12), truth=TABLE)


def assert_same_cells(told, right):
    """Within five standard errors, values that were not seen being rare."""
    for cell, one in enumerate(told):
        for q in range(int(TABLE.sum()) + 1):
            p = right.probability(cell, q)
            error = one.errors.get(q, 1 / (one.effective_draws + 2))
            assert abs(one.distribution.get(q, 0.0) - p) < 5 * error + 1e-9


@pytest.mark.parametrize(("sets", "model"), CASES)
def test_sums_over_cliques_are_sums_over_tables(sets, model):
    distribution = clique_distribution(margins_of(TABLE, sets), model, ALPHA)
    found = summed_cliques(distribution, budget=Budget())
    _, evidence = right_of(sets, model)
    assert found.log_probability == pytest.approx(evidence, abs=1e-9)
    assert found.standard_error == 0


def test_a_known_evidence_needs_one_population():
    sets, model = RELEASES[1], HierarchicalModel.of(3, [(0, 1), (1, 2)])
    distribution = clique_distribution(margins_of(TABLE, sets), model, ALPHA)
    known = summed_cliques(distribution, budget=Budget())
    found = annealed_distribution(
        distribution, LEVELS, evidence=known, clock=Clock(None), rng=np.random.default_rng(3)
    )
    assert found.evidence == known
    assert found.n_populations == 1
    assert_same_cells(found.distributions(), right_of(sets, model)[0])


@pytest.mark.parametrize(
    ("sets", "model"),
    [
        (RELEASES[0], HierarchicalModel.saturated(3)),
        (RELEASES[1], HierarchicalModel.of(3, [(0, 1), (1, 2)])),
        (RELEASES[2], HierarchicalModel.saturated(3)),
        (RELEASES[3], HierarchicalModel.saturated(3)),
    ],
)
def test_populations_led_up_to_the_model(sets, model):
    distribution = clique_distribution(margins_of(TABLE, sets), model, ALPHA)
    found = annealed_distribution(
        distribution, LEVELS, clock=Clock(None), rng=np.random.default_rng(5)
    )
    right, evidence = right_of(sets, model)
    assert abs(found.evidence.log_probability - evidence) < 5 * found.evidence.standard_error
    assert found.evidence.standard_error < 0.05
    assert found.complete
    assert_same_cells(found.distributions(), right)


def test_far_tails_are_found():
    """One hidden number of a wide range: nearly all the weight lies where no matching goes."""
    table = np.array([[78, 72], [76, 74]])
    alpha = np.full((2, 2), 0.5)
    margins = margins_of(table, [(0,), (1,)])
    model = HierarchicalModel.saturated(2)
    distribution = exact_distribution(margins, model, alpha)
    right = (
        posterior(distribution.system, distribution.prior).log_normaliser
        + distribution.log_constant
    )
    levels = np.array([[0, 0]])
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        found = annealed_distribution(
            clique_distribution(margins, model, alpha), levels, clock=Clock(None), rng=rng
        )
        error = found.evidence.standard_error
        assert abs(found.evidence.log_probability - right) < 4 * error
        assert error < 0.15
        [one] = found.distributions()
        assert max(one.distribution) - min(one.distribution) > 100


def test_a_release_that_tells_all_margins_of_the_model_needs_no_steps():
    distribution = clique_distribution(
        margins_of(TABLE, RELEASES[2]), HierarchicalModel.of(3, RELEASES[2]), ALPHA
    )
    found = annealed_distribution(
        distribution, LEVELS, clock=Clock(None), rng=np.random.default_rng(5)
    )
    right, evidence = right_of(RELEASES[2], HierarchicalModel.of(3, RELEASES[2]))
    assert found.evidence.log_probability == pytest.approx(evidence, abs=1e-9)
    assert_same_cells(found.distributions(), right)


def test_no_distribution_for_other_models():
    margins = margins_of(TABLE, [(0, 1), (1, 2)])
    assert clique_distribution(margins, HierarchicalModel.no_highest_interaction(3), ALPHA) is None
    assert clique_distribution(margins, HierarchicalModel.of(3, [(0, 1), (2,)]), ALPHA) is None
    huge = margins_of(TABLE * 10**7, [(0, 1), (1, 2)])
    assert clique_distribution(huge, HierarchicalModel.saturated(3), ALPHA) is None


def test_no_time_gives_a_reason_or_a_part():
    distribution = clique_distribution(
        margins_of(TABLE * 60, RELEASES[1]), HierarchicalModel.saturated(3), ALPHA
    )
    rng = np.random.default_rng(1)
    found = annealed_distribution(distribution, LEVELS, clock=Clock(1e-6), rng=rng)
    assert isinstance(found, Unavailable) or not found.complete
    with pytest.raises(BudgetExceeded):
        summed_cliques(distribution, budget=Budget(states=10, steps=100))


def test_lines_change_columns_as_moves_change_tables():
    margins = margins_of(TABLE, [(0, 1), (2,)])
    distribution = clique_distribution(margins, HierarchicalModel.of(3, [(0, 1), (1, 2)]), ALPHA)
    moves = cube_moves(margins)
    lines = distribution.lines(moves)
    tables = np.zeros((moves.n_moves, TABLE.size), dtype=np.int64)
    rows = np.repeat(np.arange(moves.n_moves), np.diff(moves.begin))
    tables[rows, moves.cells] = moves.steps
    expected = {tuple(sign * row) for row in distribution.columns_of(tables) for sign in (1, -1)}
    for i in range(len(lines.begin) - 1):
        here = slice(lines.begin[i], lines.begin[i + 1])
        row = np.zeros(len(distribution.upper), dtype=np.int64)
        row[lines.columns[here]] = lines.steps[here]
        assert tuple(row) in expected
    assert 2 * (len(lines.begin) - 1) == len(expected - {(0,) * len(distribution.upper)})


@pytest.mark.parametrize("sets", [[(0, 1), (1, 2)], [(0,), (1, 2)], [(0, 1)], [(0, 2), (1,)]])
def test_matched_tables_have_the_margins_and_the_distribution(sets):
    margins = margins_of(TABLE, sets)
    drawn = matched_tables(margins, 20_000, rng=np.random.default_rng(2))
    for axes, own in margins.tables.items():
        others = tuple(1 + i for i in range(3) if i not in axes)
        assert np.all(drawn.reshape(-1, *TABLE.shape).sum(axis=others) == own)
    system = system_of(TABLE.size, margins.statements())
    right = posterior(system, Multinomial())
    assert log_matchings(margins) == pytest.approx(right.log_normaliser, abs=1e-9)
    for cell in range(TABLE.size):
        one = independent_distribution(drawn[:, cell])
        for q, p in one.distribution.items():
            assert abs(p - right.probability(cell, q)) < 5 * one.errors[q]


def test_matchings_of_margins_that_are_not_decomposable():
    assert log_matchings(margins_of(TABLE, [(0, 1), (0, 2), (1, 2)])) is None


def test_errors_of_counted_distributions_hold():
    """Chains that stay where they are with probability 0.9: errors allow for that."""
    rng = np.random.default_rng(7)
    misses = 0
    for _ in range(40):
        fresh = rng.poisson(2.0, size=(8, 400))
        move = rng.random((8, 400)) < 0.1
        move[:, 0] = True
        last = np.maximum.accumulate(np.where(move, np.arange(400), 0), axis=1)
        one = counted_distribution(np.take_along_axis(fresh, last, axis=1))
        for q in range(4):
            p = np.exp(-2.0 + q * np.log(2.0) - gammaln(q + 1.0))
            misses += abs(one.distribution[q] - p) > 2 * one.errors[q]
        assert 50 < one.effective_draws < 600
    assert misses < 0.15 * 160


def test_a_count_that_never_varies():
    same = np.full((4, 50), 3)
    assert counted_distribution(same).errors[3] == pytest.approx(1 / 22)
    assert counted_distribution(same, room=False).errors[3] == 0
    assert independent_distribution(same).errors[3] == pytest.approx(1 / 202)
    assert warning_of([]) == warning_of([independent_distribution(same)]) == ""


@pytest.mark.parametrize(
    "model", [HierarchicalModel.saturated(3), HierarchicalModel.of(3, [(0, 1), (1, 2)])]
)
def test_a_posterior_beyond_summing(monkeypatch, model):
    def beyond(*_, **__):
        raise BudgetExceeded("too large")

    monkeypatch.setattr(posteriors, "_exactly", lambda *_: None)
    monkeypatch.setattr(posteriors, "summed_cliques", beyond)
    sets = [(0,), (1,), (2,)]
    question = asked(sets, model)
    found = table_posterior(question, rng=np.random.default_rng(1))
    right, evidence = right_of(sets, model)
    assert "led up to the model" in found.method
    assert abs(found.evidence.log_probability - evidence) < 5 * found.evidence.standard_error
    distribution = exact_distribution(question.margins, model, ALPHA)
    truth = right.table_probability(completed_points(distribution.system, TABLE.ravel()[None])[0])
    assert abs(found.true_table.value - truth) < 5 * found.true_table.standard_error


def test_too_few_effective_draws_are_no_figures(monkeypatch):
    """Weighted draws that rest on a table or two give a reason and a remedy, not probabilities."""

    sets = [(0, 1), (0, 2), (1, 2)]
    monkeypatch.setattr(posteriors, "_exactly", lambda *_: None)
    monkeypatch.setattr(posteriors, "moved_distribution", lambda *_, **__: None)
    weighted = ladder.weighted_belief  # type: ignore[attr-defined]
    uneven = {"effective": LEAST_EFFECTIVE / 2}

    def few(distribution, **more):
        drawn = weighted(distribution, **more)
        keep = max(int(uneven["effective"]), 1)
        return type(
            drawn
        )(  # type: ignore[call-arg]
            tables=drawn.tables[:keep].copy(),
            log_ratios=np.zeros(keep),
            log_weights=drawn.log_weights[:keep].copy(),
            n_tried=keep,
            lower=drawn.lower,
            upper=drawn.upper,
            log_weight=drawn.log_weight,
            complete=False,
        )

    monkeypatch.setattr(ladder, "weighted_belief", few)
    monkeypatch.setattr(posteriors, "simulated", lambda *_, **__: Unavailable("no walk"))
    question = asked(sets, HierarchicalModel.of(3, sets))
    found = table_posterior(question, rng=np.random.default_rng(1))
    assert isinstance(found, Unavailable)
    assert "gave only 10.0 effective draws" in found.reason
    assert "allow more seconds" in found.reason
    uneven["effective"] = 2 * LEAST_EFFECTIVE
    found = table_posterior(question, rng=np.random.default_rng(1))
    assert not isinstance(found, Unavailable)


def test_moves_that_would_fill_the_memory_are_not_laid_out():
    """All three-way margins of 2¹² cells: 126,720 moves of 4,096 entries."""
    table = np.ones((2,) * 12, dtype=np.int64)
    margins = margins_of(table, list(combinations(range(12), 3)))
    distribution = clique_distribution(
        margins, HierarchicalModel.of(12, [range(12)]), np.full(table.shape, 0.5)
    )
    rng = np.random.default_rng(1)
    found = annealed_distribution(
        distribution, np.zeros((1, 12), dtype=np.int64), clock=Clock(5.0), rng=rng
    )
    assert found == Unavailable("the table has too many cells for moves to be listed")


@pytest.mark.parametrize("alpha", [0.5, 0.7])
def test_populations_of_even_weights_do_not_claim_to_be_exact(alpha):
    """Four persons alike in nothing: all 24 tables have one weight, and no population another."""
    margins = margins_of(np.eye(4, dtype=np.int64), [(0,), (1,)])
    distribution = clique_distribution(
        margins, HierarchicalModel.saturated(2), np.full((4, 4), alpha)
    )
    levels = np.array([[0, 0]])
    found = annealed_distribution(
        distribution, levels, clock=Clock(None), rng=np.random.default_rng(2)
    )
    right = summed_cliques(distribution, budget=Budget())
    assert found.evidence.log_probability == pytest.approx(right.log_probability, abs=1e-9)
    assert 0 < found.evidence.standard_error < 1e-9
