"""Complaints of the library name the options that were typed."""

import click
import pytest

from discreet.cli.option_names import speaking_of
from discreet.errors import FileError, InputError, must_be, problem_of


def complaint(message, more=None, kind=InputError):
    command = click.Command(
        "x",
        params=[click.Option(["--missing"]), click.Option(["--tree", "trees"], multiple=True)],
    )
    with click.Context(command), pytest.raises(kind) as caught, speaking_of(more):
        raise kind(message)
    assert type(caught.value) is kind
    return str(caught.value)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("trees must be files, got one", "--tree must be files, got one"),
        ("other must be files, got one", "other must be files, got one"),
        (
            "x must be y, got z; choose drop (missing)",
            "x must be y, got z; choose drop (--missing)",
        ),
        ("x must be y, got z; by (missing, trees)", "x must be y, got z; by (--missing, --tree)"),
        ("x must be y, got z; by (missing, n)", "x must be y, got z; by (missing, n)"),
        ("x must be y, got '(missing)'", "x must be y, got '(missing)'"),
        ("nothing is wrong with missing", "nothing is wrong with missing"),
    ],
)
def test_options_for_parameters(said, told):
    assert complaint(said) == told


def test_other_names_and_kinds_of_error():
    assert complaint("n must be 1, got 2", {"n": "--n"}, FileError) == "--n must be 1, got 2"


def test_the_parts_of_a_complaint_stay_apart():
    command = click.Command("x", params=[click.Option(["--missing"])])
    said = must_be("missing", "y", "'a; b'", where="row 1", remedy="choose drop (missing)")
    with click.Context(command), pytest.raises(InputError) as caught, speaking_of():
        raise InputError(said)
    told = problem_of(caught.value.args[0])
    assert (told.what, told.where) == ("--missing must be y, got 'a; b'", "row 1")
    assert told.remedy == "choose drop (--missing)"
