"""May the file go out: the limits and the policies that were given, held against the figures."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from discreet.figures import Figure, How, Unavailable
from discreet.policy.findings import Findings
from discreet.policy.policy import judge
from discreet.policy.record_rules import Alpha, C, L, T, records
from discreet.policy.rule import Subject
from discreet.policy.verdict import Judged, Ruling, Verdict
from discreet.survey.attributes.sensitive import SensitiveFigures
from discreet.survey.options import AssessOptions
from discreet.survey.role_columns import IDENTIFIERS, taken_by_name

MOST_NAMED = 6  # columns that are named
FEWEST_VALUES = 2  # that the members of a group must have where nobody says more


def judged(
    options: AssessOptions,
    findings: Findings,
    *,
    n_dropped: int = 0,
    sensitive: Sequence[SensitiveFigures] = (),
    columns: Sequence[str] = (),
) -> Verdict | None:
    """The verdict on the limits and policies that were given; None where there is no rule.

    `columns` are all of the file, of which only the keys and what is sensitive are judged.
    """
    doubts = (*_without_threshold(options, sensitive), *_left_out(n_dropped))
    notes = _not_judged(options, sensitive, columns)
    return judge(options.policies, Subject.RECORDS, findings, more=doubts, notes=tuple(notes))


def _left_out(number: int) -> Iterator[Judged]:
    """Records that were left out were not judged, so that nothing allows them to go out."""
    if number:
        yield Judged(
            rule="left_out",
            ruling=Ruling.UNDECIDED,
            value=Figure(value=number, how=How.EXACT),
            limit=0,
            words=f"{records(number)} that lack a key were left out and not judged.",
            remedy="take these records out of the file, or judge them too (missing)",
        )


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


def _without_threshold(
    options: AssessOptions, sensitive: Sequence[SensitiveFigures]
) -> Iterator[Judged]:
    """Sensitive variables that no threshold judges: open where a group shares one value."""
    if _has_threshold(options):
        return
    for variable in sensitive:
        by_column = dict(zip(variable.per_cell, variable.figures, strict=True))
        shared = by_column["distinct_l"]
        if isinstance(shared.worst, float) and shared.worst < FEWEST_VALUES:
            yield Judged(
                rule="sensitive",
                ruling=Ruling.UNDECIDED,
                value=Unavailable("no threshold was given"),
                limit=FEWEST_VALUES,
                words=f"there are groups whose members all have the same value of {variable.name}, "
                "and no threshold says what is allowed.",
                concerns=(variable.name,),
                remedy="give a threshold (l) for the values that every group must have, such as 2",
            )


def _not_judged(
    options: AssessOptions, sensitive: Sequence[SensitiveFigures], columns: Sequence[str]
) -> Iterator[str]:
    """What the rules are not about: sensitive variables, and columns beside the keys; and which
    columns were taken for what rules ask for."""
    names = [variable.name for variable in sensitive]
    if sensitive and not _has_threshold(options):
        yield f"no threshold (l or t) was given for {', '.join(names)}"
    yield from taken_by_name(options, columns)
    for policy in options.policy:
        for part in policy.not_judged:
            yield f"not judged of {policy.name}: {part}"
    others = [name for name in columns if name not in (*options.key_names, *names)]
    telling = [name for name in others if IDENTIFIERS.fullmatch(name.strip())]
    if telling:
        yield f"remove what identifies a person directly, as these names tell: {', '.join(telling)}"
    if others:
        shown = ", ".join(others[:MOST_NAMED])
        more = f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
        yield f"judged by the keys alone: the file also has {shown}{more}"
