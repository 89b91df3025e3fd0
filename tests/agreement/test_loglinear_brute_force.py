"""Closed-form and iterative fits, sums over all cells, criterion and variances, by enumeration."""

import itertools
import math

import numpy as np
import pytest

from discreet.data.structural_zeros import StructuralZeros
from discreet.numerics.graphs import Graph, GraphNotDecomposable, bracketed
from discreet.numerics.rounding import above, first_largest, order_of
from discreet.survey.models.loglinear.cell_sums import (
    Subtrees,
    TooManyCells,
    interpolation,
    sum_over_cells,
)
from discreet.survey.models.loglinear.decomposable import DecomposableFit
from discreet.survey.models.loglinear.fitting import TableTooLarge, all_of_order, fit_by_iteration
from discreet.survey.models.loglinear.judgement import candidates, judgement
from discreet.survey.models.loglinear.minimum_error import (
    criterion_for_matches,
    criterion_for_uniques,
)
from discreet.survey.models.loglinear.mixtures import ArithmeticMixture, geometric_mixture
from discreet.survey.models.loglinear.occupied_cells import gathered_cells
from discreet.survey.models.loglinear.search import (
    LARGEST_CLIQUE,
    SAME_DISTANCE,
    WIDTH,
    _Seeker,
    extended,
    forward_search,
)

SIZES = (4, 3, 5, 2, 3)
ALL = np.array(list(itertools.product(*map(range, SIZES)))).T
DECOMPOSABLE = [
    (),
    ((0, 1),),
    ((0, 1), (1, 2), (3, 4)),
    ((0, 1, 2), (2, 3)),
    ((0, 3), (1, 3), (2, 3), (3, 4)),
    ((0, 1, 2), (1, 2, 3), (2, 3, 4)),
    ((0, 1, 2, 3, 4),),
]


def sample_cells(n=300, seed=1, sizes=SIZES):
    """Cells of records whose keys are associated, with some margins empty."""
    rng = np.random.default_rng(seed)
    columns = [rng.choice(s, p=rng.dirichlet(np.full(s, 0.6)), size=n) for s in sizes]
    columns[1] = np.where(rng.random(n) < 0.6, columns[0] % sizes[1], columns[1])
    columns[3] = np.where(rng.random(n) < 0.5, columns[2] % sizes[3], columns[3])
    levels, counts = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
    return gathered_cells(
        sizes, [(levels[:20], counts[:20], None), (levels[20:], counts[20:], None)]
    )


def table(cells):
    full = np.zeros(cells.sizes)
    full[tuple(cells.levels)] = cells.sample_count
    return full


def margin(full, keys):
    return full.sum(axis=tuple(k for k in range(full.ndim) if k not in keys))


@pytest.mark.parametrize("generators", DECOMPOSABLE)
def test_a_closed_form_reproduces_its_margins(generators):
    cells = sample_cells()
    fit = DecomposableFit(Graph.of_generators(5, generators), cells)
    fitted = fit.mean_at(ALL).reshape(SIZES)
    for keys in fit.generators:
        assert margin(fitted, keys) == pytest.approx(margin(table(cells), keys), abs=1e-9)
    assert fit.sample_mean == pytest.approx(fitted[tuple(cells.levels)], rel=1e-12)


@pytest.mark.parametrize("generators", DECOMPOSABLE)
def test_one_more_pair_changes_the_means_by_a_ratio_of_margins(generators):
    fit = DecomposableFit(Graph.of_generators(5, generators), sample_cells())
    for u, v in itertools.combinations(range(5), 2):
        if not fit.graph.has(u, v) and fit.graph.may_add(u, v):
            wider = DecomposableFit(fit.graph.flipped(u, v), fit.cells)
            assert fit.mean_with(u, v) == pytest.approx(wider.sample_mean, rel=1e-12)


@pytest.mark.parametrize("generators", DECOMPOSABLE)
def test_iteration_agrees_with_the_closed_form(generators):
    cells = sample_cells()
    closed = DecomposableFit(Graph.of_generators(5, generators), cells)
    iterated = fit_by_iteration(cells, closed.generators, tolerance=1e-9)
    assert iterated.mean_at(ALL) == pytest.approx(closed.mean_at(ALL), abs=1e-8)
    assert iterated.n_parameters == closed.n_parameters


def newton(full, design, steps=60):
    """Maximum-likelihood means of a Poisson log-linear model with this design matrix."""
    y = full.ravel()
    beta = np.linalg.lstsq(design, np.log(y + 0.5), rcond=None)[0]
    for _ in range(steps):
        mean = np.exp(design @ beta)
        beta += np.linalg.lstsq(design.T @ (design * mean[:, None]), design.T @ (y - mean))[0]
    return np.exp(design @ beta)


def indicators(sizes, generators):
    cells = np.array(list(itertools.product(*map(range, sizes))))
    columns = []
    for keys in generators:
        for levels in itertools.product(*(range(sizes[k]) for k in keys)):
            columns.append((cells[:, keys] == levels).all(axis=1))
    return np.array(columns, dtype=float).T


def test_all_two_way_terms_agree_with_newtons_method():
    rng = np.random.default_rng(4)
    sizes = (3, 2, 4)
    full = rng.poisson(6.0, sizes) + 1
    levels = np.array(list(itertools.product(*map(range, sizes))))
    cells = gathered_cells(sizes, [(levels, full.ravel(), None)])
    fit = fit_by_iteration(cells, all_of_order(3, 2), tolerance=1e-10)
    expected = newton(full, indicators(sizes, all_of_order(3, 2)))
    assert fit.mean_at(levels.T) == pytest.approx(expected, rel=1e-8)
    assert fit.n_parameters == 1 + (2 + 1 + 3) + (2 * 1 + 2 * 3 + 1 * 3)


def test_the_support_holds_the_cells_with_all_margins_positive():
    cells = sample_cells(60)
    fit = fit_by_iteration(cells, all_of_order(5, 2))
    expected = [
        all(margin(table(cells), pair)[tuple(cell[list(pair)])] > 0 for pair in all_of_order(5, 2))
        for cell in ALL.T
    ]
    assert 0 < sum(expected) < ALL.shape[1]
    assert fit.support.levels.T.tolist() == ALL.T[expected].tolist()


def test_a_table_too_large_says_so():
    with pytest.raises(TableTooLarge, match="more than 100 cells"):
        fit_by_iteration(sample_cells(), all_of_order(5, 1), most_cells=100)


def test_indices_worked_out_again_give_the_same_fit(monkeypatch):
    cells = sample_cells()
    once = fit_by_iteration(cells, all_of_order(5, 2))
    monkeypatch.setattr("discreet.survey.models.loglinear.fitting.KEPT_BYTES", 0)
    assert fit_by_iteration(cells, all_of_order(5, 2)).mean.tolist() == once.mean.tolist()


def test_impossible_cells_get_nothing_and_margins_still_agree():
    cells = sample_cells()
    joint = margin(table(cells), (0, 1))
    empty = (joint == 0) & (joint.sum(1, keepdims=True) > 0) & (joint.sum(0, keepdims=True) > 0)
    first, second = np.argwhere(empty)[0]
    zeros = StructuralZeros.of_boxes(SIZES, [{0: int(first), 1: int(second)}])
    fit = fit_by_iteration(cells, all_of_order(5, 1), impossible=zeros, tolerance=1e-9)
    mean = fit.mean_at(ALL)
    assert mean[zeros.covers(ALL.T)].tolist() == [0.0] * int(zeros.covers(ALL.T).sum())
    for key in range(5):
        fitted = margin(mean.reshape(SIZES), (key,))
        assert fitted == pytest.approx(margin(table(cells), (key,)), abs=1e-6)


@pytest.mark.parametrize("smoothing", [0.0, 0.3, 1.0])
def test_smoothed_margins_lie_between_the_sample_and_independence(smoothing):
    cells = sample_cells()
    fit = fit_by_iteration(cells, all_of_order(5, 2), smoothing=smoothing, tolerance=1e-8)
    apart = DecomposableFit(Graph.empty(5), cells).mean_at(ALL).reshape(SIZES)
    fitted = fit.mean_at(ALL).reshape(SIZES)
    for pair in all_of_order(5, 2):
        wanted = (1 - smoothing) * margin(table(cells), pair) + smoothing * margin(apart, pair)
        assert margin(fitted, pair) == pytest.approx(wanted, abs=1e-6)
    if smoothing == 1:
        assert fitted == pytest.approx(apart, abs=1e-6)


@pytest.mark.parametrize("generators", DECOMPOSABLE)
@pytest.mark.parametrize("degree", [14, 18])
@pytest.mark.parametrize("limit", [0.003, 0.4, 3.0, 24.0, 1000.0])
def test_sums_over_all_cells(generators, limit, degree):
    cells = sample_cells()
    graph = Graph.of_generators(5, generators)
    mean = DecomposableFit(graph, cells).mean_at(ALL)
    functions = [lambda m: np.exp(-m), lambda m: m**2 * np.exp(-2 * m), lambda m: np.ones(len(m))]
    sums = sum_over_cells(
        cells, graph.steps, functions, limit, subtrees=Subtrees(cells, degree + 1)
    )
    for value, error, function in zip(sums.value, sums.error, functions):
        exact = math.fsum(mean * function(mean))
        assert abs(value - exact) <= error + 1e-10 * exact
    if limit < 1:
        assert sums.value[0] == pytest.approx(math.fsum(mean * np.exp(-mean)), rel=1e-12)


def test_sums_stop_at_their_budget():
    with pytest.raises(TooManyCells):
        sum_over_cells(sample_cells(), Graph.empty(5).steps, [np.exp], 1e-6, budget=10)


def test_the_interpolation_knows_its_error():
    coefficients, error = interpolation(lambda m: np.exp(-m), 8.0, 14)
    x = np.linspace(0, 1, 10_001)
    miss = np.abs(np.polynomial.polynomial.polyval(x, coefficients) - np.exp(-8 * x)).max()
    assert 0 < miss <= error < 1e-6


@pytest.mark.parametrize("make", [criterion_for_uniques, criterion_for_matches])
@pytest.mark.parametrize("fraction", [0.02, 0.5])
def test_the_criterion_is_its_sum_over_all_cells(make, fraction):
    cells = sample_cells()
    fit = DecomposableFit(Graph.of_generators(5, [(0, 1)]), cells)
    mean, f = fit.mean_at(ALL), table(cells).ravel()
    made = make(fraction)
    a, b = made.linear(mean), made.square(mean)
    judged = judgement(fit, fraction)
    found = judged.uniques if make is criterion_for_uniques else judged.matches
    assert found.bias == pytest.approx(math.fsum(a * (f - mean) + b * ((f - mean) ** 2 - f)))
    assert found.standard_error**2 == pytest.approx(math.fsum(a**2 * mean + 2 * b**2 * mean**2))
    assert judged.predicted[1] == pytest.approx(math.fsum(mean**2 * np.exp(-mean) / 2))
    assert judged.observed[0] == np.count_nonzero(f == 1)


@pytest.mark.parametrize("fraction", [0.01, 0.3])
def test_the_criterion_has_the_derivatives_of_the_risk(fraction):
    """a = −μ e^−μ h′ and b = μ e^−μ h″ / 2, by differences."""
    c, mean, step = (1 - fraction) / fraction, np.array([0.002, 0.01, 0.2, 1.5]), 1e-4
    risks = {
        criterion_for_uniques: lambda m: np.exp(-c * m),
        criterion_for_matches: lambda m: -np.expm1(-c * m) / (c * m),
    }
    for make, h in risks.items():
        low, high = mean * (1 - step), mean * (1 + step)
        first = (h(high) - h(low)) / (high - low)
        second = (h(high) - 2 * h(mean) + h(low)) / (mean * step) ** 2
        made = make(fraction)
        assert made.linear(mean) == pytest.approx(
            -mean * np.exp(-mean) * first, rel=1e-4, abs=1e-12
        )
        assert made.square(mean) == pytest.approx(
            mean * np.exp(-mean) * second / 2, rel=1e-3, abs=1e-5
        )
        assert made.linear(np.zeros(1))[0] == 0


@pytest.mark.parametrize(
    "generators", [((0,), (1,), (2,)), ((0, 1), (1, 2)), ((0, 1), (0, 2), (1, 2))]
)
def test_estimation_variance_is_that_of_the_information_matrix(generators):
    """slope′ X A⁻¹ X′ slope − (Σ slope)²/n, with A from all cells."""
    rng = np.random.default_rng(8)
    sizes = (3, 4, 3)
    levels = np.array(list(itertools.product(*map(range, sizes))))
    full = rng.poisson(40.0, len(levels)) + 1
    cells = gathered_cells(sizes, [(levels, full, None)])
    slope = rng.normal(size=len(levels))
    fit = fit_by_iteration(cells, generators, tolerance=1e-10)
    design = indicators(sizes, generators)
    information = design.T @ (design * fit.mean[:, None])
    gradient = design.T @ slope
    expected = gradient @ np.linalg.pinv(information) @ gradient - slope.sum() ** 2 / full.sum()
    assert fit.estimation_variance(slope) == pytest.approx(expected, rel=0.02)
    if len(generators[0]) == 1 or len(generators) == 2:
        graph = Graph.of_generators(3, generators)
        robust = DecomposableFit(graph, cells).estimation_variance(slope)
        assert robust == pytest.approx(expected, rel=0.15), "from records instead of the model"


def test_mixtures_of_independence_and_two_way_terms():
    cells = sample_cells()
    apart = DecomposableFit(Graph.empty(5), cells)
    two_way = fit_by_iteration(cells, all_of_order(5, 2))
    mixed = ArithmeticMixture(apart, two_way, 0.3)
    mean = 0.7 * apart.mean_at(ALL) + 0.3 * two_way.mean_at(ALL)
    assert mixed.mean_at(ALL) == pytest.approx(mean)
    for functions in ([lambda m: np.exp(-m)], [lambda m: m * np.exp(-3 * m)]):
        exact = math.fsum(mean * functions[0](mean))
        assert mixed.sums(functions, 0.5).value[0] == pytest.approx(exact, rel=1e-9)
    product = geometric_mixture(two_way, 0.5).mean_at(ALL)
    wanted = np.sqrt(apart.mean_at(ALL) * two_way.mean_at(ALL))
    assert product == pytest.approx(wanted * cells.sample_size / wanted.sum())


def test_the_search_finds_the_pair_of_the_truth():
    """Records with one strong association: joining its keys is the first step and the best."""
    rng = np.random.default_rng(2)
    n, sizes = 3000, (8, 9, 10, 6)
    first = rng.choice(8, n, p=rng.dirichlet(np.ones(8)))
    second = np.where(rng.random(n) < 0.8, first, rng.integers(9, size=n))
    rest = [rng.choice(s, n, p=rng.dirichlet(np.ones(s))) for s in sizes[2:]]
    levels, counts = np.unique(np.stack([first, second, *rest], 1), axis=0, return_counts=True)
    found = forward_search(gathered_cells(sizes, [(levels, counts, None)]), 0.05)
    assert found.path[0].graph == Graph.empty(4)
    assert found.path[0].uniques.standardised > 10
    assert found.path[1].graph.edges == {(0, 1)}
    assert found.chosen.distance < 2
    assert found.complete
    assert found.rivals(5)[0] == found.chosen
    assert len(found.rivals(2)) <= 2


def searched_finely(cells, fraction):
    """Path, chosen model and rivals as found by judging every model with `judgement`."""

    def distance(graph):
        return judgement(DecomposableFit(graph, cells), fraction).distance

    seeker = _Seeker(cells, fraction, math.inf)
    path = [(Graph.empty(len(cells.sizes)), distance(Graph.empty(len(cells.sizes))))]
    tried, best = list(path), 0
    while path[best][1] > 0 and len(path) - best <= (1 if path[best][1] <= 1 else 3):
        base = seeker.support(path[-1][0])
        wider = [(seeker.support(g), g) for _, g in extended(path[-1][0], cells, LARGEST_CLIQUE)]
        supported = [(support, g) for support, g in wider if above(support, base)]
        here = [(supported[i][1], 0.0) for i in order_of([s for s, _ in supported])[:WIDTH]]
        here = [(graph, distance(graph)) for graph, _ in here]
        if not here:
            break
        tried += here
        path.append(here[first_largest([-d for _, d in here], scale=SAME_DISTANCE)])
        if above(path[best][1], path[-1][1], scale=SAME_DISTANCE):
            best = len(path) - 1
    near = [one for one in tried if one[1] <= path[best][1] + 1]
    rivals = [near[i][0] for i in order_of([-d for _, d in near], scale=SAME_DISTANCE)]
    return [graph for graph, _ in path[: best + 1]], len(tried), rivals


def associated_cells(n=3000, seed=3, sizes=(8, 9, 10, 6, 7)):
    """Cells of records in which each key leans on an earlier one."""
    rng = np.random.default_rng(seed)
    columns = [rng.choice(sizes[0], n, p=rng.dirichlet(np.ones(sizes[0])))]
    for size in sizes[1:]:
        own = rng.choice(size, n, p=rng.dirichlet(np.ones(size)))
        leans = rng.random(n) < rng.uniform(0.1, 0.7)
        columns.append(np.where(leans, columns[rng.integers(len(columns))] % size, own))
    levels, counts = np.unique(np.stack(columns, 1), axis=0, return_counts=True)
    return gathered_cells(sizes, [(levels, counts, None)])


@pytest.mark.parametrize("seed", range(24))
def test_models_judged_roughly_change_no_choice(monkeypatch, seed):
    """Path, number of models and rivals are those of judging every model by `judgement`."""
    monkeypatch.setattr("discreet.survey.models.loglinear.search.FEW_NODES", 0)
    rng = np.random.default_rng(seed)
    sizes = tuple(rng.integers(2, 9, rng.integers(3, 6)).tolist())
    cells = associated_cells(int(rng.integers(50, 3000)), seed, sizes)
    fraction = float(rng.choice([0.002, 0.02, 0.2, 0.7]))
    found = forward_search(cells, fraction)
    path, n_tried, rivals = searched_finely(cells, fraction)
    assert [judged.graph for judged in found.path] == path
    assert len(found.tried) == n_tried
    assert [judged.graph for judged in found.rivals(4)] == rivals[:4]
    for judged in found.tried:
        low, high = judged.limits
        exact = judgement(DecomposableFit(judged.graph, cells), fraction).distance
        assert low <= exact * (1 + 1e-6) + 1e-6
        assert high >= exact * (1 - 1e-6) - 1e-6


def test_most_models_are_never_judged_finely(monkeypatch):
    monkeypatch.setattr("discreet.survey.models.loglinear.search.FEW_NODES", 0)
    found = forward_search(associated_cells(), 0.005)
    assert len(found.tried) > 20
    assert sum(judged.is_fine for judged in found.tried) < len(found.tried) / 2


def test_the_search_stops_at_its_budget():
    found = forward_search(sample_cells(), 0.05, budget=1)
    assert not found.complete
    assert len(found.path) == 1


def test_a_sample_that_is_the_population_needs_no_search():
    found = forward_search(sample_cells(), 1.0)
    assert found.chosen.graph == Graph.empty(5)
    assert found.chosen.distance == 0


def test_candidates_run_from_independence_to_all_three_way_terms():
    found = candidates(sample_cells(), 0.1)
    names = [candidate.name for candidate in found]
    assert names[0] == "[0][1][2][3][4]"
    assert {"two-way", "three-way", "sum 0.5", "product 0.5"} <= set(names)
    for candidate in found:
        total = candidate.fit.sums([lambda m: np.ones(len(m))], 0.1).value[0]
        assert total == pytest.approx(300, abs=0.1), candidate.name
    few = candidates(sample_cells(), 0.1, most_cells=10)
    assert all(candidate.name.startswith("[") for candidate in few)


@pytest.mark.parametrize("n_keys", [3, 4, 5])
def test_decomposable_graphs_are_those_without_chordless_cycles(n_keys):
    """Every graph on a few keys, against elimination of keys whose neighbours are complete."""
    pairs = list(itertools.combinations(range(n_keys), 2))
    for bits in range(2 ** len(pairs)):
        edges = {pair for i, pair in enumerate(pairs) if bits >> i & 1}
        assert Graph.of_generators(n_keys, edges).is_decomposable == eliminable(n_keys, edges)


def eliminable(n_keys, edges):
    left = set(range(n_keys))
    near = {k: {a + b - k for a, b in edges if k in (a, b)} for k in left}
    while left:
        for key in sorted(left):
            around = near[key] & left
            if all(b in near[a] for a, b in itertools.combinations(around, 2)):
                left.remove(key)
                break
        else:
            return False
    return True


def test_a_graph_with_a_chordless_cycle_has_no_order():
    square = Graph.of_generators(4, [(0, 1), (1, 2), (2, 3), (0, 3)])
    with pytest.raises(GraphNotDecomposable):
        _ = square.cliques
    assert bracketed(Graph.empty(3).flipped(0, 2).cliques, "abc") == "[a c][b]"


def test_margins_that_are_not_kept_are_counted_again(monkeypatch):
    cells = sample_cells()
    fit = DecomposableFit(Graph.of_generators(5, [(0, 1), (2, 3)]), cells)
    monkeypatch.setattr("discreet.survey.models.loglinear.occupied_cells.KEPT_ENTRIES", 1)
    again = DecomposableFit(fit.graph, sample_cells())
    assert again.sample_mean.tolist() == fit.sample_mean.tolist()
    assert len(again.cells._margins) == 1


def test_a_margin_counted_sparsely_is_the_same(monkeypatch):
    dense = sample_cells().margin((0, 2, 4))
    monkeypatch.setattr("discreet.survey.models.loglinear.occupied_cells.DENSE_FACTOR", -1000)
    sparse = sample_cells().margin((0, 2, 4))
    assert sparse.code.tolist() == dense.code.tolist()
    assert sparse.total.tolist() == dense.total.tolist()
    assert sparse.group.tolist() == dense.group.tolist()
