"""Disclosure risk of the count policy: as the paper prints it, and without its holes.

Printed (kadane eq. 14, 15), from bounds [L, U] of a cell and the number m of tables:

    DR_i = 1 / log2(U_i − L_i),    DR_global = 1 / log2(m)

DR_i is infinite at U − L = 1 and has no value at U = L, exactly where risk is greatest. Beside it
stand measures on the number of values k = U − L + 1, or on the entropy H, that have no such hole
and lie in (0, 1]: the chance 1/k of a blind guess, and 1 / (1 + H). Not every count between two
bounds is that of some table, so the same is told with k the number of counts that are possible.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from discreet.belief.count_belief import (
    CellDistribution,
    TableDistribution,
    exact,
)
from discreet.count_tables.decimals import TruncatedReconstruction
from discreet.count_tables.interval_sums import Within
from discreet.count_tables.rebuilding import Reconstruction
from discreet.count_tables.release import Attack
from discreet.errors import InputError, must_be
from discreet.fiber.sums.counting import Count
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.arrays import IntArray

MOST_BITS_SHOWN = 830.0  # log2 of 10^250
NOT_TOLD = Unavailable("the entropy of the table is not known")


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalRisk:
    """The risk of a cell from its bounds alone: `printed` as in (14), and two without holes."""

    lower: int
    upper: int
    printed: Outcome
    blind_guess: float  # 1 / k
    bounded: float  # 1 / (1 + log2 k)


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRisk:
    """The risk of the count of one value: from its bounds, and from its distribution.

    `truth_probability` is that of the true count, for the holder: with a standard error where
    draws estimate it, and what it is not above (a 97.5 % limit, or itself where exact).
    `possible_counts` is how many different counts some table has, None where that is not known
    exactly.
    """

    value: int
    interval: IntervalRisk
    best_guess: int
    best_guess_probability: float
    entropy: float
    truth_probability: float | None
    truth_standard_error: float | None = None
    truth_upper: float | None = None
    possible_counts: int | None = None

    @property
    def blind_guess_possible(self) -> float | None:
        """The chance of a blind guess among the counts that are possible."""
        return None if self.possible_counts is None else 1 / self.possible_counts

    @property
    def bounded_possible(self) -> float | None:
        """1 / (1 + log2 of the number of counts that are possible)."""
        k = self.possible_counts
        return None if k is None else 1 / (1 + math.log2(k))


@dataclass(frozen=True, slots=True, kw_only=True)
class CountRisk:
    """The risk of a release under one distribution of tables.

    `printed` is (15) with the number of tables, whatever the distribution; `reciprocal_entropy` is
    the same idea with the distribution's entropy, and `bounded` = 1 / (1 + H) the one without a
    hole. `entropy` is H, in bits.
    `best_guess_limit` is what the best guess's probability does not exceed where draws cannot name
    the best guess. `truth_given_number` is the true table's probability for someone who also
    learns the number of observations that is withheld.
    """

    distribution: str
    count: Outcome
    printed: Outcome
    reciprocal_entropy: Outcome
    bounded: Outcome
    effective_tables: Outcome
    best_guess_probability: Outcome
    truth_probability: Outcome | None
    cells: tuple[CellRisk, ...]
    best_guess_limit: Outcome | None = None
    truth_given_number: Outcome | None = None
    entropy: Outcome = NOT_TOLD


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalPolicy:
    """Releasing n and the bounds of every cell instead: how many tables that leaves, their
    distribution.
    """

    cells: tuple[IntervalRisk, ...]
    count: Count
    distributions: Mapping[str, TableDistribution | Unavailable]


def interval_risk(lower: int, upper: int) -> IntervalRisk:
    """The risk of a cell known to lie between two bounds (kadane eq. 14)."""
    if not 0 <= lower <= upper:
        raise InputError(must_be("bounds", "from zero on and in order", f"{lower} to {upper}"))
    values = upper - lower + 1
    return IntervalRisk(
        lower=lower,
        upper=upper,
        printed=_printed_interval(upper - lower),
        blind_guess=1 / values,
        bounded=1 / (1 + math.log2(values)),
    )


def global_risk(count: int) -> Outcome:
    """1 / log2 of the number of tables (kadane eq. 15)."""
    if count < 1:
        raise InputError(must_be("the number of tables", "at least 1", count))
    if count == 1:
        return Unavailable("(15) divides by log2(1) = 0: one table is left, and it is known")
    return exact(1 / math.log2(count))


def bounded_risk(entropy: Outcome) -> Outcome:
    """1 / (1 + H): 1 where the table is known, and towards 0 as doubt grows."""
    if isinstance(entropy, Unavailable) or entropy.value is None:
        return entropy
    return exact(1 / (1 + entropy.value)) if entropy.standard_error is None else _rough(entropy)


def count_risk(found: Attack, *, distribution: str | None = None) -> CountRisk | Unavailable:
    """The risk of what an intruder found under one distribution: `multinomial` or `proper` if not
    said.
    """
    if isinstance(found, Unavailable):
        return found
    name = distribution or (
        "proper" if isinstance(found, TruncatedReconstruction) else "multinomial"
    )
    if name not in found.distributions:
        raise InputError(must_be("distribution", " or ".join(found.distributions), repr(name)))
    chosen = found.distributions[name]
    if isinstance(chosen, Unavailable):
        return chosen
    count = _count(found)
    return CountRisk(
        distribution=name,
        count=count,
        printed=_printed_global(count),
        reciprocal_entropy=chosen.reciprocal_entropy,
        bounded=bounded_risk(chosen.entropy),
        effective_tables=chosen.effective_tables,
        best_guess_probability=chosen.best_guess_probability,
        truth_probability=chosen.truth_probability,
        cells=_cells(found, chosen, None),
        best_guess_limit=chosen.best_guess_limit,
        entropy=chosen.entropy,
    )


def holder_risk(
    found: Attack, truth: Mapping[int, int], *, distribution: str | None = None
) -> CountRisk | Unavailable:
    """The same for the holder, who knows the counts: with the probability of each true count."""
    risk = count_risk(found, distribution=distribution)
    if isinstance(risk, Unavailable) or isinstance(found, Unavailable):
        return risk
    chosen = found.distributions[risk.distribution]
    if isinstance(chosen, Unavailable):
        return chosen
    given = _given_number(chosen, truth)
    return replace(risk, cells=_cells(found, chosen, truth), truth_given_number=given)


def _given_number(distribution: TableDistribution, truth: Mapping[int, int]) -> Outcome | None:
    """P(truth) / P(its number of observations), where the distribution mixes several numbers."""
    number = str(sum(count for value, count in truth.items() if value >= distribution.first_value))
    whole = distribution.truth_probability
    if (
        len(distribution.groups) < 2
        or number not in distribution.groups
        or not isinstance(whole, Figure)
    ):
        return None
    share = distribution.groups[number]
    if whole.value is None or share <= 0:
        return None
    return replace(whole, value=min(1.0, whole.value / share))


def interval_policy(n: int, lower: Iterable[int], upper: Iterable[int]) -> IntervalPolicy:
    """What the policy of bounds leaves open: every table within the bounds whose counts add to n.

    More tables than the statistics leave, since bounds of single cells forget how cells hang
    together (kadane 3.5).
    """
    low, high = [int(x) for x in lower], [int(x) for x in upper]
    cells = tuple(interval_risk(a, b) for a, b in zip(low, high, strict=True))
    within = Within(n, tuple(low), tuple(high))
    if not sum(low) <= n <= sum(high):
        raise InputError(must_be("bounds", f"those of counts that add up to {n}", "others"))
    distributions = {
        prior: _interval_distribution(within, prior) for prior in ("multinomial", "uniform")
    }
    try:
        number = within.count()
        count = Count(value=number, how=How.EXACT, at_least=number)
    except BudgetExceeded as ended:
        count = Count(value=None, how=None, note=str(ended))
    return IntervalPolicy(cells=cells, count=count, distributions=distributions)


def _interval_distribution(within: Within, prior: str) -> TableDistribution | Unavailable:
    try:
        return within.distribution(prior)
    except BudgetExceeded as ended:
        return Unavailable(str(ended))


def _printed_interval(width: int) -> Outcome:
    if width == 0:
        return Unavailable("(14) takes the logarithm of U − L = 0: the count is known exactly")
    if width == 1:
        return Unavailable("(14) divides by log2(U − L) = 0: only two counts are possible")
    return exact(1 / math.log2(width))


def _printed_global(count: Outcome) -> Outcome:
    if isinstance(count, Unavailable) or count.value is None:
        return count
    if count.standard_error is None:
        return global_risk(int(count.value))
    if count.value <= 1:
        return Unavailable("draws found about one table, too few for a measure")
    value = 1 / math.log2(count.value)
    error = value**2 / math.log(2) * count.standard_error / count.value
    return Figure(value=value, how=count.how, standard_error=error)


def _rough(entropy: Outcome) -> Outcome:
    if isinstance(entropy, Unavailable) or entropy.value is None or entropy.standard_error is None:
        return entropy
    value = 1 / (1 + entropy.value)
    error = entropy.standard_error * value**2
    return Figure(value=value, how=entropy.how, standard_error=error)


def _count(found: Reconstruction | TruncatedReconstruction) -> Outcome:
    count = found.number if isinstance(found, TruncatedReconstruction) else found.count
    if count.value is None or count.how is None:
        return Unavailable(count.note)
    if count.value >= 2**1000:
        return Unavailable("a number too large to print")
    return Figure(value=float(count.value), how=count.how, standard_error=count.standard_error)


def _limits(found: Reconstruction | TruncatedReconstruction) -> tuple[IntArray, IntArray] | None:
    if isinstance(found, Reconstruction):
        return found.bounds.lower, found.bounds.upper
    return None if isinstance(found.bounds, Unavailable) else found.bounds


def _cells(
    found: Reconstruction | TruncatedReconstruction,
    distribution: TableDistribution,
    truth: Mapping[int, int] | None,
) -> tuple[CellRisk, ...]:
    limits = _limits(found)
    cells = distribution.cells[found.first_value :]
    possible = _possible(found)
    return tuple(
        cell_risk(
            cell,
            cell.cell,
            _cell_limits(limits, found, cell.cell),
            possible.get(cell.cell),
            None if truth is None else truth.get(cell.cell, 0),
        )
        for cell in cells
    )


def _cell_limits(
    limits: tuple[IntArray, IntArray] | None,
    found: Reconstruction | TruncatedReconstruction,
    value: int,
) -> tuple[int, int]:
    """The bounds of a count, or where there are none what n and S1 alone allow."""
    if limits is not None:
        return int(limits[0][value]), int(limits[1][value])
    assert isinstance(found, TruncatedReconstruction)
    by_total = found.total // value if value else found.total
    return 0, by_total if found.n is None else found.n if value == 0 else min(found.n, by_total)


def cell_risk(
    cell: CellDistribution,
    value: int,
    limits: tuple[int, int],
    possible: int | None,
    count: int | None,
) -> CellRisk:
    """The risk of the count of one value from its distribution; the true count is scored where
    given.
    """
    return CellRisk(
        value=value,
        interval=interval_risk(*limits),
        best_guess=cell.best_guess,
        best_guess_probability=cell.best_guess_probability,
        entropy=cell.entropy,
        truth_probability=None if count is None else cell.probability(count),
        truth_standard_error=None if count is None else cell.probability_error(count),
        truth_upper=None if count is None else cell.probability_upper(count),
        possible_counts=possible,
    )


def _possible(found: Reconstruction | TruncatedReconstruction) -> dict[int, int]:
    """How many different counts each cell can have, where a distribution shows all of them."""
    name = "all_equal" if isinstance(found, TruncatedReconstruction) else "uniform"
    return possible_counts(found.distributions.get(name))


def possible_counts(uniform: TableDistribution | Unavailable | None) -> dict[int, int]:
    """Of each cell by number; empty where no exact distribution gives every table the same weight.

    Such a distribution gives a possible count at least one over the number of tables, which no
    rounding hides while that number is below 10^250."""
    if not isinstance(uniform, TableDistribution) or uniform.how is not How.EXACT:
        return {}
    bits = uniform.entropy
    if not isinstance(bits, Figure) or bits.value is None or bits.value > MOST_BITS_SHOWN:
        return {}
    return {cell.cell: len(cell.support) for cell in uniform.cells}
