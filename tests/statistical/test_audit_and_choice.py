"""An audit and a choice agree on the same margins where both draw."""

import numpy as np
import pytest

from discreet.choice.candidates import margin_proposal
from discreet.choice.choice import Standing
from discreet.choice.options import ChooseOptions
from discreet.choice.risk_utility import risk_utility
from discreet.data.table import Table
from discreet.figures import How
from discreet.flows.audit import audit
from discreet.policy.verdict import Ruling


@pytest.mark.parametrize(("limit", "within"), [(0.3, True), (0.0, True)])
def test_a_clear_case_is_clear_to_both(limit, within):
    """Three small counts among large ones, all margins of two out: none is found, by draws."""
    counts = np.random.default_rng(4).poisson(14, (4, 4, 4))
    counts[0, 0, 0], counts[1, 2, 3], counts[3, 3, 0] = 1, 2, 1
    table = Table.of_dense(counts, list("abc"))
    audited = audit(table, [("a", "b"), ("b", "c"), ("a", "c")], max_risk=limit, seconds=15)
    risk = audited.verdict.rules[0]
    assert risk.value.how is How.ESTIMATE
    assert (risk.ruling is Ruling.KEPT) is within
    asked = ChooseOptions(max_risk=limit, seed=1, seconds=15)
    found = risk_utility(table, [margin_proposal(table, [(0, 1), (0, 2), (1, 2)])], asked)
    assert (found.choice.standings[1] is Standing.WITHIN) is within
    assert found.candidates[1].risk.value == risk.value.value
