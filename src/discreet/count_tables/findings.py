"""What was found of the statistics of counts, as far as rules are about it: of one table, of each
category's, and of all together. Only the holder has it, who knows which counts are true."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from discreet.belief.count_belief import reciprocal
from discreet.count_tables.measures import CellRisk, CountRisk
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.rounding import first_largest
from discreet.policy.count_rules import BEYOND_EVERY_LIMIT, COUNT, GIVEN_AWAY
from discreet.policy.findings import Finding, Findings
from discreet.policy.verdict import ends

NO_CELLS = Unavailable("the distribution of single counts is not known")
NO_TRUTH = Unavailable("no true table was given")
Counts = Mapping[int, int]
Told = Mapping[str, str]


def told_of(table: str = "the table", true: str = "the true table") -> Told:
    """What is said of the measures of a table, by their names; with a place for the figure."""
    return {
        "best_guess": f"an intruder's best guess of {table} is right with probability {{}}",
        "truth": f"an intruder gives {true} the probability {{}}",
        "reciprocal_entropy": f"one over the entropy of {table} is {{}}",
        "entropy": f"what an intruder does not know of {table} is {{}} bits",
    }


ONE_TABLE = told_of()


def findings_of(risk: CountRisk | Unavailable, table: Counts) -> Findings:
    """Of the statistics of one table, whose counts are `table`."""
    if isinstance(risk, Unavailable):
        return Findings(unknown_table(risk) | {"count_risk": Finding(value=risk)})
    found = table_findings(
        best_guess=risk.best_guess_probability,
        best_guess_limit=risk.best_guess_limit,
        truth=risk.truth_probability,
        entropy=risk.entropy,
    )
    return Findings(found | count_findings({"": risk.cells}, {"": table}))


def unknown_table(why: Unavailable, told: Told = ONE_TABLE) -> dict[str, Finding]:
    """The measures of a table of which nothing is known."""
    return {name: Finding(value=why, found=words) for name, words in told.items()}


def table_findings(
    *,
    best_guess: Outcome,
    best_guess_limit: Outcome | None,
    truth: Outcome | None,
    entropy: Outcome,
    told: Told = ONE_TABLE,
) -> dict[str, Finding]:
    """The measures of a table, or of several together."""
    return {
        "best_guess": _best_guess(best_guess, best_guess_limit, told["best_guess"]),
        "truth": Finding(value=NO_TRUTH if truth is None else truth, found=told["truth"]),
        "reciprocal_entropy": _reciprocal(entropy, told["reciprocal_entropy"]),
        "entropy": Finding(value=entropy, found=told["entropy"]),
    }


def _best_guess(known: Outcome, limit: Outcome | None, told: str) -> Finding:
    """The probability of the best guess; where draws name none, what it is not above. That can show
    that a limit is kept, not that it is broken: the true figure may be anything from 0 on."""
    if isinstance(known, Figure) or not isinstance(limit, Figure):
        return Finding(value=known, found=told)
    bound = replace(limit, low=0.0, high=min(1.0, ends(limit)[1]))
    before, place, after = told.rpartition("{}")
    return Finding(value=bound, found=f"{before}at most {place}{after}")


def _reciprocal(entropy: Outcome, told: str) -> Finding:
    if isinstance(entropy, Unavailable):
        return Finding(value=entropy, found=told)
    value = reciprocal(entropy)
    if isinstance(value, Unavailable):  # the table is known
        before, _, _ = told.rpartition("{}")
        return Finding(value=BEYOND_EVERY_LIMIT, found=f"{before}beyond every number")
    return Finding(value=value, found=told)


def count_findings(
    cells: Mapping[str, Iterable[CellRisk]],
    tables: Mapping[str, Counts],
    why: Unavailable = NO_CELLS,
) -> dict[str, Finding]:
    """The true count of each value that occurs, and under `count_risk` the one found most surely;
    `cells` and `tables` by category, or of one table under an empty name."""
    several = any(cells)
    found: dict[str, Finding] = {}
    for name, own in cells.items():
        of = f" of {name}" if several else ""
        for cell in own:
            count = tables[name].get(cell.value, 0)
            if count > 0:
                key = f"{COUNT}:{count}:value {cell.value}{of}"
                found[key] = Finding(value=cell_figure(cell))
    values = [one.value for one in found.values()]
    surest = first_largest([upper_of(one) for one in values]) if values else 0
    whole = Finding(
        value=values[surest] if values else why, found="counts" if several else "values"
    )
    return {"count_risk": whole} | found


def given_away(tables: Mapping[str, Counts]) -> dict[str, Finding]:
    """Tables of zeros only, by category or of one under an empty name, which S1 = 0 gives away."""
    known = Finding(value=Figure(value=1.0, how=How.EXACT))
    return {f"{GIVEN_AWAY}:{table.get(0, 0)}:{name}": known for name, table in tables.items()}


def cell_figure(cell: CellRisk) -> Figure:
    """The probability of the true count of a value."""
    error = cell.truth_standard_error
    return Figure(
        value=cell.truth_probability or 0.0,
        how=How.EXACT if error is None else How.ESTIMATE,
        standard_error=error,
        high=None if error is None else cell.truth_upper,
    )


def upper_of(value: Outcome) -> float:
    """The greatest that a figure may be."""
    return ends(value)[1] if isinstance(value, Figure) else 0.0
