"""Products of factorials by their prime factors."""

import itertools
import math
from collections.abc import Iterator, Mapping
from decimal import Decimal, localcontext


def primes_to(limit: int) -> list[int]:
    """The primes up to and including a limit."""
    sieve = bytearray([1]) * (max(limit, 1) + 1)
    sieve[:2] = b"\0\0"
    for number in range(2, math.isqrt(len(sieve) - 1) + 1):
        if sieve[number]:
            sieve[number * number :: number] = bytes(len(sieve[number * number :: number]))
    return [number for number, prime in enumerate(sieve) if prime]


def primes_from_two() -> Iterator[int]:
    """2, 3, 5, 7, … without end."""
    limit, seen = 64, 0
    while True:
        found = primes_to(limit)
        yield from found[seen:]
        limit, seen = 2 * limit, len(found)


def factorial_exponent(value: int, prime: int) -> int:
    """How often a prime divides value! (Legendre)."""
    exponent = 0
    while value := value // prime:
        exponent += value
    return exponent


def factorisation_of(table: Mapping[int, int]) -> dict[int, int]:
    """Exponents of ∏ (x!)^(count of x), by primes.

    The number k is a factor as often as there are observations of at least k (kadane eq. 8), so
    the exponent of p adds these up over the multiples of p, of p², and so on (kadane eq. 11).
    """
    at_least = _observations_of_at_least(table)
    exponents = {p: _exponent(at_least, p) for p in primes_to(len(at_least) - 1)}
    return {p: e for p, e in exponents.items() if e}


def _observations_of_at_least(table: Mapping[int, int]) -> list[int]:
    counts = [0] * (max(table, default=0) + 1)
    for value, count in table.items():
        counts[value] = count
    return list(itertools.accumulate(reversed(counts)))[::-1]


def _exponent(at_least: list[int], prime: int) -> int:
    exponent, power = 0, prime
    while power < len(at_least):
        exponent += sum(at_least[power::power])
        power *= prime
    return exponent


def log_of_factorisation(factorisation: Mapping[int, int], digits: int) -> Decimal:
    """Σ exponent · log p with an error below 10^−digits."""
    size = sum(e * p.bit_length() for p, e in factorisation.items())
    with localcontext() as context:
        context.prec = digits + len(str(size)) + 5
        return sum((e * Decimal(p).ln() for p, e in factorisation.items()), Decimal(0))


def least_table(n: int, total: int) -> dict[int, int]:
    """The n observations with this total whose product of factorials is least.

    log x! is strictly convex, so they are the two whole numbers next to total / n, and no other
    table with the same n and total has the same product.
    """
    value, above = divmod(total, n)
    return {value: n - above, value + 1: above} if above else {value: n}
