"""Every figure and formula of cohen-sackrowitz that can be checked, with its place in the paper."""

import math
from collections.abc import Iterator
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from discreet.survey.models.cohen_sackrowitz import UniquenessTest
from discreet.survey.models.exchangeable_prior import ExchangeablePosterior, PopulationPrior
from discreet.survey.models.sample_size import plan_sample_size

N, n, K, S = 46228, 8399, 1108, 108  # the Dutch municipality of the example


def example(prior: PopulationPrior) -> ExchangeablePosterior:
    return ExchangeablePosterior(prior=prior, sample_size=n, population_size=N, n_table_cells=K)


def compositions(total: int, cells: int) -> Iterator[tuple[int, ...]]:
    if cells == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, cells - 1):
            yield (first, *rest)


def test_example_under_the_uniform_prior():
    """Section 2, last paragraph: 4.36."""
    assert example(PopulationPrior.UNIFORM).mean_of(S) == pytest.approx(4.3553, abs=5e-5)
    assert round(example(PopulationPrior.UNIFORM).mean_of(S), 2) == 4.36


def test_example_under_the_multinomial_prior():
    """Not printed: the same data under eq. 2.6, fourteen powers of ten below."""
    expected = S * mp.power(mp.mpf(K - 1) / K, N - n)
    assert example(PopulationPrior.MULTINOMIAL).mean_of(S) == pytest.approx(
        float(expected), rel=1e-12
    )
    assert example(PopulationPrior.MULTINOMIAL).mean_of(S) == pytest.approx(1.58e-13, rel=2e-3)


def test_example_has_a_distribution_and_not_only_a_mean():
    """Not printed: eq. 2.4 leaves between 1 and 9 population uniques, with probability 0.95."""
    uniques = example(PopulationPrior.UNIFORM).uniques(S)
    assert uniques.interval(0.95) == (1, 9)
    assert uniques.at_least(1) == pytest.approx(0.98831, abs=5e-6)
    assert math.sqrt(uniques.variance) == pytest.approx(2.0429, abs=5e-5)
    assert example(PopulationPrior.MULTINOMIAL).uniques(S).interval(0.95) == (0, 0)


def test_printed_expression_of_the_example_lacks_the_factor_108():
    """'108 Q₁ = (8,399 + …)(…)/(…)(…) = 4.36': the quotient is Q₁ itself, 0.0403."""
    quotient = (n + K - 1) * (n + K - 2) / ((N + K - 1) * (N + K - 2))
    assert quotient == pytest.approx(0.0403, abs=5e-5)
    assert 108 * quotient == pytest.approx(4.3553, abs=5e-5)


def test_cells_of_the_example():
    """K = 1108 < K′ = 24 × 14 × 2 × 2."""
    assert K < 24 * 14 * 2 * 2 == 1344


def test_probability_function_of_equation_2_5_needs_its_sum_up_to_p():
    """Σ a_l runs to p, where q is printed: with all of a in it the probabilities add to 1."""
    a, M = (2, 1, 4), 5

    def total(units: int) -> Fraction:
        ways = [
            math.prod(math.comb(x + j - 1, j) for x, j in zip(a, js, strict=True))
            for js in compositions(M, len(a))
        ]
        return Fraction(sum(ways), math.comb(units + M - 1, M))

    assert total(sum(a)) == 1
    assert total(sum(a[:2])) != 1


def test_sums_in_the_proof_of_theorem_2_1():
    """Denominator C(N + K − 1, N − n), numerator C(N + K − 3, N − n)."""
    sample, size = (1, 2, 0, 1), 9
    cells, drawn = len(sample), sum(sample)
    ways = [
        (table, math.prod(math.comb(F, f) for F, f in zip(table, sample, strict=True)))
        for table in compositions(size, cells)
    ]
    assert sum(w for _, w in ways) == math.comb(size + cells - 1, size - drawn)
    unique = sum(w for table, w in ways if table[0] == 1)
    assert unique == math.comb(size + cells - 3, size - drawn)
    assert len(ways) == math.comb(size + cells - 1, cells - 1)  # R, the points of the simplex


def test_theorem_2_2_follows_from_the_multinomial_theorem_not_from_equation_2_5():
    """'Proof. Use (2.5)': that sum is C(N + K − 1, N − n); this one is K^(N−n)/((N−n)! ∏ f!)."""
    sample, size = (1, 2, 0, 1), 9
    cells, left = len(sample), size - sum(sample)
    total = Fraction(0)
    for table in compositions(size, cells):
        ways = math.prod(math.comb(F, f) for F, f in zip(table, sample, strict=True))
        total += Fraction(ways, math.prod(map(math.factorial, table)))
    by_theorem = Fraction(
        cells**left, math.factorial(left) * math.prod(map(math.factorial, sample))
    )
    assert total == by_theorem
    assert total != math.comb(size + cells - 1, left)


def test_conditional_distribution_of_equation_2_2():
    """h(f⁽ⁱ⁾ given f_i = 1) has the denominator C(N − F_i, n − 1)."""
    table, drawn = (3, 2, 4), 4
    joint = {
        f: math.prod(math.comb(F, x) for F, x in zip(table, f, strict=True))
        for f in compositions(drawn, 3)
    }
    lone = sum(w for f, w in joint.items() if f[0] == 1)
    for f, w in joint.items():
        if f[0] == 1:
            printed = Fraction(math.comb(2, f[1]) * math.comb(4, f[2]), math.comb(6, drawn - 1))
            assert Fraction(w, lone) == printed


@pytest.mark.parametrize("prior", PopulationPrior)
def test_probability_rises_with_n_and_with_the_number_of_cells(prior):
    """Section 2, after theorem 2.2."""

    def q(sample_size: int, cells: int) -> float:
        return ExchangeablePosterior(
            prior=prior, sample_size=sample_size, population_size=500, n_table_cells=cells
        ).unique_probability

    assert np.all(np.diff([q(m, 40) for m in range(1, 501)]) > 0)
    assert np.all(np.diff([q(100, cells) for cells in range(2, 300)]) > 0)


@pytest.mark.parametrize("prior", PopulationPrior)
@pytest.mark.parametrize(("b", "c"), [(1, 1), (30, 1), (1, 30), (23.8, 1), (23.7, 1)])
def test_bayes_test_has_the_least_expected_loss(prior, b, c):
    """Reject F = 1 if Q < c/(b + c), where c is lost by a false alarm and b by a missed unique."""
    posterior = example(prior)
    q = posterior.unique_probability
    accepts = UniquenessTest.of(posterior).calls_unique(missed_loss=b, false_alarm_loss=c)
    assert accepts == (c * (1 - q) <= b * q)
    assert accepts == (not q < c / (b + c))


def test_decision_of_the_example_flips_where_a_missed_unique_costs_24_false_alarms():
    ratio = UniquenessTest.of(example(PopulationPrior.UNIFORM)).flip_ratio
    assert ratio == pytest.approx(23.7974, abs=5e-5)


@pytest.mark.parametrize(
    ("prior", "size"), [(PopulationPrior.UNIFORM, 9477), (PopulationPrior.MULTINOMIAL, 42910)]
)
def test_sample_size_that_keeps_the_probability_at_a_twentieth(prior, size):
    """The paper speaks of sample sizes and prints none: eq. 2.4 and 2.6 solved for n."""
    plan = plan_sample_size(K, N, 0.05, prior)
    assert plan.sample_size == size == math.floor(plan.formula)
    below, above = (
        ExchangeablePosterior(prior=prior, sample_size=m, population_size=N, n_table_cells=K)
        for m in (size, size + 1)
    )
    assert below.unique_probability <= 0.05 < above.unique_probability


def test_a_prior_may_be_named_by_a_word_and_no_other_word_is_taken() -> None:
    from discreet.survey.models.exchangeable_prior import ExchangeablePosterior, PopulationPrior

    sizes = {"sample_size": 8399, "population_size": 46228, "n_table_cells": 1108}
    named = ExchangeablePosterior(prior="uniform", **sizes)  # type: ignore[arg-type]
    assert named == ExchangeablePosterior(prior=PopulationPrior.UNIFORM, **sizes)
    with pytest.raises(ValueError, match="binomial"):
        ExchangeablePosterior(prior="binomial", **sizes)  # type: ignore[arg-type]
