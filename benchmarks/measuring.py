"""What a process takes: wall time, CPU time with its children, and the peak of their memory.

CPU seconds are the figure to compare by: on a machine that others use too, wall time measures them.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from time import monotonic, perf_counter

ROOT = Path(__file__).resolve().parents[1]
DISCREET = str(Path(sys.executable).with_name("discreet"))
RIVALS = Path(f"{sys.prefix}-rivals") / "bin" / "python"  # other packages, which need older ones
LOOK, MOST_LOOK = 0.02, 0.5  # seconds between two looks at a process, a hundredth of its time
TICKS = os.sysconf("SC_CLK_TCK")


class Start(StrEnum):
    """From where on the time is taken."""

    PROCESS = "as a process"  # from an empty shell to the end: start, imports, reading, answer
    IN_PROCESS = "in a process"  # data loaded, and one run before that does not count


class Failed(Exception):  # noqa: N818 - a finding of the benchmark, no error of its own
    """Why a contestant has no figure."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a job took, and what it answered."""

    wall: float
    cpu: float
    peak_mib: float
    answer: str
    runs: int = 1


def measured(
    command: tuple[str, ...],
    *,
    answer: Callable[[str], object] = lambda _: "",
    codes: tuple[int, ...] = (0,),
    limit: float = 300.0,
    cold: bool = False,
) -> Cost:
    """One run of a command; `cold` gives it an empty folder for what it compiles.

    Raises Failed where the command is not there, ends with another code, or takes longer than the
    limit [s of wall time].
    """
    with (
        tempfile.TemporaryDirectory(prefix="bench-cold-") as cache,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as errors,
    ):
        environment = dict(os.environ) | ({"NUMBA_CACHE_DIR": cache} if cold else {})
        began = perf_counter()
        try:
            process = subprocess.Popen(
                command, stdout=out, stderr=errors, cwd=ROOT, env=environment,
                stdin=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
        except OSError as fault:
            raise Failed(f"cannot be started: {fault.strerror}") from fault
        seen = _SeenOfTree(process.pid, limit)
        _, status, usage = os.wait4(process.pid, 0)
        wall = perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        seen.ended()
        if seen.stopped:
            raise Failed(f"stopped after {limit:.0f} s")
        if process.returncode not in codes:
            errors.seek(0)
            lines = errors.read().decode("utf-8", "replace").strip().splitlines() or [""]
            raise Failed(f"ended with code {process.returncode}: {lines[-1][:120]}")
        out.seek(0)
        printed = out.read().decode("utf-8", "replace")
    largest = max(seen.peak, usage.ru_maxrss / 1024)
    # What the process waited for is in its usage; Java of Spark, which it does not, was seen.
    cpu = max(usage.ru_utime + usage.ru_stime, sum(seen.cpu.values()))
    return Cost(wall, cpu, largest, str(answer(printed)))


def told(command: tuple[str, ...], *, limit: float) -> Cost:
    """What a job of `benchmarks.jobs` tells of itself: the median of its runs in its process."""
    cost = measured(command, answer=lambda printed: printed.splitlines()[-1], limit=limit)
    own = json.loads(cost.answer)
    return Cost(own["wall"], own["cpu"], cost.peak_mib, str(own["answer"]), own["runs"])


class _SeenOfTree:
    """Looks at a process and all below it until it ends; stops it when late.

    `peak` is the largest sum of their memory [MiB], `cpu` the CPU seconds last seen of each.
    """

    def __init__(self, pid: int, limit: float) -> None:
        self.pid, self.began, self.limit = pid, monotonic(), limit
        self.peak, self.stopped, self._over = 0.0, False, threading.Event()
        self.cpu: dict[tuple[int, str], float] = {}
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def ended(self) -> None:
        """The process is over."""
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        passed = 0.0
        while not self._over.wait(min(MOST_LOOK, max(LOOK, passed / 100))):
            tree = _tree(self.pid)
            self.peak = max(self.peak, sum(map(_resident_mib, tree)))
            self.cpu |= {name: spent for pid in tree for name, spent in _spent(pid)}
            passed = monotonic() - self.began
            if passed > self.limit:
                self.stopped = True
                os.killpg(self.pid, signal.SIGKILL)
                return


def _tree(pid: int) -> list[int]:
    """The process and all below it."""
    found, new = [], [pid]
    while new:
        found += new
        new = [child for parent in new for child in _children(parent)]
    return found


def _children(pid: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


def _resident_mib(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _spent(pid: int) -> list[tuple[tuple[int, str], float]]:
    """The CPU seconds of a process, under its number and start; none where it is over."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
    return [((pid, fields[19]), (int(fields[11]) + int(fields[12])) / TICKS)]
