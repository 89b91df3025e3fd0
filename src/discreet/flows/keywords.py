"""Options of a flow made from keywords, and shown in the help of its function."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from discreet.data.columns import near_match
from discreet.errors import InputError

Options = TypeVar("Options")
Flow = TypeVar("Flow", bound=Callable[..., Any])


def options_of(
    kind: type[Options],
    given: Options | None,
    keywords: Mapping[str, Any],
    renamed: Mapping[str, str] | None = None,
) -> Options:
    """Options made from keywords; where some are given already, those with the keywords replaced.

    Raises InputError for a keyword that no option has, naming the one that was probably meant;
    `renamed` says what the options of old are called now.
    """
    names = _names(kind)
    for name in keywords:
        if name not in names:
            raise InputError(_complaint(name, names, renamed or {}))
    if given is None:
        return kind(**keywords)
    if not isinstance(given, kind):
        raise InputError(f"options must be {kind.__name__}, got {type(given).__name__}")
    own: Callable[..., Options] | None = getattr(given, "replaced", None)
    return replace(given, **keywords) if own is None else own(**keywords)  # type: ignore[type-var]


def documented_by(*kinds: type[Any]) -> Callable[[Flow], Flow]:
    """The function with every option in its signature and its help, where it says **keywords."""

    def documented(flow: Flow) -> Flow:
        own = inspect.signature(flow)
        named = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
        options = {n: p for kind in kinds for n, p in inspect.signature(kind).parameters.items()}
        more = [
            option.replace(annotation=inspect.Parameter.empty)  # the text says what each may be
            for option in options.values()
            if option.name not in own.parameters
        ]
        first = [p for p in named if p.kind is not p.KEYWORD_ONLY]
        last = [p for p in named if p.kind is p.KEYWORD_ONLY]
        told = [flow.__doc__, *(kind.__doc__ for kind in kinds)]
        flow.__doc__ = "\n\n".join(inspect.cleandoc(text) for text in told if text)
        flow.__signature__ = own.replace(parameters=[*first, *more, *last])  # type: ignore[attr-defined]
        return flow

    return documented


def _names(kind: type[Any]) -> list[str]:
    return list(inspect.signature(kind).parameters)


def _complaint(name: str, names: list[str], renamed: Mapping[str, str]) -> str:
    if name in renamed:
        return f"the option {name!r} is now called {renamed[name]}"
    near = near_match(name, names)
    meant = f"did you mean {near!r}?" if near else f"there are {', '.join(names)}"
    return f"there is no option {name!r}; {meant}"
