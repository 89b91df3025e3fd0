"""Work timed within this process: the median of an odd number of runs after one that compiles."""

from collections.abc import Callable
from time import process_time
from typing import TypeVar

T = TypeVar("T")


def median_cpu(work: Callable[[], T], runs: int = 3) -> tuple[float, T]:
    """CPU seconds of the middle one of some runs, all threads together, and what the last gave.

    Every contestant of a benchmark is timed by this one function.
    """
    found = work()
    seconds = []
    for _ in range(runs):
        start = process_time()
        found = work()
        seconds.append(process_time() - start)
    return sorted(seconds)[runs // 2], found
