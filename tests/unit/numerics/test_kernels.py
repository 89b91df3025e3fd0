"""A kernel gives the same in both forms, calls its own kind in the same form, and loads late."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from discreet.numerics import kernels
from discreet.numerics.kernels import COMPILED_AFTER, LOADED_AFTER, NEXT_AFTER, kernel

SOURCE = kernels.__file__


@kernel()
def _mixed(a, b):
    return (a ^ (b << np.uint64(7))) * np.uint64(0x9E3779B97F4A7C15)


@kernel()
def hashes(numbers, out):
    """Chained hashes, which wrap around."""
    seed = np.uint64(1)
    for i in range(len(numbers)):
        seed = _mixed(seed, numbers[i])
        out[i] = seed


@pytest.mark.parametrize("n", [0, 1, 50])
def test_both_forms_give_the_same(n):
    numbers = np.random.default_rng(n).integers(0, 2**63, n, dtype=np.uint64)
    plain, compiled = np.zeros((2, n), dtype=np.uint64)
    hashes.plain(numbers, plain)
    hashes(numbers, compiled)
    assert np.array_equal(plain, compiled)


def test_a_kernel_that_is_not_kept_is_compiled_after_very_many_steps():
    own = kernel()(lambda x: x + 1)
    few = COMPILED_AFTER // 10
    for _ in range(10):
        assert own.suited(few) is own.plain
    assert not own.is_loaded
    assert own.suited(1) is own.compiled
    assert own.is_loaded
    assert own.suited(0) is own.compiled


def test_very_many_steps_take_the_compiled_form_at_once():
    own = kernel()(lambda x: x + 1)
    assert not own.is_kept
    assert own.suited(COMPILED_AFTER) is own.compiled


@pytest.mark.parametrize(("heard", "most"), [([], LOADED_AFTER), ([True], NEXT_AFTER)])
def test_one_that_is_kept_is_loaded_after_fewer(monkeypatch, heard, most):
    monkeypatch.setattr(kernels, "_heard", heard)
    monkeypatch.setattr(kernels, "_all_steps", [0.0])
    own = kernel()(lambda x: x + 1)
    monkeypatch.setattr(own, "is_kept", True, raising=False)
    for _ in range(10):
        assert own.suited(most // 10) is own.plain
    assert own.suited(1) is own.compiled


@pytest.mark.parametrize("elsewhere", [False, True])
def test_what_an_earlier_process_compiled_is_kept(tmp_path, elsewhere):
    """By the name of the file that Numba makes, which may change with it."""
    (tmp_path / "own_kernels.py").write_text(KEPT)
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{Path(SOURCE).parents[2]}"}
    environment.pop("NUMBA_CACHE_DIR", None)
    if elsewhere:
        environment["NUMBA_CACHE_DIR"] = str(tmp_path / "cache")
    found = [
        subprocess.run(
            [sys.executable, "-c", "import own_kernels"],
            capture_output=True, text=True, check=True, env=environment,
        ).stdout.strip()
        for _ in range(2)
    ]  # fmt: skip
    assert found == ["False", "True"]


KEPT = """
from discreet.numerics.kernels import kernel

@kernel()
def one_more(x):
    return x + 1

print(one_more.is_kept)
one_more(1)
"""


LATE = """
import sys
import numpy as np
from discreet.fiber.bounds.kernels import leading_rows
leading_rows.plain(np.eye(3), 1e-9)
print("numba" in sys.modules)
leading_rows(np.eye(3), 1e-9)
print("numba" in sys.modules)
"""


def test_numba_is_loaded_by_the_first_compiled_call():
    command = [sys.executable, "-c", LATE]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "True"]
