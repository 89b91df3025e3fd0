"""Which margins are wanted, and how much each is worth."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np

from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.numerics.bit_sets import set_of
from discreet.numerics.rounding import EPSILON

MOST_FOR_EVERY_ORDER = 6  # variables up to which margins of every order are wanted by default
MOST_FOR_TRIPLES = 12  # variables up to which those of three are
MOST_WEIGHT = 1e12
ROUNDED = 64 * EPSILON  # of a sum of weights, which is added up in a few steps

Asked = Mapping[tuple[str, ...], float] | Iterable[Sequence[str]]
Requests = dict[int, float]  # a set of variables to its weight


def default_order(n_variables: int) -> int:
    """The most variables of a margin that is wanted where nobody says: one short of all up to 6
    variables, 3 up to 12, then 2."""
    if n_variables <= MOST_FOR_EVERY_ORDER:
        return max(n_variables - 1, 1)
    return 3 if n_variables <= MOST_FOR_TRIPLES else 2


def checked_requests(table: Table, asked: Asked | None) -> Requests:
    """The wanted margins with their weights; all up to the default order, weight 1, for None.

    Checked: variables exist, weights are above 0 and at most 10¹². A margin asked for twice counts
    twice.
    """
    if asked is None:
        n = len(table.names)
        orders = range(1, default_order(n) + 1)
        return {set_of(axes): 1.0 for order in orders for axes in combinations(range(n), order)}
    pairs = asked.items() if isinstance(asked, Mapping) else ((names, 1.0) for names in asked)
    found: Requests = {}
    for names, weight in pairs:
        own = set_of(table.axes(_names(names)))
        found[own] = found.get(own, 0.0) + _weight(weight)
    if not found:
        raise InputError(must_be("requests", "at least one margin", "none"))
    return found


def _names(names: Sequence[str]) -> Sequence[str]:
    if isinstance(names, str):
        remedy = "write a margin of one variable as a list of one name"
        raise InputError(must_be("a request", "a list of names", "a text", remedy=remedy))
    if not names:
        raise InputError(must_be("a request", "of at least one variable", "none"))
    return names


def _weight(weight: float) -> float:
    if not (0 < weight <= MOST_WEIGHT):
        raise InputError(must_be("weight of a request", f"above 0, up to {MOST_WEIGHT:g}", weight))
    return float(weight)


def information_weights(table: Table, order: int = 2) -> dict[tuple[str, ...], float]:
    """Margins of 2 up to `order` variables, each weighed by what it says beyond independence.

    Σ over its variables of their entropy, less the entropy of all together, in bits for a record:
    for two variables their mutual information. Margins that say nothing are left out.
    """
    if not 2 <= order <= len(table.names):
        rule = f"from 2 to the {len(table.names)} variables of the table"
        raise InputError(must_be("order", rule, order))
    single = [_entropy(table, (axis,)) for axis in range(len(table.names))]
    found: dict[tuple[str, ...], float] = {}
    for size in range(2, order + 1):
        for axes in combinations(range(len(table.names)), size):
            bits = math.fsum(single[axis] for axis in axes) - _entropy(table, axes)
            if bits > 1e-12:
                found[tuple(table.names[axis] for axis in axes)] = bits
    return found


def _entropy(table: Table, axes: tuple[int, ...]) -> float:
    """The entropy of a margin in bits."""
    counts = np.sort(table.margin(axes).ravel())  # so that like margins weigh the same to a bit
    shares = counts[counts > 0] / max(table.total, 1)
    return float(-(shares * np.log2(shares)).sum())


def is_more(weight: float, other: float) -> bool:
    """Whether a weight of requests is more than another, however their sums were rounded.

    Sums of weights are right to the last bits, and sums of whole weights exact, so that far less
    is allowed for than `numerics.rounding.ALIKE`: one request of weight 1 counts beside 10¹².
    """
    return weight > other + ROUNDED * max(weight, other)


def weight_within(requests: Requests, sets: Sequence[int]) -> float:
    """The utility of a release: the weight of the requests that lie in one of its margins."""
    return math.fsum(
        weight for wanted, weight in requests.items() if any(wanted & ~one == 0 for one in sets)
    )
