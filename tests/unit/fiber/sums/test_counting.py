"""Counts: large numbers, budgets, and what is said when there is no answer."""

from math import comb, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from discreet.errors import InputError
from discreet.fiber.sums import counting, dynamic_programming_plan
from discreet.fiber.sums.counting import count_exactly, count_tables
from discreet.fiber.sums.dynamic_programming import (
    STATE_SECONDS,
    Budget,
    counted,
    log_of,
    split_logs,
    sweep,
)
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded, plan_for
from discreet.fiber.system.blocks import split
from discreet.fiber.system.linear_system import Statement, System, system_of
from discreet.fiber.system.margins import all_margins, margins_of
from discreet.figures import How, Unavailable
from discreet.numerics.remainders import PRIMES, joined

THREE_WAY = np.random.default_rng(3).integers(10, 40, (3, 3, 4))


def total_of(n_cells, total, factors=None):
    return system_of(
        n_cells,
        [
            Statement(
                cells=np.arange(n_cells), low=total, high=total, name="total", coefficients=factors
            )
        ],
    )


@pytest.mark.parametrize("total", [0, 1, 7, 10**6, 10**12, 2**52])
@pytest.mark.parametrize("n_cells", [1, 2, 3])
def test_parts_of_a_huge_total(n_cells, total):
    assert count_exactly(total_of(n_cells, total)) == comb(total + n_cells - 1, n_cells - 1)


@pytest.mark.parametrize(("n_cells", "total"), [(9, 60), (20, 60), (30, 200)])
def test_numbers_beyond_64_bits(n_cells, total):
    assert count_exactly(total_of(n_cells, total)) == comb(total + n_cells - 1, n_cells - 1)


def test_change_of_coins():
    """1, 2, 5, 10, 20, 50, 100 and 200 pence make two pounds in 73,682 ways (Project Euler 31)."""
    coins = np.array([1, 2, 5, 10, 20, 50, 100, 200])
    assert count_exactly(total_of(len(coins), 200, coins)) == 73_682


@pytest.mark.parametrize("factors", [(7, 11), (2**20 + 7, 2**20 + 9), (1, 2**40)])
def test_two_large_coefficients(factors):
    a, b = factors
    total = 3 * a * b + a
    expected = sum((total - b * y) % a == 0 for y in range(min(total // b, 4 * a) + 1))
    assert count_exactly(total_of(2, total, np.array(factors))) == expected


def test_blocks_multiply():
    cells = [np.array([0, 1]), np.array([2, 3, 4])]
    parts = [Statement(cells=c, low=9, high=9, name="part") for c in cells]
    assert count_exactly(system_of(5, parts)) == 10 * comb(11, 2)


def test_cells_in_no_row_vary_freely():
    limits = [Statement(cells=np.array([i]), low=i, high=2 * i, name="cell") for i in range(4)]
    assert count_exactly(system_of(4, limits)) == prod(i + 1 for i in range(4))


def test_no_table_at_all():
    total = Statement(cells=np.arange(2), low=3, high=3, name="total")
    even = Statement(
        cells=np.arange(2), coefficients=np.array([2, 2]), low=5, high=5, name="twice the total"
    )
    assert count_exactly(system_of(2, [total, even])) == 0
    assert count_tables(system_of(2, [total, even])).value == 0


def test_sums_too_large_for_exact_work():
    system = System(
        matrix=csr_array(np.array([[4, 4]])),
        right=np.array([2**40]),
        lower=np.zeros(2, np.int64),
        upper=np.full(2, 2**58),
        n_named=2,
        row_names=("row",),
    )
    with pytest.raises(InputError, match="sums of rows must be below"):
        count_exactly(system)


def three_way():
    statements = margins_of(THREE_WAY, all_margins(3, 2)).statements()
    return system_of(THREE_WAY.size, statements)


def test_a_budget_of_states_and_steps():
    with pytest.raises(BudgetExceeded, match="would take more than 10,000 steps"):
        count_exactly(three_way(), budget=Budget(states=1000, steps=10_000))


def test_a_time_limit():
    with pytest.raises(BudgetExceeded, match="time limit of 0 s reached"):
        count_exactly(three_way(), budget=Budget(seconds=0.0))


def test_no_more_states_are_stored_than_time_allows():
    states = 3000
    budget = Budget(seconds=states * STATE_SECONDS)
    assert budget.states_left == states + 1
    assert Budget().states_left == Budget().states
    system = system_of(64, margins_of(np.full((4, 4, 4), 9), all_margins(3, 2)).statements())
    with pytest.raises(BudgetExceeded, match=r"time limit of 0.0009 s reached while passing"):
        sweep(plan_for(split(system).blocks[0]), budget)


def test_tables_found_by_then_are_certain():
    statements = margins_of(np.full((3, 3, 3), 5), all_margins(3, 2)).statements()
    system = system_of(27, statements)
    assert count_exactly(system) == 22_454_470
    found = sweep(plan_for(split(system).blocks[0]), Budget())
    with pytest.raises(BudgetExceeded, match="steps; allow more seconds") as ended:
        counted(found, Budget(steps=found.steps + 3000))
    assert 0 < ended.value.at_least < 22_454_470


def test_what_was_tried_is_told():
    found = count_tables(three_way(), budget=Budget(states=1000, steps=10_000), algebra=False)
    assert found.value is None
    assert found.how is None
    assert "exact: more than 1,000 states" in found.note
    assert "no estimate: none asked for" in found.note


class Told:
    """Stands for the modules that are asked when exact methods end."""

    def __init__(self, answer):
        self.answer = answer

    def count_by_latte(self, system, *, time_limit):
        return self.answer

    def estimate_count(self, system, *, n_draws, rng):
        return self.answer


class Estimate:
    value, standard_error, note = 1234.4, 5.6, "by draws"


def asked(monkeypatch, latte, estimate, **options):
    modules = {
        "discreet.fiber.sums.latte": Told(latte),
        "discreet.fiber.draws.sequential": Told(estimate),
    }
    monkeypatch.setattr(counting, "import_module", modules.__getitem__)
    budget = Budget(states=1000, steps=10_000)
    return count_tables(three_way(), budget=budget, **options)


def test_latte_is_asked_next(monkeypatch):
    found = asked(monkeypatch, 99, Unavailable("not asked"))
    assert (found.value, found.how, found.note) == (99, How.EXACT, "by LattE")


def test_then_draws_give_an_estimate(monkeypatch):
    rng = np.random.default_rng(1)
    found = asked(monkeypatch, Unavailable("not here"), Estimate(), rng=rng, n_draws=10)
    assert (found.value, found.how, found.standard_error) == (1234, How.ESTIMATE, 5.6)
    assert "LattE: not here" in found.note
    assert "by draws" in found.note


def test_nothing_gives_an_answer(monkeypatch):
    rng = np.random.default_rng(1)
    nothing = Unavailable("nothing drawn")
    found = asked(monkeypatch, Unavailable("not here"), nothing, rng=rng, n_draws=10)
    assert found.value is None
    assert "estimate: nothing drawn" in found.note


@given(st.integers(0, 2**200), st.integers(6, 10))
def test_remainders(number, n):
    moduli = [2**64, *PRIMES[:n]]
    assert joined([number % m for m in moduli], moduli) == number


@given(st.lists(st.floats(-1e6, 1e6), min_size=1))
def test_floats_with_exponents(logs):
    mantissa, exponent = split_logs(np.array(logs))
    np.testing.assert_allclose(log_of(mantissa, exponent), logs, rtol=1e-14, atol=1e-12)


def test_steps_beyond_the_budget_are_told_of_however_fast_they_were_made():
    system = system_of(27, margins_of(np.full((3, 3, 3), 5), all_margins(3, 2)).statements())
    plan = plan_for(split(system).blocks[0])
    found = sweep(plan, Budget())
    before = found.steps
    counted(found, Budget(seconds=600.0))
    half = before + (found.steps - before) // 2
    found = sweep(plan, Budget())
    with pytest.raises(BudgetExceeded, match="steps; allow more seconds"):
        counted(found, Budget(steps=half, seconds=600.0))


@pytest.mark.parametrize("closed", [True, False])
def test_rounding_does_not_choose_the_order_of_columns(monkeypatch, closed):
    """All orders of a symmetric table cost the same."""
    system = system_of(27, margins_of(np.full((3, 3, 3), 2), all_margins(3, 2)).statements())
    block = split(system).blocks[0]
    wanted = plan_for(block, closed=closed)
    exact = dynamic_programming_plan._cost
    for seed in range(5):
        noise = np.random.default_rng(seed)

        def rounded(matrix, block, order, noise=noise):
            return exact(matrix, block, order) * (1 + noise.integers(-4, 5) * 2.0**-52)

        monkeypatch.setattr(dynamic_programming_plan, "_cost", rounded)
        assert plan_for(block, closed=closed).order.tolist() == wanted.order.tolist()
