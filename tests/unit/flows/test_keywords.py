"""Options from keywords: made, replaced, refused with the name that was meant."""

import inspect

import pytest

import discreet
from discreet.errors import InputError
from discreet.flows.keywords import options_of

FLOWS = {
    "assess": discreet.AssessOptions,
    "compare_policies": discreet.AssessOptions,
    "audit": discreet.AuditOptions,
    "audit_sequence": discreet.AuditOptions,
    "choose": discreet.ChooseOptions,
    "recommend": discreet.ChooseOptions,
    "assess_counts": discreet.CountOptions,
    "assess_statistics": discreet.CountOptions,
    "assess_categories": discreet.CategoryOptions,
    "backtest": discreet.BacktestOptions,
}


def test_keywords_make_options_and_replace_those_given():
    made = options_of(discreet.AuditOptions, None, {"small": 3})
    assert (made.small, made.confidence) == (3, 0.5)
    again = options_of(discreet.AuditOptions, made, {"confidence": 0.7})
    assert (again.small, again.confidence) == (3, 0.7)
    assert options_of(discreet.AuditOptions, made, {}) == made


def test_options_of_another_flow_are_refused():
    with pytest.raises(InputError, match="options must be AuditOptions, got CountOptions"):
        options_of(discreet.AuditOptions, discreet.CountOptions(), {})


@pytest.mark.parametrize(
    ("flow", "given", "keyword", "says"),
    [
        ("assess", ("f.csv", ["a"]), "populaton", "no option 'populaton'; did you mean 'populati"),
        ("assess", ("f.csv", ["a"]), "population_size", "is now called 'population'"),
        ("assess", ("f.csv", ["a"]), "n_table_cells", "is now called 'cells'"),
        ("assess", ("f.csv", ["a"]), "structural_zeros", "is now called 'impossible'"),
        ("assess", ("f.csv", ["a"]), "anonymity_levels", "is now called 'k'"),
        ("assess", ("f.csv", ["a"]), "thresholds", "'l', 'c', 't', 'alpha' and 'alpha_k'"),
        ("assess", ("f.csv", ["a"]), "hierarchies", "is now called 'trees'"),
        ("assess", ("f.csv", ["a"]), "codes", "'missing_codes', 'suppressed_codes' and"),
        ("backtest", ("f.csv", ["a"]), "codes", "'missing_codes', 'suppressed_codes' and"),
        ("audit", (None, []), "posterior", "is now called 'models'"),
        ("audit", (None, []), "weight_kind", "is now called 'model_weights'"),
        ("audit", (None, []), "effort", "is now called 'draws'"),
        ("choose", (None,), "max_risc", "did you mean 'max_risk'?"),
        ("assess_counts", ({0: 1},), "knowledge", "is now called 'knows'"),
        ("assess_categories", (), "release_totals", "is now called 'totals'"),
        ("assess_categories", (), "withheld", "is now called 'withhold'"),
        ("assess_categories", (), "zzz", "help(discreet.assess_categories) lists"),
        ("audit", (None, []), "vars", "did you mean 'variables'?"),
        ("counts", ({0: 1},), "col", "did you mean 'column'?"),
        ("plan", (9, 9), "risk", "did you mean 'target_risk'?"),
    ],
)
def test_an_unknown_keyword_names_the_one_that_is_meant(flow, given, keyword, says):
    with pytest.raises(InputError) as caught:
        getattr(discreet, flow)(*given, **{keyword: 1})
    assert says in str(caught.value)


@pytest.mark.parametrize(("flow", "kind"), FLOWS.items())
def test_help_shows_every_option(flow, kind):
    function = getattr(discreet, flow)
    shown = inspect.signature(function).parameters
    for name in inspect.signature(kind).parameters:
        assert name in shown
        assert f"`{name}`" in (function.__doc__ or ""), name


@pytest.mark.parametrize(
    ("flow", "given", "keywords", "says"),
    [
        ("audit", ({"a": 1},), {}, "release must be given, got none; help(discreet.audit) says"),
        ("plan", (9,), {}, "population must be given, got none"),
        ("plan", (9, 9, 0.1, None, 5), {}, "discreet.plan must be given 4 arguments by place at"),
        ("plan", (9, 9, 0.1), {"cells": 9}, "cells must be given once, got it by place and by"),
        ("assess", ("f.csv", ["a"]), {"progress": True}, "progress must be a function of the st"),
    ],
)
def test_a_call_that_cannot_be_is_told_in_one_line(flow, given, keywords, says):
    with pytest.raises(InputError) as caught:
        getattr(discreet, flow)(*given, **keywords)
    assert says in str(caught.value)


@pytest.mark.parametrize("flow", ["audit", "audit_sequence", "choose"])
def test_help_shows_how_a_table_is_read(flow):
    function = getattr(discreet, flow)
    shown = inspect.signature(function).parameters
    for name in ("variables", "count", "missing", "totals", "persons", "csv", "sheet"):
        assert shown[name].default is None
        assert f"`{name}`" in (function.__doc__ or "")
    assert "progress" in shown
