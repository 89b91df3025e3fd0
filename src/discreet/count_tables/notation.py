"""Count tables, factorisations and S2 as people write them, in both directions."""

import math
from collections.abc import Mapping
from decimal import Decimal

from discreet.count_tables.contradictions import LARGEST_PRIME
from discreet.count_tables.factorials import primes_to
from discreet.count_tables.statistics import DecimalLog, check_counts
from discreet.errors import InputError, must_be

LARGEST_TOTAL = 10**300
LONGEST = 40  # characters of what was written that a complaint repeats


def parse_counts(text: str) -> dict[int, int]:
    """The table of '0:15,1:20,2:9': value, colon, number of observations."""
    table: dict[int, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        value, colon, count = (piece.strip() for piece in part.partition(":"))
        if not colon:
            raise InputError(must_be("counts", "value:count, separated by commas", repr(part)))
        number = _whole(value, "values")
        if number in table:
            raise InputError(must_be("values", "named once each", number))
        table[number] = _whole(count, "counts", where=f"value {number}")
    return check_counts(table)


def write_counts(table: Mapping[int, int]) -> str:
    """The table as '0:15,1:20,2:9'."""
    return ",".join(f"{value}:{count}" for value, count in sorted(table.items()))


def parse_factorisation(text: str) -> dict[int, int]:
    """The exponents of '2^20*3^7' by prime; also '2^20 · 3^7', '1' and other whole numbers."""
    cleaned = text.replace("**", "^").replace("·", "*").replace("×", "*")
    exponents: dict[int, int] = {}
    for part in cleaned.split("*"):
        base, caret, power = (piece.strip() for piece in part.partition("^"))
        number = _whole(base, "the factorisation's primes")
        exponent = _whole(power, "exponents", where=f"prime {base}") if caret else 1
        if number < 1 or exponent < 0:
            raise InputError(must_be("the factorisation", "of positive whole numbers", part))
        for p, e in _factor(number).items():
            exponents[p] = exponents.get(p, 0) + e * exponent
    return {p: e for p, e in sorted(exponents.items()) if e}


def _factor(number: int) -> dict[int, int]:
    """The prime factors of a number that has only small ones."""
    found: dict[int, int] = {}
    for p in primes_to(2000):
        while number % p == 0:
            number //= p
            found[p] = found.get(p, 0) + 1
        if number == 1:
            return found
    if number <= LARGEST_PRIME:
        return found | {number: 1}
    got = f"{number:,}" if number < 10**15 else "a larger one"
    raise InputError(must_be("the factorisation", f"of primes up to {LARGEST_PRIME:,}", got))


def write_factorisation(factorisation: Mapping[int, int]) -> str:
    """The exponents as '2^20*3^7', or '1' where there are none."""
    return "*".join(f"{p}^{e}" for p, e in sorted(factorisation.items()) if e) or "1"


def parse_log_factorial_total(text: str, *, truncated: bool = False) -> dict[int, int] | DecimalLog:
    """S2 as released: e^S2 as a factorisation ('2^20*3^7'), or S2 as a decimal ('21.55', '22.').

    A bare whole number may mean either and is refused, but for 0, which only a logarithm can be,
    and where decimals are `truncated`: '2^1' is e^S2 = 2, '2^0' is 1, and '2.' is S2 = 2 with no
    decimals.
    """
    stripped = text.strip()
    if any(sign in stripped for sign in "^*·×"):
        return parse_factorisation(stripped)
    if stripped.isdecimal() and int(stripped) > 0 and not truncated:
        raise InputError(_ambiguous(stripped))
    try:
        value = Decimal(stripped)
    except ArithmeticError:
        value = Decimal("NaN")
    if not value.is_finite() or value < 0:
        rule = "a factorisation of e^S2 such as 2^20*3^7, or a decimal of zero or more"
        raise InputError(must_be("S2", rule, repr(text)))
    return DecimalLog(value, max(0, -int(value.as_tuple().exponent)), truncated)


def parse_s2(text: str, total: int, *, truncated: bool = False) -> dict[int, int] | DecimalLog:
    """S2 as written, exact or a decimal, not above log S1!, the most that a total of S1 allows."""
    found = parse_log_factorial_total(text, truncated=truncated)
    most = math.lgamma(max(total, 0) + 1) if total < LARGEST_TOTAL else math.inf
    if isinstance(found, DecimalLog) and found.value > most + 1 and total > 0:
        rule = f"at most {most:.2f}, which is log {total}!, for a total of {total}"
        remedy = "a product such as 2^20*3^7 is e^S2, a decimal such as 21.55 is S2"
        raise InputError(must_be("S2", rule, short(text), remedy=remedy))
    return found


def short(text: str) -> str:
    """What was written, cut where it is long."""
    return repr(text if len(text) <= LONGEST else text[: LONGEST - 1] + "…")


def _ambiguous(text: str) -> str:
    rule = "a factorisation of e^S2 such as 2^20*3^7, or S2 with a decimal point such as 21.55"
    product = "2^0" if int(text) == 1 else f"{text}^1"
    remedy = f"write {product} for e^S2 = {text}, or {text}. for S2 rounded to a whole number"
    return must_be("S2", rule, f"{text!r}, which may be either", remedy=remedy)


def _whole(text: str, name: str, where: str | None = None) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(must_be(name, "whole numbers", repr(text), where=where)) from None
