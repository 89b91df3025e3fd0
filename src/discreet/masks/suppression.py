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
from functools import partial
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
from discreet.masks.replay import Replay
from discreet.masks.rounding import checked_seed
from discreet.masks.solving import Budget, checked_work
from discreet.masks.suppression_choice import pattern_around, pattern_of_little_cost
from discreet.masks.suppression_decoys import Drawing, Secret, secret_of
from discreet.masks.suppression_figures import (
    Figures,
    Rule,
    Zeros,
    statements,
)
from discreet.masks.suppression_following import derivable_unions
from discreet.masks.suppression_pattern import Pattern, Problem
from discreet.masks.suppression_proof import PatternAudit, audit_pattern, listed, proved
from discreet.masks.suppression_replay import Chosen, PatternByChance, pattern_again
from discreet.masks.suppression_search import Limit
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray
from discreet.progress import Progress, silent

__all__ = ["Guarantee", "Least", "PatternAudit", "Rule", "Zeros", "audit_pattern", "suppress"]

NAME = "suppression"
PROOF_SECONDS = 5.0
SEARCH_SECONDS = 60.0
EXACT_SIZE = 1000  # sensitive figures × cells up to which the least pattern is sought by default
HEAVIEST = 2**50  # all costs together, so that a solver's bounds on them are exact
ALL_ALIKE = "which of them are small is secret, and each is protected"
NO_DECOYS = "Decoys, with which he cannot, are not drawn for linked tables."
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
    beside: Sequence[Layout] = (),
    rule: Rule | None = None,
    least: str = Least.COUNTS,
    guarantee: str = Guarantee.WHOLE,
    exact: bool | None = None,
    work: float | None = None,
    seed: int | None = None,
    time_limit: float | None = PROOF_SECONDS,
    seconds: float | None = SEARCH_SECONDS,
    progress: Progress = silent,
) -> Masked | Unavailable:
    """The named tables (the full one with all its margins) with figures hidden so that it is safe.

    In place of sets of variables, `layouts` are the shapes of linked tables of this data: bands,
    subtotals, parts. They are protected as one set, on the coarsest table that has all of them;
    layouts that are `out` are known exactly, and what layouts `beside` tell apart is told apart.

    A pattern goes out only if at least the `guarantee` is proved of it; `Masked.protection` and
    `Masked.effect` say what is. The search takes at most `seconds`, or `work` if that is less,
    counted by what it does and not by the clock, so that a pattern can be made again. That it is
    the least is proved, or a lesser one found, where `exact`; None decides by size. `time_limit` is
    that of the bounds in seconds. The number of persons is taken to be known and is never hidden.

    Without a seed the pattern is one of little cost, which someone who owns this program can make
    again from every table that fits. With a seed, which must be secret, decoys are hidden with the
    sensitive figures, costs are drawn, and every hidden figure is protected alike.

    Unavailable says why where no pattern is safe, or none was found and proved in time.
    """
    if least not in list(Least):
        raise InputError(must_be("least", f"one of {', '.join(Least)}", repr(least)))
    if guarantee not in list(Guarantee):
        raise InputError(must_be("guarantee", f"one of {', '.join(Guarantee)}", repr(guarantee)))
    if seed is not None and layouts is not None:
        raise InputError(must_be("decoys", "left out where tables are named", "them"))
    allowed = _allowed(work, seconds)
    rule = rule or Rule()
    figures = figures_to_protect(table, sets, layouts, out=out, beside=beside, unions=rule.unions)
    problem = Problem(
        figures=figures,
        rule=rule,
        counts=figures.table.dense().ravel(),
        sensitive=np.flatnonzero(rule.is_sensitive(figures.counts) & ~figures.is_out),
        costs=_costs(figures, Least(least)),
        budget=Budget(allowed),
        guarantee=Guarantee(guarantee),
    )
    found = chosen_pattern(problem, Least(least), exact, seed, progress)
    if isinstance(found, Unavailable):
        return found
    pattern, limit = found
    problem, figures = pattern.problem, pattern.problem.figures  # with the unions that it protects
    tables = [problem.counts, *pattern.witnesses()]
    protected = pattern.problem.sensitive
    protection = replace(
        proved(figures, pattern.hidden, rule, protected, tables, time_limit, progress),
        guarantee=pattern.guarantee(),
    )
    asked: dict[str, Parameter] = {
        "least": str(least),
        "guarantee": str(guarantee),
        "exact": _is_exact(problem, exact, seed),
        "work": problem.budget.seconds,
        "decoys": seed is not None,
    }
    masked = _masked(problem, pattern, limit, protection, asked, seed)
    if isinstance(figures, LinkedFigures):  # not made again for every table that fits
        return masked
    replay = _replay(problem, pattern.hidden, allowed, Least(least), exact, seed)
    return replace(masked, replay=replay)


def _replay(
    problem: Problem,
    hidden: BoolArray,
    work: float,
    least: Least,
    exact: bool | None,
    seed: int | None,
) -> Replay:
    """The same suppression of another table, as someone makes it who owns this program."""
    if seed is None:
        return pattern_again(problem, hidden, work, partial(_pattern_anew, least, exact))
    is_exact = _is_exact(problem, exact, seed)
    return PatternByChance(problem, hidden, work, partial(_pattern_drawn_anew, least, is_exact))


def _pattern_anew(least: Least, exact: bool | None, other: Problem) -> Chosen:
    return chosen_pattern(_costed(other, least), least, exact, None)


def _pattern_drawn_anew(least: Least, exact: bool, other: Problem, secret: Secret) -> Chosen:
    return pattern_by_secret(other, least, exact, secret)


def _costed(problem: Problem, least: Least) -> Problem:
    return replace(problem, costs=_costs(problem.figures, least))


def chosen_pattern(
    problem: Problem,
    least: Least,
    exact: bool | None,
    seed: int | None,
    progress: Progress = silent,
) -> tuple[Pattern, Limit] | Unavailable:
    """The pattern for a problem: of little cost, or around the decoys that a seed decides."""
    is_exact = _is_exact(problem, exact, seed)
    if seed is None:
        return pattern_of_little_cost(problem, is_exact, progress)
    secret = secret_of(checked_seed(seed), problem.figures.n)
    return pattern_by_secret(problem, least, is_exact, secret, progress)


def pattern_by_secret(
    problem: Problem, least: Least, exact: bool, secret: Secret, progress: Progress = silent
) -> tuple[Pattern, Limit] | Unavailable:
    """The pattern around the decoys that a secret decides, at the costs that it decides."""
    drawing = Drawing.of(problem.figures, problem.rule, problem.figures.counts)
    costs = drawing.costs(secret, alike=least is Least.FIGURES)
    decoys = drawing.decoys(secret)
    return pattern_around(replace(problem, costs=costs), decoys, exact, progress)


def _is_exact(problem: Problem, exact: bool | None, seed: int | None) -> bool:
    """Whether the least pattern is sought: by size, where nothing is said. Not with decoys, whose
    costs are drawn: and what is done must not hang on how many figures are small."""
    if exact is not None:
        return exact
    n_sought = len(problem.sensitive) * problem.figures.table.n_cells
    return seed is None and n_sought <= EXACT_SIZE


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


def _masked(
    problem: Problem,
    pattern: Pattern,
    limit: Limit,
    protection: Protection,
    asked: dict[str, Parameter],
    seed: int | None,
) -> Masked:
    figures, rule = problem.figures, problem.rule
    table, hidden = figures.table, pattern.hidden
    with_decoys = "" if seed is None else " with decoys"
    return Masked(
        mask=NAME,
        title=f"{_sensitive_text(rule)} suppressed{with_decoys}, {figures.text()}",
        source=table,
        published=figures.published(~hidden),
        known=statements(figures, hidden, rule),
        estimate=filled_in(figures, hidden),
        effect=_effect(problem, pattern, limit, seed),
        parameters=MappingProxyType({**figures.record(), **_rule_parameters(rule), **asked}),
        seed=seed,
        protection=protection,
        beyond=_beyond(rule, seed, is_linked=isinstance(figures, LinkedFigures)),
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


def _effect(problem: Problem, pattern: Pattern, limit: Limit, seed: int | None) -> str:
    figures, printed = problem.figures, problem.figures.n_printed
    n = int(pattern.hidden[:printed].sum())
    primary = int(np.count_nonzero(problem.sensitive < printed))
    hidden = int(figures.counts[:printed][pattern.hidden[:printed]].sum())
    total = int(figures.counts[:printed].sum())
    holds = pattern.guarantee()
    told = "" if holds is None or not n else f" {holds.words}"
    proved_words = told if seed is None else told.replace("sensitive", "hidden")
    what = "to protect them" if seed is None else "decoys, and to protect them"
    how = _optimality(problem, pattern, limit) if seed is None else ALL_ALIKE
    return (
        f"Of {printed:,} figures {n:,} are hidden (sensitive: {primary:,}, {what}: "
        f"{n - primary:,}), {_share(hidden, total)} of the sum of all figures; {how}."
        f"{proved_words}{_unions(pattern)} "
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


def _beyond(rule: Rule, seed: int | None, *, is_linked: bool = False) -> str:
    known = "" if rule.rule_known else "That hidden figures obey the rule is taken to be unknown. "
    if seed is None:
        return (
            f"{known}The bounds hold for an intruder who knows which figures may be hidden. One "
            "who repeats the choice of the pattern for every possible table can learn more: the "
            "pattern hides as little as it can, and each hidden figure protects a sensitive one. "
            f"{NO_DECOYS if is_linked else 'With decoys he cannot.'}"
        )
    if rule.lower or rule.upper:
        return (
            f"{known}Which hidden figures are small is secret. That each lies so far from its own "
            "count as was asked can tell an intruder who repeats the choice of the pattern more "
            "than the bounds do."
        )
    return (
        f"{known}Decoys are hidden with the small figures, and nobody is told which is which: "
        "every table that fits could have led to this pattern, so the bounds hold for an intruder "
        "who repeats its choice too. How probable the pattern is under each of these tables can "
        "tell him more than the bounds."
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
