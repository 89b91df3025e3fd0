"""May the file go out: limits held against the figures."""

import pandas as pd
import pytest

from discreet.figures import Figure, How
from discreet.flows.assess import assess
from discreet.policy.verdict import Ruling
from discreet.report.assess.json import assessment_json

SHARED = pd.DataFrame({"a": [i // 5 for i in range(400)]})  # each combination five times
ALONE = pd.concat([SHARED, pd.DataFrame({"a": [999]})])


def ruling(frame, rule=0, **options):
    verdict = assess(frame, ["a"], **options).verdict
    assert verdict is not None
    return verdict.rules[rule]


def test_without_a_limit_there_is_no_verdict():
    found = assess(SHARED, ["a"], population=4000)
    assert found.verdict is None
    assert "verdict" not in assessment_json(found)


@pytest.mark.parametrize(("k", "kept"), [(2, True), (5, True), (6, False)])
def test_min_k_is_about_the_smallest_combination(k, kept):
    judged = ruling(SHARED, min_k=k)
    assert judged.rule == "min_k"
    assert judged.ruling is (Ruling.KEPT if kept else Ruling.BROKEN)
    assert judged.value == Figure(value=5, how=How.EXACT)
    assert judged.concerns == (() if kept else ("400 records",))


def test_min_k_counts_records_and_names_no_row():
    judged = ruling(ALONE, min_k=3)
    assert judged.concerns == ("1 record",)
    assert judged.words == "1 record shares its combination of keys with fewer than 2 others."
    assert ruling(ALONE, min_k=2).words == "1 record is alone with the keys."
    assert "401" not in str(judged.to_json())


def test_max_risk_is_about_the_riskiest_record():
    found = assess(ALONE, ["a"], whole_population=True, max_risk=0.5)
    assert found.verdict is not None
    (judged,) = found.verdict.rules
    assert judged.ruling is Ruling.BROKEN
    assert judged.value == Figure(value=1.0, how=How.EXACT)
    assert judged.words == "1 record has a risk above 0.5; the highest is 1."
    assert judged.concerns == ("1 record",)
    assert found.risk.high == 1


def test_a_risk_at_the_limit_is_within_it():
    judged = ruling(SHARED, whole_population=True, max_risk=0.2)
    assert judged.ruling is Ruling.KEPT
    assert judged.words == "no record has a risk above 0.2; the highest is 0.2."
    assert ruling(SHARED, whole_population=True, max_risk=0.19).concerns == ("400 records",)


def test_an_estimated_risk_is_judged_by_its_value():
    found = assess(ALONE, ["a"], population=4010, max_risk=0.001)
    assert found.verdict is not None
    (judged,) = found.verdict.rules
    assert judged.ruling is Ruling.BROKEN
    assert judged.value == Figure(value=found.risk.largest, how=How.ESTIMATE)
    assert ruling(ALONE, population=4010, max_risk=1.0).ruling is Ruling.KEPT


def test_without_a_population_the_verdict_is_open():
    judged = ruling(ALONE, max_risk=0.5)
    assert judged.ruling is Ruling.UNDECIDED
    assert "the size of the population is not known" in judged.words


def test_unless_enough_records_share_every_combination():
    judged = ruling(SHARED, max_risk=0.2)
    assert judged.ruling is Ruling.KEPT
    assert judged.words.startswith("at least 5 records share each combination")
    assert ruling(SHARED, max_risk=0.19).ruling is Ruling.UNDECIDED


def test_matches_that_need_a_missing_value_prove_nothing():
    frame = pd.DataFrame({"a": [1, 1, None, None], "b": [None, None, 2, 2]})
    verdict = assess(frame, ["a", "b"], missing="wildcard", max_risk=0.5).verdict
    assert verdict is not None
    assert verdict.ruling is Ruling.UNDECIDED


def test_records_without_an_estimate_leave_it_open(monkeypatch):
    monkeypatch.setattr("discreet.survey.headline.by_pattern.MOST_PATTERNS", 1)
    frame = pd.DataFrame({"a": [i // 5 for i in range(400)], "b": [i % 5 // 3 for i in range(400)]})
    frame.loc[7, "a"] = None
    options = {"missing": "wildcard", "population": 40_000}
    found = assess(frame, ["a", "b"], max_risk=1.0, **options)
    assert found.risk.unknown == 1
    assert found.verdict is not None
    assert found.verdict.ruling is Ruling.UNDECIDED
    assert found.verdict.rules[0].words == "1 record has no estimate of the risk."
    broken = assess(frame, ["a", "b"], max_risk=1e-6, **options).verdict
    assert broken is not None
    assert broken.ruling is Ruling.BROKEN


def test_both_rules_and_their_json():
    found = assess(ALONE, ["a"], whole_population=True, max_risk=0.5, min_k=3)
    told = assessment_json(found)["verdict"]
    assert told["verdict"] == "broken"
    assert [rule["rule"] for rule in told["rules"]] == ["max_risk", "min_k"]
    assert [rule["limit"] for rule in told["rules"]] == [0.5, 3]
    assert [a.k for a in found.anonymity] == [2, 3, 5]


def test_a_group_that_shares_a_sensitive_value_is_open_without_a_threshold():
    """Of everyone with a = 0 the illness is known, whatever the risk of being found."""
    ill = pd.DataFrame({"a": [0, 0, 0, 1, 1, 1], "ill": ["y", "y", "y", "y", "n", "n"]})
    asked = {"whole_population": True, "max_risk": 0.5, "sensitive": ["ill"]}
    found = assess(ill, ["a"], **asked).verdict
    assert found.ruling is Ruling.UNDECIDED
    (judged,) = found.those(Ruling.UNDECIDED)
    assert judged.rule == "sensitive"
    assert "same value of ill" in judged.words
    assert "(l)" in judged.remedy
    assert assess(ill, ["a"], l=2, **asked).verdict.ruling is Ruling.BROKEN
    mixed = ill.assign(ill=["y", "n", "y", "y", "n", "n"])
    found = assess(mixed, ["a"], **asked).verdict
    assert found.allows
    assert any("no threshold (l or t) was given for ill" in note for note in found.notes)


@pytest.mark.parametrize(
    ("column", "told"),
    [("mrn", True), ("Patient ID", True), ("e-mail", True), ("last_name", True), ("ssn", True),
     ("diagnosis", False), ("region_name", False), ("income", False), ("idea", False)],
)  # fmt: skip
def test_columns_that_are_named_as_identifiers_are_to_be_removed(column, told):
    frame = SHARED.assign(**{column: range(400)})
    notes = assess(frame, ["a"], min_k=2).verdict.notes
    assert any(f"directly, as these names tell: {column}" in note for note in notes) is told
