"""Small cells of a sample as cells of its population, against enumeration and simulation."""

from itertools import pairwise, product
from math import comb, lgamma

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.risk.population_cells import population_cells
from discreet.tables.population import population_law


def cells(laws, *, n=4, population=7, alpha=0.5, total=1.5, small=3):
    return population_cells(
        laws,
        alpha=alpha,
        alpha_total=total,
        sample_size=n,
        population_size=population,
        small=small,
    )


def by_enumeration(n, population, alpha):
    """Pr(F_1 = Q | f_1 = q) for all q: populations of three cells with their Dirichlet–multinomial
    probability, samples of them without putting back."""
    joint = np.zeros((n + 1, population + 1))
    for first, second in product(range(population + 1), repeat=2):
        third = population - first - second
        if third < 0:
            continue
        counts = (first, second, third)
        prior = np.exp(sum(lgamma(c + alpha) - lgamma(alpha) - lgamma(c + 1) for c in counts))
        for q in range(n + 1):
            drawn = comb(first, q) * comb(population - first, n - q)
            joint[q, first] += prior * drawn / comb(population, n)
    return joint / joint.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("n", "population"), [(4, 7), (1, 6), (5, 5), (3, 12)])
def test_a_known_count_against_enumeration(n, population):
    right = by_enumeration(n, population, 0.5)
    for q in range(min(n, 3) + 1):
        [found] = cells([{q: 1.0}], n=n, population=population)
        expected = [right[q, value] if value <= population else 0.0 for value in range(4)]
        assert list(found.probabilities.values()) == pytest.approx(expected, abs=1e-12)
        assert found.unique == pytest.approx(expected[1], abs=1e-12)
        assert found.mean == pytest.approx(right[q] @ np.arange(population + 1), rel=1e-12)


def test_an_uncertain_count_is_a_mixture_and_the_cells_keep_their_order():
    law = {0: 0.2, 1: 0.5, 3: 0.3}
    first, second = cells([law, {1: 1.0}])
    parts = [cells([{q: 1.0}])[0] for q in law]
    weights = list(law.values())
    for value in range(4):
        mixed = sum(w * p.probabilities[value] for w, p in zip(weights, parts, strict=True))
        assert first.probabilities[value] == pytest.approx(mixed, rel=1e-12)
    assert first.mean == pytest.approx(
        sum(w * p.mean for w, p in zip(weights, parts, strict=True)), rel=1e-12
    )
    assert second == parts[1]


def test_agrees_with_the_whole_law_of_a_large_population():
    law = {1: 0.6, 2: 0.4}
    whole = population_law(law, alpha=0.5, alpha_total=16.0, sample_size=40, population_size=3000)
    [found] = cells([law], n=40, population=3000, total=16.0, small=5)
    assert [found.probabilities[q] for q in range(6)] == pytest.approx(whole[:6], rel=1e-9)
    assert found.mean == pytest.approx(whole @ np.arange(3001), rel=1e-9)


def test_a_population_of_any_size():
    [found] = cells([{1: 1.0}], n=100, population=10**12, total=50.0)
    assert 0 <= found.unique < 1e-6
    assert 1e8 < found.mean < 1e11


def test_risk_falls_with_the_sampling_fraction():
    """The larger the population behind the same sample, the less a sample unique is one of it."""
    sizes = (40, 50, 80, 200, 1000, 10**6)
    risks = [cells([{1: 1.0}], n=40, population=size, total=10.0)[0].unique for size in sizes]
    assert risks[0] == pytest.approx(1.0)
    assert all(larger < smaller for smaller, larger in pairwise(risks))


@pytest.mark.parametrize("population", [60, 120, 600])
def test_stated_risk_is_borne_out_by_simulated_populations(population):
    """Of sample uniques, the stated share are population uniques."""
    rng = np.random.default_rng(8)
    n, k, alpha = 40, 30, 0.5
    tables = rng.multinomial(population, rng.dirichlet(np.full(k, alpha), size=4000))
    samples = np.array([rng.multivariate_hypergeometric(table, n) for table in tables])
    alone = samples == 1
    seen = (tables[alone] == 1).mean()
    stated = cells([{1: 1.0}], n=n, population=population, alpha=alpha, total=k * alpha)[0].unique
    per_table = np.array(
        [
            (t[s == 1] == 1).sum() - stated * (s == 1).sum()
            for t, s in zip(tables, samples, strict=True)
        ]
    )
    error = per_table.std() * np.sqrt(len(tables)) / alone.sum()
    assert abs(seen - stated) < 4 * error


@pytest.mark.parametrize("population", [3, 0, -1])
def test_a_population_smaller_than_its_sample_is_refused(population):
    with pytest.raises(InputError, match="population must be at least the sample's 4"):
        cells([{1: 1.0}], population=population)
