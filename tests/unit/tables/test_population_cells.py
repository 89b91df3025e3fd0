"""Small cells of a sample as cells of its population, against enumeration and simulation."""

from itertools import pairwise, product
from math import comb, lgamma

import mpmath
import numpy as np
import pytest
from tests.oracles.population_of_sample import population_distribution

from discreet.belief.exact.population_chain import chain_distribution
from discreet.data.table import Table
from discreet.errors import InputError
from discreet.figures import Unavailable
from discreet.flows.audit import audit
from discreet.tables.audit_options import AuditOptions
from discreet.tables.population_cells import (
    PopulationCell,
    averaged_population_cells,
    chained_population_cells,
    population_cells,
)

SAMPLE = Table.of_dense(np.array([[[0, 1], [1, 0]], [[0, 2], [0, 0]]]), ["a", "b", "c"])


def cells(distributions, *, n=4, population=7, alpha=0.5, total=1.5, small=3):
    return population_cells(
        distributions,
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
    distribution = {0: 0.2, 1: 0.5, 3: 0.3}
    first, second = cells([distribution, {1: 1.0}])
    parts = [cells([{q: 1.0}])[0] for q in distribution]
    weights = list(distribution.values())
    for value in range(4):
        mixed = sum(w * p.probabilities[value] for w, p in zip(weights, parts, strict=True))
        assert first.probabilities[value] == pytest.approx(mixed, rel=1e-12)
    assert first.mean == pytest.approx(
        sum(w * p.mean for w, p in zip(weights, parts, strict=True)), rel=1e-12
    )
    assert second == parts[1]


def test_agrees_with_the_whole_distribution_of_a_large_population():
    distribution = {1: 0.6, 2: 0.4}
    whole = population_distribution(
        distribution, alpha=0.5, alpha_total=16.0, sample_size=40, population_size=3000
    )
    [found] = cells([distribution], n=40, population=3000, total=16.0, small=5)
    assert [found.probabilities[q] for q in range(6)] == pytest.approx(whole[:6], rel=1e-9)
    assert found.mean == pytest.approx(whole @ np.arange(3001), rel=1e-9)


def test_a_population_of_any_size():
    [found] = cells([{1: 1.0}], n=100, population=10**12, total=50.0)
    assert 0 <= found.unique < 1e-6
    assert 1e8 < found.mean < 1e11


@pytest.mark.parametrize("population", [10**6, 10**12, 2**53 - 1])
def test_a_large_population_to_twelve_digits(population):
    [found] = cells([{1: 1.0}], n=100, population=population, total=50.0)
    with mpmath.workdps(60):
        rest, own, others = population - 100, mpmath.mpf(1.5), mpmath.mpf(148.5)
        right = [
            mpmath.gammaprod(
                [rest + 1, own + k, rest - k + others, own + others],
                [k + 1, rest - k + 1, own, others, rest + own + others],
            )
            for k in range(3)
        ]
    assert list(found.probabilities.values())[1:] == pytest.approx(
        [float(p) for p in right], rel=1e-11
    )


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


def test_a_chain_adds_persons_whatever_the_count_in_the_sample():
    links, distribution = ((2.5, 3.0), (1.0, 6.0)), {0: 0.25, 2: 0.75}
    [found] = chained_population_cells(
        [distribution], [links], sample_size=4, population_size=9, small=3
    )
    more = chain_distribution(links, 5, 5)
    whole = np.convolve([0.25, 0, 0.75], more)
    assert list(found.probabilities.values()) == pytest.approx(whole[:4], rel=1e-12)
    assert found.unique == found.probabilities[1]
    assert found.mean == pytest.approx(whole @ np.arange(len(whole)), rel=1e-12)


def test_a_chain_that_cannot_be_computed_is_not_available():
    links = ((2.5, 3.0), (1.0, 6.0))
    found = chained_population_cells(
        [{0: 1.0}], [links], sample_size=4, population_size=5000, small=4990
    )
    assert isinstance(found, Unavailable)


def test_an_average_weighs_each_figure():
    first = PopulationCell(probabilities={0: 0.0, 1: 1.0}, unique=1.0, mean=1.0)
    second = PopulationCell(probabilities={0: 0.5, 1: 0.25}, unique=0.25, mean=3.0)
    [found] = averaged_population_cells([(0.75, [first]), (0.25, [second])])
    assert found.probabilities == pytest.approx({0: 0.125, 1: 0.8125})
    assert (found.unique, found.mean) == pytest.approx((0.8125, 1.5))


def audited(release, models, population=7):
    return audit(SAMPLE, release, AuditOptions(models=models, population=population)).population


def by_all_populations(shape, population):
    """All tables of a shape with so many persons."""
    k = int(np.prod(shape))
    rows = [(*t, population - sum(t)) for t in product(range(population + 1), repeat=k - 1)]
    return np.array([row for row in rows if row[-1] >= 0]).reshape(-1, *shape)


def test_an_audit_under_decomposable_margins():
    """[a c][b c]: figures from an enumeration of all populations of 7 and their samples of 4."""
    [found] = audited([["b", "c"], ["a", "c"]], ["released"]).values()
    assert not isinstance(found, Unavailable)
    assert found[0].mean == pytest.approx(1.6, rel=1e-9)
    assert found[0].unique == pytest.approx(0.5476, abs=5e-5)


@pytest.mark.parametrize("models", [["released"], ["saturated"], ["average"]])
def test_an_audit_of_two_variables_against_all_populations(models):
    """Populations of 8 of 2×2 under [a][b] and under the saturated model, and samples of 4 with the
    released margins; the models are equally probable beforehand."""
    counts, size, alpha = np.array([[1, 1], [0, 2]]), 8, 0.5
    options = AuditOptions(models=models, population=size, alpha=alpha)
    name, found = audit(  # type: ignore[attr-defined]
        Table.of_dense(counts, ["a", "b"]), [["a"], ["b"]], options
    ).population.popitem()
    people, n = by_all_populations((2, 2), size), int(counts.sum())
    samples = [
        s
        for s in by_all_populations((2, 2), n)
        if all((s.sum(axis=i) == counts.sum(axis=i)).all() for i in (0, 1))
    ]
    joint = np.zeros((2, len(people)))
    for i, table in enumerate(people):
        ways = sum(np.prod([comb(*pair) for pair in zip(table.flat, s.flat)]) for s in samples)
        rising = {
            True: sum(log_rising(q, alpha) for q in table.flat),
            False: sum(log_rising(q, 2 * alpha) for j in (0, 1) for q in table.sum(axis=j))
            - log_rising(size, 4 * alpha),
        }
        for saturated, logs in rising.items():
            joint[int(saturated), i] = ways * np.exp(logs - sum(lgamma(q + 1) for q in table.flat))
    kept = {"average": [0, 1], "saturated": [1]}.get(models[0], [0])
    distribution = joint[kept].sum(axis=0) / joint[kept].sum()
    assert name == {"released": "[a][b]"}.get(models[0], models[0])
    for place, own in zip(np.argwhere(counts > 0), found, strict=True):
        values = people[(slice(None), *place)]
        assert own.unique == pytest.approx(distribution[values == 1].sum(), abs=1e-9)
        assert own.mean == pytest.approx(distribution @ values, abs=1e-9)


def log_rising(count, alpha):
    return lgamma(count + alpha) - lgamma(alpha)


@pytest.mark.parametrize(
    ("release", "models"),
    [
        ([["a"], ["c"]], ["[a][b][c]"]),  # b is in no margin
        ([["a", "b"], ["b", "c"], ["a", "c"]], ["released"]),  # not decomposable
        ([["a", "b"], ["b", "c"]], ["average"]),
        ([["a"], ["b"], ["c"]], ["[a b][c]"]),
    ],
)
def test_other_models_are_not_available(release, models):
    found = list(audited(release, models).values())
    assert isinstance(found[-1], Unavailable)
    assert "known only under the saturated model" in found[-1].reason


def test_an_audit_refuses_a_small_population_under_any_model():
    with pytest.raises(InputError, match="population must be at least the sample's 4"):
        audited([["a"], ["c"]], ["released"], population=3)
