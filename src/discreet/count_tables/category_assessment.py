"""What sets of count statistics give away, one for each category of a multiway table, together.

Each category is looked at from its own set alone, then all of them with everything that is out:
sets of several categories together, and whole tables of them. What follows by subtraction is found
first, since a category whose set was withheld is no better hidden than the rest where it does.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from discreet.belief.count_belief import TableDistribution
from discreet.clock import working_seconds
from discreet.count_tables.advice import CountAdvice
from discreet.count_tables.categories import (
    Joint,
    JointDistributions,
    Margin,
    determined,
    joint_distributions,
    joint_system,
)
from discreet.count_tables.category_inputs import Categories, added
from discreet.count_tables.category_verdicts import (
    ALL_TABLES,
    NOT_OUT,
    OWN_TABLE,
    category_findings,
    decimals_by_category,
    findings_of_all,
    told_of_category,
    verdicts_by_category,
)
from discreet.count_tables.com_poisson.conjugate import BayesianAnalysis
from discreet.count_tables.com_poisson.regression import SetsRegression
from discreet.count_tables.findings import Told, table_findings, unknown_table
from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.likely_tables import LikelyTables, likely_tables
from discreet.count_tables.measures import (
    CellRisk,
    cell_risk,
    count_risk,
    holder_risk,
    possible_counts,
)
from discreet.count_tables.options import CategoryOptions
from discreet.count_tables.rebuilding import Effort, Reconstruction
from discreet.count_tables.release import attack, release_of
from discreet.count_tables.statistics import CountStatistics, check_counts
from discreet.errors import InputError, must_be
from discreet.fiber.sums.counting import Count
from discreet.figures import Outcome, Unavailable
from discreet.notebooks import Result
from discreet.numerics.rounding import first_largest
from discreet.policy.findings import Finding, Findings
from discreet.policy.policy import judge
from discreet.policy.rule import Subject
from discreet.policy.verdict import Verdict
from discreet.progress import Progress, silent

__all__ = ["CategoriesAssessment", "CategoryRisk", "Margin", "WorstCell", "assessed_categories"]
DRAWING_SECONDS = 20.0
NOT_KNOWN = Unavailable("the joint distribution of the tables is not known")
INDEPENDENT = (
    "tables are weighed by the number of orders in which their observations can stand, as is right "
    "for independent counts with one rate and dispersion for each category"
)
COMMON = (
    "no set of its own is out or follows for {names}; there all observations are taken to have the "
    "same rate, dispersion and chance of each category"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstCell:
    """The count that is found most surely: of which category, which value, how probable."""

    category: str
    value: int
    probability: float
    standard_error: float | None
    upper: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryRisk:
    """The risk of one category's table, or of all categories' tables jointly.

    `truth_probability` and `worst_cell` (among values that occur) are the holder's.
    """

    count: Count
    distributions: Mapping[str, TableDistribution | Unavailable]
    entropy: Outcome
    effective_tables: Outcome
    best_guess_probability: Outcome
    truth_probability: Outcome | None
    worst_cell: WorstCell | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CategoriesAssessment(Result):
    """Each category alone and all jointly.

    `statistics` are the sets that are out or follow by subtraction (`derived`); `certain` are
    categories of zeros only, which S1 = 0 gives away. `alone` takes a category's own set and
    nothing else. `joint_cells` are the counts of each category under the joint distribution. `out`
    is all that is out; `verdict`, `likely`, `regression` and `bayes` are there where they were
    asked for. `verdicts` are those on each category, none of which is worse than `verdict`;
    `advice` says for one that breaks the limit whether fewer decimals of its S2 would keep it.
    `findings` are what any policy can be held against, the holder's only.
    """

    names: tuple[str, ...]
    is_holder: bool
    statistics: Mapping[str, CountStatistics]
    derived: tuple[str, ...]
    certain: tuple[str, ...]
    alone: Mapping[str, CategoryRisk | Unavailable]
    joint: CategoryRisk | Unavailable
    joint_cells: Mapping[str, tuple[CellRisk, ...]]
    warnings: tuple[str, ...]
    assumptions: tuple[str, ...]
    verdict: Verdict | None
    options: CategoryOptions
    out: Categories
    findings: Findings | None = None
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    advice: Mapping[str, CountAdvice] = field(default_factory=dict)
    likely: Mapping[str, LikelyTables | Unavailable] = field(default_factory=dict)
    regression: SetsRegression | Unavailable | None = None
    bayes: Mapping[str, BayesianAnalysis | Unavailable] = field(default_factory=dict)


def assessed_categories(
    out: Categories, options: CategoryOptions, progress: Progress = silent
) -> CategoriesAssessment:
    """What one set of statistics for each category gives away, alone and jointly.

    Raises InputError where what is out contradicts itself.
    """
    case = _case(out, options)
    seconds, policies = options.seconds, options.policies
    rng = np.random.default_rng(options.seed)
    effort = Effort(seconds=seconds / 4, until=working_seconds() + seconds, rng=rng)
    knowledge = options.knowledge(case.names)
    known_of = {name: one for name, one in knowledge.items() if name in case.names}
    joint = joint_system(case.names, case.sets, case.margins, known_of)
    progress("categories one by one", None)
    alone = {
        name: _alone(name, case, joint, known_of.get(name), _share(effort, len(case.names)))
        for name in case.names
    }
    progress("all categories jointly", None)
    distributions = joint_distributions(
        joint.system, _truth(case, joint), effort, progress=progress
    )
    cells = _joint_cells(distributions, joint, case.tables)
    found = _joint_risk(distributions, cells, case.tables)
    assumptions = (INDEPENDENT, *_common(joint))
    findings, verdict, verdicts, advice = None, None, dict[str, Verdict](), dict[str, CountAdvice]()
    if case.tables is not None:
        findings = _findings(found, alone, cells, case.tables, case.zeros)
    if policies and findings is not None and case.tables is not None:
        verdict = judge(policies, Subject.COUNTS, findings)
        each = {
            name: _own_findings(alone[name], cells.get(name, ()), case.tables[name])
            for name in case.names
        }
        verdicts = verdicts_by_category(each, case.zeros, policies)
        if not case.margins:
            own = _share(effort, len(case.names))
            advice = decimals_by_category(verdicts, case.tables, known_of, options, own, progress)
    return CategoriesAssessment(
        names=case.names,
        is_holder=case.tables is not None,
        statistics=joint.known,
        derived=joint.derived,
        certain=case.certain,
        alone=alone,
        joint=found,
        joint_cells=cells,
        warnings=tuple(_warnings(case, joint)),
        assumptions=assumptions,
        verdict=verdict,
        findings=findings,
        verdicts=verdicts,
        advice=advice,
        options=options,
        out=out,
    )


def likely_by_category(
    found: CategoriesAssessment, options: CategoryOptions
) -> dict[str, LikelyTables | Unavailable]:
    """The most probable tables of each category from its own set, to be drawn."""
    known = options.knowledge(found.names)
    seconds = min(DRAWING_SECONDS, options.seconds)
    rng = np.random.default_rng(options.seed)
    effort = Effort(seconds=seconds / 4, until=working_seconds() + seconds, rng=rng)
    drawn: dict[str, LikelyTables | Unavailable] = {}
    for name in found.names:
        if name not in found.statistics:
            drawn[name] = Unavailable("its own set is not out")
            continue
        release = release_of(found.statistics[name])
        own = attack(release, known.get(name), effort=effort)
        drawn[name] = likely_tables(release, own, known.get(name), effort=effort)
    return drawn


@dataclass(frozen=True, slots=True)
class _Case:
    """What is out, and for the holder the true tables; categories of zeros only are set apart."""

    names: tuple[str, ...]
    sets: Mapping[str, CountStatistics]
    margins: tuple[Margin, ...]
    tables: Mapping[str, Mapping[int, int]] | None
    zeros: Mapping[str, Mapping[int, int]]

    @property
    def certain(self) -> tuple[str, ...]:
        """Categories of zeros only that S1 = 0 gives away."""
        return tuple(self.zeros)


def _case(out: Categories, options: CategoryOptions) -> _Case:
    if out.tables is None:
        return _intruder_case(out, options)
    margins, withheld = out.margins, options.withhold
    checked = {name: check_counts(table) for name, table in out.tables.items()}
    together = [tuple(checked)] if options.totals else []
    together += [margin.categories for margin in margins.values()]
    certain = _known_zeros(checked, withheld, together)
    own = {name: table for name, table in checked.items() if name not in certain}
    if not own:
        rule = "such that some observation is above zero"
        raise InputError(must_be("categories", rule, "zeros only"))
    sets = {n: CountStatistics.of_counts(t) for n, t in own.items() if n not in withheld}
    further = [_true_margin(margin, own) for margin in margins.values()]
    if options.totals:
        further.append(Margin(categories=tuple(own), table=added(own.values())))
    zeros = {name: checked[name] for name in certain}
    return _Case(tuple(own), sets, tuple(further), own, zeros)


def _known_zeros(
    tables: Mapping[str, Mapping[int, int]],
    withheld: Collection[str],
    together: Collection[tuple[str, ...]],
) -> tuple[str, ...]:
    """Categories of zeros only that S1 = 0 gives away.

    Their own set is out or follows, or a set of several together leaves S1 = 0 for all of these
    that are not known.
    """
    names = tuple(tables)
    told = determined(names, [*((n,) for n in names if n not in withheld), *together])
    zeros = {name for name, table in tables.items() if max(table) == 0}
    known = zeros & told
    for group in together:
        left = set(group) - told
        known |= left if left <= zeros else set()
    return tuple(name for name in names if name in known)


def _intruder_case(out: Categories, options: CategoryOptions) -> _Case:
    if options.withhold or options.totals:
        rule = "for the holder, who has the tables"
        raise InputError(must_be("withheld categories and totals", rule, "given by an intruder"))
    names = dict.fromkeys(out.sets)
    for margin in out.margins.values():
        names |= dict.fromkeys(margin.categories)
    if not names:
        raise InputError(must_be("categories", "at least one", "none"))
    return _Case(tuple(names), out.sets, tuple(out.margins.values()), None, {})


def _true_margin(margin: Margin, tables: Mapping[str, Mapping[int, int]]) -> Margin:
    """A margin as the true tables give it, without categories of zeros only."""
    held = tuple(name for name in margin.categories if name in tables)
    if not held:
        raise InputError(must_be("margins", "of categories with tables", margin.categories))
    table = added([tables[name] for name in held])
    if margin.table is not None:
        return Margin(categories=held, table=table)
    return Margin(categories=held, statistics=CountStatistics.of_counts(table))


def _share(effort: Effort, parts: int) -> Effort:
    """An equal part of half the time for each category."""
    left = effort.until - working_seconds() if effort.until is not None else 60.0
    return replace(effort, seconds=max(0.05, left / (2 * parts) / 4))


def _alone(
    name: str, case: _Case, joint: Joint, knowledge: Knowledge | None, effort: Effort
) -> CategoryRisk | Unavailable:
    if name not in joint.known:
        return NOT_OUT
    truth = None if case.tables is None else case.tables[name]
    release = release_of(joint.known[name])
    found = attack(release, knowledge, truth=truth, effort=effort)
    if isinstance(found, Unavailable) or not isinstance(found, Reconstruction):
        return found if isinstance(found, Unavailable) else Unavailable("S2 is rounded")
    risk = count_risk(found) if truth is None else holder_risk(found, truth)
    cells = () if isinstance(risk, Unavailable) else risk.cells
    worst = None if truth is None else _worst({name: cells}, {name: truth})
    return _risk(found.count, found.distributions, worst)


def _risk(
    count: Count,
    distributions: Mapping[str, TableDistribution | Unavailable],
    worst: WorstCell | None,
) -> CategoryRisk:
    distribution = distributions["multinomial"]
    if isinstance(distribution, Unavailable):
        return CategoryRisk(
            count=count,
            distributions=distributions,
            entropy=distribution,
            effective_tables=distribution,
            best_guess_probability=distribution,
            truth_probability=None,
            worst_cell=None,
        )
    return CategoryRisk(
        count=count,
        distributions=distributions,
        entropy=distribution.entropy,
        effective_tables=distribution.effective_tables,
        best_guess_probability=distribution.best_guess_probability,
        truth_probability=distribution.truth_probability,
        worst_cell=worst,
    )


def _truth(case: _Case, joint: Joint) -> "np.ndarray[tuple[int, ...], np.dtype[np.int64]] | None":
    return None if case.tables is None else joint.cells_of(case.tables)


def _joint_cells(
    distributions: JointDistributions, joint: Joint, tables: Mapping[str, Mapping[int, int]] | None
) -> dict[str, tuple[CellRisk, ...]]:
    """Each category's counts under the joint distribution; limits are those of all tables it
    allows.
    """
    distribution, uniform = (
        distributions.distributions["multinomial"],
        distributions.distributions["uniform"],
    )
    if isinstance(distribution, Unavailable):
        return {}
    possible = possible_counts(uniform)
    wide = distribution if isinstance(uniform, Unavailable) else uniform
    found = {}
    for place, name in enumerate(joint.categories):
        first = place * joint.width
        found[name] = tuple(
            cell_risk(
                distribution.cells[first + j],
                j,
                (int(wide.cells[first + j].support[0]), int(wide.cells[first + j].support[-1])),
                possible.get(first + j),
                None if tables is None else tables[name].get(j, 0),
            )
            for j in range(joint.width)
        )
    return found


def _joint_risk(
    distributions: JointDistributions,
    cells: Mapping[str, tuple[CellRisk, ...]],
    tables: Mapping[str, Mapping[int, int]] | None,
) -> CategoryRisk | Unavailable:
    return _risk(
        distributions.count,
        distributions.distributions,
        None if tables is None else _worst(cells, tables),
    )


def _worst(
    cells: Mapping[str, tuple[CellRisk, ...]], tables: Mapping[str, Mapping[int, int]]
) -> WorstCell | None:
    """The most surely found count of a value that occurs."""
    found = [
        WorstCell(
            category=name,
            value=cell.value,
            probability=cell.truth_probability or 0.0,
            standard_error=cell.truth_standard_error,
            upper=cell.truth_upper or 0.0,
        )
        for name, own in cells.items()
        for cell in own
        if tables[name].get(cell.value, 0) > 0
    ]
    return found[first_largest([one.upper for one in found])] if found else None


def _common(joint: Joint) -> tuple[str, ...]:
    return (COMMON.format(names=", ".join(joint.open)),) if joint.open else ()


def _warnings(case: _Case, joint: Joint) -> list[str]:
    found = [f"the set of {name} follows from the others by subtraction" for name in joint.derived]
    found += [f"all counts of {name} are zero, which S1 = 0 gives away" for name in case.certain]
    return found


def _findings(
    risk: CategoryRisk | Unavailable,
    alone: Mapping[str, CategoryRisk | Unavailable],
    cells: Mapping[str, tuple[CellRisk, ...]],
    tables: Mapping[str, Mapping[int, int]],
    zeros: Mapping[str, Mapping[int, int]],
) -> Findings:
    """What rules are held against, of all categories together."""
    joint = NOT_KNOWN if isinstance(risk, Unavailable) else risk
    each = {
        name: _measured(one, told_of_category(name))
        for name, one in alone.items()
        if one != NOT_OUT
    }
    return findings_of_all(_measured(joint, ALL_TABLES), each, cells, tables, zeros, NOT_KNOWN)


def _own_findings(
    risk: CategoryRisk | Unavailable, cells: tuple[CellRisk, ...], table: Mapping[int, int]
) -> Findings:
    """The same of one category by itself."""
    own = {} if risk == NOT_OUT else _measured(risk, OWN_TABLE)
    return category_findings(own, cells, table, NOT_KNOWN)


def _measured(risk: CategoryRisk | Unavailable, told: Told) -> dict[str, Finding]:
    """The measures of one category's table, or of all together."""
    if isinstance(risk, Unavailable):
        return unknown_table(risk, told)
    distribution = risk.distributions["multinomial"]
    limit = None if isinstance(distribution, Unavailable) else distribution.best_guess_limit
    return table_findings(
        best_guess=risk.best_guess_probability,
        best_guess_limit=limit,
        truth=risk.truth_probability,
        entropy=risk.entropy,
        told=told,
    )
