"""May the set of each category go out? A verdict for each, and the decimals that would help.

A category is judged by the best guess of its table from its own set, and by every count that occurs
in it under all that is out. The verdict on all together is never better than that on one of them.
"""

from collections.abc import Mapping

from discreet.count_tables.advice import CountAdvice, advise
from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.rebuilding import Effort
from discreet.count_tables.verdict import COUNT_RISK, against, count_rule, table_rule
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.policy.verdict import Judged, Ruling, Verdict
from discreet.progress import Progress, silent

OWN_TABLE = "an intruder's best guess of its table is right with probability {}"
NOT_OUT = Unavailable("its own set is not out and does not follow from what is")
Tables = Mapping[str, Mapping[int, int]]


def category_verdict(
    table: Outcome, value: int | None, count: Outcome, exposed: tuple[str, ...], max_risk: float
) -> Verdict:
    """On one category: its table, and the true count of `value`, which is found most surely.

    A table whose own set is not out (`NOT_OUT`) is judged by its counts alone.
    """
    which = "a value" if value is None else f"value {value}"
    rules = [count_rule(which, count, max_risk, exposed=exposed)]
    if table is not NOT_OUT:
        rules.insert(0, table_rule(OWN_TABLE, table, max_risk))
    return Verdict(rules=tuple(rules))


def zeros_verdict(max_risk: float) -> Verdict:
    """On a category of zeros only, which S1 = 0 gives away."""
    words = f"S1 = 0 gives away all of its counts{against(Ruling.BROKEN, max_risk)}."
    found = Figure(value=1.0, how=How.EXACT)
    rule = Judged(rule=COUNT_RISK, ruling=Ruling.BROKEN, value=found, limit=max_risk, words=words)
    return Verdict(rules=(rule,))


def decimals_by_category(
    verdicts: Mapping[str, Verdict],
    tables: Tables,
    knowledge: Mapping[str, Knowledge],
    max_risk: float,
    effort: Effort,
    progress: Progress = silent,
) -> dict[str, CountAdvice]:
    """For each category that breaks the limit, whether fewer decimals of its S2 would keep it.

    Only where nothing but one set a category is out: then each is rebuilt from its own alone.
    """
    return {
        name: advise(
            tables[name], max_risk, knowledge=knowledge.get(name), effort=effort, progress=progress
        )
        for name, verdict in verdicts.items()
        if verdict.ruling is Ruling.BROKEN and name in tables
    }
