"""Only the sufficient statistics of a count table go out: n, S1 and S2 (kadane 2).

A table of how many observations have each value is summed up by their number n, their total S1 and
S2 = Σ log x!. e^S2 is a whole number, so that S2 gives one equation for each prime.
"""

from types import MappingProxyType

import numpy as np

from discreet.count_tables.com_poisson.estimation import Fit, maximum_likelihood
from discreet.count_tables.equations import LARGEST_CELLS, ReleasedSums
from discreet.count_tables.factorials import factorial_exponent, least_table, primes_to
from discreet.count_tables.release import release_of
from discreet.count_tables.statistics import CountStatistics
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.fiber.system.linear_system import Statement
from discreet.masks.contract import Masked, checked_counts, total_statement
from discreet.numerics.arrays import FloatArray, IntArray

NAME = "statistics"
LONGEST_LABEL = 40  # characters of a level that a message quotes


def release_statistics(table: Table, *, largest_known: bool = True) -> Masked:
    """n, S1 and the exact factorisation of e^S2, for a table of one variable whose levels are the
    values 0, 1, 2, ….

    With `largest_known` an intruder knows the values listed in the table; else every value that S1
    and S2 allow is possible, and `source` is the table with those values added. The estimate is the
    COM-Poisson fit, with all beyond the last value in the last cell.

    Checked: one variable, levels are different whole numbers from 0 to 4,999.
    """
    checked_counts(table)
    values = _values(table)
    counts = dict(zip(values, table.dense().tolist(), strict=True))
    statistics = CountStatistics.of_counts(counts)
    source = table if largest_known else _widened(table, statistics, counts)
    values = _values(source)
    return Masked(
        mask=NAME,
        title="sufficient statistics",
        source=source,
        published=(),
        known=tuple(_equations(source, np.array(values, dtype=np.int64), statistics)),
        estimate=_estimate(values, statistics),
        effect=(
            "Only the number of observations, their total and S2 (the sum of the logarithms of the "
            "factorials) are published; the estimate is the COM-Poisson distribution fitted to it."
        ),
        parameters=MappingProxyType({"largest_known": largest_known}),
        figures=release_of(statistics).lines(),
    )


def _values(table: Table) -> list[int]:
    if len(table.names) != 1:
        rule = "of one variable whose levels are counts"
        raise InputError(must_be("table", rule, f"{len(table.names)} variables"))
    values = [_value(label, table.names[0]) for label in table.levels[0]]
    if len(set(values)) < len(values):
        raise InputError(must_be(f"levels of {table.names[0]}", "different numbers", "one twice"))
    return values


def _value(label: str, name: str) -> int:
    digits = label.strip().lstrip("0") or "0"
    is_value = label.strip().isdecimal() and len(digits) <= len(str(LARGEST_CELLS))
    if not is_value or int(digits) >= LARGEST_CELLS:
        rule = f"whole numbers from 0 to {LARGEST_CELLS - 1:,}"
        raise InputError(must_be(f"levels of {name}", rule, repr(label[:LONGEST_LABEL])))
    return int(digits)


def _widened(table: Table, statistics: CountStatistics, counts: dict[int, int]) -> Table:
    """The table with every value that the statistics allow, and those it lists itself."""
    largest = ReleasedSums.of(statistics).largest_value
    if largest >= LARGEST_CELLS:
        rule = f"below {LARGEST_CELLS:,} to be searched"
        raise InputError(must_be("the largest possible value", rule, f"{largest:,}"))
    values = sorted({*counts, *range(largest + 1)})
    dense = np.array([counts.get(value, 0) for value in values], dtype=np.int64)
    return Table.of_dense(dense, names=table.names, levels=[[str(v) for v in values]])


def _equations(table: Table, values: IntArray, statistics: CountStatistics) -> list[Statement]:
    found = [total_statement(table), _equation("S1", values, statistics.total)]
    for prime in primes_to(int(values.max())):
        exponents = np.array([factorial_exponent(int(v), prime) for v in values], dtype=np.int64)
        right = statistics.factorisation.get(prime, 0)
        found.append(_equation(f"exponent of {prime} in e^S2", exponents, right))
    return [one for one in found if len(one.cells)]


def _equation(name: str, coefficients: IntArray, right: int) -> Statement:
    cells = np.flatnonzero(coefficients)
    return Statement(
        cells=cells, low=right, high=right, name=name, coefficients=coefficients[cells]
    )


def _estimate(values: list[int], statistics: CountStatistics) -> FloatArray:
    """n times the fitted probability of each value; the table itself where it is the only one."""
    found = maximum_likelihood(statistics)
    if not isinstance(found, Fit):
        least = least_table(statistics.n, statistics.total)
        return np.array([least.get(value, 0) for value in values], dtype=np.float64)
    mass = np.asarray(found.distribution.mass(np.array(values)), dtype=np.float64)
    mass[int(np.argmax(values))] += max(0.0, 1.0 - float(mass.sum()))
    return statistics.n * mass
