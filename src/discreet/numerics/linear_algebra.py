"""Linear algebra in one thread.

The matrices here are small, and BLAS libraries split them among threads all the same: the parts of
a sum then depend on the number of processors, and threads that wait for each other spin. On two
processors, one of them busy, the tests of drawn tables took eight times as long with two threads as
with one. A user who sets the variable of a BLAS, such as OPENBLAS_NUM_THREADS, is obeyed.
"""

import os
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

VARIABLES = tuple(f"{name}_NUM_THREADS" for name in ("OPENBLAS", "MKL", "BLIS", "VECLIB"))


def in_one_thread(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """The function, with BLAS limited to one thread while it runs, unless the user chose."""

    @wraps(function)
    def limited(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        if any(name in os.environ for name in VARIABLES):
            return function(*args, **kwargs)
        from threadpoolctl import threadpool_limits

        with threadpool_limits(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return limited


def keep_to_one_thread() -> None:
    """Let the BLAS of this process have one thread, unless the user chose otherwise.

    Trusted: NumPy is not loaded yet. Threads that are never made cost nothing.
    """
    if not any(name in os.environ for name in VARIABLES):
        os.environ.update(dict.fromkeys(VARIABLES, "1"))
