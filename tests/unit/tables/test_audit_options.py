"""Choices by name, and what is said once for a list of one."""

import pytest

from discreet.belief.models.model_averaging import WeightKind
from discreet.errors import InputError
from discreet.tables.audit_options import AuditOptions
from discreet.tables.refused_margin import RiskMeasure


def test_choices_by_name():
    made = AuditOptions(measure="bounds", model_weights="posterior_predictive", draws=50)
    assert made.measure is RiskMeasure.BOUNDS
    assert made.weight_kind is WeightKind.POSTERIOR_PREDICTIVE
    assert made.effort.n_draws == 50


def test_one_text_is_a_list_of_one():
    made = AuditOptions(knows="a=1:0..3", models="saturated")
    assert (made.knows, made.models) == (("a=1:0..3",), ("saturated",))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"measure": "cell"}, "measure must be one of bounds, table, cells, got 'cell'"),
        ({"model_weights": "x"}, "model_weights must be one of marginal_likelihood"),
        ({"draws": 7}, "draws must be at least 8, got 7"),
    ],
)
def test_what_cannot_be_meant(given, says):
    with pytest.raises(InputError, match=says):
        AuditOptions(**given)
