"""Results read back from their JSON: the same names, figures as figures, the verdict as one."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import FileError, InputError, must_be
from discreet.figures import Outcome
from discreet.figures import outcome_of as read_outcome
from discreet.notebooks import Result
from discreet.policy.verdict import Judged, PolicyId, Ruling, Verdict
from discreet.report import words
from discreet.report.document import Document, Section, Table, Text
from discreet.report.result_tables import is_outcome, main_figures
from discreet.report.verdict import verdict_section

MOST_SHOWN = 12  # figures on the terminal
LARGEST = 1 << 30  # bytes of a file that is read


class ReadObject(Mapping[str, Any]):
    """An object of a result's JSON: `found["risk"]` gives its JSON, `found.risk` what it means."""

    __slots__ = ("_data",)

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data

    def __getitem__(self, name: str) -> Any:
        return self._data[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self._data:
            raise AttributeError(f"this result has no {name!r}; it has {', '.join(self._data)}")
        return meaning(self._data[name])

    def __dir__(self) -> list[str]:
        return [*self._data]

    def __getstate__(self) -> Mapping[str, Any]:
        return self._data

    def __setstate__(self, data: Mapping[str, Any]) -> None:
        self._data = data

    def __repr__(self) -> str:
        return f"<{', '.join(self._data)}>"


@dataclass(frozen=True, slots=True, repr=False)
class ReadResult(Result):
    """A result that was read: its figures under their JSON names, as attributes.

    `kind` says what it is a result of, `discreet_version` which version wrote it. A figure is a
    Figure or an Unavailable, the verdict a Verdict; `to_json()` gives the JSON as it was.
    """

    data: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """What it is a result of: assess, audit, choose, counts and so on."""
        return str(self.data["kind"])

    def __getitem__(self, name: str) -> Any:
        return self.data[name]

    def __getattr__(self, name: str) -> Any:
        return getattr(ReadObject(self.data), name)

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *self.data]


def read_result(source: str | Path | Mapping[str, Any]) -> ReadResult:
    """The result in a JSON file, in JSON text or in what `to_json()` gave.

    Raises InputError where it is none that Discreet wrote.
    """
    data = source if isinstance(source, Mapping) else _parsed(source)
    lacking = [name for name in ("kind", "discreet_version") if name not in data]
    if lacking:
        rule = "the JSON of a result, from --json or to_json()"
        raise InputError(must_be("source", rule, f"one without {lacking[0]!r}"))
    return ReadResult(data)


def _parsed(source: Any) -> Mapping[str, Any]:
    if not isinstance(source, str | Path):
        rule = "a path, JSON text or a mapping"
        raise InputError(must_be("source", rule, type(source).__name__))
    is_text = isinstance(source, str) and source.lstrip().startswith("{")
    name, text = ("source", str(source)) if is_text else (str(source), _text(Path(source)))
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileError(must_be(name, "JSON", "something else")) from error
    if not isinstance(data, Mapping):
        raise FileError(must_be(name, "one JSON object", f"a {type(data).__name__}"))
    return data


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST:
            raise FileError(must_be(str(path), f"at most {LARGEST:,} bytes long", "more"))
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise FileError(must_be(str(path), "a readable file", error.strerror)) from error


def meaning(value: Any) -> Any:
    """What JSON says: a figure, a verdict, an object with attributes, or the value itself."""
    if is_outcome(value):
        return outcome_of(value)
    if isinstance(value, Mapping):
        return verdict_of(value) if {"verdict", "rules"} <= set(value) else ReadObject(value)
    return tuple(meaning(one) for one in value) if isinstance(value, list | tuple) else value


def outcome_of(value: Mapping[str, Any]) -> Outcome:
    """The figure that JSON says, or the reason why there is none."""
    try:
        return read_outcome(value)
    except (KeyError, TypeError, ValueError) as error:
        raise _no_result("a figure that is none") from error


def verdict_of(value: Mapping[str, Any]) -> Verdict:
    """The verdict that JSON says."""
    try:
        rules = tuple(
            Judged(
                rule=rule["rule"],
                ruling=Ruling(rule["verdict"]),
                value=outcome_of(rule["value"]),
                limit=rule["limit"],
                words=rule.get("words", ""),
                concerns=tuple(rule.get("concerns", ())),
                remedy=rule.get("remedy", ""),
                policy=rule.get("policy", ""),
                secret=bool(rule.get("secret", False)),
            )
            for rule in value["rules"]
        )
        policies = tuple(
            PolicyId(name=one["name"], version=one["version"], hash=one["hash"])
            for one in value.get("policies", ())
        )
    except (KeyError, TypeError, ValueError) as error:
        raise _no_result("a verdict that is none") from error
    return Verdict(rules=rules, policies=policies, notes=tuple(value.get("notes", ())))


def _no_result(got: str) -> InputError:
    return InputError(must_be("source", "the JSON of a result", got))


def read_json(found: ReadResult) -> dict[str, Any]:
    """The JSON as it was read."""
    return dict(found.data)


def read_document(found: ReadResult) -> Document:
    """The verdict, if there is one, and every figure with a name of its own."""
    judged = meaning(found.data.get("verdict"))
    figures = [(name, _words(value)) for name, value in main_figures(found.data)]
    table = Table(header=("figure", "value"), rows=tuple(figures), sides="ll", most=MOST_SHOWN)
    return Document(
        title=f"A result of {found.kind}, read from JSON",
        scope=(f"written by Discreet {found.data['discreet_version']}",),
        mark="confidential",
        blocks=(
            *([verdict_section(judged)] if isinstance(judged, Verdict) else []),
            Section("Figures", (table,) if figures else (Text("none"),)),
        ),
    )


def _words(value: Any) -> str:
    return words.outcome(outcome_of(value)) if isinstance(value, Mapping) else words.expected(value)
