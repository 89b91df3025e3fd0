"""S2 released with d decimals: every factorisation of e^S2 within the interval (kadane 3.4).

S2 = Σ exponent · log p. Logarithms are taken as whole numbers of 10^−(d + 30), so that whether a
factorisation lies in the interval is decided beyond doubt. Exponents are searched for prime by
prime from the largest down, within limits that linear programming sets from n and S1, and such that
e^S2 can be a product of factorials.

What the tables of all these factorisations weigh can be said in three ways:
- `all_equal`: every table is as probable as any other (the paper's first choice);
- `sets_equal`: every factorisation is, and within it every table (its second choice, as we read
  it);
- `proper`: P(f) ∝ e^(−ν S2(f)) / ∏ f_j!, which follows from independent counts. The factor e^(−ν S2)
  varies by no more than e^(ν · width), so that a rough dispersion ν is good enough.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext

import numpy as np
from scipy.optimize import linprog

from discreet.compoisson.contradictions import contradiction
from discreet.compoisson.equations import Sums
from discreet.compoisson.estimation import Fit, maximum_likelihood
from discreet.compoisson.factorials import (
    factorial_exponent,
    least_table,
    log_of_factorisation,
    primes_to,
)
from discreet.compoisson.knowledge import Knowledge
from discreet.compoisson.laws import Part, TableLaw, exact_law, mixture
from discreet.compoisson.snooper import Effort, snooper
from discreet.compoisson.statistics import CountStatistics, DecimalLog, check_counts
from discreet.data.arrays import IntArray
from discreet.errors import DiscreetError, InputError, must_be
from discreet.fiber.counting import count_exactly
from discreet.fiber.dynamic_programming import Budget
from discreet.fiber.dynamic_programming_plan import BudgetExceeded
from discreet.figures import Unavailable

MOST_NODES = 1_000_000
MOST_FACTORISATIONS = 20_000
LARGEST_SEARCHED = 200  # value up to which tables are looked for behind a rounded S2
GUARD = 30  # decimals beyond those released
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
    their tables. Laws go by the weighting; `dispersion` is the ν of `proper`.
    """

    n: int
    total: int
    released: DecimalLog
    knowledge: tuple[str, ...]
    sets: tuple[FactorisationSet, ...]
    count: int
    lower: IntArray
    upper: IntArray
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
    sets = tuple(one for one, _ in found)
    nu = _dispersion(n, total, sets) if dispersion is None else dispersion
    parts = _widened([parts for _, parts in found])
    cells = None if truth is None else _cells(truth, n, total, parts[0][0].system.n_named)
    laws = _laws(parts, sets, nu, cells, effort)
    lower, upper = _limits(laws)
    return TruncatedReconstruction(
        n=n,
        total=total,
        released=released,
        knowledge=knowledge.described(),
        sets=sets,
        count=sum(one.count for one in sets),
        lower=lower,
        upper=upper,
        dispersion=nu,
        laws=laws,
    )
