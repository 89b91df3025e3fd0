"""What can go wrong, as a tree.

    DiscreetError
    ├── InputError          what was asked cannot be done with what was given (exit 2)
    │   ├── FileError       a file cannot be read as what it claims to be
    │   ├── ColumnError     a column is missing, ambiguous or of a type that cannot be a key
    │   ├── WeightError     a survey weight that no sampling design can produce
    │   └── MissingError    missing values where the chosen policy allows none
    ├── OutputError         a result cannot be written (exit 2)
    └── Interrupted         the user stopped the work

Messages follow one grammar, ``{name} must be {rule}, got {value}[ at {where}][; {remedy}]``, and
hold names and positions only: never a value that stands in a confidential record.
"""

from enum import StrEnum
from typing import TypeVar

Choice = TypeVar("Choice", bound=StrEnum)


class DiscreetError(Exception):
    """Anything that Discreet raises on purpose; the message is one line for the user."""


class InputError(DiscreetError, ValueError):
    """What was asked cannot be done with what was given."""


class FileError(InputError):
    """A file cannot be read as what it claims to be."""


class ColumnError(InputError):
    """A column is missing, ambiguous, or of a type that cannot serve."""


class WeightError(InputError):
    """A survey weight that no sampling design can produce."""


class MissingError(InputError):
    """Missing values where the chosen policy allows none."""


class OutputError(DiscreetError):
    """A result cannot be written where it was asked for."""


class Interrupted(DiscreetError):  # noqa: N818 - an interruption is no error of anyone's
    """The user stopped the work."""


def must_be(
    name: str, rule: str, got: object, *, where: str | None = None, remedy: str | None = None
) -> str:
    """The one sentence of every complaint: what, the rule, what came instead, where, the remedy."""
    at = f" at {where}" if where else ""
    then = f"; {remedy}" if remedy else ""
    return one_line(f"{name} must be {rule}, got {got}{at}{then}")


def one_of(name: str, kind: type[Choice], given: str) -> Choice:
    """The choice of that name; raises InputError where there is none."""
    if given not in set(kind):
        raise InputError(must_be(name, f"one of {', '.join(kind)}", repr(given)))
    return kind(given)


def one_line(text: str) -> str:
    """The text with line breaks, control characters and undecodable bytes written as escapes."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
