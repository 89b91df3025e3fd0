"""Run a job in a process of its own; report wall time, CPU time and peak memory."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cost:
    """What a job took, start-up of Python and imports taken off."""

    wall: float
    cpu: float
    peak_mib: float
    answer: str


def run_job(job: str, *arguments: str, repeats: int = 1, python: str = sys.executable) -> Cost:
    """The quickest of some runs of `python -m benchmarks.jobs JOB ARGUMENT …`."""
    runs = (_run_once(python, job, *arguments) for _ in range(repeats))
    return min(runs, key=lambda cost: cost.wall)


def _run_once(python: str, job: str, *arguments: str) -> Cost:
    process = subprocess.Popen(
        [python, "-m", "benchmarks.jobs", job, *arguments], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"benchmark {job} {' '.join(arguments)} failed")
    told = json.loads(printed.splitlines()[-1])
    return Cost(told["wall"], told["cpu"], usage.ru_maxrss / 1024, str(told["answer"]))


def print_table(title: str, costs: dict[str, Cost], base: str) -> None:
    """A row a contestant, with its wall time relative to `base`."""
    print(f"\n{title}")
    print(f"  {'':<44}{'wall s':>9}{'CPU s':>9}{'peak MiB':>10}{'ratio':>8}  answer")
    for name, cost in costs.items():
        ratio = cost.wall / costs[base].wall
        print(
            f"  {name:<44}{cost.wall:>9.2f}{cost.cpu:>9.2f}{cost.peak_mib:>10.0f}{ratio:>8.2f}"
            f"  {cost.answer}",
            flush=True,
        )
