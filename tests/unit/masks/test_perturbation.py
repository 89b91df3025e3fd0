"""Tables drawn within the margins that are out, and what they tell."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from discreet.data.table import Table
from discreet.errors import InputError
from discreet.fiber.sums import enumeration
from discreet.figures import Unavailable
from discreet.masks import perturbation
from discreet.masks.after_publication import intruders_belief, intruders_bounds
from discreet.masks.margins import release_margins
from discreet.masks.perturbation import Recipe, perturb

SMALL = Table.of_dense(np.array([[2, 1, 0], [1, 3, 2]]), names=["a", "b"])
THREE = Table.of_dense(np.array([[[1, 2], [0, 1]], [[2, 0], [1, 1]]]), names=["a", "b", "c"])


def fiber_of(table):
    """All 2 × 3 tables with its row and column sums."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    found = []
    for x in range(columns[0] + 1):
        for y in range(columns[1] + 1):
            first = np.array([x, y, rows[0] - x - y])
            both = np.stack([first, columns - first])
            if np.all(both >= 0):
                found.append(both.ravel())
    return np.array(found)


def test_margins_are_kept_and_draws_are_those_of_the_seed():
    out = [["a"], ["b"]]
    for seed in range(20):
        masked = perturb(SMALL, out, seed=seed)
        rows, columns, full = (part.counts for part in masked.published)
        assert np.array_equal(full.sum(axis=1), rows)
        assert np.array_equal(full.sum(axis=0), columns)
        assert np.array_equal(rows, SMALL.margin((0,)))
        assert np.array_equal(full, perturb(SMALL, out, seed=seed).published[-1].counts)


@pytest.mark.parametrize("distribution", ["multinomial", "dirichlet", "uniform"])
def test_draws_follow_their_distribution(distribution):
    """Frequencies of 4,000 draws against the exact distribution over all tables with the margins."""
    fiber = fiber_of(SMALL.dense())
    weight = {
        "uniform": np.zeros(len(fiber)),
        "multinomial": -gammaln(fiber + 1.0).sum(axis=1),
        "dirichlet": (gammaln(fiber + 0.5) - gammaln(fiber + 1.0)).sum(axis=1),
    }[distribution]
    chances = np.exp(weight - logsumexp(weight))
    copies = 1000
    tables = []
    for seed in range(4):
        masked = perturb(
            SMALL,
            [["a"], ["b"]],
            seed=seed,
            recipe=Recipe(distribution=distribution, copies=copies),
        )
        tables += [part.counts.ravel() for part in masked.published[2:]]
    counts = np.array([(np.array(tables) == one).all(axis=1).sum() for one in fiber])
    assert counts.sum() == 4 * copies
    z = (counts - 4 * copies * chances) / np.sqrt(4 * copies * chances * (1 - chances))
    assert np.abs(z).max() < 4.5


def test_draws_fitted_to_the_margins_tell_nothing_beyond_them():
    """The likelihood of any draws is the same under every table of the fiber, by enumeration."""
    plain = intruders_belief(release_margins(SMALL, [["a"], ["b"]]))
    for copies in (1, 3):
        masked = perturb(SMALL, [["a"], ["b"]], seed=5, recipe=Recipe(copies=copies))
        belief = intruders_belief(masked)
        assert masked.likelihood is None
        for table in fiber_of(SMALL.dense()):
            assert belief.probability(table).value == pytest.approx(
                plain.probability(table).value, rel=1e-12
            )
    fiber = fiber_of(SMALL.dense())
    weights = -gammaln(fiber + 1.0).sum(axis=1)
    distribution = np.exp(weights - logsumexp(weights))
    joint = (
        distribution[:, None] * distribution[None]
    )  # truth × draw: the draw sees the truth by its margins alone
    given = joint / joint.sum(axis=0)
    np.testing.assert_allclose(given, np.tile(distribution[:, None], (1, len(fiber))), rtol=1e-12)


def fitted_chances(fiber, alpha):
    """Pr(draw | truth) of every pair, from the definition."""
    logs = np.array(
        [
            (gammaln(fiber + alpha + truth) - gammaln(alpha + truth) - gammaln(fiber + 1.0)).sum(
                axis=1
            )
            for truth in fiber
        ]
    )
    return np.exp(logs - logsumexp(logs, axis=1, keepdims=True))


@pytest.mark.parametrize("copies", [1, 2])
def test_draws_fitted_to_the_table_are_updated_by_their_own_likelihood(copies):
    fiber, alpha = fiber_of(SMALL.dense()), 0.5
    chances = fitted_chances(fiber, alpha)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    masked = perturb(
        SMALL, [["a"], ["b"]], seed=1, recipe=Recipe(fitted="table", copies=copies, alpha=alpha)
    )
    drawn = [part.counts.ravel() for part in masked.published[2:]]
    place = [int(np.flatnonzero((fiber == one).all(axis=1))[0]) for one in drawn]
    prior = np.exp(-gammaln(fiber + 1.0).sum(axis=1))
    expected = prior * np.prod(chances[:, place], axis=1)
    expected /= expected.sum()
    belief = intruders_belief(masked)
    for table, chance in zip(fiber, expected):
        assert belief.probability(table).value == pytest.approx(chance, rel=1e-9)
    plain = prior / prior.sum()
    assert np.abs(expected - plain).max() > 1e-3


def test_the_likelihood_of_a_shown_margin_is_summed_over_the_tables_that_have_it():
    masked = release_margins(THREE, [["a", "b"], ["c"]])
    fiber = np.array(list(enumeration.tables(masked.system())))
    chances = fitted_chances(fiber, 0.5)
    margins = fiber.reshape(-1, 2, 2, 2).sum(axis=2).reshape(len(fiber), -1)
    recipe = Recipe(fitted="table", show=(("a", "c"),))
    seen = set()
    for seed in range(12):
        drawn = perturb(THREE, [["a", "b"], ["c"]], seed=seed, recipe=recipe)
        shown = drawn.published[-1].counts.ravel()
        seen.add(tuple(shown.tolist()))
        expected = chances[:, (margins == shown).all(axis=1)].sum(axis=1)
        np.testing.assert_allclose(np.exp(drawn.likelihood(fiber)), expected, rtol=1e-9)
    assert len(seen) > 3


def test_multiple_imputations_give_mean_and_variance():
    masked = perturb(SMALL, [["a"], ["b"]], seed=3, recipe=Recipe(copies=20))
    copies = np.array([part.counts for part in masked.published[2:]])
    assert masked.mask == "imputation"
    np.testing.assert_allclose(masked.estimate, copies.mean(axis=0))
    np.testing.assert_allclose(masked.variance, copies.var(axis=0, ddof=1))


def test_a_margin_of_the_perturbed_table_is_shown_alone():
    masked = perturb(THREE, [["a"], ["b"]], seed=3, recipe=Recipe(show=(("b", "c"),)))
    assert [part.axes for part in masked.published] == [(0,), (1,), (1, 2)]
    shown = masked.published[-1].counts
    np.testing.assert_allclose(masked.estimate.sum(axis=0), shown, atol=1e-6)
    np.testing.assert_allclose(masked.estimate.sum(axis=(1, 2)), THREE.margin((0,)), atol=1e-6)


def test_a_walk_says_that_it_is_one():
    recipe = Recipe(method="walk", distribution="dirichlet")
    masked = perturb(SMALL, [["a"], ["b"]], seed=3, recipe=recipe)
    assert "walk" in masked.effect
    assert masked.record()["parameters"]["method"] == "walk"
    assert np.array_equal(masked.published[-1].counts.sum(axis=0), SMALL.margin((1,)))


def test_bounds_are_those_of_the_margins():
    masked = perturb(SMALL, [["a"], ["b"]], seed=3)
    fiber = fiber_of(SMALL.dense())
    bounds = intruders_bounds(masked)
    assert bounds.lower.tolist() == fiber.min(axis=0).tolist()
    assert bounds.upper.tolist() == fiber.max(axis=0).tolist()


def test_a_fiber_too_large_for_a_fitted_likelihood_is_said():
    rng = np.random.default_rng(2)
    table = Table.of_dense(rng.poisson(3, (4, 4)))
    masked = perturb(table, [["v1"], ["v2"]], seed=3, recipe=Recipe(fitted="table"))
    found = intruders_belief(masked)
    assert isinstance(found, Unavailable)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"distribution": "normal"}, "prior must be one of multinomial, dirichlet, uniform"),
        ({"fitted": "cells"}, "fitted must be one of margins, table"),
        ({"alpha": 0}, "alpha must be a number above 0"),
        ({"copies": 0}, "copies must be from 1 to 1,000"),
        ({"method": "magic"}, "method must be one of auto, exact, walk, sequential"),
    ],
)
def test_bad_recipes_are_refused(bad, words):
    with pytest.raises(InputError, match=words):
        Recipe(**bad)


def test_without_margins_out_there_is_nothing_to_perturb_within():
    with pytest.raises(InputError, match="margins out must be at least one, got none"):
        perturb(SMALL, [], seed=1)
    with pytest.raises(InputError, match="variables named must be those of the table, got 'z'"):
        perturb(SMALL, [["z"]], seed=1)
    with pytest.raises(InputError, match="seed must be"):
        perturb(SMALL, [["a"]], seed=-4)


def test_a_walk_cut_short_by_the_clock_is_not_published(monkeypatch):
    whole = perturbation.draw_tables  # type: ignore[attr-defined]

    def cut(*arguments, **options):
        found = whole(*arguments, **options)
        return replace(found, stopped="stopped by the time limit")

    monkeypatch.setattr(perturbation, "draw_tables", cut)
    found = perturb(SMALL, [["a"], ["b"]], seed=1, recipe=Recipe(method="walk"))
    assert isinstance(found, Unavailable)
    assert "time limit" in found.reason


def test_cells_that_are_not_shown_have_no_variance():
    shown = perturb(SMALL, [["a"]], seed=1, recipe=Recipe(copies=3))
    margins = perturb(SMALL, [["a"]], seed=1, recipe=Recipe(copies=3, show=(("b",),)))
    assert shown.variance.shape == (2, 3)
    assert margins.variance is None


def test_a_distribution_beside_a_fit_to_the_table_is_refused():
    with pytest.raises(InputError, match="distribution must be left out where draws are fitted"):
        Recipe(fitted="table", distribution="uniform")


def test_the_effect_says_what_of_the_drawn_table_is_published():
    whole = perturb(SMALL, [["a"]], seed=1)
    part = perturb(SMALL, [["a"]], seed=1, recipe=Recipe(show=(("b",),)))
    assert "only" not in whole.effect
    assert "of which only [b] is published" in part.effect
