"""How risk is spread over the records."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from discreet.numerics.rounding import ALIKE
from discreet.survey.risk_histogram import EDGES, RiskDistribution

risks = arrays(np.float64, st.integers(0, 30), elements=st.floats(0, 1))


@given(risks, risks, st.integers(0, 2**32 - 1))
def test_each_record_falls_in_the_class_of_its_risk(one, other, seed):
    rng = np.random.default_rng(seed)
    counts = [rng.integers(1, 9, len(part)) for part in (one, other)]
    found = RiskDistribution.empty().add(one, counts[0]).add(other, counts[1])
    risk, count = np.concatenate([one, other]), np.concatenate(counts)
    edges = EDGES * (1 + ALIKE)  # a risk that is above an edge by rounding only is not above it
    for i in range(len(EDGES) - 1):
        inside = (edges[i] < risk) & (risk <= edges[i + 1])
        if i == 0:
            inside |= risk == 0
        assert found.records[i] == count[inside].sum()
    assert found.records.sum() == count.sum()
    assert found.largest == risk.max(initial=0)
    for edge in EDGES[1:]:
        assert found.records_above(edge) == count[risk > edge * (1 + ALIKE)].sum()


def test_edges_belong_to_the_class_below():
    found = RiskDistribution.empty().add(EDGES, np.ones(len(EDGES), dtype=np.int64))
    assert found.records.tolist() == [2, *[1] * (len(EDGES) - 2)]


@pytest.mark.parametrize("edge", [0.3, -1.0, 1.5, 2.0])
def test_only_edges_can_be_asked_for(edge):
    with pytest.raises(ValueError, match="edge must be one of EDGES"):
        RiskDistribution.empty().records_above(edge)


@pytest.mark.parametrize("bits", range(-4, 5))
def test_last_bits_put_no_risk_above_an_edge(bits):
    risk = np.minimum(EDGES * (1 + bits * 2.0**-52), 1.0)
    found = RiskDistribution.empty().add(risk, np.ones(len(EDGES), dtype=np.int64))
    assert found.records.tolist() == [2, *[1] * (len(EDGES) - 2)]
