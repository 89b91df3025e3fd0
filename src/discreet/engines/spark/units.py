"""Weights in whole units (see `weight_units`) as SQL of Spark.

Spark turns a large floating-point number into a decimal by its digits, which is not exact. So the
units of a weight are cut into three whole numbers that are: the lowest 26 bits, the next 26, and
the rest. Each is summed by itself.
"""

from math import ldexp

PIECES = ("low", "middle", "high")
BITS = 26


def pieces_of(weight: str, shift: int) -> list[str]:
    """The sums of the three pieces over the records of a cell, in columns of these names."""
    units = f"({weight} * {_power(shift)})"
    high = f"floor({units} * {_power(-2 * BITS)})"
    rest = f"({units} - {high} * {_power(2 * BITS)})"
    middle = f"floor({rest} * {_power(-BITS)})"
    low = f"floor({rest} - {middle} * {_power(BITS)})"
    found = zip((low, middle, high), PIECES, strict=True)
    return [f"sum(CAST({piece} AS BIGINT)) AS {name}" for piece, name in found]


def number_of(shift: int) -> str:
    """The sum of the weights of a cell, from the sums of its pieces, rounded to the nearest."""
    base = 1 << BITS
    middle = f"(middle + low div {base})"
    lower = f"CAST({middle} % {base} * {base} + low % {base} AS DOUBLE)"
    upper = f"CAST(high + {middle} div {base} AS DOUBLE)"
    return f"({upper} * {_power(2 * BITS)} + {lower}) * {_power(-shift)}"


def _power(exponent: int) -> str:
    return f"CAST('{ldexp(1.0, exponent)!r}' AS DOUBLE)"
