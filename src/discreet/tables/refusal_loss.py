"""What a refusal tells: the intruder knows the policy, so "no" is information too (dobra, Meek).

The policy is a rule on the true table: it refuses a margin where the intruder's belief after the
release would be too good. Whoever knows the rule can ask of every consistent table whether it would
have been refused, and strike out those that would not.
"""

from collections.abc import Callable, Sequence

import numpy as np

from discreet.belief.belief import ListedBelief
from discreet.numerics.arrays import BoolArray, IntArray
from discreet.numerics.rounding import above
from discreet.tables.disclosure import Scenario, disclosure_risk
from discreet.tables.refused_margin import margin_rows

Rule = Callable[[ListedBelief, IntArray], bool]  # the belief after the release, the true table


def would_refuse(
    belief: ListedBelief, sizes: Sequence[int], request: Sequence[int], rule: Rule
) -> BoolArray:
    """For each table of the belief: would the rule refuse the requested margin, were it true?

    Tables that agree in the requested margin lead to the same belief after its release, so they are
    judged together. Exact. Cost: tables, plus one call of the rule for each.
    """
    margins = margin_rows(belief.tables, sizes, request)
    _, group = np.unique(margins, axis=0, return_inverse=True)
    refused = np.zeros(len(belief.tables), dtype=np.bool_)
    for number in range(int(group.max()) + 1):
        here = np.ravel(group) == number
        after = belief.given(here)
        refused[here] = [rule(after, table) for table in after.tables]
    return refused


def belief_after_refusal(
    belief: ListedBelief, sizes: Sequence[int], request: Sequence[int], rule: Rule
) -> ListedBelief:
    """The intruder's belief once the requested margin has been refused under a rule he knows.

    Raises InputError where the rule would have refused no consistent table.
    """
    return belief.given(would_refuse(belief, sizes, request, rule))


def risk_above(scenario: Scenario, max_risk: float) -> Rule:
    """The rule that refuses where disclosure risk (1) would exceed `max_risk`."""
    return lambda after, table: above(disclosure_risk(scenario, after, table), max_risk)


def shows_unique(sizes: Sequence[int], request: Sequence[int]) -> Rule:
    """The rule that refuses a margin with an entry of 1 (Meek's example)."""
    return lambda _, table: bool(np.any(margin_rows(table[None], sizes, request) == 1))
