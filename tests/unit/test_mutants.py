"""The list of faults that `make mutants` tries fits the source as it is."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("mutants", ROOT / "tests" / "mutants.py")
assert spec is not None
assert spec.loader is not None
mutants = importlib.util.module_from_spec(spec)
sys.modules["mutants"] = mutants  # where dataclasses look for it
spec.loader.exec_module(mutants)


@pytest.mark.parametrize("mutant", mutants.MUTANTS, ids=lambda one: one.breaks)
def test_the_text_of_a_mutant_is_in_the_source_once(mutant):
    text = (ROOT / mutant.path).read_text(encoding="utf-8")
    assert text.count(mutant.old) == 1
    assert mutant.applied(text) != text


@pytest.mark.parametrize("mutant", mutants.MUTANTS, ids=lambda one: one.breaks)
def test_the_tests_of_a_mutant_exist(mutant):
    for test in mutant.tests:
        path, _, name = test.partition("::")
        text = (ROOT / path).read_text(encoding="utf-8")
        assert f"def {name}(" in text or not name


def test_a_mutant_is_told_from_one_that_does_not_fit():
    mutant = mutants.Mutant("a.py", "x = 1", "x = 2", "x", ())
    assert mutant.applied("x = 1\n") == "x = 2\n"
    assert mutant.applied("y = 1\n") is None
    assert mutant.applied("x = 1\nx = 1\n") is None
