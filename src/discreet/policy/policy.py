"""A policy: what an agency means by "safe", as named, versioned data."""

import hashlib
import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from discreet.errors import InputError, must_be
from discreet.figures import Unavailable
from discreet.policy.findings import NOT_MEASURED, Findings
from discreet.policy.rule import Rule, Subject, asked
from discreet.policy.verdict import Judged, PolicyId, Ruling, Verdict

SENSITIVE, THRESHOLDS = "sensitive", frozenset(("l", "c", "t", "alpha"))
FORMAT = 1  # of the files that policies are written in
COMMANDS = {  # that judge each subject
    Subject.RECORDS: "assess",
    Subject.TABLES: "audit and choose",
    Subject.COUNTS: "counts",
}
NOTE = "note"  # begins the name of a finding that says what no rule is about
MEASURE_IT = "give the policy to the command that measures"
DOUBT = "doubt"  # begins the name of a finding that is a doubt about the data themselves
TREATED = ("printed_counts", "derived_counts", "rounded")  # rules that a mask makes kept


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Policy:
    """Rules with a name, a version, where they come from, and words for the reader.

    `reports_k` are sizes of cells whose records are to be reported, without a limit. `not_judged`
    are parts of the source that Discreet does not judge. `mask` is what is to be done to a table
    that breaks it, as `choose` names it.
    """

    name: str
    version: str = ""
    source: str = ""
    words: str = ""
    rules: tuple[Rule, ...] = ()
    reports_k: tuple[int, ...] = ()
    not_judged: tuple[str, ...] = ()
    mask: str = ""

    def __post_init__(self) -> None:
        seen: set[tuple[Any, ...]] = set()
        for rule in self.rules:
            if rule.identity in seen:
                got = f"{rule.name!r} twice"
                remedy = "two limits on one figure contradict each other: keep the stricter"
                raise InputError(must_be("rules", "each on its own figure", got, remedy=remedy))
            seen.add(rule.identity)

    def __repr__(self) -> str:
        """Its name and version, and what each rule asks, a line each."""
        told = [f"Policy {self.name or 'without a name'}"]
        told[0] += f", version {self.version}" if self.version else ""
        told += [f"  {rule.said()}" for rule in self.rules]
        if self.reports_k:
            told.append(f"  Reports k = {', '.join(map(str, self.reports_k))}; no limit.")
        return "\n".join(told)

    def _repr_html_(self) -> str:
        """The same as `discreet policies show` says, for a notebook."""
        document = import_module("discreet.report.policies").policy_document(self)
        html: str = import_module("discreet.report.render_html").part_of(document)
        return html

    def about(self, subject: Subject) -> tuple[Rule, ...]:
        """Its rules on that subject."""
        return tuple(rule for rule in self.rules if rule.subject is subject)

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """What it is about."""
        found = {rule.subject for rule in self.rules}
        if self.reports_k:
            found.add(Subject.RECORDS)
        return tuple(one for one in Subject if one in found)

    def to_data(self) -> dict[str, Any]:
        """All that it says, as a file has it."""
        told: dict[str, Any] = {"format": FORMAT, "name": self.name, "version": self.version}
        more = {
            "source": self.source,
            "words": self.words,
            "reports_k": list(self.reports_k),
            "not_judged": list(self.not_judged),
            "mask": self.mask,
        }
        told |= {name: value for name, value in more.items() if value}
        return told | ({"rules": [rule.to_data() for rule in self.rules]} if self.rules else {})

    @property
    def id(self) -> PolicyId:
        """Its name, its version, and a hash of all that it says."""
        text = json.dumps(self.to_data(), sort_keys=True, ensure_ascii=False)
        digest = hashlib.sha256(text.encode()).hexdigest()
        return PolicyId(name=self.name, version=self.version, hash=digest)


def check_about(policies: Sequence[Policy], subject: Subject) -> None:
    """Raises InputError for a named policy that has nothing to say on the subject."""
    for one in policies:
        if one.name and subject not in one.subjects:
            own = " and ".join(one.subjects) or "nothing"
            commands = "; ".join(f"{COMMANDS[other]} for {other}" for other in one.subjects)
            remedy = f"name it with {commands}" if commands else None
            got = f"{one.name!r}, which is about {own}"
            raise InputError(must_be("policy", f"about {subject}", got, remedy=remedy))


def judge(
    policies: Sequence[Policy],
    subject: Subject,
    findings: Findings,
) -> Verdict | None:
    """What the policies say of what was found, all of whose rules must hold; None where no rule is
    about it.

    Doubts about the data themselves count where any rule does, and what no rule is about is told in
    the notes.
    """
    judged = [
        _of_policy(_measured(one, rule), policy)
        for policy in policies
        for rule in policy.about(subject)
        for one in rule.judge(findings)
    ]
    if not judged:
        return None
    named = tuple(policy.id for policy in policies if policy.name)
    rules = {one.rule for one in judged}
    doubts = tuple(doubts_of(findings, rules))
    notes = tuple(_notes(policies, subject, findings, rules))
    return Verdict(rules=(*judged, *doubts), policies=named, notes=notes)


def _measured(judged: Judged, rule: Rule) -> Judged:
    """A rule whose figure nobody measured says so, and what to do, whatever the rule."""
    if judged.value != Unavailable(NOT_MEASURED):
        return judged
    return replace(judged, words=f"{asked(rule)}: {NOT_MEASURED}.", remedy=MEASURE_IT, concerns=())


def _notes(
    policies: Sequence[Policy], subject: Subject, findings: Findings, rules: Collection[str]
) -> Iterator[str]:
    """What no rule is about: parts of the policies, and what a finding `note:NAME` tells."""
    for policy in policies:
        for other in policy.subjects:
            if other is not subject:
                own = COMMANDS[other]
                yield f"{policy.name} also has rules on {other}, not judged here but by {own}"
        if policy.not_judged:
            yield f"not judged of {policy.name}: {'; '.join(policy.not_judged)}"
    for name, one in findings.of(NOTE):
        if name != SENSITIVE or THRESHOLDS.isdisjoint(rules):
            yield one.found


def _of_policy(judged: Judged, policy: Policy) -> Judged:
    """A rule with the policy that has it, and the treatment that the policy prescribes."""
    treats = policy.mask and judged.rule in TREATED and judged.ruling is Ruling.BROKEN
    mended = f"treat the table (choose with the mask {policy.mask})"
    return replace(judged, policy=policy.name, remedy=mended if treats else judged.remedy)


def doubts_of(findings: Findings, rules: Collection[str] = ()) -> Iterator[Judged]:
    """What is open of the data themselves, whatever the rules: a finding `doubt:NAME`, in whose
    words it is. A sensitive variable is open only where no rule has a threshold for it."""
    for name, one in findings.of(DOUBT):
        kind = name.partition("/")[0]
        if kind == SENSITIVE and not THRESHOLDS.isdisjoint(rules):
            continue
        yield Judged(
            rule=kind,
            ruling=Ruling.UNDECIDED,
            value=one.value,
            limit=0,
            words=f"{one.found}.",
            concerns=one.concerns,
            remedy=one.remedy,
        )
