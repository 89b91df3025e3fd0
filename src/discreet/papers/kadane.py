"""Kadane, Krishnan and Shmueli, sections 1 to 3: the distribution, the equations, the measures."""

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from discreet.count_tables.com_poisson.distribution import ComPoisson
from discreet.count_tables.com_poisson.estimation import Fit, NoMaximum, maximum_likelihood
from discreet.count_tables.factorials import factorial_exponent
from discreet.count_tables.measures import global_risk, interval_risk
from discreet.count_tables.rebuilding import hidden_counts
from discreet.count_tables.statistics import CountStatistics, decimal_log
from discreet.fiber.bounds.cell_bounds import bounds
from discreet.fiber.sums.counting import count_tables
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.papers import kadane_examples
from discreet.papers.kadane_data import DASH, DISASTERS, TABLE_1, TABLE_2
from discreet.papers.outcomes import available, number_of, value_of
from discreet.papers.rows import Kind, Row, claim, row
from discreet.progress import Progress, silent

PAPER = "kadane-krishnan-shmueli"
FORMULA = "value of the printed formula"
_row = partial(row, PAPER)


def rows(progress: Progress = silent) -> Iterator[Row]:
    """All figures, in the order of the paper."""
    yield _ordered_data()
    yield from _distribution()
    yield from _largest_value()
    yield _equation_10()
    yield _decimals()
    yield from _table_1()
    yield from _table_2()
    yield from _intervals()
    yield from kadane_examples.rows(progress)


def _statistics() -> CountStatistics:
    return CountStatistics.of_counts(DISASTERS.table)


def _ordered_data() -> Row:
    """Feller's number of solutions is that of ordered data; count tables are far fewer."""
    n, total = 3, 4
    ordered = Statement(cells=np.arange(n), low=total, high=total, name="S1")
    values = np.arange(total + 1)
    by_table = [
        Statement(cells=values, low=n, high=n, name="n"),
        Statement(cells=values[1:], coefficients=values[1:], low=total, high=total, name="S1"),
    ]
    tables = count_tables(system_of(total + 1, by_table))
    return _row(
        "section 1: C(S1+n−1, n−1) solutions at n = 3, S1 = 4",
        str(math.comb(total + n - 1, n - 1)),
        lambda: number_of(count_tables(system_of(n, [ordered]))),
        lambda: f"ordered data, as the formula counts; count tables are only {number_of(tables)}",
        kind=Kind.FORMULA,
    )


def _distribution() -> Iterator[Row]:
    rate, dispersion = 1.15, 0.88
    distribution = ComPoisson(rate, dispersion)
    terms = [rate**j / math.factorial(j) ** dispersion for j in range(100)]
    z = math.fsum(terms)
    values = range(4)
    at = f"λ = {rate}, ν = {dispersion}"
    yield _row(
        f"(1), (2): P(X = 0 … 3) at {at}",
        [f"{terms[x] / z:.8f}" for x in values],
        distribution.mass(np.arange(4)),
        FORMULA,
        kind=Kind.FORMULA,
    )
    mass = distribution.mass(np.arange(4))
    yield _row(
        f"(3): P(X = x−1)/P(X = x), x = 1, 2, 3, at {at}",
        [f"{x**dispersion / rate:.8f}" for x in values[1:]],
        mass[:-1] / mass[1:],
        FORMULA,
        kind=Kind.FORMULA,
    )
    fit = maximum_likelihood(_statistics())
    yield _row(
        "(4): log-likelihood of the disasters at its maximum",
        "?" if isinstance(fit, NoMaximum) else f"{_log_likelihood(fit):.6f}",
        lambda: available(fit).log_likelihood,
        FORMULA,
        kind=Kind.FORMULA,
    )


def _log_likelihood(fit: Fit) -> float:
    """(4) by hand."""
    z = math.fsum(fit.rate**j / math.factorial(j) ** fit.dispersion for j in range(100))
    s2 = math.fsum(f * math.lgamma(x + 1) for x, f in DISASTERS.table.items())
    return float(61 * math.log(fit.rate) - fit.dispersion * s2 - 51 * math.log(z))


def _full(largest: int) -> CountStatistics:
    return CountStatistics.of_counts(dict.fromkeys(range(largest + 1), 3))


def _largest_value() -> Iterator[Row]:
    yield _row(
        "section 3.3: tables left for J = 1 and J = 2",
        "1 1",
        lambda: [number_of(hidden_counts(_full(largest)).count()) for largest in (1, 2)],
        "fully uncovered, for each value three times",
    )
    yield _row(
        "section 3.3: J = p′ − 1 for J = 1, 2, 3",
        "1 2 3",
        [_full(largest).next_prime - 1 for largest in (1, 2, 3)],
        "J = 3 and J = 4 have the same p′ = 5, so J is not disclosed",
        slip="kadane-largest-value",
    )


def _equation_10() -> Row:
    """Σ g_k is the exponent as printed; that of 2 is Σ a(k, 2) g_k."""
    counts = DISASTERS.counts
    g = {k: sum(counts[k:]) for k in range(2, len(counts))}
    return _row(
        "(10): exponent of 2 for the disasters",
        str(sum(g.values())),
        _statistics().factorisation[2],
        "a(k, p) is missing in the last form; (11) has it",
        kind=Kind.FORMULA,
        slip="kadane-equation-10",
    )


def _decimals() -> Row:
    """e^S2 and its approximation from two decimals of S2, for the disasters."""
    rounded = decimal_log(_statistics(), 2, truncate=True)
    gap = abs(math.prod(p**k for p, k in _statistics().factorisation.items())
              - math.exp(float(rounded.value)))  # fmt: skip
    text = "within 0.01"
    return _row(
        "section 3.4: e^S2 lies within e^S̃2 ± 10^−d, disasters, d = 2",
        [text],
        text if gap <= 0.01 else f"off by {gap:,.0f}",
        "the exponent is what lies within S̃2 ± 10^−d",
        kind=Kind.STATEMENT,
        slip="kadane-decimals",
    )


def _table_1() -> Iterator[Row]:
    for values, equations, unknowns in TABLE_1:
        span = f"{values[0]}–{values[-1]}" if len(values) > 1 else str(values[0])
        counts = {len(hidden_counts(_full(largest)).equations()) for largest in values}
        primes = {_full(largest).next_prime for largest in values}
        wrong = values[-1] == 16
        yield _row(
            f"Table 1, J = {span}: equations, frequencies",
            [equations, unknowns],
            [min(counts), min(primes)] if len(counts) == len(primes) == 1 else [None, None],
            "six primes below 17 and two sums make 8" if wrong else "primes below p′, and 2; p′",
            slip="kadane-table-1" if wrong else None,
        )


def _table_2() -> Iterator[Row]:
    for prime, printed in TABLE_2.items():
        computed = [
            factorial_exponent(k, prime) - factorial_exponent(k - 1, prime) for k in range(2, 14)
        ]
        yield _row(f"Table 2, p = {prime}, k = 2 … 13", printed, computed, "blanks are zeros")


def _intervals() -> Iterator[Row]:
    one = system_of(2, [Statement(cells=np.arange(2), low=1, high=1, name="f5 + f6")])
    limits = bounds(one)
    text = "(1, 1) is no solution"
    yield _row(
        "section 3.5: bounds of f5 and f6 where f5 + f6 = 1",
        "0 1 0 1",
        [limit for cell in range(2) for limit in (limits.lower[cell], limits.upper[cell])],
    )
    yield _row(
        "section 3.5: such bounds suggest a table that does not exist",
        [text],
        lambda: claim(text, number_of(count_tables(one)) == 2),
        "two solutions: (0, 1) and (1, 0)",
        kind=Kind.STATEMENT,
    )
    yield _row(
        "(14) at U − L = 6",
        f"{1 / math.log2(6):.8f}",
        lambda: value_of(interval_risk(11, 17).printed),
        FORMULA,
        kind=Kind.FORMULA,
    )
    yield _row(
        "(14) at U − L = 1",
        [DASH],
        interval_risk(0, 1).blind_guess,
        "1/log2(1) has no value where risk is greatest; ours is 1/k, k values left",
        kind=Kind.FORMULA,
        slip="kadane-interval-risk",
    )
    yield _row(
        "(15) at 7 tables",
        f"{1 / math.log2(7):.8f}",
        lambda: value_of(global_risk(7)),
        FORMULA,
        kind=Kind.FORMULA,
    )
