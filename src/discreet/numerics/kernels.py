"""Loops in two forms: compiled by Numba, and as plain Python for small problems.

Loading Numba takes most of a second, compiling a loop for the first time on a machine several: more
than all of a small problem. So a kernel is neither compiled nor is Numba loaded before it is worth
it: whoever knows how many steps there are to take calls `kernel.suited(steps)`, which is the plain
form as long as a process has taken few steps, and the compiled one from then on. What an earlier
process compiled is only loaded, so that far fewer steps make it worth while. Both give the same to
the last bit, so that it does not matter which one runs: kernels keep to what means the same in
both (no division of integers by zero, no reliance on types that only a signature would fix).
"""

import os
from collections.abc import Callable
from functools import cached_property, wraps
from pathlib import Path
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

from discreet.clock import listen_to_numba, standing_still

FEW = 30_000  # steps that plain Python takes in about a tenth of a second
LOADED_AFTER = 150_000  # steps of all kernels together, from which on one that is kept is loaded
NEXT_AFTER = 10_000  # the same once Numba is there, for which loading one more is quick
COMPILED_AFTER = 1_000_000  # steps of one kernel, from which on compiling it is worth while
_heard: list[bool] = []  # whether Numba's compiling is listened to; once in a process
_all_steps = [0.0]  # taken plainly by all kernels of the process


P = ParamSpec("P")
R = TypeVar("R")


class Kernel(Generic[P, R]):
    """A function to be compiled; the kernels that it calls go with it in either form."""

    def __init__(self, function: Callable[P, R], options: dict[str, Any]) -> None:
        self._function, self._options, self._taken = function, options, 0.0
        self.__doc__, self.__name__ = function.__doc__, function.__name__

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        found: R = self.compiled(*arguments, **named)
        return found

    def suited(self, steps: float) -> Callable[P, R]:
        """The form for a problem of at most so many steps."""
        if self.is_loaded or self._is_worth_it(steps):
            return self.compiled  # type: ignore[no-any-return]
        self._taken += steps
        _all_steps[0] += steps
        return self.plain

    def _is_worth_it(self, steps: float) -> bool:
        """Whether to load or compile it for so many more steps."""
        if not self.is_kept:
            return steps > COMPILED_AFTER / 3 or self._taken + steps > COMPILED_AFTER
        if _heard:
            return self._taken + steps > NEXT_AFTER
        return steps > FEW or _all_steps[0] + steps > LOADED_AFTER

    @cached_property
    def is_kept(self) -> bool:
        """Whether an earlier process compiled it, by the file that Numba keeps of it."""
        source = Path(self._function.__code__.co_filename)
        name = f"{source.stem}.{self._function.__qualname__}-*.nbi"
        elsewhere, own = os.environ.get("NUMBA_CACHE_DIR"), source.parent / "__pycache__"
        return any(True for _ in (Path(elsewhere).rglob(name) if elsewhere else own.glob(name)))

    @property
    def is_loaded(self) -> bool:
        """Whether the compiled form is there already."""
        return "compiled" in self.__dict__

    @cached_property
    def plain(self) -> Callable[P, R]:
        """As it is written; integers wrap around as they do in the compiled form."""
        own = self._python

        @wraps(own)
        def run(*arguments: P.args, **named: P.kwargs) -> R:
            with standing_still(), np.errstate(all="ignore"):  # in place of compiling
                return own(*arguments, **named)  # type: ignore[no-any-return]

        return run

    @cached_property
    def compiled(self) -> Any:
        """The dispatcher of Numba, which reads what an earlier process compiled."""
        with standing_still():
            from numba import njit

            if not _heard:
                _heard.append(True)
                listen_to_numba()
            return njit(**self._options)(self._with("compiled"))

    @cached_property
    def _python(self) -> FunctionType:
        return self._with("_python")

    def _with(self, form: str) -> FunctionType:
        """The function with its own kernels in that form; Numba cannot call a Kernel."""
        found = self._function
        called = {
            name: getattr(value, form)
            for name in _names(found.__code__)
            if isinstance(value := found.__globals__.get(name), Kernel) and value is not self
        }
        own = FunctionType(
            found.__code__, {**found.__globals__, **called}, found.__name__,
            found.__defaults__, found.__closure__,
        )  # fmt: skip
        own.__qualname__, own.__module__ = found.__qualname__, found.__module__
        own.__annotations__, own.__kwdefaults__ = found.__annotations__, found.__kwdefaults__
        return own


def _names(code: Any) -> set[str]:
    """Globals that code may look up, those of functions inside it too."""
    inner = (_names(one) for one in code.co_consts if hasattr(one, "co_names"))
    return set(code.co_names).union(*inner)


def kernel(**options: Any) -> Callable[[Callable[P, R]], Kernel[P, R]]:
    """Makes a function a kernel: compiled without Python's lock, and kept on disk."""
    own = {"cache": True, "nogil": True, **options}
    return lambda function: Kernel(function, own)
