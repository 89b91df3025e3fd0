"""Figures that a row needs: where one cannot be had, the row says why instead.

A missing figure never becomes a value, and never takes other rows with it.
"""

from typing import TypeVar

from discreet.count_tables.com_poisson.estimation import NoMaximum
from discreet.fiber.sums.counting import Count
from discreet.figures import Outcome, Unavailable
from discreet.papers.rows import NotComputedError

Found = TypeVar("Found")


def available(found: Found | Unavailable | NoMaximum) -> Found:
    """What was found. Raises NotComputedError with the reason where there is nothing."""
    if isinstance(found, Unavailable | NoMaximum):
        raise NotComputedError(found.reason)
    return found


def value_of(outcome: Outcome | None) -> float:
    """The value of a figure."""
    figure = available(outcome)
    if figure is None or figure.value is None:
        raise NotComputedError("there is no single value")
    return figure.value


def number_of(tables: Count) -> int:
    """How many tables were counted."""
    if tables.value is None:
        raise NotComputedError(tables.note or "the tables could not be counted")
    return tables.value
