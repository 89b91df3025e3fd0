"""Exact posteriors: extreme weights, tables that do not fit, budgets."""

from dataclasses import dataclass
from math import lgamma, log

import mpmath
import numpy as np
import pytest

from discreet.errors import InputError
from discreet.fiber.sums.dynamic_programming import Budget
from discreet.fiber.sums.dynamic_programming_kernels import BIG, SMALL, _clearly_larger
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.sums.marginals import most_probable_table, posterior
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.fiber.system.margins import all_margins, margins_of
from discreet.fiber.system.priors import (
    DirichletMultinomial,
    Multinomial,
    ProductForm,
    Uniform,
    log_ratio,
)


def total_of(n_cells, total):
    return system_of(
        n_cells, [Statement(cells=np.arange(n_cells), low=total, high=total, name="total")]
    )


def test_weights_far_beyond_the_range_of_floats():
    """1/∏x! over k cells with sum n is k^n / n!, and each cell is binomial(n, 1/k)."""
    n, k = 3000, 3
    found = posterior(total_of(k, n), Multinomial())
    assert found.log_normaliser == pytest.approx(n * log(k) - lgamma(n + 1), rel=1e-13)
    with mpmath.workdps(40):
        for value in (0, 10, 1000, 2500):
            exact = (
                mpmath.binomial(n, value) * mpmath.mpf(k - 1) ** (n - value) / mpmath.mpf(k) ** n
            )
            assert found.probability(0, value) == pytest.approx(float(exact), rel=1e-9, abs=0)
    assert found.relative_error < 1e-8


def test_very_unequal_cells():
    theta = np.array([1e-12, 1.0, 1e12])
    found = posterior(total_of(3, 40), ProductForm(theta))
    share = theta / theta.sum()
    np.testing.assert_allclose(found.means(), 40 * share, rtol=1e-9)
    assert most_probable_table(total_of(3, 40), ProductForm(theta)).tolist() == [0, 0, 40]


def test_one_table():
    found = posterior(total_of(1, 5), Multinomial())
    assert found.entropy == 0
    assert found.effective_tables == 1
    assert found.probability(0, 5) == 1
    assert found.table_probability(np.array([5])) == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("table", [[1, 1, 1], [5, 0], [-1, 3, 3]])
def test_a_table_that_does_not_fit(table):
    with pytest.raises(InputError, match="table must be consistent with the system"):
        posterior(total_of(3, 5), Uniform()).table_probability(np.array(table))


def test_values_too_many_to_list():
    with pytest.raises(BudgetExceeded, match="cells can take more than"):
        posterior(total_of(3, 10**9), Uniform())


def test_more_points_than_the_budget_allows():
    with pytest.raises(BudgetExceeded):
        posterior(total_of(6, 200), Uniform(), budget=Budget(states=10, steps=1000))


@dataclass(frozen=True)
class Rounded:
    """The multinomial prior on a processor that rounds each weight another way."""

    seed: int
    name: str = "rounded"

    def log_weight(self, cells, values):
        noise = np.random.default_rng([self.seed, *np.ravel(cells)[:1]]).integers(-4, 5, 100)
        return Multinomial().log_weight(cells, values) * (1 + noise[values] * 2.0**-52)


@pytest.mark.parametrize(("n_cells", "total"), [(2, 5), (5, 7)])
def test_of_tables_equally_probable_rounding_chooses_none(n_cells, total):
    system = total_of(n_cells, total)
    tables = {tuple(most_probable_table(system, Rounded(seed)).tolist()) for seed in range(12)}
    assert len(tables) == 1


def test_probabilities_do_not_depend_on_the_number_of_processors(monkeypatch):
    margins = margins_of(np.full((3, 3, 3), 2), all_margins(3, 2))
    system = system_of(27, margins.statements())
    found = []
    for cores in (1, 2, 7):
        monkeypatch.setattr("os.cpu_count", lambda cores=cores: cores)
        found.append(posterior(system, Multinomial(), budget=Budget(seconds=600.0)))
    for other in found[1:]:
        assert other.log_normaliser == found[0].log_normaliser
        for own, theirs in zip(found[0].probabilities, other.probabilities, strict=True):
            assert np.array_equal(own, theirs)


@pytest.mark.parametrize(
    ("larger", "than", "expected"),
    [
        ((1.0 + 1e-8, 0), (1.0, 0), True),
        ((1.0 + 1e-15, 0), (1.0, 0), False),
        ((SMALL, 1), (BIG * (1 - 1e-15), 0), False),  # neighbours with different exponents
        ((SMALL, 1), (BIG * (1 - 1e-8), 0), True),
        ((1.0, 2), (1.0, 0), True),
        ((1.0, 0), (1.0, 1), False),
        ((SMALL, 0), (0.0, 0), True),
        ((0.0, 0), (0.0, 0), False),
    ],
)
def test_larger_by_more_than_rounding(larger, than, expected):
    assert _clearly_larger(*larger, *than) == expected


@pytest.mark.parametrize("half", [10**3, 10**6, 2 * 10**6, 10**9, 10**11])
def test_probabilities_of_large_counts_keep_their_digits(half):
    """One person of two rows: an even chance, whatever the size of the other cells."""
    table = np.array([[1, 0], [half - 1, half]])
    found = posterior(system_of(4, margins_of(table, [(0,), (1,)]).statements()), Multinomial())
    assert found.probability(0, 1) == pytest.approx(0.5, rel=1e-13)
    assert found.table_probability(table) == pytest.approx(0.5, rel=1e-13)
    assert found.entropy == pytest.approx(1.0, rel=1e-13)


@pytest.mark.parametrize("n", [2_000, 200_000])
def test_wide_ranges_of_large_counts_are_summed_about_the_likeliest(n):
    """A binomial of many persons, whose largest weight alone lies at its end."""
    found = posterior(total_of(2, n), Multinomial())
    with mpmath.workdps(60):
        logs = [
            mpmath.loggamma(n + 1) - mpmath.loggamma(x + 1) - mpmath.loggamma(n - x + 1)
            - n * mpmath.log(2)
            for x in (n // 2, n // 2 + 40)
        ]  # fmt: skip
        wanted = [float(mpmath.exp(one)) for one in logs]
    got = [found.probability(0, x) for x in (n // 2, n // 2 + 40)]
    assert got == pytest.approx(wanted, rel=1e-11)
    assert found.relative_error < 1e-8


@pytest.mark.parametrize(
    "prior",
    [
        Uniform(),
        Multinomial(),
        ProductForm(np.array([0.3, 0.7])),
        DirichletMultinomial(np.array([0.5, 2.5])),
    ],
)
def test_ratios_of_weights_are_differences_of_their_logarithms(prior):
    cells, start = np.array([0, 1, 1, 0]), np.array([3, 0, 30, 90])
    values = np.array([7, 12, 20, 90])
    wanted = prior.log_weight(cells, values) - prior.log_weight(cells, start)
    assert log_ratio(prior, cells, start, values) == pytest.approx(wanted, abs=1e-10)
