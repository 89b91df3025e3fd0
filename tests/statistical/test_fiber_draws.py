"""Draws under every prior, by every method, against the exact probabilities of all tables."""

import numpy as np
import pytest
from scipy.stats import chi2

from discreet.fiber.draws.drawing import Method, WalkOptions, draw_tables
from discreet.fiber.draws.moves import moves_of_margins
from discreet.fiber.draws.sequential import estimate_count
from discreet.fiber.draws.starts import starting_tables
from discreet.fiber.draws.walk import WalkPlan, line_chains, swap_chains, walk
from discreet.fiber.sums.counting import count_exactly
from discreet.fiber.sums.latte import executable
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.fiber.system.margins import all_margins, margins_of
from discreet.fiber.system.priors import DirichletMultinomial, Multinomial, ProductForm, Uniform

LEAST_P = 1e-4


def known(cells, low, high):
    return Statement(cells=np.array(cells), low=low, high=high, name="known")


def all_tables(system):
    """Every table of the system, cell by cell, given up as soon as a sum is passed."""
    matrix, found = system.matrix.toarray(), []

    def fill(table, left):
        if np.any(left < 0):
            return
        cell = len(table)
        if cell == system.n_named:
            if system.holds(system.completed(np.array(table))):
                found.append(tuple(table))
            return
        for value in range(system.lower[cell], system.upper[cell] + 1):
            fill([*table, value], left - value * matrix[:, cell])

    fill([], system.right)
    return found


def probabilities(system, prior):
    """All tables and their exact probabilities."""
    tables = all_tables(system)
    cells = np.broadcast_to(np.arange(system.n_named), (len(tables), system.n_named))
    log_weight = prior.log_weight(cells, np.array(tables)).sum(axis=1)
    weight = np.exp(log_weight - log_weight.max())
    return tables, weight / weight.sum()


def p_value(drawn, tables, expected):
    """Of the chi-square test of draws, tables rarer than five draws put together."""
    number = {table: i for i, table in enumerate(tables)}
    counts = np.bincount([number[tuple(t)] for t in drawn.tolist()], minlength=len(tables))
    means = expected * len(drawn)
    rare = means < 5
    counts = [*counts[~rare], counts[rare].sum()]
    means = [*means[~rare], means[rare].sum()]
    if not rare.any():
        counts, means = counts[:-1], means[:-1]
    statistic = sum((c - m) ** 2 / m for c, m in zip(counts, means))
    return chi2.sf(statistic, max(1, len(means) - 1))


TABLES = {
    "two-way": (np.array([[2, 1, 0], [0, 3, 1]]), [(0,), (1,)]),
    "chain": (np.array([[[1, 2], [0, 1]], [[2, 0], [1, 1]]]), [(0, 1), (1, 2)]),
    "independent": (np.array([[[1, 0], [0, 1]], [[1, 0], [1, 0]]]), [(0,), (1,), (2,)]),
    "with a free variable": (np.array([[[1, 0], [0, 1]], [[1, 0], [0, 0]]]), [(0,), (1,)]),
}
PRIORS = {
    "uniform": lambda n: Uniform(),
    "multinomial": lambda n: Multinomial(),
    "product form": lambda n: ProductForm(np.linspace(0.4, 2.0, n)),
    "Dirichlet-multinomial": lambda n: DirichletMultinomial(np.linspace(2.0, 0.3, n)),
}


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("case", TABLES)
@pytest.mark.parametrize("kind", ["lines", "swaps"])
def test_walks_have_the_prior_s_distribution(case, prior, kind):
    margins = margins_of(*TABLES[case])
    system = system_of(margins.n_cells, margins.statements())
    weights = PRIORS[prior](margins.n_cells)
    moves, rng = moves_of_margins(margins, system), np.random.default_rng(20)
    starts = starting_tables(margins, 4, rng=rng)
    if kind == "lines":
        chains = line_chains(system, moves, weights, starts, rng=rng)
    else:
        chains = swap_chains(system, margins, moves, weights, starts, rng=rng)
    plan = WalkPlan(n_draws=5000, warm_up=20, thin=100)
    walked = walk(chains, plan, np.arange(system.n_named))
    drawn = walked.tables.reshape(-1, system.n_named)
    assert p_value(drawn, *probabilities(system, weights)) > LEAST_P


@pytest.mark.parametrize("prior", PRIORS)
def test_walks_under_limits_have_the_prior_s_distribution(prior):
    """A structural zero, an upper and a lower limit on a two-way table."""
    margins = margins_of(np.array([[1, 2, 0], [0, 1, 2], [2, 0, 1]]), [(0,), (1,)])
    extra = [known([0], 0, 1), known([4], 0, 1), known([2], 0, 0), known([7], 0, 1)]
    system = system_of(9, [*margins.statements(), *extra])
    weights = PRIORS[prior](9)
    drawn = draw_tables(
        system,
        weights,
        12_000,
        rng=np.random.default_rng(21),
        method=Method.WALK,
        margins=margins,
        walk_options=WalkOptions(thin=150),
    )
    assert "any limits" in drawn.how
    assert p_value(drawn.tables, *probabilities(system, weights)) > LEAST_P


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("case", [*TABLES, "all two-way margins"])
def test_weighted_draws_have_the_prior_s_means(case, prior):
    """Means and probabilities of cells within five standard errors of the exact ones."""
    table, released = TABLES.get(
        case, (np.array([[[1, 1], [0, 1]], [[0, 1], [2, 1]], [[1, 0], [1, 1]]]), all_margins(3, 2))
    )
    margins = margins_of(table, released)
    system = system_of(margins.n_cells, margins.statements())
    weights = PRIORS[prior](margins.n_cells)
    tables, expected = probabilities(system, weights)
    drawn = draw_tables(
        margins, weights, 8000, rng=np.random.default_rng(22), method=Method.SEQUENTIAL
    )
    exact = expected @ np.array(tables)
    assert np.all(np.abs(drawn.mean - exact) <= 5 * drawn.standard_error + 1e-9)
    for value in range(3):
        share = expected[np.array(tables)[:, 0] == value].sum()
        error = np.sqrt(max(share * (1 - share), 1e-4) / drawn.effective_draws)
        assert abs(drawn.probability(0, value) - share) < 5 * error


@pytest.mark.parametrize("prior", PRIORS)
def test_the_first_choice_is_exact(prior):
    margins = margins_of(*TABLES["chain"])
    weights = PRIORS[prior](8)
    drawn = draw_tables(margins, weights, 4000, rng=np.random.default_rng(23))
    assert drawn.method is Method.EXACT
    system = system_of(8, margins.statements())
    assert p_value(drawn.tables, *probabilities(system, weights)) > LEAST_P


@pytest.mark.skipif(executable("markov") is None, reason="the extra algebra is absent")
@pytest.mark.parametrize("prior", PRIORS)
def test_walks_on_a_markov_basis_have_the_prior_s_distribution(prior):
    table = np.array([[[1, 1], [0, 1], [1, 0]], [[0, 1], [2, 0], [1, 1]]])
    margins = margins_of(table, all_margins(3, 2))
    system = system_of(12, [*margins.statements(), known([0], 0, 1), known([3, 8], 1, 2)])
    weights = PRIORS[prior](12)
    drawn = draw_tables(
        system,
        weights,
        12_000,
        rng=np.random.default_rng(24),
        method=Method.WALK,
        walk_options=WalkOptions(thin=150),
    )
    assert "4ti2" in drawn.how
    assert p_value(drawn.tables, *probabilities(system, weights)) > LEAST_P


def test_standard_errors_of_a_walk_cover_the_exact_means():
    """Of forty walks, the error of a cell's mean is below two standard errors in most."""
    margins = margins_of(*TABLES["two-way"])
    system = system_of(6, margins.statements())
    tables, expected = probabilities(system, Uniform())
    exact = float(expected @ np.array(tables)[:, 0])
    rng = np.random.default_rng(25)
    within = 0
    for _ in range(40):
        drawn = draw_tables(
            margins,
            Uniform(),
            800,
            rng=rng,
            method=Method.WALK,
            walk_options=WalkOptions(thin=2, warm_up=50),
        )
        within += abs(drawn.mean[0] - exact) < 2 * drawn.standard_error[0]
    assert within >= 33  # 38 expected


def known_fibers():
    """Small fibers of five shapes with their exact numbers of tables."""
    shapes = [(3, 3, 3), (2, 3, 4), (4, 4), (3, 5), (2, 2, 2, 2)]
    for k in range(60):
        rng = np.random.default_rng(k)
        shape = shapes[k % 5]
        table = rng.poisson(rng.choice([1, 2, 4]), shape)
        around = [tuple(sorted((i, (i + 1) % len(shape)))) for i in range(len(shape))]
        sets = [(0,), (1,)] if len(shape) == 2 else around
        system = system_of(table.size, margins_of(table, sets).statements())
        number = count_exactly(system)
        if number >= 20:
            yield k, system, number


def test_the_error_of_a_number_of_tables_is_as_stated():
    scores = []
    for k, system, number in known_fibers():
        for repeat in range(4):
            rng = np.random.default_rng([k, repeat])
            found = estimate_count(system, n_draws=300, rng=rng)
            if found.standard_error > 0:
                scores.append((found.value - number) / found.standard_error)
    spread = np.std(scores)
    assert 0.8 < spread < 1.15, spread
    assert np.mean(np.abs(scores) > 1.96) < 0.09
