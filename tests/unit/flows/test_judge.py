"""The same policy says the same of a result, of its JSON, and when it is given at once."""

import json

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet.errors import InputError
from discreet.policy import record_rules as rules
from discreet.policy.policy import Policy
from discreet.policy.reading import preset_names


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(2)
    n = 400
    return pd.DataFrame(
        {
            "region": rng.choice(["north", "south", "east"], n, p=[0.6, 0.35, 0.05]),
            "age": rng.integers(20, 60, n),
            "sex": rng.choice(["f", "m"], n),
            "illness": rng.choice(["a", "b", "c"], n),
        }
    )


KEYS = ["region", "age", "sex"]
MEASURED_ALWAYS = Policy(
    name="usual",
    version="1",
    rules=(
        rules.MinK(limit=3),
        rules.ShareBelowK(limit=0.1, k=5),
        rules.PopulationUniques(limit=4),
        rules.CorrectMatches(limit=0.2, share=True, strict=True),
        rules.MaxRisk(limit=0.2),
        rules.MeanRisk(limit=0.1),
        rules.MostKeys(limit=3),
        rules.L(limit=2),
    ),
)


def without_counts(rule):
    """A rule's JSON without words, which may name how many are beyond a limit asked for."""
    return {name: rule[name] for name in ("rule", "verdict", "limit", "policy")}


def test_a_finished_assessment_is_judged_as_if_the_policy_had_been_given(frame):
    asked = {"keys": KEYS, "population": 4000, "sensitive": ["illness"]}
    at_once = discreet.assess(frame, policy=MEASURED_ALWAYS, **asked).verdict.to_json()
    finished = discreet.assess(frame, **asked)
    again = discreet.judge(finished, MEASURED_ALWAYS).to_json()
    read = discreet.read_result(json.loads(json.dumps(finished.to_json())))
    from_json = discreet.judge(read, MEASURED_ALWAYS).to_json()
    for other in (again, from_json):
        assert other["verdict"] == at_once["verdict"]
        assert other["policies"] == at_once["policies"]
        assert list(map(without_counts, other["rules"])) == list(
            map(without_counts, at_once["rules"])
        )
    assert again == from_json


@pytest.mark.parametrize("name", preset_names())
def test_the_json_of_an_assessment_by_a_policy_gives_its_verdict_again(frame, name):
    try:
        found = discreet.assess(frame, KEYS, population=4000, policy=name)
    except InputError as error:
        assert "must be about records" in str(error)
        return
    judged = discreet.judge(json.loads(json.dumps(found.to_json())), name)
    if found.verdict is None:
        assert judged is None
        return
    assert told(judged) == told(found.verdict)


def told(verdict):
    """A verdict without the change of keys that helps most, which is no rule's."""
    data = verdict.to_json()
    rules = [{k: v for k, v in rule.items() if k != "remedy"} for rule in data["rules"]]
    return {**data, "rules": rules}


def test_what_was_not_measured_is_undecided_and_says_what_to_do(frame):
    found = discreet.assess(frame, KEYS, population=4000)
    verdict = discreet.judge(found, "cbs-suf")
    assert not verdict.allows
    assert {one.ruling for one in verdict.rules} == {discreet.Ruling.UNDECIDED}
    assert verdict.rules[0].words.startswith("every combination of three values")
    assert verdict.rules[0].words.endswith("it was not measured.")
    assert "the command that measures" in verdict.rules[0].remedy


def test_records_left_out_stay_a_doubt(frame):
    lacking = frame.assign(sex=frame["sex"].where(frame.index > 3))
    policy = Policy(name="own", version="1", rules=(rules.MostKeys(limit=5),))
    found = discreet.assess(lacking, KEYS, missing="drop")
    assert discreet.judge(found, policy).ruling is discreet.Ruling.UNDECIDED
    assert discreet.assess(frame, KEYS, policy=policy).verdict.allows


@pytest.mark.parametrize(
    ("result", "policy", "words"),
    [
        ("found.json", "hdx", "result 'found.json' must be readable"),
        ("{x", "hdx", "result must be JSON"),
        ({"kind": "assess"}, "hdx", "one with its findings"),
        ({"kind": "papers", "findings": {}}, "hdx", "a result of assess, audit, counts"),
        ({"kind": "assess", "findings": {}}, "cms", "must be about records, got 'cms'"),
        ({"kind": "assess", "findings": {"a": 1}}, "hdx", "one with its findings"),
        ({"kind": "assess", "findings": {}}, None, "policy must be given"),
        (3, "hdx", "got a int"),
    ],
)
def test_what_cannot_be_judged(result, policy, words):
    with pytest.raises(InputError, match=words):
        discreet.judge(result, policy)


def test_a_rule_read_from_nothing_is_never_kept():
    verdict = discreet.judge({"kind": "assess", "findings": {}}, MEASURED_ALWAYS)
    assert {one.ruling for one in verdict.rules} == {discreet.Ruling.UNDECIDED}
