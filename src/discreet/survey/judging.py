"""May the file go out: the limits and the policies that were given, held against the figures."""

from dataclasses import replace

from discreet.policy.findings import Findings
from discreet.policy.policy import judge
from discreet.policy.rule import Subject
from discreet.policy.verdict import Ruling, Verdict
from discreet.survey.options import AssessOptions


def judged(options: AssessOptions, findings: Findings) -> Verdict | None:
    """The verdict on the limits and policies that were given; None where there is no rule."""
    return judge(options.policies, Subject.RECORDS, findings)


def with_remedy(verdict: Verdict, remedy: str) -> Verdict:
    """The verdict with what would help most beside the rules on the keys that are not kept."""
    rules = (
        replace(rule, remedy=remedy)
        if rule.rule in ("max_risk", "min_k") and rule.ruling is Ruling.BROKEN
        else rule
        for rule in verdict.rules
    )
    return replace(verdict, rules=tuple(rules))
