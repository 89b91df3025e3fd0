"""Sums of weights that depend neither on the order of the records nor on the engine.

A weight is counted in whole units of 2^−k: floor(weight · 2^k), an exact operation on binary
numbers. Whole numbers add up exactly in any order, and a sum of units is turned back into a number
once, rounded to the nearest. k is as large as it takes for every weight to be a whole number of
units, so that nothing is lost, unless the sum would pass 2^105; then it is smaller, and the
smallest weight still keeps 30 bits, so that no sum is off by more than 1e-9 of itself.

2^105 is what two numbers of 53 and 52 bits hold: units // 2^52 and units % 2^52 are both exact as
floating-point numbers, and adding them rounds once.
"""

from math import frexp, inf, ldexp

LEAST_BITS = 30  # of the smallest weight
SUM_BITS = 105
LOW_BITS = 52
SQUARE_BITS, MOST_OF_SQUARE = 15, 400
MOST_SHIFT = 1000  # beyond which 2^k is no ordinary floating-point number


def unit_shift(smallest: float, largest: float, n: int) -> int | None:
    """The k of the units in which n weights between these two are summed; None if there is none."""
    least, most = frexp(smallest)[1], frexp(largest)[1]
    shift = min(53 - least, SUM_BITS - most - n.bit_length())
    if abs(shift) > MOST_SHIFT or least - 1 + shift < LEAST_BITS:
        return None
    return shift


def in_numbers(units: int, shift: int) -> float:
    """A sum of units as a number, rounded to the nearest; infinite beyond all numbers."""
    try:
        return ldexp(float(units), -shift)
    except OverflowError:
        return inf


def sql_units(weight: str, shift: int) -> str:
    """The units of one weight as SQL of DuckDB."""
    return f"CAST(floor({weight} * {_power(shift)}) AS HUGEINT)"


def sql_numbers(units: str, shift: int) -> str:
    """A sum of units as a number, rounded to the nearest, as SQL of DuckDB."""
    high = f"CAST({units} // {1 << LOW_BITS} AS DOUBLE)"
    low = f"CAST({units} % {1 << LOW_BITS} AS DOUBLE)"
    return f"({high} * {_power(LOW_BITS)} + {low}) * {_power(-shift)}"


def sql_squares(weight: str, largest: float) -> str:
    """The sum of the squares of weights as SQL of DuckDB and of Spark, to 2^−30 of the square of
    the largest: whole multiples of a power of two, which add up exactly in any order while there
    are few. Where the largest is beyond all reason (2^±400), so is the sum."""
    exponent = min(max(frexp(largest)[1], -MOST_OF_SQUARE), MOST_OF_SQUARE)
    scaled = f"({weight} * {_power(SQUARE_BITS - exponent)})"
    return f"(sum(floor({scaled} * {scaled})) * {_power(2 * (exponent - SQUARE_BITS))})"


def _power(exponent: int) -> str:
    return f"CAST('{ldexp(1.0, exponent)!r}' AS DOUBLE)"
