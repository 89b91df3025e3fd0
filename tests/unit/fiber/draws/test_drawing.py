"""Which way tables are drawn, what is refused, and what an interrupted walk leaves."""

import numpy as np
import pytest
from tests.oracles.checked_moves import moves_checked

from discreet.errors import InputError, Interrupted
from discreet.fiber.draws import drawing
from discreet.fiber.draws.drawing import Draws, Method, WalkOptions, draw_tables
from discreet.fiber.draws.moves import check_same_rows, listed, moves_of_margins
from discreet.fiber.draws.starts import starting_points, starting_tables
from discreet.fiber.draws.walk import WalkPlan, line_chains, swap_chains, walk
from discreet.fiber.draws.walk_weights import weight_table
from discreet.fiber.sums import latte
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.fiber.system.margins import all_margins, margins_of
from discreet.fiber.system.priors import DirichletMultinomial, Multinomial, ProductForm, Uniform
from discreet.figures import Unavailable

TABLE = np.array([[5, 2, 0], [1, 3, 4]])
MARGINS = margins_of(TABLE, [(0,), (1,)])
SYSTEM = system_of(6, MARGINS.statements())


def known(cells, low, high):
    return Statement(cells=np.array(cells), low=low, high=high, name="known")


@pytest.fixture
def no_programs(monkeypatch):
    monkeypatch.setattr(latte, "executable", lambda program: None)


@pytest.fixture
def no_exact_draws(monkeypatch):
    def beyond(ask):
        return Unavailable("beyond the budget")

    monkeypatch.setitem(drawing.WAYS, Method.EXACT, beyond)


def test_exact_draws_come_first():
    found = draw_tables(MARGINS, Uniform(), 50, rng=np.random.default_rng(1))
    assert found.method is Method.EXACT
    assert found.tables.shape == (50, 6)
    assert not found.is_partial
    assert found.effective_draws == pytest.approx(50)


def test_exact_draws_beyond_their_budget_say_so(monkeypatch):
    def beyond(*args, **options):
        raise BudgetExceeded("too many states")

    monkeypatch.setattr("discreet.fiber.draws.exact_draws.sampler", beyond)
    found = draw_tables(MARGINS, Uniform(), 5, rng=np.random.default_rng(1), method=Method.EXACT)
    assert found == Unavailable("exact: too many states")


def test_a_walk_comes_second(no_exact_draws):
    found = draw_tables(MARGINS, Uniform(), 4000, rng=np.random.default_rng(2))
    assert found.method is Method.WALK
    assert "Dobra 2003" in found.how
    assert found.diagnostics.n_chains == 4
    assert found.warning == ""
    assert all(SYSTEM.holds(table) for table in found.tables[:50])


def test_weighted_draws_come_last(no_exact_draws, no_programs):
    margins = margins_of(np.full((2, 2, 3), 2), all_margins(3, 2))
    found = draw_tables(margins, Uniform(), 500, rng=np.random.default_rng(3))
    assert found.method is Method.SEQUENTIAL
    assert found.shares.sum() == pytest.approx(1)


def test_a_walk_without_connecting_moves_is_refused(no_programs):
    margins = margins_of(np.full((2, 2, 3), 2), all_margins(3, 2))
    found = draw_tables(margins, Uniform(), 10, rng=np.random.default_rng(4), method=Method.WALK)
    assert isinstance(found, Unavailable)
    assert "not decomposable" in found.reason
    assert "pip install 'discreet[algebra]'" in found.reason
    assert "sequential importance sampling" in found.reason


def test_limits_beside_three_margins_are_refused(no_programs):
    margins = margins_of(np.full((2, 2, 2), 2), [(0,), (1,), (2,)])
    system = system_of(8, [*margins.statements(), known([0], 0, 2)])
    found = draw_tables(
        system,
        Uniform(),
        10,
        rng=np.random.default_rng(5),
        method=Method.WALK,
        margins=margins,
    )
    assert isinstance(found, Unavailable)
    assert "limits on cells" in found.reason


def test_margins_of_another_system_are_refused():
    other = margins_of(TABLE + 1, [(0,), (1,)])
    with pytest.raises(InputError, match="system must be that of the margins"):
        check_same_rows(SYSTEM, other)


def interrupted_at(n):
    calls = []

    def progress(step, fraction):
        calls.append(step)
        if len(calls) > n:
            raise KeyboardInterrupt

    return progress


def test_an_interrupted_walk_leaves_its_draws():
    options = WalkOptions(thin=2000, warm_up=1)
    found = draw_tables(
        MARGINS,
        Uniform(),
        10**6,
        rng=np.random.default_rng(6),
        method=Method.WALK,
        walk_options=options,
        progress=interrupted_at(8),
    )
    assert isinstance(found, Draws)
    assert found.is_partial
    assert found.stopped == "stopped by an interruption"
    assert 0 < len(found.tables) < 10**6
    assert all(SYSTEM.holds(table) for table in found.tables)


def test_a_walk_interrupted_at_once_is_an_interruption():
    with pytest.raises(Interrupted, match="before its fourth draw"):
        draw_tables(
            MARGINS,
            Uniform(),
            100,
            rng=np.random.default_rng(7),
            method=Method.WALK,
            progress=interrupted_at(1),
        )


def test_the_time_limit_leaves_draws():
    found = draw_tables(
        MARGINS,
        Uniform(),
        10**7,
        rng=np.random.default_rng(8),
        method=Method.WALK,
        walk_options=WalkOptions(warm_up=0),
        time_limit=0.3,
    )
    assert "time limit" in found.stopped
    assert 0 < len(found.tables) < 10**7


def test_the_same_seed_gives_the_same_draws():
    one, other = (
        draw_tables(MARGINS, Multinomial(), 100, rng=np.random.default_rng(9), method=Method.WALK)
        for _ in range(2)
    )
    assert np.array_equal(one.tables, other.tables)


def test_chosen_cells_are_kept():
    cells = np.array([4, 0])
    found = draw_tables(
        MARGINS, Uniform(), 40, rng=np.random.default_rng(10), cells=cells, method=Method.WALK
    )
    assert found.tables.shape == (40, 2)
    assert found.probability(4, 99) == 0
    with pytest.raises(InputError, match="cell must be one of those drawn, got 3"):
        found.probability(3, 0)


def test_a_cell_that_never_varied_has_an_error_unless_it_is_fixed():
    """A fixed cell is certain; one seen at one value in n draws is not."""
    margins = margins_of(np.array([[3, 0], [2, 0]]), [(0,), (1,)])
    found = draw_tables(margins, Uniform(), 40, rng=np.random.default_rng(11))
    assert found.standard_error[1] == 0
    assert found.standard_error[0] == pytest.approx(3 / 42)


def test_only_one_table():
    margins = margins_of(np.array([[3, 0], [0, 0]]), [(0,), (1,)])
    found = draw_tables(margins, Uniform(), 8, rng=np.random.default_rng(12), method=Method.WALK)
    assert np.all(found.tables == [3, 0, 0, 0])


def test_an_empty_table():
    margins = margins_of(np.zeros((2, 2, 2), dtype=np.int64), [(0, 1), (1, 2)])
    found = draw_tables(margins, Uniform(), 8, rng=np.random.default_rng(13), method=Method.WALK)
    assert not found.tables.any()


def test_a_sparse_large_table_is_walked_by_swaps():
    rng = np.random.default_rng(14)
    table = rng.poisson(0.05, size=(2,) * 10)
    margins = margins_of(table, [(i, i + 1) for i in range(9)])
    system = system_of(margins.n_cells, margins.statements())
    moves = moves_of_margins(margins, system)
    prior = DirichletMultinomial(np.full(margins.n_cells, 0.5))
    starts = starting_tables(margins, 2, rng=rng, sparse=True)
    chains = swap_chains(system, margins, moves, prior, starts, rng=rng)
    walked = walk(chains, WalkPlan(n_draws=20, warm_up=5, thin=50), np.arange(margins.n_cells))
    assert walked.n_changes > 0
    assert all(system.holds(point) for point in walked.tables.reshape(-1, margins.n_cells))


def test_swaps_refuse_limits():
    system = system_of(6, [*MARGINS.statements(), known([0], 1, 9)])
    moves = moves_of_margins(MARGINS, system)
    with pytest.raises(InputError, match="without limits of their own"):
        swap_chains(
            system, MARGINS, moves, Uniform(), [TABLE.ravel()], rng=np.random.default_rng(1)
        )


def test_starts_must_be_points():
    moves = moves_of_margins(MARGINS)
    with pytest.raises(InputError, match="starts must be points of the system"):
        line_chains(SYSTEM, moves, Uniform(), [np.zeros(6, int)], rng=np.random.default_rng(1))


def test_no_starting_point_where_there_is_no_table():
    system = system_of(6, [*MARGINS.statements(), known([0, 4], 20, 30)])
    with pytest.raises(InputError, match="those of a table"):
        starting_points(system, 1, rng=np.random.default_rng(1))


def test_starting_tables_need_margins_that_agree():
    tables = dict(MARGINS.tables)
    tables[(1,)] = np.array([7, 5, 4])
    wrong = type(MARGINS)(sizes=MARGINS.sizes, names=MARGINS.names, tables=tables)
    with pytest.raises(InputError, match="totals that disagree"):
        starting_tables(wrong, 1, rng=np.random.default_rng(1))


def test_starting_tables_need_separators_that_agree():
    margins = margins_of(np.ones((2, 2, 2), dtype=np.int64), [(0, 1), (1, 2)])
    tables = {(0, 1): margins.tables[(0, 1)], (1, 2): np.array([[3, 3], [1, 1]])}
    wrong = type(margins)(sizes=margins.sizes, names=margins.names, tables=tables)
    with pytest.raises(InputError, match="sums that disagree"):
        starting_tables(wrong, 1, rng=np.random.default_rng(1))


def test_moves_must_change_no_figure():
    with pytest.raises(InputError, match="free of effect on released figures"):
        moves_checked(SYSTEM, np.eye(6, dtype=np.int64)[:1], TABLE.reshape(1, 6))


def test_rows_of_zeros_are_no_moves():
    moves = listed(np.array([[0, 0], [1, -1], [0, 0]]), "by hand")
    assert moves.n_moves == 1
    assert moves.begin.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_draws": 0, "warm_up": 0, "thin": 1}, "n_draws must be at least 1, got 0"),
        ({"n_draws": 1, "warm_up": -1, "thin": 1}, "warm_up must be at least 0, got -1"),
        ({"n_draws": 1, "warm_up": 0, "thin": 0}, "thin must be at least 1, got 0"),
    ],
)
def test_plans_are_checked(options, message):
    with pytest.raises(InputError, match=message):
        WalkPlan(**options)


def test_asks_are_checked():
    rng = np.random.default_rng(1)
    with pytest.raises(InputError, match="n_draws must be at least 1"):
        draw_tables(MARGINS, Uniform(), 0, rng=rng)
    with pytest.raises(InputError, match="cells must be among 0 to 5"):
        draw_tables(MARGINS, Uniform(), 1, rng=rng, cells=np.array([6]))
    with pytest.raises(InputError, match="name the cells that matter"):
        draw_tables(MARGINS, Uniform(), 2**30, rng=rng)
    with pytest.raises(InputError, match="n_chains must be at least 1"):
        WalkOptions(n_chains=0)


@pytest.mark.parametrize(
    "prior",
    [
        Uniform(),
        Multinomial(),
        ProductForm(np.array([0.5, 1.0, 2.0, 0.1, 3.0, 1.5])),
        DirichletMultinomial(np.array([0.5, 0.5, 2.0, 1.0, 3.0, 0.5])),
    ],
)
def test_weight_tables_hold_the_prior(prior):
    weights = weight_table(prior, SYSTEM)
    point = TABLE.ravel()
    expected = prior.log_weight(np.arange(6), point).sum()
    assert weights.log_weight(point) == pytest.approx(expected)
    assert weights.flat == isinstance(prior, Uniform)


def test_a_prior_without_weight_somewhere_is_refused():
    class Even:
        name = "even"

        def log_weight(self, cells, values):
            with np.errstate(divide="ignore"):
                return np.log(1.0 - np.asarray(values) % 2)

    with pytest.raises(InputError, match="prior must be positive and finite on every table"):
        weight_table(Even(), SYSTEM)
    with pytest.raises(InputError, match="theta must be of 6 cells, got 2"):
        weight_table(ProductForm(np.ones(2)), SYSTEM)


TREE = margins_of(np.arange(24).reshape(2, 3, 4), [(0, 1), (1, 2)])


def test_interrupted_matching_of_records_leaves_its_draws():
    rng = np.random.default_rng(31)
    found = draw_tables(TREE, Multinomial(), 1000, rng=rng, progress=interrupted_at(7))
    assert found.method is Method.EXACT
    assert found.stopped == "stopped by an interruption"
    assert found.tables.shape == (8, 24)
    assert np.all(found.tables.sum(axis=1) == TREE.total)


def test_a_time_limit_ends_the_matching_of_records():
    rng = np.random.default_rng(32)
    found = draw_tables(TREE, Multinomial(), 10**6, rng=rng, time_limit=0.3)
    assert found.stopped == "stopped by the time limit"
    assert 0 < len(found.tables) < 10**6


def test_a_time_limit_ends_exact_draws():
    rng = np.random.default_rng(33)
    cells = np.array([0])
    found = draw_tables(MARGINS, Uniform(), 10**8, rng=rng, cells=cells, time_limit=1.0)
    assert found.method is Method.EXACT
    assert found.stopped == "stopped by the time limit"


def test_matching_interrupted_at_once_is_an_interruption(monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr("discreet.fiber.draws.exact_draws.draw_decomposable", interrupted)
    with pytest.raises(Interrupted, match="before the first table"):
        draw_tables(TREE, Multinomial(), 5, rng=np.random.default_rng(34))


def test_cells_of_huge_ranges_are_refused_by_every_way(no_programs):
    system = system_of(2, [known([0], 1, 3), known([1], 0, 10**15)])
    found = draw_tables(system, Uniform(), 5, rng=np.random.default_rng(35))
    assert isinstance(found, Unavailable)
    assert "walk: prior must be of at most" in found.reason
    assert "sequential: cells can take more than" in found.reason


@pytest.mark.parametrize("method", ["exact", "walk", "sequential"])
def test_a_table_without_cells(method, no_programs):
    rng = np.random.default_rng(36)
    found = draw_tables(system_of(0, []), Uniform(), 16, rng=rng, method=method)
    assert found.tables.shape == (16, 0)


def test_methods_by_their_names():
    found = draw_tables(MARGINS, Uniform(), 3, rng=np.random.default_rng(37), method="auto")
    assert found.method is Method.EXACT
    with pytest.raises(InputError, match="method must be one of auto, exact, walk, sequential"):
        draw_tables(MARGINS, Uniform(), 3, rng=np.random.default_rng(38), method="best")
