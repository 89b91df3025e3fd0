"""The distribution of a hidden table: exact over disjoint sets of tables, or estimated from draws.

What is released can leave several sets of tables that exclude one another: one for each n, for each
place of a peak, for each factorisation within a rounded S2. A `Part` is one of them. Part i has the
weight Z_i e^offset, Z_i = Σ of the prior's weights; sets of one `group` share what the group gets.
Mixing is exact: H = Σ w_i (H_i − log2 w_i), and cell probabilities are means over parts.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.belief.belief import Exact, ListedBelief
from discreet.clock import Clock
from discreet.errors import InputError, must_be
from discreet.fiber.sums.dynamic_programming import Budget
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.sums.lines import Lines, lines_of
from discreet.fiber.sums.marginals import Posterior, most_probable_table
from discreet.fiber.system.linear_system import System
from discreet.fiber.system.priors import Multinomial, Prior, Uniform
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.arrays import FloatArray, IntArray, read_only
from discreet.numerics.rounding import ALIKE, first_largest
from discreet.numerics.special import log_sum
from discreet.progress import Progress, silent

if TYPE_CHECKING:
    from discreet.belief.drawn_belief import DrawnBelief

PRIORS: dict[str, Prior] = {"multinomial": Multinomial(), "uniform": Uniform()}
Z = 1.96  # standard errors to a limit that is passed once in 40 times
MOST_BITS = 1000.0  # 2^H beyond this is no number to print
NO_BEST = Unavailable("draws cannot tell which table is the most probable")


@dataclass(frozen=True, kw_only=True)
class Part:
    """A set of tables, what it is called, the group it belongs to, and the log of its weight."""

    system: System
    name: str = ""
    group: str = ""
    log_offset: float = 0.0

    @cached_property
    def _lines(self) -> Lines | None:
        if np.any(self.system.lower > self.system.upper):
            return None
        try:
            return lines_of(self.system)
        except BudgetExceeded:
            return None

    def lines(self, budget: Budget | None = None) -> Lines | None:
        """Its tables on lines, searched for once; None where they have none, or where the search
        goes beyond the budget."""
        left = None if budget is None else budget.seconds_left
        if left is not None and left <= 0:
            return None
        found = self._lines
        if found is None or (budget is not None and found.n_states > budget.states):
            return None
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class CellDistribution:
    """The distribution of one cell: `probabilities` of the counts in `support`, and the mean.

    Where draws estimate the distribution, the mean has a `standard_error`, the probabilities have
    `errors`, and `effective_draws` is the number of unweighted draws that would tell as much."""

    cell: int
    support: IntArray
    probabilities: FloatArray
    mean: float
    standard_error: float | None = None
    errors: FloatArray | None = None
    effective_draws: float | None = None

    def __post_init__(self) -> None:
        read_only(self.support)
        read_only(self.probabilities)

    @property
    def best_guess(self) -> int:
        """The most probable count; the least of several."""
        return int(self.support[first_largest(self.probabilities)])

    @property
    def best_guess_probability(self) -> float:
        """The probability that the best guess is right."""
        return float(min(1.0, self.probabilities.max()))

    @property
    def entropy(self) -> float:
        """Doubt about this cell alone [bits]."""
        p = self.probabilities[self.probabilities > 0]
        return float(max(0.0, -np.sum(p * np.log2(p))))

    def probability(self, count: int) -> float:
        """Pr(cell = count)."""
        return float(min(1.0, self.probabilities[self.support == count].sum()))

    def probability_error(self, count: int) -> float | None:
        """The standard error of Pr(cell = count), None where it is exact."""
        return None if self.errors is None else float(self.errors[self.support == count].sum())

    def probability_upper(self, count: int) -> float:
        """What Pr(cell = count) is not above: itself where exact, else a 97.5 % limit.

        The limit is Wilson's with the effective draws, or 1.96 standard errors, the larger of the
        two: a count that no draw showed may still be possible.
        """
        p, n = self.probability(count), self.effective_draws
        if n is None:
            return p
        middle, square = p + Z**2 / (2 * n), p * (1 - p) / n + Z**2 / (4 * n**2)
        wilson = (middle + Z * math.sqrt(max(0.0, square))) / (1 + Z**2 / n)
        return min(1.0, max(wilson, p + Z * (self.probability_error(count) or 0.0)))


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDistribution:
    """What the intruder believes of the whole table under one prior.

    `entropy` in bits, `effective_tables` = 2^entropy, `reciprocal_entropy` = 1 / H as the paper
    measures risk. `best_guess` is the most probable table, None where draws cannot tell. The truth
    is scored where the holder gave it: its probability, and minus its base-2 logarithm.
    Where draws name no best guess, `best_guess_limit` is what its probability does not exceed.
    Cells below `first_value` are not identified, and their counts mean nothing. `groups` are the
    probabilities of the groups of tables that the distribution mixes, where they were told apart.
    """

    prior: str
    how: How
    cells: tuple[CellDistribution, ...]
    entropy: Outcome
    effective_tables: Outcome
    reciprocal_entropy: Outcome
    best_guess: tuple[int, ...] | None
    best_guess_probability: Outcome
    truth_probability: Outcome | None = None
    truth_surprisal: Outcome | None = None
    note: str = ""
    best_guess_limit: Outcome | None = None
    first_value: int = 0
    groups: Mapping[str, float] = field(default_factory=dict)

    @property
    def best_counts(self) -> dict[int, int | None] | None:
        """The most probable table {value: count}; None for counts that are not identified."""
        if self.best_guess is None:
            return None
        return {j: None if j < self.first_value else c for j, c in enumerate(self.best_guess)}


@dataclass(frozen=True)
class Mixture(Exact):
    """The belief over parts that exclude one another: `posteriors` of those that hold a table, and
    the share of each; shares add up to one."""

    prior: Prior
    posteriors: tuple[Posterior, ...]
    log_shares: FloatArray
    names: tuple[str, ...]
    groups: tuple[str, ...] = ()
    heaviest: tuple[IntArray | None, ...] = ()  # the most probable table of parts, where known
    method: str = "exact, by summing over all consistent tables"

    @property
    def shares(self) -> FloatArray:
        """The probability of each part."""
        found: FloatArray = np.exp(self.log_shares)
        return found

    @property
    def group_shares(self) -> dict[str, float]:
        """The probability of each group."""
        found: dict[str, float] = {}
        for name, share in zip(self.groups, self.shares.tolist(), strict=True):
            found[name] = found.get(name, 0.0) + share
        return found

    @property
    def lower(self) -> IntArray:
        """A value that each cell is never below."""
        least: IntArray = np.min([found.lower for found in self.posteriors], axis=0)
        return least

    @property
    def upper(self) -> IntArray:
        """A value that each cell is never above."""
        tops = [
            found.lower + [len(p) - 1 for p in found.probabilities] for found in self.posteriors
        ]
        most: IntArray = np.max(tops, axis=0)
        return most

    def cell(self, cell: int) -> dict[int, float]:
        """Pr(F(cell) = q), a mean over the parts."""
        ranges = [(int(f.lower[cell]), f.probabilities[cell]) for f in self.posteriors]
        low = min(start for start, _ in ranges)
        summed = np.zeros(max(start + len(p) for start, p in ranges) - low)
        for (start, p), share in zip(ranges, self.shares, strict=True):
            summed[start - low : start - low + len(p)] += share * p
        whole = summed.sum()
        return {low + int(q): float(summed[q] / whole) for q in np.flatnonzero(summed)}

    def entropy(self) -> Outcome:
        """Of the table [bits]; exactly 0 where one table is left."""
        if len(self.posteriors) == 1 and all(len(p) == 1 for p in self.posteriors[0].probabilities):
            return exact(0.0)
        own = np.array([found.entropy for found in self.posteriors])
        return exact(max(0.0, float(np.sum(self.shares * (own - self.log_shares / math.log(2))))))

    def log_probability(self, table: IntArray) -> tuple[float, float]:
        """log Pr(table) and 0 for its error; −inf where no part holds it."""
        for found, log_share in zip(self.posteriors, self.log_shares, strict=True):
            point = found.system.completed(table)
            if found.system.holds(point):
                return float(found.log_table_probability(table) + log_share), 0.0
        return -math.inf, 0.0

    def probability(self, table: IntArray) -> Outcome:
        """The probability of a whole table; 0 where no part holds it."""
        return exact(math.exp(min(0.0, self.log_probability(table)[0])))

    def most_probable(self) -> IntArray | None:
        """The most probable table."""
        return self.best(Budget())

    def best(self, budget: Budget, progress: Progress = silent) -> IntArray:
        """The most probable table, the first where parts are alike."""
        choices = []
        known = self.heaviest or (None,) * len(self.posteriors)
        for found, log_share, table in zip(self.posteriors, self.log_shares, known, strict=True):
            if table is None:
                system = found.system
                table = most_probable_table(system, self.prior, budget=budget, progress=progress)
            choices.append((found.log_table_probability(table) + float(log_share), table))
        logs = [log_probability for log_probability, _ in choices]
        return choices[first_largest(logs, scale=1.0)][1]

    def draw(self, n_draws: int, *, rng: np.random.Generator, budget: Budget) -> IntArray:
        """Independent tables (draws × cells) with their exact probabilities."""
        from discreet.fiber.draws.exact_draws import sampler

        numbers = rng.multinomial(n_draws, self.shares / self.shares.sum())
        drawn = [
            sampler(found.system, self.prior, budget=budget).draw(int(k), rng=rng)
            for found, k in zip(self.posteriors, numbers, strict=True)
            if k
        ]
        return rng.permutation(np.concatenate(drawn), axis=0)


def mixture(
    parts: Sequence[Part],
    prior: str,
    *,
    equal_groups: bool = False,
    group_weights: Mapping[str, float] | None = None,
    budget: Budget | None = None,
    progress: Progress = silent,
) -> Mixture:
    """The exact distribution over all parts. Parts that hold no table are left out.

    With `equal_groups` every group that holds a table is as probable as any other, or in
    proportion to its `group_weights`; else a part gets what its tables weigh. Raises InputError
    where no part holds a table, BudgetExceeded where dynamic programming does not fit.
    """
    chosen, budget = prior_named(prior), budget or Budget()
    kept: list[tuple[Part, Posterior]] = []
    heaviest: list[IntArray | None] = []
    for part in parts:
        budget.check_time("weighing tables")
        found, best = _posterior(part, chosen, budget, progress)
        if found is not None:
            kept.append((part, found))
            heaviest.append(best)
    if not kept:
        raise InputError(must_be("statistics and knowledge", "true of some table", "none is"))
    groups = [part.group for part, _ in kept]
    logs = np.array([found.log_normaliser + part.log_offset for part, found in kept])
    shares = _log_shares(logs, groups if equal_groups else [""] * len(kept), group_weights)
    posteriors = tuple(found for _, found in kept)
    names = tuple(part.name for part, _ in kept)
    return Mixture(chosen, posteriors, shares, names, tuple(groups), tuple(heaviest))


def prior_named(name: str) -> Prior:
    """The prior on tables of that name."""
    if name not in PRIORS:
        raise InputError(must_be("prior", " or ".join(PRIORS), repr(name)))
    return PRIORS[name]


def mixed_distribution(
    mixed: Mixture,
    *,
    truth: IntArray | None = None,
    budget: Budget | None = None,
    progress: Progress = silent,
) -> TableDistribution:
    """The distribution of the table and its cells from an exact mixture."""
    best = mixed.best(budget or Budget(), progress)
    found = table_distribution(mixed, mixed.prior.name, best=best, truth=truth)
    return replace(found, groups=mixed.group_shares)


def table_distribution(
    belief: "Mixture | ListedBelief | DrawnBelief",
    prior: str,
    *,
    best: IntArray | None = None,
    truth: IntArray | None = None,
) -> TableDistribution:
    """What a belief says of the whole table and of each cell; `best` is its most probable table, if
    it has been found."""
    entropy = belief.entropy()
    best = belief.most_probable() if best is None else best
    scored = None if truth is None else _scored(belief, truth)
    return TableDistribution(
        prior=prior,
        how=belief.how,
        cells=tuple(_cell(belief, cell) for cell in range(len(belief.lower))),
        entropy=entropy,
        effective_tables=power_of_two(entropy),
        reciprocal_entropy=reciprocal(entropy),
        best_guess=None if best is None else tuple(best.tolist()),
        best_guess_probability=NO_BEST if best is None else _scored(belief, best)[0],
        truth_probability=None if scored is None else scored[0],
        truth_surprisal=None if scored is None else scored[1],
    )


def drawn_distribution(
    belief: "DrawnBelief", prior: str, *, greatest: float, note: str, truth: IntArray | None = None
) -> TableDistribution:
    """The distribution of the table and its cells by draws; `greatest` is a number that no table's
    log weight exceeds."""
    log_z, error = belief.log_normaliser
    return replace(
        table_distribution(belief, prior, truth=truth),
        note=note,
        best_guess_limit=score(min(0.0, greatest - log_z), error)[0],
    )


def _scored(
    belief: "Mixture | ListedBelief | DrawnBelief", table: IntArray
) -> tuple[Outcome, Outcome]:
    """The probability of a table and its surprisal."""
    found = belief.log_probability(table)
    if isinstance(found, Unavailable):
        return found, found
    log_p, error = found
    return score(None if log_p == -math.inf else log_p, None if belief.how is How.EXACT else error)


def _cell(belief: "Mixture | ListedBelief | DrawnBelief", cell: int) -> CellDistribution:
    found = belief.cell(cell)
    support = np.fromiter(found, dtype=np.int64, count=len(found))
    probabilities = np.fromiter(found.values(), dtype=np.float64, count=len(found))
    if isinstance(belief, Mixture | ListedBelief):
        mean = math.fsum(probabilities * support)
        return CellDistribution(cell=cell, support=support, probabilities=probabilities, mean=mean)
    mean, error = belief.mean(cell)
    return CellDistribution(
        cell=cell,
        support=support,
        probabilities=probabilities,
        mean=mean,
        standard_error=error,
        errors=np.array(list(belief.cell_error(cell).values())),
        effective_draws=belief.effective_draws,
    )


def exact(value: float) -> Figure:
    """An exact figure."""
    return Figure(value=value, how=How.EXACT)


def score(
    log_probability: float | None, relative_error: float | None = None
) -> tuple[Outcome, Outcome]:
    """A table's probability and minus its base-2 logarithm; estimates have standard errors."""
    if log_probability is None:
        gone = Unavailable("the table does not agree with the statistics and the knowledge")
        return gone, gone
    how = How.EXACT if relative_error is None else How.ESTIMATE
    log_probability = min(0.0, log_probability)
    error = None if relative_error is None else relative_error / math.log(2)
    bits = Figure(value=abs(log_probability / math.log(2)), how=how, standard_error=error)
    if log_probability < -700:
        return Unavailable("below 1e-300; its logarithm is given"), bits
    p = math.exp(log_probability)
    error = None if relative_error is None else p * relative_error
    return Figure(value=p, how=how, standard_error=error), bits


def power_of_two(entropy: Outcome) -> Outcome:
    """2^H, by the delta method where H is an estimate."""
    if isinstance(entropy, Unavailable) or entropy.value is None:
        return entropy
    if entropy.value > MOST_BITS:
        return Unavailable(f"2 to the power of {entropy.value:.1f} is too large for a number")
    value, error = 2.0**entropy.value, entropy.standard_error
    error = None if error is None else error * math.log(2) * value
    return Figure(value=value, how=entropy.how, standard_error=error)


def reciprocal(entropy: Outcome) -> Outcome:
    """1 / H, which is greatest where doubt is least and has no value where there is none."""
    if isinstance(entropy, Unavailable) or entropy.value is None:
        return entropy
    if entropy.value < ALIKE:  # a difference of logarithms, of which less than that is rounding
        return Unavailable("one table is almost certain, so 1 / entropy has no value")
    value, error = 1 / entropy.value, entropy.standard_error
    error = None if error is None else error * value**2
    return Figure(value=value, how=entropy.how, standard_error=error)


def _posterior(
    part: Part, prior: Prior, budget: Budget, progress: Progress
) -> tuple[Posterior | None, IntArray | None]:
    """The posterior of a part, None where it holds no table, and its most probable table if that
    came with it."""
    lines = part.lines(budget)
    if lines is not None and lines.n_points <= budget.steps_left:
        return lines.posterior(prior) if lines.n_tables else (None, None)
    return _summed(part.system, prior, budget, progress), None


def _summed(system: System, prior: Prior, budget: Budget, progress: Progress) -> Posterior | None:
    """The posterior by dynamic programming, None where there is no table."""
    from discreet.belief.ladder import believe  # slow to load, and few count tables need it
    from discreet.belief.request import Limits, Question
    from discreet.belief.summed_belief import SummedBelief

    if np.any(system.lower > system.upper):
        return None
    limits = Limits(states=budget.states, steps=budget.steps, exact_share=1.0)
    question = Question(prior=prior, constraints=system, limits=limits)
    clock = Clock(budget.seconds, budget.began)
    try:
        found = believe(question, ("summed",), clock=clock, progress=progress)
    except InputError as problem:
        if "contradiction" in str(problem):
            return None
        raise
    if isinstance(found, SummedBelief):
        return found.distribution
    raise BudgetExceeded(found.reason if isinstance(found, Unavailable) else found.method)


def _log_shares(
    logs: FloatArray, groups: Sequence[str], weights: Mapping[str, float] | None = None
) -> FloatArray:
    """Within a group by weight; groups alike, or by weights of their own."""
    own = {name: 1.0 if weights is None else weights[name] for name in sorted(set(groups))}
    whole = math.fsum(own.values())
    shares = np.empty(len(logs))
    for name, weight in own.items():
        here = np.array([group == name for group in groups])
        shares[here] = logs[here] - log_sum(logs[here]) + math.log(weight / whole)
    return shares
