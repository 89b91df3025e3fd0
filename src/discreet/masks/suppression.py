"""Small counts are not shown, and enough others with them that nobody can work them out.

Primary suppression hides sensitive figures in every table that goes out. Since tables add up, more
must be hidden (complementary suppression). A pattern goes out only when it is proved safe: for each
sensitive figure there are explicit tables, consistent with all that is shown and with the rule as
far as it is known, in which it takes values as far apart as was asked; and the bounds of the fiber
are recorded beside them.
"""

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from math import isfinite
from types import MappingProxyType

import numpy as np

from discreet.data.layout import Layout
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.figures import Unavailable
from discreet.masks.contract import (
    Guarantee,
    Masked,
    Parameter,
    Protection,
)
from discreet.masks.linked_figures import LinkedFigures, figures_to_protect
from discreet.masks.solving import Budget, OutOfTime, checked_work
from discreet.masks.suppression_figures import (
    Figures,
    Rule,
    Zeros,
    statements,
)
from discreet.masks.suppression_following import derivable_unions, with_unions
from discreet.masks.suppression_limits import covering_limit
from discreet.masks.suppression_pattern import Pattern, Problem
from discreet.masks.suppression_proof import PatternAudit, audit_pattern, listed, proved
from discreet.masks.suppression_search import (
    Limit,
    Unprotectable,
    least_pattern,
    make_parts_anew,
    safe_pattern,
    thin,
)
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray
from discreet.progress import Progress, silent

__all__ = ["Guarantee", "Least", "PatternAudit", "Rule", "Zeros", "audit_pattern", "suppress"]

NAME = "suppression"
PROOF_SECONDS = 5.0
SEARCH_SECONDS = 60.0
EXACT_SIZE = 1000  # sensitive figures × cells up to which the least pattern is sought by default
HEAVIEST = 2**50  # all costs together, so that a solver's bounds on them are exact
FIT_ROUNDS, FIT_TOLERANCE = 500, 1e-9
FIT_ROWS = 100_000  # of linked tables, that are scaled to in all rounds together


class Least(StrEnum):
    """What a pattern should hide as little of as can be."""

    COUNTS = "counts"  # the sum of all hidden figures
    FIGURES = "figures"  # how many are hidden


def suppress(
    table: Table,
    sets: Sequence[Sequence[str]] | None = None,
    *,
    layouts: Sequence[Layout] | None = None,
    out: Sequence[Layout] = (),
    rule: Rule | None = None,
    least: str = Least.COUNTS,
    guarantee: str = Guarantee.WHOLE,
    exact: bool | None = None,
    work: float | None = None,
    time_limit: float | None = PROOF_SECONDS,
    seconds: float | None = SEARCH_SECONDS,
    progress: Progress = silent,
) -> Masked | Unavailable:
    """The named tables (the full one with all its margins) with figures hidden so that it is safe.

    In place of sets of variables, `layouts` are the shapes of linked tables of this data: bands,
    subtotals, parts. They are protected as one set, on the coarsest table that has all of them;
    layouts that are `out` are known exactly.

    A pattern goes out only if at least the `guarantee` is proved of it; `Masked.protection` and
    `Masked.effect` say what is. The search takes at most `seconds`, or `work` if that is less,
    counted by what it does and not by the clock, so that a pattern can be made again. That it is
    the least is proved, or a lesser one found, where `exact`; None decides by size. `time_limit` is
    that of the bounds in seconds. The number of persons is taken to be known and is never hidden.

    Unavailable says why where no pattern is safe, or none was found and proved in time.
    """
    if least not in list(Least):
        raise InputError(must_be("least", f"one of {', '.join(Least)}", repr(least)))
    if guarantee not in list(Guarantee):
        raise InputError(must_be("guarantee", f"one of {', '.join(Guarantee)}", repr(guarantee)))
    allowed = _allowed(work, seconds)
    rule = rule or Rule()
    figures = figures_to_protect(table, sets, layouts, out=out, unions=rule.unions)
    problem = Problem(
        figures=figures,
        rule=rule,
        counts=figures.table.dense().ravel(),
        sensitive=np.flatnonzero(rule.is_sensitive(figures.counts) & ~figures.is_out),
        costs=_costs(figures, Least(least)),
        budget=Budget(allowed),
        guarantee=Guarantee(guarantee),
    )
    if exact is None:
        exact = len(problem.sensitive) * figures.table.n_cells <= EXACT_SIZE
    found = _pattern(problem, exact, progress)
    if isinstance(found, Unavailable):
        return found
    pattern, limit = found
    problem, figures = pattern.problem, pattern.problem.figures  # with the unions that it protects
    tables = [problem.counts, *pattern.witnesses()]
    protection = replace(
        proved(figures, pattern.hidden, rule, problem.sensitive, tables, time_limit, progress),
        guarantee=pattern.guarantee(),
    )
    asked: dict[str, Parameter] = {
        "least": str(least),
        "guarantee": str(guarantee),
        "exact": exact,
        "work": problem.budget.seconds,
    }
    return _masked(problem, pattern, limit, protection, asked)


def _allowed(work: float | None, seconds: float | None) -> float:
    """Nominal seconds for the search."""
    if work is not None:
        work = checked_work(work)
    given = [one for one in (work, seconds) if one is not None and isfinite(one)]
    return min(given, default=SEARCH_SECONDS)


def _costs(figures: Figures, least: Least) -> IntArray:
    """What it costs to hide each figure: 1, or its count with ties broken by number."""
    if least is Least.FIGURES:
        return np.ones(figures.n, dtype=np.int64)
    counts, scale = figures.counts.copy(), figures.n + 1
    while sum(counts.tolist()) * scale >= HEAVIEST:
        counts //= 2
    return counts * scale + 1


def _pattern(
    problem: Problem, exact: bool, progress: Progress
) -> tuple[Pattern, Limit] | Unavailable:
    """A safe pattern and what is known of the least one, or why there is none."""
    figures, budget = problem.figures, problem.budget
    small = problem.sensitive[figures.is_total[problem.sensitive]]
    try:
        if len(small):
            raise Unprotectable(small.tolist(), proved=True)
        if not budget.seconds:
            raise OutOfTime
        found = with_unions(safe_pattern(problem, progress=progress), progress=progress)
    except Unprotectable as without:
        return _not_protected(figures, without)
    except OutOfTime:
        return Unavailable(
            f"no pattern of suppression was found and proved within {budget.seconds:.3g} s; "
            "allow more"
        )
    return _better(found.problem, found, exact, progress)


def _better(
    problem: Problem, found: Pattern, exact: bool, progress: Progress
) -> tuple[Pattern, Limit] | Unavailable:
    """The pattern made to hide less.

    Where the guard of the clock ends that, what was done by then is what the record says is to be
    done, so that the same pattern can be made again.
    """
    limit = Limit()
    try:
        thin(problem, found, progress=progress)
        if exact:
            found, limit = least_pattern(problem, found, progress=progress)
        if limit.cost is None and isinstance(problem.figures, LinkedFigures):
            least = covering_limit(problem)
            limit = Limit(least, is_proved=least >= found.cost)
        if not limit.is_proved:
            make_parts_anew(problem, found, progress=progress)
        found = with_unions(found, progress=progress)
        limit = _settled(limit, found)
    except OutOfTime:
        problem.budget.seconds = problem.budget.spent
    except Unprotectable as without:
        return _not_protected(found.problem.figures, without)
    if len(unsafe := found.open()):
        return _not_protected(problem.figures, Unprotectable(unsafe, proved=False))
    return found, limit


def _settled(limit: Limit, pattern: Pattern) -> Limit:
    """What is known of the least cost, told of a pattern that came after it."""
    return replace(limit, is_proved=limit.cost is not None and limit.cost >= pattern.cost)


def _not_protected(figures: Figures, without: Unprotectable) -> Unavailable:
    named = listed(figures.name(figure) for figure in without.figures)
    if without.proved:
        return Unavailable(
            f"no pattern of suppression is safe: {named} would be known more closely than asked "
            "with all else hidden; publish fewer or coarser tables, or ask for less width"
        )
    return Unavailable(f"no safe pattern was found for {named} within the work; allow more")


def _masked(
    problem: Problem,
    pattern: Pattern,
    limit: Limit,
    protection: Protection,
    asked: dict[str, Parameter],
) -> Masked:
    figures, rule = problem.figures, problem.rule
    table, hidden = figures.table, pattern.hidden
    return Masked(
        mask=NAME,
        title=f"{_sensitive_text(rule)} suppressed, {figures.text()}",
        source=table,
        published=figures.published(~hidden),
        known=statements(figures, hidden, rule),
        estimate=filled_in(figures, hidden),
        effect=_effect(problem, pattern, limit),
        parameters=MappingProxyType({**figures.record(), **_rule_parameters(rule), **asked}),
        protection=protection,
        beyond=_beyond(rule),
    )


def _sensitive_text(rule: Rule) -> str:
    least = 0 if rule.zeros == Zeros.SENSITIVE else 1
    return f"counts {least} to {rule.small}" if rule.small > least else f"counts of {least}"


def _rule_parameters(rule: Rule) -> dict[str, Parameter]:
    return {
        "small": rule.small,
        "protect": rule.width,
        "lower": rule.lower,
        "upper": rule.upper,
        "above_small": rule.above_small,
        "zeros": str(rule.zeros),
        "rule_known": rule.rule_known,
        "unions": rule.unions,
    }


def _effect(problem: Problem, pattern: Pattern, limit: Limit) -> str:
    figures, printed = problem.figures, problem.figures.n_printed
    n = int(pattern.hidden[:printed].sum())
    primary = int(np.count_nonzero(problem.sensitive < printed))
    hidden = int(figures.counts[:printed][pattern.hidden[:printed]].sum())
    total = int(figures.counts[:printed].sum())
    holds = pattern.guarantee()
    proved_words = f" {holds.words}" if primary and holds is not None else ""
    return (
        f"Of {printed:,} figures {n:,} are hidden (sensitive: {primary:,}, to protect "
        f"them: {n - primary:,}), {_share(hidden, total)} of the sum of all figures; "
        f"{_optimality(problem, pattern, limit)}.{proved_words}{_unions(pattern)} "
        "The estimate fills hidden cells by proportional fitting to what is shown."
    )


def _unions(pattern: Pattern) -> str:
    """What is to be said of small sums of hidden figures."""
    if pattern.problem.rule.unions:
        return " Small sums of hidden figures beside each other are as uncertain."
    known = derivable_unions(pattern, PROOF_SECONDS)
    if not known:
        return ""
    return (
        f" But small sums of hidden figures can be worked out exactly: {listed(known)}; protect "
        "them too (unions)."
    )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2g} %"


def _is_coarse(problem: Problem) -> bool:
    """Whether counts were too large to be charged to the last person."""
    most = int(problem.figures.counts.max())
    return int(problem.costs.max()) not in (1, most * (problem.figures.n + 1) + 1)


def _optimality(problem: Problem, pattern: Pattern, limit: Limit) -> str:
    if limit.is_proved and _is_coarse(problem):
        return "no safe pattern hides less (proved up to the rounding of huge counts)"
    if limit.is_proved:
        return "no safe pattern hides less (proved)"
    if limit.cost is None:
        return "found step by step, a safe pattern may hide less"
    gap = 1 - limit.cost / max(pattern.cost, 1)
    return f"a safe pattern that hides less may exist, by {100 * gap:.2g} % at most"


def _beyond(rule: Rule) -> str:
    known = "" if rule.rule_known else "That hidden figures obey the rule is taken to be unknown. "
    return (
        f"{known}The bounds hold for an intruder who knows which figures may be hidden. One who "
        "repeats the choice of the pattern for every possible table can learn more: the pattern "
        "hides as little as it can, and each hidden figure protects a sensitive one."
    )


def filled_in(figures: Figures, hidden: BoolArray) -> FloatArray:
    """Shown cells as they are; hidden ones even at first, then scaled to every shown figure."""
    table = figures.table
    alone = figures.n_summed == 1
    fixed = np.zeros(table.n_cells, dtype=np.bool_)
    truth = np.zeros(table.n_cells)
    for figure in np.flatnonzero(alone & ~hidden).tolist():
        fixed[figures.cells(figure)] = True
        truth[figures.cells(figure)] = figures.counts[figure]
    rows = [
        (group[~fixed[group]], float(figures.counts[f] - truth[group].sum()))
        for f in np.flatnonzero(~hidden & ~alone).tolist()
        if np.any(~fixed[group := figures.cells(f)])
    ]
    rows.append((np.flatnonzero(~fixed), float(table.total - truth.sum())))
    # Subtotals on many levels are many rows that say nearly the same.
    rounds = max(1, FIT_ROWS // len(rows)) if isinstance(figures, LinkedFigures) else FIT_ROUNDS
    start = np.where(fixed, truth, 1.0)
    return _scaled_to(rows, start, min(rounds, FIT_ROUNDS)).reshape(table.sizes)


def _scaled_to(rows: list[tuple[IntArray, float]], start: FloatArray, rounds: int) -> FloatArray:
    """Proportional fitting of the free cells to sums over groups of them."""
    found = start.copy()
    for _ in range(rounds):
        worst = 0.0
        for group, wanted in rows:
            now = float(found[group].sum())
            worst = max(worst, abs(now - wanted) / max(wanted, 1.0))
            if now > 0:
                found[group] *= wanted / now
        if worst < FIT_TOLERANCE:
            break
    return found
