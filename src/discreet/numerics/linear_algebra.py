"""Linear algebra in one thread.

The matrices here are small, and BLAS libraries split them among threads all the same: the parts of
a sum then depend on the number of processors, and threads that wait for each other spin. On two
processors, one of them busy, the tests of drawn tables took eight times as long with two threads as
with one. A user who sets the variable of a BLAS, such as OPENBLAS_NUM_THREADS, is obeyed.
"""

import os
from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import Any, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

VARIABLES = tuple(f"{name}_NUM_THREADS" for name in ("OPENBLAS", "MKL", "BLIS", "VECLIB"))


def in_one_thread(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """The function, with BLAS limited to one thread while it runs, unless the user chose."""

    @wraps(function)
    def limited(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        if any(name in os.environ for name in VARIABLES):
            return function(*args, **kwargs)
        _limit.enter()
        try:
            return function(*args, **kwargs)
        finally:
            _limit.leave()

    return limited


class _Limit:
    """The limit of the whole process: set by the first that asks for it, lifted by the last that
    leaves, so that functions in several threads neither lift it early nor keep it for good.

    OpenBLAS has one number of threads for the process, which threadpoolctl lets only the Python
    thread change that changed it first. Who leaves last may be another one, so control is taken.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._set: Any = None

    def enter(self) -> None:
        """One more function runs."""
        from threadpoolctl import OpenBLASController, threadpool_limits

        with self._lock:
            if self._inside == 0:
                OpenBLASController.clear_controlling_thread(force=True)
                self._set = threadpool_limits(limits=1, user_api="blas")
            self._inside += 1

    def leave(self) -> None:
        """One function less."""
        from threadpoolctl import OpenBLASController

        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                OpenBLASController.clear_controlling_thread(force=True)
                self._set.restore_original_limits()
                OpenBLASController.clear_controlling_thread()


_limit = _Limit()


def keep_to_one_thread() -> None:
    """Let the BLAS of this process have one thread, unless the user chose otherwise.

    Trusted: NumPy is not loaded yet. Threads that are never made cost nothing.
    """
    if not any(name in os.environ for name in VARIABLES):
        os.environ.update(dict.fromkeys(VARIABLES, "1"))
