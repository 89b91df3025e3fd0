"""LattE and 4ti2 as programs: published facts where they are here, clear reasons where not."""

import stat
import sys

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.fiber.sums import latte
from discreet.fiber.sums.latte import basis_of_matrix, count_by_latte, executable, markov_basis
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.fiber.system.margins import all_margins, margins_of
from discreet.fiber.system.nonnegative_form import implied_span, lifted, shifted
from discreet.figures import Unavailable

here = pytest.mark.skipif(
    executable("count") is None or executable("markov") is None, reason="the extra is absent"
)


def known(cells, low, high):
    return Statement(cells=np.array(cells), low=low, high=high, name="known")


def system_with(table, released, extra=()):
    margins = margins_of(np.array(table), released)
    return system_of(margins.n_cells, [*margins.statements(), *extra])


def two_way(*extra):
    return system_with([[2, 1, 0], [0, 3, 1]], [(0,), (1,)], extra)


@here
@pytest.mark.parametrize(("last", "n_moves"), [(3, 81), (4, 450), (5, 2670)])
def test_published_sizes_of_markov_bases(last, n_moves):
    """3 × 3 × K tables with all two-way margins: 81, 450 and 2,670 moves up to sign."""
    system = system_with(np.full((3, 3, last), 2), all_margins(3, 2))
    basis = markov_basis(system)
    assert len(basis) == n_moves
    assert not np.any(system.matrix @ basis.T)
    assert len({tuple(row) for row in np.concatenate([basis, -basis]).tolist()}) == 2 * n_moves


@here
@pytest.mark.parametrize(
    ("extra", "count"),
    [
        ((), 6),
        ((known([0], 0, 1),), 4),
        ((known([1], 1, 5),), 5),
        ((known([0], 2, 2),), 2),
        ((known([0, 1, 4], 1, 4),), 2),
        ((known([0], 0, 0), known([1], 0, 0)), 0),
    ],
)
def test_counts_by_latte(extra, count):
    """Counted by hand: the 2 × 3 table with sums 3, 4 and 2, 4, 1 is fixed by its first row."""
    assert count_by_latte(two_way(*extra)) == count


@here
def test_limits_are_lifted():
    """An upper limit that the margins do not imply needs moves beside those of the margins."""
    free = system_with(np.full((3, 3, 3), 2), all_margins(3, 2))
    limited = system_with(np.full((3, 3, 3), 2), all_margins(3, 2), [known([0], 0, 3)])
    assert len(markov_basis(limited)) > len(markov_basis(free))


@here
def test_time_limit_ends_the_program():
    system = system_with(np.full((4, 4, 4), 2), all_margins(3, 2))
    found = markov_basis(system, time_limit=0.3)
    assert isinstance(found, Unavailable)
    assert "time limit of 0.3 s" in found.reason


@here
@pytest.mark.skipif(sys.platform != "linux", reason="memory of another process is limited on Linux")
def test_short_memory_is_never_a_count():
    system = system_with(np.full((3, 3, 4), 3), all_margins(3, 2))
    found = count_by_latte(system, memory_limit=2**26, time_limit=5)
    assert isinstance(found, Unavailable)


def test_absent_programs_say_how_to_install_them(monkeypatch):
    monkeypatch.setattr(latte, "executable", lambda program: None)
    for found in (count_by_latte(two_way()), markov_basis(two_way())):
        assert isinstance(found, Unavailable)
        assert "pip install 'discreet[algebra]'" in found.reason


def pretended(tmp_path, monkeypatch, script):
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setattr(latte, "executable", lambda name: program)


posix = pytest.mark.skipif(sys.platform == "win32", reason="a shell script plays the program")


@posix
@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("kill -ABRT $$", "SIGABRT"),
        ("exit 3", "exit code 3"),
        ("echo nothing", "without an answer"),
        ("echo 'Empty polytope or unbounded polytope!'; exit 1", "saw no table"),
        ("echo 'Total number of lattice points: 0'", "saw no table"),
    ],
)
def test_a_program_that_fails_is_never_a_count(tmp_path, monkeypatch, script, told):
    pretended(tmp_path, monkeypatch, script)
    found = count_by_latte(two_way())
    assert isinstance(found, Unavailable)
    assert told in found.reason


@posix
@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("exit 0", "without an answer"),
        ("printf '1 6\\n1 0 0 0 0 0\\n' > system.mar", "change the released figures"),
        ("sleep 30", "time limit"),
    ],
)
def test_moves_are_checked(tmp_path, monkeypatch, script, told):
    pretended(tmp_path, monkeypatch, script)
    found = basis_of_matrix(two_way().matrix, time_limit=0.5)
    assert isinstance(found, Unavailable)
    assert told in found.reason


@pytest.mark.parametrize(
    ("extra", "limited"),
    [
        ((), []),
        ((known([0], 0, 1),), [0]),
        ((known([0], 0, 2),), []),
        ((known([0], 1, 2),), []),
        ((known([0, 1], 1, 3),), [6]),
    ],
)
def test_limits_that_the_equations_imply_are_known(extra, limited):
    """Cell 0 stands in sums of 3 and 2: a limit of 2 is implied, 1 is not; nor a slack's range."""
    found = shifted(two_way(*extra))
    assert found.columns[found.limited].tolist() == limited
    assert lifted(found).shape[1] == len(found.columns) + len(limited)


def test_boxes_and_contradictions_need_no_program(monkeypatch):
    monkeypatch.setattr(latte, "executable", lambda program: None)
    box = system_of(2, [known([0], 0, 4), known([1], 1, 3)])
    assert count_by_latte(box) == 15
    assert markov_basis(box).tolist() == [[1, 0], [0, 1]]
    assert count_by_latte(two_way(known([0], 3, 9))) == 0
    with pytest.raises(InputError, match="limits must be in order"):
        shifted(two_way(known([0], 3, 9)))


def test_fixed_cells_that_contradict_a_row_are_named():
    fixed = two_way(known([0], 0, 0), known([3], 0, 0))
    with pytest.raises(InputError, match=r"fixed cells of another sum at margin \[v1 0\]"):
        shifted(fixed)


def test_rows_with_negative_factors_imply_nothing():
    from scipy.sparse import csr_array

    matrix = csr_array(np.array([[1, -1], [2, 0]]))
    assert implied_span(matrix, np.array([0, 7])).tolist() == [3, 2**62]
