"""S2 released with d decimals: every factorisation of e^S2 within the interval (kadane 3.4).

What the tables of all these factorisations weigh can be said in three ways:
- `all_equal`: every table is as probable as any other (the paper's first choice);
- `sets_equal`: every factorisation is, and within it every table (its second choice, as we read
  it);
- `proper`: P(f) ∝ e^(−ν S2(f)) / ∏ f_j!, which follows from independent counts. The first factor
  varies by no more than e^(ν · width), so that a rough dispersion ν is good enough.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array
from scipy.special import gammaln

from discreet.compoisson.equations import Sums
from discreet.compoisson.estimated_laws import listed
from discreet.compoisson.estimation import Fit, maximum_likelihood
from discreet.compoisson.factorials import log_of_factorisation
from discreet.compoisson.factorisation_search import factorisations
from discreet.compoisson.knowledge import Knowledge
from discreet.compoisson.laws import Part, TableLaw, exact_law, mixture
from discreet.compoisson.listed_laws import listed_law
from discreet.compoisson.snooper import Effort, snooper
from discreet.compoisson.statistics import CountStatistics, DecimalLog, check_counts
from discreet.data.arrays import IntArray
from discreet.errors import DiscreetError, InputError, must_be
from discreet.fiber.counting import count_exactly
from discreet.fiber.dynamic_programming import Budget
from discreet.fiber.dynamic_programming_plan import BudgetExceeded
from discreet.figures import Unavailable

MOST_FACTORISATIONS = 100_000
MOST_LISTED = 100_000  # tables up to which all are listed
WEIGHTINGS = ("proper", "all_equal", "sets_equal")


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorisationSet:
    """A factorisation within the interval, its S2, and how many tables have it."""

    factorisation: Mapping[int, int]
    log_factorial_total: float
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncatedReconstruction:
    """What a snooper finds from n, S1 and a rounded S2.

    `sets` are the factorisations that some table has, in order of S2; `count` is the number of all
    their tables; `bounds` are their least and greatest cells. Laws go by the weighting;
    `dispersion` is the ν of `proper`.
    """

    n: int
    total: int
    released: DecimalLog
    knowledge: tuple[str, ...]
    sets: tuple[FactorisationSet, ...]
    count: int
    bounds: tuple[IntArray, IntArray] | Unavailable
    dispersion: float
    laws: Mapping[str, TableLaw | Unavailable]


def reconstruct_truncated(
    n: int,
    total: int,
    released: DecimalLog,
    knowledge: Knowledge | None = None,
    *,
    truth: Mapping[int, int] | None = None,
    dispersion: float | None = None,
    effort: Effort | None = None,
) -> TruncatedReconstruction | Unavailable:
    """All that a snooper finds, or why the search does not fit.

    `dispersion` is that of `proper`; where left out, the maximum-likelihood estimate from a
    factorisation in the middle, or 1 where there is none. Raises InputError where no table has
    such statistics.
    """
    effort, knowledge = effort or Effort(), knowledge or Knowledge()
    budget = effort.budget()
    try:
        found = _inhabited(n, total, released, knowledge, budget)
    except BudgetExceeded as ended:
        return Unavailable(str(ended))
    if not found:
        raise _no_table(n, total, released, knowledge)
    sets = tuple(one.one for one in found)
    nu = _dispersion(n, total, sets) if dispersion is None else dispersion
    n_cells = max(part.system.n_named for one in found for part in one.parts)
    cells = None if truth is None else _cells(truth, n, total, n_cells)
    if sum(one.count for one in sets) <= MOST_LISTED:
        laws = _listed_laws(found, nu, n_cells, cells)
    else:
        laws = _mixed_laws(_widened([one.parts for one in found]), sets, nu, cells, effort)
    return TruncatedReconstruction(
        n=n,
        total=total,
        released=released,
        knowledge=knowledge.described(),
        sets=sets,
        count=sum(one.count for one in sets),
        bounds=_limits(laws),
        dispersion=nu,
        laws=laws,
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """A factorisation with its tables: as parts, and as a list while all of them are few."""

    one: FactorisationSet
    parts: tuple[Part, ...]
    listed: tuple[IntArray, ...]


def _inhabited(
    n: int, total: int, released: DecimalLog, knowledge: Knowledge, budget: Budget
) -> list[_Found]:
    """The factorisations that some table has, each with its tables, in order of S2."""
    found: list[_Found] = []
    so_far = 0
    for number, exponents in enumerate(factorisations(n, total, released, knowledge)):
        if number >= MOST_FACTORISATIONS:
            message = f"more than {MOST_FACTORISATIONS:,} factorisations fit this S2"
            raise BudgetExceeded(f"{message}; state the largest value or more decimals")
        budget.check_time(f"looking through factorisations, {number:,} so far")
        parts = _parts(n, total, exponents, knowledge)
        few = [t for part in parts for t in listed(part.system, limit=MOST_LISTED + 1 - so_far)]
        so_far = min(MOST_LISTED + 1, so_far + len(few))
        if so_far > MOST_LISTED:
            count = sum(count_exactly(part.system, budget=budget) for part in parts)
        else:
            count = len(few)
        if count:
            log = float(log_of_factorisation(exponents, 20))
            one = FactorisationSet(factorisation=exponents, log_factorial_total=log, count=count)
            found.append(_Found(one, parts, tuple(few)))
    return sorted(found, key=lambda found: found.one.log_factorial_total)


def _parts(n: int, total: int, exponents: dict[int, int], knowledge: Knowledge) -> tuple[Part, ...]:
    """The tables of one factorisation, none where the knowledge contradicts it at sight."""
    try:
        return snooper(Sums(n, total, exponents), knowledge).parts
    except InputError:
        return ()


def _widened(all_parts: list[tuple[Part, ...]]) -> list[tuple[Part, ...]]:
    """The parts with as many cells as the widest; cells added are zero."""
    most = max(part.system.n_named for parts in all_parts for part in parts)
    return [tuple(_with_cells(part, most) for part in parts) for parts in all_parts]


def _with_cells(part: Part, n_cells: int) -> Part:
    system, extra = part.system, n_cells - part.system.n_named
    if extra == 0:
        return part
    old = csr_array(system.matrix).tocoo()
    columns = np.where(old.col < system.n_named, old.col, old.col + extra)
    none, at = np.zeros(extra, np.int64), [system.n_named] * extra
    wider = replace(
        system,
        matrix=csr_array(
            (old.data, (old.row, columns)), shape=(system.n_rows, system.n_columns + extra)
        ),
        right=system.right.copy(),
        lower=np.insert(system.lower, at, none),
        upper=np.insert(system.upper, at, none),
        n_named=n_cells,
    )
    return replace(part, system=wider)


def _mixed_laws(
    parts: list[tuple[Part, ...]],
    sets: tuple[FactorisationSet, ...],
    dispersion: float,
    truth: IntArray | None,
    effort: Effort,
) -> dict[str, TableLaw | Unavailable]:
    middle = sets[0].log_factorial_total
    labelled = [
        replace(
            part,
            group=str(number),
            name=str(dict(one.factorisation)),
            log_offset=-dispersion * (one.log_factorial_total - middle),
        )
        for number, (one, own) in enumerate(zip(sets, parts, strict=True))
        for part in own
    ]
    plain = [replace(part, log_offset=0.0) for part in labelled]
    ways = {
        "proper": (labelled, "multinomial", False),
        "all_equal": (plain, "uniform", False),
        "sets_equal": (plain, "uniform", True),
    }
    return {name: _law(*ways[name], truth, effort) for name in WEIGHTINGS}


def _listed_laws(
    found: list[_Found], dispersion: float, n_cells: int, truth: IntArray | None
) -> dict[str, TableLaw | Unavailable]:
    """The same laws from the list of all tables."""
    stacked = [np.stack(one.listed) for one in found]
    wide = np.concatenate([np.pad(t, ((0, 0), (0, n_cells - t.shape[1]))) for t in stacked])
    counts = np.array([one.one.count for one in found])
    logs = np.array([one.one.log_factorial_total for one in found])
    orders = -gammaln(wide + 1.0).sum(axis=1)
    proper = orders - dispersion * np.repeat(logs - logs[0], counts)
    weights = {
        "proper": (proper, "multinomial"),
        "all_equal": (np.zeros(len(wide)), "uniform"),
        "sets_equal": (-np.log(np.repeat(counts, counts)), "uniform"),
    }
    return {name: listed_law(wide, *weights[name], truth) for name in WEIGHTINGS}


def _law(
    parts: list[Part], prior: str, equal_groups: bool, truth: IntArray | None, effort: Effort
) -> TableLaw | Unavailable:
    try:
        mixed = mixture(parts, prior, equal_groups=equal_groups, budget=effort.budget())
        return exact_law(mixed, truth=truth, budget=effort.budget())
    except BudgetExceeded as ended:
        return Unavailable(str(ended))


def _dispersion(n: int, total: int, sets: tuple[FactorisationSet, ...]) -> float:
    """The maximum-likelihood dispersion in the middle of the interval, 1 where there is none."""
    middle = sets[len(sets) // 2]
    try:
        fit = maximum_likelihood(CountStatistics(n, total, middle.factorisation))
    except DiscreetError:
        return 1.0
    return fit.dispersion if isinstance(fit, Fit) else 1.0


def _cells(truth: Mapping[int, int], n: int, total: int, n_cells: int) -> IntArray:
    counts = check_counts(truth)
    same = sum(counts.values()) == n and sum(x * c for x, c in counts.items()) == total
    if not same or max(counts) >= n_cells:
        raise InputError(must_be("the true table", "one with the released statistics", "another"))
    return np.array([counts.get(j, 0) for j in range(n_cells)], dtype=np.int64)


def _limits(laws: Mapping[str, TableLaw | Unavailable]) -> tuple[IntArray, IntArray] | Unavailable:
    """The least and the greatest count of each cell over all tables."""
    law = laws["all_equal"]
    if isinstance(law, Unavailable):
        return law
    lower = np.array([cell.support.min() for cell in law.cells], dtype=np.int64)
    upper = np.array([cell.support.max() for cell in law.cells], dtype=np.int64)
    return lower, upper


def _no_table(n: int, total: int, released: DecimalLog, knowledge: Knowledge) -> InputError:
    known = f", and {'; '.join(knowledge.described())}" if knowledge else ""
    rule = f"an S2 that some {n} counts with a total of {total} have{known}"
    got = f"{released.value} ({'truncated' if released.truncated else 'rounded'})"
    return InputError(must_be("S2", rule, got, remedy="no product of factorials lies near it"))
