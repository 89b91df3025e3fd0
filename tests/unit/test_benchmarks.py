"""What the benchmarks name exists, and contestants are compared from the same start."""

import importlib
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.__main__ import BY_NAME, COMPARED, SIZES, comparisons_of
from benchmarks.comparing import Comparison, Contestant
from benchmarks.measuring import Start

ROOT = Path(__file__).resolve().parents[2]


def contestant(name, start):
    return Contestant(name=name, start=start, command=("true",))


def test_the_list_names_only_modules_that_exist():
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--list"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    listed = [line.split()[0] for line in run.stdout.splitlines()]
    assert listed == [*COMPARED, *BY_NAME]
    assert all(importlib.util.find_spec(f"benchmarks.{name}") for name in listed)


@pytest.mark.parametrize("name", COMPARED)
def test_all_contestants_of_a_comparison_start_alike(name):
    found = comparisons_of(importlib.import_module(f"benchmarks.{name}"), SIZES)
    assert found
    for comparison in found:
        assert len({each.start for each in comparison.contestants}) == 1
        assert not comparison.contestants[0].rival
        assert comparison.runs % 2 == 1


@pytest.mark.parametrize("name", BY_NAME)
def test_what_is_run_by_name_can_be_run(name):
    module = importlib.import_module(f"benchmarks.{name}")
    assert callable(module.run) or comparisons_of(module, SIZES)


def test_different_starts_are_refused():
    pair = [contestant("ours", Start.IN_PROCESS), contestant("theirs", Start.PROCESS)]
    with pytest.raises(ValueError, match="contestants must start alike"):
        Comparison(title="a job", contestants=pair)


def test_an_even_number_of_runs_is_refused():
    with pytest.raises(ValueError, match="runs must be odd, got 2"):
        Comparison(title="a job", contestants=[contestant("ours", Start.PROCESS)], runs=2)
