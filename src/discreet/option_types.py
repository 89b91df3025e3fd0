"""Options of a wrong Python type, told in one line: a frame for a number, None for a list.

What each option may be stands in the annotations of its dataclass; so this asks them, and no
options class has to say it twice.
"""

import types
from collections.abc import Collection, Iterable, Mapping
from dataclasses import InitVar
from enum import Enum
from functools import cache
from numbers import Integral, Real
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

from discreet.errors import InputError, must_be

PLAIN = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    type(None): "None",
}


def check_types(
    options: Any, *, untyped: Collection[str] = (), given: Mapping[str, Any] | None = None
) -> None:
    """Every option has a type that its annotation allows, but for those that are `untyped`.

    `given` are options that are not kept, by name. Raises InputError for one of another type.
    """
    hints = _hints(cast(Any, type(options)))
    values = {name: getattr(options, name) for name in hints if name not in (given or {})}
    for name, value in (values | dict(given or {})).items():
        if name not in untyped and not _fits(value, hints[name]):
            raise InputError(must_be(name, _rule(hints[name]), a_kind(value)))


@cache
def _hints(kind: Any) -> dict[str, Any]:
    found = get_type_hints(kind)
    return {
        name: found[name].type if isinstance(found[name], InitVar) else found[name]
        for name in kind.__dataclass_fields__
        if not name.startswith("_")
    }


def _fits(value: Any, hint: Any) -> bool:
    if hint is Any:
        return True
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is None:
        return _is_a(value, hint)
    if issubclass(origin, Mapping):
        return isinstance(value, Mapping)
    if isinstance(value, str):
        return str in inner  # one name for a list of one
    if not isinstance(value, Iterable) or isinstance(value, Mapping) or _is_frame(value):
        return False
    if origin is tuple and inner[-1] is not Ellipsis:
        listed = list(value)
        return len(listed) == len(inner) and all(map(_fits, listed, inner))
    return all(_fits(one, inner[0]) for one in value) if isinstance(value, list | tuple) else True


def _is_a(value: Any, kind: Any) -> bool:
    if kind is bool:
        return isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")
    if kind in (int, float):
        wanted = Integral if kind is int else Real
        return isinstance(value, wanted) and not isinstance(value, bool)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return isinstance(value, str)  # by its name; whether there is such a one is asked elsewhere
    return isinstance(value, kind)


def a_kind(value: Any) -> str:
    """What kind of thing a value is, as a complaint says it: a list, an int."""
    return _article(type(value).__name__)


def _is_frame(value: Any) -> bool:
    return hasattr(type(value), "columns") or hasattr(type(value), "to_frame")


def _rule(hint: Any) -> str:
    """What an option may be, in words."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(_rule(one) for one in inner))
    if origin is None:
        if isinstance(hint, type) and issubclass(hint, Enum):
            return "text"
        return PLAIN.get(hint, _article(getattr(hint, "__name__", str(hint))))
    if issubclass(origin, Mapping):
        return "a dict"
    return {str: "a list of names", int: "a list of whole numbers", float: "a list of numbers"}.get(
        inner[0], "a list"
    )


def _article(name: str) -> str:
    if name == "NoneType":
        return "None"
    return f"an {name}" if name[:1].lower() in "aeiou" else f"a {name}"
