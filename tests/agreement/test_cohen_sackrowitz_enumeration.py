"""Posteriors over small populations against all tables and all samples, in exact fractions."""

import math
from collections import defaultdict
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet.data.summary import SizeIndices
from discreet.errors import InputError
from discreet.survey.models.exchangeable_prior import ExchangeablePosterior, PopulationPrior
from discreet.survey.models.subset_prior import (
    EmptyCells,
    LargestCell,
    PopulationUniques,
    Subset,
    log_binomial,
    log_coefficient,
    log_coefficient_beyond,
    subset_posterior,
)

SAMPLES = [
    ((1,), 4),
    ((1, 0), 1),
    ((1, 0), 9),
    ((2, 1), 3),
    ((1, 1), 5),
    ((1, 1, 0), 4),
    ((1, 1, 1), 4),
    ((2, 1, 0, 0), 8),
    ((3, 1, 1, 1, 0), 9),
    ((2, 1, 1, 1, 1, 0), 10),
    ((1, 1, 1, 1, 1), 12),
]
Table = tuple[int, ...]


@cache
def tables(total: int, cells: int) -> tuple[Table, ...]:
    """All population tables of some cells with this total."""
    if cells == 1:
        return ((total,),)
    firsts = range(total + 1)
    return tuple((a, *rest) for a in firsts for rest in tables(total - a, cells - 1))


def prior_weight(prior: PopulationPrior, table: Table) -> Fraction:
    if prior is PopulationPrior.UNIFORM:
        return Fraction(1)
    return Fraction(1, math.prod(map(math.factorial, table)))


def likelihood(table: Table, sample: Table) -> int:
    """Ways to draw the sample from the population: eq. 2.1 without its denominator."""
    return math.prod(math.comb(F, f) for F, f in zip(table, sample, strict=True))


def posterior_tables(
    prior: PopulationPrior, sample: Table, population_size: int
) -> list[tuple[Table, Fraction]]:
    weighted = [
        (table, prior_weight(prior, table) * likelihood(table, sample))
        for table in tables(population_size, len(sample))
    ]
    total = sum(w for _, w in weighted)
    return [(table, w / total) for table, w in weighted if w]


def of(prior: PopulationPrior, sample: Table, population_size: int) -> ExchangeablePosterior:
    return ExchangeablePosterior(
        prior=prior,
        sample_size=sum(sample),
        population_size=population_size,
        n_table_cells=len(sample),
    )


def indices(sample: Table) -> SizeIndices:
    return SizeIndices.of_counts(np.array([f for f in sample if f]))


@pytest.mark.parametrize("prior", PopulationPrior)
def test_likelihood_is_that_of_drawing_people(prior):
    """Every population table, every set of people drawn from it: joint frequencies of (F, f)."""
    N, n, K, sample = 5, 3, 3, (2, 1, 0)
    unique = shown = Fraction(0)
    for table in tables(N, K):
        people = [cell for cell, number in enumerate(table) for _ in range(number)]
        drawn = [tuple(map(chosen.count, range(K))) for chosen in combinations(people, n)]
        shown += prior_weight(prior, table) * drawn.count(sample)
        unique += prior_weight(prior, table) * drawn.count(sample) * (table[1] == 1)
    exact = float(unique / shown)
    assert of(prior, sample, N).unique_probability == pytest.approx(exact, rel=1e-14)


@pytest.mark.parametrize(("sample", "population_size"), SAMPLES)
@pytest.mark.parametrize("prior", PopulationPrior)
def test_number_of_population_uniques(prior, sample, population_size):
    lone = [i for i, f in enumerate(sample) if f == 1]
    exact: dict[int, Fraction] = defaultdict(Fraction)
    for table, p in posterior_tables(prior, sample, population_size):
        exact[sum(table[i] == 1 for i in lone)] += p
    mean = sum(x * p for x, p in exact.items())
    variance = sum(x * x * p for x, p in exact.items()) - mean**2
    posterior = of(prior, sample, population_size)
    uniques = posterior.uniques(len(lone))
    computed = dict(enumerate(uniques.probability, uniques.first))
    for x in range(len(lone) + 1):
        assert computed.get(x, 0.0) == pytest.approx(float(exact[x]), abs=1e-15)
        assert uniques.at_least(x) == pytest.approx(
            float(sum(p for y, p in exact.items() if y >= x)), abs=1e-15
        )
    assert uniques.mean == pytest.approx(float(mean), rel=1e-14)
    assert uniques.variance == pytest.approx(float(variance), abs=1e-14)
    q = sum(
        p for table, p in posterior_tables(prior, sample, population_size) if table[lone[0]] == 1
    )
    assert posterior.unique_probability == pytest.approx(float(q), rel=1e-14)
    assert posterior.shared_probability == pytest.approx(float(1 - q), rel=1e-13)


@pytest.mark.parametrize(("sample", "population_size"), SAMPLES)
@pytest.mark.parametrize("prior", PopulationPrior)
def test_match_probability(prior, sample, population_size):
    occupied = [f for f in sample if f]
    exact = [Fraction(0) for _ in occupied]
    matches = squares = Fraction(0)
    for table, p in posterior_tables(prior, sample, population_size):
        shares = [Fraction(f, F) for f, F in zip(sample, table, strict=True) if f]
        exact = [e + p * share / f for e, share, f in zip(exact, shares, occupied, strict=True)]
        matches, squares = matches + p * sum(shares), squares + p * sum(shares) ** 2
    posterior = of(prior, sample, population_size)
    computed = posterior.match_probability(np.array(occupied))
    np.testing.assert_allclose(computed, [float(e) for e in exact], rtol=1e-14)
    sizes = indices(sample)
    at_most = posterior.matches_variance(sizes.sizes, sizes.cells)
    assert at_most >= float(squares - matches**2) - 1e-14
    if prior is PopulationPrior.UNIFORM and set(occupied) == {1}:
        assert at_most == pytest.approx(float(squares - matches**2), abs=1e-14)


@pytest.mark.parametrize("prior", PopulationPrior)
@pytest.mark.parametrize(
    ("sample_size", "population_size", "cells", "uniques"),
    [
        (300, 900, 200, 60),
        (60, 4000, 1000, 40),
        (500, 520, 90, 30),
        (40, 45, 40, 40),
        (60, 600, 100, 20),
        (9, 99, 9, 9),
    ],
)
def test_larger_distributions_by_inclusion_and_exclusion(
    prior, sample_size, population_size, cells, uniques
):
    """P(j given sample uniques are all unique) gives the distribution, in exact fractions."""

    def all_unique(j: int) -> Fraction:
        if prior is PopulationPrior.MULTINOMIAL:
            left = population_size - sample_size
            return Fraction((cells - j) ** left, cells**left)
        drawn, of_all = sample_size + cells - 1, population_size + cells - 1
        return Fraction(math.perm(drawn, 2 * j), math.perm(of_all, 2 * j))

    sums = [math.comb(uniques, j) * all_unique(j) for j in range(uniques + 1)]
    exact = [
        float(sum((-1) ** (j - x) * math.comb(j, x) * sums[j] for j in range(x, uniques + 1)))
        for x in range(uniques + 1)
    ]
    posterior = ExchangeablePosterior(
        prior=prior,
        sample_size=sample_size,
        population_size=population_size,
        n_table_cells=cells,
    )
    computed = posterior.uniques(uniques)
    inside = exact[computed.first : computed.first + len(computed.probability)]
    np.testing.assert_allclose(computed.probability, inside, rtol=1e-11, atol=1e-15)
    assert sum(inside) == pytest.approx(1, abs=1e-15)


def belongs(table: Table, subset: Subset) -> bool:
    if isinstance(subset, LargestCell):
        return max(table) <= subset.most
    return table.count(0 if isinstance(subset, EmptyCells) else 1) == subset.number


def exact_subset_posterior(
    prior: PopulationPrior, sample: Table, population_size: int, subset: Subset, weight: Fraction
) -> Fraction | None:
    """P(F_i = 1 given f), by the definition; None where the prior or the posterior has no mass."""
    shares = (1 - weight, weight)
    prior_mass, mass, unique = [Fraction(0)] * 2, [Fraction(0)] * 2, [Fraction(0)] * 2
    for table in tables(population_size, len(sample)):
        inside, p = belongs(table, subset), prior_weight(prior, table)
        prior_mass[inside] += p
        mass[inside] += p * likelihood(table, sample)
        unique[inside] += p * likelihood(table, sample) * (table[sample.index(1)] == 1)
    if any(share and not z for share, z in zip(shares, prior_mass, strict=True)):
        return None
    scaled = [share / z if z else Fraction(0) for share, z in zip(shares, prior_mass, strict=True)]
    total = sum(s * m for s, m in zip(scaled, mass, strict=True))
    return (
        sum((s * u for s, u in zip(scaled, unique, strict=True)), Fraction(0)) / total
        if total
        else None
    )


@pytest.mark.parametrize(
    ("sample", "population_size"),
    [
        ((1, 0), 3),
        ((2, 1), 3),
        ((1, 1), 2),
        ((1, 0, 0), 1),
        ((2, 1), 9),
        ((2, 1, 1, 0), 8),
        ((1, 0, 0, 0, 0), 6),
        ((3, 1, 1, 1, 0), 9),
    ],
)
@pytest.mark.parametrize("prior", PopulationPrior)
def test_weighted_subsets(prior, sample, population_size):
    subsets: list[Subset] = [
        *map(LargestCell, range(1, population_size + 2)),
        *map(EmptyCells, range(len(sample) + 2)),
        *map(PopulationUniques, range(len(sample) + 2)),
    ]
    for subset in subsets:
        for weight in (Fraction(0), Fraction(1, 4), Fraction(1)):
            exact = exact_subset_posterior(prior, sample, population_size, subset, weight)
            arguments = {
                "prior": prior,
                "population_size": population_size,
                "n_table_cells": len(sample),
                "subset": subset,
                "weight": float(weight),
            }
            if exact is None:
                with pytest.raises(InputError, match="weight must be"):
                    subset_posterior(indices(sample), **arguments)
            else:
                computed = subset_posterior(indices(sample), **arguments).unique_probability
                assert computed == pytest.approx(float(exact), abs=1e-13), (subset, weight)


@pytest.mark.parametrize("prior", PopulationPrior)
@pytest.mark.parametrize(
    "subset",
    [
        LargestCell(60),
        LargestCell(25),
        EmptyCells(3),
        EmptyCells(0),
        PopulationUniques(6),
        PopulationUniques(0),
    ],
)
def test_subset_with_its_own_share_is_the_plain_prior(prior, subset):
    """At a size no enumeration reaches: γ = the share of the subset gives eq. 2.4 and 2.6 back."""
    sample = indices((1,) * 12 + (2,) * 9 + (3, 5, 5, 8, 11, 16))
    sizes = {"population_size": 600, "n_table_cells": 60, "prior": prior, "subset": subset}
    share = subset_posterior(sample, weight=0.5, **sizes).subset_share
    plain = ExchangeablePosterior(
        prior=prior, sample_size=78, population_size=600, n_table_cells=60
    ).unique_probability
    mixed = subset_posterior(sample, weight=share, **sizes)
    assert mixed.unique_probability == pytest.approx(plain, rel=1e-6 if share > 1 - 1e-9 else 1e-10)
    assert mixed.inside is not None
    assert mixed.outside is not None
    assert mixed.inside != pytest.approx(mixed.outside, rel=1e-9)


@pytest.mark.parametrize("number", [40, 70, 100, 130, 160])
def test_population_uniques_when_many_sample_uniques_must_stay_unique(number):
    """100 sample uniques, 60 people to come: 40 at least stay unique, 160 are if all 60 are too."""
    sizes: dict[str, Any] = {
        "prior": PopulationPrior.UNIFORM,
        "population_size": 160,
        "n_table_cells": 200,
        "subset": PopulationUniques(number),
    }
    sample = indices((1,) * 100)
    share = subset_posterior(sample, weight=0.5, **sizes).subset_share
    mixed = subset_posterior(sample, weight=share, **sizes)
    plain = of(PopulationPrior.UNIFORM, (1,) * 100 + (0,) * 100, 160).unique_probability
    assert mixed.unique_probability == pytest.approx(plain, rel=1e-10)
    if number in (40, 160):
        assert mixed.inside == pytest.approx({40: 0.4, 160: 1.0}[number], abs=1e-12)


def test_share_of_empty_cells_is_hypergeometric_under_the_uniform_prior():
    """Occupied cells are the bars drawn: their number among K when N of N + K − 1 are taken."""
    sample, K, N = indices((1, 1, 4)), 40, 90
    for number in (0, 5, 12, 30):
        share = subset_posterior(
            sample,
            prior=PopulationPrior.UNIFORM,
            population_size=N,
            n_table_cells=K,
            subset=EmptyCells(number),
            weight=0.5,
        ).subset_share
        exact = math.comb(K, number) * math.comb(N - 1, K - number - 1) / math.comb(N + K - 1, N)
        assert share == pytest.approx(exact, rel=1e-11)


def polynomial_power(series: list[int], power: int, total: int) -> list[int]:
    result = [1] + [0] * total
    for _ in range(power):
        result = [
            sum(result[i - j] * series[j] for j in range(min(i, len(series) - 1) + 1))
            for i in range(total + 1)
        ]
    return result


@pytest.mark.parametrize("total", [0, 1, 7, 23])
def test_coefficients_against_whole_numbers(total):
    rng = np.random.default_rng(7)
    series = [[int(x) for x in rng.integers(0, 9, total + 1)] for _ in range(2)]
    series[0][0] = series[1][-1] = 2
    with np.errstate(divide="ignore"):
        factors = [(5, np.log(series[0])), (3, np.log(series[1]))]
    parts = [polynomial_power(s, m, total) for s, m in zip(series, (5, 3), strict=True)]
    exact = sum(parts[0][i] * parts[1][total - i] for i in range(total + 1))
    assert log_coefficient(factors, total) == pytest.approx(math.log(exact), abs=1e-11)
    short = [polynomial_power(s[:2], m, total) for s, m in zip(series, (5, 3), strict=True)]
    capped = sum(short[0][i] * short[1][total - i] for i in range(total + 1))
    beyond = log_coefficient_beyond(factors, [2, 2], total)
    if total < 2:
        assert beyond == -math.inf
    else:
        assert beyond == pytest.approx(math.log(exact - capped), abs=1e-11)


def test_a_tiny_coefficient_beyond_a_cut_keeps_its_digits():
    """One cell of 40 holds at least 390 of 400 records: 1 table in 10⁴¹, where 1 − share is 0."""
    series, total, cells, cut = np.zeros(401), 400, 40, 390
    exact = cells * math.comb(total - cut + cells - 1, cells - 1)
    assert exact / math.comb(total + cells - 1, cells - 1) < 1e-40
    computed = log_coefficient_beyond([(cells, series)], [cut], total)
    assert computed == pytest.approx(math.log(exact), rel=1e-12)


def test_log_binomial_against_whole_numbers():
    for n, k in [(0, 0), (1, 0), (1, 1), (5, 2), (31, 16), (10**6, 3), (10**5, 5 * 10**4)]:
        exact = math.log(math.comb(n, k))
        assert float(log_binomial(n, k)) == pytest.approx(exact, rel=2e-15, abs=1e-15)
    assert float(log_binomial(10**15, 2)) == pytest.approx(math.log(10**30 / 2), rel=1e-15)
    logs = stats.hypergeom.logpmf(3, 50, 20, 10)
    ours = log_binomial(20, 3) + log_binomial(30, 7) - log_binomial(50, 10)
    assert float(ours) == pytest.approx(float(logs), abs=1e-13)
