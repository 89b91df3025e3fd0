"""Why no counts can have the statistics (n, S1, S2) that someone gives.

Each check is a necessary condition, and names the two figures that contradict one another. Whether
a table truly exists is for the solver of the equations to say.
"""

import itertools
import math
from collections.abc import Mapping

from discreet.count_tables.factorials import (
    factorial_exponent,
    factorisation_of,
    least_table,
    log_of_factorisation,
    primes_to,
)
from discreet.errors import must_be

LARGEST_PRIME = 2_000_000
NAME = "the factorisation of e^S2"


def contradiction(n: int | None, total: int, factorisation: Mapping[int, int]) -> str | None:
    """Why no counts have these statistics, as a sentence, or None where nothing here forbids it.

    n = None means that n is not known.
    """
    return (
        _of_sizes(n, total, bool(factorisation))
        or _of_primes(factorisation)
        or _of_exponents(factorisation)
        or _of_total(total, factorisation)
        or (None if n is None else _of_number(n, total, factorisation))
    )


def _of_sizes(n: int | None, total: int, has_factors: bool) -> str | None:
    if n is not None and n < 1:
        return must_be("n", "at least 1", n)
    if total < 0:
        return must_be("total", "zero or more", total)
    if total == 0 and has_factors:
        why = "counts that add up to 0 are all 0, and then e^S2 is 1 and S2 is 0"
        return must_be("total", "above zero where e^S2 has a prime factor", 0, remedy=why)
    if total == 0:
        why = "all observations are zero, which S1 = 0 gives away: there is nothing to fit"
        return must_be("total", "above zero", 0, remedy=why)
    return None


def _of_primes(factorisation: Mapping[int, int]) -> str | None:
    largest = max(factorisation, default=2)
    if largest > LARGEST_PRIME:
        return must_be(NAME, f"of primes up to {LARGEST_PRIME:,}", f"{largest:,}")
    primes = set(primes_to(largest))
    for p, e in factorisation.items():
        if p not in primes:
            return must_be(NAME, "of primes", p)
        if e < 1:
            return must_be(NAME, "of exponents of at least 1", e, where=f"prime {p}")
    return None


def _of_exponents(factorisation: Mapping[int, int]) -> str | None:
    """Exponents that no product of factorials has.

    For primes q < p: the exponent of q in x! is at least that of p, and at least that of p times
    the exponent of q in p!, since (p!)^m m! divides (mp)!. Sums inherit both.
    """
    primes = primes_to(max(factorisation, default=0))
    exponent = {p: factorisation.get(p, 0) for p in primes}
    for q, p in itertools.pairwise(primes):
        if exponent[q] < exponent[p]:
            why = f"a factorial that {p} divides is divided by {q} as often or more"
            got = f"{q}^{exponent[q]} beside {p}^{exponent[p]}"
            return must_be(NAME, "that of a product of factorials", got, remedy=why)
    for q in primes[:4]:
        for p in primes:
            needed = exponent[p] * factorial_exponent(p, q)
            if exponent[q] < needed:
                rule = f"at least {needed}, since {p} has exponent {exponent[p]} and divides no"
                rule += f" factorial below {p}!"
                return must_be(f"the exponent of {q} in e^S2", rule, exponent[q])
    return None


def _of_total(total: int, factorisation: Mapping[int, int]) -> str | None:
    """∏ x_i! divides (Σ x_i)!, prime by prime."""
    for p, e in factorisation.items():
        most = factorial_exponent(total, p)
        if e > most:
            rule = f"at most {most}, as in {total}! for a total of {total}"
            name = f"the exponent of {p} in e^S2"
            return must_be(name, rule, e, remedy="S2 is too large for this total")
    return None


def _of_number(n: int, total: int, factorisation: Mapping[int, int]) -> str | None:
    """S2 is least when all observations are next to total / n, so n must be large enough."""
    if not is_below(factorisation, least_table(n, total)):
        return None
    rule = f"at least {smallest_number(total, factorisation)} for a total of {total} and this S2"
    why = "fewer observations with this total have a larger S2"
    return must_be("n", rule, n, remedy=why)


def smallest_number(total: int, factorisation: Mapping[int, int]) -> int:
    """The least n such that S2 is not too small for n observations with this total."""
    low, high = 0, total
    while high - low > 1:
        middle = (low + high) // 2
        if is_below(factorisation, least_table(middle, total)):
            low = middle
        else:
            high = middle
    return high


def is_below(factorisation: Mapping[int, int], table: Mapping[int, int]) -> bool:
    """Is e^S2 less than the product of factorials of a table? Exact where logarithms are close."""
    log = math.fsum(e * math.log(p) for p, e in factorisation.items())
    other = math.fsum(count * math.lgamma(value + 1) for value, count in table.items())
    if abs(log - other) > 1e-9 * (1 + abs(other)):
        return log < other
    least = factorisation_of(table)
    if dict(factorisation) == least:
        return False
    return log_of_factorisation(factorisation, 30) < log_of_factorisation(least, 30)
