"""The tree of errors and the one sentence of every complaint."""

import pickle

import pytest

from discreet import errors


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "k must be at least 2, got 1"),
        ({"where": "row 3"}, "k must be at least 2, got 1 at row 3"),
        ({"remedy": "give more"}, "k must be at least 2, got 1; give more"),
        (
            {"where": "row 3", "remedy": "give more"},
            "k must be at least 2, got 1 at row 3; give more",
        ),
    ],
)
def test_the_grammar_of_a_complaint(options, sentence):
    assert errors.must_be("k", "at least 2", 1, **options) == sentence


def test_every_error_is_ours_and_bad_input_is_a_value_error():
    own = [one for one in vars(errors).values() if isinstance(one, type)]
    ours = [kind for kind in own if kind.__module__ == errors.__name__]
    kinds = [kind for kind in ours if issubclass(kind, BaseException)]
    assert len(kinds) >= 8
    assert all(issubclass(kind, errors.DiscreetError) for kind in kinds)
    for kind in (errors.FileError, errors.ColumnError, errors.WeightError, errors.MissingError):
        assert issubclass(kind, errors.InputError)
        assert issubclass(kind, ValueError)
    assert not issubclass(errors.OutputError, errors.InputError)


@pytest.mark.parametrize("kind", ["InputError", "OutputError", "Interrupted", "FileError"])
def test_the_tree_in_the_docstring_names_every_kind(kind):
    assert kind in (errors.__doc__ or "")
    assert hasattr(errors, kind)


def test_a_complaint_keeps_its_parts_when_it_is_pickled():
    said = errors.must_be("k", "at least 2", "'1 at 2; 3'", where="row 3", remedy="give more")
    again = pickle.loads(pickle.dumps(errors.InputError(said)))
    told = errors.problem_of(again.args[0])
    assert told == errors.Problem("k must be at least 2, got '1 at 2; 3'", "row 3", "give more")


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("a must be b, got c", errors.Problem("a must be b, got c")),
        ("a must be b, got 'c; d'", errors.Problem("a must be b, got 'c; d'")),
        ("a's b is c; do d", errors.Problem("a's b is c", remedy="do d")),
        ("a is b; is c; do d", errors.Problem("a is b; is c", remedy="do d")),
    ],
)
def test_the_parts_of_other_sentences(said, problem):
    assert errors.problem_of(said) == problem
