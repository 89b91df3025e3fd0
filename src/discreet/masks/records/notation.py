"""How a recoding is written on the command line and in Python: age=bands(5)."""

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from discreet.data.columns import near_match
from discreet.data.hierarchy import Hierarchy
from discreet.errors import InputError, must_be
from discreet.masks.records.recoding import RECODINGS, Recoding, number_of

FIRST = {  # what a rule takes without a name
    "bands": ("width", "start"), "quantiles": ("number",), "top": ("at",), "bottom": ("at",),
    "rare": ("below",), "tree": ("height",), "dates": ("to", "years"),
    "leading": ("characters",), "drop": (),
}  # fmt: skip
LISTED = {"breaks": "at", "merge": "levels"}  # what takes a list of any length
FORMS = (
    "bands(5), breaks(18,30,65), quantiles(4), top(85), top(share=.01), bottom(16), rare(20), "
    "merge(a,b,into=c), tree(2), dates(month), leading(2) or drop"
)
CALL = re.compile(r"\s*([A-Za-z_]+)\s*(?:\((.*)\))?\s*", re.DOTALL)
BEGIN = re.compile(r"=\s*([A-Za-z_]+)\s*\(")  # of a rule; a name of a key may hold brackets
PART = re.compile(r"""\s*(?:([A-Za-z_]+)\s*=\s*)?("(?:[^"]|"")*"|[^,]*?)\s*(?:,|$)""")
WHOLE = ("number", "height", "years", "characters", "digits")


def recoding_of(text: str, trees: Mapping[str, Hierarchy] | None = None) -> Recoding:
    """The recoding that a text such as age=bands(5) says; heights are those of the key's tree.

    The name of the key ends at the equals sign before the rule, so that it may hold another.
    """
    key, rule = _parted(text)
    name, listed, named = called(rule, text)
    if name not in RECODINGS:
        near = near_match(name, list(RECODINGS))
        remedy = f"did you mean {near!r}?" if near else f"such as {FORMS}"
        raise InputError(must_be(f"recoding {text!r}", "a rule", repr(name), remedy=remedy))
    given = _by_name(name, listed, named, text)
    if name == "tree":
        given["tree"] = (trees or {}).get(key)
    try:
        return RECODINGS[name](key=key, **given)  # type: ignore[return-value]
    except TypeError as error:
        raise InputError(must_be(f"recoding {text!r}", f"written as {FORMS}", "another")) from error


def _parted(text: str) -> tuple[str, str]:
    known = (found for found in BEGIN.finditer(text) if found[1].lower() in RECODINGS)
    begins = next(known, None) or BEGIN.search(text)
    place = text.rfind("=") if begins is None else begins.start()
    key, rule = text[: max(place, 0)].strip(), text[place + 1 :]
    if not key:
        raise InputError(must_be("recoding", "KEY=RULE, such as age=bands(5)", repr(text)))
    return key, rule


def called(rule: str, text: str) -> tuple[str, list[str], dict[str, str]]:
    """The name of a rule, what it is given in order, and by name."""
    found = CALL.fullmatch(rule)
    if found is None:
        raise InputError(must_be(f"{text!r}", "written as NAME(PARAMETER,…)", repr(rule)))
    inside, listed, named = found[2] or "", [], {}
    place = 0
    while place < len(inside):
        part = PART.match(inside, place)
        if part is None:
            raise InputError(must_be(f"{text!r}", "written as NAME(PARAMETER,…)", repr(rule)))
        place = part.end()
        value = part[2]
        if value.startswith('"') and value.endswith('"') and len(value) > 1:
            value = value[1:-1].replace('""', '"')
        if part[1] is None:
            listed.append(value)
        else:
            named[part[1]] = value
    return found[1].lower(), listed, named


def _by_name(name: str, listed: list[str], named: Mapping[str, str], text: str) -> dict[str, Any]:
    known = {one.name for one in fields(RECODINGS[name])} - {"key", "tree", "groups", "whole"}
    known -= {LISTED.get(name, "")}
    strange = [one for one in named if one not in known]
    if strange:
        rule = f"one of {', '.join(sorted(known))}" if known else "nothing"
        raise InputError(must_be(f"parameter of {text!r}", rule, repr(strange[0])))
    if name in LISTED:
        values: Any = tuple(listed)
        if name == "breaks":
            values = tuple(_number(one, text) for one in listed)
        return {LISTED[name]: values} | {k: _value(k, v, text) for k, v in named.items()}
    order = FIRST[name]
    if len(listed) > len(order):
        rule = f"given {len(order)} values at most" if order else "given no values"
        raise InputError(must_be(f"{text!r}", rule, len(listed)))
    both = dict(zip(order, listed, strict=False)) | dict(named)
    return {k: _value(k, v, text) for k, v in both.items()}


def _value(name: str, value: str, text: str) -> Any:
    if name in ("into", "to"):
        return value
    if name == "stay":
        return (value,)
    if name == "before_space":
        return value.lower() in ("true", "yes", "1")
    number = _number(value, text)
    if name in WHOLE:
        if not float(number).is_integer():
            raise InputError(must_be(f"{name} in {text!r}", "a whole number", value))
        return int(number)
    return number


def _number(value: str, text: str) -> float:
    number = number_of(value)
    if number is None:
        raise InputError(must_be(f"{text!r}", "written with a number", repr(value)))
    return number
