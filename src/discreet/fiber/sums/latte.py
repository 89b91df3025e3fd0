"""LattE and 4ti2, run as programs of their own: exact counts and Markov bases.

They come with the optional extra `algebra` (the package passagemath-latte-4ti2) or from the search
path. Each call works in a temporary folder, within a time limit and a limit on memory, and answers
with a value or with the reason why there is none. LattE aborts on some ordinary systems (3×3×4
tables with all two-way margins among them); an abort is told as such and never read as a count.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from time import monotonic

import numpy as np
from scipy.sparse import csr_array

from discreet.errors import InputError
from discreet.fiber.draws.starts import point_of
from discreet.fiber.system.linear_system import System
from discreet.fiber.system.nonnegative_form import Shifted, lifted, shifted
from discreet.figures import Unavailable
from discreet.numerics.arrays import IntArray, read_only

INSTALL = "install the extra with: pip install 'discreet[algebra]'"
MEMORY_LIMIT = 4 * 2**30  # bytes a program may use
NAMES = {"count": ("count", "latte-count"), "markov": ("markov", "4ti2-markov")}
ANSWER = re.compile(r"number of lattice points(?: is)?:\s*(\d+)", re.IGNORECASE)
EMPTY = re.compile(r"empty polytope|polytope is empty", re.IGNORECASE)


def executable(program: str) -> Path | None:
    """Where LattE's `count` or 4ti2's `markov` is: in this environment, or on the search path."""
    folders = {sysconfig.get_path(kind) for kind in ("purelib", "platlib")} | set(sys.path)
    wheels = os.pathsep.join(
        str(Path(folder) / "sage_wheels" / "bin") for folder in sorted(folders)
    )
    for path in (wheels, None):
        for name in NAMES[program]:
            found = shutil.which(name, path=path)
            if found:
                return Path(found)
    return None


def count_by_latte(
    system: System, *, time_limit: float = 60.0, memory_limit: int = MEMORY_LIMIT
) -> int | Unavailable:
    """How many points the system has, by LattE's `count` (Barvinok's algorithm), or why not.

    Forced cells are left out and blocks that share no equation counted apart; upper limits are
    given to LattE where the equations do not imply them. A block without equations is a box and
    needs no program.
    """
    from discreet.fiber.system.structure import presolve

    end, count = monotonic() + time_limit, 1
    try:
        blocks = presolve(system).blocks
    except InputError:
        return 0
    for block in blocks:
        found = _count_block(block.system, max(0.01, end - monotonic()), memory_limit)
        if isinstance(found, Unavailable) or found == 0:
            return found
        count *= found
    return count


def _count_block(system: System, time_limit: float, memory_limit: int) -> int | Unavailable:
    free = shifted(system)
    if np.any(free.right < 0):
        return 0
    if free.matrix.shape[0] == 0:
        return prod(int(span) + 1 for span in free.span)
    outcome = _run("count", {"system": _latte_text(free)}, ["system"], time_limit, memory_limit)
    if isinstance(outcome, Unavailable):
        return outcome
    count = _count_told(outcome)
    return _confirmed_empty(system, time_limit) if count == 0 else count


def _count_told(outcome: "_Ended") -> int | Unavailable:
    told = ANSWER.search(outcome.printed)
    if outcome.code == 0 and told:
        return int(told.group(1))
    if EMPTY.search(outcome.printed):
        return 0
    return Unavailable(
        f"LattE's count ended without an answer ({_code_name(outcome.code)}), as it does on some "
        "ordinary systems; use an exact method of ours or sequential importance sampling"
    )


def _confirmed_empty(system: System, time_limit: float) -> int | Unavailable:
    """Zero only where an integer program proves it: LattE says "empty" when memory runs short."""
    if point_of(system, time_limit=time_limit) is None:
        return 0
    return Unavailable(
        "LattE's count saw no table where there may be some, as when memory is short"
    )


def markov_basis(
    system: System, *, time_limit: float = 60.0, memory_limit: int = MEMORY_LIMIT
) -> IntArray | Unavailable:
    """Moves, one a row over the system's columns and up to sign, that connect its points.

    They are the Markov basis of the lifted system, by 4ti2's `markov`: limits that the equations do
    not imply get a slack each before, and the slacks are dropped after.
    """
    free = shifted(system)
    moves = np.zeros((0, system.n_columns), dtype=np.int64)
    if len(free.columns) == 0:
        return moves
    if free.matrix.shape[0] == 0:
        return np.identity(system.n_columns, dtype=np.int64)[free.columns]
    found = basis_of_matrix(lifted(free), time_limit=time_limit, memory_limit=memory_limit)
    if isinstance(found, Unavailable):
        return found
    moves = np.zeros((len(found), system.n_columns), dtype=np.int64)
    moves[:, free.columns] = found[:, : len(free.columns)]
    read_only(moves)
    return moves


def basis_of_matrix(
    matrix: csr_array, *, time_limit: float, memory_limit: int = MEMORY_LIMIT
) -> IntArray | Unavailable:
    """A Markov basis of {y ≥ 0 : A y = b} for every b, one move a row, or why there is none."""
    text = _matrix_text(matrix.toarray())
    answer = "system.mar"
    outcome = _run(
        "markov", {"system.mat": text}, ["-q", "system"], time_limit, memory_limit, answer
    )
    if isinstance(outcome, Unavailable):
        return outcome
    if outcome.code or outcome.written is None:
        return Unavailable(f"4ti2's markov ended without an answer ({_code_name(outcome.code)})")
    numbers = np.array(outcome.written.split(), dtype=np.int64)
    basis = numbers[2:].reshape(int(numbers[0]), int(numbers[1]))
    if np.any(matrix @ basis.T):
        return Unavailable("4ti2's markov gave moves that change the released figures")
    return basis


def _latte_text(free: Shifted) -> str:
    """The system as LattE reads it: rows b − A y ≥ 0, the first of them equations, then y ≥ 0."""
    equations = np.column_stack([free.right, -free.matrix.toarray()])
    own = np.flatnonzero(free.limited)
    limits = np.zeros((len(own), equations.shape[1]), dtype=np.int64)
    limits[:, 0] = free.span[own]
    limits[np.arange(len(own)), own + 1] = -1
    n_equations, n_columns = len(equations), equations.shape[1] - 1
    text = _matrix_text(np.concatenate([equations, limits]))
    text += _listed("linearity", range(1, n_equations + 1))
    return text + _listed("nonnegative", range(1, n_columns + 1))


def _listed(word: str, numbers: Sequence[int]) -> str:
    return f"{word} {len(numbers)} {' '.join(map(str, numbers))}\n"


def _matrix_text(matrix: IntArray) -> str:
    rows: Iterable[str] = (" ".join(map(str, row)) for row in matrix.tolist())
    return "\n".join([f"{matrix.shape[0]} {matrix.shape[1]}", *rows]) + "\n"


@dataclass(frozen=True, slots=True)
class _Ended:
    """How a program ended, what it printed, and the file it wrote."""

    code: int
    printed: str
    written: str | None


def _run(
    program: str,
    files: dict[str, str],
    arguments: list[str],
    time_limit: float,
    memory_limit: int,
    answer: str | None = None,
) -> _Ended | Unavailable:
    path = executable(program)
    if path is None:
        return Unavailable(f"the program {NAMES[program][0]} is not here; {INSTALL}")
    with tempfile.TemporaryDirectory(prefix="discreet-", ignore_cleanup_errors=True) as folder:
        for name, text in files.items():
            (Path(folder) / name).write_text(text, encoding="ascii")
        ended = _within_limits([str(path), *arguments], folder, time_limit, memory_limit)
        if isinstance(ended, Unavailable) or answer is None:
            return ended
        file = Path(folder) / answer
        written = file.read_text(encoding="ascii") if file.exists() else None
        return _Ended(ended.code, ended.printed, written)


def _within_limits(
    command: list[str], folder: str, time_limit: float, memory_limit: int
) -> _Ended | Unavailable:
    """Runs a program in its own process group; kills the group when time is up or on interrupt."""
    beside = str(Path(command[0]).parent)  # the programs call one another by name
    environment = os.environ | {"PATH": beside + os.pathsep + os.environ.get("PATH", "")}
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        _cap_memory(process.pid, memory_limit)
        try:
            printed, _ = process.communicate(timeout=time_limit)
        except BaseException as stop:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if isinstance(stop, subprocess.TimeoutExpired):
                name = Path(command[0]).name
                return Unavailable(f"{name} was stopped after its time limit of {time_limit:.3g} s")
            raise
    return _Ended(process.returncode, printed.decode("utf-8", "replace"), None)


def _cap_memory(process: int, memory_limit: int) -> None:
    """Limits the address space of a program where the system can do so for another process."""
    if sys.platform == "linux":
        import resource

        with_limit = (memory_limit, memory_limit)
        try:
            resource.prlimit(process, resource.RLIMIT_AS, with_limit)
        except (ProcessLookupError, PermissionError):
            return


def _code_name(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"
