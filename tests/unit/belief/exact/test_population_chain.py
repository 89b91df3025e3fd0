"""Persons outside a sample under decomposable models, against enumeration and closed forms."""

from fractions import Fraction
from itertools import combinations, product
from math import comb, exp, lgamma, prod

import mpmath
import numpy as np
import pytest

from discreet.belief.exact import population_chain
from discreet.belief.exact.population_chain import chain_distribution, mean_share, released_links
from discreet.belief.models.generators import HierarchicalModel
from discreet.fiber.system.margins import Margins

SHAPE = (2, 2, 2)
TABLE = np.array([[[0, 1], [1, 0]], [[0, 2], [0, 0]]])


def tables(n):
    """All tables of 2×2×2 with n persons, a row each."""
    bars = np.array(list(combinations(range(n + 7), 7)))
    edges = np.hstack([np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), n + 7)])
    return np.diff(edges, axis=1) - 1


def margin(rows, axes):
    others = tuple(1 + axis for axis in range(3) if axis not in axes)
    return rows.reshape(-1, *SHAPE).sum(axis=others).reshape(len(rows), -1)


def log_rising(counts, alpha):
    table = np.array([lgamma(alpha + q) - lgamma(alpha) for q in range(int(counts.max()) + 1)])
    return table[counts].sum(axis=1)


def log_distribution(rows, cliques, separators, alpha):
    """log Pr(F) under the hyper-Dirichlet distribution, up to what is the same for all tables of a
    size.
    """
    logs = -log_rising(rows, 1.0)
    for axes in cliques:
        logs = logs + log_rising(margin(rows, axes), alpha * 2 ** (3 - len(axes)))
    for axes in separators:
        logs = logs - log_rising(margin(rows, axes), alpha * 2 ** (3 - len(axes)))
    return logs


def by_enumeration(released, cliques, separators, alpha, size):
    """Pr(F_i = Q | released) and Pr(f_i = q | released), cells in C order: every population with
    its probability, and every sample of it that has the released margins."""
    n = int(TABLE.sum())
    people, samples, truth = tables(size), tables(n), TABLE.reshape(1, -1)
    for axes in released:
        samples = samples[(margin(samples, axes) == margin(truth, axes)).all(axis=1)]
    weights = np.exp(log_distribution(people, cliques, separators, alpha))
    choose = np.array([[comb(a, b) for b in range(n + 1)] for a in range(size + 1)])
    whole, part = np.zeros((8, size + 1)), np.zeros((8, n + 1))
    for sample in samples:
        own = weights * choose[people, sample].prod(axis=1)
        for i in range(8):
            whole[i] += np.bincount(people[:, i], weights=own, minlength=size + 1)
            part[i, sample[i]] += own.sum()
    return (
        distribution / distribution.sum(axis=1, keepdims=True) for distribution in (whole, part)
    )


def margins(released):
    found = {axes: margin(TABLE.reshape(1, -1), axes).reshape([2] * len(axes)) for axes in released}
    return Margins(sizes=SHAPE, names=("a", "b", "c"), tables=found)


@pytest.mark.parametrize("alpha", [0.5, 1.3])
@pytest.mark.parametrize(
    ("released", "cliques", "separators"),
    [
        ([(0, 2), (1, 2)], [(0, 2), (1, 2)], [(2,)]),
        ([(0,), (1,), (2,)], [(0,), (1,), (2,)], []),
        ([(0, 1), (2,)], [(0, 1), (2,)], []),
        ([(0, 1), (1, 2)], [(0,), (1,), (2,)], []),
        ([(0, 1), (0, 2), (1, 2)], [(0, 1), (1, 2)], [(1,)]),
    ],
)
def test_all_populations_and_samples(released, cliques, separators, alpha):
    """What the sample still hides of a cell is independent of the persons outside."""
    size, n = 7, int(TABLE.sum())
    whole, part = by_enumeration(released, cliques, separators, alpha, size)
    cells = np.array(list(product(range(2), repeat=3)))
    links = released_links(margins(released), HierarchicalModel.of(3, cliques), cells, alpha)
    for own, distribution, sample in zip(links, whole, part, strict=True):
        outside = chain_distribution(own, size - n, size - n)
        assert np.convolve(sample, outside) == pytest.approx(distribution, abs=1e-12)
        expected = distribution @ np.arange(size + 1) - sample @ np.arange(n + 1)
        assert (size - n) * mean_share(own) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(
    ("released", "model"),
    [
        ([(0,), (2,)], [(0,), (2,)]),  # b is in no margin
        ([(0, 1)], [(0, 1), (1, 2)]),
        ([(0, 1), (0, 2), (1, 2)], [(0, 1), (0, 2), (1, 2)]),  # not decomposable
        ([(0, 1), (1, 2)], [(0, 1, 2)]),
    ],
)
def test_no_chain_where_a_clique_is_hidden(released, model):
    cells = np.zeros((1, 3), dtype=np.int64)
    assert released_links(margins(released), HierarchicalModel.of(3, model), cells, 0.5) is None


def test_a_variable_of_one_level_adds_no_link():
    found = Margins(
        sizes=(2, 1), names=("a", "b"), tables={(0,): np.array([3, 1]), (1,): np.array([4])}
    )
    model = HierarchicalModel.of(2, [(0,), (1,)])
    assert released_links(found, model, np.array([[1, 0]]), 0.5) == [((1.5, 3.5),)]
    assert chain_distribution((), 5, 6) == (0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0)


def by_moments(links, rest, x):
    """C(r, x) Σ_j (−1)^j C(r−x, j) E θ^(x+j) in whole fractions."""
    moment, total = Fraction(1), Fraction(0)
    for j in range(rest + 1):
        if j >= x:
            total += (-1) ** (j - x) * comb(rest - x, j - x) * moment
        moment *= prod((Fraction(a) + j) / (Fraction(a) + Fraction(b) + j) for a, b in links)
    return float(comb(rest, x) * total)


LINKS = [
    ((2.5, 7.5),),
    ((0.5, 3.5), (1.0, 40.0)),
    ((0.001, 0.5), (20.0, 3.0)),
    ((12.0, 4.0), (30.0, 9.0), (500.0, 0.25)),
    ((3.0, 1.0), (3.0, 1.0), (3.0, 1.0), (3.0, 1.0)),
]


@pytest.mark.parametrize("links", LINKS)
@pytest.mark.parametrize("rest", [20, 66, 150])
def test_steps_and_integrals_against_exact_fractions(links, rest):
    right = [by_moments(links, rest, x) for x in range(4)]
    assert chain_distribution(links, rest, 3) == pytest.approx(right, abs=1e-11)


@pytest.mark.parametrize("links", LINKS)
def test_integrals_against_steps_for_large_counts(links):
    steps = population_chain._stepped(links, 300, 230)
    found = population_chain._integrals(links, 300, 230)
    assert found == pytest.approx(steps, abs=1e-11)


@pytest.mark.parametrize("rest", [10**4, 10**9, 2**53 - 100])
@pytest.mark.parametrize("owns", [(0.3, 2.0), (0.01, 0.5, 7.0), (1.5, 40.0, 1000.0)])
def test_a_population_of_any_size(rest, owns):
    """A product of Beta(a_k, 1) has the density Σ w_k a_k θ^(a_k − 1), w_k = ∏ a_j/(a_j − a_k)."""
    with mpmath.workdps(60):
        right = []
        for x in range(4):
            total = mpmath.mpf(0)
            for a in map(mpmath.mpf, owns):
                weight = mpmath.fprod(b / (b - a) for b in map(mpmath.mpf, owns) if b != a)
                ratio = mpmath.gammaprod([x + a, rest + 1], [x + 1, rest + a + 1])
                total += weight * a * ratio
            right.append(float(total))
    found = chain_distribution(tuple((a, 1.0) for a in owns), rest, 3)
    assert found == pytest.approx(right, abs=1e-11)
    assert max(right) > 0


def test_concentrated_betas_give_a_binomial_distribution():
    """With ever larger parameters the cell's probability is known, here 1e-9 out of 1e9."""
    links = ((1e14, 1e14), (1e14, 1e14 * (5e8 - 1)))
    found = chain_distribution(links, 10**9, 4)
    assert found == pytest.approx([exp(-1) / prod(range(1, x + 1)) for x in range(5)], abs=1e-6)


def test_improbable_counts_are_nothing():
    assert chain_distribution(((1e6, 1e6), (1e6, 1e6)), 10**7, 2) == (0.0, 0.0, 0.0)


def test_what_cannot_be_done_is_not_answered():
    assert chain_distribution(((2.0, 3.0), (1.0, 1.0)), 5000, 4990) is None
