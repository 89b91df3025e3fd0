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

import re
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Problem:
    """A complaint in its parts, for programs; `where` and `remedy` are empty where it has none."""

    what: str
    where: str = ""
    remedy: str = ""


class Complaint(str):
    """The sentence of a complaint, which remembers where it sets the place and the remedy apart.

    A value may hold " at " or "; " too, so that the sentence alone does not tell its parts.
    """

    problem: Problem

    @classmethod
    def of(cls, problem: Problem) -> "Complaint":
        """The sentence of the parts."""
        at = f" at {problem.where}" if problem.where else ""
        then = f"; {problem.remedy}" if problem.remedy else ""
        said = cls(one_line(f"{problem.what}{at}{then}"))
        said.problem = problem
        return said


def must_be(
    name: str, rule: str, got: object, *, where: str | None = None, remedy: str | None = None
) -> Complaint:
    """The one sentence of every complaint: what, the rule, what came instead, where, the remedy."""
    return Complaint.of(Problem(f"{name} must be {rule}, got {got}", where or "", remedy or ""))


_QUOTED = re.compile(r"(?<!\w)'[^']*'|\"[^\"]*\"")


def problem_of(said: str) -> Problem:
    """The parts of a complaint; of one that was not made by `must_be`, the remedy after the last
    semicolon that stands in no quotes, and no place."""
    if isinstance(said, Complaint):
        return said.problem
    hidden = _QUOTED.sub(lambda found: "'" * len(found[0]), said)
    at = hidden.rfind("; ")
    return Problem(said) if at < 0 else Problem(said[:at], remedy=said[at + 2 :])


def one_of(name: str, kind: type[Choice], given: str) -> Choice:
    """The choice of that name; raises InputError where there is none."""
    if given not in set(kind):
        raise InputError(must_be(name, f"one of {', '.join(kind)}", repr(given)))
    return kind(given)


def one_line(text: str) -> str:
    """The text with line breaks, control characters and undecodable bytes written as escapes."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
