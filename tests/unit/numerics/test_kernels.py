"""A kernel gives the same in both forms, calls its own kind in the same form, and loads late."""

import subprocess
import sys

import numpy as np
import pytest

from discreet.numerics.kernels import FEW, PATIENT, kernel


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


def test_few_steps_take_the_plain_form_until_many_have_been_taken():
    own = kernel()(lambda x: x + 1)
    for _ in range(PATIENT // FEW):
        assert own.suited(FEW) is own.plain
    assert not own.is_loaded
    assert own.suited(1) is own.compiled
    assert own.is_loaded
    assert own.suited(0) is own.compiled


def test_many_steps_take_the_compiled_form_at_once():
    own = kernel()(lambda x: x + 1)
    assert own.suited(FEW + 1) is own.compiled


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
