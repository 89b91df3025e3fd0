"""Weighted draws: published counts, dead ends, very large numbers, interruption."""

import numpy as np
import pytest

from discreet.errors import InputError, Interrupted
from discreet.fiber.draws.sequential import WeightedDraws, estimate_count, weighted_draws
from discreet.fiber.draws.tilt import balanced
from discreet.fiber.draws.walk_weights import weight_table
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.fiber.system.margins import all_margins, margins_of
from discreet.fiber.system.priors import Multinomial, ProductForm, Uniform
from discreet.figures import Unavailable

EYE_AND_HAIR = np.array([[68, 119, 26, 7], [20, 84, 17, 94], [15, 54, 14, 10], [5, 29, 14, 16]])


def known(cells, low, high):
    return Statement(cells=np.array(cells), low=low, high=high, name="known")


def test_eye_and_hair_by_columns():
    """1,225,914,276,768,514 tables (Diaconis and Gangolli 1995)."""
    margins = margins_of(EYE_AND_HAIR, [(0,), (1,)])
    found = estimate_count(margins, n_draws=1000, rng=np.random.default_rng(1))
    assert abs(found.value - 1_225_914_276_768_514) < 4 * found.standard_error
    assert found.relative_error < 0.02
    assert found.effective_draws > 800


def test_eye_and_hair_by_cells():
    margins = margins_of(EYE_AND_HAIR, [(0,), (1,)])
    system = system_of(16, margins.statements())
    found = estimate_count(system, n_draws=4000, rng=np.random.default_rng(2))
    assert "cell by cell" in found.note
    assert abs(found.value - 1_225_914_276_768_514) < 5 * found.standard_error


def test_multinomial_columns_are_exact():
    """The hypergeometric distribution: every weight is the same, all draws are effective."""
    margins = margins_of(EYE_AND_HAIR, [(0,), (1,)])
    drawn = weighted_draws(margins, Multinomial(), 500, rng=np.random.default_rng(3))
    assert drawn.effective_draws == pytest.approx(500)
    rows, columns = EYE_AND_HAIR.sum(1), EYE_AND_HAIR.sum(0)
    expected = np.outer(rows, columns).ravel() / 592
    assert np.all(np.abs(drawn.mean() - expected) < 5 * drawn.standard_error())


def test_weights_far_from_the_margins_do_not_underflow():
    """θ of 1e-9 and 1e9 with sums of hundreds: given the sums, one factor per row changes nothing."""
    margins = margins_of(np.array([[300, 200], [100, 400]]), [(0,), (1,)])
    theta = np.array([1e9, 1e-9, 1e9, 1e-9])
    drawn = weighted_draws(margins, ProductForm(theta), 200, rng=np.random.default_rng(4))
    assert len(drawn.tables) == 200
    assert drawn.effective_draws == pytest.approx(200)
    assert abs(drawn.mean()[0] - 200) < 5 * drawn.standard_error()[0]


def test_dead_ends_count_as_draws():
    """Parity: 2x + 2y = odd has no point, which limits alone do not show."""
    statement = Statement(
        cells=np.array([0, 1, 2]), low=7, high=7, name="odd", coefficients=np.array([2, 2, 4])
    )
    system = system_of(3, [statement])
    drawn = weighted_draws(system, Uniform(), 50, rng=np.random.default_rng(5))
    assert len(drawn.tables) == 0
    found = drawn.total()
    assert isinstance(found, Unavailable)
    assert found.reason == "none of 50 draws found a consistent table"


def test_contradicting_limits_have_no_draws():
    system = system_of(2, [known([0, 1], 3, 3), known([0], 5, 9)])
    found = weighted_draws(system, Uniform(), 10, rng=np.random.default_rng(6))
    assert isinstance(found, Unavailable)


def test_counts_beyond_floats_are_whole_numbers():
    draws = WeightedDraws(
        tables=np.zeros((2, 1), dtype=np.int64),
        log_weights=np.array([1000.0, 1000.0]),
        n_tried=4,
        how="test",
    )
    found = draws.total()
    assert isinstance(found.value, int)
    assert found.value // 10**430 == int(np.exp(1000 - np.log(2) - 430 * np.log(10)))
    assert found.relative_error == pytest.approx(0.5)  # weights 2, 2, 0, 0: √(1 / 4)


def test_few_effective_draws_are_warned_of():
    margins = margins_of(np.full((4, 4, 4), 3), all_margins(3, 2))
    drawn = weighted_draws(margins, Uniform(), 20, rng=np.random.default_rng(7))
    assert "effective draws of 20" in drawn.warning


def test_interruption_leaves_the_draws_so_far():
    margins = margins_of(EYE_AND_HAIR, [(0,), (1,)])

    def stop(step, fraction):
        if fraction:
            raise KeyboardInterrupt

    drawn = weighted_draws(margins, Uniform(), 10_000, rng=np.random.default_rng(8), progress=stop)
    assert 0 < len(drawn.tables) < 10_000
    assert "interruption" in drawn.stopped


def test_interruption_before_the_first_draw():
    def never(batch, rng):
        raise KeyboardInterrupt

    from discreet.fiber.draws import sequential

    with pytest.raises(Interrupted, match="before the first table"):
        sequential._collected(
            sequential.Filler(never, 1.0),
            1,
            10,
            "test",
            np.random.default_rng(9),
            None,
            lambda step, fraction: None,
        )


def test_time_limit_leaves_the_draws_so_far():
    margins = margins_of(EYE_AND_HAIR, [(0,), (1,)])
    drawn = weighted_draws(
        margins, Uniform(), 10**7, rng=np.random.default_rng(10), time_limit=0.05
    )
    assert 0 < len(drawn.tables) < 10**7
    assert "time limit" in drawn.stopped


def test_at_least_one_draw():
    margins = margins_of(EYE_AND_HAIR, [(0,), (1,)])
    with pytest.raises(InputError, match="n_draws must be at least 1, got 0"):
        weighted_draws(margins, Uniform(), 0, rng=np.random.default_rng(11))


def test_a_tilt_meets_the_released_figures_on_average():
    margins = margins_of(np.array([[8, 2, 5], [1, 9, 4]]), [(0,), (1,)])
    system = system_of(6, margins.statements())
    for prior in (Uniform(), Multinomial()):
        tilt = balanced(system, weight_table(prior, system))
        assert np.allclose(system.matrix @ tilt.mean, system.right, atol=0.05)
        assert np.all(tilt.variance > 0)


@pytest.mark.parametrize(("most", "limit"), [(10**15, None), (2**27, None), (2**25, 0.1)])
def test_cells_of_too_many_values_are_refused(most, limit):
    total = Statement(cells=np.array([0, 1, 2]), low=most, high=most, name="total")
    rng = np.random.default_rng(12)
    found = weighted_draws(system_of(3, [total]), Uniform(), 5, rng=rng, time_limit=limit)
    assert isinstance(found, Unavailable)
    assert "too many to try" in found.reason or "one table would take" in found.reason


def test_weights_too_many_to_list_are_refused():
    known = [
        Statement(cells=np.array([0]), low=2**27, high=2**27 + 3, name="a"),
        Statement(cells=np.array([1]), low=0, high=3, name="b"),
    ]
    found = weighted_draws(system_of(2, known), Uniform(), 5, rng=np.random.default_rng(13))
    assert found == Unavailable(
        "prior must be of at most 67108864 weights in all, got more; "
        "use one weight for many cells, or narrower limits"
    )


def test_columns_of_large_sums_are_filled_cell_by_cell():
    """Two columns of sums of 10⁵ would need 10¹⁰ pairs before the first draw."""
    margins = margins_of(np.full((2, 2), 50_000), [(0,), (1,)])
    drawn = weighted_draws(margins, Uniform(), 20, rng=np.random.default_rng(14))
    assert "cell by cell" in drawn.how
    assert np.all(drawn.tables[:, :2].sum(axis=1) == 100_000)


def test_a_matrix_that_is_read_only_and_unsorted_can_be_timed() -> None:
    system = system_of(3, [Statement(cells=np.array([2, 0, 1]), low=4, high=4, name="sum")])
    system.matrix.indices.flags.writeable = False
    found = estimate_count(system, n_draws=50, rng=np.random.default_rng(1), time_limit=10.0)
    assert not isinstance(found, Unavailable)


def off_by_rounding(n, seed):
    """Log weights of n draws that all weigh the same, each off by a few last bits."""
    noise = np.random.default_rng(seed).integers(-8, 9, n)
    return -40.0 * (1 + noise * 2.0**-52)


@pytest.mark.parametrize("seed", range(5))
def test_a_hundred_draws_of_one_weight_are_a_hundred_effective_ones(seed):
    logs = off_by_rounding(100, seed)
    drawn = WeightedDraws(
        tables=np.zeros((100, 1), np.int64), log_weights=logs, n_tried=100, how=""
    )
    assert drawn.effective_draws == 100
    assert not drawn.warning
    assert drawn.total().standard_error == 0


def test_exact_columns_of_a_hundred_tables_are_not_warned_of():
    margins = margins_of(EYE_AND_HAIR, [(0,), (1,)])
    drawn = weighted_draws(margins, Multinomial(), 100, rng=np.random.default_rng(3))
    assert drawn.effective_draws == 100
    assert drawn.total().relative_error == 0


def test_weights_that_differ_are_not_taken_for_one():
    logs = np.where(np.arange(100) % 2, 0.0, 1e-6)
    drawn = WeightedDraws(
        tables=np.zeros((100, 1), np.int64), log_weights=logs, n_tried=100, how=""
    )
    assert drawn.total().relative_error == pytest.approx(5e-7 / 10, rel=3e-2)
