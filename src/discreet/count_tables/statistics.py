"""The sufficient statistics (n, S1, S2) of counts, with e^S2 as the whole number that it is.

S1 = Σ x_i is the `total` and S2 = Σ log x_i! the `log_factorial_total` (kadane eq. 4). e^S2 is a
product of factorials, so its factorisation into primes is exact and gives one linear equation for
each prime (kadane eq. 12):

    exponent of p  =  Σ_x (count of x) · (exponent of p in x!)

The exponents of one factorial are `factorials.factorial_exponent`.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from types import MappingProxyType

from discreet.count_tables.contradictions import contradiction
from discreet.count_tables.factorials import (
    factorisation_of,
    least_table,
    log_of_factorisation,
    primes_from_two,
)
from discreet.errors import InputError, must_be

LARGEST_VALUE = 1_000_000  # a larger single count has a factorisation of too many primes


@dataclass(frozen=True, slots=True)
class CountStatistics:
    """n observations (zeros included), their total S1, and e^S2 = ∏ p^exponent.

    Checked: nothing in `contradictions` speaks against them.
    """

    n: int
    total: int
    factorisation: Mapping[int, int]

    def __post_init__(self) -> None:
        exponents = {p: e for p, e in sorted(self.factorisation.items()) if e != 0}
        object.__setattr__(self, "factorisation", MappingProxyType(exponents))
        problem = contradiction(self.n, self.total, exponents)
        if problem:
            raise InputError(problem)

    @classmethod
    def of_counts(cls, counts: Mapping[int, int]) -> "CountStatistics":
        """The statistics of a table {value: number of observations with that value}."""
        table = check_counts(counts)
        total = sum(value * count for value, count in table.items())
        return cls(sum(table.values()), total, factorisation_of(table))

    @classmethod
    def of_sequence(cls, values: Iterable[int]) -> "CountStatistics":
        """The statistics of observations one by one, in any order."""
        return cls.of_counts(Counter(_whole(value, "values") for value in values))

    @property
    def log_factorial_total(self) -> float:
        """S2 = Σ exponent · log p."""
        return math.fsum(e * math.log(p) for p, e in self.factorisation.items())

    @property
    def next_prime(self) -> int:
        """p′, the smallest prime that does not divide e^S2; values are below it (kadane 3.3)."""
        return next(p for p in primes_from_two() if p not in self.factorisation)

    @property
    def mean(self) -> Fraction:
        """S1 / n."""
        return Fraction(self.total, self.n)

    @property
    def is_least(self) -> bool:
        """Are all observations one value or two neighbouring values? Exact."""
        table = least_table(self.n, self.total)
        least = math.fsum(count * math.lgamma(value + 1) for value, count in table.items())
        if self.log_factorial_total - least > 1e-9 * (1 + least):
            return False
        return dict(self.factorisation) == factorisation_of(table)


@dataclass(frozen=True, slots=True)
class DecimalLog:
    """S2 as a decimal, rounded or truncated to `decimals` digits after the point."""

    value: Decimal
    decimals: int
    truncated: bool = False

    @property
    def low(self) -> Decimal:
        """The least S2 that is released as this decimal."""
        return max(Decimal(0), self.value if self.truncated else self._moved(-5))

    @property
    def high(self) -> Decimal:
        """The limit from above of all S2 that are released as this decimal."""
        return self._moved(10 if self.truncated else 5)

    def _moved(self, tenths: int) -> Decimal:
        """The value moved by tenths of a unit of its last decimal, with all digits."""
        with localcontext() as context:
            context.prec = len(self.value.as_tuple().digits) + self.decimals + 10
            return self.value + Decimal(tenths).scaleb(-self.decimals - 1)


def decimal_log(statistics: CountStatistics, decimals: int, *, truncate: bool) -> DecimalLog:
    """S2 as it is released with so many decimals, rounded (half to even) or truncated."""
    if not 0 <= decimals <= 1000:
        raise InputError(must_be("decimals", "from 0 to 1000", decimals))
    exact = log_of_factorisation(statistics.factorisation, decimals + 20)
    rounding = ROUND_DOWN if truncate else ROUND_HALF_EVEN
    with localcontext() as context:
        context.prec = len(exact.as_tuple().digits) + 5
        value = exact.quantize(Decimal(1).scaleb(-decimals), rounding=rounding)
    return DecimalLog(value, decimals, truncate)


def check_counts(counts: Mapping[int, int]) -> dict[int, int]:
    """The table in order of values, without those nobody has; else an InputError says why not."""
    table = {_whole(value, "values"): _whole(count, "counts") for value, count in counts.items()}
    for value, count in table.items():
        if value < 0:
            raise InputError(must_be("values", "zero or more", value))
        if count < 0:
            raise InputError(must_be("counts", "zero or more", count, where=f"value {value}"))
        if value > LARGEST_VALUE and count:
            raise InputError(must_be("values", f"at most {LARGEST_VALUE:,}", f"{value:,}"))
    if not any(table.values()):
        raise InputError(must_be("the table", "of at least one observation", "none"))
    return {value: count for value, count in sorted(table.items()) if count}


def _whole(number: object, name: str) -> int:
    """The number as an int; booleans, fractions and texts are refused."""
    if isinstance(number, float) and number.is_integer():
        return int(number)
    if isinstance(number, bool) or not hasattr(number, "__index__"):
        raise InputError(must_be(name, "whole numbers", repr(number)))
    return int(number.__index__())
