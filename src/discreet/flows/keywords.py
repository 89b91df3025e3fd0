"""Options of a flow made from keywords, and shown in the help of its function."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar

from discreet.data.columns import near_match
from discreet.errors import InputError, must_be

Options = TypeVar("Options")
Flow = TypeVar("Flow", bound=Callable[..., Any])


def options_of(kind: type[Options], given: Options | None, keywords: Mapping[str, Any]) -> Options:
    """Options made from keywords; where some are given already, those with the keywords replaced.

    Raises InputError for a keyword that no option has, naming the one that was probably meant.
    """
    names = list(inspect.signature(kind).parameters)
    for name in keywords:
        if name not in names:
            raise InputError(_complaint(name, names, f"help(discreet.{kind.__name__})"))
    if given is None:
        return kind(**keywords)
    if not isinstance(given, kind):
        raise InputError(f"options must be {kind.__name__}, got {type(given).__name__}")
    own: Callable[..., Options] | None = getattr(given, "replaced", None)
    return replace(given, **keywords) if own is None else own(**keywords)  # type: ignore[type-var]


def documented_by(
    *kinds: type[Any], renamed: Mapping[str, str] | None = None
) -> Callable[[Flow], Flow]:
    """The function with every option in its signature and its help, where it says **keywords.

    Called with what it does not take, it raises InputError that names what was probably meant;
    `renamed` says what options of old are called.
    """

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
        signature = own.replace(parameters=[*first, *more, *last])

        @wraps(flow)
        def called(*given: Any, **keywords: Any) -> Any:
            _check_call(flow.__name__, signature, given, keywords, renamed or {})
            return flow(*given, **keywords)

        told = [flow.__doc__, *(kind.__doc__ for kind in kinds)]
        called.__doc__ = "\n\n".join(inspect.cleandoc(text) for text in told if text)
        called.__signature__ = signature  # type: ignore[attr-defined]
        return called  # type: ignore[return-value]

    return documented


def _check_call(
    name: str,
    signature: inspect.Signature,
    given: tuple[Any, ...],
    keywords: Mapping[str, Any],
    renamed: Mapping[str, str],
) -> None:
    parameters = signature.parameters
    for word in keywords:
        if word in renamed:
            raise InputError(f"the option {word!r} is now called {renamed[word]}")
        if word not in parameters:
            raise InputError(_complaint(word, list(parameters), f"help(discreet.{name})"))
    by_place = [p.name for p in parameters.values() if p.kind is not p.KEYWORD_ONLY]
    if len(given) > len(by_place):
        rule = f"given {len(by_place)} arguments by place at most"
        got, remedy = f"{len(given)}", "give the others by name"
        raise InputError(must_be(f"discreet.{name}", rule, got, remedy=remedy))
    for word in by_place[: len(given)]:
        if word in keywords:
            raise InputError(must_be(word, "given once", "it by place and by name"))
    for word in by_place[len(given) :]:
        if word not in keywords and parameters[word].default is inspect.Parameter.empty:
            remedy = f"help(discreet.{name}) says what it is"
            raise InputError(must_be(word, "given", "none", remedy=remedy))


def _complaint(name: str, names: list[str], where: str) -> str:
    near = near_match(name, names) or next((one for one in names if name in one.split("_")), None)
    meant = f"did you mean {near!r}?" if near else f"{where} lists them"
    return f"there is no option {name!r}; {meant}"
