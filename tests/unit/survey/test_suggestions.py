"""What to change: counted on the file recoded by hand."""

import numpy as np
import pandas as pd
import pytest

from discreet.figures import Figure
from discreet.flows.assess import assess
from discreet.report.assess.json import assessment_json

RNG = np.random.default_rng(4)
N = 900
FRAME = pd.DataFrame(
    {
        "age": RNG.integers(18, 80, N),
        "sex": RNG.integers(0, 2, N),
        "town": RNG.choice(list("abcdefgh"), N, p=[0.4, 0.3, 0.2, 0.04, 0.03, 0.01, 0.01, 0.01]),
        "same": 1,
    }
)
KEYS = ["age", "sex", "town", "same"]


def uniques(frame, keys=KEYS):
    sizes = frame.groupby(list(keys)).size()
    return int((sizes == 1).sum())


def recoded(one):
    """The file after the change, made by hand."""
    if one.change.startswith("put age into bands of "):
        width = int(one.change.rsplit(" ", 1)[1])
        return FRAME.assign(age=FRAME["age"] // width)
    if one.change.startswith("merge the "):
        rare = FRAME["town"].value_counts().index[-int(one.change.split()[2]) :]
        return FRAME.assign(town=FRAME["town"].where(~FRAME["town"].isin(rare), "other"))
    assert one.change == f"leave out {one.key}"
    return FRAME.assign(**{one.key: 0})


def test_they_do_what_they_say():
    found = assess(FRAME, KEYS, population=20_000)
    assert 1 <= len(found.suggestions) <= 3
    assert "same" not in [one.key for one in found.suggestions]
    for one in found.suggestions:
        after = recoded(one)
        assert one.sample_uniques_before == uniques(FRAME) == found.sample_uniques
        assert one.sample_uniques_after == uniques(after)
        again = assess(after, KEYS, population=20_000).recommended
        told = one.expected_population_uniques_after
        assert isinstance(told, Figure)
        # what is left out has one level here and none there: the possible cells are the same
        assert told.value == pytest.approx(again.expected_population_uniques.value, rel=0.02)


def test_what_leaves_the_keys_comes_first_and_then_what_helps_most():
    found = assess(FRAME, KEYS, population=20_000).suggestions
    assert found[0].key == "age"
    assert found[0].change.startswith("put age into bands")
    assert found[0].sample_uniques_after <= found[0].sample_uniques_before / 2
    left = [one.sample_uniques_after for one in found[1:]]
    assert left == sorted(left)


def test_with_a_limit_on_k_it_is_about_that():
    found = assess(FRAME, KEYS, min_k=5).suggestions[1]
    sizes = FRAME.groupby(KEYS)["age"].transform("size")
    assert found.k == 5
    assert found.breaking_before == (sizes < 5).sum()
    after = recoded(found).groupby(KEYS)["sex"].transform("size")
    assert found.breaking_after == (after < 5).sum()


ODD = pd.DataFrame({"age": [i % 60 for i in range(600)], "sex": [0, 1] * 300})
ODD.loc[0, "age"] = 61


def test_whether_the_limits_would_be_kept():
    assert assess(ODD, ["age", "sex"]).suggestions[0].keeps_limits is None
    one = assess(ODD, ["age", "sex"], min_k=2).suggestions[0]
    assert (one.breaking_after > 0) == (one.keeps_limits is False)
    for limit in (0.02, 0.001):
        found = assess(ODD, ["age", "sex"], whole_population=True, max_risk=limit).suggestions
        kept = 1 / ODD["sex"].value_counts().min() <= limit  # with sex alone, the best there is
        assert any(one.keeps_limits for one in found) == kept


def test_several_changes_together_where_none_alone_is_enough():
    found = assess(FRAME, KEYS, min_k=3).suggestions
    first = found[0]
    assert len(found) <= 3
    assert first.key.count(",") >= 1
    assert " and " in first.change
    assert first.breaking_after <= min(one.breaking_after for one in found[1:])
    assert [one.keeps_limits for one in found[1:]] == [False] * (len(found) - 1)


def test_nothing_is_suggested_where_nobody_stands_out():
    assert assess(pd.DataFrame({"a": [1, 1], "b": [2, 2]}), ["a", "b"]).suggestions == ()
    assert assess(FRAME, ["age"]).suggestions == ()


@pytest.mark.parametrize("policy", ["wildcard", "category"])
def test_missing_values_match_as_the_policy_says(policy):
    frame = FRAME.astype(object)
    frame.loc[::40, "town"] = None
    found = assess(frame, ["age", "sex", "town"], missing=policy).suggestions
    banded = frame.assign(age=frame["age"] // int(found[0].change.rsplit(" ", 1)[1]))
    again = assess(banded, ["age", "sex", "town"], missing=policy)
    assert found[0].sample_uniques_after == again.sample_uniques


def test_much_work_is_only_leaving_out(monkeypatch):
    monkeypatch.setattr("discreet.survey.suggestions.MOST_WORK", 10)
    found = assess(FRAME, KEYS).suggestions
    assert all(one.change == f"leave out {one.key}" for one in found)


def test_json_has_before_and_after():
    (_, first, *_) = assessment_json(assess(FRAME, KEYS, population=20_000, min_k=3))["suggestions"]
    assert first["key"] == "age"
    assert first["sample_uniques_after"] < first["sample_uniques_before"]
    assert first["keeps_limits"] is False
    assert first["expected_correct_matches_after"]["how"] == "estimate"


def test_a_combination_that_keeps_the_limit_is_found_and_takes_no_more_than_needed():
    """Every key that it changes is needed: with any of them a rung milder, the limit is broken."""
    frame = FRAME.assign(month=RNG.integers(1, 13, N))
    keys = ["age", "sex", "town", "month"]
    first = assess(frame, keys, min_k=5).suggestions[0]
    assert first.keeps_limits is True
    assert first.breaking_after == 0
    left = {name for name in keys if f"leave out {name}" in first.change}
    assert len(left) < len(keys) - 1  # two keys at least are still there
    for name in left:
        kept = [one for one in keys if one not in left - {name}]
        assert frame.groupby(kept).size().min() < 5


def test_the_same_rule_in_two_forms_has_one_answer():
    """In a whole population a risk of 1/5 at most is a cell of 5 at least."""
    by_k = assess(FRAME, KEYS, whole_population=True, min_k=5).suggestions[0]
    by_risk = assess(FRAME, KEYS, whole_population=True, max_risk=0.2).suggestions[0]
    assert by_k.change == by_risk.change
    assert by_k.keeps_limits is by_risk.keeps_limits is True
