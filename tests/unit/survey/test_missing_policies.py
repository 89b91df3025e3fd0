"""A file under every policy: what is asked for is there, and what cannot be is said."""

import pandas as pd
import pytest

from discreet.errors import InputError, MissingError
from discreet.figures import Unavailable
from discreet.flows.assess import assess, compare_policies
from discreet.survey.assessment import Assessment

FRAME = pd.DataFrame(
    {
        "a": ["x", "x", "y", None, "z"],
        "b": [1, 1, 2, 2, None],
        "s": ["p", "q", "p", "q", "q"],
        "h": [1, 1, 2, 2, 3],
        "w": [2.0, 3, 4, 5, 6],
    }
)


def test_each_policy_is_that_of_an_assessment():
    found = compare_policies(FRAME, ["a", "b"], k=(2, 4))
    assert set(found.policies) == {"wildcard", "conservative", "category", "drop", "error"}
    assert found.n_incomplete == 2
    assert not found.with_models
    error = found.policies["error"]
    assert isinstance(error, Unavailable)
    assert "2 of 5 records without" in error.reason
    for name, figures in found.policies.items():
        if isinstance(figures, Assessment):
            one = assess(FRAME, ["a", "b"], missing=name, k=(2, 4))
            assert figures.anonymity == one.anonymity
            assert figures.sample_uniques == one.sample_uniques
            assert figures.models == {}


def test_the_weight_of_a_match_is_that_of_wildcard_alone():
    found = compare_policies(FRAME, ["a", "b"], missing_weight=0.25)
    weights = {
        name: a.settings.missing_weight
        for name, a in found.policies.items()
        if isinstance(a, Assessment)
    }
    assert weights == {"wildcard": 0.25, "conservative": 1.0, "category": 1.0, "drop": 1.0}
    with pytest.raises(InputError, match="missing_weight must be from 0 to 1"):
        compare_policies(FRAME, ["a", "b"], missing_weight=7)


def test_everything_that_is_asked_for_is_there_under_every_policy():
    found = compare_policies(
        FRAME,
        scenarios={"one": ["a"], "two": ["a", "b"]},
        weight="w",
        sensitive=["s"],
        household="h",
        suda=2,
        models=["sample_frequency", "benedetti_franconi"],
    )
    assert found.with_models
    for name in ("wildcard", "conservative", "category", "drop"):
        figures = found.policies[name]
        assert isinstance(figures, Assessment)
        assert set(figures.models) == {"sample_frequency", "benedetti_franconi"}
        assert figures.scenarios is not None
        assert [s.name for s in figures.scenarios.each] == ["one", "two"]
        assert len(figures.sensitive) == 1
        assert figures.households is not None
        assert figures.special is not None


def test_models_run_when_they_are_asked_for():
    assert not compare_policies(FRAME, ["a"], population=50).with_models
    assert compare_policies(FRAME, ["a"], models="sample_frequency").with_models
    assert compare_policies(FRAME, ["a"], population=50, all_models=True).with_models


def test_bad_input_is_no_matter_of_the_policy():
    with pytest.raises(InputError, match="did you mean"):
        compare_policies(FRAME, ["aa"])
    with pytest.raises(MissingError, match="household 'a' must be known in every record"):
        compare_policies(FRAME, ["b"], household="a")


def test_no_missing_value_gives_the_same_under_all():
    found = compare_policies(FRAME.dropna(), ["a", "b"])
    told = {a.sample_uniques for a in found.policies.values() if isinstance(a, Assessment)}
    assert len(found.policies) == 5
    assert not any(isinstance(a, Unavailable) for a in found.policies.values())
    assert told == {1}


def test_a_policy_that_leaves_no_sensitive_value_gives_its_reason():
    frame = pd.DataFrame({"a": ["x", "x"], "b": [None, "y"], "s": ["p", None]})
    found = compare_policies(frame, ["a", "b"], sensitive=["s"])
    drop = found.policies["drop"]
    assert isinstance(drop, Unavailable)
    assert "known in some record that has every key, got it only in records" in drop.reason
    assert isinstance(found.policies["conservative"], Assessment)


def test_a_sensitive_variable_without_any_value_is_refused():
    frame = FRAME.assign(s=None)
    with pytest.raises(MissingError, match="'s' must be known in some record, got none"):
        compare_policies(frame, ["a", "b"], sensitive=["s"])


def test_matching_that_takes_too_long_is_the_matter_of_its_policy(monkeypatch):
    monkeypatch.setattr("discreet.survey.suda.matching.MOST_WORK", 10)
    found = compare_policies(FRAME, ["a", "b"], suda=2)
    reason = found.policies["wildcard"]
    assert isinstance(reason, Unavailable)
    assert "3 sets of keys to match over 4 cells" in reason.reason
    assert isinstance(found.policies["category"], Assessment)
