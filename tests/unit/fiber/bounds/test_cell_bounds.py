"""The way to bounds: which method is used, and what is left when work stops early."""

import os
import signal
import threading

import numpy as np
import pytest
from tests.oracles.certificates import certify

from discreet.errors import InputError
from discreet.fiber.bounds import by_programming as programming
from discreet.fiber.bounds.by_shuttle import bounds_by_shuttle
from discreet.fiber.bounds.cell_bounds import Proof, bounds, component_margins
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.fiber.system.margins import all_margins, margins_of
from discreet.figures import Unavailable

CUBE = np.random.default_rng(7).poisson(4, (4, 4, 4))
CUBE_MARGINS = margins_of(CUBE, all_margins(3, 2))
HARD = np.random.default_rng(8).poisson(0.4, (2,) * 9)
HARD_MARGINS = margins_of(HARD, all_margins(9, 3))


def test_proofs_have_words():
    assert [proof.text.split(":")[0] for proof in Proof] == ["exact"] * 4 + ["valid outer bound"]


def test_a_reducible_set_is_solved_by_component():
    """A triangle of margins and a tail: the tail is looked up, the triangle searched."""
    table = np.random.default_rng(3).poisson(2, (2, 3, 2, 3))
    sets = [(0, 1), (1, 2), (0, 2), (2, 3)]
    by_parts = bounds(margins_of(table, sets))
    whole = bounds(system_of(table.size, margins_of(table, sets).statements()))
    assert by_parts.complete
    assert by_parts.lower.tolist() == whole.lower.tolist()
    assert by_parts.upper.tolist() == whole.upper.tolist()


def test_a_component_keeps_sub_margins_of_larger_ones():
    table = np.random.default_rng(4).poisson(2, (2, 2, 2, 2))
    margins = margins_of(table, [(0, 1, 3), (1, 2), (0, 2)])
    part = component_margins(margins, (0, 1, 2))
    assert set(part.tables) == {(0, 1), (0, 2), (1, 2)}
    assert np.array_equal(part.tables[(0, 1)], table.sum(axis=(2, 3)))


def test_cells_may_be_numbers_or_levels_and_repeat():
    numbers = np.array([5, 0, 5])
    levels = np.stack(np.unravel_index(numbers, CUBE.shape), axis=1)
    everything = bounds(CUBE_MARGINS)
    for cells in (numbers, levels):
        found = bounds(CUBE_MARGINS, cells=cells)
        assert found.upper.tolist() == everything.upper[numbers].tolist()
    system = system_of(CUBE.size, CUBE_MARGINS.statements())
    assert bounds(system, cells=numbers).upper.tolist() == everything.upper[numbers].tolist()


@pytest.mark.parametrize("cells", [[64], [-1], [[0]]])
def test_cells_that_do_not_exist(cells):
    with pytest.raises(InputError, match="cells must be"):
        bounds(CUBE_MARGINS, cells=np.array(cells))


def test_known_tables_change_no_answer():
    one, other = bounds(CUBE_MARGINS), bounds(CUBE_MARGINS, tables=[CUBE])
    assert other.complete
    assert one.lower.tolist() == other.lower.tolist()
    assert one.upper.tolist() == other.upper.tolist()


def test_known_tables_must_be_consistent():
    with pytest.raises(InputError, match="tables must be consistent with every statement"):
        bounds(CUBE_MARGINS, tables=[CUBE + 1])
    with pytest.raises(InputError, match=r"tables must be of shape \(4, 4, 4\), got \(64,\)"):
        bounds(CUBE_MARGINS, tables=[CUBE.ravel()])
    with pytest.raises(InputError, match="tables must be of 64 cells, got 3"):
        bounds(system_of(64, CUBE_MARGINS.statements()), tables=[np.arange(3)])


def test_cells_that_no_sum_holds_have_their_limits():
    known = [Statement(cells=np.array([i]), low=i, high=4, name="range") for i in range(3)]
    found = bounds(system_of(3, known))
    assert found.complete
    assert (found.lower.tolist(), found.upper.tolist()) == ([0, 1, 2], [4, 4, 4])


def test_a_block_without_wanted_cells_must_still_have_a_table():
    """Cells 1 to 3 allow fractions only, though nobody asks about them."""
    known = [Statement(cells=np.array([0, 4]), low=2, high=2, name="apart")]
    for pair in ([1, 2], [2, 3], [1, 3]):
        known.append(Statement(cells=np.array(pair), low=1, high=1, name=f"pair {pair}"))
    with pytest.raises(InputError, match="no whole-number table"):
        bounds(system_of(5, known), cells=np.array([0]))


def test_no_time_leaves_valid_bounds_that_say_so():
    found = bounds(HARD_MARGINS, time_limit=0.0)
    assert not found.complete
    assert found.note == "time limit reached: bounds are valid, but not all are tight"
    assert np.all(found.lower <= HARD.ravel())
    assert np.all(found.upper >= HARD.ravel())
    assert {found.how(i) for i in np.flatnonzero(~found.exact)} <= {
        (Proof.OUTER, Proof.OUTER),
        (Proof.PROPAGATION, Proof.OUTER),
        (Proof.OUTER, Proof.PROPAGATION),
    }


def test_more_time_never_widens_bounds():
    short, longer = (bounds(HARD_MARGINS, time_limit=t, tables=[HARD]) for t in (0.0, 1.0))
    assert np.all(longer.lower >= short.lower)
    assert np.all(longer.upper <= short.upper)
    assert np.count_nonzero(longer.exact) >= np.count_nonzero(short.exact)


def test_interruption_leaves_bounds_so_far():
    def impatient(step, fraction):
        if fraction > 0.6:
            raise KeyboardInterrupt

    system = system_of(CUBE.size, CUBE_MARGINS.statements())
    found = bounds(system, progress=impatient)
    assert found.note == "interrupted: bounds are valid, but not all are tight"
    sides = np.concatenate([found.lower_proof, found.upper_proof])
    assert 0 < np.count_nonzero(sides != Proof.OUTER) < len(sides)
    assert np.all((found.lower <= CUBE.ravel()) & (CUBE.ravel() <= found.upper))


@pytest.mark.usefixtures("heeding_ctrl_c")
def test_a_signal_during_a_search_is_heard(monkeypatch):
    """CP-SAT runs on while Python's handler waits, unless it is told to stop."""
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    search = programming.Search.maximise  # type: ignore[attr-defined]

    def long(self, columns, sign, seconds):
        if not timer.is_alive():
            timer.start()
        return search(self, columns, sign, 60.0)

    monkeypatch.setattr(programming.Search, "maximise", long)  # type: ignore[attr-defined]
    found = bounds(HARD_MARGINS)
    timer.join()
    assert found.note == "interrupted: bounds are valid, but not all are tight"


def test_progress_goes_up_to_one():
    told = []
    bounds(CUBE_MARGINS, progress=lambda step, fraction: told.append((step, fraction)))
    fractions = [fraction for _, fraction in told]
    assert fractions == sorted(fractions)
    assert 0 <= fractions[0] <= fractions[-1] == 1
    assert {step for step, _ in told} == {"bounding cells"}


def test_all_but_highest_order_margins_of_a_binary_table_need_no_search():
    table = np.random.default_rng(2).poisson(3, (2,) * 6)
    margins = margins_of(table, all_margins(6, 5))
    cheap, exact = bounds_by_shuttle(margins), bounds(margins)
    assert cheap.lower.tolist() == exact.lower.tolist()
    assert cheap.upper.tolist() == exact.upper.tolist()


def test_counts_too_large_to_search_are_still_bounded():
    big = np.random.default_rng(6).integers(2**47, 2**49, (3, 3, 3))
    found = bounds(margins_of(big, all_margins(3, 2)), tables=[big], time_limit=5)
    assert np.all((found.lower <= big.ravel()) & (big.ravel() <= found.upper))
    assert found.complete or found.note


def test_one_table_only():
    margins = margins_of(np.array([[1, 0], [0, 0]]), [(0,), (1,)])
    found = bounds(margins)
    assert found.lower.tolist() == found.upper.tolist() == [1, 0, 0, 0]


def test_a_table_without_records():
    found = bounds(margins_of(np.zeros((2, 2, 2), np.int64), all_margins(3, 2)))
    assert found.upper.tolist() == [0] * 8
    assert found.complete


def test_a_component_too_large_to_search_is_bounded_by_look_ups(monkeypatch):
    monkeypatch.setattr("discreet.fiber.bounds.cell_bounds.MAX_PROGRAM_CELLS", 10)
    found = bounds(CUBE_MARGINS)
    assert found.note.startswith("table too large to search")
    assert np.all((found.lower <= CUBE.ravel()) & (CUBE.ravel() <= found.upper))


def test_a_certificate_can_be_unavailable():
    system = system_of(HARD.size, HARD_MARGINS.statements())
    found = certify(system, 0, "upper", time_limit=0.0)
    assert isinstance(found, Unavailable) or found.holds(system)


def test_certificates_of_a_forced_cell_and_of_a_search():
    known = [
        Statement(cells=np.array([0, 1]), low=3, high=3, name="a"),
        Statement(cells=np.array([2]), low=4, high=4, name="b"),
    ]
    system = system_of(3, known)
    assert certify(system, 2, "lower").proof is Proof.PROPAGATION
    odd = Statement(  # 2x + 2y + 3z = 7, so z is odd, though the linear program allows z = 0
        cells=np.arange(3), low=7, high=7, name="odd", coefficients=np.array([2, 2, 3])
    )
    system = system_of(3, [odd])
    found = certify(system, 2, "lower")
    assert (found.value, found.proof) == (1, Proof.SEARCH)
    assert found.holds(system)
    with pytest.raises(InputError, match="cell must be 0 to 2, got 3"):
        certify(system, 3, "upper")


def test_a_certificate_does_not_hold_elsewhere():
    system = system_of(CUBE.size, CUBE_MARGINS.statements())
    other = system_of(
        CUBE.size, margins_of(CUBE.transpose(2, 0, 1), all_margins(3, 2)).statements()
    )
    found = certify(system, 0, "upper")
    assert found.holds(system)
    assert not found.holds(other)
