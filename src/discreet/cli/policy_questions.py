"""The questions that `discreet policies new` asks, and the file that it writes.

Every answer is checked when it is given, by the rule that it becomes: a wrong one is told why and
asked again. Questions go to stderr, so that stdout has the policy alone. Nothing is written before
the last answer.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import click

from discreet.cli.console import say
from discreet.errors import InputError, OutputError, must_be
from discreet.policy import count_rules, record_rules, table_rules
from discreet.policy.policy import Policy
from discreet.policy.reading import NAME, preset_names
from discreet.policy.rule import Rule, Subject

Answer = TypeVar("Answer")
SKIP = " (Enter for no such rule)"
LONGEST_NAME = 60


def asked_policy(name: str = "") -> Policy:
    """The policy that the answers make; `name` is proposed where it can be one."""
    about = _ask("Is it about records, tables or counts?", "tables", _subject)
    proposed = name if NAME.fullmatch(name) and name not in preset_names() else "my-policy"
    named = _ask("Its name", proposed, _name)
    version = _ask("Its version", "1", _one_line)
    source = _ask("Where it comes from: document and section (Enter for none)", "", _any_line)
    rules: tuple[Rule, ...] = ()
    while not rules:
        rules = tuple(QUESTIONS[about]())
        if not rules:
            say("A policy must have a rule: answer one of these questions with a number.")
    if any(rule.limits_written() for rule in rules) and _yes(
        "Are these numbers secret, so that no report for readers outside may have them?", "no"
    ):
        rules = tuple(_secret(rule) for rule in rules)
    return Policy(name=named, version=version, source=source, rules=rules)


def _of_records() -> Iterator[Rule]:
    yield from _rule(
        "The least number of records that may share a combination of keys (k)",
        lambda text: record_rules.MinK(limit=_number(text)),
    )
    yield from _rule(
        "The largest risk of a record, from 0 to 1",
        lambda text: record_rules.MaxRisk(limit=_number(text)),
    )
    yield from _rule(
        "The largest share of the records that an intruder may be expected to match, as 3 %",
        lambda text: record_rules.CorrectMatches(limit=_share(text), share=True),
    )


def _of_tables() -> Iterator[Rule]:
    asked = "The smallest count that may be shown"
    printed = list(_rule(asked, lambda text: table_rules.PrintedCounts(limit=_number(text))))
    if printed:
        least = printed[0].limit
        zeros: table_rules.Zeros = (
            "allowed" if _yes("May a count of 0 be shown?", "yes") else "refused"
        )
        yield table_rules.PrintedCounts(limit=least, zeros=zeros)
        if _yes("Must it hold too for what can be worked out from all that is out?", "yes"):
            yield table_rules.DerivedCounts(limit=least, zeros=zeros)
    yield from _rule(
        "The base that every figure is rounded to",
        lambda text: table_rules.Rounded(limit=_number(text)),
    )
    if not _yes("May a whole row stand in one cell, which tells that of everybody in it?", "yes"):
        yield table_rules.Groups()


def _of_counts() -> Iterator[Rule]:
    yield from _rule(
        "The largest probability that the best guess of the table is right, from 0 to 1",
        lambda text: count_rules.BestGuess(limit=_number(text)),
    )
    asked = "The largest probability of the true count of a value, from 0 to 1"
    single = list(_rule(asked, lambda text: count_rules.CountRisk(limit=_number(text))))
    if single:
        limit = single[0].limit
        only = "Only of values that at most so many have (Enter for all values)"
        yield _ask(
            only, "", lambda text: count_rules.CountRisk(limit=limit, small=_whole_or_none(text))
        )
    yield from _rule(
        "The least entropy of the table, in bits",
        lambda text: count_rules.Entropy(limit=_number(text)),
    )


QUESTIONS: dict[Subject, Callable[[], Iterator[Rule]]] = {
    Subject.RECORDS: _of_records,
    Subject.TABLES: _of_tables,
    Subject.COUNTS: _of_counts,
}


def _ask(question: str, default: str, read: Callable[[str], Answer]) -> Answer:
    """The answer as `read` takes it; one that it refuses is told why and asked again."""
    while True:
        shown = f"{question} [{default}]" if default else question
        text = click.prompt(shown, default=default, show_default=False, err=True)
        try:
            return read(str(text).strip())
        except InputError as error:
            say(f"  {error}")


def _rule(question: str, read: Callable[[str], Rule]) -> Iterator[Rule]:
    """The rule that an answer makes; none for an empty one."""
    found = _ask(question + SKIP, "", lambda text: read(text) if text else None)
    if found is not None:
        yield found


def _yes(question: str, default: str) -> bool:
    words = {"yes": True, "y": True, "no": False, "n": False}

    def read(text: str) -> bool:
        if text.lower() not in words:
            raise InputError(must_be("the answer", "yes or no", repr(text)))
        return words[text.lower()]

    return _ask(question, default, read)


def _subject(text: str) -> Subject:
    if text.lower() not in set(Subject):
        raise InputError(must_be("the answer", f"one of {', '.join(Subject)}", repr(text)))
    return Subject(text.lower())


def _name(text: str) -> str:
    if not NAME.fullmatch(text) or len(text) > LONGEST_NAME:
        rule = f"small letters, digits, dots and dashes, {LONGEST_NAME} at most"
        raise InputError(must_be("the name", rule, repr(text[:LONGEST_NAME])))
    if text in preset_names():
        raise InputError(must_be("the name", "one that no policy of Discreet has", repr(text)))
    return text


def _one_line(text: str) -> str:
    if not text:
        raise InputError(must_be("the answer", "given", "none"))
    return _any_line(text)


def _any_line(text: str) -> str:
    return " ".join(text.split())


def _number(text: str) -> float:
    """A number; a comma may be the decimal mark, an infinity or NaN is none."""
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        value = float("nan")
    if value - value != 0:
        raise InputError(must_be("the answer", "a number", repr(text)))
    return value


def _share(text: str) -> float:
    """A share from 0 to 1, or in percent."""
    value = _number(text[:-1].strip()) / 100 if text.endswith("%") else _number(text)
    if not 0 <= value <= 1:
        raise InputError(must_be("the answer", "from 0 to 1, or from 0 % to 100 %", repr(text)))
    return value


def _whole_or_none(text: str) -> int | None:
    if not text:
        return None
    value = _number(text)
    if value != int(value):
        raise InputError(must_be("the answer", "a whole number", repr(text)))
    return int(value)


def _secret(rule: Rule) -> Rule:
    return replace(rule, secret=True) if rule.limits_written() else rule


def check_new_file(path: Path) -> None:
    """Raises OutputError unless the file can be a new one that ends in .toml."""
    rule = "a new file that ends in .toml"
    if path.suffix != ".toml":
        raise OutputError(must_be("--write", rule, repr(path.name)))
    if path.exists() or path.is_symlink():
        raise OutputError(must_be("--write", rule, f"{path.name!r}, which is there already"))
    if not path.parent.is_dir():
        raise OutputError(must_be("--write", rule, f"{str(path)!r}, whose folder does not exist"))


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet, whole or not at all, and say so."""
    try:
        stream = path.open("x", encoding="utf-8")
    except OSError as error:  # made by somebody else meanwhile, or not writable
        raise OutputError(must_be(str(path), "writable", error.strerror or "an error")) from error
    try:
        with stream:
            stream.write(text)
    except BaseException as error:
        with contextlib.suppress(OSError):
            path.unlink()
        if isinstance(error, OSError):
            raise OutputError(must_be(str(path), "writable", error.strerror)) from error
        raise
    say(f"written: {path}; `discreet policies check {path}` shows what it says")
