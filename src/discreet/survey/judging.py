"""May the file go out: the limits and the policies that were given, held against the figures."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from discreet.policy.findings import Findings
from discreet.policy.policy import judge
from discreet.policy.record_rules import Alpha, C, L, T
from discreet.policy.rule import Subject
from discreet.policy.verdict import Ruling, Verdict
from discreet.survey.options import AssessOptions
from discreet.survey.role_columns import IDENTIFIERS, taken_by_name

MOST_NAMED = 6  # columns that are named


def judged(
    options: AssessOptions, findings: Findings, columns: Sequence[str] = ()
) -> Verdict | None:
    """The verdict on the limits and policies that were given; None where there is no rule.

    `columns` are all of the file, of which only the keys and what is sensitive are judged.
    """
    notes = tuple(_not_judged(options, columns))
    return judge(options.policies, Subject.RECORDS, findings, notes=notes)


def with_remedy(verdict: Verdict, remedy: str) -> Verdict:
    """The verdict with what would help most beside the rules on the keys that are not kept."""
    rules = (
        replace(rule, remedy=remedy)
        if rule.rule in ("max_risk", "min_k") and rule.ruling is Ruling.BROKEN
        else rule
        for rule in verdict.rules
    )
    return replace(verdict, rules=tuple(rules))


def _has_threshold(options: AssessOptions) -> bool:
    return any(isinstance(rule, L | C | T | Alpha) for rule in options.rules)


def _not_judged(options: AssessOptions, columns: Sequence[str]) -> Iterator[str]:
    """What the rules are not about: sensitive variables, and columns beside the keys; and which
    columns were taken for what rules ask for."""
    names = tuple(options.sensitive)
    if names and not _has_threshold(options):
        yield f"no threshold (l or t) was given for {', '.join(names)}"
    yield from taken_by_name(options, columns)
    for policy in options.policy:
        if policy.not_judged:
            yield f"not judged of {policy.name}: {'; '.join(policy.not_judged)}"
    others = [name for name in columns if name not in (*options.key_names, *names)]
    telling = [name for name in others if IDENTIFIERS.fullmatch(name.strip())]
    if telling:
        yield f"remove what identifies a person directly, as these names tell: {', '.join(telling)}"
    if others:
        shown = ", ".join(others[:MOST_NAMED])
        more = f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
        yield f"judged by the keys alone: the file also has {shown}{more}"
