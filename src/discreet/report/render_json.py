"""Results as JSON: one object, one way to say a figure and one way to say that there is none.

A figure is {"value", "low"?, "high"?, "how", …}, or {"unavailable": reason}; certified bounds of a
count are "lower" and "upper". What was not asked for is left out; nothing is null.
"""

import json
from collections.abc import Mapping
from typing import Any

from discreet.fiber.sums.counting import Count


def as_text(value: Any) -> str:
    """JSON text for people and programs; a number that is none raises ValueError."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)


def known(**values: Any) -> dict[str, Any]:
    """The values that there are."""
    return {name: value for name, value in values.items() if value is not None}


def without_nulls(value: Any) -> Any:
    """The same without names whose value is null, however deep."""
    if isinstance(value, Mapping):
        return {name: without_nulls(v) for name, v in value.items() if v is not None}
    return [without_nulls(v) for v in value] if isinstance(value, list | tuple) else value


def count_json(count: Count) -> dict[str, Any]:
    """A number of tables with how it was got, or why it is not known and what it is at least."""
    if count.value is None:
        return known(unavailable=count.note or "not counted", lower=count.at_least or None)
    return known(
        value=count.value,
        how=None if count.how is None else count.how.value,
        standard_error=count.standard_error,
        note=count.note or None,
    )


def probabilities_json(distribution: Mapping[int, float]) -> dict[str, float]:
    """The probability of each count, smallest count first."""
    return {str(count): float(p) for count, p in sorted(distribution.items())}
