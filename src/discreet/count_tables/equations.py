"""The equations that released statistics put on a hidden table of counts (kadane 3.3, 3.4).

With f_j observations of value j, for j = 0, 1, …, J:

    Σ f_j = n,    Σ j f_j = S1,    Σ v_p(j!) f_j = exponent of p in e^S2, for each prime p

v_p(j!) being how often p divides j!. J is not released but bounded: j! must divide e^S2.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from discreet.count_tables.contradictions import contradiction
from discreet.count_tables.factorials import factorial_exponent, primes_from_two
from discreet.count_tables.statistics import CountStatistics
from discreet.errors import InputError, must_be
from discreet.fiber.system.linear_system import Statement
from discreet.numerics.arrays import IntArray

LARGEST_CELLS = 5000  # values of a table to be searched for


@dataclass(frozen=True, slots=True)
class ReleasedSums:
    """What an intruder reads in a release: n (None where withheld), S1, and e^S2 by its primes.

    Checked: nothing in `contradictions` speaks against them.
    """

    n: int | None
    total: int
    factorisation: Mapping[int, int]

    def __post_init__(self) -> None:
        exponents = {p: e for p, e in sorted(self.factorisation.items()) if e != 0}
        object.__setattr__(self, "factorisation", MappingProxyType(exponents))
        problem = contradiction(self.n, self.total, exponents)
        if problem:
            raise InputError(problem)

    @classmethod
    def of(cls, statistics: CountStatistics, *, withhold_n: bool = False) -> "ReleasedSums":
        """The statistics as released, with n or without."""
        n = None if withhold_n else statistics.n
        return cls(n, statistics.total, statistics.factorisation)

    @property
    def next_prime(self) -> int:
        """p′, the smallest prime that does not divide e^S2; every value is below it."""
        return next(p for p in primes_from_two() if p not in self.factorisation)

    @property
    def largest_value(self) -> int:
        """The largest j that is at most S1 and whose factorial divides e^S2: no value is larger.

        Never above p′ − 1, the bound of kadane 3.3, and sometimes below it.
        """
        most, j = min(self.next_prime - 1, self.total), 1
        while j < most and self._allows(j + 1):
            j += 1
        return j

    def _allows(self, value: int) -> bool:
        return all(factorial_exponent(value, p) <= e for p, e in self.factorisation.items())


def equations(sums: ReleasedSums, largest: int, *, first_cell: int = 0) -> list[Statement]:
    """The equations for f_0 … f_largest but that of n, each with its name.

    f_j is cell `first_cell` + j. Raises InputError where no value up to `largest` has a prime that
    divides e^S2.
    """
    if largest + 1 > LARGEST_CELLS:
        rule = f"at most {LARGEST_CELLS - 1:,} to be searched"
        raise InputError(must_be("the largest value", rule, f"{largest:,}"))
    ones = np.arange(1, largest + 1)
    found = [_equation("S1", ones, sums.total, ones, first_cell)] if largest else []
    for p, exponent in sums.factorisation.items():
        if p > largest:
            rule = f"one that a factorial up to {largest}! can have"
            remedy = f"a largest value of {largest} contradicts S2"
            raise InputError(must_be("S2", rule, f"the prime {p} in e^S2", remedy=remedy))
        values = np.arange(p, largest + 1)
        times = np.array([factorial_exponent(int(j), p) for j in values])
        found.append(_equation(f"the exponent of {p} in e^S2", values, exponent, times, first_cell))
    return found


def number_statement(largest: int, low: int, high: int, *, first_cell: int = 0) -> Statement:
    """low ≤ Σ f_j ≤ high, zeros included."""
    cells = first_cell + np.arange(largest + 1)
    return Statement(cells=cells, low=low, high=high, name="n")


def written(statement: Statement) -> str:
    """An equation as people write it: '20 = f2 + f3 + 3 f4'."""
    coefficients = statement.coefficients
    times = [1] * len(statement.cells) if coefficients is None else coefficients.tolist()
    pairs = zip(statement.cells.tolist(), times, strict=True)
    terms = " + ".join(f"{'' if t == 1 else f'{t} '}f{j}" for j, t in pairs)
    if statement.high == statement.low:
        return f"{statement.low} = {terms}"
    return f"{statement.low} ≤ {terms}" + ("" if statement.high is None else f" ≤ {statement.high}")


def table_of(cells: Iterable[int]) -> dict[int, int]:
    """The cells f_0, f_1, … as a table {value: count} without those nobody has."""
    return {j: int(count) for j, count in enumerate(cells) if count}


def _equation(
    name: str, cells: IntArray, right: int, times: IntArray, first_cell: int
) -> Statement:
    moved = first_cell + cells
    return Statement(cells=moved, low=right, high=right, name=name, coefficients=times)
