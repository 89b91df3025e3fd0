"""Counts as whole numbers, and words for what stands there instead; never the value itself."""

from math import isfinite, isnan
from typing import Any

import numpy as np

LARGEST = 2**53  # from which on floats skip whole numbers


def whole(value: Any) -> int | None:
    """The whole number from 0 that a number or a text is; None where it is none."""
    number = _number(value)
    if number is None or not 0 <= number < LARGEST or number != int(number):
        return None
    return int(number)


def what_instead(value: Any) -> str:
    """What a value is that is no whole number from 0."""
    if value is None:
        return "a row without one"
    number = _number(value)
    if number is None:
        return "true or false" if isinstance(value, bool | np.bool_) else "no number"
    if isnan(number):
        return "a row without one"
    if not isfinite(number):
        return "an infinite number"
    if number < 0:
        return "a negative number"
    return "one above 2**53" if number >= LARGEST else "a number with decimals"


def _number(value: Any) -> float | None:
    if isinstance(value, bool | np.bool_) or not isinstance(value, str | int | float | np.number):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
