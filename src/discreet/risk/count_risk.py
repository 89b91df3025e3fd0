"""Disclosure risk of the count policy: as the paper prints it, and without its holes.

Printed (kadane eq. 14, 15), from bounds [L, U] of a cell and the number m of tables:

    DR_i = 1 / log2(U_i − L_i),    DR_global = 1 / log2(m)

DR_i is infinite at U − L = 1 and has no value at U = L, exactly where risk is greatest. Beside it
stand measures on the number of values k = U − L + 1, or on the entropy H, that have no such hole
and lie in (0, 1]: the chance 1/k of a blind guess, and 1 / (1 + H).
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from discreet.compoisson.laws import Part, TableLaw, exact, exact_law, mixture
from discreet.compoisson.release import Attack
from discreet.compoisson.snooper import Effort, Reconstruction
from discreet.compoisson.truncation import TruncatedReconstruction
from discreet.data.arrays import IntArray
from discreet.errors import InputError, must_be
from discreet.fiber.counting import Count, count_tables
from discreet.fiber.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.system import Statement, system_of
from discreet.figures import Figure, Outcome, Unavailable


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
    """The risk of the count of one value: from its bounds, and from its law.

    `truth_probability` is that of the true count, for the holder.
    """

    value: int
    interval: IntervalRisk
    best_guess: int
    best_guess_probability: float
    entropy: float
    truth_probability: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CountRisk:
    """The risk of a release under one law of tables.

    `printed` is (15) with the number of tables, whatever the law; `reciprocal_entropy` is the same
    idea with the law's entropy, and `bounded` = 1 / (1 + H) the one without a hole.
    """

    law: str
    count: Outcome
    printed: Outcome
    reciprocal_entropy: Outcome
    bounded: Outcome
    effective_tables: Outcome
    best_guess_probability: Outcome
    truth_probability: Outcome | None
    cells: tuple[CellRisk, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalPolicy:
    """Releasing n and the bounds of every cell instead: how many tables that leaves, their law."""

    cells: tuple[IntervalRisk, ...]
    count: Count
    laws: Mapping[str, TableLaw | Unavailable]


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


def count_risk(found: Attack, *, law: str | None = None) -> CountRisk | Unavailable:
    """The risk of what a snooper found under one law: `multinomial` or `proper` if not said."""
    if isinstance(found, Unavailable):
        return found
    name = law or ("proper" if isinstance(found, TruncatedReconstruction) else "multinomial")
    if name not in found.laws:
        raise InputError(must_be("law", " or ".join(found.laws), repr(name)))
    chosen = found.laws[name]
    if isinstance(chosen, Unavailable):
        return chosen
    count = _count(found)
    return CountRisk(
        law=name,
        count=count,
        printed=_printed_global(count),
        reciprocal_entropy=chosen.reciprocal_entropy,
        bounded=bounded_risk(chosen.entropy),
        effective_tables=chosen.effective_tables,
        best_guess_probability=chosen.best_guess_probability,
        truth_probability=chosen.truth_probability,
        cells=_cells(found, chosen, None),
    )


def holder_risk(
    found: Attack, truth: Mapping[int, int], *, law: str | None = None
) -> CountRisk | Unavailable:
    """The same for the holder, who knows the counts: with the probability of each true count."""
    risk = count_risk(found, law=law)
    if isinstance(risk, Unavailable) or isinstance(found, Unavailable):
        return risk
    chosen = found.laws[risk.law]
    if isinstance(chosen, Unavailable):
        return chosen
    return replace(risk, cells=_cells(found, chosen, truth))


def interval_policy(
    n: int, lower: Iterable[int], upper: Iterable[int], *, effort: Effort | None = None
) -> IntervalPolicy:
    """What the policy of bounds leaves open: every table within the bounds whose counts add to n.

    More tables than the statistics leave, since bounds of single cells forget how cells hang
    together (kadane 3.5).
    """
    effort = effort or Effort()
    low, high = [int(x) for x in lower], [int(x) for x in upper]
    cells = tuple(interval_risk(a, b) for a, b in zip(low, high, strict=True))
    limits = [
        Statement(cells=np.array([j]), low=a, high=b, name=f"f{j}")
        for j, (a, b) in enumerate(zip(low, high, strict=True))
    ]
    total = Statement(cells=np.arange(len(cells)), low=n, high=n, name="n")
    system = system_of(len(cells), [*limits, total])
    laws: dict[str, TableLaw | Unavailable] = {}
    for prior in ("multinomial", "uniform"):
        try:
            laws[prior] = exact_law(mixture([Part(system=system)], prior, budget=effort.budget()))
        except BudgetExceeded as ended:
            laws[prior] = Unavailable(str(ended))
    count = count_tables(system, budget=effort.budget(), algebra=False)
    return IntervalPolicy(cells=cells, count=count, laws=laws)


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
    if isinstance(found, TruncatedReconstruction):
        return exact(float(found.count))
    count = found.count
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
    law: TableLaw,
    truth: Mapping[int, int] | None,
) -> tuple[CellRisk, ...]:
    limits = _limits(found)
    if limits is None:
        return ()
    lower, upper = limits
    first = 1 if isinstance(found, Reconstruction) and found.zeros_unknown else 0
    return tuple(
        CellRisk(
            value=cell.cell,
            interval=interval_risk(int(lower[cell.cell]), int(upper[cell.cell])),
            best_guess=cell.best_guess,
            best_guess_probability=cell.best_guess_probability,
            entropy=cell.entropy,
            truth_probability=(
                None if truth is None else cell.probability(truth.get(cell.cell, 0))
            ),
        )
        for cell in law.cells[first:]
    )
