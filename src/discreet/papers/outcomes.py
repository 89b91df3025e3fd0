"""Figures that must be there: the papers' examples are small, so nothing about them is unavailable.

A missing one is a fault of ours and stops the command; it never becomes a value.
"""

from typing import TypeVar

from discreet.compoisson.estimation import NoMaximum
from discreet.figures import Outcome, Unavailable

Found = TypeVar("Found")


def available(found: Found | Unavailable | NoMaximum) -> Found:
    """What was found."""
    if isinstance(found, Unavailable | NoMaximum):
        raise TypeError(found.reason)
    return found


def value_of(outcome: Outcome | None) -> float:
    """The value of a figure."""
    figure = available(outcome)
    if figure is None or figure.value is None:
        raise TypeError("there is no single value")
    return figure.value
