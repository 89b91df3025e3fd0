"""The answer of an audit in words: what stands out, what it rests on, and what to do now."""

import shlex
from collections.abc import Iterator

from discreet.data.table import Table
from discreet.figures import Unavailable
from discreet.policy.verdict import Ruling
from discreet.report import words
from discreet.report.audit.words import figures
from discreet.report.verdict import remedies
from discreet.tables import table_findings
from discreet.tables.audit import Audit, found_groups, main_view
from discreet.tables.cross_risks import CrossRisk
from discreet.tables.groups import Learned
from discreet.tables.refused_margin import RiskMeasure
from discreet.tables.ruled_out import Ground, RuledOut

MOST_OTHERS = 3  # levels that are ruled out one by one
TREAT = "treat "  # begins the remedy of a policy that prescribes a treatment
GROUNDS = {
    Ground.LABELS: "Taken as common knowledge, since the names of the levels show it.",
    Ground.CONFIRMED: "Common knowledge, as confirmed (--nested).",
    Ground.DATA: "Only the data show it: what a group shares by it is open until it is confirmed "
    "(--nested {pair}).",
}


def headline(audit: Audit) -> Iterator[str]:
    """What stands out, where no limit was given: what is printed, what can be found, who shares."""
    table, risk = audit.release.table, figures(audit, main_view(audit))["small_cells_identified"]
    yield words.full(table_findings.printed_words(table, audit.printed, audit.options.most_small))
    if isinstance(risk, Unavailable):
        yield words.full(risk.reason)
    else:
        n, every = audit.n_measured, tuple(range(len(table.names)))
        whole = CrossRisk(axes=every, risk=risk, n_small=audit.n_small, n_looked_at=n)
        yield words.full(table_findings.measured_words(RiskMeasure.CELLS, whole))
    yield words.full(table_findings.groups_words(found_groups(audit)))


def circumstances(audit: Audit) -> Iterator[str]:
    """What else must be known to read the answer: the table looked at, and what everybody knows."""
    table, release = audit.release.table, audit.release
    yield from (words.full(note) for note in table.notes)
    if release.left_out:
        yield f"Left out, since nothing released tells of it: {words.listed(release.left_out)}."
    yield from nested_words(table, release.nested)
    for known in release.known:
        yield f"The intruder also knows: {known.text}."
    yield f"Tables consistent with what was released: {words.tables(audit.n_tables)}."


def nested_words(table: Table, nested: RuledOut) -> Iterator[str]:
    """What one variable determines of another, and whether everybody is taken to know it."""
    for pair in nested.pairs:
        first, second = table.names_of((pair.determining, pair.determined))
        number = nested.n_combinations(pair)
        are = words.by_number(number, "is", "are")
        combinations = words.plural(number, "other combination")
        yield (
            f"Each {first} lies in one {second}: {combinations} {are} ruled out (--no-nesting). "
            + GROUNDS[nested.grounds[pair]].format(pair=f"{first}:{second}")
        )


def next_steps(audit: Audit, command: str) -> Iterator[str]:
    """What to do now: what could go out instead, and how to find the best.

    `command` is the choice by the same rules, as it is typed; empty where nothing was typed.
    """
    verdict = audit.verdict
    if verdict is None:
        if audit.options.max_risk is None:
            yield (
                "Judge it: --policy with one that your agency has (`discreet policies` lists some)"
                ", or --max-risk with the greatest share of small cells that may be found"
            )
        return
    if verdict.ruling is Ruling.KEPT:
        yield "Publish these tables, and keep them among --release when the next one is asked for"
        return
    broken = {judged.rule for judged in verdict.those(Ruling.BROKEN)}
    yield from _treatments(audit, command)
    if audit.instead:
        could = "".join(f"[{' '.join(names)}]" for names in audit.instead)
        yield f"Could go out instead: {could}"
    if verdict.ruling is Ruling.UNDECIDED:
        yield from remedies(verdict)
        return
    learned = found_groups(audit).learned
    if "groups" in broken and learned:
        yield f"If a group is no secret: {_known_option(audit, learned[0])}"
    yield f"`{command or 'discreet.choose'}` finds the most useful release within the limit"


def _treatments(audit: Audit, command: str) -> Iterator[str]:
    """What the policies that are broken prescribe, as the choice that does it."""
    verdict = audit.verdict
    judged = () if verdict is None else verdict.those(Ruling.BROKEN)
    treated = {one.policy for one in judged if one.remedy.startswith(TREAT)}
    for policy in audit.options.policy:
        if policy.name in treated:
            typed = f"{command} --masks {shlex.quote(policy.mask)}"
            called = f"discreet.choose(…, masks={policy.mask!r})"
            yield f"`{typed if command else called}` treats them as {policy.name} prescribes"


def _known_option(audit: Audit, learned: Learned) -> str:
    """The options by which everybody knows what a group shares, or which variables are secret."""
    table = audit.release.table
    group = zip(learned.group, learned.group_levels, strict=True)
    who = [f"{table.names[axis]}={table.levels[axis][level]}" for axis, level in group]
    name, levels = table.names[learned.target], table.levels[learned.target]
    others = [label for i, label in enumerate(levels) if i != learned.level]
    secret = "name the variables that are secret with --targets"
    if len(others) > MOST_OTHERS:
        return secret
    known = " ".join(f"--knows '{','.join([*who, f'{name}={label}'])}:0'" for label in others)
    return f"{known}, or {secret}"
