"""The choice for a table too large to be looked at cell by cell: margins by search alone."""

from collections.abc import Iterator

import numpy as np

from discreet.belief.closed_belief import MOST_VALUES, closed_belief
from discreet.belief.intruder_priors import prior_named
from discreet.choice.best_set.best_margins import BestMargins
from discreet.choice.candidates import NOTHING, SAFE
from discreet.choice.choice import Candidate, Standing, choose
from discreet.choice.options import ChooseOptions
from discreet.choice.risk_utility import PROVED, QUICKEST, RiskUtility, worst
from discreet.choice.users import REQUESTS, scientists
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.fiber.bounds.cell_bounds import bounds
from discreet.fiber.system.margins import Margins, maximal
from discreet.fiber.system.priors import DirichletMultinomial
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.rounding import first_largest
from discreet.tables.measures import best_value, surely_above, tightness
from discreet.tables.refused_margin import Policy
from discreet.tables.release import MOST_NAMED

LARGEST_SPREAD = 2**60  # cells beyond which one more or less makes no difference
BOUNDS_SECONDS = 30.0

Names = tuple[tuple[str, ...], ...]


def check_large(options: ChooseOptions) -> None:
    """Raises InputError where somebody is named whom a table so large cannot be held against."""
    if set(options.users or {REQUESTS: 1.0}) != {REQUESTS}:
        rule = f"{REQUESTS!r} alone for a table so large"
        raise InputError(must_be("user", rule, ", ".join(options.users or ())))
    guarded = options.measure.policy is Policy.CELLS and options.intruders != (QUICKEST,)
    if guarded:
        rule = f"{QUICKEST!r} alone for a table so large"
        remedy = "a least width of bounds (min_width) holds for every intruder"
        raise InputError(must_be("intruders", rule, ", ".join(options.intruders), remedy=remedy))


def large_choice(table: Table, best: BestMargins, options: ChooseOptions) -> RiskUtility:
    """Releasing nothing, the best set of margins that the search found, and others it met.

    Worth is the share of requests that is met, by weight. All but nothing were proved to be within
    the cap by the search, under the measure in the sense of `best_margins`.
    """
    check_large(options)
    candidates = list(_candidates(table, best, options))
    choice = choose(candidates, options.max_risk)
    within = [i for i, s in enumerate(choice.standings) if s is Standing.WITHIN]
    worths = [candidates[i].worth or 0.0 for i in within]
    top = within[first_largest(worths, scale=1.0)] if within else None
    requests = [(table.axes(names), weight) for names, weight in options.requests]
    return RiskUtility(
        table=table,
        options=options,
        scientists=scientists(options.users, requests),
        candidates=tuple(candidates),
        choice=choice,
        best_for={} if top is None else {REQUESTS: top},
        compromises=() if top is None else (top,),
        notes=(),
        search=best,
    )


def _candidates(table: Table, best: BestMargins, options: ChooseOptions) -> Iterator[Candidate]:
    share = best.utility / max(best.total_weight, 1e-300)
    yield _candidate(NOTHING, (), _risk_of_nothing(table, options), 0.0, is_nothing=True)
    if best.to_publish:
        yield _candidate(_title(best.to_publish), best.to_publish, best.risk, share, method=PROVED)
    safe = Figure(
        value=None,
        low=_least(table, options),
        high=options.max_risk,
        how=How.BOUND,
        note=SAFE,
    )
    for sets, utility in best.others:
        fresh = tuple(names for names in sets if names not in best.already)
        if fresh and fresh != best.to_publish:
            worth = utility / max(best.total_weight, 1e-300)
            yield _candidate(_title(fresh), fresh, safe, worth, method=PROVED)


def _candidate(
    title: str,
    sets: Names,
    risk: Outcome,
    worth: float,
    *,
    method: str = "",
    is_nothing: bool = False,
) -> Candidate:
    return Candidate(
        title=title,
        risk=risk,
        risks={"any": risk},
        utility=Figure(value=worth, how=How.EXACT),
        losses={REQUESTS: 1.0 - worth},
        worths={REQUESTS: worth},
        margins=sets,
        is_nothing=is_nothing,
        method=method,
    )


def _title(sets: Names) -> str:
    return "".join(f"[{' '.join(names)}]" for names in sets)


def _least(table: Table, options: ChooseOptions) -> float:
    """The least that a risk can be."""
    return -float(table.total) if options.measure.policy is Policy.BOUNDS else 0.0


def _risk_of_nothing(table: Table, options: ChooseOptions) -> Outcome:
    """What an intruder can do with what is out already, or with the total alone."""
    measure = options.measure
    small = table.small_cells(measure.small)[:MOST_NAMED]
    if options.out and measure.policy is Policy.BOUNDS and len(small):
        sets = maximal(table.axes(names) for names in options.out)
        margins = Margins(
            sizes=table.sizes, names=table.names, tables={s: table.margin(s) for s in sets}
        )
        found = bounds(margins, cells=small, time_limit=BOUNDS_SECONDS)
        return tightness((found.upper - found.lower).tolist(), found.complete)
    if options.out and len(small):
        return Unavailable("not computed for margins of a table so large")
    if measure.policy is Policy.BOUNDS or not len(small):
        return Figure(value=_least(table, options), how=How.EXACT)
    return worst({name: _found_by_total(table, options, name) for name in options.intruders})


def _found_by_total(table: Table, options: ChooseOptions, name: str) -> Outcome:
    """(5) from the total alone: all cells have one distribution, so that counts of one value are
    found.
    """
    if table.total > MOST_VALUES:
        return Unavailable(f"not computed for more than {MOST_VALUES:,} persons")
    cells = min(table.n_cells, LARGEST_SPREAD)
    prior = prior_named(name, 1)
    if name == "dirichlet":
        prior = DirichletMultinomial(np.full(1, options.measure.alpha))
    total = np.array(table.total, dtype=np.int64)
    distribution = closed_belief(
        Margins(sizes=(cells,), names=("cell",), tables={(): total}), prior
    )
    if distribution is None:
        return Unavailable("not known in closed form")
    one = distribution.cell(0)
    best = best_value(one)
    small = table.counts[table.counts <= options.measure.small]
    hit = one[best] > surely_above(options.measure.confidence)
    return Figure(value=float((small == best).mean()) if hit else 0.0, how=How.EXACT)
