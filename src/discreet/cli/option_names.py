"""Complaints of the library in the words of the user: the options that were typed."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import click

from discreet.errors import Complaint, DiscreetError, Problem, problem_of

_NAMED = re.compile(
    r"(?<= )\((\w+(?:, \w+)*)\)"
)  # options that a remedy names: (missing), (n, s1, s2)


@contextmanager
def speaking_of(more: Mapping[str, str] | None = None) -> Iterator[None]:
    """Name the options where a complaint, `{name} must be …; {remedy} ({name})`, names parameters.

    Parameters of the library have the names of the command's options; `more` are others.
    """
    try:
        yield
    except DiscreetError as error:
        options = {**_options(), **(more or {})}
        problem = problem_of(error.args[0] if error.args else "")
        name, must_be, rest = problem.what.partition(" must be ")
        if not must_be:
            raise
        typed = Problem(
            f"{options.get(name, name)}{must_be}{_remedied(rest, options)}",
            _remedied(problem.where, options),
            _remedied(problem.remedy, options),
        )
        raise type(error)(Complaint.of(typed)) from error


def _options() -> dict[str, str]:
    """The options of the command that runs, as they are typed."""
    context = click.get_current_context(silent=True)
    options = [] if context is None else context.command.params
    return {one.name: one.opts[0] for one in options if isinstance(one, click.Option) and one.name}


def _remedied(rest: str, options: Mapping[str, str]) -> str:
    """What follows the rule, with options for the parameters that it names in brackets."""

    def typed(found: re.Match[str]) -> str:
        names = found[1].split(", ")
        if not all(name in options for name in names):
            return found[0]
        return f"({', '.join(options[name] for name in names)})"

    return _NAMED.sub(typed, rest)
