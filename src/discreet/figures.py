"""A number with how it was got, or the reason why there is none.

Every figure that reaches a user is a `Figure` or an `Unavailable`. NaN, an infinity, or a zero that
means "I don't know" cannot be put into a `Figure`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import Any

from discreet.notebooks import ShownInNotebooks


class How(StrEnum):
    """How a figure was got."""

    EXACT = "exact"
    BOUND = "certified bound"
    ESTIMATE = "estimate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure(ShownInNotebooks):
    """One number for a user, with its uncertainty and how it was got.

    `low` and `high` are limits: certain for `How.BOUND`, else at the stated `confidence`.
    `value` is None only for a bound that names no single value.
    """

    value: float | None
    how: How
    low: float | None = None
    high: float | None = None
    standard_error: float | None = None
    confidence: float | None = None
    note: str = ""

    def __post_init__(self) -> None:
        for name in ("value", "low", "high", "standard_error", "confidence"):
            number = getattr(self, name)
            if number is not None and not math.isfinite(number):
                raise ValueError(f"{name} of a figure must be finite, got {number}")
        if self.value is None and self.how is not How.BOUND:
            raise ValueError(f"a figure must be a number unless it is a bound, got {self.how}")

    def __str__(self) -> str:
        """The number with its limits, and how it was got: 3.2 (1 to 9) [estimate]."""
        return f"{import_module('discreet.report.words').outcome(self)} [{self.how.value}]"

    def to_json(self) -> dict[str, Any]:
        """The figure as JSON: how it was got, and whatever is known of it; nothing is null.

        Limits of an estimate are `low` and `high`, those of a bound, which are certain, `lower` and
        `upper`.
        """
        low, high = ("lower", "upper") if self.how is How.BOUND else ("low", "high")
        found = {
            "value": self.value,
            low: self.low,
            high: self.high,
            "how": self.how.value,
            "standard_error": self.standard_error,
            "confidence": self.confidence,
            "note": self.note or None,
        }
        return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Unavailable(ShownInNotebooks):
    """Why there is no figure, in one sentence for the user."""

    reason: str

    def __str__(self) -> str:
        """The reason, as a user reads it."""
        return f"not available: {self.reason}"

    def to_json(self) -> dict[str, Any]:
        """The reason under the JSON name `unavailable`."""
        return {"unavailable": self.reason}


Outcome = Figure | Unavailable


def outcome_of(data: Mapping[str, Any]) -> Outcome:
    """The figure that JSON says, or the reason why there is none.

    A number too large for a float is unavailable as a figure; it stands in the JSON. Raises
    KeyError, TypeError or ValueError for what is no figure.
    """
    if "unavailable" in data:
        return Unavailable(str(data["unavailable"]))
    named = {name: data.get(name) for name in ("value", "standard_error", "confidence")}
    low, high = data.get("low", data.get("lower")), data.get("high", data.get("upper"))
    try:
        return Figure(
            **named, low=low, high=high, how=How(data["how"]), note=str(data.get("note", ""))
        )
    except OverflowError:
        return Unavailable("too large for a number; the JSON has all its digits")
