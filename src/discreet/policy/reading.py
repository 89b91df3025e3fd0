"""Policies read from TOML files, and written to them.

A file is read whole or not at all: a rule that does not exist, a word too many, a number that no
figure can have, two limits on one figure or a format of a later version are errors that name the
line, and nothing is judged by what is left.
"""

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING
from difflib import get_close_matches
from functools import cache
from importlib import resources
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from discreet.data.toml_text import toml_value
from discreet.errors import FileError, InputError, must_be, one_line, problem_of
from discreet.policy import count_rules, record_rules, table_rules
from discreet.policy.policy import FORMAT, Policy
from discreet.policy.rule import Rule, Subject

RULES: Mapping[str, type[Rule]] = {
    rule.name: rule for rule in (*record_rules.RULES, *table_rules.RULES, *count_rules.RULES)
}
LARGEST = 1 << 20  # bytes of a file
MOST = 10**9  # that a whole number beside a limit may be
LONGEST_SHOWN, MOST_SHOWN = 60, 10**30  # characters and digits of what a complaint repeats
TEXTS, LISTS = ("name", "version", "source", "words", "mask"), ("reports_k", "not_judged")
DEFAULTS = ("small", "confidence")  # of all rules on tables that do not say it themselves
KEYS = ("format", *TEXTS, *LISTS, *DEFAULTS, "rules")
OLD_MEASURES = ("bounds", "table", "cells")  # what audit once called a policy
NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")


def policies_of(given: Any) -> tuple[Policy, ...]:
    """The policies that are named, by a name, a path or as they are; one or several."""
    if given is None:
        return ()
    several = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    found = tuple(policy_of(one) for one in several)
    names = [one.name for one in found]
    for name in names:
        if names.count(name) > 1:
            raise InputError(must_be("policy", "each named once", f"{name!r} twice"))
    return found


def policy_of(given: Any) -> Policy:
    """The policy of that name, or in that file; raises InputError where there is none."""
    if isinstance(given, Policy):
        return given
    if not isinstance(given, str | Path):
        rule = "the name of a policy, a file or a Policy"
        raise InputError(must_be("policy", rule, f"a {type(given).__name__}"))
    text = str(given)
    if text in preset_names():
        return preset(text)
    if "/" in text or text.endswith(".toml") or Path(text).is_file():
        return read_policy(text)
    near = get_close_matches(text, preset_names(), n=1)
    remedy = f"did you mean {near[0]!r}?" if near else "`discreet policies` lists them"
    if text in OLD_MEASURES:
        remedy = f"{text!r} is what a limit is on, which has an option of its own now (measure)"
    raise InputError(must_be("policy", "the name of a policy or a file", repr(text), remedy=remedy))


@cache
def preset_names() -> tuple[str, ...]:
    """The names of the policies that come with Discreet."""
    folder = resources.files("discreet.policy") / "presets"
    return tuple(
        sorted(
            one.name.removesuffix(".toml") for one in folder.iterdir() if one.name.endswith(".toml")
        )
    )


@cache
def preset(name: str) -> Policy:
    """A policy that comes with Discreet."""
    file = resources.files("discreet.policy") / "presets" / f"{name}.toml"
    return parse_policy(file.read_text(encoding="utf-8"), name)


def read_policy(path: str | Path) -> Policy:
    """The policy in a file; raises FileError or InputError that names the file and the line."""
    name = Path(path).name
    if "\0" in str(path):
        raise FileError(must_be("policy", "a file", _shown(str(path))))
    try:
        if Path(path).stat().st_size > LARGEST:
            raise FileError(must_be(name, f"at most {LARGEST:,} bytes long", "more"))
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        where = f"{name}, line {error.object[: error.start].count(10) + 1}"
        raise FileError(must_be(name, "text in UTF-8", "something else", where=where)) from error
    except OSError as error:
        raise FileError(must_be(f"policy {name!r}", "readable", error.strerror)) from error
    return parse_policy(text, name)


def parse_policy(text: str, where: str = "policy") -> Policy:
    """The policy that a text says; `where` names the text in complaints."""
    lines = _Lines(text, where)
    data = _toml_data(text, where)
    _check_format(data, lines)
    for key in data:
        if key not in KEYS:
            raise InputError(
                must_be("policy", f"made of {', '.join(KEYS)}", repr(key), where=lines.of(key),
                        remedy=_near(key, KEYS))
            )  # fmt: skip
    texts = {name: _text(data, name, lines) for name in TEXTS}
    if not NAME.fullmatch(texts["name"]):
        rule = "a name of small letters, digits, dots, dashes"
        raise InputError(must_be("name", rule, repr(texts["name"]), where=lines.of("name")))
    _check_defaults(data, lines)
    rules = _rules(data, lines)
    _check_used(data, rules, lines)
    reports = _list(data, "reports_k", int, lines)
    not_judged = _list(data, "not_judged", str, lines)
    if not rules and not reports:
        raise InputError(must_be("policy", "of one rule at least", "none", where=where))
    try:
        return Policy(**texts, rules=rules, reports_k=reports, not_judged=not_judged)
    except InputError as error:  # two rules on one figure
        twice = _second(rules)
        raise _placed(error, lines.of_rule(twice)) from error


def _toml_data(text: str, where: str) -> dict[str, Any]:
    """What TOML says; raises FileError that names the line."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"line (\d+)", str(error))
        what = str(error).partition(" (at")[0]
        line = int(at[1]) if at else _of_open_quote(text)
        place = f"{where}, line {line}"
        raise FileError(must_be(where, "TOML", what[:1].lower() + what[1:], where=place)) from error
    except (ValueError, RecursionError) as error:  # a number of too many digits, or lists in lists
        got = "a number or a list that nobody can mean"
        raise FileError(must_be(where, "TOML", got, where=where)) from error


def _of_open_quote(text: str) -> int:
    """The line of the quote that was never closed, where a text ends too soon; else its last."""
    lines = text.splitlines() or [""]
    odd = (place for place, line in enumerate(lines, start=1) if line.count("'") % 2)
    return next(odd, len(lines))


def _check_format(data: Mapping[str, Any], lines: "_Lines") -> None:
    given = data.get("format")
    if not isinstance(given, int) or isinstance(given, bool) or given < 1:
        got = "none" if given is None else _shown(given)
        remedy = f"this Discreet writes format = {FORMAT}"
        raise InputError(
            must_be("format", "a whole number", got, where=lines.of("format"), remedy=remedy)
        )
    if given > FORMAT:
        remedy = "the file was written for a later Discreet: take that one"
        raise InputError(
            must_be(
                "format",
                f"at most {FORMAT}",
                _shown(given),
                where=lines.of("format"),
                remedy=remedy,
            )
        )


def _check_defaults(data: Mapping[str, Any], lines: "_Lines") -> None:
    small, sure = data.get("small", 1), data.get("confidence", 0.5)
    if not isinstance(small, int) or isinstance(small, bool) or small < 1:
        rule = "a whole number of at least 1"
        raise InputError(must_be("small", rule, _shown(small), where=lines.of("small")))
    if isinstance(sure, bool) or not isinstance(sure, int | float) or not 0 <= sure < 1:
        rule = "from 0 to below 1"
        raise InputError(must_be("confidence", rule, _shown(sure), where=lines.of("confidence")))


def _check_used(data: Mapping[str, Any], rules: Sequence[Rule], lines: "_Lines") -> None:
    """Nothing is said of all rules on tables that none of them asks for."""
    asked = {field.name for rule in rules for field in rule.own_fields() if _takes_defaults(rule)}
    for name in DEFAULTS:
        if name in data and name not in asked:
            rule = "given where a rule on tables asks for it"
            raise InputError(must_be(name, rule, "no such rule", where=lines.of(name)))


def _takes_defaults(rule: Rule | type[Rule]) -> bool:
    return rule.subject is Subject.TABLES


def _text(data: Mapping[str, Any], name: str, lines: "_Lines") -> str:
    value = data.get(name, "")
    if not isinstance(value, str):
        raise InputError(must_be(name, "text", _shown(value), where=lines.of(name)))
    said = " ".join(value.split())
    if name in ("name", "version") and not said:
        raise InputError(must_be(name, "given", "none", where=lines.of(name)))
    return said


def _list(data: Mapping[str, Any], name: str, kind: type, lines: "_Lines") -> tuple[Any, ...]:
    value = data.get(name, [])
    fits = isinstance(value, list) and all(type(one) is kind for one in value)
    if not fits or (kind is int and any(one < 2 for one in value)):
        rule = "a list of texts" if kind is str else "a list of whole numbers of at least 2"
        raise InputError(must_be(name, rule, _shown(value), where=lines.of(name)))
    return tuple(value)


def _rules(data: Mapping[str, Any], lines: "_Lines") -> tuple[Rule, ...]:
    given = data.get("rules", [])
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        rule = "tables that begin with [[rules]]"
        raise InputError(must_be("rules", rule, "something else", where=lines.of("rules")))
    shared = {name: data[name] for name in DEFAULTS if name in data}
    return tuple(_rule(one, shared, lines, place) for place, one in enumerate(given))


def _rule(data: Mapping[str, Any], shared: Mapping[str, Any], lines: "_Lines", place: int) -> Rule:
    name = str(data.get("rule", ""))
    if name not in RULES:
        got, remedy = _shown(name) if name else "none", _near(name, tuple(RULES))
        rule = "the name of a rule" if remedy else f"one of {', '.join(RULES)}"
        where = lines.of_rule(place, "rule")
        raise InputError(must_be("rule", rule, got, where=where, remedy=remedy))
    kind = RULES[name]
    limits, own = kind.limits_written(), {one.name: one for one in kind.own_fields()}
    known = ("rule", *limits, *own, "secret")
    for key in data:
        if key not in known:
            where = lines.of_rule(place, key)
            rule = f"made of {', '.join(known)}"
            raise InputError(
                must_be(name, rule, _shown(key), where=where, remedy=_near(key, known))
            )
    defaults = shared if _takes_defaults(kind) else {}
    values = {key: value for key, value in defaults.items() if key in own}
    values |= {key: value for key, value in data.items() if key in own}
    for key, one in own.items():
        if key not in values and one.default is MISSING:
            raise InputError(must_be(key, f"given for {name}", "none", where=lines.of_rule(place)))
    values = {key: _typed(kind, key, value, lines, place) for key, value in values.items()}
    secret = data.get("secret", False)
    if not isinstance(secret, bool):
        where = lines.of_rule(place, "secret")
        raise InputError(must_be("secret", "true or false", _shown(secret), where=where))
    limit = _limit(data, name, limits, lines, place)
    try:
        return kind(**values, **limit, secret=secret)
    except InputError as error:
        key = problem_of(error.args[0]).what.partition(" must be ")[0]
        raise _placed(error, lines.of_rule(place, key)) from error


def _limit(
    data: Mapping[str, Any],
    name: str,
    limits: Mapping[str, bool],
    lines: "_Lines",
    place: int,
) -> dict[str, Any]:
    """The limit of a rule, given once in one of its ways."""
    if not limits:
        return {}
    given = [word for word in limits if word in data]
    if len(given) != 1:
        got = " and ".join(given) or "none"
        rule = f"limited once, by {' or '.join(limits)}"
        raise InputError(must_be(name, rule, got, where=lines.of_rule(place)))
    value = data[given[0]]
    if not _is_number(value):
        where = lines.of_rule(place, given[0])
        raise InputError(must_be(given[0], "a number", _shown(value), where=where))
    return {"limit": float(value), "strict": limits[given[0]]}


def _is_number(value: Any) -> bool:
    """A finite number that a float can hold, which true and false are not."""
    try:
        plain = isinstance(value, int | float) and not isinstance(value, bool)
        return plain and math.isfinite(float(value))
    except OverflowError:
        return False


def _typed(kind: type[Rule], key: str, value: Any, lines: "_Lines", place: int) -> Any:
    """A value of the type that the rule has for it; a list becomes a tuple."""
    hint = get_type_hints(kind)[key]
    where = lines.of_rule(place, key)
    if get_origin(hint) is tuple:
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise InputError(must_be(key, "a list of texts", _shown(value), where=where))
        return tuple(value)
    if not _fits(value, hint):
        raise InputError(must_be(key, _wanted(hint), _shown(value), where=where))
    if isinstance(value, str):
        value = " ".join(value.split())
        if not value:
            raise InputError(must_be(key, "given", "none", where=where))
    if isinstance(value, int) and not isinstance(value, bool) and not 1 <= value <= MOST:
        raise InputError(must_be(key, f"from 1 to {MOST:,}", _shown(value), where=where))
    if key == "confidence" and not 0 <= value < 1:
        raise InputError(must_be(key, "from 0 to below 1", _shown(value), where=where))
    return float(value) if hint is float else value


def _fits(value: Any, hint: Any) -> bool:
    if get_origin(hint) in (Union, UnionType):
        return any(_fits(value, one) for one in get_args(hint))
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    if isinstance(value, bool) or hint is bool:
        return isinstance(value, bool) and hint is bool
    return _is_number(value) if hint is float else isinstance(value, hint)


def _wanted(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return f"one of {', '.join(get_args(hint))}"
    names = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}
    options = get_args(hint) or (hint,)
    return " or ".join(names[one] for one in options if one in names)


def _shown(value: Any) -> str:
    """A value in a complaint, cut where it is long."""
    if isinstance(value, int) and abs(value) > MOST_SHOWN:
        return "a number of many digits"
    said = repr(value)
    return said if len(said) <= LONGEST_SHOWN else f"{said[:LONGEST_SHOWN]}…"


def _near(word: str, words: Sequence[str]) -> str | None:
    near = get_close_matches(word[:LONGEST_SHOWN], words, n=1)
    return f"did you mean {near[0]!r}?" if near else None


def _second(rules: Sequence[Rule]) -> int:
    """The place of the first rule that limits what one before it does."""
    seen: set[Any] = set()
    for place, rule in enumerate(rules):
        if rule.identity in seen:
            return place
        seen.add(rule.identity)
    return 0


def _placed(error: InputError, where: str) -> InputError:
    """A complaint with the line that it is about."""
    problem = problem_of(error.args[0])
    name, _, rest = problem.what.partition(" must be ")
    rule, _, got = rest.rpartition(", got ")
    return InputError(must_be(name, rule, got, where=where, remedy=problem.remedy or None))


# Texts of several lines, whose lines are no keys; what else holds quotes is passed over.
_LONG_TEXT = re.compile(
    r"#[^\n]*|(?P<long>\"{3}.*?\"{3}|'{3}.*?'{3})|\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*'", re.DOTALL
)


def _only_breaks(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n") if found["long"] else found[0]


class _Lines:
    """Where the parts of a file stand, for complaints: TOML itself does not tell."""

    def __init__(self, text: str, where: str) -> None:
        self.where = where
        self.lines = _LONG_TEXT.sub(_only_breaks, text).split("\n")
        self.headers = [
            i for i, line in enumerate(self.lines) if re.match(r"\s*\[\[\s*rules\s*\]\]", line)
        ]

    def of(self, key: str) -> str:
        """The line of a key before the first rule, or of a table of that name."""
        end = self.headers[0] if self.headers else len(self.lines)
        found = self._find(key, 0, end)
        return self._at(self._find_table(key) if found is None else found)

    def of_rule(self, place: int, key: str | None = None) -> str:
        """The line of a rule, or of a key in it."""
        if place >= len(self.headers):  # rules = [{…}], on a line of their own
            return self.of("rules")
        first = self.headers[place]
        last = self.headers[place + 1] if place + 1 < len(self.headers) else len(self.lines)
        found = None if key is None else self._find(key, first, last)
        return self._at(first if found is None else found)

    def _find(self, key: str, first: int, last: int) -> int | None:
        pattern = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[=.]")
        return next((i for i in range(first, last) if pattern.match(self.lines[i])), None)

    def _find_table(self, key: str) -> int | None:
        pattern = re.compile(rf"\s*\[+\s*[\"']?{re.escape(key)}[\"']?\s*[].]")
        return next((i for i, line in enumerate(self.lines) if pattern.match(line)), None)

    def _at(self, line: int | None) -> str:
        return self.where if line is None else f"{self.where}, line {line + 1}"


def policy_text(policy: Policy) -> str:
    """The policy as a file has it."""
    data = policy.to_data()
    rules = data.pop("rules", [])
    parts = ["\n".join(f"{key} = {toml_value(value)}" for key, value in data.items())]
    for rule, given in zip(policy.rules, rules, strict=True):
        own = "\n".join(f"{key} = {toml_value(value)}" for key, value in given.items())
        parts.append(f"# {one_line(rule.said())}\n[[rules]]\n{own}")
    return "\n\n".join(parts) + "\n"
