"""May the set of each category go out? A verdict for each, and the decimals that would help.

A category is judged by the measures of its table from its own set, and by every count that occurs
in it under all that is out. The verdict on all together is never better than that on one of them.
"""

from collections.abc import Mapping, Sequence

from discreet.count_tables.advice import CountAdvice, advise
from discreet.count_tables.findings import count_findings, given_away, told_of
from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.measures import CellRisk
from discreet.count_tables.options import CategoryOptions
from discreet.count_tables.rebuilding import Effort
from discreet.figures import Unavailable
from discreet.policy.findings import Finding, Findings
from discreet.policy.policy import Policy, judge
from discreet.policy.reading import policies_of
from discreet.policy.rule import Subject
from discreet.policy.verdict import Ruling, Verdict
from discreet.progress import Progress, silent

NOT_OUT = Unavailable("its own set is not out and does not follow from what is")
ALL_TABLES = told_of("all tables together", "all true tables together")
OWN_TABLE = told_of("its table", "its true table")
Tables = Mapping[str, Mapping[int, int]]
Measured = Mapping[str, Finding]


def told_of_category(name: str) -> Mapping[str, str]:
    """What is said of the table of a category, where there are others."""
    return told_of(f"the table of {name}", f"the true table of {name}")


def findings_of_all(
    together: Measured,
    alone: Mapping[str, Measured],
    cells: Mapping[str, Sequence[CellRisk]],
    tables: Tables,
    zeros: Tables,
    why: Unavailable,
) -> Findings:
    """All tables together, and each category's by itself: the more categories, the less probable
    are all tables at once, however surely one of them is known. `zeros` are tables that S1 = 0
    gives away; `why` says why no single count is known, where none is."""
    each = {f"{what}:{name}": one for name, own in alone.items() for what, one in own.items()}
    counts = count_findings(cells, tables, why)
    return Findings({**together, **each, **counts, **given_away(zeros)})


def category_findings(
    own: Measured, cells: Sequence[CellRisk], table: Mapping[int, int], why: Unavailable
) -> Findings:
    """One category: its table from its own set, and its counts under all that is out. Where that
    set is not out, there is no table to be judged, but counts alone."""
    nothing = {
        name: Finding(value=NOT_OUT, found=NOT_OUT.reason, nothing=True) for name in ALL_TABLES
    }
    return Findings({**(own or nothing), **count_findings({"": cells}, {"": table}, why)})


def verdicts_by_category(
    found: Mapping[str, Findings], zeros: Tables, policies: Sequence[Policy]
) -> dict[str, Verdict]:
    """On each category by itself; on one of zeros only, that S1 = 0 gives it away."""
    known = {name: Findings(given_away({"": table})) for name, table in zeros.items()}
    judged = {
        name: judge(policies, Subject.COUNTS, one) for name, one in {**found, **known}.items()
    }
    return {name: one for name, one in judged.items() if one is not None}


def decimals_by_category(
    verdicts: Mapping[str, Verdict],
    tables: Tables,
    knowledge: Mapping[str, Knowledge],
    options: CategoryOptions,
    effort: Effort,
    progress: Progress = silent,
) -> dict[str, CountAdvice]:
    """For each category that breaks a rule, whether fewer decimals of its S2 would keep all.

    Only where nothing but one set a category is out: then each is rebuilt from its own alone.
    """
    return {
        name: advise(
            tables[name],
            options.max_risk,
            policies=policies_of(options.policy),
            knowledge=knowledge.get(name),
            effort=effort,
            progress=progress,
        )
        for name, verdict in verdicts.items()
        if verdict.ruling is Ruling.BROKEN and name in tables
    }
