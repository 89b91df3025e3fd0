"""Policies in words: all that come with Discreet, and one in full."""

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from discreet.policy.policy import COMMANDS, Policy
from discreet.policy.rule import Rule, Subject
from discreet.policy.rule_words import number_of
from discreet.policy.verdict import Verdict
from discreet.report import words
from discreet.report.document import Block, Document, Section, Table, Text
from discreet.report.render_json import known, of_kind
from discreet.report.verdict import next_section, remedies, verdict_section

TITLE = "Policies that come with Discreet"
NONE_ON_COUNTS = "None comes with Discreet; `discreet policies new` writes one."
SHOW = "discreet policies show NAME says all of one; --policy NAME judges by it."
NEW = "discreet policies new writes one of your own."
SECRET = "secret: its number stands in no report for readers outside"
EXAMPLES = {
    Subject.RECORDS: "discreet assess FILE --keys age,sex",
    Subject.TABLES: "discreet audit FILE --release age,sex",
    Subject.COUNTS: "discreet counts FILE --column visits",
}
OF_SENSITIVE = ("l", "c", "t", "alpha")  # rules that ask for --sensitive


def policies_document(policies: Sequence[Policy]) -> Document:
    """All policies by what they are about: name, rules in a few words, source."""
    return Document(
        title=TITLE,
        scope=(SHOW, NEW),
        blocks=tuple(Section(*_of_subject(subject, policies)) for subject in Subject),
    )


def judged_document(name: str, verdict: Verdict | None) -> Document:
    """What policies say of a finished result."""
    said = Section("Not judged", (Text("These policies report, and set no limit."),))
    return Document(
        title=f"{name}, judged once more",
        mark="confidential",
        blocks=(
            said if verdict is None else verdict_section(verdict),
            next_section(() if verdict is None else remedies(verdict)),
        ),
    )


@of_kind("judge")
def judged_json(name: str, verdict: Verdict | None) -> dict[str, Any]:
    """The verdict, under the name that every command has for it."""
    return known(source=name, verdict=None if verdict is None else verdict.to_json())


def _of_subject(subject: Subject, policies: Sequence[Policy]) -> tuple[str, tuple[Block, ...]]:
    title = f"{subject.value.capitalize()} ({COMMANDS[subject]})"
    own = [one for one in policies if subject in one.subjects]
    if not own:
        return title, (Text(NONE_ON_COUNTS),)
    rows = tuple(row for one in own for row in ((one.name, brief(one)), ("", one.source)))
    return title, (Table(header=("", ""), rows=rows, sides="ll"),)


def brief(policy: Policy) -> str:
    """Its rules in a few words."""
    parts = [_few_words(rule) for rule in policy.rules]
    if policy.reports_k:
        listed = words.listed([str(k) for k in policy.reports_k])
        parts.append(f"reports records below k = {listed}; no limit")
    return words.full("; ".join(parts))


def _few_words(rule: Rule) -> str:
    """A rule that a shipped policy has, in fewer words than its sentence."""
    limit = number_of(rule.limit)
    match rule.name:
        case "printed_counts":
            return f"{_counts(rule)} not printed"
        case "derived_counts":
            return f"{_counts(rule)} not to be worked out"
        case "rounded":
            return f"figures rounded to {limit}"
        case "population_of_keys":
            kind = {1: "value", 2: "pair", 3: "triple"}[getattr(rule, "keys", 1)]
            return f"every {kind} of keys ≥ {limit} in the population"
        case "population_of_column":
            return f"every {getattr(rule, 'role', '')} {'>' if rule.strict else '≥'} {limit} people"
        case "household_pattern":
            return f"household pattern ≥ {limit}"
        case _:
            said = rule.said().rstrip(".")
            return said[:1].lower() + said[1:]


def _counts(rule: Rule) -> str:
    first, last = 0 if getattr(rule, "zeros", "") == "refused" else 1, getattr(rule, "small", 0)
    return f"counts {first}–{last}" if last > first else f"counts of {first}"


def policy_document(policy: Policy, given: str = "", *, title: str = "") -> Document:
    """One policy in full; `given` is how it was named, for the example."""
    return Document(
        title=title or f"Policy {policy.name}",
        scope=(
            f"version {policy.version}; about {words.listed(list(policy.subjects))}",
            *((f"source: {policy.source}",) if policy.source else ()),
            f"hash {policy.id.hash}",
        ),
        blocks=(
            *((Section("In words", (Text(policy.words),)),) if policy.words else ()),
            Section("What must hold", tuple(_rules(policy))),
            Section("Not judged: look at it yourself", tuple(_not_judged(policy))),
            Section("What makes a table keep it", tuple(_mask(policy))),
            Section("Use it", tuple(Text(line) for line in _used(policy, given))),
        ),
    )


def _rules(policy: Policy) -> Iterator[Block]:
    for rule in policy.rules:
        secret = f" ({SECRET})" if rule.secret else ""
        yield Text(f"{rule.name}: {rule.said()[:-1]}{secret}.")
    if policy.reports_k:
        listed = words.listed([str(k) for k in policy.reports_k])
        yield Text(f"No limit; reported is how many records are below k = {listed}.")


def _not_judged(policy: Policy) -> Iterator[Block]:
    yield from (Text(words.full(line)) for line in policy.not_judged)


def _mask(policy: Policy) -> Iterator[Block]:
    if policy.mask:
        yield Text(f"The mask {policy.mask}, as `discreet choose --masks` takes it.")


def commands_of(policy: Policy) -> tuple[str, ...]:
    """The commands that judge by it."""
    return tuple(one for about in policy.subjects for one in COMMANDS[about].split(" and "))


def examples_of(policy: Policy, given: str = "") -> tuple[str, ...]:
    """How it is used: a command for each thing that it is about."""
    named = shlex.quote(given or policy.name)
    return tuple(
        f"{EXAMPLES[about]}{_asked_for(policy.about(about))} --policy {named}"
        for about in policy.subjects
    )


def _asked_for(rules: Sequence[Rule]) -> str:
    """The options that its rules ask for: columns of a kind, sensitive variables, a household."""
    roles = dict.fromkeys(role for rule in rules if (role := getattr(rule, "role", "")))
    told = "".join(f" --role {shlex.quote(role)}=COLUMN" for role in roles)
    names = {rule.name for rule in rules}
    told += " --household COLUMN" if "household_pattern" in names else ""
    return told + (" --sensitive COLUMN" if names & set(OF_SENSITIVE) else "")


def _used(policy: Policy, given: str) -> Iterator[str]:
    yield f"Judged by: {words.listed([f'discreet {one}' for one in commands_of(policy)])}."
    yield from examples_of(policy, given)


@of_kind("policies")
def policies_json(policies: Sequence[Policy]) -> dict[str, Any]:
    """All of them, each in full."""
    return {"policies": [_policy(one) for one in policies]}


@of_kind("policy")
def policy_json(policy: Policy, given: str = "") -> dict[str, Any]:
    """One policy in full."""
    return _policy(policy, given)


def _policy(policy: Policy, given: str = "") -> dict[str, Any]:
    said = policy.to_data()
    rules = [
        data | {"about": str(rule.subject), "says": rule.said()}
        for data, rule in zip(said.get("rules", []), policy.rules, strict=True)
    ]
    more = {name: said.get(name) for name in ("source", "words", "mask", "reports_k", "not_judged")}
    return {
        "name": policy.name,
        "version": policy.version,
        "hash": policy.id.hash,
        "about": [str(one) for one in policy.subjects],
        "commands": list(commands_of(policy)),
        "examples": list(examples_of(policy, given)),
        "rules": rules,
    } | known(**more)
