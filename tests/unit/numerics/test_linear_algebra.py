"""Linear algebra runs in one thread in every public function and command, and only there."""

import os
import subprocess
import sys
from threading import Event, Thread

import numpy as np
import pytest
import scipy.linalg  # its BLAS is another one than NumPy's
from threadpoolctl import threadpool_info, threadpool_limits

import discreet
from discreet.numerics.linear_algebra import VARIABLES, in_one_thread

COMMAND = """
import sys
sys.argv = ["discreet", "--version"]
from discreet.cli import main
try:
    main()
except SystemExit:
    pass
import numpy, threadpoolctl
print(*{one["num_threads"] for one in threadpoolctl.threadpool_info() if one["user_api"] == "blas"})
"""
FUNCTIONS = [name for name in discreet.__all__ if name.islower()]


def n_threads():
    assert scipy.linalg.norm(np.eye(2)) > 0
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}


@pytest.fixture
def nothing_chosen(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("nothing_chosen")
def test_one_thread_while_a_function_runs_and_as_many_as_before_afterwards():
    with threadpool_limits(limits=2, user_api="blas"):
        before = n_threads()
        assert in_one_thread(n_threads)() == {1}
        with pytest.raises(ZeroDivisionError):
            in_one_thread(lambda: 1 / 0)()
        assert n_threads() == before


@pytest.mark.usefixtures("nothing_chosen")
def test_functions_in_two_threads_share_one_limit():
    """The first to enter leaves first: the second keeps its one thread, and then it is lifted."""
    entered, left, seen = Event(), Event(), []

    def second():
        entered.set()
        left.wait(60)
        seen.append(n_threads())

    other = Thread(target=in_one_thread(second))

    def first():
        other.start()
        entered.wait(60)

    with threadpool_limits(limits=2, user_api="blas"):
        before = n_threads()
        in_one_thread(first)()
        left.set()
        other.join()
        assert seen == [{1}]
        assert n_threads() == before


@pytest.mark.usefixtures("nothing_chosen")
def test_a_user_who_chose_is_obeyed(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    with threadpool_limits(limits=2, user_api="blas"):
        assert in_one_thread(n_threads)() == n_threads()


WHOLE_NUMBERS = {
    "judge",
    "plan",
    "policies",
    "read_policy",
    "read_published",
    "read_recipe",
    "read_result",
    "read_table",
    "write_report",
}  # functions without linear algebra


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - WHOLE_NUMBERS))
def test_public_functions_run_in_one_thread(name):
    called = {"recommend": "choose"}.get(name, name)
    assert getattr(discreet, name).__wrapped__.__name__ == called


@pytest.mark.parametrize(("chosen", "expected"), [(None, "1"), ("2", str(min(2, os.cpu_count())))])
def test_commands_run_in_one_thread_unless_the_user_chose(chosen, expected):
    others = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    if chosen is not None:
        others["OPENBLAS_NUM_THREADS"] = chosen
    run = subprocess.run(
        [sys.executable, "-c", COMMAND], env=others, capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines()[-1] == expected
