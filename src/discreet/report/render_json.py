"""Results as JSON: one object, one way to say a figure and one way to say that there is none.

A figure is {"value", "low"?, "high"?, "how", …}, or {"unavailable": reason}; certified bounds of a
count are "lower" and "upper". What was not asked for is left out; nothing is null.
"""

import json
from collections.abc import Callable, Mapping
from enum import Enum
from functools import wraps
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ParamSpec

from discreet.figures import Figure, Unavailable

if TYPE_CHECKING:  # every command loads this module, only some the kernels behind counts
    from discreet.fiber.sums.counting import Count


Given = ParamSpec("Given")
Built = Callable[Given, dict[str, Any]]


def of_kind(kind: str) -> Callable[[Built[Given]], Built[Given]]:
    """JSON that begins with what it is and which version wrote it, so that it can be read back."""

    def told(build: Built[Given]) -> Built[Given]:
        @wraps(build)
        def built(*given: Given.args, **named: Given.kwargs) -> dict[str, Any]:
            own = build(*given, **named)
            return {"kind": kind, "discreet_version": version("discreet"), **own}

        return built

    return told


def as_text(value: Any) -> str:
    """JSON text for people and programs; a number that is none raises ValueError."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)


def known(**values: Any) -> dict[str, Any]:
    """The values that there are."""
    return {name: value for name, value in values.items() if value is not None}


def fields_json(result: Any, *names: str) -> dict[str, Any]:
    """The fields of a result that are known, figures as figures."""
    return known(**{name: _plain(getattr(result, name)) for name in names})


def _plain(value: Any) -> Any:
    if isinstance(value, Figure | Unavailable):
        return value.to_json()
    if isinstance(value, Enum):
        return value.value
    return list(value) if isinstance(value, tuple) else value


def without_nulls(value: Any) -> Any:
    """The same without names whose value is null, however deep."""
    if isinstance(value, Mapping):
        return {name: without_nulls(v) for name, v in value.items() if v is not None}
    return [without_nulls(v) for v in value] if isinstance(value, list | tuple) else value


def count_json(count: "Count") -> dict[str, Any]:
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
