"""Every exact method on every kind of small system against a plain search through all tables."""

from math import exp, fsum, log

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from discreet.errors import InputError
from discreet.fiber.draws.exact_draws import sampler
from discreet.fiber.sums import dynamic_programming
from discreet.fiber.sums.counting import count_exactly
from discreet.fiber.sums.dynamic_programming import Budget, counted, sweep
from discreet.fiber.sums.dynamic_programming_plan import plan_for
from discreet.fiber.sums.enumeration import tables
from discreet.fiber.sums.marginals import most_probable_table, posterior
from discreet.fiber.system.blocks import split
from discreet.fiber.system.linear_system import Statement, System, system_of
from discreet.fiber.system.margins import all_margins, margins_of
from discreet.fiber.system.priors import DirichletMultinomial, Multinomial, ProductForm, Uniform

CELLS = 7
SETTINGS = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


def brute_force(system):
    """All tables by trying everything within the limits, in lexicographic order."""
    n = system.n_named
    spans = [np.arange(a, b + 1) for a, b in zip(system.lower[:n], system.upper[:n])]
    grid = np.stack(np.meshgrid(*spans, indexing="ij"), axis=-1).reshape(-1, n)
    matrix = system.matrix.toarray()
    missing = system.right - grid @ matrix[:, :n].T
    slack = matrix[:, n:] @ system.upper[n:]
    fits = ((missing >= 0) & (missing <= slack)).all(axis=1)
    return [tuple(row) for row in grid[fits].tolist()]


def statement(cells, low, high, coefficients=None):
    coefficients = None if coefficients is None else np.array(coefficients)
    return Statement(
        cells=np.array(cells), low=low, high=high, name="statement", coefficients=coefficients
    )


@st.composite
def systems(draw):
    """Sums with coefficients, ranges, limits and structural zeros, true of some table or of none."""
    n = draw(st.integers(1, CELLS))
    truth = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    found = [statement(range(n), int(truth.sum()), int(truth.sum()))]
    for _ in range(draw(st.integers(0, 4))):
        cells = draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True))
        size = len(cells)
        factors = draw(st.lists(st.integers(1, 4), min_size=size, max_size=size))
        value = int(np.dot(truth[cells], factors)) + draw(st.sampled_from([0, 0, 0, 0, 1, -1]))
        value = max(value, 0)
        wide = draw(st.integers(0, 2)) if draw(st.booleans()) else 0
        low = draw(st.sampled_from([value, max(0, value - wide)]))
        found.append(statement(cells, low, max(low, value + wide), factors))
    if draw(st.booleans()):
        cell = draw(st.integers(0, n - 1))
        found.append(statement([cell], 0, draw(st.sampled_from([0, int(truth[cell]), 2]))))
    return system_of(n, found)


@st.composite
def signed_systems(draw):
    """Rows with coefficients of both signs, as orderings of cells give."""
    n = draw(st.integers(2, 5))
    m = draw(st.integers(1, 3))
    entries = st.lists(st.integers(-3, 3), min_size=n, max_size=n)
    matrix = np.array([draw(entries) for _ in range(m)])
    truth = np.array(draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n)))
    return System(
        matrix=csr_array(matrix.astype(np.int64)),
        right=matrix @ truth,
        lower=truth - np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))),
        upper=truth + np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))),
        n_named=n,
        row_names=tuple(f"row {i}" for i in range(m)),
    )


@st.composite
def margin_systems(draw):
    """Margins of small tables: two-way, three-way, decomposable or not."""
    shape = draw(st.sampled_from([(2, 2), (2, 3), (3, 3), (2, 4), (2, 2, 2), (2, 2, 3)]))
    size = int(np.prod(shape))
    cells = draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
    table = np.array(cells).reshape(shape)
    order = draw(st.integers(1, len(shape)))
    sets = all_margins(len(shape), order)
    kept = draw(st.lists(st.sampled_from(sets), min_size=1, max_size=len(sets)))
    return system_of(size, margins_of(table, kept).statements())


def small(system, most=30_000):
    n = system.n_named
    return np.prod(system.upper[:n] - system.lower[:n] + 1.0) <= most


EVERY = st.one_of(systems(), signed_systems(), margin_systems()).filter(small)


@pytest.fixture(params=["stored", "streamed"])
def engine(request, monkeypatch):
    """All layers stored, or states completed one by one as soon as possible."""
    if request.param == "streamed":
        monkeypatch.setattr(dynamic_programming, "ALWAYS_STORED", 0)
        monkeypatch.setattr(dynamic_programming, "FEW_STEPS", 10**9)
    return request.param


@SETTINGS
@given(system=EVERY)
def test_counts(engine, system):
    assert count_exactly(system) == len(brute_force(system))


@SETTINGS
@given(system=EVERY, modulus=st.sampled_from([0, 7, 2147483629]))
def test_counts_in_any_order_and_modulo_primes(engine, system, modulus):
    parts, product_ = split(system), 1
    for block in parts.blocks:
        plan = plan_for(block, natural=True)
        found = sweep(plan, Budget(), modulus=modulus)
        total = counted(found, Budget(), modulus=modulus)
        product_ *= total.residue
    expected = len(brute_force(system))
    found = 0 if parts.is_empty else product_ % modulus if modulus else product_
    assert found == (expected % modulus if modulus else expected)


@st.composite
def three_way_systems(draw):
    """Two-way margins of three-way tables, some cells with limits: planes of lines of points."""
    shape = draw(st.sampled_from([(2, 3, 3), (3, 3, 3), (3, 2, 4)]))
    size = int(np.prod(shape))
    table = np.array(draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)))
    statements = margins_of(table.reshape(shape), all_margins(3, 2)).statements()
    for cell in draw(st.lists(st.integers(0, size - 1), max_size=3, unique=True)):
        low = draw(st.integers(0, int(table[cell])))
        statements.append(statement([cell], low, int(table[cell]) + draw(st.integers(0, 1))))
    return system_of(size, statements)


@SETTINGS
@given(system=three_way_systems(), modulus=st.sampled_from([0, 2147483629]))
def test_three_way_tables_are_as_many_as_listed(engine, system, modulus):
    expected = sum(1 for _ in tables(system))
    assert count_exactly(system) == expected
    product_ = 1
    for block in split(system).blocks:
        found = sweep(plan_for(block), Budget(), modulus=modulus)
        product_ *= counted(found, Budget(), modulus=modulus).residue
    assert product_ == expected


@SETTINGS
@given(system=EVERY)
def test_lists_are_complete_and_in_order(system):
    assert [tuple(table.tolist()) for table in tables(system)] == brute_force(system)


@SETTINGS
@given(system=EVERY, limit=st.integers(0, 5))
def test_lists_stop_at_their_limit(system, limit):
    found = [tuple(table.tolist()) for table in tables(system, limit=limit)]
    assert found == brute_force(system)[:limit]


def priors_for(n):
    rng = np.random.default_rng(n)
    return [
        Uniform(),
        Multinomial(),
        ProductForm(rng.uniform(0.1, 3.0, n)),
        DirichletMultinomial(rng.uniform(0.2, 2.0, n)),
    ]


def exact_probabilities(system, prior):
    found = np.array(brute_force(system)).reshape(-1, system.n_named)
    cells = np.broadcast_to(np.arange(system.n_named), found.shape)
    logs = [fsum(row) for row in prior.log_weight(cells, found)]
    top = max(logs)
    log_z = top + log(fsum(exp(v - top) for v in logs))
    return found, np.array([exp(v - log_z) for v in logs]), log_z


COUNTS = st.one_of(systems(), margin_systems()).filter(small)


@SETTINGS
@given(system=COUNTS, which=st.integers(0, 3))
def test_posterior(engine, system, which):
    prior = priors_for(system.n_named)[which]
    if not brute_force(system):
        with pytest.raises(InputError, match="system must be true of some table"):
            posterior(system, prior)
        return
    points, probability, log_z = exact_probabilities(system, prior)
    found = posterior(system, prior)
    assert found.log_normaliser == pytest.approx(log_z, abs=1e-9)
    for cell in range(system.n_named):
        for value in range(int(system.lower[cell]), int(system.upper[cell]) + 1):
            expected = probability[points[:, cell] == value].sum()
            assert found.probability(cell, value) == pytest.approx(expected, rel=1e-9, abs=1e-300)
        assert found.probability(cell, int(system.upper[cell]) + 1) == 0
    entropy = -fsum(p * log(p) for p in probability) / log(2)
    assert found.entropy == pytest.approx(entropy, abs=1e-8)
    assert found.effective_tables == pytest.approx(2**entropy, rel=1e-7)
    np.testing.assert_allclose(found.means(), probability @ points, atol=1e-9)
    assert found.table_probability(points[0]) == pytest.approx(probability[0], rel=1e-8)


@SETTINGS
@given(system=COUNTS, which=st.integers(0, 3))
def test_most_probable_table(engine, system, which):
    prior = priors_for(system.n_named)[which]
    if not brute_force(system):
        with pytest.raises(InputError, match="system must be true of some table"):
            most_probable_table(system, prior)
        return
    points, probability, _ = exact_probabilities(system, prior)
    best = most_probable_table(system, prior)
    where = np.flatnonzero((points == best).all(axis=1))
    assert len(where) == 1
    assert probability[where[0]] == pytest.approx(probability.max(), rel=1e-9)


@SETTINGS
@given(system=COUNTS, which=st.integers(0, 3), seed=st.integers(0, 10))
def test_draws_are_consistent_tables(engine, system, which, seed):
    prior = priors_for(system.n_named)[which]
    everything = set(brute_force(system))
    if not everything:
        with pytest.raises(InputError, match="system must be true of some table"):
            sampler(system, prior)
        return
    drawn = sampler(system, prior).draw(20, rng=np.random.default_rng(seed))
    assert {tuple(row) for row in drawn.tolist()} <= everything
