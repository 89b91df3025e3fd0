"""Complaints of the library in the words of the user: the option that was typed."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from discreet.errors import DiscreetError


@contextmanager
def speaking_of(options: Mapping[str, str]) -> Iterator[None]:
    """Name the option where a complaint, `{name} must be …`, names a parameter of the library."""
    try:
        yield
    except DiscreetError as error:
        name, must_be, rest = str(error).partition(" must be ")
        if not must_be or name not in options:
            raise
        raise type(error)(f"{options[name]}{must_be}{rest}") from error
