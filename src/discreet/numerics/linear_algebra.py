"""Linear algebra in one thread.

The matrices here are small, and BLAS libraries split them among threads all the same: the parts of
a sum then depend on the number of processors, and threads that wait for each other spin. On two
processors, one of them busy, a fit took eight times as long with two threads as with one.
"""

import os
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

LIBRARIES = ("OPENBLAS", "MKL", "BLIS", "VECLIB")


def in_one_thread(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """The function, with BLAS limited to one thread while it runs."""

    @wraps(function)
    def limited(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return limited


def keep_to_one_thread() -> None:
    """Let the BLAS of this process have one thread, unless the user chose otherwise.

    Trusted: NumPy is not loaded yet. Threads that are never made cost nothing.
    """
    for library in LIBRARIES:
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
