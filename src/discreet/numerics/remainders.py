"""Large whole numbers from their remainders."""

from collections.abc import Sequence
from functools import reduce
from operator import mul

PRIMES = (  # below 2³¹, so that products of remainders fit into 64 bits
    2147483647, 2147483629, 2147483587, 2147483579, 2147483563, 2147483549, 2147483543,
    2147483497, 2147483489, 2147483477, 2147483423, 2147483399, 2147483353, 2147483323,
    2147483269, 2147483249, 2147483237, 2147483179, 2147483171, 2147483137, 2147483123,
    2147483077, 2147483069, 2147483059, 2147483053, 2147483033, 2147483029, 2147482951,
    2147482949, 2147482943, 2147482937, 2147482921, 2147482877, 2147482873, 2147482867,
)  # fmt: skip


def joined(remainders: Sequence[int], moduli: Sequence[int]) -> int:
    """The least whole number with the given remainders, moduli having no common factor."""
    whole = reduce(mul, moduli)
    pairs = zip(remainders, moduli, strict=True)
    return sum(r * (whole // m) * pow(whole // m, -1, m) for r, m in pairs) % whole
