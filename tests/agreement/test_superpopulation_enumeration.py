"""Ewens, Pitman and Poisson–gamma against every partition of tiny populations."""

import itertools
import math
from collections import defaultdict
from functools import cache

import numpy as np
import pytest
from tests.oracles.partitions import draw_sizes

from discreet.data.summary import SizeIndices
from discreet.survey.models.superpopulation.partition_likelihood import (
    PartitionLikelihood,
    log_arrangements,
)
from discreet.survey.models.superpopulation.partition_urn import PartitionUrn

DISTRIBUTIONS = [
    (0.0, 0.7),
    (0.0, 12.0),
    (0.4, 1.5),
    (0.9, -0.6),
    (0.25, 40.0),
    (-0.5, 4.5),  # nine cells
    (-3.0, 24.0),  # eight cells
    (-1.0, 2.0),  # two cells
]
SIZES = [(1, 4), (2, 5), (3, 8), (5, 7), (6, 6)]


@cache
def partitions(n):
    """Every way to sort n records into cells: a cell number for each, cells in order of opening."""
    if n == 1:
        return ((0,),)
    return tuple((*rest, cell) for rest in partitions(n - 1) for cell in range(max(rest) + 2))


def probability(labels, alpha, theta):
    """Of a partition, record by record."""
    chance, counts = 1.0, []
    for seen, cell in enumerate(labels):
        if cell == len(counts):
            chance *= (theta + len(counts) * alpha) / (theta + seen) if seen else 1.0
            counts.append(1)
        else:
            chance *= (counts[cell] - alpha) / (theta + seen)
            counts[cell] += 1
    return chance


def counts_of(labels):
    return [labels.count(cell) for cell in range(max(labels) + 1)]


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize("n", [2, 5, 8])
def test_the_likelihood_is_the_probability_of_the_partition(distribution, n):
    total = 0.0
    by_sizes = defaultdict(float)
    for labels in partitions(n):
        chance = probability(labels, *distribution)
        indices = SizeIndices.of_counts(np.array(counts_of(labels)))
        value = PartitionLikelihood.of(indices)(*distribution).value if chance > 0 else -math.inf
        assert math.exp(value) == pytest.approx(chance, rel=1e-12, abs=1e-300)
        total += chance
        by_sizes[tuple(sorted(counts_of(labels)))] += chance
    assert total == pytest.approx(1, rel=1e-12)
    for counts, chance in by_sizes.items():
        if chance == 0:
            continue  # more cells than the distribution has
        indices = SizeIndices.of_counts(np.array(counts))
        value = PartitionLikelihood.of(indices)(*distribution).value + log_arrangements(indices)
        assert math.exp(value) == pytest.approx(chance, rel=1e-11)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize(("n", "population"), SIZES)
def test_growth_of_cells_given_the_sample(distribution, n, population):
    """P(F = 1), its joint for two uniques, E(1/F) and E(1/F²), given each sample partition."""
    urn = PartitionUrn(*distribution, n, population)  # type: ignore[call-arg]
    inverse, inverse_square = urn.inverse_moments(np.arange(1.0, n + 1))
    of_sample = defaultdict(list)
    for labels in partitions(population):
        of_sample[labels[:n]].append((probability(labels, *distribution), counts_of(labels)))
    for sample, futures in of_sample.items():
        total = sum(chance for chance, _ in futures)
        if total == 0:
            continue
        counts = counts_of(sample)
        lone = [cell for cell, f in enumerate(counts) if f == 1]
        for cell, f in enumerate(counts):
            first = sum(chance / F[cell] for chance, F in futures) / total
            second = sum(chance / F[cell] ** 2 for chance, F in futures) / total
            assert inverse[f - 1] == pytest.approx(first, rel=1e-11)
            assert inverse_square[f - 1] == pytest.approx(second, rel=1e-11)
        numbers = [(chance, sum(F[cell] == 1 for cell in lone)) for chance, F in futures]
        mean = sum(chance * number for chance, number in numbers) / total
        variance = sum(chance * number**2 for chance, number in numbers) / total - mean**2
        assert len(lone) * urn.unique_probability == pytest.approx(mean, rel=1e-11)
        assert urn.uniques_variance(len(lone)) == pytest.approx(variance, rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize("n", [2, 5, 8])
def test_expected_size_indices(distribution, n):
    expected = np.zeros(n)
    for labels in partitions(n):
        chance = probability(labels, *distribution)
        for f in counts_of(labels):
            expected[f - 1] += chance
    urn = PartitionUrn(*distribution, n, n)  # type: ignore[call-arg]
    assert urn.expected_cells(np.arange(1.0, n + 1)) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("distribution", [(0.0, 3.0), (0.6, 2.0)])
def test_a_sample_without_replacement_follows_the_same_distribution(distribution):
    """Any n of the records, not the first n alone, so that the order of drawing does not matter."""
    chances = defaultdict(float)
    for labels in partitions(6):
        for chosen in itertools.combinations(range(6), 3):
            sizes = tuple(sorted(counts_of(relabelled([labels[i] for i in chosen]))))
            chances[sizes] += probability(labels, *distribution) / math.comb(6, 3)
    for sizes, chance in chances.items():
        indices = SizeIndices.of_counts(np.array(sizes))
        value = PartitionLikelihood.of(indices)(*distribution).value + log_arrangements(indices)
        assert math.exp(value) == pytest.approx(chance, rel=1e-12)


def relabelled(labels):
    order = {}
    return tuple(order.setdefault(label, len(order)) for label in labels)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_drawn_partitions_have_the_probabilities_of_the_distribution(distribution):
    rng = np.random.default_rng(5)
    urn, draws = PartitionUrn(*distribution, 4, 4), 4000  # type: ignore[call-arg]
    seen = defaultdict(int)
    for _ in range(draws):
        indices = draw_sizes(urn, rng)
        seen[tuple(np.repeat(indices.sizes, indices.cells))] += 1
    expected = defaultdict(float)
    for labels in partitions(4):
        expected[tuple(sorted(counts_of(labels)))] += probability(labels, *distribution)
    assert sum(seen.values()) == draws
    for sizes, chance in expected.items():
        error = math.sqrt(draws * chance * (1 - chance)) + 1e-9
        assert abs(seen[sizes] - draws * chance) < 5 * error + 1
